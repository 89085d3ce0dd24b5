//! The parts of a search: the states of the indexes that it reads together, and what it may see of each.
//!
//! A node has an index for each workspace, and a caller reads its own workspace and `global`. A search
//! reads them as if they were one: weights, scores and order depend on the memories alone, not on which
//! index holds them. The index of a home is the only part of its searches.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;

use super::budget::SearchMeter;
use super::state::IndexState;
use super::surroundings::Surroundings;
use super::vectors::TextVectors;
use crate::base::error::Result;
use crate::index::facts::{MemoryCatalog, MemoryClass, MemoryFacts, MemoryNumber};
use crate::index::visible::{PhraseFilter, VisibilityFilter};
use crate::index::words::AudienceScope;
use crate::model::access::Sight;
use crate::model::search::rank::CorpusStatistics;
use crate::model::search::{IndexQuery, MemoryRef};

/// One state, with the memories of it that exist for a search.
pub(super) struct SearchPart<'s> {
    pub(super) state: &'s IndexState,
    pub(super) visible: VisibilityFilter<'s>,
    pub(super) scope: AudienceScope,
    /// What stands around the memory that the question names.
    pub(super) around: Option<Surroundings>,
}

/// A memory of one of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PartMemory {
    /// The index of its part.
    pub(super) part: usize,
    /// Its number in the catalog of that part.
    pub(super) number: MemoryNumber,
}

/// The parts of a search.
pub(super) struct SearchParts<'s>(Vec<SearchPart<'s>>);

impl<'s> SearchParts<'s> {
    /// These states, as a question in this sight sees them.
    pub(super) fn of(
        states: &[&'s IndexState],
        sight: &'s Sight,
        question: &'s IndexQuery,
        meter: &SearchMeter<'_>,
    ) -> Result<Self> {
        let parts = states.iter().map(|state| SearchPart::of(state, sight, question, meter));
        parts.collect::<Result<_>>().map(Self)
    }

    /// The parts, in order.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, SearchPart<'s>> {
        self.0.iter()
    }

    /// A part.
    pub(super) fn part(&self, part: usize) -> &SearchPart<'s> {
        &self.0[part]
    }

    /// The catalog of a part.
    pub(super) fn catalog(&self, part: usize) -> &'s MemoryCatalog {
        &self.0[part].state.catalog
    }

    /// The class of a memory.
    pub(super) fn class(&self, memory: PartMemory) -> &'s MemoryClass {
        self.catalog(memory.part).class(memory.number)
    }

    /// The facts of a memory.
    pub(super) fn facts(&self, memory: PartMemory) -> MemoryFacts {
        self.catalog(memory.part).facts(memory.number)
    }

    /// The vectors of a memory, if it has any.
    pub(super) fn vectors(&self, memory: PartMemory) -> Option<TextVectors<'s>> {
        let state = self.0[memory.part].state;
        let rows = state.catalog.vector_refs.of(memory.number)?;
        Some(TextVectors { index: state.vectors.as_ref()?, rows })
    }

    /// Compares two memories by the start of their validity, then by id, which grows with time.
    pub(super) fn compare_times(&self, a: PartMemory, b: PartMemory) -> Ordering {
        if a.part == b.part {
            return self.catalog(a.part).compare_times(a.number, b.number);
        }
        let from = |memory: PartMemory| self.catalog(memory.part).hot[memory.number as usize].from;
        from(a).cmp(&from(b)).then_with(|| self.facts(a).id.cmp(&self.facts(b).id))
    }

    /// The number and the mean lengths of all admitted memories.
    pub(super) fn statistics(&self) -> CorpusStatistics {
        let mut sums = self.0.first().map(|part| part.visible.sums).unwrap_or_default();
        self.0.iter().skip(1).for_each(|part| sums.add(&part.visible.sums));
        let mean = |sum: f64| sum / sums.memories.max(1) as f64;
        CorpusStatistics { memories: sums.memories as f64, length: mean(sums.words) }
    }
}

impl<'s> SearchPart<'s> {
    fn of(
        state: &'s IndexState,
        sight: &'s Sight,
        question: &'s IndexQuery,
        meter: &SearchMeter<'_>,
    ) -> Result<Self> {
        let visible =
            VisibilityFilter::of(&state.catalog, &state.scratch.classes, sight, &question.within);
        let scope = state.generation.as_ref();
        let scope = scope.map(|generation| generation.scope(&state.catalog, &visible.audiences));
        let around = question.within.near.as_ref();
        let around = around.map(|near| Surroundings::of(state, sight, near, meter)).transpose()?;
        let mut part = Self { state, visible, scope: scope.unwrap_or_default(), around };
        let fits = part.phrase_filter(question, meter)?;
        part.visible = part.visible.with_phrase_filter(fits);
        Ok(part)
    }

    /// The memories that contain every phrase of the question and nothing that it excludes, mention
    /// the entity that it requires, stand around the memory that it names, and were not given before.
    /// Returns `None` if it has no such condition.
    fn phrase_filter(
        &self,
        question: &IndexQuery,
        meter: &SearchMeter<'_>,
    ) -> Result<Option<PhraseFilter>> {
        let (mentioning, given) = (question.within.mentioning.as_ref(), &question.within.given);
        if question.phrases.is_empty()
            && question.excluded.is_empty()
            && mentioning.is_none()
            && given.is_empty()
            && self.around.is_none()
        {
            return Ok(None);
        }
        let mut fits = PhraseFilter::default();
        let number =
            |(workspace, id): &MemoryRef| self.state.catalog.number(workspace.as_str(), *id);
        if let Some(mentioning) = mentioning {
            fits.restrict(mentioning.iter().filter_map(number).collect());
        }
        if let Some(around) = &self.around {
            fits.restrict(around.memories().collect());
        }
        fits.exclude(given.iter().filter_map(number).collect());
        for phrase in &question.phrases {
            fits.restrict(self.phrase_memories(phrase, meter)?);
        }
        for phrase in &question.excluded {
            fits.exclude(self.phrase_memories(phrase, meter)?);
        }
        Ok(Some(fits))
    }

    /// The memories of the caller's audiences that contain a phrase.
    fn phrase_memories(
        &self,
        phrase: &[String],
        meter: &SearchMeter<'_>,
    ) -> Result<FxHashSet<MemoryNumber>> {
        let mut having = FxHashSet::default();
        if let Some(generation) = &self.state.generation {
            generation.phrase_documents(&self.scope, phrase, meter, |number| {
                if !self.state.catalog.hot[number as usize].in_delta {
                    having.insert(number);
                }
            })?;
        }
        for (number, delta) in self.state.delta.of_audiences(&self.visible.audiences) {
            meter.postings(1)?;
            if delta.has_phrase(phrase) {
                having.insert(number);
            }
        }
        Ok(having)
    }
}
