//! The sessions of the rerank candidates: their visible memories and their scores.

use rustc_hash::FxHashMap;

use super::budget::SearchMeter;
use super::scratch::ScratchGuard;
use crate::base::error::Result;
use crate::index::facts::{MemoryCatalog, MemoryNumber, SessionNeighbour};
use crate::index::visible::VisibilityFilter;
use crate::model::search::talk;

/// The lengths of the sessions of candidates.
pub(super) struct SessionLengths<'s> {
    /// The index of each session in `lengths`, plus one.
    pub(super) indexes: ScratchGuard<'s, u32>,
    pub(super) lengths: Vec<f64>,
}

impl SessionLengths<'_> {
    /// The mean length of all sessions.
    pub(super) fn mean(parts: &[Self]) -> f64 {
        let all = || parts.iter().flat_map(|part| &part.lengths);
        all().sum::<f64>() / (all().count().max(1) as f64)
    }
}

/// The scores of sessions.
pub(super) struct SessionScores<'s> {
    indexes: ScratchGuard<'s, u32>,
    scores: Vec<f64>,
}

impl<'s> SessionScores<'s> {
    /// The score of each session, at its index plus one.
    pub(super) fn of(indexes: ScratchGuard<'s, u32>, scores: Vec<f64>) -> Self {
        Self { indexes, scores }
    }

    pub(super) fn score(&self, session: u32) -> f64 {
        (self.indexes.get(session) as usize).checked_sub(1).map_or(0.0, |place| self.scores[place])
    }
}

/// The visible strands of sessions, each session looked up once.
#[derive(Default)]
pub(super) struct VisibleStrands(FxHashMap<u32, Vec<u32>>);

impl VisibleStrands {
    /// The strands of a memory's session.
    pub(super) fn strands_around(
        &mut self,
        number: MemoryNumber,
        catalog: &MemoryCatalog,
        visible: &VisibilityFilter<'_>,
    ) -> &[u32] {
        let session = catalog.hot[number as usize].session;
        if session == 0 {
            return &[];
        }
        let strands = self.0.entry(session);
        strands.or_insert_with(|| catalog.strands(session, visible.workspace_audiences(number)))
    }

    /// The admitted memories around one that is a turn of a conversation; `None` for a note.
    pub(super) fn turns_around(
        &mut self,
        number: MemoryNumber,
        catalog: &MemoryCatalog,
        visible: &VisibilityFilter<'_>,
        meter: &SearchMeter<'_>,
    ) -> Result<Option<Vec<SessionNeighbour>>> {
        let strands = self.strands_around(number, catalog, visible);
        let admits = |neighbour| visible.admits(neighbour);
        let near = catalog.neighbours(number, strands, talk::TALK_REACH, admits);
        meter.neighbours(near.looked_at)?;
        let addresses = |number: MemoryNumber| catalog.hot[number as usize].addresses;
        let own = usize::from(addresses(number));
        let others = near.memories.iter().filter(|other| addresses(other.number)).count();
        let is_turn = talk::is_talk(own + others, 1 + near.memories.len());
        Ok(is_turn.then_some(near.memories))
    }

    /// The strands of a session that was looked up.
    pub(super) fn strands_of(&self, session: u32) -> &[u32] {
        self.0.get(&session).map_or(&[], Vec::as_slice)
    }
}
