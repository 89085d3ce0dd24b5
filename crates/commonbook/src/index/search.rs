//! Search: combines word matches and nearest vectors, and ranks them.

use super::budget::SearchMeter;
use super::matches::{best_matches, word_matches};
use super::parts::{PartMemory, SearchPart, SearchParts};
use super::state::IndexState;
use super::vectors::{self, ScanResult, VectorScan};
use crate::base::error::Result;
use crate::index::rerank::{QueryFeatures, RerankCandidates, ScoreExplanation, ScoredMemory};
use crate::model::access::Sight;
use crate::model::search::rank::NearnessRange;
use crate::model::search::{IndexHit, IndexQuery, IndexResponse, MatchReason, ScoreParts};
use commonbook_embed::QuantisedVector;
use commonbook_text::terms;

/// Candidates to be reranked: those with the best words, and those with the nearest vectors. Twice
/// as many found no more (`docs/decisions/0009-ranking.md`).
const RERANK_MEMORIES_MAX: (usize, usize) = (200, 100);

/// Minimum nearness of a memory without a word of the question: above that of unrelated texts.
const NEARNESS_MIN: f32 = 0.15;

/// Hits without a score of their own, in their order.
struct HitGroup<'m> {
    memories: Vec<PartMemory>,
    matched: &'m [MatchReason],
    relevance: f64,
}

/// The nearness of the memories of all parts to a question.
pub(super) struct NearnessScan<'q> {
    /// The nearest memories.
    nearest: Vec<(PartMemory, f32)>,
    /// The nearness of all.
    pub(super) range: NearnessRange,
    /// The vector of the question.
    pub(super) question: &'q QuantisedVector,
}

/// The memories that answer a question in these states together, best first.
pub(super) fn search_states(
    states: &[&IndexState],
    sight: &Sight,
    question: &IndexQuery,
    vector: Option<&QuantisedVector>,
    meter: &SearchMeter<'_>,
) -> Result<IndexResponse> {
    meter.check()?;
    let parts = SearchParts::of(states, sight, question, meter)?;
    let terms = terms::query_terms(&question.text);
    if terms.is_empty() {
        let everything = question.text.is_empty();
        let newest = || parts.newest(question.most);
        return Ok(if everything { newest() } else { IndexResponse::default() });
    }
    let statistics = parts.statistics();
    let (matches, weights) = word_matches(&parts, &terms, &statistics, meter)?;
    meter.check()?;
    let scan = vector.map(|vector| parts.scan(vector, meter)).transpose()?.flatten();
    meter.check()?;
    let query = QueryFeatures::of(question, &parts);
    let has_words = |memory: PartMemory| matches[memory.part].own_score(memory.number) > 0.0;
    let near = scan.as_ref().map_or(&[][..], |scan| scan.nearest.as_slice());
    let near = near.iter().filter(|(memory, near)| *near >= NEARNESS_MIN || has_words(*memory));
    let deep = best_matches(&parts, &matches, question.most.max(RERANK_MEMORIES_MAX.0));
    let closely = deep.iter().take(RERANK_MEMORIES_MAX.0).copied();
    let about = query.mentioning_memories().filter(|memory| parts.admits(*memory));
    let near = near.map(|(memory, _)| *memory);
    let first: Vec<PartMemory> = closely.chain(near).chain(about).collect();
    let candidates = RerankCandidates::of(&parts, &matches, &weights, &first, meter)?;
    let ranked = candidates.rank(&query, &statistics, scan.as_ref(), question.most, meter)?;
    let more = candidates.wordless_count();
    let total = matches.iter().map(|matches| matches.all().len() as u64).sum::<u64>() + more;
    let rest = deep.into_iter().filter(|memory| !candidates.contains(*memory)).collect();
    let rest = HitGroup { memories: rest, matched: &[MatchReason::Words], relevance: 0.0 };
    Ok(parts.build_result(ranked, rest, total, question.most))
}

impl SearchParts<'_> {
    /// Whether a memory is admitted.
    fn admits(&self, memory: PartMemory) -> bool {
        self.part(memory.part).visible.admits(memory.number)
    }

    /// Compares the question with the vectors of all parts; `None` if they have none.
    fn scan<'q>(
        &self,
        question: &'q QuantisedVector,
        meter: &SearchMeter<'_>,
    ) -> Result<Option<NearnessScan<'q>>> {
        let (mut all, mut nearest) = (ScanResult::empty(), Vec::new());
        for (part, SearchPart { state, visible, .. }) in self.iter().enumerate() {
            let Some(vectors) = &state.vectors else { continue };
            let admitted = visible.admitted();
            let (catalog, admitted) = (&state.catalog, &*admitted);
            let request = VectorScan { vectors, catalog, admitted, question };
            let mut found = vectors::scan(&request, RERANK_MEMORIES_MAX.1);
            meter.vectors(found.compared)?;
            let near = std::mem::take(&mut found.nearest).into_iter();
            nearest.extend(near.map(|(number, near)| (PartMemory { part, number }, near)));
            all = all.join(found);
        }
        if nearest.len() > RERANK_MEMORIES_MAX.1 {
            nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| self.compare_times(b.0, a.0)));
            nearest.truncate(RERANK_MEMORIES_MAX.1);
        }
        let range = NearnessRange {
            lowest: f64::from(all.lowest),
            highest: f64::from(all.highest),
            mean: all.sum / all.count.max(1) as f64,
        };
        Ok((all.count > 0).then_some(NearnessScan { nearest, range, question }))
    }

    /// Every admitted memory, newest first: for a question that has only filters.
    fn newest(&self, most: usize) -> IndexResponse {
        let admitted = self.iter().enumerate().flat_map(|(part, own)| {
            let numbers = own.visible.admitted().into_iter();
            numbers.map(move |number| PartMemory { part, number })
        });
        let mut all: Vec<PartMemory> = admitted.collect();
        let total = all.len() as u64;
        let newer = |a: &PartMemory, b: &PartMemory| self.compare_times(*b, *a);
        if all.len() > most {
            all.select_nth_unstable_by(most, newer);
            all.truncate(most);
        }
        all.sort_unstable_by(newer);
        let all = HitGroup { memories: all, matched: &[], relevance: 1.0 };
        self.build_result(Vec::new(), all, total, most)
    }

    fn build_result(
        &self,
        ranked: Vec<ScoredMemory>,
        rest: HitGroup<'_>,
        total: u64,
        most: usize,
    ) -> IndexResponse {
        let least = ranked.last().map_or(1.0, |(score, _)| *score);
        let parts = ScoreParts { author: 1.0, time: 1.0, standing: 1.0, ..ScoreParts::default() };
        let HitGroup { memories, matched, relevance } = rest;
        // Candidates that were not reranked follow in the order of their word scores.
        let below = memories.into_iter().enumerate().map(|(place, memory)| {
            let explanation =
                ScoreExplanation { memory, parts, matched: matched.to_vec(), relevance };
            (least / (2.0 + place as f64), explanation)
        });
        let all = ranked.into_iter().chain(below).take(most);
        let ranked = all.map(|(score, explanation)| {
            let ScoreExplanation { memory, parts, matched, relevance } = explanation;
            let workspace = self.class(memory).visibility.workspace.clone();
            IndexHit { workspace, id: self.facts(memory).id, score, relevance, matched, parts }
        });
        IndexResponse { ranked: ranked.collect(), total, notice: None }
    }
}
