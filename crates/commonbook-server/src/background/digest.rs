//! The writer of digests that config.json names: a command, or a model behind an endpoint.

mod endpoint;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::case::digest::writing::{
    DigestWriter, DigestWriterHandle, WriterKind, WriterRequest,
};
use endpoint::EndpointWriter;

use crate::clients::sandbox::refusal;
use crate::settings::sections::DigestSettings;
use crate::system::shell;

/// Maximum output of a command: more than any accepted sentence.
const COMMAND_OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// The writer that these settings name, if any. An endpoint receives the key; a command runs in the
/// folder.
///
/// # Errors
/// `invalid` if the settings or the key are not valid.
pub(crate) fn digest_writer(
    settings: DigestSettings,
    key: Option<&str>,
    folder: Option<PathBuf>,
) -> Result<Option<DigestWriterHandle>> {
    if let Some(address) = settings.address()? {
        return Ok(Some(Arc::new(EndpointWriter::at(address.with_key(key)?))));
    }
    Ok(settings
        .command
        .map(|command| Arc::new(CommandWriter { command, folder }) as DigestWriterHandle))
}

/// A command that reads the facts as JSON and prints the sentence. It runs in the home.
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
            Error::new(ErrorKind::Internal, "cannot encode the facts").with_cause(error)
        })?;
        let (folder, deadline) = (self.folder.as_deref(), Instant::now() + within);
        let output = shell::run(&self.command, folder, facts, COMMAND_OUTPUT_BYTES_MAX, deadline);
        let output = output.map_err(refusal::explain_command_refusal)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_name_a_command_or_an_endpoint_with_a_model() {
        let table = [
            (json!({}), true),
            (json!({"automatic": false}), true),
            (json!({"every": 5, "command": "./write.sh"}), true),
            (json!({"every": 0}), false),
            (json!({"command": "./write.sh"}), true),
            (json!({"endpoint": "http://127.0.0.1:11434", "model": "llama"}), true),
            (json!({"endpoint": "http://127.0.0.1:11434"}), false),
            (json!({"model": "llama"}), false),
            (json!({"command": " "}), false),
            (json!({"command": "x", "endpoint": "http://h", "model": "m"}), false),
            (json!({"endpoint": "ftp://h", "model": "m"}), false),
            (json!({"endpoint": "http://me:secret@h", "model": "m"}), false),
        ];
        for (json, is_valid) in table {
            let settings: DigestSettings = serde_json::from_value(json.clone()).unwrap();
            let checked = settings.check();
            assert_eq!(checked.is_ok(), is_valid, "{json}");
            assert!(!format!("{checked:?}").contains("secret"), "{json}");
        }
    }
}
