//! Steering: sentences that tell agents, now or at a later time, to do what no person asks.
//!
//! One sentence has the deed (`harms.txt`), the same or one beside it says for whom or for when
//! (`triggers.txt`). Either alone is ordinary: a report says that a log was off, a runbook says
//! "always". Both lists are in plain letters of twelve languages and are normalised like texts.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::normalize::NormalizedText;
use crate::word_list::entries;

/// Bytes that `…` stands for at most.
const GAP_BYTES_MAX: usize = 120;

static TRIGGERS: LazyLock<Regex> = LazyLock::new(|| compile(include_str!("triggers.txt")));
static HARMS: LazyLock<Regex> = LazyLock::new(|| compile(include_str!("harms.txt")));

/// Words before a deed in the same sentence that forbid it.
static FORBIDS: LazyLock<Regex> = LazyLock::new(|| {
    RegexBuilder::new(concat!(
        r"\b(?:never|must not|may not|cannot|can't|nobody|no one|nie|niemals|niemand|jamais|nunca|jamas|mai|nooit|nigdy)\b",
        r"|\b(?:do not|don't|should not) (?:\w+ ){0,6}$|никогда|не удаля|(?:不要|不得|禁止)(?u:.{0,10})(?:未经|没有)"
    ))
    .unicode(false)
    .build()
    .expect("the tests compile it")
});

/// Compiles a list of phrases into one expression.
fn compile(list: &'static str) -> Regex {
    let phrases: Vec<String> = entries(list).map(expression).collect();
    RegexBuilder::new(&phrases.join("|")).unicode(false).build().expect("the tests compile it")
}

/// The expression of a phrase.
fn expression(phrase: &str) -> String {
    let open = phrase.ends_with('*');
    let parts = phrase.split('…').map(|part| {
        let words =
            part.trim().split('*').map(|part| regex::escape(&NormalizedText::of(part).text));
        words.collect::<Vec<_>>().join(r"\w*")
    });
    let gap = format!(r"(?:(?u:[^.!?\n])|\.\w){{1,{GAP_BYTES_MAX}}}?");
    let whole = parts.collect::<Vec<_>>().join(&gap);
    let edge = |sign: Option<char>| sign.is_some_and(|c| c.is_ascii_alphanumeric());
    let before = if edge(phrase.chars().next()) { r"\b" } else { "" };
    let after = if !open && edge(phrase.chars().next_back()) { r"\b" } else { "" };
    format!("{before}{whole}{after}")
}

/// Whether a normalised text tells agents, or those who act later, to do what no person asks.
pub(super) fn steers(normalized: &str) -> bool {
    if !HARMS.is_match(normalized) {
        return false;
    }
    let sentences: Vec<&str> = sentences(normalized);
    let for_agents = |place: usize| {
        let beside = place.saturating_sub(1)..sentences.len().min(place + 2);
        sentences[beside].iter().any(|sentence| TRIGGERS.is_match(sentence))
    };
    sentences.iter().enumerate().any(|(place, sentence)| {
        HARMS
            .find(sentence)
            .is_some_and(|deed| !FORBIDS.is_match(&sentence[..deed.start()]) && for_agents(place))
    })
}

/// The sentences of a normalised text.
fn sentences(normalized: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut from, bytes) = (0, normalized.as_bytes());
    for (at, sign) in normalized.char_indices() {
        let next = bytes.get(at + sign.len_utf8());
        let ends = match sign {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' => next.is_none_or(u8::is_ascii_whitespace),
            _ => false,
        };
        if ends {
            found.push(normalized[from..at].trim());
            from = at + sign.len_utf8();
        }
    }
    found.push(normalized[from..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}
