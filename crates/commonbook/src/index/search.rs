//! Search: combines word matches and nearest vectors, and ranks them.

use rustc_hash::FxHashSet;

use super::Index;
use super::budget::{SearchBudget, SearchMeter, SearchWork};
use super::damage::catch_damage;
use super::state::IndexState;
use super::vectors::{self, VectorScan};
use crate::base::error::Result;
use crate::index::facts::MemoryNumber;
use crate::index::rerank::{QueryFeatures, RerankCandidates, ScoreExplanation, ScoredMemory};
use crate::index::visible::{PhraseFilter, VisibilityFilter};
use crate::index::words::AudienceScope;
use crate::model::access::Sight;
use crate::model::search::rank::CorpusStatistics;
use crate::model::search::{
    IndexHit, IndexQuery, IndexResponse, MatchReason, MemoryRef, ScoreParts,
};
use crate::store::Store;
use commonbook_embed::QuantisedVector;
use commonbook_text::terms;

/// Candidates to be reranked: those with the best words, and those with the nearest vectors. Twice
/// as many found no more (`docs/decisions/0009-ranking.md`).
const RERANK_MEMORIES_MAX: (usize, usize) = (200, 100);

/// Minimum nearness of a memory without a word of the question: above that of unrelated texts.
const NEARNESS_MIN: f32 = 0.15;

impl Index {
    /// The visible memories that answer a question, best first, as of the journals' end, without a
    /// budget.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn search(
        &self,
        store: &dyn Store,
        sight: &Sight,
        question: &IndexQuery,
    ) -> Result<IndexResponse> {
        self.search_within_budget(store, sight, question, &SearchBudget::default())
            .map(|(found, _)| found)
    }

    /// Searches within a budget, and returns the work done. The time starts when the index has
    /// reached the journals' end: catching up with other writers is not part of the search.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read, the budget is exceeded, or the caller has gone
    /// away.
    pub fn search_within_budget(
        &self,
        store: &dyn Store,
        sight: &Sight,
        question: &IndexQuery,
        budget: &SearchBudget,
    ) -> Result<(IndexResponse, SearchWork)> {
        let (vector, notice) = self.vector_of(question);
        let state = self.current_state(store)?;
        let meter = SearchMeter::start(budget);
        let look = |state: &IndexState, meter: &SearchMeter<'_>| {
            catch_damage(|| state.search_state(sight, question, vector.as_ref(), meter))
        };
        let (found, work) = match look(&state, &meter) {
            Ok(found) => (found, meter.work()),
            Err(error) if meter.is_stopped() => return Err(error),
            Err(error) => {
                drop(state);
                // The files are damaged; the journal is not.
                self.discard(Some(&error));
                let state = self.current_state(store)?;
                let meter = SearchMeter::start(budget);
                (look(&state, &meter)?, meter.work())
            }
        };
        Ok((IndexResponse { notice, ..found }, work))
    }

    /// Runs `act` while another thread opens the index, if it is not open yet: a process that
    /// starts has other things to read before it searches.
    pub fn open_during<T>(&self, act: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            if !self.read().opened {
                scope.spawn(|| self.open());
            }
            act()
        })
    }
}

/// Hits without a score of their own, in their order.
struct HitGroup<'m> {
    numbers: Vec<MemoryNumber>,
    matched: &'m [MatchReason],
    relevance: f64,
}

impl IndexState {
    /// The memories that answer a question, in this state.
    fn search_state(
        &self,
        sight: &Sight,
        question: &IndexQuery,
        vector: Option<&QuantisedVector>,
        meter: &SearchMeter<'_>,
    ) -> Result<IndexResponse> {
        meter.check()?;
        let visible =
            VisibilityFilter::of(&self.catalog, &self.scratch.classes, sight, &question.within);
        let scope = self.generation.as_ref();
        let scope = scope.map(|generation| generation.scope(&self.catalog, &visible.audiences));
        let scope = scope.unwrap_or_default();
        let fits = self.phrase_filter(question, &visible, &scope, meter)?;
        let visible = visible.with_phrase_filter(fits);
        let terms = terms::query_terms(&question.text);
        if terms.is_empty() {
            let everything = question.text.is_empty();
            let newest = || self.newest(&visible, question.most);
            return Ok(if everything { newest() } else { IndexResponse::default() });
        }
        let sums = visible.sums;
        let mean = |sum: f64| sum / sums.memories.max(1) as f64;
        let statistics = CorpusStatistics {
            memories: sums.memories as f64,
            length: mean(sums.long),
            plain_length: mean(sums.plain),
        };
        let matches = self.matches(&visible, &scope, &terms, &statistics, meter)?;
        meter.check()?;
        let scan = match (vector, &self.vectors) {
            (Some(vector), Some(vectors)) => {
                let admitted = visible.admitted();
                let request = VectorScan {
                    vectors,
                    catalog: &self.catalog,
                    admitted: &admitted,
                    question: vector,
                };
                let scan = vectors::scan(&request, RERANK_MEMORIES_MAX.1);
                meter.vectors(scan.compared)?;
                (scan.count > 0).then_some((scan, vector))
            }
            _ => None,
        };
        meter.check()?;
        let query = QueryFeatures::of(question, &self.catalog);
        let near = scan.as_ref().map_or(&[][..], |(scan, _)| scan.nearest.as_slice());
        let has_words = |number: MemoryNumber| matches.own_score(number) > 0.0;
        let near = near.iter().filter(|(number, near)| *near >= NEARNESS_MIN || has_words(*number));
        let deep = matches.best(question.most.max(RERANK_MEMORIES_MAX.0), &self.catalog);
        let closely = deep.iter().take(RERANK_MEMORIES_MAX.0).copied();
        let about = query.mentioning_memories().filter(|number| visible.admits(*number));
        let near = near.map(|(number, _)| *number);
        let first: Vec<MemoryNumber> = closely.chain(near).chain(about).collect();
        let candidates = RerankCandidates::of(self, &visible, &matches, &first, meter)?;
        let ranked = candidates.rank(&query, &statistics, scan.as_ref(), question.most, meter)?;
        let more = candidates.wordless_count();
        let total = matches.all().len() as u64 + more;
        let rest = deep.into_iter().filter(|number| !candidates.contains(*number)).collect();
        let rest = HitGroup { numbers: rest, matched: &[MatchReason::Words], relevance: 0.0 };
        Ok(self.build_result(ranked, rest, total, question.most))
    }

    /// The memories that contain every phrase of the question and nothing that it excludes, and
    /// mention the entity that it requires. Returns `None` if it has no such condition.
    fn phrase_filter(
        &self,
        question: &IndexQuery,
        visible: &VisibilityFilter<'_>,
        scope: &AudienceScope,
        meter: &SearchMeter<'_>,
    ) -> Result<Option<PhraseFilter>> {
        let mentioning = question.within.mentioning.as_ref();
        if question.phrases.is_empty() && question.excluded.is_empty() && mentioning.is_none() {
            return Ok(None);
        }
        let mut fits = PhraseFilter::default();
        if let Some(mentioning) = mentioning {
            let number = |(workspace, id): &MemoryRef| self.catalog.number(workspace.as_str(), *id);
            fits.restrict(mentioning.iter().filter_map(number).collect());
        }
        for phrase in &question.phrases {
            fits.restrict(self.phrase_memories(phrase, visible, scope, meter)?);
        }
        for phrase in &question.excluded {
            fits.exclude(self.phrase_memories(phrase, visible, scope, meter)?);
        }
        Ok(Some(fits))
    }

    /// The memories of the caller's audiences that contain a phrase.
    fn phrase_memories(
        &self,
        phrase: &[String],
        visible: &VisibilityFilter<'_>,
        scope: &AudienceScope,
        meter: &SearchMeter<'_>,
    ) -> Result<FxHashSet<MemoryNumber>> {
        let mut having = FxHashSet::default();
        if let Some(generation) = &self.generation {
            generation.phrase_documents(scope, phrase, meter, |number| {
                if !self.catalog.hot[number as usize].in_delta {
                    having.insert(number);
                }
            })?;
        }
        for (number, delta) in self.delta.of_audiences(&visible.audiences) {
            meter.postings(1)?;
            if delta.has_phrase(phrase) {
                having.insert(number);
            }
        }
        Ok(having)
    }

    /// Every admitted memory, newest first: for a question that has only filters.
    fn newest(&self, visible: &VisibilityFilter<'_>, most: usize) -> IndexResponse {
        let mut all = visible.admitted();
        let total = all.len() as u64;
        let newer = |a: &MemoryNumber, b: &MemoryNumber| self.catalog.compare_times(*b, *a);
        if all.len() > most {
            all.select_nth_unstable_by(most, newer);
            all.truncate(most);
        }
        all.sort_unstable_by(newer);
        let all = HitGroup { numbers: all, matched: &[], relevance: 1.0 };
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
        let HitGroup { numbers, matched, relevance } = rest;
        // Candidates that were not reranked follow in the order of their word scores.
        let below = numbers.into_iter().enumerate().map(|(place, number)| {
            let explanation =
                ScoreExplanation { number, parts, matched: matched.to_vec(), relevance };
            (least / (2.0 + place as f64), explanation)
        });
        let all = ranked.into_iter().chain(below).take(most);
        let ranked = all.map(|(score, explanation)| {
            let workspace = self.catalog.class(explanation.number).visibility.workspace.clone();
            let id = self.catalog.facts(explanation.number).id;
            let ScoreExplanation { parts, matched, relevance, .. } = explanation;
            IndexHit { workspace, id, score, relevance, matched, parts }
        });
        IndexResponse { ranked: ranked.collect(), total, notice: None }
    }
}
