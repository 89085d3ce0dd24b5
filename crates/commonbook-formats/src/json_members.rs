//! The members of a large JSON document, one at a time: the elements of a list, or the members of an object
//! with the elements of each list among them.

use std::io::{self, BufRead};

use commonbook_text::json_text::json_text;
use serde_json::Value;

use crate::files::SourceFile;
use crate::{Progress, RowOutcome};

/// Bytes of a member.
pub const MEMBER_BYTES_MAX: usize = 64 << 20;

/// A member with the line at which it begins.
pub(crate) struct DocumentMember {
    /// The name under which it stands in the outermost object.
    pub key: Option<String>,
    pub line: usize,
    /// The value, or what is wrong with it.
    pub value: Result<Value, String>,
}

/// The members of a document, as they are read. After an error of the document's own form it ends.
pub(crate) struct DocumentMembers<R> {
    reader: R,
    line: usize,
    /// The bracket that closes the outermost value; `None` before it began and after it ended.
    outer: Option<u8>,
    /// The key of the list that is open in the outermost object.
    list: Option<String>,
    is_done: bool,
}

impl<R: BufRead> DocumentMembers<R> {
    pub(crate) const fn new(reader: R) -> Self {
        Self { reader, line: 1, outer: None, list: None, is_done: false }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.reader.fill_buf()?.first().copied())
    }

    fn take(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.reader.consume(1);
            self.line += usize::from(byte == b'\n');
        }
        Ok(byte)
    }

    /// The next byte that is no blank and none of these.
    fn skip(&mut self, others: &[u8]) -> io::Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() || others.contains(&byte) => {
                    self.take()?;
                }
                byte => return Ok(byte),
            }
        }
    }

    /// Reads one value; a larger one than allowed is read and not kept.
    fn read_value(&mut self) -> io::Result<Result<Vec<u8>, String>> {
        let (mut kept, mut is_large) = (Vec::new(), false);
        let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
        loop {
            let Some(byte) = self.peek()? else {
                return Ok(Err("the file ends in the middle of a value".to_owned()));
            };
            let is_end = byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
            if depth == 0 && !in_string && is_end {
                break;
            }
            self.take()?;
            is_large |= kept.len() >= MEMBER_BYTES_MAX;
            if !is_large {
                kept.push(byte);
            }
            match (in_string, byte) {
                (true, _) if is_escaped => is_escaped = false,
                (true, b'\\') => is_escaped = true,
                (true, b'"') => in_string = false,
                (false, b'"') => in_string = true,
                (false, b'{' | b'[') => depth += 1,
                (false, b'}' | b']') => depth -= 1,
                _ => {}
            }
            if depth == 0 && !in_string && matches!(byte, b'"' | b'}' | b']') {
                break;
            }
        }
        Ok(match is_large {
            true => Err(format!("the value has more than {MEMBER_BYTES_MAX} bytes")),
            false => Ok(kept),
        })
    }

    fn next_member(&mut self) -> io::Result<Result<Option<DocumentMember>, String>> {
        if self.outer.is_none() {
            if self.peek()? == Some(0xef) {
                // A byte order mark.
                for _ in 0..3 {
                    self.take()?;
                }
            }
            self.outer = match self.skip(&[])? {
                Some(b'[') => Some(b']'),
                Some(b'{') => Some(b'}'),
                _ => return Ok(Err("expected a JSON list or object".to_owned())),
            };
            self.take()?;
        }
        loop {
            let next = self.skip(b",")?;
            if self.list.is_some() && next == Some(b']') {
                self.take()?;
                self.list = None;
                continue;
            }
            if self.list.is_none() && next == self.outer {
                self.take()?;
                return Ok(match self.skip(&[])? {
                    None => Ok(None),
                    Some(_) => Err("expected the end of the file after the value".to_owned()),
                });
            }
            let line = self.line;
            let mut key = self.list.clone();
            if self.list.is_none() && self.outer == Some(b'}') {
                let name = match self.read_value()? {
                    Ok(name) => name,
                    Err(reason) => return Ok(Err(reason)),
                };
                let Ok(name) = serde_json::from_str::<String>(&json_text(&name)) else {
                    return Ok(Err("expected the name of a member".to_owned()));
                };
                if self.skip(b":")? == Some(b'[') {
                    self.take()?;
                    self.list = Some(name);
                    continue;
                }
                key = Some(name);
            }
            let value = match self.read_value()? {
                Ok(bytes) if bytes.is_empty() => return Ok(Err("expected a value".to_owned())),
                Ok(bytes) => serde_json::from_str(&json_text(&bytes))
                    .map_err(|error| format!("the value is not JSON: {error}")),
                Err(reason) if self.peek()?.is_none() => return Ok(Err(reason)),
                Err(reason) => Err(reason),
            };
            return Ok(Ok(Some(DocumentMember { key, line, value })));
        }
    }
}

impl<R: BufRead> Iterator for DocumentMembers<R> {
    type Item = DocumentMember;

    fn next(&mut self) -> Option<DocumentMember> {
        if self.is_done {
            return None;
        }
        let found = match self.next_member() {
            Ok(found) => found,
            Err(error) => Err(format!("the file cannot be read: {error}")),
        };
        match found {
            Ok(Some(member)) => Some(member),
            Ok(None) => {
                self.is_done = true;
                None
            }
            Err(reason) => {
                self.is_done = true;
                Some(DocumentMember { key: None, line: self.line, value: Err(reason) })
            }
        }
    }
}

/// The rows of a JSON document: those of each member.
pub(crate) fn rows_of_members(
    file: &SourceFile,
    progress: &Progress,
    rows: impl Fn(&SourceFile, Option<&str>, usize, &Value) -> Vec<RowOutcome> + 'static,
) -> crate::RowIterator {
    let reader = match file.open(progress) {
        Ok(reader) => reader,
        Err(refused) => return Box::new(std::iter::once(refused)),
    };
    let file = file.clone();
    Box::new(DocumentMembers::new(reader).flat_map(move |member| match member.value {
        Ok(value) => rows(&file, member.key.as_deref(), member.line, &value),
        Err(reason) => vec![RowOutcome::refused(&file, member.line, reason)],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Vec<(Option<String>, usize, String)> {
        let members = DocumentMembers::new(text.as_bytes());
        let shown = |value: Result<Value, String>| match value {
            Ok(value) => value.to_string(),
            Err(reason) => format!("! {reason}"),
        };
        members.map(|member| (member.key, member.line, shown(member.value))).collect()
    }

    #[test]
    fn elements_and_members_are_read_one_at_a_time() {
        let row =
            |key: Option<&str>, line, value: &str| (key.map(str::to_owned), line, value.to_owned());
        let table = [
            ("[]", vec![]),
            (
                " [1, \"a]\\\"\",\n{\"b\": [2]}]\n",
                vec![row(None, 1, "1"), row(None, 1, "\"a]\\\"\""), row(None, 2, "{\"b\":[2]}")],
            ),
            (
                "\u{feff}{\"a\": 1,\n\"rows\": [{\"x\":1}, {\"x\":2}],\n\"b\": {\"c\": []}}",
                vec![
                    row(Some("a"), 1, "1"),
                    row(Some("rows"), 2, "{\"x\":1}"),
                    row(Some("rows"), 2, "{\"x\":2}"),
                    row(Some("b"), 3, "{\"c\":[]}"),
                ],
            ),
        ];
        for (text, expected) in table {
            assert_eq!(members(text), expected, "{text}");
        }
    }

    #[test]
    fn a_broken_document_says_where_it_breaks() {
        let table = [
            ("", 1, "expected a JSON list or object"),
            ("42", 1, "expected a JSON list or object"),
            ("[1,\n{\"a\":", 2, "ends in the middle"),
            ("[1,\n2", 2, "ends in the middle"),
            ("[1] 2", 1, "expected the end"),
            ("{1: 2}", 1, "expected the name"),
            ("{\"a\" }", 1, "expected a value"),
        ];
        for (text, line, reason) in table {
            let (_, at, last) = members(text).pop().unwrap_or_else(|| panic!("{text}: no member"));
            assert!(at == line && last.contains(reason), "{text}: {at} {last}");
        }
        let found = members("[1,\n{bad},\n3]");
        assert_eq!(found.len(), 3, "one bad value does not hold up the others: {found:?}");
        assert!(found[1].2.starts_with("! the value is not JSON") && found[2].2 == "3");
    }
}
