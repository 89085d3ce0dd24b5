//! Looking into the index: which words stand where, which vectors are near, and what the ranking
//! makes of both.

use super::Index;
use super::admission::Admission;
use super::candidates::{Asked, Candidates, Judged, Scored};
use super::catalog::Number;
use super::damage::guarded;
use super::state::State;
use super::vectors::{self, Look};
use crate::access::Sight;
use crate::embedding::Quantised;
use crate::error::Result;
use crate::search::rank::Statistics;
use crate::search::{Found, Match, Parts, Question, Ranked};
use crate::store::Store;
use crate::words;

/// Memories with the best words, and with the nearest vectors, that are looked at closely: twice as
/// many found no more (`docs/decisions/0009-ranking.md`).
const CLOSELY: (usize, usize) = (200, 100);

/// How near a memory must be that has no word of the question: beyond what unrelated texts are.
const NEAR: f32 = 0.15;

impl Index {
    /// The memories in sight that answer a question, best first, as of the end of the journals.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn search(&self, store: &dyn Store, sight: &Sight, question: &Question) -> Result<Found> {
        let (vector, notice) = self.vector_of(question);
        let look = |state: &State| guarded(|| state.look(sight, question, vector.as_ref()));
        let state = self.current(store)?;
        let found = match look(&state) {
            Ok(found) => found,
            Err(error) => {
                drop(state);
                // The files are damaged: the journal is not.
                self.discard(Some(&error));
                look(&*self.current(store)?)?
            }
        };
        Ok(Found { notice, ..found })
    }

    /// Does this, and meanwhile opens what is written where that was not done yet: a process that
    /// starts has other things to read before it searches.
    pub fn opening_beside<T>(&self, act: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            if !self.read().opened {
                scope.spawn(|| self.open());
            }
            act()
        })
    }
}

impl State {
    /// The memories that answer a question, as of this state.
    fn look(
        &self,
        sight: &Sight,
        question: &Question,
        vector: Option<&Quantised>,
    ) -> Result<Found> {
        let admission = Admission::of(&self.catalog, sight, &question.within);
        let fits = self.fits(question)?;
        let admission = admission.fitting(fits);
        let terms = words::query_terms(&question.text);
        if terms.is_empty() {
            let everything = question.text.is_empty();
            let newest = || self.newest(&admission, question.most);
            return Ok(if everything { newest() } else { Found::default() });
        }
        let sums = admission.sums;
        let mean = |sum: f64| sum / sums.memories.max(1) as f64;
        let statistics = Statistics {
            memories: sums.memories as f64,
            length: mean(sums.long),
            plain_length: mean(sums.plain),
        };
        let matches = self.matches(&admission, &terms, &statistics)?;
        let scan = match (vector, &self.vectors) {
            (Some(vector), Some(vectors)) => {
                let admitted = |numbers| admission.admitted(numbers);
                let look = Look { vectors, catalog: &self.catalog, admitted, question: vector };
                let scan = vectors::scan(&look, CLOSELY.1);
                (scan.count > 0).then_some((scan, vector))
            }
            _ => None,
        };
        let asked = Asked::of(question, &self.catalog);
        let near = scan.as_ref().map_or(&[][..], |(scan, _)| scan.nearest.as_slice());
        let has_words = |number: Number| matches.own(number) > 0.0;
        let near = near.iter().filter(|(number, near)| *near >= NEAR || has_words(*number));
        let deep = matches.best(question.most.max(CLOSELY.0), &self.catalog);
        let closely = deep.iter().take(CLOSELY.0).copied();
        let about = asked.mentioning().filter(|number| admission.admits(*number));
        let near = near.map(|(number, _)| *number);
        let first: Vec<Number> = closely.chain(near).chain(about).collect();
        let candidates = Candidates::of(self, &admission, &matches, &first);
        let ranked = candidates.ranked(&asked, &statistics, scan.as_ref());
        let more = candidates.beyond();
        let total = matches.all.len() as u64 + more;
        let rest = deep.into_iter().filter(|number| !candidates.has(*number)).collect();
        Ok(self.found(ranked, (rest, &[Match::Words]), (total, question.most)))
    }

    /// Whether each memory has every phrase of the question and nothing that it excludes, and mentions
    /// the entity that it asks for; nothing when it has no such.
    fn fits(&self, question: &Question) -> Result<Option<Vec<bool>>> {
        let mentioning = question.within.mentioning.as_ref();
        if question.phrases.is_empty() && question.excluded.is_empty() && mentioning.is_none() {
            return Ok(None);
        }
        let mut fits = vec![mentioning.is_none(); self.catalog.len()];
        for (workspace, id) in mentioning.into_iter().flatten() {
            if let Some(number) = self.catalog.number(workspace.as_str(), *id) {
                fits[number as usize] = true;
            }
        }
        let wanted = question.phrases.iter().map(|phrase| (phrase, true));
        for (phrase, wanted) in wanted.chain(question.excluded.iter().map(|it| (it, false))) {
            let mut has = vec![false; fits.len()];
            if let Some(generation) = &self.generation {
                generation.having_phrase(phrase, |number| {
                    has[number as usize] = !self.catalog.brief[number as usize].in_tail;
                })?;
            }
            for (number, tail) in &self.tail {
                has[*number as usize] = tail.has_phrase(phrase);
            }
            fits.iter_mut().zip(has).for_each(|(fits, has)| *fits &= has == wanted);
        }
        Ok(Some(fits))
    }

    /// Every admitted memory, the newest first: for a question that has filters alone.
    fn newest(&self, admission: &Admission<'_>, most: usize) -> Found {
        let all = 0..Number::try_from(self.catalog.len()).unwrap_or(Number::MAX);
        let mut all = admission.admitted(all);
        let total = all.len() as u64;
        let newer = |a: &Number, b: &Number| self.catalog.in_time(*b, *a);
        if all.len() > most {
            all.select_nth_unstable_by(most, newer);
            all.truncate(most);
        }
        all.sort_unstable_by(newer);
        self.found(Vec::new(), (all, &[]), (total, most))
    }

    fn found(
        &self,
        ranked: Vec<Scored>,
        (rest, why): (Vec<Number>, &[Match]),
        (total, most): (u64, usize),
    ) -> Found {
        let least = ranked.last().map_or(1.0, |(score, _)| *score);
        let parts = Parts { author: 1.0, time: 1.0, standing: 1.0, ..Parts::default() };
        // What was not looked at closely keeps the order of its words, below what was.
        let below = rest.into_iter().enumerate().map(|(place, number)| {
            let judged = Judged { number, parts, matched: why.to_vec() };
            (least / (2.0 + place as f64), judged)
        });
        let all = ranked.into_iter().chain(below).take(most);
        let ranked = all.map(|(score, judged)| {
            let workspace = self.catalog.class(judged.number).reach.workspace.clone();
            let id = self.catalog.facts(judged.number).id;
            let (parts, matched) = (judged.parts, judged.matched);
            Ranked { workspace, id, score, matched, parts }
        });
        Found { ranked: ranked.collect(), total, notice: None }
    }
}
