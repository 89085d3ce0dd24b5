//! A vocabulary of pieces of words, of which each is found by its letters.

use std::borrow::Cow;
use std::hash::BuildHasher as _;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// What stands before a piece that continues a word.
const CONTINUATION: &str = "##";

/// The pieces in the order of their numbers; the letters are kept once.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// One piece a line.
    text: Cow<'static, str>,
    places: Vec<PiecePlace>,
    /// The numbers of the pieces, by their letters.
    numbers: HashTable<u32>,
    /// Bytes of the longest piece.
    bytes_max: usize,
}

/// Where a piece lies in the text, without the mark of a continuation.
#[derive(Debug)]
struct PiecePlace {
    start: u32,
    end: u32,
    continues: bool,
}

impl Vocabulary {
    /// Reads a text with one piece a line. Of two equal pieces the first counts. With `marked`, `##` before a piece says that
    /// it continues a word.
    pub(crate) fn new(text: Cow<'static, str>, marked: bool) -> Self {
        let mut places = Vec::new();
        let mut at = 0;
        for line in text.split_terminator('\n') {
            let continues = marked && line.starts_with(CONTINUATION);
            let start = at + if continues { CONTINUATION.len() } else { 0 };
            at += line.len();
            places.push(PiecePlace { start: start as u32, end: at as u32, continues });
            at += 1;
        }
        let bytes = places.iter().map(|place| (place.end - place.start) as usize);
        let bytes_max = bytes.max().unwrap_or_default();
        let numbers = HashTable::with_capacity(places.len());
        let mut vocabulary = Self { text, places, numbers, bytes_max };
        let mut numbers = std::mem::take(&mut vocabulary.numbers);
        for number in 0..vocabulary.places.len() as u32 {
            let (piece, continues) = vocabulary.piece(number);
            if vocabulary.find_in(&numbers, piece, continues).is_none() {
                let hash = |number: &u32| {
                    let (piece, continues) = vocabulary.piece(*number);
                    hash(piece, continues)
                };
                numbers.insert_unique(hash(&number), number, hash);
            }
        }
        vocabulary.numbers = numbers;
        vocabulary
    }

    /// The number of a piece: of one that continues a word, or of one that begins it.
    pub(crate) fn number(&self, piece: &str, continues: bool) -> Option<u32> {
        if piece.len() > self.bytes_max {
            return None;
        }
        self.find_in(&self.numbers, piece, continues)
    }

    /// Count of pieces.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes of the longest piece.
    pub(crate) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    fn find_in(&self, numbers: &HashTable<u32>, piece: &str, continues: bool) -> Option<u32> {
        let same = |number: &u32| self.piece(*number) == (piece, continues);
        numbers.find(hash(piece, continues), same).copied()
    }

    /// The letters of a piece, and whether it continues a word.
    fn piece(&self, number: u32) -> (&str, bool) {
        let place = &self.places[number as usize];
        (&self.text[place.start as usize..place.end as usize], place.continues)
    }
}

fn hash(piece: &str, continues: bool) -> u64 {
    FxBuildHasher.hash_one((piece, continues))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_by_their_letters() {
        let vocabulary = Vocabulary::new("a\n##a\n#\n##\nbc\na\n##äé\n".into(), true);
        let cases = [
            ("a", false, Some(0)),
            ("a", true, Some(1)),
            ("#", false, Some(2)),
            ("", true, Some(3)),
            ("bc", false, Some(4)),
            ("bc", true, None),
            ("äé", true, Some(6)),
            ("", false, None),
        ];
        for (piece, continues, number) in cases {
            assert_eq!(vocabulary.number(piece, continues), number, "{piece} {continues}");
        }
        assert_eq!((vocabulary.len(), vocabulary.bytes_max()), (7, 4));
        let plain = Vocabulary::new("a\n##a".into(), false);
        assert_eq!((plain.number("##a", false), plain.number("a", true)), (Some(1), None));
    }
}
