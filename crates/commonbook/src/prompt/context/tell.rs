//! Telling: the content of a memory in sentences that small and large models understand alike.
//!
//! Agents save JSON: profiles, the state of a task, notes of any shape. Measurements showed that
//! JSON in a prompt makes answers worse. So JSON text becomes sentences: for a `profile` and a
//! `task_context` by the meaning of their keys, for a type in the configuration by its template,
//! for any other by its keys alone. Text that is not JSON stays unchanged.

mod fields;
mod forms;
mod template;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::base::error::Result;
use fields::{FieldRule, PROFILE_FIELDS, TASK_CONTEXT_FIELDS};
use value::{clause, is_empty, label, phrase, sentence};

pub use forms::{
    EntrySummary, HandoffSummary, entry, handoff, handoff_result, learning, retraction,
};
pub use template::SentenceTemplate;

/// The templates of memory types in the configuration.
#[derive(Debug, Clone, Default)]
pub struct TemplateSet(BTreeMap<String, SentenceTemplate>);

impl TemplateSet {
    /// The templates of these types, each for one type. A template for `profile` or `task_context`
    /// replaces the built-in sentences.
    ///
    /// # Errors
    /// As [`SentenceTemplate::parse`].
    pub fn of<'a>(templates: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let parsed = templates.into_iter().map(|(kind, template)| {
            SentenceTemplate::parse(template).map(|template| (kind.to_lowercase(), template))
        });
        parsed.collect::<Result<_>>().map(Self)
    }

    /// The text of a memory of this type, in sentences.
    ///
    /// Text that is not a JSON object or list is returned unchanged, and so is every
    /// `conversation`.
    #[must_use]
    pub fn tell(&self, memory_type: &str, text: &str) -> String {
        let Some(value) = parse_embedded_json(text).filter(|_| memory_type != "conversation")
        else {
            return text.to_owned();
        };
        let sentences = match (self.0.get(memory_type), &value) {
            (Some(template), Value::Object(object)) => template.fill(object),
            _ => None,
        };
        let sentences = sentences.or_else(|| match (memory_type, &value) {
            ("profile", Value::Object(object)) => by_fields("User profile", PROFILE_FIELDS, object),
            ("task_context", Value::Object(object)) => {
                by_fields("Current task context", TASK_CONTEXT_FIELDS, object)
            }
            _ => by_keys(memory_type, &value),
        });
        // JSON of empty values only makes no sentence, and stays as it was written.
        sentences.unwrap_or_else(|| text.to_owned())
    }
}

/// The JSON object or list in a text: bare, in a fenced code block of Markdown, or as a JSON string
/// (an agent that encoded it twice).
fn parse_embedded_json(text: &str) -> Option<Value> {
    let mut text = text.trim().trim_start_matches('\u{feff}');
    if let Some(block) = text.strip_prefix("```") {
        let (language, rest) = block.split_once('\n')?;
        text = rest.strip_suffix("```").filter(|_| matches!(language.trim(), "" | "json"))?.trim();
    }
    if !text.starts_with(['{', '[', '"']) {
        return None;
    }
    match serde_json::from_str(text).ok()? {
        Value::String(inner) => {
            serde_json::from_str(&inner).ok().filter(|v: &Value| v.is_object() || v.is_array())
        }
        value => Some(value),
    }
}

/// The sentences of a type with known keys: in the order of its fields, then the other keys by
/// name.
fn by_fields(lead: &str, fields: &[FieldRule], object: &Map<String, Value>) -> Option<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut others = Vec::new();
    gather(fields, "", object, &mut found, &mut others);
    found.sort_by_key(|(place, _)| *place);
    let mut sentences: Vec<String> = Vec::new();
    for sentence in found.into_iter().map(|(_, sentence)| sentence).chain(others) {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    (!sentences.is_empty()).then(|| format!("{lead}: {}", sentences.join(" ")))
}

/// Turns each value of an object into the sentence of the field with its key. An object below an
/// unknown key (`user`, `preferences`) is searched for known keys.
fn gather(
    fields: &[FieldRule],
    above: &str,
    object: &Map<String, Value>,
    found: &mut Vec<(usize, String)>,
    others: &mut Vec<String>,
) {
    for (key, value) in object.iter().filter(|(_, value)| !is_empty(value)) {
        let holds = value.is_object() && fields::is_wrapper(key);
        if let Some((place, field)) = fields::find_field(fields, key).filter(|_| !holds) {
            let sentence = field.tell(value);
            found.push((place, sentence));
            continue;
        }
        let path = if above.is_empty() { label(key) } else { format!("{above}, {}", phrase(key)) };
        match value {
            Value::Object(inner) => gather(fields, &key_prefix(above, key), inner, found, others),
            _ => others.push(sentence(&format!("{path}: {}", clause(value)))),
        }
    }
}

/// The prefix for the keys of an object that only groups others: empty for `user` and the like, its
/// own name for any other.
fn key_prefix(above: &str, key: &str) -> String {
    match (fields::is_wrapper(key), above.is_empty()) {
        (true, _) => above.to_owned(),
        (false, true) => label(key),
        (false, false) => format!("{above}, {}", phrase(key)),
    }
}

/// The sentences of JSON of an unknown type: one for each key, or one for each item of a list.
fn by_keys(memory_type: &str, value: &Value) -> Option<String> {
    let sentences: Vec<String> = match value {
        Value::Object(object) => object
            .iter()
            .filter(|(_, value)| !is_empty(value))
            .map(|(key, value)| sentence(&format!("{}: {}", label(key), clause(value))))
            .collect(),
        Value::Array(items) => items
            .iter()
            .filter(|item| !is_empty(item))
            .map(|item| sentence(&value::capitalise(&clause(item))))
            .collect(),
        _ => return None,
    };
    (!sentences.is_empty()).then(|| format!("{}. {}", label(memory_type), sentences.join(" ")))
}
