//! Sentences of a memory that can stand on their own as an entry.

use commonbook_text::sentences::sentences as split_sentences;

use super::{DigestSource, binding, worth};
use crate::base::limits;

/// Sentences that are read per memory.
const SENTENCES_MAX: usize = 60;

/// Minimum length of a sentence, in characters.
const SENTENCE_CHARS_MIN: usize = 16;

/// Words that report an outcome: decided, found, caused, fixed, required.
const OUTCOME_WORDS: [&str; 28] = [
    "decided",
    "decision",
    "agreed",
    "chose",
    "chosen",
    "conclusion",
    "found",
    "finding",
    "cause",
    "caused",
    "because",
    "fixed",
    "solved",
    "resolved",
    "failed",
    "fails",
    "broken",
    "must",
    "requires",
    "required",
    "confirmed",
    "verified",
    "measured",
    "released",
    "deployed",
    "changed",
    "replaced",
    "blocked",
];

/// Openings that refer back to an earlier sentence.
const LEANING_OPENERS: [&str; 14] = [
    "it", "this", "that", "they", "these", "those", "he", "she", "then", "also", "but", "and",
    "so", "there",
];

/// A sentence of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DigestSentence {
    /// The sentence on one line, with the memory's heading if the sentence does not repeat it.
    pub(super) text: String,
    /// The same without the heading, uncut.
    pub(super) own_words: String,
    /// Whether it is the memory's summary or its whole text.
    pub(super) whole: bool,
    /// Whether it is the first sentence.
    pub(super) first: bool,
    /// Whether it reports an outcome.
    pub(super) tells_outcome: bool,
    /// Whether it refers back to an earlier sentence.
    pub(super) leans: bool,
    /// Whether it is a question.
    pub(super) asks: bool,
}

/// Whether a sentence is one with the sentence before it: a binding one, or a few words that say nothing
/// alone.
fn belongs(sentence: &str, before: &str, is_short: bool) -> bool {
    let room = limits::SUMMARY_CHARS.saturating_sub(before.chars().count() + 1);
    let is_plain = |text: &str| !text.ends_with('?') && !worth::is_talk(text);
    sentence.chars().count() <= room
        && is_plain(sentence)
        && is_plain(before)
        && (is_short || binding::binds(sentence))
}

/// The summary of a memory; without one, its sentences. A binding one is a part of the sentence before it.
pub(super) fn sentences(memory: &DigestSource) -> Vec<DigestSentence> {
    if let Some(summary) =
        memory.summary.as_deref().map(entry_line).filter(|summary| !summary.is_empty())
    {
        return vec![sentence(memory, &summary, true, true)];
    }
    let mut found: Vec<String> = Vec::new();
    let mut in_code = false;
    for line in memory.text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let prose = strip_markdown_mark(line);
        if in_code || prose.is_empty() {
            continue;
        }
        let mut begins = true;
        for sentence in split_sentences(prose) {
            let sentence = entry_line(sentence);
            let is_short = sentence.chars().count() < SENTENCE_CHARS_MIN;
            let is_full = found.len() == SENTENCES_MAX;
            let before = found.last_mut().filter(|_| !begins);
            match before.filter(|before| belongs(&sentence, before, is_short)) {
                Some(before) => before.extend([" ", &*sentence]),
                None if is_short || is_full => continue,
                None => found.push(sentence),
            }
            begins = false;
        }
    }
    if found.is_empty() {
        let all = entry_line(&memory.text);
        found.extend((!all.is_empty()).then_some(all));
    }
    let whole = found.len() == 1;
    let first = |(place, text): (usize, &String)| sentence(memory, text, whole, place == 0);
    found.iter().enumerate().map(first).collect()
}

fn sentence(memory: &DigestSource, text: &str, whole: bool, first: bool) -> DigestSentence {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let leans = words.clone().next().is_some_and(|word| LEANING_OPENERS.contains(&word));
    DigestSentence {
        text: shorten_to(&with_heading(memory, text), limits::SUMMARY_CHARS),
        own_words: text.to_owned(),
        whole,
        first,
        tells_outcome: words.any(|word| OUTCOME_WORDS.contains(&word)),
        leans,
        asks: text.ends_with('?'),
    }
}

/// The sentence with its memory's heading, if both fit and the sentence does not contain it.
fn with_heading(memory: &DigestSource, text: &str) -> String {
    let Some(title) = memory.title.as_deref().map(entry_line).filter(|title| !title.is_empty())
    else {
        return text.to_owned();
    };
    let headed = format!("{}: {text}", title.trim_end_matches([':', '.']));
    let holds = text.to_lowercase().contains(&title.to_lowercase());
    if holds || headed.chars().count() > limits::SUMMARY_CHARS {
        return text.to_owned();
    }
    headed
}

/// A line without the Markdown mark at its beginning.
fn strip_markdown_mark(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['#', '>', '-', '*', '+', ' ']);
    let number = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    match line[number..].strip_prefix(". ") {
        Some(rest) if (1..=3).contains(&number) => rest.trim_start(),
        _ => line,
    }
}

/// The text on one line, without characters that an entry may not contain.
fn entry_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether an entry's summary may contain the character.
const fn is_plain(c: char) -> bool {
    !matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}')
}

/// The text cut to at most `most` characters; if cut, it ends after a word and with `…`.
pub(in crate::model) fn shorten_to(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(2)).collect();
    let end = kept.rfind(' ').filter(|end| *end >= kept.len() / 2).unwrap_or(kept.len());
    format!("{} …", kept[..end].trim_end())
}
