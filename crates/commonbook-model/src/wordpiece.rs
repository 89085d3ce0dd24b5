//! The tokenizer of a BERT: letters made plain, words at spaces and punctuation, and the longest pieces of each word that the
//! vocabulary has.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

use crate::Piece;
use crate::vocabulary::Vocabulary;
use crate::word::{PieceList, Word};

/// A tokenizer by the longest piece first.
#[derive(Debug)]
pub(crate) struct WordPieceTokenizer {
    pub(crate) vocabulary: Vocabulary,
    /// The token of a word that the vocabulary cannot spell.
    pub(crate) unknown: u32,
    /// Letters of a word that is taken apart; a longer one is unknown.
    pub(crate) word_letters_max: usize,
    /// Whether letters become small.
    pub(crate) lowercase: bool,
    /// Whether letters lose their accents.
    pub(crate) strip_accents: bool,
}

impl WordPieceTokenizer {
    /// The first pieces of a text, at most `pieces_max`; what lies behind them is not read.
    pub(crate) fn pieces(&self, text: &str, pieces_max: usize) -> Vec<Piece> {
        let mut found = PieceList::new(pieces_max);
        let mut word = Word::default();
        for (start, character) in text.char_indices() {
            if found.is_full() {
                break;
            }
            if is_removed(character) {
                continue;
            }
            let source = start..start + character.len_utf8();
            let alone = is_ideograph(character);
            if alone {
                self.end_word(&mut word, &mut found);
            }
            self.for_each_plain(character, |plain| {
                let punctuation = is_punctuation(plain);
                if punctuation || plain.is_whitespace() {
                    self.end_word(&mut word, &mut found);
                }
                if word.len() > self.word_letters_max {
                    word.extend_last(source.end);
                } else if !plain.is_whitespace() {
                    word.push(plain, source.clone());
                }
                if punctuation {
                    self.end_word(&mut word, &mut found);
                }
            });
            if alone {
                self.end_word(&mut word, &mut found);
            }
        }
        self.end_word(&mut word, &mut found);
        found.pieces
    }

    /// Takes a word apart and empties it.
    fn end_word(&self, word: &mut Word, found: &mut PieceList) {
        let before = found.pieces.len();
        if !self.take_apart(word, found) {
            found.pieces.truncate(before);
            found.push(self.unknown, word, 0..word.len());
        }
        word.clear();
    }

    /// Adds the pieces of a word; false if one of them is not in the vocabulary.
    fn take_apart(&self, word: &Word, found: &mut PieceList) -> bool {
        if word.len() > self.word_letters_max {
            return false;
        }
        let mut first = 0;
        while first < word.len() {
            let longest = (first + 1..=word.len()).rev().find_map(|end| {
                let piece = word.part(first..end);
                Some((end, self.vocabulary.number(piece, first > 0)?))
            });
            let Some((end, token)) = longest else { return false };
            found.push(token, word, first..end);
            first = end;
        }
        true
    }

    /// Calls with the letters of a character as the settings want them.
    fn for_each_plain(&self, character: char, mut each: impl FnMut(char)) {
        let mut each = |part: char| match self.lowercase {
            true => part.to_lowercase().for_each(&mut each),
            false => each(part),
        };
        if character.is_ascii() || !self.strip_accents {
            return each(character);
        }
        decompose_canonical(character, |part| {
            if part.is_ascii() || part.general_category() != GeneralCategory::NonspacingMark {
                each(part);
            }
        });
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
