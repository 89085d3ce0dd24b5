//! Saving one memory, and naming the notes that are nearest to it.

use super::Commonbook;
use super::ops::heirs::show_all;
use crate::base::error::Result;
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::memory::{Memory, NearNote, SaveMemory, SaveResult};
use crate::model::search::{IndexQuery, IndexResponse, MemoryRef, SearchFilter};
use crate::prompt::near::near_notes;

/// Hits among which those are looked for that a save names: the memory itself and turns of
/// conversations are among the first.
const HITS_MAX: usize = 12;

impl Commonbook {
    /// [`Self::save_memory`], and in its answer the notes in the caller's sight that are nearest to what was
    /// saved. They are looked for when the memory is on disk: if that cannot be done now, the answer names none.
    ///
    /// # Errors
    /// As [`Self::save_memory`].
    pub fn save_beside_others(&self, caller: &Caller, request: &SaveMemory) -> Result<SaveResult> {
        let saved = self.save_memory(caller, request)?;
        let near = self.nearest_notes(caller, &saved.memory).unwrap_or_else(|error| {
            tracing::debug!(%error, "the notes nearest to a new memory cannot be searched");
            Vec::new()
        });
        Ok(saved.beside(near, caller.door))
    }

    /// The notes in sight that are nearest to this one. None for a turn of a conversation, a document or a memory
    /// in quarantine, and none if no search slot is free: a save waits for nothing.
    fn nearest_notes(&self, caller: &Caller, saved: &Memory) -> Result<Vec<NearNote>> {
        if saved.is_quarantined() || is_of_talk(saved) || saved.is_document() {
            return Ok(Vec::new());
        }
        let caller = caller.clone().for_user(saved.user_id.as_deref())?;
        let sight = Sight::reading(&caller)?;
        let question = self.nearest_query(saved);
        let Some(found) = self.search_if_free(&caller, &sight, &question)? else {
            return Ok(Vec::new());
        };
        let places = nearest_places(found, saved);
        let mut notes =
            self.store.read(|tx| show_all(tx, &sight, tx.memories_of(&sight, &places)?))?;
        notes.retain(|memory| memory.is_usable() && !is_of_talk(memory) && !memory.is_document());
        Ok(near_notes(saved, &notes))
    }

    /// The query for what is nearest to a memory.
    pub(super) fn nearest_query(&self, memory: &Memory) -> IndexQuery {
        let (text, now) = (memory.full_text(), self.clock.now());
        IndexQuery {
            most: HITS_MAX,
            of_memory: true,
            ..IndexQuery::from_plain_text(text, SearchFilter::default(), now)
        }
    }
}

/// The memories of a search that are near to the one that was its query, nearest first.
pub(super) fn nearest_places(found: IndexResponse, memory: &Memory) -> Vec<MemoryRef> {
    let others = found.ranked.into_iter().filter(|hit| hit.id != memory.id);
    let others: Vec<_> =
        others.filter(|hit| hit.relevance >= limits::NEAR_NEXT_RELEVANCE_MIN).collect();
    if others.iter().all(|hit| hit.relevance < limits::NEAR_RELEVANCE_MIN) {
        return Vec::new();
    }
    others.into_iter().map(|hit| (hit.workspace, hit.id)).collect()
}

/// Whether a memory is a turn of a conversation, which is near to no note.
pub(super) fn is_of_talk(memory: &Memory) -> bool {
    memory.memory_type.as_str() == "conversation"
}
