//! What is counted of lines: how many of each kind.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The kind of the lines that are no records.
pub const MEMORY_KIND: &str = "memory";
/// Characters of a kind.
const KIND_CHARS_MAX: usize = 40;
/// Kinds of an archive.
const KINDS_MAX: usize = 100;

/// How many lines of each kind there are.
#[derive(Debug, Default)]
pub(crate) struct LineTally {
    pub kinds: BTreeMap<String, u64>,
    pub lines: u64,
}

/// What makes a line a record.
#[derive(Deserialize)]
struct LineHead {
    #[serde(default)]
    record: Value,
    #[serde(default)]
    value: Option<IgnoredAny>,
}

impl LineTally {
    /// Counts a line; returns `false` for one that is no JSON object, or of no possible kind.
    pub(crate) fn add(&mut self, line: &[u8]) -> bool {
        let Some(kind) = line_kind(line) else { return false };
        if self.kinds.len() == KINDS_MAX && !self.kinds.contains_key(&kind) {
            return false;
        }
        *self.kinds.entry(kind).or_default() += 1;
        self.lines += 1;
        true
    }
}

/// The kind of a line.
fn line_kind(line: &[u8]) -> Option<String> {
    // Serde would read a list as an object, too.
    if !line.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let head: LineHead = serde_json::from_slice(line).ok()?;
    let (Value::String(kind), Some(_)) = (head.record, head.value) else {
        return Some(MEMORY_KIND.to_owned());
    };
    let is_kind = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let is_possible = (1..=KIND_CHARS_MAX).contains(&kind.len())
        && kind.bytes().all(is_kind)
        && kind != MEMORY_KIND;
    is_possible.then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_record_with_its_name_and_value_else_a_memory() {
        let table = [
            (r#"{"text":"x"}"#, Some("memory")),
            (r#"{"record":"case","value":{}}"#, Some("case")),
            (r#"{"record":"case","value":[1,{"a":null}]}"#, Some("case")),
            (r#"{"record":"case"}"#, Some("memory")),
            (r#"{"record":7,"value":1}"#, Some("memory")),
            (r#"{"record":"memory","value":1}"#, None),
            (r#"{"record":"A case","value":1}"#, None),
            (r#"["case",1]"#, None),
            ("7", None),
            ("", None),
            (r#"{"text":"x"} {}"#, None),
            (r#"{"text":"x""#, None),
        ];
        for (line, kind) in table {
            assert_eq!(line_kind(line.as_bytes()).as_deref(), kind, "{line}");
        }
    }
}
