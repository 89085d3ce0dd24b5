//! Ranking: the score of a memory for a question, as a pure function of their features.
//!
//! The score is a weighted sum of the match of words (the memory's own; of a turn of a conversation
//! also those of its neighbours, of its session and of the question just before) and of the nearness
//! of vectors, each scaled to 0..1 over the candidates. Words weigh less where no candidate holds
//! many of the question's: then meaning decides. Factors raise it for an author and a time that the question names or asks for,
//! and a little for importance and freshness. Then repetitions of a better hit move down, and
//! updates move before the older hit. The constants are equal for every collection;
//! `docs/decisions/0009-ranking.md` has their origin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::memory::Importance;

/// BM25's k1: the saturation of repeated words.
const BM25_K1: f64 = 1.2;

/// BM25's b: the penalty of long texts.
const BM25_B: f64 = 0.75;

/// Weight of a word in title, topics and summary; in the text it is 1.
const HEAD_WEIGHT: f64 = 2.0;

/// Words below which the length of a turn does not count: a short one is not more relevant than one of
/// ninety words. A note's length counts, so that three chance words in a long note are less than
/// three in a short one.
const SHORT_TURN_WORDS_MAX: f64 = 100.0;

/// Words below which the length of a memory with its neighbours, or of a session, does not count.
const SHORT_CONTEXT_WORDS_MAX: f64 = 300.0;

/// Weights of a neighbour's words, by its distance in the session.
pub const NEIGHBOUR_WEIGHTS: [f64; 2] = [1.0, 0.5];

/// Words up to which the neighbours of a memory count in full; a longer memory explains itself.
const CONTEXT_WORDS_MAX: f64 = 60.0;

/// Weight of the words of the whole session.
const SESSION_WEIGHT: f64 = 0.3;

/// Weight of the words of a short question that somebody else asked just before.
const ASKED_WEIGHT: f64 = 1.0;

/// Words up to which a question counts as asked of the next turn; a longer text is no question.
pub const ASKED_WORDS_MAX: f64 = 60.0;

/// Weight of words beside meaning, if there are vectors and the best candidate holds all words of the
/// question; less as it holds fewer.
const WORDS_WEIGHT: f64 = 0.6;

/// Weight of meaning beside words.
const MEANING_WEIGHT: f64 = 1.0 - WORDS_WEIGHT;

/// Minimum part of meaning in the score for which the response names it as a reason: two thirds of
/// its weight.
pub const VECTOR_REASON_MIN: f64 = MEANING_WEIGHT * 2.0 / 3.0;

/// Weight of mentioned entities that the question names.
const ENTITY_WEIGHT: f64 = 0.1;

/// Weight of an author whom the question names, and of the first person in both texts.
const AUTHOR_WEIGHT: f64 = 0.4;

/// Weight of a time that the question asks for or names.
const TIME_WEIGHT: f64 = 0.2;

/// Factor in the score of a memory that repeats a better hit.
const REPEAT_FACTOR: f64 = 0.5;

/// Statistics of the searched memories for BM25.
#[derive(Debug, Clone, PartialEq)]
pub struct CorpusStatistics {
    /// Count of memories.
    pub memories: f64,
    /// Mean of their lengths.
    pub length: f64,
}

/// Returns the weighted count of words in head and body of a memory.
#[must_use]
pub fn weight(head: u32, body: u32) -> f64 {
    HEAD_WEIGHT * f64::from(head) + f64::from(body)
}

impl CorpusStatistics {
    /// Returns the rarity of a word that is in `having` memories: BM25's inverse document frequency, in
    /// Lucene's form, which is never negative.
    #[must_use]
    pub fn rarity(&self, having: f64) -> f64 {
        (1.0 + (self.memories - having + 0.5).max(0.5) / (having + 0.5)).ln()
    }

    /// Returns the strength of a word in a memory of a length: BM25 without rarity.
    #[must_use]
    pub fn strength(&self, occurrences: f64, length: f64) -> f64 {
        saturation(occurrences, length / self.length.max(1.0))
    }

    /// Returns the strength of a word in a turn of a conversation: as in a memory, but for short
    /// lengths.
    #[must_use]
    pub fn strength_of_turn(&self, occurrences: f64, length: f64) -> f64 {
        let floor = |length: f64| length.max(SHORT_TURN_WORDS_MAX);
        saturation(occurrences, floor(length) / floor(self.length))
    }

    /// Returns the strength of a word in a memory with its neighbours, with occurrences and lengths
    /// weighted by [`NEIGHBOUR_WEIGHTS`].
    #[must_use]
    pub fn strength_around(&self, occurrences: f64, length: f64) -> f64 {
        let usual = self.length * (1.0 + 2.0 * NEIGHBOUR_WEIGHTS.iter().sum::<f64>());
        saturation(
            occurrences,
            length.max(SHORT_CONTEXT_WORDS_MAX) / usual.max(SHORT_CONTEXT_WORDS_MAX),
        )
    }

    /// Returns the strength of a word in the question that was asked just before, of any length.
    #[must_use]
    pub fn strength_asked(occurrences: f64) -> f64 {
        saturation(occurrences, 1.0)
    }

    /// Returns the strength of a word in a session; `mean` is the mean length of the sessions that
    /// match.
    #[must_use]
    pub fn strength_of_session(occurrences: f64, length: f64, mean: f64) -> f64 {
        saturation(occurrences, session_length(length) / mean.max(1.0))
    }
}

/// Returns the length of a session for scoring.
#[must_use]
pub fn session_length(length: f64) -> f64 {
    length.max(SHORT_CONTEXT_WORDS_MAX)
}

fn saturation(occurrences: f64, relative: f64) -> f64 {
    let norm = BM25_K1 * (1.0 - BM25_B + BM25_B * relative);
    occurrences * (BM25_K1 + 1.0) / (occurrences + norm)
}

/// What stands around a turn of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TalkFeatures {
    /// BM25 of its words together with its neighbours'.
    pub around: f64,
    /// BM25 of the words of its session; 0 in a stream of several conversations.
    pub session: f64,
    /// BM25 of the words of a short question that somebody else asked just before.
    pub asked: f64,
}

/// The features of a candidate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankFeatures {
    /// BM25 of its own words.
    pub own: f64,
    /// What stands around it, if it is a turn of a conversation; a note explains itself.
    pub talk: Option<TalkFeatures>,
    /// The length in words.
    pub length: f64,
    /// The nearness of its vector; `None` without a vector.
    pub nearness: Option<f64>,
    /// The share of the entities in the question that the memory mentions, 0 to 1.
    pub entity: f64,
    /// Whether the question names its author.
    pub named: bool,
    /// The count of first-person words in the memory, if the question has one.
    pub speaks: f64,
    /// The closeness to a time that the question names, 0 to 1; or 1 for a memory that contains a
    /// time, if the question asks for one.
    pub time: f64,
    /// The importance.
    pub importance: Importance,
    /// Whole days since the memory became valid: a score does not change from minute to minute.
    pub age_days: f64,
}

/// The parts of a score: (words + context + vector + entity) × author × time × standing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreParts {
    /// Match of the memory's own words, as a share of the best candidate's.
    pub words: f64,
    /// Match of the words of its neighbours in the session and of the whole session.
    pub context: f64,
    /// Nearness of its meaning.
    pub vector: f64,
    /// Mentions of entities that the question names.
    #[serde(default)]
    pub entity: f64,
    /// Factor, at least 1, for an author whom the question names.
    pub author: f64,
    /// Factor, at least 1, for a time that the question names or asks for.
    pub time: f64,
    /// Factor around 1 for importance and freshness.
    pub standing: f64,
}

impl ScoreParts {
    /// Returns the score.
    #[must_use]
    pub fn score(&self) -> f64 {
        let sum = self.words + self.context + self.vector + self.entity;
        sum * self.author * self.time * self.standing
    }
}

/// The range of nearness over the searched memories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearnessRange {
    /// Nearness of the farthest memory.
    pub lowest: f64,
    /// Nearness of the nearest memory.
    pub highest: f64,
    /// The mean.
    pub mean: f64,
    /// The share of the searched memories that have a vector, 0 to 1.
    pub share: f64,
}

/// The best match of words among the candidates.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BestWords {
    /// Its [`RankFeatures::words`].
    pub words: f64,
    /// The rarity of the words that it or its neighbours hold, as a share of the question's, 0 to 1.
    pub coverage: f64,
}

impl RankFeatures {
    /// Returns the match of all words: the memory's own, and its context.
    #[must_use]
    pub fn words(&self) -> f64 {
        self.own + self.context()
    }

    fn context(&self) -> f64 {
        let talk = self.talk.unwrap_or_default();
        self.surroundings() + SESSION_WEIGHT * talk.session + ASKED_WEIGHT * talk.asked
    }

    /// The match of its words together with its neighbours'.
    fn surroundings(&self) -> f64 {
        let around = self.talk.map_or(0.0, |talk| talk.around);
        around * (CONTEXT_WORDS_MAX / self.length.max(1.0)).min(1.0)
    }

    /// Returns the parts of the score. `range` is that of nearness; without a range, words alone
    /// count. A memory that has no vector yet is as near as its words match.
    #[must_use]
    pub fn parts(
        &self,
        statistics: &CorpusStatistics,
        best: BestWords,
        range: Option<NearnessRange>,
    ) -> ScoreParts {
        let per_word = if best.words > 0.0 { best.words.recip() } else { 0.0 };
        let (by_words, vector) = match range {
            None => (1.0, 0.0),
            Some(NearnessRange { lowest, highest, .. }) => {
                let spread = highest - lowest;
                let scaled = |near: f64| if spread > 0.0 { (near - lowest) / spread } else { 0.0 };
                let near = self.nearness.map_or_else(|| per_word * self.words(), scaled);
                (WORDS_WEIGHT * best.coverage, MEANING_WEIGHT * near)
            }
        };
        let share = by_words * per_word;
        let speaks = statistics.strength(self.speaks, self.length) / (BM25_K1 + 1.0);
        // Who talks says "I" of what answers; a note that says so is not more about its author.
        let named = if self.named { 1.0 } else { self.talk.map_or(0.0, |_| speaks) };
        ScoreParts {
            words: share * self.own,
            context: share * self.context(),
            vector,
            entity: ENTITY_WEIGHT * self.entity,
            author: 1.0 + AUTHOR_WEIGHT * named,
            time: 1.0 + TIME_WEIGHT * self.time,
            standing: prior_factor(self.importance, self.age_days),
        }
    }
}

/// Returns the factor of importance and freshness.
///
/// The factor is mild on purpose: a critical memory of today scores at most a quarter above an old
/// ordinary one with the same match, and never above one with a clearly better match.
fn prior_factor(importance: Importance, age_days: f64) -> f64 {
    let weight = match importance {
        Importance::Low => 0.95,
        Importance::Normal => 1.0,
        Importance::High => 1.05,
        Importance::Critical => 1.1,
    };
    // The bonus halves every 30 days.
    let freshness = (-age_days.max(0.0) * std::f64::consts::LN_2 / 30.0).exp();
    weight * (1.0 + 0.1 * freshness)
}

/// Lowers the scores of hits that repeat a better one; `same(better, hit)` compares two hits. The
/// list is best first, before and after.
pub fn lower_repeats<T>(list: &mut [(f64, T)], same: impl Fn(&T, &T) -> bool) {
    let repeated: Vec<bool> = (0..list.len())
        .map(|index| list[..index].iter().any(|(_, better)| same(better, &list[index].1)))
        .collect();
    for ((score, _), repeated) in list.iter_mut().zip(repeated) {
        if repeated {
            *score *= REPEAT_FACTOR;
        }
    }
    list.sort_by(|a, b| b.0.total_cmp(&a.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics() -> CorpusStatistics {
        CorpusStatistics { memories: 100.0, length: 40.0 }
    }

    const BEST: BestWords = BestWords { words: 10.0, coverage: 1.0 };

    fn words(own: f64) -> RankFeatures {
        RankFeatures { own, length: 40.0, age_days: 365.0, ..RankFeatures::default() }
    }

    fn score(features: &RankFeatures, range: Option<NearnessRange>) -> f64 {
        features.parts(&statistics(), BEST, range).score()
    }

    #[test]
    fn importance_and_freshness_raise_a_score_mildly() {
        let plain = prior_factor(Importance::Normal, 365.0);
        assert!(prior_factor(Importance::High, 365.0) > plain);
        assert!(prior_factor(Importance::Normal, 0.0) > plain);
        assert!(prior_factor(Importance::Low, 365.0) < plain);
        assert!(prior_factor(Importance::Critical, 0.0) < plain * 1.25);
        assert!(prior_factor(Importance::Normal, -5.0).is_finite());
    }

    #[test]
    fn rare_words_count_more_and_a_word_in_all_memories_counts_a_little() {
        let statistics = statistics();
        assert!(statistics.rarity(1.0) > statistics.rarity(50.0));
        assert!(statistics.rarity(100.0) > 0.0);
    }

    #[test]
    fn a_word_in_a_longer_memory_counts_less() {
        let statistics = statistics();
        assert!(statistics.strength(1.0, 5.0) > statistics.strength(1.0, 99.0));
    }

    #[test]
    fn length_does_not_count_among_short_turns() {
        let statistics = statistics();
        let strength = |length| statistics.strength_of_turn(1.0, length);
        assert_eq!(strength(5.0), strength(99.0));
        assert!(strength(99.0) > strength(400.0));
    }

    #[test]
    fn what_stands_around_counts_for_short_turns_and_not_for_notes() {
        let talk = Some(TalkFeatures { around: 5.0, session: 2.0, asked: 1.0 });
        let turn = |length| RankFeatures { talk, length, ..RankFeatures::default() }.words();
        assert_eq!(turn(10.0), turn(60.0));
        assert!(turn(60.0) > turn(200.0));
        assert_eq!(RankFeatures { talk: None, length: 10.0, ..words(3.0) }.words(), 3.0);
    }

    #[test]
    fn meaning_decides_where_no_candidate_holds_the_words() {
        let range = Some(NearnessRange { lowest: 0.0, highest: 1.0, mean: 0.4, share: 1.0 });
        let near = RankFeatures { nearness: Some(0.9), ..words(2.0) };
        let worded = RankFeatures { nearness: Some(0.3), ..words(10.0) };
        let score = |features: &RankFeatures, coverage| {
            features.parts(&statistics(), BestWords { coverage, ..BEST }, range).score()
        };
        assert!(score(&near, 1.0) < score(&worded, 1.0));
        assert!(score(&near, 0.3) > score(&worded, 0.3));
    }

    #[test]
    fn author_and_time_raise_a_score() {
        let plain = score(&words(5.0), None);
        assert!(score(&RankFeatures { named: true, ..words(5.0) }, None) > plain);
        assert!(score(&RankFeatures { speaks: 2.0, ..words(5.0) }, None) == plain);
        let turn = RankFeatures { talk: Some(TalkFeatures::default()), ..words(5.0) };
        assert!(score(&RankFeatures { speaks: 2.0, ..turn }, None) > plain);
        assert!(score(&RankFeatures { time: 1.0, ..words(5.0) }, None) > plain);
    }

    #[test]
    fn a_memory_without_a_vector_is_as_near_as_its_words_match() {
        let range = Some(NearnessRange { lowest: 0.0, highest: 1.0, mean: 0.4, share: 0.5 });
        let near = |nearness| score(&RankFeatures { nearness, ..words(5.0) }, range);
        assert!(near(Some(0.9)) > near(None) && near(None) > near(Some(0.1)));
    }

    #[test]
    fn a_repetition_of_a_better_hit_moves_down() {
        let mut list = vec![(1.0, "a"), (0.9, "a"), (0.6, "b"), (0.4, "c")];
        lower_repeats(&mut list, |a, b| a == b);
        assert_eq!(list.iter().map(|(_, text)| *text).collect::<String>(), "abac");
    }
}
