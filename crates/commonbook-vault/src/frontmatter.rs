//! Frontmatter: the YAML block that begins a Markdown file. A YAML parser reads it; it is changed key by
//! key, so that comments, order and unknown keys stay as a person wrote them.

use serde_json::{Map, Value};

use commonbook::base::error::{Error, Result};
use commonbook_formats::frontmatter::{self, YamlError};

/// The line before and after the block.
const FENCE: &str = "---";

/// Words that a YAML parser may take for something else than a text.
const YAML_WORDS: [&str; 12] =
    ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "~"];

/// A text as this crate reads it: without a byte order mark, its lines ended by `\n`.
#[must_use]
pub fn normalised_lines(text: &str) -> String {
    frontmatter::without_byte_order_mark(text).replace("\r\n", "\n")
}

/// The lines of one key, or lines that belong to none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyLines {
    key: Option<String>,
    text: String,
}

/// A parsed block, with the lines of each key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct YamlBlock {
    lines: Vec<KeyLines>,
    fields: Map<String, Value>,
}

impl YamlBlock {
    /// Parses a block.
    ///
    /// # Errors
    /// `invalid` with the line if it is no YAML, or no mapping from keys to values.
    pub fn parse(yaml: &str) -> Result<Self> {
        let fields = frontmatter::parse(yaml).map_err(|error| broken_block(yaml, &error))?;
        Ok(Self { lines: key_lines(yaml), fields })
    }

    /// The values by key.
    #[must_use]
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// Sets these keys in this order, and removes those without a value. A key whose value is equal
    /// keeps its lines; a new key comes after the one before it.
    pub fn set_all<'f>(&mut self, fields: impl IntoIterator<Item = (&'f str, Option<Value>)>) {
        let mut next = 0;
        for (key, value) in fields {
            let found = self.lines.iter().position(|lines| lines.key.as_deref() == Some(key));
            let Some(value) = value else {
                if let Some(index) = found {
                    self.lines.remove(index);
                    self.fields.shift_remove(key);
                    next -= usize::from(index < next);
                }
                continue;
            };
            let is_equal = self.fields.get(key) == Some(&value);
            let text = format!("{}: {}\n", flow_text(key), flow_value(&value));
            match found {
                Some(index) if is_equal => next = index + 1,
                Some(index) => {
                    self.lines[index].text = text;
                    next = index + 1;
                }
                None => {
                    self.lines.insert(next, KeyLines { key: Some(key.to_owned()), text });
                    next += 1;
                }
            }
            self.fields.insert(key.to_owned(), value);
        }
    }

    /// Sets a key after all others.
    pub fn set_last(&mut self, key: &str, value: Value) {
        let text = format!("{}: {}\n", flow_text(key), flow_value(&value));
        self.lines.push(KeyLines { key: Some(key.to_owned()), text });
        self.fields.insert(key.to_owned(), value);
    }

    /// The block with its fences.
    #[must_use]
    pub fn render(&self) -> String {
        let lines: String = self.lines.iter().map(|lines| lines.text.as_str()).collect();
        format!("{FENCE}\n{lines}{FENCE}\n")
    }
}

/// Splits a block into the lines of each key. What is indented or an item of a list belongs to the key
/// above it; a comment at the margin to none.
fn key_lines(yaml: &str) -> Vec<KeyLines> {
    let mut parts: Vec<KeyLines> = Vec::new();
    let mut waiting = String::new();
    for line in yaml.split_inclusive('\n') {
        let line = if line.ends_with('\n') { line.to_owned() } else { format!("{line}\n") };
        let is_continued = line.starts_with([' ', '\t', '-']) || line.starts_with(['}', ']']);
        match (is_continued, parts.last_mut()) {
            _ if line.trim().is_empty() => waiting.push_str(&line),
            (true, Some(part)) => {
                part.text.push_str(&std::mem::take(&mut waiting));
                part.text.push_str(&line);
            }
            _ => {
                if !waiting.is_empty() {
                    parts.push(KeyLines { key: None, text: std::mem::take(&mut waiting) });
                }
                parts.push(KeyLines { key: key_of(&line), text: line });
            }
        }
    }
    if !waiting.is_empty() {
        parts.push(KeyLines { key: None, text: waiting });
    }
    parts
}

/// The key that begins a line at the margin.
fn key_of(line: &str) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let (key, value) = line.split_once(':')?;
    let key = key.trim().trim_matches(['"', '\'']);
    (value.starts_with([' ', '\t', '\n']) && !key.is_empty()).then(|| key.to_owned())
}

/// A value on one line, as YAML.
#[must_use]
pub fn flow_value(value: &Value) -> String {
    match value {
        Value::String(text) => flow_text(text),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(flow_value).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields: Vec<String> = fields
                .map(|(key, value)| format!("{}: {}", flow_text(key), flow_value(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A text on one line, as YAML: plain where no parser takes it for anything else, else quoted.
fn flow_text(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let quoted = Value::String(text.to_owned()).to_string();
    let is_printable = |letter: char| {
        !matches!(
            letter,
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    if quoted.chars().all(is_printable) {
        return quoted;
    }
    let escape = |letter: char| match is_printable(letter) {
        true => letter.to_string(),
        false => format!("\\u{:04x}", u32::from(letter)),
    };
    quoted.chars().map(escape).collect()
}

/// Whether a text means itself without quotes, in a block and inside brackets.
fn is_plain(text: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-./@+".contains(letter);
    let is_time = text.len() >= 20 && text.starts_with(|first: char| first.is_ascii_digit()) && {
        let is_part = |letter: char| letter.is_ascii_digit() || "-:TZ.+".contains(letter);
        text.as_bytes()[10] == b'T' && text.chars().all(is_part)
    };
    if is_time {
        return true;
    }
    let begins = text.chars().next().is_some_and(char::is_alphabetic);
    begins
        && text.split(' ').all(|word| !word.is_empty() && word.chars().all(is_word))
        && !YAML_WORDS.contains(&text.to_lowercase().as_str())
}

/// The error of a block that a YAML parser refuses. The first fence is line 1 of the file.
fn broken_block(yaml: &str, error: &YamlError) -> Error {
    let reason = error.to_string();
    let reason = reason.lines().next().unwrap_or_default();
    let text = error.line.and_then(|line| Some((line, yaml.lines().nth(line.checked_sub(2)?)?)));
    let message = match text {
        Some((line, text)) => format!("line {line} ({text:?}): {reason}"),
        None => reason.to_owned(),
    };
    Error::invalid("frontmatter", message)
        .hint("Correct the line; until then the file is left as it is.")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
            "[a-zA-Z0-9:#,\\[\\]{}'\"!&*?|>@`% \n\t-]{0,16}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::vec(("[a-z #:]{1,6}", inner), 0..3)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_comes_back_from_its_line(value in value(), other in value()) {
            let mut block = YamlBlock::default();
            block.set_all([("one", Some(value.clone())), ("two", Some(other.clone()))]);
            let text = block.render();
            let yaml = frontmatter::split(&text).expect("a block").yaml;
            let read = YamlBlock::parse(yaml).expect("YAML");
            prop_assert_eq!(read.fields().get("one"), Some(&value), "{}", text);
            prop_assert_eq!(read.fields().get("two"), Some(&other), "{}", text);
        }
    }

    #[test]
    fn what_a_person_wrote_stays_where_it_is() {
        let yaml = "# my notes\nid: x\nmood: great # today\ntopics:\n  - deploy\n\n  - friday\n# end\nrevision: 1\n";
        let mut block = YamlBlock::parse(yaml).expect("YAML");
        assert_eq!(block.fields()["topics"], json!(["deploy", "friday"]));
        block.set_all([
            ("id", Some(json!("x"))),
            ("title", Some(json!("Deploys: when"))),
            ("topics", Some(json!(["deploy", "friday"]))),
            ("session", None),
            ("revision", Some(json!(2))),
        ]);
        assert_eq!(
            block.render(),
            "---\n# my notes\nid: x\ntitle: \"Deploys: when\"\nmood: great # today\ntopics:\n  - deploy\n\n  - friday\n# end\nrevision: 2\n---\n"
        );
        block.set_all([("topics", None), ("title", None)]);
        assert_eq!(
            block.render(),
            "---\n# my notes\nid: x\nmood: great # today\n# end\nrevision: 2\n---\n"
        );
    }

    #[test]
    fn a_broken_block_is_refused_with_its_line() {
        let table =
            [("a: 1\nb: [1, 2\nc: 3\n", "line"), ("a: 1\na: 2\n", "line 3"), ("- a\n- b\n", "")];
        for (yaml, expected) in table {
            let error = YamlBlock::parse(yaml).expect_err(yaml);
            assert!(error.message.contains(expected), "{yaml:?}: {}", error.message);
        }
    }
}
