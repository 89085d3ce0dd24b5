//! The sessions of the memories that are looked at closely: who stands in them, and what their words tell.

use rustc_hash::FxHashMap;

use super::slate::ScratchGuard;
use crate::index::facts::{MemoryCatalog, MemoryNumber};
use crate::index::visible::VisibilityFilter;

/// What the words of sessions tell.
pub(super) struct SessionScores<'s> {
    places: ScratchGuard<'s, u32>,
    told: Vec<f64>,
}

impl<'s> SessionScores<'s> {
    /// What each session tells, at the place that it has, plus one.
    pub(super) fn of(places: ScratchGuard<'s, u32>, told: Vec<f64>) -> Self {
        Self { places, told }
    }

    pub(super) fn score(&self, session: u32) -> f64 {
        (self.places.get(session) as usize).checked_sub(1).map_or(0.0, |place| self.told[place])
    }
}

/// The memories of sessions that a caller sees, each session looked up once.
#[derive(Default)]
pub(super) struct VisibleStrands(FxHashMap<u32, Vec<u32>>);

impl VisibleStrands {
    /// Those of the session of a memory.
    pub(super) fn strands_around(
        &mut self,
        number: MemoryNumber,
        catalog: &MemoryCatalog,
        admission: &VisibilityFilter<'_>,
    ) -> &[u32] {
        let session = catalog.brief[number as usize].session;
        if session == 0 {
            return &[];
        }
        let strands = self.0.entry(session);
        strands.or_insert_with(|| catalog.strands(session, admission.workspace_audiences(number)))
    }

    /// Those of a session that was looked up.
    pub(super) fn strands_of(&self, session: u32) -> &[u32] {
        self.0.get(&session).map_or(&[], Vec::as_slice)
    }
}
