//! A word of a text while it is taken apart: its letters made plain, and the characters that they are of.

use std::ops::Range;

use crate::Piece;

/// The letters of a word.
#[derive(Default)]
pub(crate) struct Word {
    text: String,
    letters: Vec<Letter>,
}

/// A letter, made plain.
struct Letter {
    /// Where it lies in the word.
    at: usize,
    /// The characters of the text that it is of.
    source: Range<usize>,
}

impl Word {
    pub(crate) fn push(&mut self, letter: char, source: Range<usize>) {
        self.letters.push(Letter { at: self.text.len(), source });
        self.text.push(letter);
    }

    /// Counts more of the text to the last letter.
    pub(crate) fn extend_last(&mut self, end: usize) {
        if let Some(last) = self.letters.last_mut() {
            last.source.end = end;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.letters.clear();
    }

    /// Count of letters.
    pub(crate) fn len(&self) -> usize {
        self.letters.len()
    }

    /// The letters from one index to another.
    pub(crate) fn part(&self, letters: Range<usize>) -> &str {
        &self.text[self.place(letters.start)..self.place(letters.end)]
    }

    /// The bytes of the text that these letters are of; `None` without letters.
    pub(crate) fn bytes(&self, letters: Range<usize>) -> Option<Range<usize>> {
        let letters = &self.letters[letters];
        Some(letters.first()?.source.start..letters.last()?.source.end)
    }

    /// Where the letter of this index lies, or the end.
    fn place(&self, index: usize) -> usize {
        self.letters.get(index).map_or(self.text.len(), |letter| letter.at)
    }
}

/// The pieces found, up to a count.
pub(crate) struct PieceList {
    pub(crate) pieces: Vec<Piece>,
    pieces_max: usize,
}

impl PieceList {
    pub(crate) fn new(pieces_max: usize) -> Self {
        Self { pieces: Vec::new(), pieces_max }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.pieces.len() >= self.pieces_max
    }

    /// Adds the piece of these letters, if there is room.
    pub(crate) fn push(&mut self, token: u32, word: &Word, letters: Range<usize>) {
        if let Some(bytes) = word.bytes(letters)
            && !self.is_full()
        {
            self.pieces.push(Piece { token, bytes });
        }
    }
}
