//! Values with names, as in JSON: the name above a value, or beside it, may be what gives it away.

use serde_json::{Map, Value};

use super::redact;
use crate::word_list::WordList;

/// Names whose values are passwords.
static PASSWORD_NAMES: WordList = WordList::new(include_str!("password_names.txt"));

/// Endings of names whose values are secrets.
static SECRET_NAME_ENDINGS: WordList = WordList::new(include_str!("secret_name_endings.txt"));

/// Names that stand above a value and are looked at, the nearest first.
const ABOVE_MAX: usize = 4;

/// Takes secrets out of a value below these names, the outermost first, and out of the names within;
/// tells `clean` the rules that found them.
pub fn redact_value(names: &mut Vec<String>, value: &mut Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            if let Some(clean) = redact_named(names, text, found) {
                *text = clean;
            }
        }
        Value::Array(values) => {
            values.iter_mut().for_each(|value| redact_value(names, value, found));
        }
        Value::Object(fields) => redact_fields(names, fields, found),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn redact_fields(
    names: &mut Vec<String>,
    fields: &mut Map<String, Value>,
    found: &mut Vec<String>,
) {
    // `{"name": "DB_PASSWORD", "value": "…"}` names its value beside it.
    let beside = ["name", "key", "label"].iter().find_map(|key| fields.get(*key)?.as_str());
    let beside = beside.map(str::to_owned);
    let mut clean = Map::with_capacity(fields.len());
    for (name, mut value) in std::mem::take(fields) {
        let named = beside.clone().filter(|_| name == "value");
        names.push(named.unwrap_or_else(|| name.clone()));
        redact_value(names, &mut value, found);
        names.pop();
        let redacted = redact(&name);
        found.extend(redacted.found.iter().map(|finding| finding.rule.to_owned()));
        clean.insert(redacted.text.into_owned(), value);
    }
    *fields = clean;
}

/// The text without its secrets, where the text or a name above it tells of one.
fn redact_named(names: &[String], text: &str, found: &mut Vec<String>) -> Option<String> {
    let mut tried = |before: &str, after: &str| {
        let whole = format!("{before}{text}{after}");
        let redacted = redact(&whole);
        if redacted.found.is_empty() {
            return None;
        }
        found.extend(redacted.found.iter().map(|finding| finding.rule.to_owned()));
        let inner = redacted.text.strip_prefix(before).unwrap_or(&redacted.text);
        Some(inner.strip_suffix(after).unwrap_or(inner).to_owned())
    };
    let own = names.last().map(|name| format!("{name}: ")).unwrap_or_default();
    if let Some(clean) = tried(&own, "") {
        return Some(clean);
    }
    for (place, name) in names.iter().rev().take(ABOVE_MAX).enumerate() {
        let clean = match name_hint(name) {
            Some(NameHint::Password) if place == 0 && !text.contains(['"', '\\']) => {
                tried("\"password\": \"", "\"")
            }
            Some(NameHint::Password) => tried("password: ", ""),
            Some(NameHint::Secret) => tried("secret: ", ""),
            None => None,
        };
        if clean.is_some() {
            return clean;
        }
    }
    None
}

/// What a name says of the values below it.
enum NameHint {
    Password,
    Secret,
}

fn name_hint(name: &str) -> Option<NameHint> {
    let plain: String =
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let plain = plain.trim_end_matches('s');
    if PASSWORD_NAMES.contains(plain) || plain.ends_with("password") {
        Some(NameHint::Password)
    } else if SECRET_NAME_ENDINGS.iter().any(|ending| plain.ends_with(ending)) {
        Some(NameHint::Secret)
    } else {
        None
    }
}
