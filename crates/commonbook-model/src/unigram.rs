//! The tokenizer of a SentencePiece model, as XLM-R has it: characters made plain by a table, words at spaces, and of each
//! word the pieces that are likeliest together.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::Piece;
use crate::charsmap::CharacterMap;
use crate::vocabulary::Vocabulary;
use crate::word::{PieceList, Word};

/// What stands for the space before a word.
const WORD_MARK: char = '▁';

/// How much less likely than all pieces an unknown letter is.
const UNKNOWN_PENALTY: f64 = 10.0;

/// Bytes of a cluster of characters that the table replaces as one; in longer ones it replaces each character.
const CLUSTER_BYTES_MAX: usize = 5;

/// A tokenizer by the likeliest pieces.
#[derive(Debug)]
pub(crate) struct UnigramTokenizer {
    pub(crate) vocabulary: Vocabulary,
    /// The logarithm of the likelihood of each piece; `None` for a mark, which no text contains.
    scores: Vec<Option<f64>>,
    /// The logarithm of the likelihood of an unknown letter.
    unknown_score: f64,
    /// The token of letters that the vocabulary does not have.
    unknown: u32,
    characters: Option<CharacterMap>,
}

/// The likeliest way to the end of a letter.
#[derive(Clone, Copy)]
struct BestWay {
    score: f64,
    /// The first letter of the last piece.
    start: usize,
    token: u32,
}

impl UnigramTokenizer {
    /// Creates a tokenizer of pieces with these scores.
    pub(crate) fn new(
        vocabulary: Vocabulary,
        scores: Vec<Option<f64>>,
        unknown: u32,
        characters: Option<CharacterMap>,
    ) -> Self {
        let least = scores.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        Self { vocabulary, scores, unknown_score: least - UNKNOWN_PENALTY, unknown, characters }
    }

    /// The first pieces of a text, at most `pieces_max`; what lies behind the word of the last one is not read.
    pub(crate) fn pieces(&self, text: &str, pieces_max: usize) -> Vec<Piece> {
        let mut found = PieceList::new(pieces_max);
        let mut word = Word::default();
        for (start, cluster) in text.grapheme_indices(true) {
            if found.is_full() {
                break;
            }
            let replaced = (cluster.len() <= CLUSTER_BYTES_MAX).then(|| self.replacement(cluster));
            if let Some(plain) = replaced.flatten() {
                for letter in plain.chars() {
                    self.add(letter, start..start + cluster.len(), &mut word, &mut found);
                }
                continue;
            }
            for (place, character) in cluster.char_indices() {
                let source = start + place..start + place + character.len_utf8();
                match self.replacement(&text[source.clone()]) {
                    Some(plain) => {
                        for letter in plain.chars() {
                            self.add(letter, source.clone(), &mut word, &mut found);
                        }
                    }
                    None => self.add(character, source, &mut word, &mut found),
                }
            }
        }
        self.take_apart(&word, &mut found);
        found.pieces
    }

    fn replacement(&self, characters: &str) -> Option<&str> {
        self.characters.as_ref()?.replacement(characters)
    }

    /// Adds a letter to the word, or ends the word at a space.
    fn add(
        &self,
        letter: char,
        source: std::ops::Range<usize>,
        word: &mut Word,
        found: &mut PieceList,
    ) {
        if letter.is_whitespace() {
            self.take_apart(word, found);
            word.clear();
            return;
        }
        if word.len() == 0 {
            word.push(WORD_MARK, source.start..source.start);
        }
        word.push(letter, source);
    }

    /// Adds the likeliest pieces of a word.
    fn take_apart(&self, word: &Word, found: &mut PieceList) {
        let mut ways: Vec<Option<BestWay>> = vec![None; word.len() + 1];
        let beginning = BestWay { score: 0.0, start: 0, token: self.unknown };
        for start in 0..word.len() {
            let before = ways[start].unwrap_or(beginning).score;
            let mut offer = |end: usize, score: f64, token: u32| {
                let score = before + score;
                if ways[end].is_none_or(|best| score > best.score) {
                    ways[end] = Some(BestWay { score, start, token });
                }
            };
            let mut single = false;
            for end in start + 1..=word.len() {
                let part = word.part(start..end);
                if part.len() > self.vocabulary.bytes_max() {
                    break;
                }
                if let Some(token) = self.vocabulary.number(part, false)
                    && let Some(score) = self.scores[token as usize]
                {
                    offer(end, score, token);
                    single |= end == start + 1;
                }
            }
            if !single {
                offer(start + 1, self.unknown_score, self.unknown);
            }
        }
        let mut pieces = Vec::new();
        let mut end = word.len();
        while end > 0 {
            let way = ways[end].unwrap_or(beginning);
            pieces.push((way.start, end, way.token));
            end = way.start;
        }
        // Unknown letters one after another are one piece.
        pieces.reverse();
        pieces.dedup_by(|next, last| {
            let both = next.2 == self.unknown && last.2 == self.unknown;
            if both {
                last.1 = next.1;
            }
            both
        });
        for (start, end, token) in pieces {
            found.push(token, word, start..end);
        }
    }
}
