//! Memories as they were at a time.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::model::access::{Sight, StoredMemory};
use crate::store::Tx;

/// The revision at a time of a memory that was saved before; `None` if it was deleted then, if the reader could
/// not see it, or if that revision was purged.
pub(in crate::verbs) fn memory_then(
    tx: &Tx<'_>,
    sight: &Sight,
    memory: &StoredMemory,
    at: Timestamp,
) -> Result<Option<StoredMemory>> {
    let then = if memory.revised_at <= at {
        Some(memory.clone())
    } else {
        // Another workspace in sight may have a copy with the same id and a history of its own.
        let there = Sight { workspaces: vec![memory.workspace.clone()], ..sight.clone() };
        let mut log = tx.revision_log(&there, memory.id)?.into_iter().rev();
        log.find(|revision| revision.revised_at <= at).and_then(|revision| revision.snapshot)
    };
    Ok(then.filter(|memory| memory.deleted_at.is_none()))
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
