//! Keeping, reading, changing and removing memories.

mod lookup;

use jiff::{SignedDuration, Timestamp};

use super::{Commonbook, Once};
use crate::access::{self, Sight};
use crate::agent::Agent;
use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::event::{EventKind, NewEvent};
use crate::id::MemoryId;
use crate::limits;
use crate::memory::{
    DeleteMemory, GetMemory, History, Memory, MemoryAt, MemoryHistory, Outcome, PurgeMemory,
    Purged, RestoreMemory, SaveMemories, SaveMemory, Saved, Sharing, UpdateMemory, expect_revision,
};
use crate::page::Page;
use crate::store::Transaction;

pub(super) use lookup::{hide_heirs, in_sight, standing};
use lookup::{not_deleted, revisions, to_change};

impl Commonbook {
    /// Keeps a memory under the caller's name.
    ///
    /// # Errors
    /// `invalid`, `too_large` with the field; `conflict` for an idempotency key used otherwise;
    /// `not_found` and `forbidden` for a memory to supersede that is unknown or another's.
    pub fn save_memory(&self, caller: &Caller, request: &SaveMemory) -> Result<Saved> {
        let key = request.idempotency_key.as_ref();
        let drafts =
            self.drafts(caller, std::slice::from_ref(request)).map_err(|(_, error)| error)?;
        let once = self.once(caller, ("save_memory", request, key), move |tx, caller, now| {
            keep_all(tx, caller, &drafts, now).map_err(|(_, error)| error)
        })?;
        let saved = saved(once).pop();
        saved.ok_or_else(|| Error::not_found("the memory that was saved"))
    }

    /// Keeps up to 100 memories under the caller's name: all of them, or none.
    ///
    /// # Errors
    /// As [`Self::save_memory`], with the place in the batch; `invalid` for an empty batch.
    pub fn save_memories(&self, caller: &Caller, request: &SaveMemories) -> Result<Page<Saved>> {
        let count = request.memories.len();
        if count == 0 {
            return Err(Error::invalid("memories", "there is nothing to keep"));
        }
        if count > limits::BATCH {
            return Err(Error::too_large("memories", count, limits::BATCH, "memories")
                .hint("Send them in several calls."));
        }
        let key = request.idempotency_key.as_ref();
        let drafts = self.drafts(caller, &request.memories).map_err(in_batch)?;
        let once = self.once(caller, ("save_memories", request, key), move |tx, caller, now| {
            keep_all(tx, caller, &drafts, now).map_err(in_batch)
        })?;
        Ok(Page { items: saved(once), next: None })
    }

    /// The memories that these requests make, each with the one it supersedes.
    pub(super) fn drafts(
        &self,
        caller: &Caller,
        requests: &[SaveMemory],
    ) -> Result<Vec<Draft>, (usize, Error)> {
        let now = self.clock.now();
        let draft = |(place, request): (usize, &SaveMemory)| {
            let id = MemoryId::new(&*self.ids, now);
            let mut memory = request.memory(caller, id, now).map_err(|error| (place, error))?;
            if request.sharing.is_none() {
                memory.sharing = self.policy.sharing_of(&memory.memory_type);
            }
            access::may_keep(&memory.owner, memory.sharing).map_err(|error| (place, error))?;
            Ok(Draft { memory, supersedes: request.supersedes })
        };
        requests.iter().enumerate().map(draft).collect()
    }

    /// Reads one memory, as it stands or as it stood at a time.
    ///
    /// # Errors
    /// `not_found` when there is none in sight, or was none then.
    pub fn get_memory(&self, caller: &Caller, request: &GetMemory) -> Result<Memory> {
        let sight = Sight::reading(caller)?;
        self.store.read(|tx| match request.at {
            None => shown(tx, &sight, standing(tx, &sight, request.id)?),
            Some(at) => {
                let then = revisions(tx, &sight, request.id)?.into_iter().rev();
                let then = then
                    .skip_while(|memory| memory.revised_at > at)
                    .take(1)
                    .find(|memory| memory.deleted_at.is_none())
                    .ok_or_else(|| {
                        Error::not_found(format!("memory {} did not stand at {at}", request.id))
                            .hint("Its history tells when it was kept, changed and deleted.")
                    })?;
                shown(tx, &sight, then)
            }
        })
    }

    /// Reads one memory as it stood at a time.
    ///
    /// # Errors
    /// As [`Self::get_memory`].
    pub fn memory_at(&self, caller: &Caller, request: &MemoryAt) -> Result<Memory> {
        self.get_memory(caller, &GetMemory { id: request.id, at: Some(request.at) })
    }

    /// The id that begins with `prefix`, of the memories in sight.
    ///
    /// # Errors
    /// `invalid` when no id can begin so, `not_found` when none does, `conflict` when several do.
    pub fn memory_id(&self, caller: &Caller, prefix: &str) -> Result<MemoryId> {
        if let Ok(id) = prefix.parse() {
            return Ok(id);
        }
        let range = MemoryId::range(prefix)?;
        let sight = Sight::reading(caller)?;
        let found = self.store.read(|tx| tx.memory_ids(&sight, range, 2))?;
        match found.as_slice() {
            [] => Err(Error::not_found(format!("there is no memory {prefix}"))),
            [id] => Ok(*id),
            _ => Err(Error::conflict(format!("several memories begin with {prefix}"))
                .at("id")
                .hint("Give more of the id.")),
        }
    }

    /// Changes a memory that the caller may change.
    ///
    /// # Errors
    /// `not_found`, `forbidden` (`ownership_mismatch`), `conflict` when it is not at the expected
    /// revision, `invalid` and `too_large` with the field.
    pub fn update_memory(&self, caller: &Caller, request: &UpdateMemory) -> Result<Memory> {
        let (key, change) = (request.idempotency_key.as_ref(), request.clone());
        let once = self.once(caller, ("update_memory", request, key), move |tx, caller, now| {
            let before = not_deleted(to_change(tx, caller, change.id)?)?;
            access::may_change(caller, &before)?;
            let mut after = before.clone();
            let changed = change.apply(&mut after)?;
            if changed.is_empty() {
                return shown(tx, &Sight::writing(caller)?, before);
            }
            access::may_keep(&after.owner, after.sharing)?;
            let change = Change { kind: EventKind::MemoryUpdated, fields: &changed, caller, now };
            let after = change.write(tx, &before, after)?;
            shown(tx, &Sight::writing(caller)?, after)
        })?;
        Ok(once.answer)
    }

    /// Deletes a memory that the caller may change; it can be restored for 30 days.
    ///
    /// # Errors
    /// `not_found`, `forbidden` (`ownership_mismatch`), `conflict` when it is not at the expected
    /// revision.
    pub fn delete_memory(&self, caller: &Caller, request: &DeleteMemory) -> Result<Memory> {
        let (key, id, expected) =
            (request.idempotency_key.as_ref(), request.id, request.expected_revision);
        let once = self.once(caller, ("delete_memory", request, key), move |tx, caller, now| {
            let before = not_deleted(to_change(tx, caller, id)?)?;
            access::may_change(caller, &before)?;
            expect_revision(expected, &before)?;
            let after = Memory { deleted_at: Some(now), ..before.clone() };
            let after = Change { kind: EventKind::MemoryDeleted, fields: &[], caller, now }
                .write(tx, &before, after)?;
            shown(tx, &Sight::writing(caller)?, after)
        })?;
        Ok(once.answer)
    }

    /// Brings back a deleted memory that the caller may change.
    ///
    /// # Errors
    /// `not_found` when there is none in sight or its 30 days are over, `forbidden`
    /// (`ownership_mismatch`), `conflict` when it is not deleted or not at the expected revision.
    pub fn restore_memory(&self, caller: &Caller, request: &RestoreMemory) -> Result<Memory> {
        let (key, id, expected) =
            (request.idempotency_key.as_ref(), request.id, request.expected_revision);
        let once =
            self.once(caller, ("restore_memory", request, key), move |tx, caller, now| {
                let before = to_change(tx, caller, id)?;
                access::may_change(caller, &before)?;
                expect_revision(expected, &before)?;
                let Some(deleted_at) = before.deleted_at else {
                    return Err(Error::conflict(format!("memory {id} is not deleted")));
                };
                if deleted_at < end_of_recovery(now) {
                    return Err(Error::not_found(format!("memory {id} was deleted too long ago")));
                }
                let after = Memory { deleted_at: None, ..before.clone() };
                let after = Change { kind: EventKind::MemoryRestored, fields: &[], caller, now }
                    .write(tx, &before, after)?;
                shown(tx, &Sight::writing(caller)?, after)
            })?;
        Ok(once.answer)
    }

    /// Removes a memory that the caller may change for good: from the rows, the history, the
    /// index, and the store's files.
    ///
    /// # Errors
    /// `not_found`, `forbidden` (`ownership_mismatch`), `conflict` when it is not at the expected
    /// revision.
    pub fn purge_memory(&self, caller: &Caller, request: &PurgeMemory) -> Result<Purged> {
        let (key, id, expected) =
            (request.idempotency_key.as_ref(), request.id, request.expected_revision);
        let once = self.once(caller, ("purge_memory", request, key), move |tx, caller, now| {
            let memory = to_change(tx, caller, id)?;
            access::may_change(caller, &memory)?;
            expect_revision(expected, &memory)?;
            purge(tx, &memory, &caller.agent, now)?;
            Ok(Purged { id })
        })?;
        self.scrub();
        Ok(once.answer)
    }

    /// Empties the log beneath the store, so that what was purged is in no file. What a reader
    /// keeps it from now, the next purge or sweep does.
    pub(super) fn scrub(&self) {
        if let Err(error) = self.store.scrub() {
            tracing::warn!(%error, "the store's log still holds what was purged, until the next sweep");
        }
    }

    /// Every revision of a memory that the caller may see, oldest first.
    ///
    /// # Errors
    /// `not_found` when there is none in sight.
    pub fn memory_history(&self, caller: &Caller, request: &MemoryHistory) -> Result<History> {
        let sight = Sight::reading(caller)?;
        let all = self.store.read(|tx| {
            let mut all = revisions(tx, &sight, request.id)?;
            hide_heirs(tx, &sight, &mut all)?;
            Ok(all)
        })?;
        Ok(History { items: all.into_iter().map(Into::into).collect() })
    }
}

/// A memory as its reader is shown it.
fn shown(tx: &dyn Transaction, sight: &Sight, mut memory: Memory) -> Result<Memory> {
    hide_heirs(tx, sight, [&mut memory])?;
    Ok(memory)
}

/// A memory that is about to be kept, and the one it takes the place of.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) memory: Memory,
    supersedes: Option<MemoryId>,
}

fn saved(once: Once<Vec<Memory>>) -> Vec<Saved> {
    let outcome = if once.repeated { Outcome::Repeated } else { Outcome::Created };
    once.answer.into_iter().map(|memory| Saved { memory, outcome }).collect()
}

/// The error of one request of a batch, with its place there; what is wrong with no field of it
/// stays as it is.
fn in_batch((place, error): (usize, Error)) -> Error {
    let Some(field) = &error.field else { return error };
    let path = format!("memories[{place}].{field}");
    let reason = error.message.strip_prefix(&format!("{field}: ")).unwrap_or(&error.message);
    Error { message: format!("{path}: {reason}"), ..error }.at(&path)
}

fn keep_all(
    tx: &mut dyn Transaction,
    caller: &Caller,
    drafts: &[Draft],
    now: Timestamp,
) -> Result<Vec<Memory>, (usize, Error)> {
    for (place, draft) in drafts.iter().enumerate() {
        keep(tx, &draft.memory, now).map_err(|error| (place, error))?;
        if let Some(old) = draft.supersedes {
            supersede(tx, caller, old, &draft.memory, now)
                .map_err(|error| (place, error.at("supersedes")))?;
        }
    }
    Ok(drafts.iter().map(|draft| draft.memory.clone()).collect())
}

/// Keeps one memory, with its event.
pub(super) fn keep(tx: &mut dyn Transaction, memory: &Memory, now: Timestamp) -> Result<()> {
    let event = NewEvent::of(EventKind::MemorySaved, memory, &memory.owner, now);
    let sequence = tx.append_event(&event)?;
    tx.insert_memory(memory, sequence)?;
    // What its author names counts at once; what is found in it follows.
    if !memory.entities.is_empty() {
        tx.put_mentions(memory, &memory.named())?;
    }
    if memory.is_quarantined() {
        let event = NewEvent::of(EventKind::MemoryQuarantined, memory, &memory.owner, now);
        tx.append_event(&event)?;
    }
    Ok(())
}

fn supersede(
    tx: &mut dyn Transaction,
    caller: &Caller,
    old: MemoryId,
    new: &Memory,
    now: Timestamp,
) -> Result<()> {
    let before = not_deleted(to_change(tx, caller, old)?)?;
    access::may_change(caller, &before)?;
    replace(tx, caller, &before, new, now).map(drop)
}

/// Lets a memory take the place of another, which the caller may decide; answers what that one is
/// then.
pub(super) fn replace(
    tx: &mut dyn Transaction,
    caller: &Caller,
    before: &Memory,
    new: &Memory,
    now: Timestamp,
) -> Result<Memory> {
    let old = before.id;
    if before.superseded_by.is_some() {
        let error = Error::conflict(format!("memory {old} was superseded already"));
        let told = shown(tx, &Sight::writing(caller)?, before.clone())?.superseded_by;
        return Err(match told {
            Some(other) => error.hint(format!("Supersede {other} instead.")),
            None => error.hint("What took its place is not yours to read; save your own version."),
        });
    }
    if before.sharing == Sharing::Shared && new.sharing == Sharing::Private {
        let reason = "what is private cannot take the place of what others read";
        return Err(Error::invalid("supersedes", reason).hint("Share it, or delete the old one."));
    }
    let after = Memory { superseded_by: Some(new.id), ..before.clone() };
    Change { kind: EventKind::MemorySuperseded, fields: &[], caller, now }.write(tx, before, after)
}

/// A change of a memory: what it is called, which fields it touches, who makes it and when.
pub(super) struct Change<'c> {
    pub(super) kind: EventKind,
    pub(super) fields: &'c [&'static str],
    pub(super) caller: &'c Caller,
    pub(super) now: Timestamp,
}

impl Change<'_> {
    /// Writes `after` as the next revision, with its event.
    pub(super) fn write(
        &self,
        tx: &mut dyn Transaction,
        before: &Memory,
        after: Memory,
    ) -> Result<Memory> {
        let after = Memory {
            revision: before.revision + 1,
            revised_at: self.now.max(before.revised_at),
            revised_by: self.caller.agent.clone(),
            ..after
        };
        tx.replace_memory(before, &after)?;
        let event = NewEvent::of(self.kind, &after, &self.caller.agent, self.now);
        tx.append_event(&event.changing(self.fields))?;
        if after.is_quarantined() && !before.is_quarantined() {
            let (kind, actor) = (EventKind::MemoryQuarantined, &self.caller.agent);
            tx.append_event(&NewEvent::of(kind, &after, actor, self.now))?;
        }
        Ok(after)
    }
}

/// Removes a memory with its event, which names no topics.
pub(super) fn purge(
    tx: &mut dyn Transaction,
    memory: &Memory,
    actor: &Agent,
    now: Timestamp,
) -> Result<()> {
    tx.append_event(&NewEvent::of(EventKind::MemoryPurged, memory, actor, now))?;
    tx.purge_memory(memory)
}

/// The moment before which a deletion can no longer be undone.
pub(super) fn end_of_recovery(now: Timestamp) -> Timestamp {
    let days = SignedDuration::from_hours(24 * limits::DELETED_DAYS);
    now.checked_sub(days).unwrap_or(Timestamp::MIN)
}
