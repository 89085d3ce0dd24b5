//! Word nearness: how near the single words of memories are to those of a question, by the vectors of words.

use rustc_hash::FxHashMap;

use super::matches::TermWeights;
use super::vectors::WordBytes;
use commonbook_embed::words::{QuestionWord, WORD_DIMENSION, WordPiece, WordVector, word_signs};
use commonbook_text::terms;

/// Words of a memory that are kept: the first ones. The rarest ones found less.
pub(super) const MEMORY_WORDS_MAX: usize = 32;

/// The first distinct words of a text that the model has read, each with the sum of the vectors of its occurrences; function words are
/// left out. The vector of an occurrence is the mean of its pieces.
pub(super) struct WordSums {
    most: usize,
    sums: Vec<WordVector>,
    /// The index of each term in `sums`.
    places: FxHashMap<String, usize>,
}

impl WordSums {
    /// None yet, of at most `most` words.
    pub(super) fn new(most: usize) -> Self {
        Self { most, sums: Vec::new(), places: FxHashMap::default() }
    }

    /// The vectors of a question's words, by their terms.
    pub(super) fn of_question(
        question: &str,
        pieces: &[WordPiece],
    ) -> FxHashMap<String, WordVector> {
        let mut words = Self::new(terms::QUERY_WORDS_MAX);
        words.add(question, pieces);
        let Self { sums, places, .. } = words;
        places.into_iter().map(|(term, place)| (term, sums[place])).collect()
    }

    /// Those of a memory whose text has one part.
    pub(super) fn of_memory(text: &str, pieces: &[WordPiece]) -> Self {
        let mut words = Self::new(MEMORY_WORDS_MAX);
        words.add(text, pieces);
        words
    }

    /// Adds the words of the next part of the text.
    pub(super) fn add(&mut self, text: &str, pieces: &[WordPiece]) {
        if pieces.is_empty() {
            return;
        }
        let mut pieces = pieces.iter().peekable();
        for (bytes, term) in terms::content_words(text) {
            while pieces.next_if(|piece| piece.bytes.start < bytes.start).is_some() {}
            let (mut sum, mut count) = ([0.0; WORD_DIMENSION], 0.0);
            while let Some(piece) = pieces.next_if(|piece| piece.bytes.start < bytes.end) {
                add(&mut sum, &piece.vector, 1.0);
                count += 1.0;
            }
            let place = match self.places.get(&term) {
                Some(place) => *place,
                None if count > 0.0 && self.sums.len() < self.most => {
                    self.places.insert(term, self.sums.len());
                    self.sums.push([0.0; WORD_DIMENSION]);
                    self.sums.len() - 1
                }
                None => continue,
            };
            add(&mut self.sums[place], &sum, f32::max(count, 1.0).recip());
        }
    }

    /// The signs of each word, in order.
    pub(super) fn signs(&self) -> Vec<WordBytes> {
        self.sums.iter().map(|sum| word_signs(sum).to_le_bytes()).collect()
    }
}

fn add(sum: &mut WordVector, vector: &WordVector, weight: f32) {
    sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += weight * number);
}

/// The words of a question that are looked up and have a vector, each with its rarity.
pub(super) struct QuestionWords(Vec<(f64, QuestionWord)>);

impl QuestionWords {
    /// The words of a question; `None` if none has a vector.
    pub(super) fn of(
        vectors: &FxHashMap<String, WordVector>,
        weights: &TermWeights,
    ) -> Option<Self> {
        let weighted = weights.terms.iter().zip(&weights.rarities);
        let words = weighted
            .filter_map(|(term, rarity)| Some((*rarity, QuestionWord::of(vectors.get(term)?))));
        let words: Vec<_> = words.collect();
        (!words.is_empty()).then_some(Self(words))
    }

    /// For each word, the similarity of a memory's most similar word, 0 to 1, by their signs.
    pub(super) fn similarities(&self, signs: &[WordBytes]) -> Vec<f32> {
        let nearest = |(_, word): &(f64, QuestionWord)| {
            let signs = signs.iter().map(|signs| u64::from_le_bytes(*signs));
            signs.map(|signs| word.similarity(signs)).fold(0.0, f32::max)
        };
        self.0.iter().map(nearest).collect()
    }

    /// The sum of similarities, each times the rarity of its word.
    pub(super) fn sum(&self, similarities: &[f32]) -> f64 {
        let weighted = self.0.iter().zip(similarities);
        weighted.map(|((rarity, _), similarity)| rarity * f64::from(*similarity)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One piece per letter; each letter has a number of its own.
    fn pieces(text: &str) -> Vec<WordPiece> {
        let piece = |(start, letter): (usize, char)| {
            let number = |place| if place == letter as usize % 64 { 1.0 } else { 0.0 };
            let vector = std::array::from_fn(number);
            WordPiece { bytes: start..start + letter.len_utf8(), vector }
        };
        let letters = text.char_indices().filter(|(_, letter)| !letter.is_whitespace());
        letters.map(piece).collect()
    }

    fn words(chunks: &[&str]) -> WordSums {
        let mut words = WordSums::new(MEMORY_WORDS_MAX);
        chunks.iter().for_each(|chunk| words.add(chunk, &pieces(chunk)));
        words
    }

    #[test]
    fn a_word_is_the_mean_of_its_pieces_and_the_sum_of_its_occurrences() {
        let words = words(&["the bob, abba", "Bob bobs"]);
        assert_eq!(words.sums.len(), 2);
        let number = |word: &str, letter| words.sums[words.places[word]][letter as usize % 64];
        // "bob" has b in 2 of 3 pieces, "Bob" in 1 of 3, "bobs" in 2 of 4.
        assert!((number("bob", 'b') - (2.0 / 3.0 + 1.0 / 3.0 + 0.5)).abs() < 1e-6);
        assert_eq!((number("abba", 'a'), number("abba", 'b')), (0.5, 0.5));
    }

    #[test]
    fn the_first_words_are_kept_and_what_the_model_has_not_read_is_not() {
        let text: String = (0..40).map(|n| format!("word{n} ")).collect();
        assert_eq!(words(&[&text]).signs().len(), MEMORY_WORDS_MAX);
        let mut cut = WordSums::new(MEMORY_WORDS_MAX);
        cut.add("heron river fish", &pieces("heron riv"));
        assert_eq!(cut.sums.len(), 2);
        cut.add("heron", &[]);
        assert_eq!(cut.sums.len(), 2);
    }

    #[test]
    fn rare_words_weigh_more_and_what_is_unlike_counts_nothing() {
        let vectors = WordSums::of_question("heron fish gone", &pieces("heron fish"));
        let terms = ["heron", "fish", "gone"].map(str::to_owned).to_vec();
        let weights = TermWeights { terms, rarities: vec![3.0, 1.0, 9.0], memories: vec![] };
        let question = QuestionWords::of(&vectors, &weights).unwrap();
        let sum = |text| question.sum(&question.similarities(&words(&[text]).signs()));
        assert!(sum("heron") > sum("fish"));
        assert!(sum("heron fish") > sum("heron"));
        assert_eq!(sum(""), 0.0);
        assert!(QuestionWords::of(&FxHashMap::default(), &weights).is_none());
    }
}
