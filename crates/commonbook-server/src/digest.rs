//! What writes the sentences of digests, as `config.json` names it: a command, or a model behind an
//! endpoint.

mod endpoint;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::case::digest::writing::{
    DigestWriter, DigestWriterHandle, WriterKind, WriterRequest,
};
use commonbook_embed::client::EndpointAddress;
use endpoint::{EndpointWriter, PURPOSE};
use serde::Deserialize;

use crate::sandbox::refusal;
use crate::shell;

/// Bytes that a command may say: more than any sentence that is taken.
const COMMAND_OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// What `config.json` says of digests: nothing, a command, or an endpoint with a model.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DigestSettings {
    command: Option<String>,
    endpoint: Option<String>,
    model: Option<String>,
}

impl DigestSettings {
    /// Checks what is configured.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub(crate) fn check(&self) -> Result<()> {
        self.address().map(drop)
    }

    /// The writer that these settings name, if they do. An endpoint is shown the key; a command runs in
    /// the folder.
    ///
    /// # Errors
    /// `invalid` for settings or a key that cannot be.
    pub(crate) fn writer(
        self,
        key: Option<&str>,
        folder: Option<PathBuf>,
    ) -> Result<Option<DigestWriterHandle>> {
        if let Some(address) = self.address()? {
            return Ok(Some(Arc::new(EndpointWriter::at(address.with_key(key)?))));
        }
        Ok(self
            .command
            .map(|command| Arc::new(CommandWriter { command, folder }) as DigestWriterHandle))
    }

    fn address(&self) -> Result<Option<EndpointAddress>> {
        match (&self.command, &self.endpoint, &self.model) {
            (Some(command), None, None) if !command.trim().is_empty() => Ok(None),
            (None, None, None) => Ok(None),
            (None, Some(base), model) => {
                let model = model.as_deref().unwrap_or_default();
                Ok(Some(EndpointAddress::read(base, model, &PURPOSE)?))
            }
            _ => Err(Error::invalid("command", "it takes a command, or an endpoint with a model")),
        }
    }
}

/// A command that is told the facts as JSON and answers the sentence. It runs in the home.
struct CommandWriter {
    command: String,
    folder: Option<PathBuf>,
}

impl DigestWriter for CommandWriter {
    fn kind(&self) -> WriterKind {
        WriterKind::Command
    }

    fn write(&self, facts: &WriterRequest<'_>, within: Duration) -> Result<String> {
        let facts = serde_json::to_string(facts).map_err(|error| {
            Error::new(ErrorKind::Internal, "facts could not be encoded").with_cause(error)
        })?;
        let (folder, deadline) = (self.folder.as_deref(), Instant::now() + within);
        let said = shell::run(&self.command, folder, facts, COMMAND_OUTPUT_BYTES_MAX, deadline);
        let said = said.map_err(refusal::explain_command_refusal)?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_or_an_endpoint_with_a_model_is_taken_and_nothing_else() {
        let table = [
            (json!({}), true),
            (json!({"command": "./write.sh"}), true),
            (json!({"endpoint": "http://127.0.0.1:11434", "model": "llama"}), true),
            (json!({"endpoint": "http://127.0.0.1:11434"}), false),
            (json!({"model": "llama"}), false),
            (json!({"command": " "}), false),
            (json!({"command": "x", "endpoint": "http://h", "model": "m"}), false),
            (json!({"endpoint": "ftp://h", "model": "m"}), false),
            (json!({"endpoint": "http://me:secret@h", "model": "m"}), false),
        ];
        for (given, right) in table {
            let settings: DigestSettings = serde_json::from_value(given.clone()).unwrap();
            let checked = settings.check();
            assert_eq!(checked.is_ok(), right, "{given}");
            assert!(!format!("{checked:?}").contains("secret"), "{given}");
        }
    }
}
