//! Looking into the index: which words stand where, which vectors are near, and what the ranking
//! makes of both.

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

/// Memories with the best words, and with the nearest vectors, that are looked at closely: twice as
/// many found no more (`docs/decisions/0009-ranking.md`).
const RERANK_MEMORIES_MAX: (usize, usize) = (200, 100);

/// How near a memory must be that has no word of the question: beyond what unrelated texts are.
const NEARNESS_MIN: f32 = 0.15;

impl Index {
    /// The memories in sight that answer a question, best first, as of the end of the journals;
    /// whatever that costs.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn search(
        &self,
        store: &dyn Store,
        sight: &Sight,
        question: &IndexQuery,
    ) -> Result<IndexResponse> {
        self.search_within_budget(store, sight, question, &SearchBudget::default())
            .map(|(found, _)| found)
    }

    /// The same within a budget, with what was looked at. The time counts from when the index has
    /// come to the end of the journals: what others wrote is nothing that the question asks for.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read, the budget is spent, or nobody waits any more.
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
                // The files are damaged: the journal is not.
                self.discard(Some(&error));
                let state = self.current_state(store)?;
                let meter = SearchMeter::start(budget);
                (look(&state, &meter)?, meter.work())
            }
        };
        Ok((IndexResponse { notice, ..found }, work))
    }

    /// Does this, and meanwhile opens what is written where that was not done yet: a process that
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

impl IndexState {
    /// The memories that answer a question, as of this state.
    fn search_state(
        &self,
        sight: &Sight,
        question: &IndexQuery,
        vector: Option<&QuantisedVector>,
        meter: &SearchMeter<'_>,
    ) -> Result<IndexResponse> {
        meter.check()?;
        let admission =
            VisibilityFilter::of(&self.catalog, &self.slates.classes, sight, &question.within);
        let scope = self.generation.as_ref();
        let scope = scope.map(|it| it.scope(&self.catalog, &admission.audiences));
        let scope = scope.unwrap_or_default();
        let fits = self.phrase_filter(question, &admission, &scope, meter)?;
        let admission = admission.with_phrase_filter(fits);
        let terms = terms::query_terms(&question.text);
        if terms.is_empty() {
            let everything = question.text.is_empty();
            let newest = || self.newest(&admission, question.most);
            return Ok(if everything { newest() } else { IndexResponse::default() });
        }
        let sums = admission.sums;
        let mean = |sum: f64| sum / sums.memories.max(1) as f64;
        let statistics = CorpusStatistics {
            memories: sums.memories as f64,
            length: mean(sums.long),
            plain_length: mean(sums.plain),
        };
        let matches = self.matches(&admission, &scope, &terms, &statistics, meter)?;
        meter.check()?;
        let scan = match (vector, &self.vectors) {
            (Some(vector), Some(vectors)) => {
                let admitted = admission.admitted();
                let look = VectorScan {
                    vectors,
                    catalog: &self.catalog,
                    admitted: &admitted,
                    question: vector,
                };
                let scan = vectors::scan(&look, RERANK_MEMORIES_MAX.1);
                meter.vectors(scan.compared)?;
                (scan.count > 0).then_some((scan, vector))
            }
            _ => None,
        };
        meter.check()?;
        let asked = QueryFeatures::of(question, &self.catalog);
        let near = scan.as_ref().map_or(&[][..], |(scan, _)| scan.nearest.as_slice());
        let has_words = |number: MemoryNumber| matches.own_score(number) > 0.0;
        let near = near.iter().filter(|(number, near)| *near >= NEARNESS_MIN || has_words(*number));
        let deep = matches.best(question.most.max(RERANK_MEMORIES_MAX.0), &self.catalog);
        let closely = deep.iter().take(RERANK_MEMORIES_MAX.0).copied();
        let about = asked.mentioning_memories().filter(|number| admission.admits(*number));
        let near = near.map(|(number, _)| *number);
        let first: Vec<MemoryNumber> = closely.chain(near).chain(about).collect();
        let candidates = RerankCandidates::of(self, &admission, &matches, &first, meter)?;
        let ranked = candidates.rank(&asked, &statistics, scan.as_ref(), meter)?;
        let more = candidates.wordless_count();
        let total = matches.all().len() as u64 + more;
        let rest = deep.into_iter().filter(|number| !candidates.contains(*number)).collect();
        Ok(self.build_result(ranked, rest, &[MatchReason::Words], total, question.most))
    }

    /// Which memories have every phrase of the question and nothing that it excludes, and mention
    /// the entity that it asks for; nothing when it has no such.
    fn phrase_filter(
        &self,
        question: &IndexQuery,
        admission: &VisibilityFilter<'_>,
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
            fits.restrict(self.phrase_memories(phrase, admission, scope, meter)?);
        }
        for phrase in &question.excluded {
            fits.exclude(self.phrase_memories(phrase, admission, scope, meter)?);
        }
        Ok(Some(fits))
    }

    /// The memories of the caller's audiences that have these words one after the other.
    fn phrase_memories(
        &self,
        phrase: &[String],
        admission: &VisibilityFilter<'_>,
        scope: &AudienceScope,
        meter: &SearchMeter<'_>,
    ) -> Result<FxHashSet<MemoryNumber>> {
        let mut having = FxHashSet::default();
        if let Some(generation) = &self.generation {
            generation.phrase_documents(scope, phrase, meter, |number| {
                if !self.catalog.brief[number as usize].in_tail {
                    having.insert(number);
                }
            })?;
        }
        for (number, tail) in self.tail.of_audiences(&admission.audiences) {
            meter.postings(1)?;
            if tail.has_phrase(phrase) {
                having.insert(number);
            }
        }
        Ok(having)
    }

    /// Every admitted memory, the newest first: for a question that has filters alone.
    fn newest(&self, admission: &VisibilityFilter<'_>, most: usize) -> IndexResponse {
        let mut all = admission.admitted();
        let total = all.len() as u64;
        let newer = |a: &MemoryNumber, b: &MemoryNumber| self.catalog.compare_times(*b, *a);
        if all.len() > most {
            all.select_nth_unstable_by(most, newer);
            all.truncate(most);
        }
        all.sort_unstable_by(newer);
        self.build_result(Vec::new(), all, &[], total, most)
    }

    fn build_result(
        &self,
        ranked: Vec<ScoredMemory>,
        rest: Vec<MemoryNumber>,
        why: &[MatchReason],
        total: u64,
        most: usize,
    ) -> IndexResponse {
        let least = ranked.last().map_or(1.0, |(score, _)| *score);
        let parts = ScoreParts { author: 1.0, time: 1.0, standing: 1.0, ..ScoreParts::default() };
        // What was not looked at closely keeps the order of its words, below what was.
        let below = rest.into_iter().enumerate().map(|(place, number)| {
            let judged = ScoreExplanation { number, parts, matched: why.to_vec() };
            (least / (2.0 + place as f64), judged)
        });
        let all = ranked.into_iter().chain(below).take(most);
        let ranked = all.map(|(score, judged)| {
            let workspace = self.catalog.class(judged.number).reach.workspace.clone();
            let id = self.catalog.facts(judged.number).id;
            let (parts, matched) = (judged.parts, judged.matched);
            IndexHit { workspace, id, score, matched, parts }
        });
        IndexResponse { ranked: ranked.collect(), total, notice: None }
    }
}
