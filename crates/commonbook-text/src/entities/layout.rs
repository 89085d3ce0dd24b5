//! Layout: the blocks of prose, code, logs and stack traces in a text.
//!
//! The meaning of a name depends on its block: code has paths and functions and no people; a log
//! repeats itself; a stack trace names calls. One pass over the lines.

use std::ops::Range;

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextBlockKind {
    Prose,
    Code,
    Log,
    Trace,
}

/// A part of a text of one kind: a paragraph, an item of a list, a line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextBlock {
    pub(super) kind: TextBlockKind,
    pub(super) range: Range<usize>,
}

/// Bytes of a line; a program wrote a longer one with few blanks.
const LONG_LINE_BYTES: usize = 1_000;

/// Returns the blocks of a text in order, without empty lines.
pub(super) fn blocks(text: &str) -> Vec<TextBlock> {
    let mut blocks: Vec<TextBlock> = Vec::new();
    let (mut at, mut fence, mut joins) = (0, None, false);
    for line in text.split_inclusive('\n') {
        let range = at..at + line.trim_end().len();
        at += line.len();
        let bare = line.trim_start();
        if let Some(mark) = fence_mark(bare) {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
            joins = false;
            continue;
        }
        if bare.trim_end().is_empty() {
            joins = false;
            continue;
        }
        let kind = match fence {
            _ if is_trace(line) => TextBlockKind::Trace,
            Some(_) if is_log(bare) => TextBlockKind::Log,
            Some(_) => TextBlockKind::Code,
            None if is_log(bare) => TextBlockKind::Log,
            None if is_machine_made(line) => TextBlockKind::Code,
            None => TextBlockKind::Prose,
        };
        match blocks.last_mut() {
            Some(last)
                if last.kind == kind
                    && match kind {
                        TextBlockKind::Prose => joins && !begins_item(bare),
                        TextBlockKind::Code | TextBlockKind::Trace => joins,
                        TextBlockKind::Log => false,
                    } =>
            {
                last.range.end = range.end;
            }
            _ => blocks.push(TextBlock { kind, range }),
        }
        // A heading is a block of its own.
        joins = !(kind == TextBlockKind::Prose && bare.starts_with('#'));
    }
    blocks
}

/// The mark that opens or closes a fence.
fn fence_mark(bare: &str) -> Option<char> {
    ['`', '~']
        .into_iter()
        .find(|mark| bare.bytes().take(3).filter(|b| *b == *mark as u8).count() == 3)
}

/// Whether a line begins an item of a list, a heading, a row of a table, a quotation or a turn.
fn begins_item(bare: &str) -> bool {
    let number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    bare.starts_with(['#', '|', '>'])
        || ["- ", "* ", "+ ", "• "].iter().any(|mark| bare.starts_with(mark))
        || (number.len() < bare.len() && number.starts_with(['.', ')']))
        || is_turn(bare)
}

/// Whether a line begins like the turn of a speaker: `Name: …`.
fn is_turn(bare: &str) -> bool {
    bare.split_once(": ").is_some_and(|(name, _)| {
        name.len() <= 40
            && name.starts_with(char::is_uppercase)
            && name.split(' ').count() <= 3
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '.' | '\'' | '-'))
    })
}

fn is_machine_made(line: &str) -> bool {
    line.len() > LONG_LINE_BYTES && line.bytes().filter(|b| *b == b' ').count() * 40 < line.len()
}

/// Whether a line begins with a time or a level, like the lines of logs.
fn is_log(bare: &str) -> bool {
    let inner = bare.trim_start_matches(['[', '(']);
    let bytes = inner.as_bytes();
    let digits = |range: Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let dated = digits(0..4)
        && bytes.get(4) == Some(&b'-')
        && digits(5..7)
        && bytes.get(7) == Some(&b'-')
        && digits(8..10)
        && matches!(bytes.get(10), Some(b'T' | b' ' | b'_'))
        && digits(11..13)
        && bytes.get(13) == Some(&b':');
    let timed = digits(0..2)
        && bytes.get(2) == Some(&b':')
        && digits(3..5)
        && bytes.get(5) == Some(&b':')
        && digits(6..8);
    let level = ["TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL"];
    let levelled = level.iter().any(|level| {
        inner.strip_prefix(level).is_some_and(|rest| {
            rest.starts_with([']', '\t', '|']) || rest.starts_with("  ") || rest.starts_with(" [")
        })
    });
    dated || timed || levelled
}

/// Whether a line belongs to a stack trace of a well-known language.
fn is_trace(line: &str) -> bool {
    let bare = line.trim_start();
    let indented = bare.len() < line.len();
    let numbered = bare.split_once(": ").is_some_and(|(number, rest)| {
        !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
            && rest.contains("::")
            && !rest.trim_end().contains(' ')
    });
    let placed = bare.strip_prefix("at ").is_some_and(|rest| {
        rest.trim_end().ends_with(')') || rest.trim_end().ends_with(|c: char| c.is_ascii_digit())
    });
    (indented && placed)
        || (indented && bare.starts_with("File \"") && bare.contains("line "))
        || numbered
        || (bare.starts_with("thread '") && bare.contains("panicked at"))
        || (bare.starts_with("--> ") && bare.contains(':'))
        || (line.starts_with('\t') && bare.contains(".go:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_code_logs_and_traces_are_told_apart() {
        use TextBlockKind::{Code, Log, Prose, Trace};
        let table: [(&str, &[(TextBlockKind, &str)]); 10] = [
            ("One line\nand on\n\nAnother", &[(Prose, "One line\nand on"), (Prose, "Another")]),
            (
                "# Head\nText\n- a\n- b\n  more",
                &[(Prose, "# Head"), (Prose, "Text"), (Prose, "- a"), (Prose, "- b\n  more")],
            ),
            (
                "See:\n```rust\nfn a() {}\nfn b() {}\n```\nDone",
                &[(Prose, "See:"), (Code, "fn a() {}\nfn b() {}"), (Prose, "Done")],
            ),
            ("~~~\nx\n```\ny\n", &[(Code, "x"), (Code, "y")]),
            (
                "2026-01-02T03:04:05Z INFO start\n12:30:01 stop\n[ERROR] no",
                &[
                    (Log, "2026-01-02T03:04:05Z INFO start"),
                    (Log, "12:30:01 stop"),
                    (Log, "[ERROR] no"),
                ],
            ),
            (
                "It failed:\n    at run (src/a.js:1:2)\n    at main (src/b.js:3:4)",
                &[
                    (Prose, "It failed:"),
                    (Trace, "    at run (src/a.js:1:2)\n    at main (src/b.js:3:4)"),
                ],
            ),
            ("  File \"a.py\", line 3, in f", &[(Trace, "  File \"a.py\", line 3, in f")]),
            ("Ann: Hi\nBob: Hello", &[(Prose, "Ann: Hi"), (Prose, "Bob: Hello")]),
            ("2026-01-02 was a Friday", &[(Prose, "2026-01-02 was a Friday")]),
            ("", &[]),
        ];
        for (text, expected) in table {
            let found: Vec<(TextBlockKind, &str)> =
                blocks(text).into_iter().map(|b| (b.kind, &text[b.range])).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
