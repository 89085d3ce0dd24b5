//! Word nearness: how near the single words of memories are to those of a question, by the vectors of words.

use std::borrow::Borrow;

use rustc_hash::FxHashMap;

use super::matches::TermWeights;
use super::vectors::WordBytes;
use commonbook_embed::TextEmbedding;
use commonbook_embed::words::{QuestionWord, WORD_DIMENSION, WordVector, word_signs};
use commonbook_text::terms;

/// Words of a memory that are kept: the first ones. The rarest ones found less.
const MEMORY_WORDS_MAX: usize = 32;

/// The signs of the first distinct words of a text, which its chunks have in order; function words are left out.
pub(super) fn memory_words<T: Borrow<str>>(
    chunks: &[T],
    embeddings: &[TextEmbedding],
) -> Vec<WordBytes> {
    let vectors = word_vectors(chunks, embeddings, MEMORY_WORDS_MAX);
    vectors.iter().map(|(_, vector)| word_signs(vector).to_le_bytes()).collect()
}

/// The vectors of a question's words, by their terms.
pub(super) fn question_words(
    question: &str,
    embedding: TextEmbedding,
) -> FxHashMap<String, WordVector> {
    word_vectors(&[question], &[embedding], terms::QUERY_WORDS_MAX).into_iter().collect()
}

/// The first distinct words of a text in chunks, at most `most`, each with the sum of the vectors of its occurrences; the vector of
/// an occurrence is the mean of its pieces. A word of which the model has read no piece is left out.
fn word_vectors<T: Borrow<str>>(
    chunks: &[T],
    embeddings: &[TextEmbedding],
    most: usize,
) -> Vec<(String, WordVector)> {
    let mut words: Vec<(String, WordVector)> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    for (chunk, embedding) in chunks.iter().zip(embeddings) {
        let mut pieces = embedding.pieces.iter().peekable();
        if pieces.peek().is_none() {
            continue;
        }
        for (bytes, term) in terms::content_words(chunk.borrow()) {
            while pieces.next_if(|piece| piece.bytes.start < bytes.start).is_some() {}
            let (mut sum, mut count) = ([0.0; WORD_DIMENSION], 0.0);
            while let Some(piece) = pieces.next_if(|piece| piece.bytes.start < bytes.end) {
                add(&mut sum, &piece.vector, 1.0);
                count += 1.0;
            }
            let place = match places.get(&term) {
                Some(place) => *place,
                None if count > 0.0 && words.len() < most => {
                    places.insert(term.clone(), words.len());
                    words.push((term, [0.0; WORD_DIMENSION]));
                    words.len() - 1
                }
                None => continue,
            };
            add(&mut words[place].1, &sum, f32::max(count, 1.0).recip());
        }
    }
    words
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
    use commonbook_embed::words::WordPiece;

    use super::*;

    /// One piece per letter; each letter has a number of its own.
    fn read(text: &str) -> TextEmbedding {
        let piece = |(start, letter): (usize, char)| {
            let number = |place| if place == letter as usize % 64 { 1.0 } else { 0.0 };
            let vector = std::array::from_fn(number);
            WordPiece { bytes: start..start + letter.len_utf8(), vector }
        };
        let letters = text.char_indices().filter(|(_, letter)| !letter.is_whitespace());
        TextEmbedding { vector: Vec::new(), pieces: letters.map(piece).collect() }
    }

    #[test]
    fn a_word_is_the_mean_of_its_pieces_and_the_sum_of_its_occurrences() {
        let chunks = ["the bob, abba", "Bob bobs"];
        let words = word_vectors(&chunks, &chunks.map(read), 32);
        let (names, vectors): (Vec<_>, Vec<_>) = words.into_iter().unzip();
        assert_eq!(names, ["bob", "abba"]);
        let number = |word: usize, letter| vectors[word][letter as usize % 64];
        // "bob" has b in 2 of 3 pieces, "Bob" in 1 of 3, "bobs" in 2 of 4.
        assert!((number(0, 'b') - (2.0 / 3.0 + 1.0 / 3.0 + 0.5)).abs() < 1e-6);
        assert_eq!((number(1, 'a'), number(1, 'b')), (0.5, 0.5));
    }

    #[test]
    fn the_first_words_are_kept_and_what_the_model_has_not_read_is_not() {
        let text: String = (0..40).map(|n| format!("word{n} ")).collect();
        assert_eq!(memory_words(&[text.as_str()], &[read(&text)]).len(), MEMORY_WORDS_MAX);
        let cut = TextEmbedding { pieces: read("heron riv").pieces, ..read("") };
        assert_eq!(word_vectors(&["heron river fish"], &[cut], 32).len(), 2);
        assert!(memory_words(&["heron"], &[read("")]).is_empty());
    }

    #[test]
    fn rare_words_weigh_more_and_what_is_unlike_counts_nothing() {
        let vectors = question_words("heron fish gone", read("heron fish"));
        let terms = ["heron", "fish", "gone"].map(str::to_owned).to_vec();
        let weights = TermWeights { terms, rarities: vec![3.0, 1.0, 9.0], memories: vec![] };
        let words = QuestionWords::of(&vectors, &weights).unwrap();
        let sum = |text| words.sum(&words.similarities(&memory_words(&[text], &[read(text)])));
        assert!(sum("heron") > sum("fish"));
        assert!(sum("heron fish") > sum("heron"));
        assert_eq!(sum(""), 0.0);
        assert!(QuestionWords::of(&FxHashMap::default(), &weights).is_none());
    }
}
