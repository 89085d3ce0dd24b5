//! Word matches: the memories that contain words of a question, with their scores.
//!
//! A word weighs the more the fewer memories of all parts contain it, so the parts are read together.

use std::cmp::Ordering;

use super::budget::SearchMeter;
use super::parts::{PartMemory, SearchPart, SearchParts};
use super::scratch::ScratchGuard;
use crate::base::error::Result;
use crate::base::limits;
use crate::index::facts::{MemoryCatalog, MemoryNumber};
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

/// The terms of the question, in the parts together.
#[derive(Debug, Default)]
pub(super) struct TermWeights {
    /// The terms that are looked up, in order.
    pub(super) terms: Vec<String>,
    /// The weight of each term.
    pub(super) rarities: Vec<f64>,
    /// The number of memories that contain each term.
    pub(super) memories: Vec<f64>,
}

/// The memories of one part that contain words of the question: per word with its occurrences, and
/// all with their scores.
pub(super) struct WordMatches<'s> {
    /// The memories of each term.
    pub(super) lists: Vec<Vec<TermPosting>>,
    /// The BM25 score of each memory; 0 without any term.
    scores: ScratchGuard<'s, f32>,
}

impl<'s> WordMatches<'s> {
    /// None yet.
    fn none(part: &SearchPart<'s>) -> Self {
        let scores = part.state.scratch.scores.take(part.state.catalog.len());
        Self { lists: Vec::new(), scores }
    }

    /// Adds the memories of the next term, of this weight.
    fn add(
        &mut self,
        catalog: &MemoryCatalog,
        list: Vec<TermPosting>,
        rarity: f64,
        statistics: &CorpusStatistics,
    ) {
        for TermPosting { number, count, .. } in list.iter().copied() {
            let length = f64::from(catalog.hot[number as usize].length);
            let strength = rarity * statistics.strength(f64::from(count), length);
            self.scores.change(number, |score| *score += strength as f32);
        }
        self.lists.push(list);
    }

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
    fn best(&self, most: usize, catalog: &MemoryCatalog) -> Vec<RankKey> {
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
        best
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

/// Every admitted memory of each part with any of the terms, with its BM25 score, and the weights of
/// the terms.
pub(super) fn word_matches<'s>(
    parts: &SearchParts<'s>,
    terms: &[String],
    statistics: &CorpusStatistics,
    meter: &SearchMeter<'_>,
) -> Result<(Vec<WordMatches<'s>>, TermWeights)> {
    let mut weights = TermWeights::default();
    let mut matches: Vec<WordMatches<'s>> = parts.iter().map(WordMatches::none).collect();
    for term in rarest_terms(parts, terms, meter)? {
        let lists = parts.iter().map(|part| part.term_postings(term, meter));
        let lists: Vec<Vec<TermPosting>> = lists.collect::<Result<_>>()?;
        let memories = lists.iter().map(Vec::len).sum::<usize>() as f64;
        let rarity = statistics.rarity(memories);
        for ((part, matches), list) in parts.iter().zip(&mut matches).zip(lists) {
            matches.add(&part.state.catalog, list, rarity, statistics);
        }
        weights.terms.push(term.clone());
        weights.rarities.push(rarity);
        weights.memories.push(memories);
    }
    Ok((matches, weights))
}

/// The terms that are looked up, in order: all, or of a long question the rarest that a memory
/// in the caller's audiences contains, whatever the filters of the search.
fn rarest_terms<'t>(
    parts: &SearchParts<'_>,
    terms: &'t [String],
    meter: &SearchMeter<'_>,
) -> Result<Vec<&'t String>> {
    if terms.len() <= limits::QUERY_WORDS {
        return Ok(terms.iter().collect());
    }
    let frequency = |term: &str| -> Result<u64> {
        parts.iter().map(|part| part.term_frequency(term, meter)).sum()
    };
    let frequencies = terms.iter().map(|term| frequency(term));
    let mut known: Vec<(usize, u64)> =
        frequencies.collect::<Result<Vec<_>>>()?.into_iter().enumerate().collect();
    known.retain(|(_, frequency)| *frequency > 0);
    known.sort_by_key(|(place, frequency)| (*frequency, *place));
    known.truncate(limits::QUERY_WORDS);
    known.sort_unstable();
    Ok(known.into_iter().map(|(place, _)| &terms[place]).collect())
}

/// The memories of all parts with the best scores; among equal ones the newer first.
pub(super) fn best_matches(
    parts: &SearchParts<'_>,
    matches: &[WordMatches<'_>],
    most: usize,
) -> Vec<PartMemory> {
    let mut best: Vec<(PartMemory, f32)> = Vec::new();
    for (part, matches) in matches.iter().enumerate() {
        let keys = matches.best(most, parts.catalog(part)).into_iter();
        best.extend(keys.map(|key| (PartMemory { part, number: key.number }, key.score)));
    }
    if matches.len() > 1 {
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| parts.compare_times(b.0, a.0)));
        best.truncate(most);
    }
    best.into_iter().map(|(memory, _)| memory).collect()
}

impl SearchPart<'_> {
    /// About how many memories of the caller's audiences contain a term.
    fn term_frequency(&self, term: &str, meter: &SearchMeter<'_>) -> Result<u64> {
        let (state, visible) = (self.state, &self.visible);
        let written = match &state.generation {
            Some(generation) => generation.word_frequency(&self.scope, term, meter)?,
            None => 0,
        };
        let mut recent = 0;
        for (_, delta) in state.delta.of_audiences(&visible.audiences) {
            meter.postings(1)?;
            recent += u64::from(delta.occurrences(term) > 0.0);
        }
        Ok(written + recent)
    }

    /// Every admitted memory that contains a term.
    fn term_postings(&self, term: &str, meter: &SearchMeter<'_>) -> Result<Vec<TermPosting>> {
        let (state, visible) = (self.state, &self.visible);
        let mut list = Vec::new();
        if let Some(generation) = &state.generation {
            generation.word_postings(&self.scope, term, meter, |number, head, body| {
                let hot = &state.catalog.hot[number as usize];
                if !hot.in_delta && visible.admits(number) {
                    let count = rank::weight(head, body) as f32;
                    list.push(TermPosting { number, count, session: hot.session });
                }
            })?;
        }
        for (number, delta) in state.delta.of_audiences(&visible.audiences) {
            if !visible.admits(number) {
                continue;
            }
            let count = delta.occurrences(term) as f32;
            meter.postings(1)?;
            if count > 0.0 {
                let session = state.catalog.hot[number as usize].session;
                list.push(TermPosting { number, count, session });
            }
        }
        Ok(list)
    }
}
