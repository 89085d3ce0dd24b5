//! Finding the memory that a verb concerns, and whether the caller may change it.

use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::memory::{DocumentPath, MemoryAddress};
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

/// The memory in sight that a request of this caller names, by its id or by its path.
pub(in crate::verbs) fn addressed_memory(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    address: &MemoryAddress,
) -> Result<StoredMemory> {
    let path = match address {
        MemoryAddress::Id(id) => return visible_memory(tx, sight, *id),
        MemoryAddress::Path(path) => path,
    };
    find_document(tx, caller, sight, path)?.ok_or_else(|| {
        Error::not_found(format!("no memory is at {path}")).hint(
            "`list_memories` with a `path` that ends in `/` lists what is there; \
             another agent's document is at OWNER:/path.",
        )
    })
}

/// The document in sight at a path; of several about users, that about the caller's.
///
/// # Errors
/// `conflict` with the ids if the caller works for no user and sees only documents about several.
pub(super) fn find_document(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    path: &DocumentPath,
) -> Result<Option<StoredMemory>> {
    let owner = path.owner.as_ref().unwrap_or(&caller.agent);
    let mut found = tx.memories_at_path(sight, owner, &path.path)?;
    let Some(first) = found.first() else { return Ok(None) };
    let workspace = first.workspace.clone();
    found.retain(|memory| memory.workspace == workspace);
    let is_meant = |memory: &StoredMemory| match (&caller.user, &memory.user_id) {
        (Some(user), Some(subject)) => user == subject,
        (Some(_), None) => false,
        (None, subject) => subject.is_none(),
    };
    let place = found.iter().position(is_meant).or((found.len() == 1).then_some(0));
    match place {
        Some(place) => Ok(Some(found.swap_remove(place))),
        None => {
            let ids: Vec<String> = found.iter().map(|memory| memory.id.to_string()).collect();
            Err(Error::conflict(format!("{} documents about users are at {path}", ids.len()))
                .hint(format!("Name your user, or use one of these ids: {}.", ids.join(", "))))
        }
    }
}

/// The memory that the caller is about to change, by its id or by its path.
pub(in crate::verbs) fn changeable_at(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    address: &MemoryAddress,
) -> Result<StoredMemory> {
    match address {
        MemoryAddress::Id(id) => changeable_memory(tx, caller, sight, *id),
        MemoryAddress::Path(_) => addressed_memory(tx, caller, sight, address).or_else(|unknown| {
            let reading = Sight::consulting(caller)?;
            let read = addressed_memory(tx, caller, &reading, address).map_err(|_| unknown)?;
            access::may_write_in(caller, &read.workspace).map(|()| read)
        }),
    }
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

/// Every revision in sight of this memory, the current one last.
pub(super) fn revisions(
    tx: &Tx<'_>,
    sight: &Sight,
    now: StoredMemory,
) -> Result<Vec<StoredMemory>> {
    // Another workspace in sight may have a copy with the same id and a history of its own.
    let there = Sight { workspaces: vec![now.workspace.clone()], ..sight.clone() };
    let mut all = tx.earlier_revisions(&there, now.id)?;
    all.push(now);
    Ok(all)
}
