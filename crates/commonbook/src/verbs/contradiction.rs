//! Listing and reading contradictions.

mod judge;
mod pair;
pub(in crate::verbs) mod reopen;
mod resolve;
pub(super) mod state;

use jiff::Timestamp;

use super::Commonbook;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::ContradictionId;
use crate::base::page::{Page, PageCursor, PageSize};
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::contradiction::{
    Contradiction, ContradictionRecord, ContradictionStatus, DetectContradictions,
    GetContradiction, id_of,
};
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::{Memory, Sharing, distinct_topics};
use crate::store::{ContradictionFilter, Tx};
use crate::verbs::ops::heirs::for_reader;

impl Commonbook {
    /// The contradictions in sight, newest first. Memories up to the end of the journal of the
    /// caller's workspace are compared before, unless the request does not wait for that.
    ///
    /// # Errors
    /// `invalid` and `too_large` if topics, limit or cursor are malformed or out of range;
    /// `not_found` if a memory is out of sight.
    pub fn detect_contradictions(
        &self,
        caller: &Caller,
        request: &DetectContradictions,
    ) -> Result<Page<Contradiction>> {
        let size = PageSize::of(request.limit)?;
        let before = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        let topics = distinct_topics(&request.topics)?;
        let sight = Sight::reading_at_home(caller)?;
        if request.wait.unwrap_or(true) {
            self.follow_contradictions(caller)?;
        }
        let wanted = ContradictionFilter {
            status: Some(request.status.unwrap_or(ContradictionStatus::Open)),
            memory: request.memory,
            topics: topics.iter().map(|topic| topic.to_lowercase()).collect(),
            before,
        };
        self.store.read(|tx| {
            if let Some(id) = request.memory {
                super::memory::live_memory(tx, &sight, id)
                    .map_err(|error| error.with_field("memory"))?;
            }
            let found = tx.contradictions(&sight, &wanted, size.rows())?;
            for_reader(tx, &sight, size.page_by_position(found))
        })
    }

    /// Reads one contradiction, open or resolved.
    ///
    /// # Errors
    /// `not_found` if no such contradiction is in sight.
    pub fn get_contradiction(
        &self,
        caller: &Caller,
        request: &GetContradiction,
    ) -> Result<Contradiction> {
        let sight = Sight::reading_at_home(caller)?;
        let find = |tx: &Tx<'_>| {
            visible_contradiction(tx, &sight, request.contradiction).and_then(
                |(kept, older, newer)| {
                    for_reader(tx, &sight, kept.into_contradiction(&older, &newer))
                },
            )
        };
        // One that is found was compared at the revisions that its memories have now, whatever the
        // follower has still to compare. One that is not found may come with the next comparison.
        match self.store.read(find) {
            Err(error) if error.kind == ErrorKind::NotFound => {
                self.follow_contradictions(caller)?;
                self.store.read(find)
            }
            found => found,
        }
    }
}

/// An event of the contradiction between two memories. A reader must see both memories, then and
/// now: if one was private then, only its owner sees the event.
pub(super) fn contradiction_event(
    kind: EventKind,
    older: &Memory,
    newer: &Memory,
    actor: &Agent,
    now: Timestamp,
) -> NewEvent {
    let private = [older, newer].into_iter().find(|memory| memory.sharing == Sharing::Private);
    let sharing = Sharing::shared_if(private.is_none());
    let id = id_of(older.id, newer.id).to_string();
    NewEvent {
        owner: private.map_or_else(|| actor.clone(), |memory| memory.owner.clone()),
        user_id: older.user_id.clone().or_else(|| newer.user_id.clone()),
        importance: older.importance.max(newer.importance),
        ..NewEvent::for_subject(kind, &older.workspace, id, actor, now, sharing)
    }
}

fn visible_contradiction(
    tx: &Tx<'_>,
    sight: &Sight,
    id: ContradictionId,
) -> Result<(ContradictionRecord, StoredMemory, StoredMemory)> {
    tx.contradiction(sight, id)?.ok_or_else(|| {
        Error::not_found(format!("no contradiction {id} exists")).hint(
            "Use an id from detect_contradictions; it lists those whose two memories you may read.",
        )
    })
}
