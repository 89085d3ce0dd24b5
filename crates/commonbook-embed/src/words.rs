//! Words: each word of a text as 64 numbers of its own, one bit a number where it is stored, and their comparison.

use std::ops::Range;

pub use commonbook_model::PROJECTED_DIMENSION as WORD_DIMENSION;

/// A vector of a word or of a piece of one, of any length.
pub type WordVector = [f32; WORD_DIMENSION];

/// A text's vector with those of the pieces of its words.
#[derive(Debug, Clone, PartialEq)]
pub struct TextEmbedding {
    /// The vector, of length one.
    pub vector: Vec<f32>,
    /// The pieces that the model has read, in order; none of a model that does not show them.
    pub pieces: Vec<WordPiece>,
}

/// A piece of a word, as its text means it.
#[derive(Debug, Clone, PartialEq)]
pub struct WordPiece {
    /// The bytes of the text that the piece stands for.
    pub bytes: Range<usize>,
    /// Its vector.
    pub vector: WordVector,
}

/// The signs of a word's vector: one bit a number, the first in the lowest bit, set for a number above zero.
#[must_use]
pub fn word_signs(vector: &WordVector) -> u64 {
    vector.iter().rev().fold(0, |signs, number| signs << 1 | u64::from(*number > 0.0))
}

/// A word of a question, ready for comparison with the signs of many words.
#[derive(Debug, Clone)]
pub struct QuestionWord {
    /// For each byte of signs, the sum of its eight numbers with the signs of that byte.
    sums: Vec<[f32; 256]>,
}

impl QuestionWord {
    /// Prepares a word of a question. A vector of zeros is similar to nothing.
    #[must_use]
    pub fn of(vector: &WordVector) -> Self {
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        let scale = (length.max(f32::MIN_POSITIVE) * (WORD_DIMENSION as f32).sqrt()).recip();
        let sums = vector.as_chunks::<8>().0.iter().map(|numbers| {
            let mut sums = [0.0; 256];
            sums[0] = -scale * numbers.iter().sum::<f32>();
            for signs in 1..256_usize {
                // As without the lowest sign that is set, and twice its number more.
                let lowest = signs.trailing_zeros() as usize;
                sums[signs] = sums[signs & (signs - 1)] + 2.0 * scale * numbers[lowest];
            }
            sums
        });
        Self { sums: sums.collect() }
    }

    /// Returns the similarity to a word by its signs, from -1 to 1: the cosine of the question's word and the signs as numbers.
    #[must_use]
    pub fn similarity(&self, signs: u64) -> f32 {
        let bytes = signs.to_le_bytes();
        self.sums.iter().zip(bytes).map(|(sums, byte)| sums[usize::from(byte)]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similarity_is_the_cosine_with_the_signs() {
        let vector: WordVector = std::array::from_fn(|place| (place as f32 * 1.7).sin());
        let word = QuestionWord::of(&vector);
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        for signs in [0, u64::MAX, 0x0123_4567_89ab_cdef, word_signs(&vector)] {
            let sign = |place: usize| if signs >> place & 1 == 1 { 1.0 } else { -1.0 };
            let dot: f32 = vector.iter().enumerate().map(|(place, x)| x * sign(place)).sum();
            assert!((word.similarity(signs) - dot / length / 8.0).abs() < 1e-5, "{signs:x}");
        }
        let opposite = word.similarity(!word_signs(&vector));
        assert!(word.similarity(word_signs(&vector)) > 0.8 && opposite < -0.8);
        assert_eq!(QuestionWord::of(&[0.0; WORD_DIMENSION]).similarity(5), 0.0);
    }
}
