//! The words that differ between two texts.

use similar::{ChangeTag, TextDiff};

use crate::sanitize::one_line;
use crate::sentences::sentences;

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

/// Words or sentences of both texts that are compared with each other. The comparison (Myers, 1986) takes their number
/// times that of their differences: some 30 ms with this many that all differ.
const COMPARED_UNITS_MAX: usize = 4_000;

/// The stretches of two texts, word by word and in order. The same and the removed ones make up the
/// older text, the same and the added ones the newer. Between two texts that differ in more than some thousand
/// words it compares sentences, and between those with more sentences it finds one change.
#[must_use]
pub fn word_diff(older: &str, newer: &str) -> Vec<DiffStretch> {
    let (older, newer) = (words(older), words(newer));
    let pairs = older.iter().zip(&newer);
    let before = pairs.take_while(|(older, newer)| older == newer).count();
    let pairs = older[before..].iter().rev().zip(newer[before..].iter().rev());
    let after = pairs.take_while(|(older, newer)| older == newer).count();
    let (older_end, newer_end) = (older.len() - after, newer.len() - after);
    let mut stretches = Vec::new();
    push_stretch(&mut stretches, StretchKind::Same, older[..before].concat());
    compare(&older[before..older_end], &newer[before..newer_end], &mut stretches);
    push_stretch(&mut stretches, StretchKind::Same, older[older_end..].concat());
    stretches
}

/// Compares the words between the first and the last difference.
fn compare(older: &[&str], newer: &[&str], stretches: &mut Vec<DiffStretch>) {
    if older.len() + newer.len() <= COMPARED_UNITS_MAX {
        return compare_units(older, newer, stretches);
    }
    let (older, newer) = (older.concat(), newer.concat());
    let (older_sentences, newer_sentences) = (whole_sentences(&older), whole_sentences(&newer));
    if older_sentences.len() + newer_sentences.len() <= COMPARED_UNITS_MAX {
        return compare_units(&older_sentences, &newer_sentences, stretches);
    }
    push_stretch(stretches, StretchKind::Removed, older);
    push_stretch(stretches, StretchKind::Added, newer);
}

fn compare_units(older: &[&str], newer: &[&str], stretches: &mut Vec<DiffStretch>) {
    for change in TextDiff::from_slices(older, newer).iter_all_changes() {
        let kind = match change.tag() {
            ChangeTag::Equal => StretchKind::Same,
            ChangeTag::Delete => StretchKind::Removed,
            ChangeTag::Insert => StretchKind::Added,
        };
        push_stretch(stretches, kind, change.value().to_owned());
    }
}

fn push_stretch(stretches: &mut Vec<DiffStretch>, kind: StretchKind, text: String) {
    match stretches.last_mut().filter(|last| last.kind == kind) {
        Some(last) => last.text.push_str(&text),
        None if text.is_empty() => {}
        None => stretches.push(DiffStretch { kind, text }),
    }
}

/// The words of a text, and the spaces between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_space = first.is_whitespace();
        let end = rest.find(|c: char| c.is_whitespace() != is_space).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        words.push(word);
        rest = behind;
    }
    words
}

/// The sentences and lines of a text, each with what stands behind it up to the next.
fn whole_sentences(text: &str) -> Vec<&str> {
    let mut whole = Vec::new();
    let mut begin = 0;
    for sentence in sentences(text).skip(1) {
        let start = sentence.as_ptr().addr() - text.as_ptr().addr();
        whole.push(&text[begin..start]);
        begin = start;
    }
    whole.push(&text[begin..]);
    whole
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
        let letters = |first: char| {
            let letter =
                |number: u32| char::from_u32(u32::from(first) + number % 26).unwrap_or('x');
            (0..32_000).map(|number| format!("{} ", letter(number * 7 % 31))).collect::<String>()
        };
        let sentences = |word: &str| {
            (0..1_000)
                .map(|number| format!("Berth {number} has {word} {number}.\n"))
                .collect::<String>()
        };
        let (one, other) = (letters('a'), letters('A'));
        let edited = one.replacen("b ", "tea ", 1);
        for (older, newer) in [
            ("a b  c\nd", "a x c d e"),
            ("", "new"),
            ("", ""),
            (" a", "a "),
            (&*one, &*edited),
            (&*one, &*other),
            (
                &*sentences("tea and milk"),
                &*sentences("coffee").replace("Berth 7 has coffee", "Berth 7 has tea and milk"),
            ),
        ] {
            let stretches = word_diff(older, newer);
            let text = |without: StretchKind| -> String {
                let kept = stretches.iter().filter(|stretch| stretch.kind != without);
                kept.map(|stretch| stretch.text.as_str()).collect()
            };
            assert_eq!(text(StretchKind::Added), older);
            assert_eq!(text(StretchKind::Removed), newer);
        }
        // A word of a long text is found as in a short one; of two that share nothing, nothing is.
        assert_eq!(word_diff(&one, &edited).len(), 4);
        assert_eq!(word_diff(&one, &other).len(), 3, "removed, added, and the last space");
    }

    #[test]
    fn long_texts_that_differ_throughout_are_compared_by_sentences() {
        let text = |word: &str| -> String {
            (0..1_000)
                .map(|number| format!("Berth {number} has {word} of {number} boats. "))
                .collect()
        };
        let newer = text("rows").replace("Berth 7 has rows", "Berth 7 has lines");
        let stretches = word_diff(&text("lines"), &newer);
        let same: Vec<&str> = stretches
            .iter()
            .filter(|stretch| stretch.kind == StretchKind::Same)
            .map(|stretch| stretch.text.trim())
            .collect();
        assert!(same.contains(&"Berth 7 has lines of 7 boats."), "{same:?}");
    }
}
