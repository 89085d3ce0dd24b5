//! A memory as it stood at a checkpoint, and how it has changed since.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Checkpoint;
use crate::base::id::MemoryId;
use crate::model::memory::Memory;
use commonbook_text::string_enum;

/// An earlier revision of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierRevision {
    /// The memory.
    pub memory: MemoryId,
    /// The number of the revision.
    pub revision: u64,
    /// When it was made.
    pub revised_at: Timestamp,
    /// The position of the event that ended it; `None` in a store from before it was recorded.
    pub ended: Option<u64>,
    /// The memory at this revision, if the reader may see it.
    pub snapshot: Option<Memory>,
}

string_enum! {
    /// How a memory has changed since a checkpoint.
    ChangeSince {
        /// Its author or a person changed it.
        Changed = "changed",
        /// Another memory superseded it.
        Superseded = "superseded",
        /// It was retracted: it is wrong.
        Retracted = "retracted",
        /// It was deleted.
        Deleted = "deleted",
    }
}

/// A memory of a resumed session that is not what it was at the checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedMemory {
    /// The memory.
    pub id: MemoryId,
    /// How it has changed.
    pub change: ChangeSince,
    /// The memory that superseded it, if you may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
}

/// A memory as it stood at a checkpoint; `None` if the reader could not see it then. `revisions` are
/// the earlier ones that had not ended at the checkpoint's position, or whose end has no position,
/// in order.
#[must_use]
pub fn memory_at(
    now: &Memory,
    revisions: &[EarlierRevision],
    checkpoint: &Checkpoint,
) -> Option<Memory> {
    let own: Vec<&EarlierRevision> =
        revisions.iter().filter(|earlier| earlier.memory == now.id).collect();
    let lasted = |place: usize, earlier: &EarlierRevision| match earlier.ended {
        Some(ended) => ended > checkpoint.position,
        // Without a position, the time of the next revision tells.
        None => {
            let next = own.get(place + 1).map(|next| (next.revision, next.revised_at));
            let (revision, at) = next.unwrap_or((now.revision, now.revised_at));
            revision == earlier.revision + 1 && at > checkpoint.created_at
        }
    };
    let then = own.iter().enumerate().find(|(place, earlier)| lasted(*place, earlier));
    match then {
        Some((_, earlier)) => earlier.snapshot.clone(),
        None => Some(now.clone()),
    }
}

/// How a memory has changed since; `None` if it says what it said.
#[must_use]
pub fn change_since(then: &Memory, now: &Memory) -> Option<ChangedMemory> {
    let says = |memory: &Memory| {
        let Memory { title, text, summary, valid_from, valid_until, .. } = memory.clone();
        (title, text, summary, memory.importance, valid_from, valid_until)
    };
    let change = if now.deleted_at.is_some() {
        ChangeSince::Deleted
    } else if now.retraction.is_some() {
        ChangeSince::Retracted
    } else if now.superseded_by.is_some() {
        ChangeSince::Superseded
    } else if says(then) != says(now) {
        ChangeSince::Changed
    } else {
        return None;
    };
    let superseded_by = now.superseded_by.filter(|_| change == ChangeSince::Superseded);
    Some(ChangedMemory { id: now.id, change, superseded_by })
}

#[cfg(test)]
mod tests;
