//! Finding the memory that a verb concerns, and whether the caller may change it.

use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::checkpoint::EarlierRevision;
use crate::model::memory::{DocumentPath, MemoryAddress, RevisionPurge};
use crate::model::search::MemoryFilter;
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
        MemoryAddress::Folder(_) => {
            return Err(Error::invalid(
                "id",
                format!("{address} is a folder; expected one document"),
            )
            .hint("`list_memories` with this `path` lists what is in it."));
        }
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
        MemoryAddress::Path(_) | MemoryAddress::Folder(_) => {
            addressed_memory(tx, caller, &sight.clone().with_opaque(), address).or_else(|unknown| {
                let reading = Sight::consulting(caller)?;
                let read = addressed_memory(tx, caller, &reading, address).map_err(|_| unknown)?;
                access::may_write_in(caller, &read.workspace).map(|()| read)
            })
        }
    }
}

/// The documents of a folder that the caller is about to change, in the order of paths, and whether there are
/// more than one call changes: those about the user that it works for, and those about none.
///
/// # Errors
/// `not_found` if there is none; as [`access::may_change`].
pub(super) fn changeable_below(
    tx: &Tx<'_>,
    caller: &Caller,
    folder: &DocumentPath,
) -> Result<(Vec<StoredMemory>, bool)> {
    let sight = Sight::writing_at_home(caller)?.with_opaque();
    let pattern = folder.below(&caller.agent);
    let filter = MemoryFilter {
        owner: pattern.owner.as_ref().map(ToString::to_string),
        path: Some(pattern),
        ..MemoryFilter::default()
    };
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let page = tx.memories_by_path(&sight, &filter, from.as_ref(), limits::PAGE_MAX)?;
        let Some((last, _)) = page.last() else { break };
        from = Some(last.clone());
        let is_meant = |memory: &StoredMemory| {
            memory.is_current() && (memory.user_id.is_none() || memory.user_id == caller.user)
        };
        found.extend(page.into_iter().map(|(_, memory)| memory).filter(is_meant));
        if found.len() > limits::FOLDER_DOCUMENTS {
            break;
        }
    }
    let more = found.len() > limits::FOLDER_DOCUMENTS;
    found.truncate(limits::FOLDER_DOCUMENTS);
    if found.is_empty() {
        return Err(Error::not_found(format!("no document is below {folder}/"))
            .with_field("id")
            .hint(
                "`list_memories` with a `path` lists what is there; only its owner changes it.",
            ));
    }
    found.iter().try_for_each(|memory| access::may_change(caller, memory))?;
    Ok((found, more))
}

/// The memory that the caller is about to change.
pub(in crate::verbs) fn changeable_memory(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    id: MemoryId,
) -> Result<StoredMemory> {
    visible_memory(tx, &sight.clone().with_opaque(), id).or_else(|unknown| {
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

/// Every revision in sight of this memory, the current one last; of a purged one what remains.
pub(super) fn revisions(
    tx: &Tx<'_>,
    sight: &Sight,
    now: StoredMemory,
) -> Result<Vec<(StoredMemory, Option<RevisionPurge>)>> {
    // Another workspace in sight may have a copy with the same id and a history of its own.
    let there = Sight { workspaces: vec![now.workspace.clone()], ..sight.clone() };
    let log = tx.revision_log(&there, now.id)?.into_iter();
    let earlier = log.filter_map(|EarlierRevision { snapshot, purged, .. }| {
        let purged = purged.map(|purged| (purged.remains, Some(purged.purge)));
        snapshot.map(|then| (then, None)).or(purged)
    });
    Ok(earlier.chain([(now, None)]).collect())
}
