//! Sentences: a text split into its sentences, and two texts joined sentence by sentence.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::word_list::rows;

/// Joins the sentences of both texts, each once and in order. If they have more than `chars_max`
/// characters together, the first sentences go: the second text is the newer one. A sentence
/// without a mark gets a full stop before the next sentence.
#[must_use]
pub fn join_sentences(first: &str, second: &str, chars_max: usize) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for sentence in sentences(first).chain(sentences(second)) {
        let plain = comparable_form(sentence);
        if !plain.is_empty() && !seen.contains(&plain) {
            seen.push(plain);
            kept.push(sentence);
        }
    }
    let joined = |kept: &[&str]| {
        let mut text = String::new();
        for sentence in kept {
            text.push_str(match text.chars().next_back() {
                None => "",
                Some(last) if is_end(last) => " ",
                Some(_) => ". ",
            });
            text.push_str(sentence);
        }
        text
    };
    let mut from = 0;
    loop {
        let text = joined(&kept[from..]);
        if text.chars().count() <= chars_max {
            return text;
        }
        from += 1;
    }
}

/// Splits a text into its sentences, as written, without blanks around them.
///
/// A sentence ends at a line end, and at `.`, `!`, `?` or `…` before a blank; a mark of a script
/// without blanks (`。`) needs none. A full stop after an abbreviation (`e.g.`, `Dr.`) , the number
/// of a list item (`1. Build`) or a day (`am 3. Dezember um 5`) ends no sentence.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (sentence, after) = rest.split_at(sentence_end(rest));
        rest = after.trim_start();
        Some(sentence.trim_end())
    })
}

/// Whether a full stop after a word can belong to the word: `Dr`, `etc`.
pub(crate) fn is_abbreviation(word: &str) -> bool {
    ABBREVIATIONS.contains_key(word)
}

/// The place of an abbreviation in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AbbreviationPosition {
    /// More of the sentence follows.
    Inside,
    /// The sentence ends if a capital follows.
    Either,
}

static ABBREVIATIONS: LazyLock<FxHashMap<&'static str, AbbreviationPosition>> =
    LazyLock::new(|| {
        let lines = rows(include_str!("abbreviations.tsv"));
        let abbreviations = lines.map(|[word, position]| match position {
            "inside" => (word, AbbreviationPosition::Inside),
            _ => (word, AbbreviationPosition::Either),
        });
        abbreviations.collect()
    });

/// The byte behind the first sentence of a text that begins with no blank.
fn sentence_end(text: &str) -> usize {
    let mut rest = text;
    while let Some(index) = rest.find(['\n', '\r', '.', '!', '?', '…', '。', '！', '？', '।', '؟'])
    {
        let mark = rest[index..].chars().next().unwrap_or_default();
        let start = text.len() - rest.len() + index;
        if matches!(mark, '\n' | '\r') {
            return start;
        }
        let marks = |c: char| is_end(c) || "\"'”’)]*`»」』".contains(c);
        let after = text[start..].trim_start_matches(marks);
        let end = text.len() - after.len();
        let is_spaced = after.is_empty() || after.starts_with(char::is_whitespace);
        if matches!(mark, '。' | '！' | '？') || is_spaced && !continues(&text[..end], start, after)
        {
            return end;
        }
        rest = after;
    }
    text.len()
}

/// Whether the sentence goes on behind the marks that begin at `start`.
fn continues(sentence: &str, start: usize, after: &str) -> bool {
    let next = after.trim_start().chars().next();
    let is_small = next.is_some_and(char::is_lowercase);
    match &sentence[start..] {
        "." => {}
        marks => return (marks.starts_with("..") || marks.starts_with('…')) && is_small,
    }
    let word = sentence[..start].rsplit(char::is_whitespace).next().unwrap_or_default();
    if !word.is_empty() && word.len() == start && word.bytes().all(|b| b.is_ascii_digit()) {
        return next.is_some();
    }
    if is_day(word) && (has_month(after) || is_small && follows_day_word(&sentence[..start])) {
        return true;
    }
    match ABBREVIATIONS.get(word.trim_start_matches(['(', '[', '"'])) {
        Some(AbbreviationPosition::Inside) => next.is_some(),
        Some(AbbreviationPosition::Either) => next.is_some_and(|next| !next.is_uppercase()),
        None => false,
    }
}

/// Whether a word is a number as days have it, with a month or without: `3`, `02.12`.
fn is_day(word: &str) -> bool {
    let is_number =
        |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let mut parts = word.trim_start_matches(['(', '[']).split('.');
    parts.next().is_some_and(is_number)
        && parts.next().is_none_or(is_number)
        && parts.next().is_none()
}

/// Whether the last word of a text is a day with a month, or behind a word that says so: `am 3`, `02.12`.
fn follows_day_word(text: &str) -> bool {
    let mut words = text.split_whitespace().rev();
    let has_month = words.next().is_some_and(|day| day.contains('.'));
    has_month || words.next().is_some_and(|word| DAY_WORDS.contains(&word.to_lowercase().as_str()))
}

/// Words before a day, in languages that put a full stop behind it.
const DAY_WORDS: [&str; 9] = ["ab", "am", "bis", "den", "der", "seit", "vom", "vor", "zum"];

/// Whether a text begins with a month, as languages write it that put a full stop behind a day.
fn has_month(text: &str) -> bool {
    let word: String = text.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
    MONTHS.contains(&word.as_str())
}

/// The months of German, and what else is counted so.
const MONTHS: [&str; 15] = [
    "Januar",
    "Jänner",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
    "Quartal",
    "Stock",
];

/// The form of a sentence for comparisons: lower case, single blanks, no mark at the end.
fn comparable_form(sentence: &str) -> String {
    let bare = sentence.trim_end_matches(|c: char| is_end(c) || matches!(c, ',' | ';' | ':'));
    bare.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character ends a sentence, in the scripts that have a mark of their own for it too.
fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '।' | '؟' | ':' | ';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_joined_by_sentence_and_each_stands_once() {
        let table = [
            (
                "Used for type safety",
                "Compile target ES2020",
                "Used for type safety. Compile target ES2020",
            ),
            (
                "Used for type safety.",
                "Compile target ES2020.",
                "Used for type safety. Compile target ES2020.",
            ),
            (
                "Type safety in React components",
                "Build configuration",
                "Type safety in React components. Build configuration",
            ),
            ("A. B", "B. C", "A. B. C"),
            ("Used here", "used  HERE.", "Used here"),
            ("Really?", "Yes!", "Really? Yes!"),
            (
                "It is v1.2.3 since May",
                "See example.com/a.b",
                "It is v1.2.3 since May. See example.com/a.b",
            ),
            ("One\nTwo", "Three", "One. Two. Three"),
            ("数据库。", "很快。", "数据库。 很快。"),
            ("", "Only this", "Only this"),
            ("Only this", " ", "Only this"),
        ];
        for (first, second, expected) in table {
            assert_eq!(join_sentences(first, second, 1_000), expected);
        }
    }

    #[test]
    fn a_long_context_ends_where_a_sentence_does() {
        let mut text = String::new();
        for n in 0..100 {
            text = join_sentences(&text, &format!("This is sentence number {n} of many"), 1_000);
        }
        let chars = text.chars().count();
        assert!((950..=1_000).contains(&chars), "{chars}");
        assert!(text.ends_with("of many"), "{text}");
        let whole = "x".repeat(1_000);
        assert!(text.contains("number 99") && !text.contains("number 9 "), "the newest stay");
        assert_eq!(join_sentences(&whole, "More", 1_000), "More", "no sentence is cut");
        assert_eq!(join_sentences("Less", &whole, 1_000), whole);
    }
}
