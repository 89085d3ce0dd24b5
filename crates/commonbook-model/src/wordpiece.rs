//! The tokenizer of a BERT without case: letters made plain, words at spaces and punctuation, and the longest pieces of each
//! word that the vocabulary has.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

use crate::Piece;
use crate::vocabulary::Vocabulary;

/// Letters of a word that is taken apart; a longer one is unknown.
const WORD_LETTERS_MAX: usize = 100;

/// A tokenizer by the longest piece first.
///
/// Marks such as `[SEP]` in a text are letters and punctuation like all others: no text ends itself.
#[derive(Debug)]
pub(crate) struct WordPieceTokenizer {
    vocabulary: Vocabulary,
    unknown: u32,
    beginning: u32,
    end: u32,
}

/// A letter of a word, made plain.
struct Letter {
    /// Where it lies in the word.
    at: usize,
    /// The character of the text that it is of.
    source: std::ops::Range<usize>,
}

/// The word that is being read.
#[derive(Default)]
struct Word {
    text: String,
    letters: Vec<Letter>,
}

/// The pieces found, up to a count.
struct Found {
    pieces: Vec<Piece>,
    pieces_max: usize,
}

impl WordPieceTokenizer {
    /// Creates the tokenizer; `None` if the vocabulary lacks a mark: `[UNK]`, `[CLS]` or `[SEP]`.
    pub(crate) fn new(vocabulary: Vocabulary) -> Option<Self> {
        let mark = |mark| vocabulary.number(mark, false);
        let (unknown, beginning, end) = (mark("[UNK]")?, mark("[CLS]")?, mark("[SEP]")?);
        Some(Self { vocabulary, unknown, beginning, end })
    }

    /// The token before the pieces.
    pub(crate) fn beginning(&self) -> u32 {
        self.beginning
    }

    /// The token after the pieces.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// The first pieces of a text, at most `pieces_max`; what lies behind them is not read.
    pub(crate) fn pieces(&self, text: &str, pieces_max: usize) -> Vec<Piece> {
        let mut found = Found { pieces: Vec::new(), pieces_max };
        let mut word = Word::default();
        for (start, character) in text.char_indices() {
            if found.is_full() {
                break;
            }
            let source = start..start + character.len_utf8();
            if is_removed(character) {
                continue;
            }
            if character.is_whitespace() {
                self.end_word(&mut word, &mut found);
            } else {
                let alone = is_ideograph(character);
                if alone {
                    self.end_word(&mut word, &mut found);
                }
                for_each_plain(character, |plain| {
                    if plain.is_whitespace() {
                        self.end_word(&mut word, &mut found);
                    } else if is_punctuation(plain) {
                        self.end_word(&mut word, &mut found);
                        word.push(plain, source.clone());
                        self.end_word(&mut word, &mut found);
                    } else {
                        word.push(plain, source.clone());
                    }
                });
                if alone {
                    self.end_word(&mut word, &mut found);
                }
            }
        }
        self.end_word(&mut word, &mut found);
        found.pieces
    }

    /// Takes a word apart and empties it.
    fn end_word(&self, word: &mut Word, found: &mut Found) {
        let before = found.pieces.len();
        if !self.take_apart(word, found) {
            found.pieces.truncate(before);
            if let Some(bytes) = word.bytes(0, word.letters.len()) {
                found.push(self.unknown, bytes);
            }
        }
        word.text.clear();
        word.letters.clear();
    }

    /// Adds the pieces of a word; false if one of them is not in the vocabulary.
    fn take_apart(&self, word: &Word, found: &mut Found) -> bool {
        if word.letters.len() > WORD_LETTERS_MAX {
            return false;
        }
        let mut first = 0;
        while first < word.letters.len() {
            let start = word.letters[first].at;
            let fits = |end: &usize| word.end(*end) - start <= self.vocabulary.bytes_max();
            let longest = (first + 1..=word.letters.len()).rev().filter(fits).find_map(|end| {
                let piece = &word.text[start..word.end(end)];
                Some((end, self.vocabulary.number(piece, first > 0)?))
            });
            let Some((end, token)) = longest else { return false };
            if let Some(bytes) = word.bytes(first, end) {
                found.push(token, bytes);
            }
            first = end;
        }
        true
    }
}

impl Word {
    /// Adds a letter; of a word that is too long, only the end of the last one counts.
    fn push(&mut self, letter: char, source: std::ops::Range<usize>) {
        let full = self.letters.len() > WORD_LETTERS_MAX;
        match self.letters.last_mut() {
            Some(last) if full => last.source.end = source.end,
            _ => {
                self.letters.push(Letter { at: self.text.len(), source });
                self.text.push(letter);
            }
        }
    }

    /// Where the letter before this index ends in the word.
    fn end(&self, index: usize) -> usize {
        self.letters.get(index).map_or(self.text.len(), |letter| letter.at)
    }

    /// The bytes of the text that these letters are of; `None` without letters.
    fn bytes(&self, first: usize, end: usize) -> Option<std::ops::Range<usize>> {
        let letters = &self.letters[first..end];
        Some(letters.first()?.source.start..letters.last()?.source.end)
    }
}

impl Found {
    fn is_full(&self) -> bool {
        self.pieces.len() >= self.pieces_max
    }

    fn push(&mut self, token: u32, bytes: std::ops::Range<usize>) {
        if !self.is_full() {
            self.pieces.push(Piece { token, bytes });
        }
    }
}

/// Whether a character counts for nothing: control and format characters but tab and line breaks, and the sign of a broken
/// character.
fn is_removed(character: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    let category = || character.general_category();
    match character.is_ascii() {
        true => character.is_ascii_control() && !matches!(character, '\t' | '\n' | '\r'),
        false => character == '\u{fffd}' || matches!(category(), Control | Format | PrivateUse),
    }
}

/// Whether a character is a word of its own: Chinese characters.
fn is_ideograph(character: char) -> bool {
    matches!(
        u32::from(character),
        0x4e00..=0x9fff
            | 0x3400..=0x4dbf
            | 0x20000..=0x2a6df
            | 0x2a700..=0x2b73f
            | 0x2b740..=0x2b81f
            | 0x2b920..=0x2ceaf
            | 0xf900..=0xfaff
            | 0x2f800..=0x2fa1f
    )
}

/// Whether a character is a piece of its own; in ASCII, signs such as `$` and `=` too.
fn is_punctuation(character: char) -> bool {
    let group = || character.general_category_group();
    match character.is_ascii() {
        true => character.is_ascii_punctuation(),
        false => group() == GeneralCategoryGroup::Punctuation,
    }
}

/// Calls with the small letters of a character, without their accents.
fn for_each_plain(character: char, mut each: impl FnMut(char)) {
    if character.is_ascii() {
        return each(character.to_ascii_lowercase());
    }
    decompose_canonical(character, |part| {
        if part.is_ascii() || part.general_category() != GeneralCategory::NonspacingMark {
            part.to_lowercase().for_each(&mut each);
        }
    });
}
