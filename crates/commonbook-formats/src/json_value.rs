//! Reading fields of JSON values.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use serde_json::{Map, Value};

/// The text of a field that has one.
pub(crate) fn text<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// The text of a field of a map.
pub(crate) fn text_of<'v>(fields: &'v Map<String, Value>, field: &str) -> Option<&'v str> {
    fields.get(field)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// The value if an import can read it as a time, else null.
pub(crate) fn time(value: Option<&Value>) -> Value {
    let Some(value) = value else { return Value::Null };
    let is_time = match value {
        Value::Number(number) => number.as_f64().is_some_and(|seconds| seconds > 0.0),
        Value::String(text) => {
            text.parse::<Timestamp>().is_ok()
                || text.parse::<DateTime>().is_ok()
                || text.parse::<Date>().is_ok()
        }
        _ => false,
    };
    if is_time { value.clone() } else { Value::Null }
}

/// The texts of a list, or of one text with commas or blanks between them; of a map its keys, and the texts there.
pub(crate) fn words(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) if text.contains(',') => {
            text.split(',').map(|word| word.trim().to_owned()).collect()
        }
        Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(|word| match word {
                Value::String(word) => Some(word.clone()),
                Value::Number(word) => Some(word.to_string()),
                _ => None,
            })
            .collect(),
        Some(Value::Object(fields)) => {
            let said = fields.iter().filter(|(_, value)| **value != Value::Bool(false));
            said.flat_map(|(key, value)| std::iter::once(key.clone()).chain(words(Some(value))))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The text of a message: a text, a list of texts, or a list of parts of which those of a text count.
pub(crate) fn message_text(content: &Value, part_types: &[&str]) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Value::String(text) => Some(text.as_str()),
                part => {
                    let kind = part.get("type").or_else(|| part.get("content_type"));
                    let kind = kind.and_then(Value::as_str);
                    let counts = kind.is_none_or(|kind| part_types.contains(&kind));
                    part.get("text").and_then(Value::as_str).filter(|_| counts)
                }
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
