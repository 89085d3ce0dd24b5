//! The methods of the protocol whose parameters the MCP library could not read.

use commonbook::base::error::Error;
use commonbook_text::nearest::nearest_name;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::json;

/// The methods with what their `params` need.
const METHODS: [(&str, &str); 12] = [
    ("completion/complete", "`ref`, and `argument` with `name` and `value`"),
    ("initialize", "`protocolVersion`, `capabilities`, and `clientInfo` with `name` and `version`"),
    ("ping", "nothing"),
    ("prompts/get", "`name`, and `arguments` as an object of texts"),
    ("prompts/list", "nothing, or `cursor` as a text"),
    ("resources/list", "nothing, or `cursor` as a text"),
    ("resources/read", "`uri` as a text"),
    ("resources/subscribe", "`uri` as a text"),
    ("resources/templates/list", "nothing, or `cursor` as a text"),
    ("resources/unsubscribe", "`uri` as a text"),
    ("tools/call", "`name` as a text, and `arguments` as an object"),
    ("tools/list", "nothing, or `cursor` as a text"),
];

/// The error of a request that the MCP library does not know: its parameters are wrong, or its method is.
pub(super) fn unread_request(method: &str) -> ErrorData {
    if let Some((_, needs)) = METHODS.iter().find(|(name, _)| *name == method) {
        let message = format!("the parameters of {method} cannot be read; expected {needs}");
        let error = Error::invalid("params", &message);
        return ErrorData::invalid_params(message, Some(json!(error.body(None))));
    }
    let near = nearest_name(method, &METHODS.map(|(name, _)| name));
    let near = near.map(|name| format!(": did you mean {name}?")).unwrap_or_default();
    let message = format!("unknown method {method}{near}");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_without_readable_parameters_differs_from_an_unknown_one() {
        let known = unread_request("resources/read");
        assert_eq!(known.code, ErrorCode::INVALID_PARAMS);
        assert!(known.message.contains("expected `uri`"), "{}", known.message);
        let near = unread_request("tools/cal");
        assert_eq!(near.code, ErrorCode::METHOD_NOT_FOUND);
        assert!(near.message.contains("did you mean tools/call?"), "{}", near.message);
    }
}
