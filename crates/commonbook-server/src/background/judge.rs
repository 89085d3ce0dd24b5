//! The judge of contradictions that config.json names: a model behind an endpoint of the user's own.

use std::sync::Arc;
use std::time::Duration;

use commonbook::base::error::Result;
use commonbook::model::contradiction::judging::{ContradictionJudge, ContradictionJudgeHandle};

use crate::background::chat::ChatModel;
use crate::settings::sections::ContradictionSettings;

/// The judge that these settings name, if any. The endpoint receives the key.
///
/// # Errors
/// `invalid` if the settings or the key are not valid.
pub(crate) fn contradiction_judge(
    settings: &ContradictionSettings,
    key: Option<&str>,
) -> Result<Option<ContradictionJudgeHandle>> {
    let Some(address) = settings.address()? else { return Ok(None) };
    let model = ChatModel::at(address.with_key(key)?);
    Ok(Some(Arc::new(EndpointJudge { model })))
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
