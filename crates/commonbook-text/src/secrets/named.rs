//! Values with names, as in JSON: the name above or beside a value can show that it is a secret.

use serde_json::{Map, Value};

use super::redact;
use crate::word_list::WordList;

/// Names whose values are passwords.
static PASSWORD_NAMES: WordList = WordList::new(include_str!("password_names.txt"));

/// Endings of names whose values are secrets.
static SECRET_NAME_ENDINGS: WordList = WordList::new(include_str!("secret_name_endings.txt"));

/// Maximum names above a value that are checked, the nearest first.
const NAMES_ABOVE_MAX: usize = 4;

/// Removes secrets from a value below these names, the outermost first, and from the names within it.
/// Appends the names of the rules to `found`.
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

/// Returns the text without its secrets, if the text or a name above it shows one.
fn redact_named(names: &[String], text: &str, found: &mut Vec<String>) -> Option<String> {
    let mut redact_between = |before: &str, after: &str| {
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
    if let Some(clean) = redact_between(&own, "") {
        return Some(clean);
    }
    for (level, name) in names.iter().rev().take(NAMES_ABOVE_MAX).enumerate() {
        let clean = match name_hint(name) {
            Some(NameHint::Password) if level == 0 && !text.contains(['"', '\\']) => {
                redact_between("\"password\": \"", "\"")
            }
            Some(NameHint::Password) => redact_between("password: ", ""),
            Some(NameHint::Secret) => redact_between("secret: ", ""),
            None => None,
        };
        if clean.is_some() {
            return clean;
        }
    }
    None
}

/// The kind of secret that a name shows.
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
