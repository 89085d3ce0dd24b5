//! Files of one JSON value a line, read line by line within a limit.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use commonbook_text::json_text::json_text;
use serde_json::Value;

/// Bytes of a line.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// A line with its number; an error says what is wrong with it.
pub(crate) struct NumberedLine {
    pub number: usize,
    pub value: Result<Value, String>,
}

/// The lines of a reader that are not empty, as JSON; a line may have several values.
pub(crate) struct JsonLines<R> {
    reader: R,
    number: usize,
    /// Further values of the line.
    pending: VecDeque<Value>,
}

impl<R: BufRead> JsonLines<R> {
    pub(crate) const fn new(reader: R) -> Self {
        Self { reader, number: 0, pending: VecDeque::new() }
    }

    /// Reads to the end of the line; a longer line than allowed is read and not kept.
    fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<LineRead> {
        let mut is_long = false;
        let mut is_read = false;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            is_read = true;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = end.unwrap_or(buffer.len());
            is_long |= line.len() + part > LINE_BYTES_MAX;
            if !is_long {
                line.extend_from_slice(&buffer[..part]);
            }
            self.reader.consume(end.map_or(part, |end| end + 1));
            if end.is_some() {
                break;
            }
        }
        Ok(match (is_read, is_long) {
            (false, _) => LineRead::End,
            (true, true) => LineRead::TooLong,
            (true, false) => LineRead::Line,
        })
    }
}

enum LineRead {
    End,
    Line,
    TooLong,
}

impl<R: BufRead> Iterator for JsonLines<R> {
    type Item = NumberedLine;

    fn next(&mut self) -> Option<NumberedLine> {
        if let Some(value) = self.pending.pop_front() {
            return Some(NumberedLine { number: self.number, value: Ok(value) });
        }
        loop {
            let mut line = Vec::new();
            let read = self.read_line(&mut line);
            self.number += 1;
            let number = self.number;
            let value = match read {
                Ok(LineRead::End) => return None,
                Ok(LineRead::TooLong) => {
                    Err(format!("the line has more than {LINE_BYTES_MAX} bytes"))
                }
                Ok(LineRead::Line) => {
                    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
                    if line.trim_ascii().is_empty() {
                        continue;
                    }
                    values_of(line).map(|mut values| {
                        let first = values.pop_front().unwrap_or_default();
                        self.pending = values;
                        first
                    })
                }
                Err(error) => Err(format!("the file cannot be read: {error}")),
            };
            return Some(NumberedLine { number, value });
        }
    }
}

/// The values of a line: one, or several objects with blanks or commas between them.
fn values_of(line: &[u8]) -> Result<VecDeque<Value>, String> {
    let text = json_text(line);
    let mut line = text.trim();
    let mut found = VecDeque::new();
    while !line.is_empty() {
        let mut values = serde_json::Deserializer::from_str(line).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) if found.is_empty() || value.is_object() => found.push_back(value),
            _ => return Err("the line is not JSON".to_owned()),
        }
        let rest = line[values.byte_offset()..].trim();
        line = rest.strip_prefix(',').unwrap_or(rest).trim();
        if !line.is_empty() && !found[0].is_object() {
            return Err("the line is not JSON".to_owned());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_long_ones_are_refused() {
        let long = format!("\"{}\"", "x".repeat(LINE_BYTES_MAX));
        let text = format!("\u{feff}1\n\n  \n{{broken\n{long}\n2\n{{}} {{}},\n1 2");
        let found: Vec<_> = JsonLines::new(text.as_bytes())
            .map(|line| (line.number, line.value.map_err(|reason| reason.contains("not JSON"))))
            .collect();
        let object = || Ok(serde_json::json!({}));
        let values =
            [(4, Err(true)), (5, Err(false)), (6, Ok(2.into())), (7, object()), (7, object())];
        assert_eq!(found[..1], [(1, Ok(1.into()))]);
        assert_eq!((&found[1..6], &found[6]), (&values[..], &(8, Err(true))));
    }
}
