//! The judge of contradictions that config.json names: a model behind an endpoint of the user's own.

use std::sync::Arc;
use std::time::Duration;

use commonbook::base::error::{Error, Result};
use commonbook::model::contradiction::judging::{ContradictionJudge, ContradictionJudgeHandle};
use commonbook_embed::client::{EndpointAddress, EndpointPurpose};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::chat::{CHAT_PATH, ChatModel};

/// The names of the settings of this endpoint.
const PURPOSE: EndpointPurpose = EndpointPurpose {
    path: CHAT_PATH,
    field: "endpoint",
    setting: "contradictions in config.json",
    example: "Write {\"endpoint\": \"http://HOST:PORT\", \"model\": \"NAME\"}, and the key, if there is \
              one, into COMMONBOOK_JUDGE_KEY.",
    key: "COMMONBOOK_JUDGE_KEY",
    otherwise: "the pairs stay open",
};

/// The section `contradictions` of config.json: empty, or an endpoint with a model.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContradictionSettings {
    endpoint: Option<String>,
    model: Option<String>,
}

impl ContradictionSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub(crate) fn check(&self) -> Result<()> {
        self.address().map(drop)
    }

    /// The judge that these settings name, if any. The endpoint receives the key.
    ///
    /// # Errors
    /// `invalid` if the settings or the key are not valid.
    pub(crate) fn judge(self, key: Option<&str>) -> Result<Option<ContradictionJudgeHandle>> {
        let Some(address) = self.address()? else { return Ok(None) };
        let model = ChatModel::at(address.with_key(key)?);
        Ok(Some(Arc::new(EndpointJudge { model })))
    }

    fn address(&self) -> Result<Option<EndpointAddress>> {
        let Some(base) = &self.endpoint else {
            let without = "expected `endpoint` too".to_owned();
            return match self.model {
                Some(_) => Err(Error::invalid("model", without)),
                None => Ok(None),
            };
        };
        let model = self.model.as_deref().unwrap_or_default();
        Ok(Some(EndpointAddress::read(base, model, &PURPOSE)?))
    }
}

/// A model behind an endpoint.
struct EndpointJudge {
    model: ChatModel,
}

impl ContradictionJudge for EndpointJudge {
    fn answer(&self, instructions: &str, question: &str, within: Duration) -> Result<String> {
        self.model.answer(instructions, question, within)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_name_an_endpoint_with_a_model_or_nothing() {
        for (json, is_valid) in [
            (json!({}), true),
            (json!({"endpoint": "http://127.0.0.1:11434", "model": "llama"}), true),
            (json!({"endpoint": "http://127.0.0.1:11434"}), false),
            (json!({"model": "llama"}), false),
            (json!({"endpoint": "ftp://h", "model": "m"}), false),
            (json!({"endpoint": "http://me:secret@h", "model": "m"}), false),
        ] {
            let settings: ContradictionSettings = serde_json::from_value(json.clone()).unwrap();
            let checked = settings.check();
            assert_eq!(checked.is_ok(), is_valid, "{json}");
            assert!(!format!("{checked:?}").contains("secret"), "{json}");
        }
    }
}
