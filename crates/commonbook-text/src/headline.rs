//! Headlines: the few words by which a reader recognises whether a note matters.
//!
//! A headline is the beginning of a note, without Markdown and without the words with which people
//! begin before they say anything. Four readers (language models) chose among ten headlines a task for
//! 64 delegated tasks of two strangers' hands: from beginnings of 9 or of 16 words they opened every
//! needed note that was offered, as from the parts nearest to the task, and fewer in vain.

use std::sync::LazyLock;

use regex::Regex;

use crate::sanitize;
use crate::tokens;
use crate::word_list::WordList;

/// Words of a headline, at most.
pub const HEADLINE_WORDS_MAX: usize = 16;

/// Characters of a note that are read for its headline.
const READ_CHARS_MAX: usize = 1_200;

/// Characters of a word in a headline: longer ones are data.
const WORD_CHARS_MAX: usize = 40;

/// Empty beginnings that are left out one after another.
const OPENINGS_MAX: usize = 4;

/// Words of an empty beginning, at most.
const OPENING_WORDS_MAX: usize = 6;

/// The words of empty beginnings.
static OPENERS: WordList = WordList::new(include_str!("headline/openers.txt"));

/// What stands before the words of a line of Markdown: marks of headings, lists, quotations, boxes.
static LINE_MARKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[#>\-*+|•]+\s+|\d{1,3}[.)]\s+|\[[ xX]\]\s+|\s+)*").expect("an expression")
});

/// A line without a word: a rule, a fence of code, a border of a table.
static WORDLESS_LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:```\S*|[^\p{L}\p{N}]*)$").expect("an expression"));

/// The end of an empty beginning, and what follows it.
static OPENING_END: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^([^,:.!–—\n]{1,48})(?:[,:.!–—]+\s+|\n)").expect("an expression")
});

/// The headline of a note: its first words, at most [`HEADLINE_WORDS_MAX`], on one line.
#[must_use]
pub fn headline(text: &str) -> String {
    let end = text.char_indices().nth(READ_CHARS_MAX).map_or(text.len(), |(end, _)| end);
    let readable = sanitize::readable(&text[..end]);
    let lines = readable.lines().map(plain_line).filter(|line| !line.is_empty());
    let plain = lines.collect::<Vec<_>>().join("\n");
    let words = without_openings(&plain).split_whitespace().map(short_word);
    let words: Vec<String> = words.take(HEADLINE_WORDS_MAX).collect();
    sanitize::one_line(&words.join(" "))
}

/// The first words of a headline that have at most this many tokens, the first word always.
#[must_use]
pub fn first_words(headline: &str, max_tokens: usize) -> &str {
    if tokens::fits(headline, max_tokens) {
        return headline;
    }
    let ends: Vec<usize> = headline.match_indices(' ').map(|(end, _)| end).collect();
    let fits = |end: &usize| tokens::count(&headline[..*end]) <= max_tokens;
    let fitting = ends.partition_point(fits);
    ends.get(fitting.saturating_sub(1)).map_or(headline, |end| &headline[..*end])
}

/// A line without its Markdown; empty if it has no word.
fn plain_line(line: &str) -> String {
    if WORDLESS_LINE.is_match(line.trim()) {
        return String::new();
    }
    let marks = LINE_MARKS.find(line).map_or(0, |found| found.end());
    line[marks..].replace("**", "").replace("__", "").replace('`', "").trim().to_owned()
}

/// The text after its empty beginnings; the whole text if nothing follows them.
fn without_openings(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..OPENINGS_MAX {
        let Some(found) = OPENING_END.captures(rest) else { break };
        if !is_empty_beginning(&found[1]) {
            break;
        }
        rest = &rest[found[0].len()..];
    }
    if rest.trim().is_empty() { text } else { rest }
}

/// Whether people say nothing yet with these words.
fn is_empty_beginning(part: &str) -> bool {
    let words: Vec<String> = part
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    words.len() <= OPENING_WORDS_MAX && words.iter().all(|word| OPENERS.contains(word))
}

/// A word as a headline shows it: of a long one the beginning.
fn short_word(word: &str) -> String {
    match word.char_indices().nth(WORD_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_is_the_beginning_without_markdown_and_empty_words() {
        let table = [
            ("The depot shuts at six.", "The depot shuts at six."),
            ("Once more: the depot shuts at six.", "the depot shuts at six."),
            ("Important! Never reset the pump by hand.", "Never reset the pump by hand."),
            ("Hey team, quick note: the depot shuts at six.", "the depot shuts at six."),
            (
                "## Note\n\n- **Root cause:** the cache is keyed by time",
                "Root cause: the cache is keyed by time",
            ),
            ("```sh\nmake depot\n```", "make depot"),
            ("---\n\n| port | 8080 |", "port | 8080 |"),
            ("Wichtig: der Hafen öffnet um sechs.", "der Hafen öffnet um sechs."),
            ("重要：no", "重要：no"),
            ("Note:", "Note:"),
            ("", ""),
        ];
        for (text, line) in table {
            assert_eq!(headline(text), line, "{text:?}");
        }
    }

    #[test]
    fn a_headline_is_short() {
        let many = headline(&"word ".repeat(40));
        assert_eq!(many.split_whitespace().count(), HEADLINE_WORDS_MAX);
        let long = headline(&"x".repeat(5_000));
        assert!(long.chars().count() < 60, "{long}");
        assert!(!headline("a\u{202e}b\u{7} c").contains(['\u{202e}', '\u{7}']));
        assert_eq!(headline("\u{1b}[31mred\u{1b}[0m `make`"), "red make");
    }

    #[test]
    fn the_first_words_of_a_headline_fit_their_tokens() {
        let line = headline("The depot shuts at six on every day but Sunday, when it stays shut.");
        assert_eq!(first_words(&line, 100), line);
        let short = first_words(&line, 5);
        assert_eq!(short, "The depot shuts at six");
        assert_eq!(tokens::count(short), 5);
        let long = "antidisestablishmentarianism";
        assert_eq!(first_words(&format!("{long} rules"), 1), long);
    }
}
