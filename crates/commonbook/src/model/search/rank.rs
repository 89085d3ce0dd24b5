//! Ranking: how well a memory answers a question, as a pure function of what is known of both.
//!
//! The score is a weighted sum of how its words match (its own, those around it in the session,
//! those of the whole session) and how near its vector is, each brought to 0..1 over the
//! candidates; raised for whoever the question names and for the time it names or asks for; and
//! raised a little for what matters more and is fresh. Then what repeats a better hit steps back,
//! and what updates an older hit steps before it. Constants are the same for every collection;
//! where they come from stands in `docs/decisions/0009-ranking.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::memory::Importance;

/// How much a second and a third occurrence of a word count for less (BM25's k1).
const BM25_K1: f64 = 1.2;

/// How much longer texts are held against them (BM25's b).
const BM25_B: f64 = 0.75;

/// How much more a word counts in title, topics and summary than in the text.
const HEAD_WEIGHT: f64 = 2.0;

/// Words up to which no memory is held to be long: a short turn of talk is not more to the point
/// than one of ninety words.
const SHORT_WORDS_MAX: f64 = 100.0;

/// The same for what surrounds a memory, and for whole sessions.
const SHORT_CONTEXT_WORDS_MAX: f64 = 300.0;

/// How much of a neighbour's words counts, by its distance in the session.
pub const NEIGHBOUR_WEIGHTS: [f64; 2] = [1.0, 0.5];

/// Words up to which a memory needs its surroundings in full; a longer one explains itself.
const CONTEXT_WORDS_MAX: f64 = 60.0;

/// How much the words of the whole session count.
const SESSION_WEIGHT: f64 = 0.3;

/// How much nearness counts beside words, where there are vectors.
const VECTOR_WEIGHT: f64 = 0.4;

/// From which part of the score on nearness is told as a reason: two thirds of what it can give.
pub const VECTOR_REASON_MIN: f64 = VECTOR_WEIGHT * 2.0 / 3.0;

/// How much it counts, beside words and nearness, that it mentions what the question names.
const ENTITY_WEIGHT: f64 = 0.1;

/// How much it counts that the question names the author, or asks in the first person for what is
/// said in it.
const AUTHOR_WEIGHT: f64 = 0.4;

/// How much it counts that the question asks for a time, or names one.
const TIME_WEIGHT: f64 = 0.2;

/// What is left of the score of a memory that repeats a better hit.
const REPEAT_FACTOR: f64 = 0.5;

/// What BM25 asks of the memories that a question may be answered by.
#[derive(Debug, Clone, PartialEq)]
pub struct CorpusStatistics {
    /// How many memories there are.
    pub memories: f64,
    /// Mean of their lengths, each as [`scoring_length`] has it.
    pub length: f64,
    /// Mean of their lengths as they are.
    pub plain_length: f64,
}

/// Words of a memory, those of its head counting for more.
#[must_use]
pub fn weight(head: u32, body: u32) -> f64 {
    HEAD_WEIGHT * f64::from(head) + f64::from(body)
}

/// The length that a memory is measured by.
#[must_use]
pub fn scoring_length(length: f64) -> f64 {
    length.max(SHORT_WORDS_MAX)
}

impl CorpusStatistics {
    /// How much a word tells that stands in so many of the memories: BM25's inverse document
    /// frequency, which is never negative (Lucene's form).
    #[must_use]
    pub fn rarity(&self, having: f64) -> f64 {
        (1.0 + (self.memories - having + 0.5).max(0.5) / (having + 0.5)).ln()
    }

    /// How strongly a memory of this length is about a word, BM25 without rarity.
    #[must_use]
    pub fn strength(&self, occurrences: f64, length: f64) -> f64 {
        saturation(occurrences, scoring_length(length) / self.length.max(1.0))
    }

    /// The same of a memory together with its neighbours: their occurrences and lengths as
    /// [`NEIGHBOUR_WEIGHTS`] weighs them.
    #[must_use]
    pub fn strength_around(&self, occurrences: f64, length: f64) -> f64 {
        let usual = self.plain_length * (1.0 + 2.0 * NEIGHBOUR_WEIGHTS.iter().sum::<f64>());
        saturation(
            occurrences,
            length.max(SHORT_CONTEXT_WORDS_MAX) / usual.max(SHORT_CONTEXT_WORDS_MAX),
        )
    }

    /// The same of a whole session, where the sessions that match have this mean length.
    #[must_use]
    pub fn strength_of_session(occurrences: f64, length: f64, mean: f64) -> f64 {
        saturation(occurrences, session_length(length) / mean.max(1.0))
    }
}

/// The length that a session is measured by.
#[must_use]
pub fn session_length(length: f64) -> f64 {
    length.max(SHORT_CONTEXT_WORDS_MAX)
}

fn saturation(occurrences: f64, relative: f64) -> f64 {
    let norm = BM25_K1 * (1.0 - BM25_B + BM25_B * relative);
    occurrences * (BM25_K1 + 1.0) / (occurrences + norm)
}

/// What is known of a candidate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankFeatures {
    /// BM25 of its own words.
    pub own: f64,
    /// BM25 of its words together with its neighbours'.
    pub around: f64,
    /// BM25 of the words of its session.
    pub session: f64,
    /// How long it is, in words.
    pub length: f64,
    /// How near its vector is; none when it has no vector.
    pub nearness: Option<f64>,
    /// How many of the entities that the question names it mentions, 0 to 1.
    pub entity: f64,
    /// Whether the question names its author.
    pub named: bool,
    /// How often it speaks in the first person, when the question does.
    pub speaks: f64,
    /// How close it is to a time that the question names, 0 to 1; or whether it tells a time, when
    /// the question asks for one.
    pub time: f64,
    /// How much it matters.
    pub importance: Importance,
    /// How many whole days ago it began to hold: a score does not move from minute to minute.
    pub age_days: f64,
}

/// What a score is made of. Words, context, vector and entity add up, and the factors raise their sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreParts {
    /// How well its own words match, of all that words can give.
    pub words: f64,
    /// How well the words around it match: its neighbours in the session, and the whole session.
    pub context: f64,
    /// How near its meaning is.
    pub vector: f64,
    /// What mentioning an entity that the question names adds.
    #[serde(default)]
    pub entity: f64,
    /// What naming its author adds, as a factor from 1 on.
    pub author: f64,
    /// What the time that the question names or asks for adds, as a factor from 1 on.
    pub time: f64,
    /// What its importance and freshness make of it, as a factor around 1.
    pub standing: f64,
}

impl ScoreParts {
    /// The score that the parts make.
    #[must_use]
    pub fn score(&self) -> f64 {
        (self.words + self.context + self.vector + self.entity)
            * self.author
            * self.time
            * self.standing
    }
}

/// The range of nearness over everything that a question may be answered by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearnessRange {
    /// That of the farthest memory.
    pub lowest: f64,
    /// That of the nearest.
    pub highest: f64,
    /// The mean: what is taken for a memory that has no vector yet.
    pub mean: f64,
}

impl RankFeatures {
    /// All that words tell: of its own, around it as far as it is short, of its session.
    #[must_use]
    pub fn words(&self) -> f64 {
        self.own + self.context()
    }

    fn context(&self) -> f64 {
        self.around * (CONTEXT_WORDS_MAX / self.length.max(1.0)).min(1.0)
            + SESSION_WEIGHT * self.session
    }

    /// What the score is made of, where the best candidate's words tell `most`, and nearness lies
    /// in `range`; without a range words tell all.
    #[must_use]
    pub fn parts(
        &self,
        statistics: &CorpusStatistics,
        most: f64,
        range: Option<NearnessRange>,
    ) -> ScoreParts {
        let (by_vector, nearness) = match range {
            None => (0.0, 0.0),
            Some(NearnessRange { lowest, highest, mean }) => {
                let nearness = self.nearness.unwrap_or(mean);
                let spread = highest - lowest;
                (VECTOR_WEIGHT, if spread > 0.0 { (nearness - lowest) / spread } else { 0.0 })
            }
        };
        let share = if most > 0.0 { (1.0 - by_vector) / most } else { 0.0 };
        let speaks =
            saturation(self.speaks, scoring_length(self.length) / statistics.length.max(1.0));
        let speaks = speaks / (BM25_K1 + 1.0);
        let named = if self.named { 1.0 } else { speaks };
        ScoreParts {
            words: share * self.own,
            context: share * self.context(),
            vector: by_vector * nearness,
            entity: ENTITY_WEIGHT * self.entity,
            author: 1.0 + AUTHOR_WEIGHT * named,
            time: 1.0 + TIME_WEIGHT * self.time,
            standing: prior_factor(self.importance, self.age_days),
        }
    }
}

/// What importance and freshness make of a score.
///
/// The factors are mild on purpose: a critical memory of today stands at most a quarter above an
/// old ordinary one that matches as well, and never above one that matches clearly better.
fn prior_factor(importance: Importance, age_days: f64) -> f64 {
    let weight = match importance {
        Importance::Low => 0.95,
        Importance::Normal => 1.0,
        Importance::High => 1.05,
        Importance::Critical => 1.1,
    };
    // Half of the bonus is gone after 30 days.
    let freshness = (-age_days.max(0.0) * std::f64::consts::LN_2 / 30.0).exp();
    weight * (1.0 + 0.1 * freshness)
}

/// Lowers the scores of what repeats a better one among the first: `same` tells it of two places,
/// the first of the better one. The list is best first, and is so again.
pub fn lower_repeats<T>(list: &mut [(f64, T)], same: impl Fn(&T, &T) -> bool) {
    let repeated: Vec<bool> = (0..list.len())
        .map(|place| list[..place].iter().any(|(_, better)| same(better, &list[place].1)))
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
        CorpusStatistics { memories: 100.0, length: 120.0, plain_length: 40.0 }
    }

    fn words(own: f64) -> RankFeatures {
        RankFeatures { own, length: 40.0, age_days: 365.0, ..RankFeatures::default() }
    }

    fn score(features: &RankFeatures, range: Option<NearnessRange>) -> f64 {
        features.parts(&statistics(), 10.0, range).score()
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
    fn rare_words_tell_more_and_a_word_that_all_have_tells_a_little() {
        let statistics = statistics();
        assert!(statistics.rarity(1.0) > statistics.rarity(50.0));
        assert!(statistics.rarity(100.0) > 0.0);
    }

    #[test]
    fn no_memory_is_long_below_a_hundred_words() {
        let statistics = statistics();
        assert_eq!(statistics.strength(1.0, 5.0), statistics.strength(1.0, 99.0));
        assert!(statistics.strength(1.0, 99.0) > statistics.strength(1.0, 400.0));
    }

    #[test]
    fn short_memories_are_read_with_what_is_around_them() {
        let around =
            |length| RankFeatures { around: 5.0, length, ..RankFeatures::default() }.words();
        assert_eq!(around(10.0), around(60.0));
        assert!(around(60.0) > around(200.0));
    }

    #[test]
    fn who_and_when_raise_what_they_fit() {
        let plain = score(&words(5.0), None);
        assert!(score(&RankFeatures { named: true, ..words(5.0) }, None) > plain);
        assert!(score(&RankFeatures { speaks: 2.0, ..words(5.0) }, None) > plain);
        assert!(score(&RankFeatures { time: 1.0, ..words(5.0) }, None) > plain);
    }

    #[test]
    fn a_memory_without_a_vector_is_neither_near_nor_far() {
        let range = Some(NearnessRange { lowest: 0.0, highest: 1.0, mean: 0.4 });
        let near = |nearness| score(&RankFeatures { nearness, ..words(5.0) }, range);
        assert!(near(Some(0.9)) > near(None) && near(None) > near(Some(0.1)));
    }

    #[test]
    fn what_repeats_a_better_hit_steps_back() {
        let mut list = vec![(1.0, "a"), (0.9, "a"), (0.6, "b"), (0.4, "c")];
        lower_repeats(&mut list, |a, b| a == b);
        assert_eq!(list.iter().map(|(_, text)| *text).collect::<String>(), "abac");
    }
}
