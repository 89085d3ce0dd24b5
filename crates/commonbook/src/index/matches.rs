//! Word matches: the memories that contain words of a question, with their scores.

use std::cmp::Ordering;

use super::budget::SearchMeter;
use super::scratch::ScratchGuard;
use super::state::IndexState;
use crate::base::error::Result;
use crate::index::facts::{MemoryCatalog, MemoryNumber};
use crate::index::visible::VisibilityFilter;
use crate::index::words::AudienceScope;
use crate::model::search::rank::{self, CorpusStatistics};

/// A memory that contains a term.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermPosting {
    pub(super) number: MemoryNumber,
    /// Weighted number of occurrences.
    pub(super) count: f32,
    /// The number of its session, stored here because a lookup per posting would take as long as
    /// the search.
    pub(super) session: u32,
}

/// The memories that contain words of the question: per word with its occurrences, and all with
/// their scores.
pub(super) struct WordMatches<'s> {
    /// The memories of each term.
    pub(super) lists: Vec<Vec<TermPosting>>,
    /// The weight of each term.
    pub(super) rarities: Vec<f64>,
    /// The BM25 score of each memory; 0 without any term.
    scores: ScratchGuard<'s, f32>,
}

impl WordMatches<'_> {
    /// Every memory with any term, once.
    pub(super) fn all(&self) -> &[MemoryNumber] {
        self.scores.marked()
    }

    /// The BM25 score of a memory; 0 without any term.
    pub(super) fn own_score(&self, number: MemoryNumber) -> f32 {
        self.scores.get(number)
    }

    /// The memories with the best scores; among equal ones the newer first, the same in every
    /// process.
    pub(super) fn best(&self, most: usize, catalog: &MemoryCatalog) -> Vec<MemoryNumber> {
        let mut best: Vec<RankKey> = Vec::with_capacity(2 * most);
        let mut least = f32::NEG_INFINITY;
        for number in self.all() {
            let score = self.own_score(*number);
            if score < least {
                continue;
            }
            best.push(RankKey { score, from: catalog.hot[*number as usize].from, number: *number });
            if best.len() == 2 * most {
                best.select_nth_unstable_by(most - 1, |a, b| a.compare(b, catalog));
                best.truncate(most);
                least = best[most - 1].score;
            }
        }
        best.sort_unstable_by(|a, b| a.compare(b, catalog));
        best.truncate(most);
        best.into_iter().map(|best| best.number).collect()
    }
}

/// The sort key of the best.
struct RankKey {
    score: f32,
    from: i64,
    number: MemoryNumber,
}

impl RankKey {
    fn compare(&self, other: &Self, catalog: &MemoryCatalog) -> Ordering {
        let id = |best: &Self| catalog.facts(best.number).id;
        (other.score.total_cmp(&self.score))
            .then_with(|| other.from.cmp(&self.from))
            .then_with(|| id(other).cmp(&id(self)))
    }
}

impl IndexState {
    /// Every admitted memory with any of the terms, with its BM25 score.
    pub(super) fn matches<'s>(
        &'s self,
        visible: &VisibilityFilter<'_>,
        scope: &AudienceScope,
        terms: &[String],
        statistics: &CorpusStatistics,
        meter: &SearchMeter<'_>,
    ) -> Result<WordMatches<'s>> {
        let scores = self.scratch.scores.take(self.catalog.len());
        let mut matches = WordMatches { lists: Vec::new(), rarities: Vec::new(), scores };
        for term in terms {
            let list = self.term_postings(visible, scope, term, meter)?;
            let rarity = statistics.rarity(list.len() as f64);
            for TermPosting { number, count, .. } in list.iter().copied() {
                let length = f64::from(self.catalog.hot[number as usize].length);
                let strength = rarity * statistics.strength(f64::from(count), length);
                matches.scores.change(number, |score| *score += strength as f32);
            }
            matches.lists.push(list);
            matches.rarities.push(rarity);
        }
        Ok(matches)
    }

    /// Every admitted memory that contains a term.
    fn term_postings(
        &self,
        visible: &VisibilityFilter<'_>,
        scope: &AudienceScope,
        term: &str,
        meter: &SearchMeter<'_>,
    ) -> Result<Vec<TermPosting>> {
        let mut list = Vec::new();
        if let Some(generation) = &self.generation {
            generation.word_postings(scope, term, meter, |number, head, body| {
                let hot = &self.catalog.hot[number as usize];
                if !hot.in_delta && visible.admits(number) {
                    let count = rank::weight(head, body) as f32;
                    list.push(TermPosting { number, count, session: hot.session });
                }
            })?;
        }
        for (number, delta) in self.delta.of_audiences(&visible.audiences) {
            if !visible.admits(number) {
                continue;
            }
            let count = delta.occurrences(term) as f32;
            meter.postings(1)?;
            if count > 0.0 {
                let session = self.catalog.hot[number as usize].session;
                list.push(TermPosting { number, count, session });
            }
        }
        Ok(list)
    }
}
