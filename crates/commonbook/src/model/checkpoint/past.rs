//! A memory as it stood at a checkpoint.

use jiff::Timestamp;

use super::Checkpoint;
use crate::base::error::Error;
use crate::base::id::MemoryId;
use crate::model::access::StoredMemory;
use crate::model::memory::RevisionPurge;

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
    /// The memory at this revision, if the reader may see it and it was not purged.
    pub snapshot: Option<StoredMemory>,
    /// What remains of a purged revision, if the reader might have seen it.
    pub purged: Option<PurgedRevision>,
}

/// An earlier revision whose content was purged.
#[derive(Debug, Clone, PartialEq)]
pub struct PurgedRevision {
    /// The memory without content.
    pub remains: StoredMemory,
    /// Who removed its content, and when.
    pub purge: RevisionPurge,
}

impl EarlierRevision {
    /// Why a purged revision cannot be used.
    #[must_use]
    pub fn purged_error(&self) -> Error {
        let Self { memory, revision, .. } = self;
        Error::conflict(format!("revision {revision} of memory {memory} was purged"))
            .with_field("revision")
            .hint("`memory_history` shows which revisions are left.")
    }
}

/// A memory as it stood at a checkpoint; `None` if the reader could not see it then. `revisions` are
/// the earlier ones that had not ended at the checkpoint's position, or whose end has no position,
/// in order.
#[must_use]
pub fn memory_at(
    now: &StoredMemory,
    revisions: &[EarlierRevision],
    checkpoint: &Checkpoint,
) -> Option<StoredMemory> {
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

#[cfg(test)]
mod tests;
