//! Echoes: blocks of ours that come back in an agent's own text, and must not be saved as new.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::fence::{
    CONTRADICTION_NOTE, DATA_NOTE, FENCE_MARK_PREFIX, HEADING_MARK, ITEM_MARK, NONCE_DIGITS,
    RULES_NOTE,
};

/// Opening marks without a closing one, after which the search for blocks stops.
const UNPAIRED_MARKS_MAX: usize = 64;
/// Characters from which a text that is part of a given text counts as its repetition.
const REPEATED_CHARS_MIN: usize = 24;

/// The text without our blocks: without whole fences, and without items that were copied from one
/// together with their head. A text without blocks is returned unchanged; any other is trimmed.
#[must_use]
pub fn without_contexts(text: &str) -> Cow<'_, str> {
    let bare = without_fences(text);
    let Some(kept) = without_items(&bare) else { return bare };
    Cow::Owned(kept.trim().to_owned())
}

/// Whether a text has nothing new: without our blocks it is empty, or equal to one of these texts,
/// or a part of one.
#[must_use]
pub fn repeats<'a>(text: &str, texts: impl IntoIterator<Item = &'a str>) -> bool {
    let own = comparable_text(&without_contexts(text));
    if own.is_empty() {
        return true;
    }
    let long = own.chars().count() >= REPEATED_CHARS_MIN;
    texts.into_iter().map(comparable_text).any(|text| text == own || (long && text.contains(&own)))
}

/// A text in the form for comparison: lower case, single blanks, no quotation or emphasis marks.
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

/// The text without its fences, marks included.
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

/// The name of the mark that a text begins with, after its `<`: `commonbook-` with 12 digits, then `>`.
fn fence_mark_name(text: &str) -> Option<&str> {
    let nonce = text.strip_prefix(FENCE_MARK_PREFIX)?;
    let digits = nonce.bytes().take_while(u8::is_ascii_digit).count();
    let end = text.len() - nonce.len() + digits;
    (digits == NONCE_DIGITS && text[end..].starts_with('>')).then(|| &text[..end])
}

/// The text without the lines of a block that lost its marks: heads, the quoted lines and headings
/// below them, and our own lines. Returns `None` for a text without such lines.
fn without_items(text: &str) -> Option<String> {
    let (mut kept, mut in_block, mut found) = (Vec::new(), false, false);
    for line in text.lines() {
        let line_start = line.trim_start();
        let continues = line_start.starts_with('>') || line_start.starts_with(HEADING_MARK);
        in_block = is_item_head(line) || is_frame_line(line) || (in_block && continues);
        found |= in_block;
        if !in_block {
            kept.push(line);
        }
    }
    found.then(|| kept.join("\n"))
}

/// Whether a line is one of those that a block has around its items.
fn is_frame_line(line: &str) -> bool {
    let line = line.trim();
    let name = line.strip_prefix("</").or_else(|| line.strip_prefix('<')).and_then(fence_mark_name);
    let is_mark = name.is_some_and(|name| line.ends_with(&format!("{name}>")));
    line.to_lowercase().ends_with(DATA_NOTE)
        || [CONTRADICTION_NOTE, RULES_NOTE].contains(&line)
        || is_mark
}

/// The line above an item: `#9dqa7xw2 analyst, 18 Nov, decision`.
static ITEM_HEAD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^#(?:[0-9a-hjkmnp-tv-z]{6,26}|[\w-]+\.md[\w.:/@-]*) (?:[^,]{1,160}, )?\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: \d{4})?(?:, .*)?$",
    )
    .expect("the tests compile it")
});

/// A headline: `#9dqa7xw2 analyst, 18 Nov > The depot shuts at six`, with or without an author, a day and notes.
static HEADLINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^#[0-9a-hjkmnp-tv-z]{6,26} (?:[^>]{1,400} )?> ").expect("the tests compile it")
});

fn is_item_head(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(ITEM_MARK) && (ITEM_HEAD.is_match(line) || HEADLINE.is_match(line))
}
