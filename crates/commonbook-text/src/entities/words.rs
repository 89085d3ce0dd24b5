//! Words of prose, with the gap before each word and the beginnings of sentences.

use crate::sentences;

/// A word of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockWord<'a> {
    /// The word, without a possessive `'s`.
    pub(super) text: &'a str,
    pub(super) from: usize,
    pub(super) to: usize,
    /// The text between the previous word and this one.
    pub(super) gap: &'a str,
    /// Whether a sentence, a quotation or the text of a label begins with the word.
    pub(super) first: bool,
}

impl BlockWord<'_> {
    /// Whether the word is written like a name: a capital, then small letters.
    pub(super) fn is_capital(&self) -> bool {
        let mut letters = self.text.chars();
        // "GUIDs" is an abbreviation.
        letters.next().is_some_and(char::is_uppercase)
            && letters.clone().next().is_some_and(|c| !c.is_uppercase())
            && letters.clone().any(char::is_lowercase)
            && letters.all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
    }

    /// Whether only blanks or a line end are before the word, so that it continues the phrase.
    pub(super) fn continues_phrase(&self) -> bool {
        !self.gap.is_empty() && self.gap.chars().all(char::is_whitespace)
    }
}

/// Returns the words of a block that begins at the byte `start` of its text.
pub(super) fn words(text: &str, start: usize) -> Vec<BlockWord<'_>> {
    let mut words: Vec<BlockWord<'_>> = Vec::with_capacity(text.len() / 6);
    let (mut from, mut ended) = (None, 0);
    let mut letters = text.char_indices().peekable();
    while let Some((index, c)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let joins = matches!(c, '\'' | '’' | '-') && next.is_some_and(char::is_alphanumeric);
        match from {
            None if c.is_alphanumeric() => from = Some(index),
            Some(begun) if !c.is_alphanumeric() && !joins => {
                push_word(&mut words, text, start, ended, begun..index);
                (from, ended) = (None, index);
            }
            _ => {}
        }
    }
    if let Some(begun) = from {
        push_word(&mut words, text, start, ended, begun..text.len());
    }
    words
}

fn push_word<'a>(
    words: &mut Vec<BlockWord<'a>>,
    text: &'a str,
    start: usize,
    ended: usize,
    range: std::ops::Range<usize>,
) {
    let whole = &text[range.clone()];
    let bare = whole.strip_suffix("'s").or(whole.strip_suffix("’s")).unwrap_or(whole);
    let gap = &text[ended..range.start];
    let abbreviated =
        gap.starts_with('.') && words.last().is_some_and(|last| is_abbreviation(last.text));
    let ends = |c: char| {
        matches!(
            c,
            '.' | '!'
                | '?'
                | ':'
                | ';'
                | '"'
                | '“'
                | '('
                | '['
                | '—'
                | '–'
                | '|'
                | '*'
                | '#'
                | '>'
                | '•'
                | '…'
                | '`'
        )
    };
    let first = words.is_empty() || (gap.contains(ends) && !abbreviated) || gap.contains(" - ");
    let word = BlockWord {
        text: bare,
        from: start + range.start,
        to: start + range.start + bare.len(),
        gap,
        first,
    };
    words.push(word);
}

/// Whether a full stop after a word belongs to the word: an abbreviation or an initial.
pub(super) fn is_abbreviation(word: &str) -> bool {
    let mut letters = word.chars();
    let initial = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    sentences::is_abbreviation(word) || initial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_gaps() {
        let found = words("Hey Mel! Dr. O'Brien's well-known. He met J. Smith", 10);
        let texts: Vec<&str> = found.iter().map(|word| word.text).collect();
        assert_eq!(texts, ["Hey", "Mel", "Dr", "O'Brien", "well-known", "He", "met", "J", "Smith"]);
        let first: Vec<bool> = found.iter().map(|word| word.first).collect();
        assert_eq!(first, [true, false, true, false, false, true, false, false, false]);
        assert_eq!((found[1].from, found[1].to), (14, 17));
        assert!(found[3].is_capital() && !found[4].is_capital() && found[1].continues_phrase());
    }
}
