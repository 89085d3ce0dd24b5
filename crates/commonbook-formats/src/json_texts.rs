//! JSON values one after the other, however they stand: a value a line, several on a line, one over several lines, in
//! a list. A value that breaks off costs its line and not those below it.

use std::io::{self, BufRead};

use commonbook_text::json_text::json_text;
use serde_json::{Map, Value};

use crate::lines::LINE_BYTES_MAX;

/// Answers and lists within each other.
const DEPTH_MAX: usize = 8;
/// Names of the list in an answer that has the rows, the likeliest first.
const LIST_NAMES: [&str; 15] = [
    "memories",
    "results",
    "items",
    "data",
    "rows",
    "records",
    "entries",
    "documents",
    "notes",
    "facts",
    "lines",
    "result",
    "response",
    "structuredContent",
    "memory_list",
];
/// Fields of a row that has its own text.
const TEXT_FIELDS: [&str; 4] = ["text", "content", "memory", "record"];

/// The text of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText {
    /// The line at which it begins; the first line is 1.
    pub line: usize,
    /// Whether nothing else stands on its line, so that the line names it.
    pub is_line: bool,
    /// Its bytes, or what is wrong with them.
    pub bytes: Result<Vec<u8>, JsonTextError>,
}

/// Why a text is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonTextError {
    /// It is no JSON, or it breaks off.
    NotJson,
    /// It has more than [`LINE_BYTES_MAX`] bytes.
    TooLong,
}

/// Reads the texts of values.
pub struct JsonTexts<R> {
    reader: R,
    /// What was read and is read again, and how far.
    again: Vec<u8>,
    position: usize,
    line: usize,
    lists: usize,
    /// Whether a value of this line was read.
    is_begun: bool,
    /// Whether a value was over its line's end without an end of its own: from then on each ends with its line.
    is_by_line: bool,
}

impl<R: BufRead> JsonTexts<R> {
    /// The values of a reader.
    pub const fn new(reader: R) -> Self {
        Self {
            reader,
            again: Vec::new(),
            position: 0,
            line: 1,
            lists: 0,
            is_begun: false,
            is_by_line: false,
        }
    }

    /// Reads the next value; `None` at the end.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn next_text(&mut self) -> io::Result<Option<JsonText>> {
        loop {
            match self.peek()? {
                None => return Ok(None),
                Some(b'\n') => {
                    self.line += 1;
                    self.is_begun = false;
                }
                Some(b'[') => self.lists += 1,
                Some(b']') => self.lists = self.lists.saturating_sub(1),
                Some(byte)
                    if byte.is_ascii_whitespace() || matches!(byte, b',' | 0xef | 0xbb | 0xbf) => {}
                Some(byte) => return self.read_text(byte).map(Some),
            }
            self.take();
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        if let Some(byte) = self.again.get(self.position) {
            return Ok(Some(*byte));
        }
        (self.again, self.position) = (Vec::new(), 0);
        Ok(self.reader.fill_buf()?.first().copied())
    }

    /// Takes the byte that was seen.
    fn take(&mut self) {
        match self.position < self.again.len() {
            true => self.position += 1,
            false => self.reader.consume(1),
        }
    }

    fn read_text(&mut self, first: u8) -> io::Result<JsonText> {
        let (line, is_first) = (self.line, !self.is_begun && self.lists == 0);
        self.is_begun = true;
        let bytes = match first {
            b'{' | b'"' => self.read_value()?,
            _ => self.read_line()?.and(Err(JsonTextError::NotJson)),
        };
        if bytes.is_err() {
            self.lists = 0;
        }
        let is_line = is_first && self.line == line && (bytes.is_err() || self.is_at_line_end()?);
        Ok(JsonText { line, is_line, bytes })
    }

    /// Whether nothing but blanks and commas is left of the line.
    fn is_at_line_end(&mut self) -> io::Result<bool> {
        loop {
            match self.peek()? {
                None | Some(b'\n') => return Ok(true),
                Some(b' ' | b'\t' | b'\r' | b',') => self.take(),
                Some(_) => return Ok(false),
            }
        }
    }

    /// Reads to the end of the line.
    fn read_line(&mut self) -> io::Result<Result<Vec<u8>, JsonTextError>> {
        let mut kept = Vec::new();
        while let Some(byte) = self.peek()?.filter(|byte| *byte != b'\n') {
            if kept.len() >= LINE_BYTES_MAX {
                return Ok(Err(JsonTextError::TooLong));
            }
            kept.push(byte);
            self.take();
        }
        Ok(Ok(kept))
    }

    /// Reads a value to its last bracket. It breaks off where the next line begins another one.
    fn read_value(&mut self) -> io::Result<Result<Vec<u8>, JsonTextError>> {
        let mut kept = Vec::new();
        let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
        // The byte before a line end, and the place behind it, until the next byte that is no blank.
        let (mut last, mut line_end) = (0, None);
        loop {
            let byte = self.peek()?;
            let is_full = kept.len() >= LINE_BYTES_MAX;
            let Some(byte) = byte.filter(|_| !is_full) else {
                self.is_by_line |= kept.contains(&b'\n');
                return Ok(self.break_off(kept, is_full));
            };
            if byte == b'\n' && self.is_by_line {
                return Ok(Err(JsonTextError::NotJson));
            }
            if let Some(before) = line_end.filter(|_| !byte.is_ascii_whitespace()) {
                let begins = match in_text {
                    true => byte == b'{',
                    false => {
                        matches!(byte, b'{' | b'[' | b'"')
                            && !matches!(before, b',' | b'[' | b'{' | b':')
                    }
                };
                if begins {
                    return Ok(self.break_off(kept, false));
                }
                line_end = None;
            }
            self.take();
            kept.push(byte);
            match (in_text, byte) {
                (_, b'\n') => {
                    self.line += 1;
                    line_end = Some(last);
                    is_escaped = false;
                }
                (true, _) if is_escaped => is_escaped = false,
                (true, b'\\') => is_escaped = true,
                (true, b'"') => in_text = false,
                (false, b'"') => in_text = true,
                (false, b'{' | b'[') => depth += 1,
                (false, b'}' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                last = byte;
            }
            if depth == 0 && !in_text && matches!(byte, b'"' | b'}' | b']') {
                return Ok(Ok(kept));
            }
        }
    }

    /// Refuses the first line of what was read, and reads the rest again.
    fn break_off(&mut self, kept: Vec<u8>, is_full: bool) -> Result<Vec<u8>, JsonTextError> {
        let Some(end) = kept.iter().position(|byte| *byte == b'\n') else {
            return Err(if is_full { JsonTextError::TooLong } else { JsonTextError::NotJson });
        };
        self.line -= kept.iter().filter(|byte| **byte == b'\n').count();
        let mut again = kept;
        again.drain(..end);
        again.extend_from_slice(&self.again[self.position..]);
        (self.again, self.position) = (again, 0);
        Err(JsonTextError::NotJson)
    }
}

/// The rows of a value: those of a list, of an answer that has one, or of the text of a tool's result; else the value
/// itself. A text in a list is a row with that text.
#[must_use]
pub fn rows_of_value(value: Value) -> Vec<Value> {
    rows_within(value, 0)
}

fn rows_within(value: Value, depth: usize) -> Vec<Value> {
    match value {
        Value::Array(items) if depth < DEPTH_MAX => items
            .into_iter()
            .flat_map(|item| match item {
                Value::String(text) => {
                    vec![Value::Object(Map::from_iter([("text".to_owned(), text.into())]))]
                }
                item => rows_within(item, depth + 1),
            })
            .collect(),
        Value::Object(fields) if depth < DEPTH_MAX => match answer_in(&fields) {
            Some(answer) => rows_within(answer, depth + 1),
            None => vec![Value::Object(fields)],
        },
        value => vec![value],
    }
}

/// What an object has around it: the list of an answer, or the texts of a tool's result.
pub(crate) fn answer_in(fields: &Map<String, Value>) -> Option<Value> {
    let parsed = |text: &Value| {
        let text = text.as_str()?.trim();
        let is_json = text.starts_with(['{', '[']);
        is_json.then(|| serde_json::from_str::<Value>(&json_text(text.as_bytes())).ok())?
    };
    if let Some(parts) = fields.get("content").and_then(Value::as_array) {
        let answers: Option<Vec<Value>> =
            parts.iter().map(|part| parsed(part.get("text")?)).collect();
        if let Some(answers) = answers.filter(|answers| !answers.is_empty()) {
            return Some(Value::Array(answers));
        }
    }
    // A part by itself.
    let text = fields.get("text").filter(|_| fields.get("type").is_some_and(|kind| kind == "text"));
    if let Some(answer) = text.and_then(parsed) {
        return Some(answer);
    }
    if TEXT_FIELDS.iter().any(|field| {
        fields.get(*field).is_some_and(|value| value.is_string() || *field == "record")
    }) {
        return None;
    }
    let is_list = |value: &&Value| value.is_array() || value.is_object();
    let mut lists = LIST_NAMES.iter().filter_map(|name| fields.get(*name).filter(is_list));
    let answer = lists.next()?;
    // Of two lists one would be lost.
    let is_only = fields
        .values()
        .filter(|value| value.as_array().is_some_and(|list| !list.is_empty()))
        .count()
        <= 1;
    is_only.then(|| answer.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Each value in a line: its line, whether that names it, and its text.
    fn shown(text: &str) -> Vec<(usize, bool, String)> {
        let mut texts = JsonTexts::new(text.as_bytes());
        let next = || {
            texts.next_text().expect("readable").map(|found| {
                let value = found
                    .bytes
                    .map(|bytes| String::from_utf8_lossy(&bytes).replace(['\n', ' '], ""));
                (found.line, found.is_line, value.unwrap_or_else(|error| format!("! {error:?}")))
            })
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn values_are_found_however_they_stand() {
        let row = |line, is_line, text: &str| (line, is_line, text.to_owned());
        let (a, b) = ("{\"a\":[1,\"}\"]}", "{\"b\":2}");
        let table = [
            (format!("\u{feff}{a}\r\n\n{b},\n"), vec![row(1, true, a), row(3, true, b)]),
            (format!("{a} {b}\n"), vec![row(1, false, a), row(1, false, b)]),
            (format!("[{a},{b}]"), vec![row(1, false, a), row(1, false, b)]),
            (
                format!("[\n  {a},\n  {{\n\"b\":\n2}}\n]\n"),
                vec![row(2, false, a), row(3, false, b)],
            ),
            (format!("words\n{a}"), vec![row(1, true, "! NotJson"), row(2, true, a)]),
            (
                format!("{{\"x\": 1\n{a}\n{b}"),
                vec![row(1, true, "! NotJson"), row(2, true, a), row(3, true, b)],
            ),
            (format!("{{\"x\": \"1\n{a}\n"), vec![row(1, true, "! NotJson"), row(2, true, a)]),
            (
                format!("{{\"x\":\n1,\n{a}\n{b}"),
                vec![
                    row(1, true, "! NotJson"),
                    row(2, true, "! NotJson"),
                    row(3, true, a),
                    row(4, true, b),
                ],
            ),
            ("\"text\"".to_owned(), vec![row(1, true, "\"text\"")]),
        ];
        for (text, expected) in table {
            assert_eq!(shown(&text), expected, "{text}");
        }
        let long = "x".repeat(LINE_BYTES_MAX + 1);
        for text in [long.clone(), format!("{{\"x\":\"{long}\"}}")] {
            assert_eq!(shown(&text)[0], row(1, true, "! TooLong"));
        }
    }

    #[test]
    fn rows_are_those_of_lists_answers_and_results_of_tools() {
        let rows = |value: Value| Value::Array(rows_of_value(value));
        let (a, b) = (json!({"text": "a"}), json!({"memory": "b"}));
        let both = json!([a, b]);
        for value in [
            both.clone(),
            json!({"memories": both, "total": 2, "next": null}),
            json!({"data": {"results": both}}),
            json!({"content": [{"type": "text", "text": both.to_string()}], "isError": false}),
            json!([{"type": "text", "text": both.to_string()}]),
            json!({"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": {"items": both}}}),
            json!([["a"], b]),
        ] {
            assert_eq!(rows(value.clone()), both, "{value}");
        }
        for value in [
            a.clone(),
            json!({"content": "c", "notes": ["x"]}),
            json!({"record": "memory", "data": {}}),
            json!({"content": [{"type": "text", "text": "words"}]}),
            json!({"items": [a], "others": [b]}),
            json!(7),
        ] {
            assert_eq!(rows(value.clone()), json!([value]), "{value}");
        }
    }
}
