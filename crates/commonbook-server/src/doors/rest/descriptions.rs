//! The descriptions of the OpenAPI document: each sentence in one line.

use serde_json::Value;

/// Writes the sentences of each description in one line; a list keeps its lines.
pub(super) fn join_descriptions(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(join_descriptions),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "description" => *text = joined(text),
                    field => join_descriptions(field),
                }
            }
        }
        _ => {}
    }
}

/// A description with its sentences in one line; a list keeps its lines.
pub(super) fn joined(text: &str) -> String {
    let mut lines = text.lines();
    let mut joined = lines.next().unwrap_or_default().to_owned();
    let mut is_after_text = !joined.is_empty();
    for line in lines {
        let continues = is_after_text && !line.is_empty() && !line.starts_with(['-', '`', '|']);
        joined.push(if continues { ' ' } else { '\n' });
        joined.push_str(line);
        is_after_text = !line.is_empty();
    }
    joined
}
