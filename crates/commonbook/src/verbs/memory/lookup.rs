//! Finding the memory that a verb concerns, and whether the caller may change it.

use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::store::Tx;

/// The memory with this id in sight.
pub(in crate::verbs) fn visible_memory(
    tx: &Tx<'_>,
    sight: &Sight,
    id: MemoryId,
) -> Result<StoredMemory> {
    tx.memory(sight, id)?.ok_or_else(|| {
        Error::not_found(format!("no memory {id} exists")).hint("Use an id from `search_memory`.")
    })
}

/// The memory that the caller is about to change.
pub(in crate::verbs) fn changeable_memory(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    id: MemoryId,
) -> Result<StoredMemory> {
    visible_memory(tx, sight, id).or_else(|unknown| {
        // The caller can read this memory, so the error says why it may not change it.
        let read = tx.memory(&Sight::consulting(caller)?, id)?.ok_or(unknown)?;
        access::may_write_in(caller, &read.workspace).map(|()| read)
    })
}

/// The memory with this id in sight, if it is not deleted.
pub(in crate::verbs) fn live_memory(
    tx: &Tx<'_>,
    sight: &Sight,
    id: MemoryId,
) -> Result<StoredMemory> {
    not_deleted(visible_memory(tx, sight, id)?)
}

/// The memory, unless it is deleted.
pub(in crate::verbs) fn not_deleted(memory: StoredMemory) -> Result<StoredMemory> {
    match memory.deleted_at {
        None => Ok(memory),
        Some(at) => Err(Error::not_found(format!("memory {} was deleted at {at}", memory.id))
            .hint("Its owner can restore it within 30 days of that time.")),
    }
}

/// Every revision in sight, the current one last.
pub(super) fn revisions(tx: &Tx<'_>, sight: &Sight, id: MemoryId) -> Result<Vec<StoredMemory>> {
    let now = visible_memory(tx, sight, id)?;
    // Another workspace in sight may have a copy with the same id and a history of its own.
    let there = Sight { workspaces: vec![now.workspace.clone()], ..sight.clone() };
    let mut all = tx.earlier_revisions(&there, id)?;
    all.push(now);
    Ok(all)
}
