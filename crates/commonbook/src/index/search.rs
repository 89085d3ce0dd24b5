//! Search: combines word matches and nearest vectors, and ranks them.

use super::budget::SearchMeter;
use super::embedder::QuestionEmbedding;
use super::matches::{best_matches, word_matches};
use super::parts::{PartMemory, SearchParts};
use super::state::IndexState;
use crate::base::error::Result;
use crate::index::rerank::{QueryFeatures, RerankCandidates, ScoreExplanation, ScoredMemory};
use crate::model::access::Sight;
use crate::model::search::{IndexHit, IndexQuery, IndexResponse, MatchReason, ScoreParts};
use commonbook_text::terms;

/// Candidates to be reranked by their words; those with the nearest vectors come beside them. Twice as
/// many found no more (`docs/decisions/0009-ranking.md`).
const WORDED_MEMORIES_MAX: usize = 200;

/// Minimum nearness of a memory without a word of the question: above that of unrelated texts.
const NEARNESS_MIN: f32 = 0.15;

/// Hits without a score of their own, in their order.
struct HitGroup<'m> {
    memories: Vec<PartMemory>,
    matched: &'m [MatchReason],
    relevance: f64,
}

/// Minimum share of the searched memories with a vector below which the answer says so.
const EMBEDDED_SHARE_MIN: f64 = 0.9;

/// The memories that answer a question in these states together, best first.
pub(super) fn search_states(
    states: &[&IndexState],
    sight: &Sight,
    question: &IndexQuery,
    embedding: Option<&QuestionEmbedding>,
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
    let scan = embedding.map(|embedding| parts.scan(embedding, meter)).transpose()?.flatten();
    meter.check()?;
    let query = QueryFeatures::of(question, &parts);
    let has_words = |memory: PartMemory| matches[memory.part].own_score(memory.number) > 0.0;
    let near = scan.as_ref().map_or(&[][..], |scan| scan.nearest.as_slice());
    let near = near.iter().filter(|(memory, near)| *near >= NEARNESS_MIN || has_words(*memory));
    let deep = best_matches(&parts, &matches, question.most.max(WORDED_MEMORIES_MAX));
    let closely = deep.iter().take(WORDED_MEMORIES_MAX).copied();
    let about = query.mentioning_memories().filter(|memory| parts.admits(*memory));
    let near = near.map(|(memory, _)| *memory);
    let first: Vec<PartMemory> = closely.chain(near).chain(about).collect();
    let candidates = RerankCandidates::of(&parts, &matches, &weights, &first, meter)?;
    let ranked = candidates.rank(&query, &statistics, scan.as_ref(), question.most, meter)?;
    let more = candidates.wordless_count();
    let total = matches.iter().map(|matches| matches.all().len() as u64).sum::<u64>() + more;
    let rest = deep.into_iter().filter(|memory| !candidates.contains(*memory)).collect();
    let rest = HitGroup { memories: rest, matched: &[MatchReason::Words], relevance: 0.0 };
    let model = embedding.filter(|_| scan.is_some()).map(|embedding| embedding.model.clone());
    let share = scan.map_or(1.0, |scan| scan.range.share);
    let notice = (share < EMBEDDED_SHARE_MIN).then(|| {
        let percent = (100.0 * share).floor();
        format!("only {percent} % of the memories are embedded yet; meaning counts as much less")
    });
    let memories = statistics.memories as u64;
    let found = parts.build_result(ranked, rest, total, question.most);
    Ok(IndexResponse { model, notice, memories, ..found })
}

impl SearchParts<'_> {
    /// Whether a memory is admitted.
    fn admits(&self, memory: PartMemory) -> bool {
        self.part(memory.part).visible.admits(memory.number)
    }

    /// Every admitted memory, for a question that has only filters: the newest first, or those nearest
    /// to the memory that it names.
    fn newest(&self, most: usize) -> IndexResponse {
        let admitted = self.iter().enumerate().flat_map(|(part, own)| {
            let numbers = own.visible.admitted().into_iter();
            numbers.map(move |number| PartMemory { part, number })
        });
        let mut all: Vec<PartMemory> = admitted.collect();
        let total = all.len() as u64;
        let distance = |memory: &PartMemory| {
            self.part(memory.part).around.as_ref().map(|around| around.distance(memory.number))
        };
        let order = |a: &PartMemory, b: &PartMemory| {
            distance(a).cmp(&distance(b)).then_with(|| self.compare_times(*b, *a))
        };
        if all.len() > most {
            all.select_nth_unstable_by(most, order);
            all.truncate(most);
        }
        all.sort_unstable_by(order);
        let all = HitGroup { memories: all, matched: &[], relevance: 1.0 };
        IndexResponse { memories: total, ..self.build_result(Vec::new(), all, total, most) }
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
        IndexResponse { ranked: ranked.collect(), total, ..IndexResponse::default() }
    }
}
