//! Examples of types and errors, for the OpenAPI document.

use commonbook::base::error::ErrorKind;
use serde_json::{Value, json};

use crate::calls::verb::{EXAMPLE_ID, EXAMPLE_TIME, example_memory};

/// Examples of types that many responses hold.
pub(super) fn of_types() -> [(&'static str, Value); 2] {
    [("Memory", example_memory()), ("Contradiction", contradiction())]
}

fn contradiction() -> Value {
    json!({
        "id": "con_01m7y9c4dpeqkspxh7a865d434", "workspace": "payments",
        "memories": [
            {
                "id": EXAMPLE_ID, "owner": "claude-code", "at": EXAMPLE_TIME,
                "text": "The payment service retries three times with backoff.",
            },
            {
                "id": "mem_01m7y9c4dpeqkspxh7a865d435", "owner": "gemini-cli", "at": EXAMPLE_TIME,
                "text": "The payment service retries five times with backoff.",
            },
        ],
        "kind": "number",
        "reason": "claude-code says three, gemini-cli says five",
        "confidence": 0.85, "found_by": "rules", "status": "resolved", "found_at": EXAMPLE_TIME,
        "resolved": {
            "resolution": "keep_both", "resolved_by": "gemini-cli", "resolved_at": EXAMPLE_TIME,
            "context": "3 retries for payments, 5 for refunds",
        },
    })
}

/// An error of this kind.
pub(super) fn error(kind: ErrorKind) -> Value {
    let (message, hint) = match kind {
        ErrorKind::Invalid => {
            ("text: must not be empty", "Put what is to be remembered into `text`.")
        }
        ErrorKind::Unauthenticated => ("nobody said who is calling", "Say who you are."),
        ErrorKind::Forbidden => (
            "this memory belongs to 'claude-code', and you are 'gemini-cli'",
            "To keep your own version, save a memory with the text that you want to preserve.",
        ),
        ErrorKind::NotFound => {
            ("no memory mem_01m7y9c4dpeqkspxh7a865d434 exists", "Use an id from search or list.")
        }
        ErrorKind::Conflict => (
            "expected_revision: the memory is at revision 2, not 1",
            "Read it again, and send the change with the revision that you find.",
        ),
        ErrorKind::TooLarge => (
            "text: 70000 bytes; the maximum is 65536",
            "Shorten it, or split it into several memories.",
        ),
        ErrorKind::RateLimited => (
            "writes: at most 6000 a minute, and these were more",
            "Wait 2 seconds, and then go on more slowly.",
        ),
        ErrorKind::Unavailable => ("the store is busy", "Try again in a moment."),
        ErrorKind::Internal => ("the request panicked", "Tell us what the log says of it."),
    };
    let mut error = json!({"kind": kind.name(), "message": message, "hint": hint});
    match kind {
        ErrorKind::Invalid | ErrorKind::TooLarge => error["field"] = "text".into(),
        ErrorKind::Conflict => error["field"] = "expected_revision".into(),
        ErrorKind::Forbidden => {
            error["code"] = "ownership_mismatch".into();
            error["owner"] = "claude-code".into();
            error["caller"] = "gemini-cli".into();
        }
        ErrorKind::RateLimited => error["retry_after"] = 2.into(),
        _ => {}
    }
    error["request_id"] = "req_01m7y9c4dpeqkspxh7a865d434".into();
    json!({ "error": error })
}

#[cfg(test)]
mod tests {
    use commonbook::base::error::ErrorBody;
    use commonbook::model::contradiction::Contradiction;
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;

    /// Checks that an example has exactly the fields of this type.
    fn check_example<T: DeserializeOwned + Serialize>(example: &Value) {
        let typed: T = serde_json::from_value(example.clone()).expect("the type reads the example");
        assert_eq!(&serde_json::to_value(typed).expect("the type writes JSON"), example);
    }

    #[test]
    fn every_example_has_the_shape_of_its_type() {
        check_example::<Contradiction>(&contradiction());
        for kind in ErrorKind::ALL {
            check_example::<ErrorBody>(&error(kind));
        }
    }
}
