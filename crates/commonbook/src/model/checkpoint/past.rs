//! A memory as it stood at a checkpoint.

use jiff::Timestamp;

use super::Checkpoint;
use crate::base::id::MemoryId;
use crate::model::access::StoredMemory;

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
    pub snapshot: Option<StoredMemory>,
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
