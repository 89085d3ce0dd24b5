//! Files of one JSON value a line, read line by line within a limit.

use std::io::{self, BufRead};

use serde_json::Value;

use crate::files::SourceFile;
use crate::{Progress, RowOutcome};

/// Bytes of a line.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// A line with its number; an error says what is wrong with it.
pub(crate) struct NumberedLine {
    pub number: usize,
    pub value: Result<Value, String>,
}

/// The lines of a reader that are not empty, as JSON.
pub(crate) struct JsonLines<R> {
    reader: R,
    number: usize,
}

impl<R: BufRead> JsonLines<R> {
    pub(crate) const fn new(reader: R) -> Self {
        Self { reader, number: 0 }
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
                    serde_json::from_slice(line).map_err(|_| "the line is not JSON".to_owned())
                }
                Err(error) => Err(format!("the file cannot be read: {error}")),
            };
            return Some(NumberedLine { number, value });
        }
    }
}

/// The rows of a file of JSON lines: those of each line.
pub(crate) fn rows_of_lines(
    file: &SourceFile,
    progress: &Progress,
    rows: impl Fn(&SourceFile, usize, &Value) -> Vec<RowOutcome> + 'static,
) -> crate::RowIterator {
    let reader = match file.open(progress) {
        Ok(reader) => reader,
        Err(refused) => return Box::new(std::iter::once(refused)),
    };
    let file = file.clone();
    Box::new(JsonLines::new(reader).flat_map(move |line| match line.value {
        Ok(value) => rows(&file, line.number, &value),
        Err(reason) => vec![RowOutcome::refused(&file, line.number, reason)],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_long_ones_are_refused() {
        let long = format!("\"{}\"", "x".repeat(LINE_BYTES_MAX));
        let text = format!("\u{feff}1\n\n  \n{{broken\n{long}\n2");
        let found: Vec<_> = JsonLines::new(text.as_bytes())
            .map(|line| (line.number, line.value.map_err(|reason| reason.contains("not JSON"))))
            .collect();
        assert_eq!(found, [(1, Ok(1.into())), (4, Err(true)), (5, Err(false)), (6, Ok(2.into()))]);
    }
}
