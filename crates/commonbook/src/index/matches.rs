//! Which memories have words of a question, and what their own words tell.

use std::cmp::Ordering;

use super::budget::SearchMeter;
use super::slate::ScratchGuard;
use super::state::IndexState;
use crate::base::error::Result;
use crate::index::facts::{MemoryCatalog, MemoryNumber};
use crate::index::visible::VisibilityFilter;
use crate::index::words::AudienceScope;
use crate::model::search::rank::{self, CorpusStatistics};

/// A memory that has a term.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermPosting {
    pub(super) number: MemoryNumber,
    /// How often, weighted by where.
    pub(super) count: f32,
    /// The number of its session. Looking it up once more for every one of these would take as long
    /// as finding them.
    pub(super) session: u32,
}

/// Memories that have words of the question: for each word how often it stands in which, and all
/// of them with what their own words tell.
pub(super) struct WordMatches<'s> {
    /// For each term, the memories that have it.
    pub(super) lists: Vec<Vec<TermPosting>>,
    /// How much each term tells.
    pub(super) rarities: Vec<f64>,
    /// BM25 of the words of each memory; 0 where it has none of them.
    scores: ScratchGuard<'s, f32>,
}

impl WordMatches<'_> {
    /// Every memory that has any of the words, once.
    pub(super) fn all(&self) -> &[MemoryNumber] {
        self.scores.marked()
    }

    /// BM25 of a memory's own words, 0 when it has none of the question's.
    pub(super) fn own_score(&self, number: MemoryNumber) -> f32 {
        self.scores.get(number)
    }

    /// The best by their own words; of equals the newer first, in every process alike.
    pub(super) fn best(&self, most: usize, catalog: &MemoryCatalog) -> Vec<MemoryNumber> {
        let mut best: Vec<RankKey> = Vec::with_capacity(2 * most);
        let mut least = f32::NEG_INFINITY;
        for number in self.all() {
            let score = self.own_score(*number);
            if score < least {
                continue;
            }
            best.push(RankKey {
                score,
                from: catalog.brief[*number as usize].from,
                number: *number,
            });
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

/// What the best are chosen by.
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
    /// Every admitted memory that has any of the terms, with BM25 of its own words.
    pub(super) fn matches<'s>(
        &'s self,
        admission: &VisibilityFilter<'_>,
        scope: &AudienceScope,
        terms: &[String],
        statistics: &CorpusStatistics,
        meter: &SearchMeter<'_>,
    ) -> Result<WordMatches<'s>> {
        let scores = self.slates.scores.take(self.catalog.len());
        let mut matches = WordMatches { lists: Vec::new(), rarities: Vec::new(), scores };
        for term in terms {
            let list = self.term_postings(admission, scope, term, meter)?;
            let rarity = statistics.rarity(list.len() as f64);
            for TermPosting { number, count, .. } in list.iter().copied() {
                let length = f64::from(self.catalog.brief[number as usize].length);
                let strength = rarity * statistics.strength(f64::from(count), length);
                matches.scores.change(number, |score| *score += strength as f32);
            }
            matches.lists.push(list);
            matches.rarities.push(rarity);
        }
        Ok(matches)
    }

    /// Every admitted memory that has a term.
    fn term_postings(
        &self,
        admission: &VisibilityFilter<'_>,
        scope: &AudienceScope,
        term: &str,
        meter: &SearchMeter<'_>,
    ) -> Result<Vec<TermPosting>> {
        let mut list = Vec::new();
        if let Some(generation) = &self.generation {
            generation.word_postings(scope, term, meter, |number, head, body| {
                let brief = &self.catalog.brief[number as usize];
                if !brief.in_tail && admission.admits(number) {
                    let count = rank::weight(head, body) as f32;
                    list.push(TermPosting { number, count, session: brief.session });
                }
            })?;
        }
        for (number, tail) in self.tail.of_audiences(&admission.audiences) {
            if !admission.admits(number) {
                continue;
            }
            let count = tail.occurrences(term) as f32;
            meter.postings(1)?;
            if count > 0.0 {
                let session = self.catalog.brief[number as usize].session;
                list.push(TermPosting { number, count, session });
            }
        }
        Ok(list)
    }
}
