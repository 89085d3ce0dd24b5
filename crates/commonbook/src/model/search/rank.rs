//! Ranking: the score of a memory for a question, as a pure function of their features.
//!
//! The score is a weighted sum of the match of words (the memory's own; of a turn of a conversation
//! also those of its neighbours, of its session and of the question just before) and of the nearness
//! of vectors, of the whole text and of single words, each scaled to 0..1 over the candidates. Words weigh less where no
//! candidate holds many of the question's: then meaning decides. Factors raise it for an author and a time that the question
//! names or asks for, and a little for importance and freshness. Then repetitions of a better hit move down, and
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

/// Weights of the parts of a score.
struct PartWeights {
    /// Of words, if the best candidate holds all words of the question; beside meaning, less as it holds fewer.
    words: f64,
    /// Of the nearness of texts.
    nearness: f64,
    /// Of the nearness of single words.
    word_nearness: f64,
}

/// The weights without vectors.
const WORDS_ALONE: PartWeights = PartWeights { words: 1.0, nearness: 0.0, word_nearness: 0.0 };

/// The weights with vectors of texts alone.
const WITH_TEXTS: PartWeights = PartWeights { words: 0.6, nearness: 0.4, word_nearness: 0.0 };

/// The weights with vectors of texts and of their words.
const WITH_WORDS: PartWeights = PartWeights { words: 0.55, nearness: 0.25, word_nearness: 0.2 };

/// Minimum share of the weight of a text's nearness from which on the response names it as a reason.
const NEAR_SHARE_MIN: f64 = 2.0 / 3.0;

/// Weight of the similarity of a word that stands in the turn before or after.
pub const NEIGHBOUR_WORD_WEIGHT: f32 = 0.7;

/// Words up to which the length of a note and of a turn does not count for the nearness of its words.
const NEAR_WORDS_LENGTHS: [f64; 2] = [10.0, 60.0];

/// The power of the length beyond that by which the nearness of words is divided: a long text has a like of any word.
const NEAR_WORDS_POWER: f64 = 0.15;

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
    /// The nearness of its words to those of the question, [`RankFeatures::by_length`]; `None` without vectors of words.
    pub word_nearness: Option<f64>,
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

/// The parts of a score: (words + context + vector + near_words + entity) × author × time × standing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreParts {
    /// Match of the memory's own words, as a share of the best candidate's.
    pub words: f64,
    /// Match of the words of its neighbours in the session and of the whole session.
    pub context: f64,
    /// Nearness of its meaning.
    pub vector: f64,
    /// Nearness of its single words to those of the question; 0 with a model that does not show them.
    #[serde(default)]
    pub near_words: f64,
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
        let sum = self.words + self.context + self.vector + self.near_words + self.entity;
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

/// The range of the nearness of words over the candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordNearnessRange {
    /// The least.
    pub lowest: f64,
    /// The greatest.
    pub highest: f64,
}

impl WordNearnessRange {
    /// Returns the range over these candidates; `None` if none has vectors of words.
    pub fn of<'f>(candidates: impl Iterator<Item = &'f RankFeatures>) -> Option<Self> {
        candidates.filter_map(|features| features.word_nearness).fold(None, |range, near| {
            let Self { lowest, highest } = range.unwrap_or(Self { lowest: near, highest: near });
            Some(Self { lowest: lowest.min(near), highest: highest.max(near) })
        })
    }
}

/// What the features of a candidate are compared with: those of all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RankScale {
    /// The best match of words.
    pub best: BestWords,
    /// The range of nearness; `None` without vectors: then words alone count.
    pub nearness: Option<NearnessRange>,
    /// The range of the nearness of words; `None` without vectors of words.
    pub word_nearness: Option<WordNearnessRange>,
}

impl RankScale {
    fn weights(&self) -> PartWeights {
        match (self.nearness, self.word_nearness) {
            (None, _) => WORDS_ALONE,
            (Some(_), None) => WITH_TEXTS,
            (Some(_), Some(_)) => WITH_WORDS,
        }
    }

    /// Whether a text is so near that the response names this as a reason.
    #[must_use]
    pub fn is_near(&self, parts: &ScoreParts) -> bool {
        self.nearness.is_some() && parts.vector >= NEAR_SHARE_MIN * self.weights().nearness
    }
}

/// Returns a value between two as a share, 0 to 1; 0 if they are equal.
fn share_between(lowest: f64, highest: f64, value: f64) -> f64 {
    let spread = highest - lowest;
    if spread > 0.0 { (value - lowest) / spread } else { 0.0 }
}

impl RankFeatures {
    /// Returns the nearness of its words for a sum of similarities: less for a long memory.
    #[must_use]
    pub fn by_length(&self, similarities: f64) -> f64 {
        let [note, turn] = NEAR_WORDS_LENGTHS;
        let short = if self.talk.is_some() { turn } else { note };
        similarities / (self.length.max(short) / short).powf(NEAR_WORDS_POWER)
    }

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

    /// Returns the parts of the score. A memory that has no vectors yet is as near as its words match.
    #[must_use]
    pub fn parts(&self, statistics: &CorpusStatistics, scale: &RankScale) -> ScoreParts {
        let RankScale { best, nearness, word_nearness } = *scale;
        let weights = scale.weights();
        let per_word = if best.words > 0.0 { best.words.recip() } else { 0.0 };
        let matched = per_word * self.words();
        let near = nearness.map_or(0.0, |NearnessRange { lowest, highest, .. }| {
            self.nearness.map_or(matched, |near| share_between(lowest, highest, near))
        });
        let near_words = word_nearness.map_or(0.0, |WordNearnessRange { lowest, highest }| {
            self.word_nearness.map_or(matched, |near| share_between(lowest, highest, near))
        });
        let held = if nearness.is_some() { best.coverage } else { 1.0 };
        let share = weights.words * held * per_word;
        let speaks = statistics.strength(self.speaks, self.length) / (BM25_K1 + 1.0);
        // Who talks says "I" of what answers; a note that says so is not more about its author.
        let named = if self.named { 1.0 } else { self.talk.map_or(0.0, |_| speaks) };
        ScoreParts {
            words: share * self.own,
            context: share * self.context(),
            vector: weights.nearness * near,
            near_words: weights.word_nearness * near_words,
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

    fn score(features: &RankFeatures, nearness: Option<NearnessRange>) -> f64 {
        let scale = RankScale { best: BEST, nearness, word_nearness: None };
        features.parts(&statistics(), &scale).score()
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
        let nearness = Some(NearnessRange { lowest: 0.0, highest: 1.0, mean: 0.4, share: 1.0 });
        let near = RankFeatures { nearness: Some(0.9), ..words(2.0) };
        let worded = RankFeatures { nearness: Some(0.3), ..words(10.0) };
        let score = |features: &RankFeatures, coverage| {
            let best = BestWords { coverage, ..BEST };
            features
                .parts(&statistics(), &RankScale { best, nearness, word_nearness: None })
                .score()
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
    fn near_words_count_beside_words_and_the_whole_text() {
        let nearness = Some(NearnessRange { lowest: 0.0, highest: 1.0, mean: 0.4, share: 1.0 });
        let word_nearness = Some(WordNearnessRange { lowest: 2.0, highest: 6.0 });
        let scale = RankScale { best: BEST, nearness, word_nearness };
        let parts = |nearness, word_nearness| {
            let near = RankFeatures { nearness, word_nearness, ..words(5.0) };
            near.parts(&statistics(), &scale)
        };
        let by_text = parts(Some(1.0), Some(2.0));
        let by_words = parts(Some(0.0), Some(6.0));
        assert_eq!((by_text.vector, by_text.near_words), (WITH_WORDS.nearness, 0.0));
        assert_eq!((by_words.vector, by_words.near_words), (0.0, WITH_WORDS.word_nearness));
        assert_eq!(by_text.words, WITH_WORDS.words / 2.0);
        assert!(by_words.score() > parts(Some(0.0), Some(4.0)).score());
        assert!(scale.is_near(&by_text) && !scale.is_near(&by_words));
        let bare = parts(None, None);
        let half = (WITH_WORDS.nearness / 2.0, WITH_WORDS.word_nearness / 2.0);
        assert_eq!((bare.vector, bare.near_words), half, "as its words match");
        let without = RankScale { word_nearness: None, ..scale };
        let features = RankFeatures { nearness: Some(1.0), ..words(5.0) };
        assert_eq!(features.parts(&statistics(), &without).vector, WITH_TEXTS.nearness);
        for weights in [WORDS_ALONE, WITH_TEXTS, WITH_WORDS] {
            let sum = weights.words + weights.nearness + weights.word_nearness;
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }

    #[test]
    fn near_words_of_a_long_memory_count_less() {
        let near = |length, talk| RankFeatures { length, talk, ..words(0.0) }.by_length(1.0);
        let turn = Some(TalkFeatures::default());
        assert_eq!((near(5.0, None), near(60.0, turn)), (1.0, 1.0));
        assert!((near(20.0, None) - 0.5_f64.powf(0.15)).abs() < 1e-9);
        assert!(near(60.0, None) < near(61.0, turn) && near(61.0, turn) < 1.0);
    }

    #[test]
    fn the_range_of_near_words_is_that_of_the_candidates_that_have_them() {
        let near = |word_nearness| RankFeatures { word_nearness, ..words(1.0) };
        let candidates = [near(Some(3.0)), near(None), near(Some(-1.0))];
        let range = WordNearnessRange { lowest: -1.0, highest: 3.0 };
        assert_eq!(WordNearnessRange::of(candidates.iter()), Some(range));
        assert_eq!(WordNearnessRange::of(candidates[1..2].iter()), None);
    }

    #[test]
    fn a_repetition_of_a_better_hit_moves_down() {
        let mut list = vec![(1.0, "a"), (0.9, "a"), (0.6, "b"), (0.4, "c")];
        lower_repeats(&mut list, |a, b| a == b);
        assert_eq!(list.iter().map(|(_, text)| *text).collect::<String>(), "abac");
    }
}
