//! Relevance: how likely a memory answers a question, whatever else was found.
//!
//! A logistic model over features that compare only the memory and the question: the shared words by
//! their rarity, and the cosine of the vectors. A better candidate changes none of them. Every
//! threshold of the program stands on this value; `docs/decisions/0027-relevance.md` has the data and
//! the fit.

use super::rank::CorpusStatistics;

/// Pseudo memories without any word of the question that are added to the collection for rarity: in
/// a collection of ten memories a count alone says little about a word.
const SMOOTHING_MEMORIES: f64 = 30.0;

/// Rarity of the shared words beyond which more of them prove no more, in nats.
const EVIDENCE_MAX: f64 = 12.0;

/// Size of the largest collection of the fit; in a larger one, chance matches are not more frequent
/// as far as we know.
const COLLECTION_MAX: f64 = 2_000.0;

/// Mean cosine of unrelated texts in the bundled model, measured on questions put to conversations
/// that cannot answer them.
const UNRELATED_COSINE: f64 = 0.1;

/// The constants of one model: weights of the features in the log-odds. Each raises the relevance
/// with its feature; only the size of the collection lowers it.
struct RelevanceModel {
    constant: f64,
    coverage: f64,
    evidence: f64,
    nearness: f64,
    /// For the natural logarithm of the number of searched memories: in a larger collection more
    /// memories match by chance. Fitted on one set that grows, not on small sets beside large ones:
    /// so steep a slope as that gives (-1.85) tells nothing among a thousand.
    collection: f64,
}

/// With a vector of the bundled model; fitted on the notes and questions of
/// `commonbook-bench/tasks/engineering` among 40 to 2,000 memories.
const BY_WORDS_AND_VECTOR: RelevanceModel = RelevanceModel {
    constant: -3.28,
    coverage: 4.25,
    evidence: 0.0,
    nearness: 7.7,
    collection: -0.4,
};

/// Without a vector: no embedder, or a memory that is not embedded yet; fitted on the same data.
const BY_WORDS: RelevanceModel = RelevanceModel {
    constant: -2.33,
    coverage: 4.8,
    evidence: 0.17,
    nearness: 0.0,
    collection: -0.3,
};

/// For a turn of a conversation, in the log-odds: many turns of a subject say little about it.
const TURN: f64 = -1.45;

/// What a memory and a question have in common.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RelevanceFeatures {
    /// Rarity of the question's words that the memory contains, as a share of the rarity of all its
    /// words, 0 to 1; of a turn of a conversation, those that it or its neighbours contain.
    pub coverage: f64,
    /// Rarity of the question's words that the memory contains, in nats.
    pub evidence: f64,
    /// Cosine of the vectors, on the scale of the bundled model; `None` without a vector.
    pub nearness: Option<f64>,
    /// Whether the memory is a turn of a conversation.
    pub is_turn: bool,
    /// Number of searched memories.
    pub memories: f64,
}

impl RelevanceFeatures {
    /// How likely the memory is relevant, 0 to 1.
    #[must_use]
    pub fn relevance(&self) -> f64 {
        let model = if self.nearness.is_some() { &BY_WORDS_AND_VECTOR } else { &BY_WORDS };
        let log_odds = model.constant
            + model.coverage * self.coverage
            + model.evidence * self.evidence.min(EVIDENCE_MAX)
            + model.nearness * self.nearness.unwrap_or_default()
            + if self.is_turn { TURN } else { 0.0 }
            + model.collection * self.memories.clamp(1.0, COLLECTION_MAX).ln();
        1.0 / (1.0 + (-log_odds).exp())
    }
}

/// Returns the rarity of a word that is in `having` memories, steady in small collections.
#[must_use]
pub fn steady_rarity(statistics: &CorpusStatistics, having: f64) -> f64 {
    let memories = statistics.memories + SMOOTHING_MEMORIES;
    CorpusStatistics { memories, ..*statistics }.rarity(having)
}

/// Returns the cosine of another model on the scale of the bundled one, given the mean cosine of the
/// question with all searched memories: some models give 0.7 to unrelated texts.
#[must_use]
pub fn comparable_cosine(cosine: f64, mean: f64) -> f64 {
    let room = (1.0 - mean).max(f64::EPSILON);
    UNRELATED_COSINE + (1.0 - UNRELATED_COSINE) * (cosine - mean) / room
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: RelevanceFeatures = RelevanceFeatures {
        coverage: 0.4,
        evidence: 3.0,
        nearness: Some(0.4),
        is_turn: false,
        memories: 50.0,
    };

    #[test]
    fn each_feature_raises_the_relevance_and_a_larger_collection_lowers_it() {
        for nearness in [None, Some(0.3)] {
            let base = RelevanceFeatures { nearness, ..SOME };
            let better = [
                RelevanceFeatures { coverage: 0.8, ..base },
                RelevanceFeatures {
                    nearness: nearness.map(|cosine| cosine + 0.2),
                    memories: 49.0,
                    ..base
                },
                RelevanceFeatures { memories: 10.0, ..base },
            ];
            for features in better {
                assert!(features.relevance() > base.relevance(), "{features:?}");
            }
        }
    }

    #[test]
    fn a_relevance_is_a_probability_in_any_collection() {
        for memories in [0.0, 1.0, 1e3, 1e7] {
            for nearness in [None, Some(-1.0), Some(1.0)] {
                for share in [0.0, 1.0] {
                    let features = RelevanceFeatures {
                        coverage: share,
                        evidence: 1e3 * share,
                        nearness,
                        is_turn: share > 0.0,
                        memories,
                    };
                    assert!((0.0..=1.0).contains(&features.relevance()), "{features:?}");
                }
            }
        }
    }

    #[test]
    fn a_word_of_one_among_few_memories_is_rare() {
        let few = CorpusStatistics { memories: 2.0, length: 10.0 };
        assert!(steady_rarity(&few, 1.0) > 2.0 * few.rarity(1.0));
        let many = CorpusStatistics { memories: 1e6, ..few };
        assert!((steady_rarity(&many, 1.0) - many.rarity(1.0)).abs() < 0.001);
    }

    #[test]
    fn cosines_of_a_narrow_model_spread_over_the_scale_of_the_bundled_one() {
        assert!((comparable_cosine(0.75, 0.75) - UNRELATED_COSINE).abs() < 1e-9);
        assert!((comparable_cosine(1.0, 0.75) - 1.0).abs() < 1e-9);
        assert!(comparable_cosine(0.85, 0.75) > 0.4);
        assert!(comparable_cosine(1.0, 1.0).is_finite());
    }
}
