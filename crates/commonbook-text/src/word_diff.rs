//! The words that differ between two texts.

use similar::{ChangeTag, TextDiff};

/// Which of two texts has a stretch of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StretchKind {
    /// Both texts have it.
    Same,
    /// Only the older text has it.
    Removed,
    /// Only the newer text has it.
    Added,
}

/// A stretch of words that lies in both texts or in one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffStretch {
    /// Where it lies.
    pub kind: StretchKind,
    /// The words, with the space around them.
    pub text: String,
}

/// The stretches of two texts, word by word and in order. The same and the removed ones make up the
/// older text, the same and the added ones the newer.
#[must_use]
pub fn word_diff(older: &str, newer: &str) -> Vec<DiffStretch> {
    let mut stretches: Vec<DiffStretch> = Vec::new();
    for change in TextDiff::from_words(older, newer).iter_all_changes() {
        let kind = match change.tag() {
            ChangeTag::Equal => StretchKind::Same,
            ChangeTag::Delete => StretchKind::Removed,
            ChangeTag::Insert => StretchKind::Added,
        };
        match stretches.last_mut().filter(|last| last.kind == kind) {
            Some(last) => last.text.push_str(change.value()),
            None => stretches.push(DiffStretch { kind, text: change.value().to_owned() }),
        }
    }
    stretches
}

/// Words of an unchanged stretch that are shown beside a change.
const NEAR_WORDS_MAX: usize = 8;

/// The difference of two texts on one line: `the gate is [-blue-] {+green+}`. Of an unchanged stretch
/// the words beside a change are shown. Empty if no word differs.
#[must_use]
pub fn marked_words(older: &str, newer: &str) -> String {
    marked_by(older, newer, |kind, words| match kind {
        StretchKind::Same => words.to_owned(),
        StretchKind::Removed => format!("[-{words}-]"),
        StretchKind::Added => format!("{{+{words}+}}"),
    })
}

/// As [`marked_words`], with other marks: `mark` writes each stretch.
#[must_use]
pub fn marked_by(older: &str, newer: &str, mark: impl Fn(StretchKind, &str) -> String) -> String {
    let (older, newer) = (one_line(older), one_line(newer));
    if older == newer {
        return String::new();
    }
    let stretches = whole_changes(word_diff(&older, &newer));
    let last = stretches.len().saturating_sub(1);
    let mut line = String::new();
    for (place, DiffStretch { kind, text }) in stretches.iter().enumerate() {
        let words = match kind {
            StretchKind::Same => near_words(text, place > 0, place < last),
            _ => text.trim().to_owned(),
        };
        if words.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += &mark(*kind, &words);
    }
    line
}

/// Joins changes that only a space divides, so that a sentence that is new throughout is one change.
fn whole_changes(stretches: Vec<DiffStretch>) -> Vec<DiffStretch> {
    let (mut joined, mut removed, mut added) = (Vec::new(), String::new(), String::new());
    let flush = |removed: &mut String, added: &mut String, joined: &mut Vec<DiffStretch>| {
        for (kind, text) in [(StretchKind::Removed, removed), (StretchKind::Added, added)] {
            let text = std::mem::take(text);
            if !text.trim().is_empty() {
                joined.push(DiffStretch { kind, text });
            }
        }
    };
    for DiffStretch { kind, text } in stretches {
        match kind {
            StretchKind::Removed => removed += &text,
            StretchKind::Added => added += &text,
            StretchKind::Same if text.trim().is_empty() => {
                removed += &text;
                added += &text;
            }
            StretchKind::Same => {
                flush(&mut removed, &mut added, &mut joined);
                joined.push(DiffStretch { kind, text });
            }
        }
    }
    flush(&mut removed, &mut added, &mut joined);
    joined
}

/// The words of an unchanged stretch that stand beside a change.
fn near_words(text: &str, follows: bool, precedes: bool) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (head, tail) =
        (if follows { NEAR_WORDS_MAX } else { 0 }, if precedes { NEAR_WORDS_MAX } else { 0 });
    if words.len() <= head + tail {
        return words.join(" ");
    }
    let (head, tail) = (&words[..head], &words[words.len() - tail..]);
    let parts = [head.join(" "), "…".to_owned(), tail.join(" ")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A text on one line, without the characters that control a terminal.
#[must_use]
pub fn one_line(text: &str) -> String {
    let text: String = text.chars().filter(|c| c.is_whitespace() || !is_hidden(*c)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character has no shape of its own: a control character, or one that reorders what is
/// around it.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_differ_are_marked_on_one_line() {
        let far = "one two three four five six seven eight nine ten eleven twelve";
        let table = [
            ("the gate is blue", "the gate is green", "the gate is [-blue-] {+green+}"),
            (
                "retries 3 times",
                "retries 3 times, then stops",
                "retries 3 [-times-] {+times, then stops+}",
            ),
            ("Ann leads", "Ann leads the team", "Ann leads {+the team+}"),
            ("Ann leads the team", "Ann leads", "Ann leads [-the team-]"),
            ("tea", "coffee with milk", "[-tea-] {+coffee with milk+}"),
            ("a b", "a  b\n", ""),
            ("same", "same", ""),
            ("", "new", "{+new+}"),
            ("old\u{1b}[2J", "new", "[-old[2J-] {+new+}"),
            ("门是蓝色的", "门是绿色的", "[-门是蓝色的-] {+门是绿色的+}"),
        ];
        for (older, newer, line) in table {
            assert_eq!(marked_words(older, newer), line, "{older:?} → {newer:?}");
        }
        let (older, newer) = (format!("{far} tea {far} end"), format!("{far} milk {far} stop"));
        assert_eq!(
            marked_words(&older, &newer),
            "… five six seven eight nine ten eleven twelve [-tea-] {+milk+} one two three four five \
             six seven eight nine ten eleven twelve [-end-] {+stop+}"
        );
    }

    #[test]
    fn the_stretches_make_up_both_texts() {
        let (older, newer) = ("a b  c\nd", "a x c d e");
        let stretches = word_diff(older, newer);
        let text = |without: StretchKind| -> String {
            let kept = stretches.iter().filter(|stretch| stretch.kind != without);
            kept.map(|stretch| stretch.text.as_str()).collect()
        };
        assert_eq!(text(StretchKind::Added), older);
        assert_eq!(text(StretchKind::Removed), newer);
    }
}
