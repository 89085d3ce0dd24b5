//! Learnings in JSON: `{"remember": […]}` adds, `{"MEMORIES": […]}` replaces.

use serde_json::{Map, Value};

use super::{Learning, LearningType};

/// The value of one key of one object.
pub(super) struct JsonLearnings {
    pub(super) replaces: bool,
    pub(super) learnings: Vec<Learning>,
}

/// Lines of a message that are tried as the beginning of an object.
const OBJECT_LINES_MAX: usize = 200;

/// How a code block begins and ends.
const FENCES: [&str; 2] = ["```", "~~~"];

/// The learnings of the JSON objects that begin a line of the message, bare or in a code block. What a code
/// block shows may be a quotation: it adds, but replaces nothing.
pub(super) fn learnings_in_json(text: &str) -> Vec<JsonLearnings> {
    let (mut found, mut at, mut read, mut tried) = (Vec::new(), 0, 0, 0);
    let mut is_in_fence = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let start = at + line.len() - bare.len();
        at += line.len();
        if start >= read && FENCES.iter().any(|fence| bare.starts_with(fence)) {
            is_in_fence = !is_in_fence;
            continue;
        }
        if start < read || !bare.starts_with('{') || tried == OBJECT_LINES_MAX {
            continue;
        }
        tried += 1;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        if let Some(Ok(Value::Object(object))) = values.next() {
            read = start + values.byte_offset();
            let is_code = is_in_fence || line.starts_with("    ") || line.starts_with('\t');
            found.extend(of_object(&object).into_iter().filter(|all| !(is_code && all.replaces)));
        }
    }
    found
}

fn of_object(object: &Map<String, Value>) -> Vec<JsonLearnings> {
    let keys = [("remember", false), ("Remember", false), ("MEMORIES", true)];
    let found = keys.into_iter().filter_map(|(key, replaces)| {
        let value = object.get(key)?;
        // `"remember": true` is a setting, and `"MEMORIES": []` is not an order to delete
        // everything.
        let learnings = of_value(value, None);
        (!learnings.is_empty()).then_some(JsonLearnings { replaces, learnings })
    });
    found.collect()
}

/// The learnings of a value: a string, an object with a content, a list, or lists by type or
/// section.
fn of_value(value: &Value, kind: Option<LearningType>) -> Vec<Learning> {
    match value {
        Value::String(text) => vec![of_text(text, kind)],
        Value::Array(items) => items.iter().flat_map(|item| of_value(item, kind)).collect(),
        Value::Object(object) => of_fields(object, kind).map_or_else(
            || {
                let lists = object.iter().filter(|(_, value)| value.is_array());
                lists
                    .flat_map(|(key, value)| of_value(value, LearningType::of_word(key).or(kind)))
                    .collect()
            },
            |learning| vec![learning],
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn of_fields(object: &Map<String, Value>, kind: Option<LearningType>) -> Option<Learning> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| object.get(*key)).and_then(Value::as_str);
    let content = text(&["content", "Content", "text", "learning", "memory"])?;
    let named = text(&["type", "Type", "category", "kind"]).map(LearningType::from_type_word);
    Some(Learning {
        kind: named.or(kind).unwrap_or(LearningType::Context),
        content: content.trim().to_owned(),
    })
}

/// The learning of a string, which may begin with its type.
fn of_text(text: &str, kind: Option<LearningType>) -> Learning {
    let (named, content) = super::block::split_type(text);
    Learning { kind: named.or(kind).unwrap_or(LearningType::Context), content }
}
