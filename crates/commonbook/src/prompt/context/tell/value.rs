//! JSON values in words.

use serde_json::Value;

/// From this many characters on, items of a list are separated by semicolons.
const LONG_ITEM_CHARS: usize = 40;

/// Whether a value is empty: null, an empty text, or a list or an object of empty values.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(object) => object.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A value within a sentence: `Python, Rust and Go`, `theme: dark, size: 12`.
pub(super) fn clause(value: &Value) -> String {
    match value {
        Value::Array(items) => list(items),
        Value::Object(object) => {
            let filled = object.iter().filter(|(_, value)| !is_empty(value));
            let (names, others): (Vec<_>, Vec<_>) =
                filled.partition(|(key, value)| is_name(key, value));
            let others: Vec<String> = others
                .iter()
                .map(|(key, value)| format!("{}: {}", phrase(key), nested_value(value)))
                .collect();
            let names: Vec<String> = names.iter().map(|(_, value)| clause(value)).collect();
            match (names.is_empty(), others.is_empty()) {
                (true, _) => others.join(", "),
                (false, true) => names.join(", "),
                (false, false) => format!("{} ({})", names.join(", "), others.join(", ")),
            }
        }
        _ => scalar(value),
    }
}

/// Whether a key with its value is a name.
fn is_name(key: &str, value: &Value) -> bool {
    value.is_string() && matches!(phrase(key).to_lowercase().as_str(), "name" | "title")
}

/// A value within a value; a compound value is in brackets.
fn nested_value(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) if !is_single_value(value) => {
            format!("({})", clause(value))
        }
        _ => clause(value),
    }
}

/// Whether a value is a single value, perhaps wrapped in lists.
fn is_single_value(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() == 1 && items.iter().all(is_single_value),
        Value::Object(_) => false,
        _ => true,
    }
}

fn list(items: &[Value]) -> String {
    let plain = items.iter().all(|item| !item.is_object() && !item.is_array());
    let clauses: Vec<String> = items
        .iter()
        .filter(|item| !is_empty(item))
        .map(clause)
        .map(|item| open_end(&item))
        .collect();
    let long = clauses
        .iter()
        .any(|item| item.contains([',', ';']) || item.chars().count() > LONG_ITEM_CHARS);
    match clauses.as_slice() {
        [only] => only.clone(),
        _ if !plain || long => clauses.join("; "),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => told_line(text),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

/// A text on one line, with single blanks; a text of several paragraphs keeps its lines.
fn told_line(text: &str) -> String {
    let text = text.trim();
    if text.contains("\n\n") {
        return text.to_owned();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text without the full stop that would end up in the middle of a sentence.
pub(super) fn open_end(text: &str) -> String {
    text.strip_suffix('.').filter(|rest| !rest.ends_with('.')).unwrap_or(text).to_owned()
}

/// A text as a sentence, with one full stop at its end.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim_end();
    match text.ends_with(['.', '!', '?', '…', '。', '！', '？']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// A key as words: `preferredLanguages`, `preferred-languages` and `preferred_languages` become
/// `preferred languages`. Capitals stay: `API_KEY` is `API KEY`.
pub(super) fn phrase(key: &str) -> String {
    let mut words = String::with_capacity(key.len() + 4);
    let letters: Vec<char> = key.trim().chars().collect();
    for (place, letter) in letters.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| letters.get(place));
        let after = letters.get(place + 1);
        let small = |c: Option<&char>| c.is_some_and(|c| c.is_lowercase());
        match letter {
            '_' | '-' => words.push(' '),
            // `userName`, and the `P` of `HTTPPort`; acronyms stay whole.
            c if c.is_uppercase()
                && (small(before)
                    || (small(after) && before.is_some_and(|c| c.is_uppercase()))) =>
            {
                words.push(' ');
                words.extend(lower_chars(*c, small(after)));
            }
            c => words.extend(lower_chars(*c, small(after))),
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn lower_chars(c: char, lower: bool) -> Vec<char> {
    if lower { c.to_lowercase().collect() } else { vec![c] }
}

/// A key as the beginning of a sentence.
pub(super) fn label(key: &str) -> String {
    capitalise(&phrase(key))
}

/// A text with a capital at its beginning, if the first letter has one of its own: the capital of
/// `µ` belongs to another letter, and that of `ß` is two letters.
pub(super) fn capitalise(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let mut large = first.to_uppercase();
    match (large.next(), large.next()) {
        (Some(capital), None) if capital.to_lowercase().eq([first]) => {
            format!("{capital}{}", letters.as_str())
        }
        _ => text.to_owned(),
    }
}
