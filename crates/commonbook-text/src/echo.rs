//! Echoes: what we gave an agent and it gives back, so that it is not kept as if it were new.

use std::borrow::Cow;
use std::collections::HashSet;

/// How the marks of every fence of ours begin: of a context, a recall, a handoff, a session and a case.
const FENCE_MARK_PREFIXES: [&str; 5] = [
    "commonbook-context-",
    "commonbook-memories-",
    "commonbook-handoff-",
    "commonbook-session-",
    "commonbook-case-",
];
/// Marks without a partner that are looked for one; more of them are nobody's contexts.
const UNPAIRED_MARKS_MAX: usize = 64;
/// Characters from which on a text that stands within what was given repeats it.
const REPEATED_CHARS_MIN: usize = 24;

/// A text without the contexts that stand in it: whole fences, and items that were copied out of
/// one with their head. What is left is trimmed only where something was taken out.
#[must_use]
pub fn without_contexts(text: &str) -> Cow<'_, str> {
    let bare = without_fences(text);
    let Some(kept) = without_items(&bare) else { return bare };
    Cow::Owned(kept.trim().to_owned())
}

/// Whether a text says only what was given: it is empty without contexts, or is one of these texts
/// again, or a part of one.
#[must_use]
pub fn repeats<'a>(text: &str, given: impl IntoIterator<Item = &'a str>) -> bool {
    let said = comparable_text(&without_contexts(text));
    if said.is_empty() {
        return true;
    }
    let long = said.chars().count() >= REPEATED_CHARS_MIN;
    given
        .into_iter()
        .map(comparable_text)
        .any(|given| given == said || (long && given.contains(&said)))
}

/// A text as it is compared: small letters, single blanks, no marks of quotation or emphasis.
fn comparable_text(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        let word = word.trim_matches(|c: char| {
            matches!(c, '>' | '*' | '`' | '"' | '\'' | '-' | '.' | '…' | '“' | '”')
        });
        if !word.is_empty() {
            if !words.is_empty() {
                words.push(' ');
            }
            words.extend(word.chars().flat_map(char::to_lowercase));
        }
    }
    words
}

/// The text without what stands between marks, the marks too.
fn without_fences(text: &str) -> Cow<'_, str> {
    let (mut kept, mut from, mut lonely) = (String::new(), 0, HashSet::new());
    for (at, _) in text.match_indices('<') {
        let Some(name) =
            fence_mark_name(&text[at + 1..]).filter(|name| at >= from && !lonely.contains(name))
        else {
            continue;
        };
        let closing = format!("</{name}>");
        if let Some(end) = text[at..].find(&closing) {
            kept.push_str(&text[from..at]);
            from = at + end + closing.len();
        } else if lonely.len() < UNPAIRED_MARKS_MAX {
            // A mark without its partner: what is ours behind it is known by its head.
            lonely.insert(name);
        } else {
            break;
        }
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept.trim().to_owned())
}

/// The name of the mark that a text begins with, behind its `<`: one of [`FENCE_MARK_PREFIXES`] with a nonce, and
/// then `>`.
fn fence_mark_name(text: &str) -> Option<&str> {
    let nonce = FENCE_MARK_PREFIXES.iter().find_map(|mark| text.strip_prefix(mark))?;
    let length = nonce.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let end = text.len() - nonce.len() + length;
    (length > 0 && text[end..].starts_with('>')).then(|| &text[..end])
}

/// The text without heads of items and the quoted lines behind them, and without what is left of a
/// fence that was cut; none when there is nothing of the kind.
fn without_items(text: &str) -> Option<String> {
    let (mut kept, mut within, mut found) = (Vec::new(), false, false);
    for line in text.lines() {
        within = is_head(line) || is_frame(line) || (within && line.trim_start().starts_with('>'));
        found |= within;
        if !within {
            kept.push(line);
        }
    }
    found.then(|| kept.join("\n"))
}

/// Whether a line is one that a fence has around its items: a mark, or what it says of itself.
fn is_frame(line: &str) -> bool {
    let line = line.trim();
    let name = line.strip_prefix("</").or_else(|| line.strip_prefix('<')).and_then(fence_mark_name);
    let whole = name.is_some_and(|name| line.ends_with(&format!("{name}>")));
    line == crate::fence::FENCE_NOTE || line == crate::fence::UNSETTLED_NOTE || whole
}

/// Whether a line is the head of an item: `[mem_…] decision by agent, 2026-11-18 (3 days ago)`.
fn is_head(line: &str) -> bool {
    let Some((id, rest)) = line.trim().strip_prefix('[').and_then(|line| line.split_once("] "))
    else {
        return false;
    };
    let day =
        |text: &str| text.len() >= 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
    let said = rest.split_once(" by ").and_then(|(_, rest)| rest.split_once(", "));
    !id.is_empty() && rest.ends_with(')') && said.is_some_and(|(_, when)| day(when))
}
