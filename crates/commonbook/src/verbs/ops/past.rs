//! Memories as they were at a time.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::model::access::{Sight, StoredMemory};
use crate::store::Tx;

/// The revision at a time, of these of one memory, the oldest first; `None` if there was none, or if
/// the memory was deleted then.
pub(in crate::verbs) fn revision_at(
    revisions: Vec<StoredMemory>,
    at: Timestamp,
) -> Option<StoredMemory> {
    let then = revisions.into_iter().rev().find(|memory| memory.revised_at <= at);
    then.filter(|memory| memory.deleted_at.is_none())
}

/// The revision at a time of a memory that was saved before; `None` if it was deleted then, or if the
/// reader could not see it.
pub(in crate::verbs) fn memory_then(
    tx: &Tx<'_>,
    sight: &Sight,
    memory: &StoredMemory,
    at: Timestamp,
) -> Result<Option<StoredMemory>> {
    if memory.revised_at <= at {
        return Ok(Some(memory.clone()).filter(|memory| memory.deleted_at.is_none()));
    }
    // Another workspace in sight may have a copy with the same id and a history of its own.
    let there = Sight { workspaces: vec![memory.workspace.clone()], ..sight.clone() };
    Ok(revision_at(tx.earlier_revisions(&there, memory.id)?, at))
}

/// These memories in the words of a time. One that was saved later, and tells of that time, stays as
/// it is; one that was deleted then, or that this reader could not see, is left out. What has been
/// judged of a memory since, such as that it is wrong, stays with it.
pub(in crate::verbs) fn in_words_of(
    tx: &Tx<'_>,
    sight: &Sight,
    memories: Vec<StoredMemory>,
    at: Timestamp,
) -> Result<Vec<StoredMemory>> {
    let then = memories.into_iter().filter_map(|memory| match memory.recorded_at > at {
        true => Some(Ok(memory)),
        false => {
            let then = memory_then(tx, sight, &memory, at).transpose()?;
            Some(then.map(|mut then| {
                (then.trust, then.retraction) = (memory.trust, memory.retraction.clone());
                then
            }))
        }
    });
    then.collect()
}
