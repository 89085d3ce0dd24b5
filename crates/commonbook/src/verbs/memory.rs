//! Saving, reading, changing and removing memories.

mod earlier;
mod lookup;
mod sight;
mod succession;
mod write;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Commonbook;
use super::case::{append_one, find_case};
use super::contradiction::state::record_statements;
use super::ops::basis::FoundBasis;
use super::ops::heirs::{ReaderAnswer, show, show_all};
use super::ops::marks::add_contradictions;
use super::ops::past::memory_then;
use super::ops::write_once::{WriteAnswer, WriteScope};
use super::usage::add_usage;
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::base::page::Page;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::case::Case;
use crate::model::contradiction::MemoryStatements;
use crate::model::entity::check_labels;
use crate::model::event::{EventKind, NewEvent};
use crate::model::lineage::{BasisClaim, DerivedId, StaleMemory};
use crate::model::memory::{
    AdmittedMemory, DeleteMemory, DeleteResult, DocumentPath, FolderResult, GetMemories, GetMemory,
    Memory, MemoryAddress, MemoryAt, MemoryHistory, MemoryRevision, NoteStatements, OpenedMemories,
    PendingReview, PurgeMemory, PurgeResult, RestoreMemory, RetractedTwin, RevisionHistory,
    RevisionPurge, SaveMemories, SaveMemory, SaveOutcome, SaveResult, UpdateMemory, UpdateResult,
    UsageKind, expect_revision,
};
use crate::store::Tx;
use commonbook_text::tokens::{self, TokenBudget};
use write::{admit, insert, may_supersede, supersede};

pub(super) use earlier::find_earlier;
use earlier::find_retracted_twin;
pub(super) use write::insert as insert_moved;
pub(super) use write::{
    MemoryChange, keep_heir, keep_memory, may_replace_subject, refuse_taken_path, replace,
};

use lookup::{addressed_memory, changeable_at, changeable_below, find_document, revisions};
pub(super) use lookup::{changeable_memory, live_memory, not_deleted, visible_memory};
use succession::settle_removal;

impl Commonbook {
    /// Saves a memory under the caller's name. If the caller said the same before, nothing is saved;
    /// if it corrects what the caller said before, it supersedes that. With a path it becomes the
    /// document there, or the next revision of it.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field; `conflict` if the idempotency key was used for
    /// another request, if the case takes no entries, or if the document at the path is not at the
    /// expected revision; `not_found` or `forbidden` if a memory to supersede is not in sight or not
    /// the caller's to change; `not_found` if the case does not exist.
    pub fn save_memory(&self, caller: &Caller, request: &SaveMemory) -> Result<SaveResult> {
        let now = self.clock.now();
        let drafts =
            self.drafts(caller, std::slice::from_ref(request), now).map_err(|(_, error)| error)?;
        let once = self.write_once(caller, now, request, move |tx, scope| {
            keep_all(tx, scope, &drafts).map_err(|(_, error)| error)
        })?;
        let saved = save_results(once, caller.door).pop();
        saved.ok_or_else(|| Error::not_found("the memory that was just saved"))
    }

    /// Saves up to 100 memories under the caller's name: either all of them or none.
    ///
    /// # Errors
    /// As [`Self::save_memory`], with the index in the batch; `invalid` if the batch is empty.
    pub fn save_memories(
        &self,
        caller: &Caller,
        request: &SaveMemories,
    ) -> Result<Page<SaveResult>> {
        let count = request.memories.len();
        if count == 0 {
            return Err(Error::invalid(
                "memories",
                "the list is empty; expected at least one memory",
            ));
        }
        if count > limits::BATCH {
            return Err(Error::too_large("memories", count, limits::BATCH, "memories")
                .hint("Send them in several calls."));
        }
        let now = self.clock.now();
        let drafts = self
            .drafts(caller, &request.memories, now)
            .map_err(|(place, error)| error.in_part(&format!("memories[{place}]")))?;
        let once = self.write_once(caller, now, request, move |tx, scope| {
            keep_all(tx, scope, &drafts)
                .map_err(|(place, error)| error.in_part(&format!("memories[{place}]")))
        })?;
        Ok(Page { items: save_results(once, caller.door), next: None })
    }

    /// The memories that these requests create, each with the one that it supersedes.
    pub(super) fn drafts(
        &self,
        caller: &Caller,
        requests: &[SaveMemory],
        now: Timestamp,
    ) -> Result<Vec<MemoryDraft>, (usize, Error)> {
        let draft = |(place, request): (usize, &SaveMemory)| {
            check_labels(&self.entity_rules.own_types, &request.entities)
                .map_err(|error| (place, error))?;
            let basis = BasisClaim::parse(&request.based_on, request.require_current)
                .map_err(|error| (place, error))?;
            let said = NoteStatements::of(&request.contradicts, &request.repeats)
                .map_err(|error| (place, error))?;
            let id = MemoryId::new(&*self.ids, now);
            let memory = request
                .memory(caller, self.policy.sharing, id, now)
                .map_err(|error| (place, error))?;
            access::may_keep(&memory.owner, memory.sharing).map_err(|error| (place, error))?;
            // Parsed here, so that the one thread that writes finds the statements in the cache.
            drop(MemoryStatements::of(&memory));
            let (supersedes, case) = (request.supersedes, request.case.clone());
            let replacement = request.replacement();
            let user = request.user_id.clone();
            Ok(MemoryDraft { memory, supersedes, case, basis, said, replacement, user })
        };
        requests.iter().enumerate().map(draft).collect()
    }

    /// Reads one memory, as it is now or as it was at a time.
    ///
    /// # Errors
    /// `not_found` if no such memory is in sight, or if there was none at that time.
    pub fn get_memory(&self, caller: &Caller, request: &GetMemory) -> Result<Memory> {
        let sight = Sight::reading(caller)?.with_earlier(caller).with_opaque();
        let found = self.store.read(|tx| match request.at {
            None => {
                let found = addressed_memory(tx, caller, &sight, &request.id)?;
                let mut memory = show(tx, &sight, not_deleted(found)?)?;
                add_usage(tx, &sight, [&mut memory])?;
                add_contradictions(tx, &sight, [&mut memory])?;
                Ok(memory)
            }
            Some(at) => {
                let present = addressed_memory(tx, caller, &sight, &request.id)?;
                let then = memory_then(tx, &sight, &present, at)?.ok_or_else(|| {
                    Error::not_found(format!("memory {} did not exist at {at}", request.id))
                        .hint("See its history for when it was saved, changed and deleted.")
                })?;
                show(tx, &sight, then)
            }
        })?;
        if request.at.is_none() && !found.is_opaque() {
            self.note_usage(caller, UsageKind::Used, [(&found.workspace, found.id)]);
        }
        Ok(found)
    }

    /// Reads memories that the caller sees: the first one whole, and as many of the further ones as the
    /// answer has room for. What a session opens it has received.
    ///
    /// # Errors
    /// As [`Self::get_memory`]; `invalid` without an id, `too_large` with too many.
    pub fn get_memories(&self, caller: &Caller, request: &GetMemories) -> Result<OpenedMemories> {
        let ids = request.check()?;
        let mut room = TokenBudget::new(limits::OPENED_TOKENS);
        let (mut opened, mut left) = (Vec::new(), Vec::new());
        for address in ids {
            if let MemoryAddress::Id(id) = address
                && !left.is_empty()
            {
                left.push(id);
                continue;
            }
            let memory = self.get_memory(caller, &GetMemory { id: address, at: request.at })?;
            // A program reads an opaque text, not a model.
            let fits = memory.is_opaque() || room.take(tokens::count(&memory.text));
            if !fits {
                room = TokenBudget::new(0);
            }
            if fits || opened.is_empty() {
                opened.push(memory);
            } else {
                left.push(memory.id);
            }
        }
        let told: Vec<&Memory> = opened.iter().filter(|memory| !memory.is_opaque()).collect();
        if request.at.is_none() && !told.is_empty() {
            let sequence = self.store.read(|tx| tx.journal_end(&caller.workspace))?;
            self.note_opened(caller, told, sequence);
        }
        let memory = opened.remove(0);
        Ok(OpenedMemories { memory, further: opened, left })
    }

    /// Reads one memory as it was at a time.
    ///
    /// # Errors
    /// As [`Self::get_memory`].
    pub fn memory_at(&self, caller: &Caller, request: &MemoryAt) -> Result<Memory> {
        self.get_memory(caller, &GetMemory { id: request.id.into(), at: Some(request.at) })
    }

    /// Changes a memory that the caller may change.
    ///
    /// # Errors
    /// `not_found`, `forbidden` (`ownership_mismatch`), `conflict` if the memory is not at the
    /// expected revision, `invalid` and `too_large` with the field.
    pub fn update_memory(&self, caller: &Caller, request: &UpdateMemory) -> Result<UpdateResult> {
        check_labels(
            &self.entity_rules.own_types,
            request.entities.as_deref().unwrap_or_default(),
        )?;
        let said = NoteStatements::of(&request.contradicts, &request.repeats)?;
        let change = request.clone();
        let now = self.clock.now();
        if let MemoryAddress::Folder(folder) = &request.id {
            return self.move_folder(caller, request, folder, now);
        }
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, .. } = scope;
            let before = not_deleted(changeable_at(tx, caller, sight, &change.id)?)?;
            let after = change_memory(tx, scope, &before, &change)?;
            record_statements(tx, scope, &after, &said)?;
            show(tx, sight, after)
        })?;
        let memory: Memory = once.answer;
        let hint = memory.quarantine_hint(caller.door);
        Ok(UpdateResult { memory, hint, folder: FolderResult::default() })
    }

    /// Moves the documents below a folder: all of them, or, if one has no place, none.
    fn move_folder(
        &self,
        caller: &Caller,
        request: &UpdateMemory,
        folder: &DocumentPath,
        now: Timestamp,
    ) -> Result<UpdateResult> {
        let (folder, to) = (folder.clone(), request.folder_target()?);
        let once = self.write_once(caller, now, request, move |tx, scope| {
            change_folder(tx, scope, &folder, |tx, before| {
                let Some(path) = &before.path else { return Ok(before.clone()) };
                let change = UpdateMemory {
                    new_path: Some(folder.moved_below(path, &to)?),
                    ..UpdateMemory::empty_update(before.id)
                };
                change_memory(tx, scope, before, &change)
            })
        })?;
        let DeleteResult { memory, folder } = once.answer;
        let hint = memory.quarantine_hint(caller.door);
        Ok(UpdateResult { memory, hint, folder })
    }

    /// Deletes a memory that the caller may change, or the documents below a folder; they can be restored for
    /// 30 days.
    ///
    /// # Errors
    /// `not_found`, `forbidden` (`ownership_mismatch`), `conflict` if the memory is not at the
    /// expected revision, `invalid` for the revision of a folder.
    pub fn delete_memory(&self, caller: &Caller, request: &DeleteMemory) -> Result<DeleteResult> {
        let (address, expected) = (request.id.clone(), request.expected_revision);
        let now = self.clock.now();
        if expected.is_some() && matches!(address, MemoryAddress::Folder(_)) {
            return Err(Error::invalid(
                "expected_revision",
                "belongs to one document, not to a folder",
            )
            .hint("Leave it out, or name one document."));
        }
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let change = MemoryChange { kind: EventKind::MemoryDeleted, fields: &[], caller, now };
            let delete = |tx: &mut Tx<'_>, before: &StoredMemory| {
                change.write(tx, before, before.with(|after| after.deleted_at = Some(now)))
            };
            if let MemoryAddress::Folder(folder) = &address {
                return change_folder(tx, scope, folder, delete);
            }
            let before = not_deleted(changeable_at(tx, caller, sight, &address)?)?;
            access::may_change(caller, &before)?;
            expect_revision(expected, &before)?;
            let after = delete(tx, &before)?;
            let memory = show(tx, sight, after)?;
            Ok(DeleteResult { memory, folder: FolderResult::default() })
        })?;
        Ok(once.answer)
    }

    /// Restores a memory that the caller may change: a deleted or archived one, or one that another
    /// superseded; or the content of an earlier revision, as a new revision.
    ///
    /// # Errors
    /// `not_found` if no such memory or revision is in sight or if its 30 days are over, `forbidden`
    /// (`ownership_mismatch`), `conflict` if it is neither deleted nor superseded, not at the
    /// expected revision, or says again what was forgotten.
    pub fn restore_memory(&self, caller: &Caller, request: &RestoreMemory) -> Result<Memory> {
        let RestoreMemory { id, revision, expected_revision, .. } = request.clone();
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let before = changeable_memory(tx, caller, sight, id)?;
            access::may_change(caller, &before)?;
            expect_revision(expected_revision, &before)?;
            let revived = revived(&before, now)?;
            let (after, fields) = match (revision, revived) {
                (None, Some(revived)) => (revived, Vec::new()),
                (None, None) => {
                    let reason =
                        format!("memory {id} is neither deleted nor superseded nor archived");
                    return Err(Error::conflict(reason)
                        .hint("Name an earlier `revision` to restore what it said then."));
                }
                (Some(number), revived) => {
                    let is_current = revived.is_none();
                    let earlier = revision_to_restore(tx, sight, &before, number, is_current)?;
                    let present = revived.unwrap_or_else(|| before.clone());
                    let (after, fields) =
                        present.with_content_of(&earlier, caller.user.as_deref())?;
                    if is_current && fields.is_empty() {
                        return show(tx, sight, before);
                    }
                    access::may_keep(&after.owner, after.sharing)?;
                    (StoredMemory::of(after), fields)
                }
            };
            let kind = EventKind::MemoryRestored;
            let change = MemoryChange { kind, fields: &fields, caller, now };
            let after = change.write(tx, &before, after)?;
            show(tx, sight, after)
        })?;
        Ok(once.answer)
    }

    /// Permanently removes a memory that the caller may change, or the content of one of its earlier revisions:
    /// from the rows, the history, the index and the store's files.
    ///
    /// # Errors
    /// `not_found`, `forbidden` (`ownership_mismatch`), `conflict` if the memory is not at the
    /// expected revision, or at the one to be purged.
    pub fn purge_memory(&self, caller: &Caller, request: &PurgeMemory) -> Result<PurgeResult> {
        let PurgeMemory { id, revision, expected_revision: expected, .. } = *request;
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let memory = changeable_memory(tx, caller, sight, id)?;
            access::may_change(caller, &memory)?;
            expect_revision(expected, &memory)?;
            let mut same_text = Vec::new();
            match revision {
                None => purge(tx, &memory, caller, now)?,
                Some(number) => same_text = purge_revision(tx, caller, &memory, number, now)?,
            }
            Ok(PurgeResult { id, revision, same_text })
        })?;
        self.scrub();
        Ok(once.answer)
    }

    /// Empties the store's log, so that no file holds what was purged. If a reader prevents that
    /// now, the next purge or sweep does it.
    pub(super) fn scrub(&self) {
        if let Err(error) = self.store.scrub() {
            tracing::warn!(%error, "the store's log still holds purged text until the next sweep");
        }
    }

    /// Every revision of a memory that the caller may see, oldest first.
    ///
    /// # Errors
    /// `not_found` if no such memory is in sight.
    pub fn memory_history(
        &self,
        caller: &Caller,
        request: &MemoryHistory,
    ) -> Result<RevisionHistory> {
        let sight = Sight::reading(caller)?.with_earlier(caller).with_opaque();
        let all = self.store.read(|tx| {
            let present = addressed_memory(tx, caller, &sight, &request.id)?;
            let (states, purges): (Vec<_>, Vec<_>) =
                revisions(tx, &sight, present)?.into_iter().unzip();
            Ok(show_all(tx, &sight, states)?.into_iter().zip(purges))
        })?;
        let items = all.map(|(memory, purged)| MemoryRevision::of(memory, purged)).collect();
        Ok(RevisionHistory { items })
    }
}

/// The memory as it is when it is restored; `None` if it is current.
///
/// # Errors
/// `not_found` if it was deleted too long ago.
pub(super) fn revived(memory: &StoredMemory, now: Timestamp) -> Result<Option<StoredMemory>> {
    match memory.deleted_at {
        Some(deleted_at) if deleted_at < end_of_recovery(now) => {
            Err(Error::not_found(format!("memory {} was deleted more than 30 days ago", memory.id)))
        }
        Some(_) => Ok(Some(memory.with(|memory| memory.deleted_at = None))),
        None if !memory.is_current() => Ok(Some(memory.with(|memory| {
            (memory.superseded_by, memory.archived_at) = (None, None);
        }))),
        None => Ok(None),
    }
}

/// The revision of a memory whose content is to be current again.
///
/// # Errors
/// `conflict` if that is the present revision of a current memory, `not_found` if the caller sees no
/// such revision.
fn revision_to_restore(
    tx: &Tx<'_>,
    sight: &Sight,
    memory: &StoredMemory,
    number: u64,
    is_current: bool,
) -> Result<StoredMemory> {
    let (id, present) = (memory.id, memory.revision);
    if number == present {
        return match is_current {
            false => Ok(memory.clone()),
            true => {
                let reason = format!("revision: memory {id} is at revision {present} already");
                Err(Error::conflict(reason)
                    .with_field("revision")
                    .hint("Name an earlier revision; `memory_history` lists them."))
            }
        };
    }
    let there = Sight { workspaces: vec![memory.workspace.clone()], ..sight.clone() }.with_opaque();
    let mut earlier = tx.earlier_revisions(&there, id)?.into_iter();
    earlier
        .find(|earlier| earlier.revision == number)
        .ok_or_else(|| no_revision(id, number, present))
}

fn no_revision(id: MemoryId, number: u64, present: u64) -> Error {
    let reason = format!(
        "revision: memory {id} has no revision {number} that you may read; it is at {present}"
    );
    Error::not_found(reason).with_field("revision").hint(
        "`memory_history` lists its revisions; what was forgotten or purged does not come back.",
    )
}

/// Purges the content of an earlier revision with its event; one that is purged already stays as it is. Returns the
/// revisions that have the same text.
///
/// # Errors
/// `conflict` if the memory is at this revision, `not_found` if its owner sees no such revision.
fn purge_revision(
    tx: &mut Tx<'_>,
    caller: &Caller,
    memory: &StoredMemory,
    number: u64,
    now: Timestamp,
) -> Result<Vec<u64>> {
    let (id, present) = (memory.id, memory.revision);
    if number == present {
        let reason = format!("revision: memory {id} is at revision {number}");
        return Err(Error::conflict(reason).with_field("revision").hint(
            "Change the memory first, or leave out `revision` to purge it with all its revisions.",
        ));
    }
    let there = Sight { workspaces: vec![memory.workspace.clone()], ..Sight::of_owner(memory) };
    let mut log = tx.revision_log(&there.with_opaque(), id)?;
    let Some(place) = log.iter().position(|revision| revision.revision == number) else {
        return Err(no_revision(id, number, present));
    };
    let revision = log.swap_remove(place);
    if revision.purged.is_some() {
        return Ok(Vec::new());
    }
    let then = revision.snapshot.ok_or_else(|| no_revision(id, number, present))?;
    let purge = RevisionPurge { at: now, by: caller.agent.clone() };
    tx.purge_revision(&then.without_content(), &purge)?;
    let event = NewEvent::of(EventKind::MemoryRevisionPurged, memory, &caller.agent, now)
        .with_details(&[("revision", number.into())]);
    tx.append_event(&event)?;
    let others = log.iter().filter_map(|revision| revision.snapshot.as_ref()).chain([memory]);
    let mut same: Vec<u64> =
        others.filter(|other| other.text == then.text).map(|other| other.revision).collect();
    same.sort_unstable();
    Ok(same)
}

/// A memory that is about to be saved, and the one that it supersedes.
#[derive(Clone)]
pub(super) struct MemoryDraft {
    pub(super) memory: Memory,
    supersedes: Option<MemoryId>,
    /// The case that it becomes an entry of.
    case: Option<String>,
    basis: BasisClaim,
    /// What its author says of other memories.
    said: NoteStatements,
    /// The change of the memory at its path, if it has one.
    replacement: Option<UpdateMemory>,
    /// The user that its author names.
    user: Option<String>,
}

/// A memory as one save left it.
#[derive(Clone, Serialize, Deserialize)]
struct SaveRecord {
    #[serde(flatten)]
    memory: Memory,
    /// Whether its author had saved it before.
    #[serde(default)]
    is_known: bool,
    /// Whether it was at its path before, and changed.
    #[serde(default)]
    is_replaced: bool,
    /// The memories that it corrects.
    #[serde(default)]
    superseded: Vec<MemoryId>,
    /// What it rests on and has changed.
    #[serde(default)]
    stale: Vec<StaleMemory>,
    /// A memory that said the same and was retracted.
    #[serde(default)]
    retracted: Option<RetractedTwin>,
}

impl SaveRecord {
    /// A new memory that rests on what has changed.
    fn of(memory: Memory, stale: Vec<StaleMemory>) -> Self {
        let (is_known, is_replaced, superseded) = (false, false, Vec::new());
        Self { memory, is_known, is_replaced, superseded, stale, retracted: None }
    }
}

impl ReaderAnswer for SaveRecord {
    fn memories(&mut self) -> Vec<&mut Memory> {
        vec![&mut self.memory]
    }
}

fn save_results(once: WriteAnswer<Vec<SaveRecord>>, door: EntryPoint) -> Vec<SaveResult> {
    let result = |saved: SaveRecord| {
        let outcome = match (once.repeated || saved.is_known, saved.is_replaced) {
            (true, _) => SaveOutcome::Repeated,
            (false, true) => SaveOutcome::Replaced,
            (false, false) => SaveOutcome::Created,
        };
        let result = SaveResult::of(saved.memory, outcome, door);
        let result = result.superseding(saved.superseded, door);
        let result = result.after_retraction(saved.retracted, door).in_named_session(door);
        SaveResult { stale: saved.stale, ..result }
    };
    once.answer.into_iter().map(result).collect()
}

fn keep_all(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    drafts: &[MemoryDraft],
) -> Result<Vec<SaveRecord>, (usize, Error)> {
    let kept = drafts
        .iter()
        .enumerate()
        .map(|(place, draft)| keep_draft(tx, scope, draft).map_err(|error| (place, error)));
    kept.collect()
}

fn keep_draft(tx: &mut Tx<'_>, scope: WriteScope<'_>, draft: &MemoryDraft) -> Result<SaveRecord> {
    let record = match &draft.replacement {
        Some(replacement) => keep_document(tx, scope, draft, replacement)?,
        None => keep_note(tx, scope, draft)?,
    };
    record_statements(tx, scope, &record.memory, &draft.said)?;
    Ok(record)
}

/// Saves a document: a new one where nothing is at its path, else the next revision of the one that is there.
///
/// # Errors
/// `conflict` if the document is not at the expected revision, or if none is expected and one is there.
fn keep_document(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    draft: &MemoryDraft,
    replacement: &UpdateMemory,
) -> Result<SaveRecord> {
    let MemoryAddress::Path(path) = &replacement.id else { return keep_note(tx, scope, draft) };
    let caller = scope.caller.clone().for_user(draft.user.as_deref())?;
    let scope = WriteScope { caller: &caller, ..scope };
    let own = Sight { workspaces: vec![caller.workspace.clone()], ..Sight::writing(&caller)? };
    let own = own.with_opaque();
    let found = find_document(tx, &caller, &own, path)?;
    let before = match (found, replacement.expected_revision.filter(|revision| *revision > 0)) {
        (None, None) => return keep_note(tx, scope, draft),
        (Some(before), Some(_)) => before,
        (None, Some(expected)) => {
            let reason = format!(
                "expected_revision: nothing is at {path}, so it is not at revision {expected}"
            );
            return Err(Error::conflict(reason)
                .with_field("expected_revision")
                .hint("Leave out `expected_revision` to save a new document there."));
        }
        (Some(there), None) => {
            let revision = there.revision;
            let reason =
                format!("path: your memory {} is at {path}, at revision {revision}", there.id);
            return Err(Error::conflict(reason).with_field("path").hint(format!(
                "Read it with `get_memory`; to replace it pass `expected_revision` {revision}."
            )));
        }
    };
    let basis = FoundBasis::find(tx, scope, &draft.basis, &draft.memory.full_text())?;
    let after = change_memory(tx, scope, &before, replacement)?;
    let stale = basis.record(tx, &after.workspace, [DerivedId::Memory(after.id)], scope.now)?;
    let is_known = after.revision == before.revision;
    let memory = show(tx, &own, after)?;
    Ok(SaveRecord { is_known, is_replaced: true, ..SaveRecord::of(memory, stale) })
}

/// Makes a change of each document below a folder; returns the first one, and what else was changed.
fn change_folder(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    folder: &DocumentPath,
    mut change: impl FnMut(&mut Tx<'_>, &StoredMemory) -> Result<StoredMemory>,
) -> Result<DeleteResult> {
    let (found, more) = changeable_below(tx, scope.caller, folder)?;
    let mut first = None;
    for before in &found {
        let after = change(tx, before)?;
        first.get_or_insert(after);
    }
    let first = first.ok_or_else(|| Error::not_found(format!("no document is below {folder}/")))?;
    let memory = show(tx, scope.sight, first)?;
    let further = found.len() as u64 - 1;
    Ok(DeleteResult { memory, folder: FolderResult { further, more } })
}

/// Makes a change of a memory that the caller may change; returns it as it is now.
fn change_memory(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    before: &StoredMemory,
    change: &UpdateMemory,
) -> Result<StoredMemory> {
    let WriteScope { caller, now, .. } = scope;
    access::may_change(caller, before)?;
    let mut after = before.clone();
    let changed = change.apply(&mut after, caller.user.as_deref())?;
    let after = match changed.is_empty() {
        true => before.clone(),
        false => {
            access::may_keep(&after.owner, after.sharing)?;
            let kind = EventKind::MemoryUpdated;
            MemoryChange { kind, fields: &changed, caller, now }.write(tx, before, after)?
        }
    };
    if let Some(old) = change.supersedes {
        supersede(tx, caller, old, &after, now).map_err(|error| error.with_field("supersedes"))?;
    }
    Ok(after)
}

fn keep_note(tx: &mut Tx<'_>, scope: WriteScope<'_>, draft: &MemoryDraft) -> Result<SaveRecord> {
    let WriteScope { caller, now, .. } = scope;
    let mut memory = admit(tx, &draft.memory)?;
    let case = find_named_case(tx, caller, draft.case.as_deref())?;
    let in_field = |error: Error| error.with_field("supersedes");
    let basis = FoundBasis::find(tx, scope, &draft.basis, &memory.full_text())?;
    let derived = [DerivedId::Memory(memory.id)];
    if let Some(old) = draft.supersedes {
        if memory.is_quarantined() {
            // It supersedes only when it is released; whether its author may supersede is decided
            // now.
            may_supersede(tx, caller, old, &memory).map_err(in_field)?;
            memory = memory.with_review(PendingReview { supersedes: vec![old], appeal: None });
        }
        let memory = insert_in(tx, caller, case, memory, now)?;
        let stale = basis.record(tx, &memory.workspace, derived, now)?;
        if !memory.is_quarantined() {
            supersede(tx, caller, old, &memory, now).map_err(in_field)?;
        }
        return Ok(SaveRecord::of(memory, stale));
    }
    let earlier = find_earlier(tx, caller, &memory)?;
    // What the author said before elsewhere is new to the case.
    if let Some(memory) = earlier.repeated.filter(|_| case.is_none()) {
        let memory = show(tx, &Sight::writing(caller)?, memory)?;
        let stale = basis.into_stale();
        return Ok(SaveRecord { is_known: true, ..SaveRecord::of(memory, stale) });
    }
    let retracted = find_retracted_twin(tx, caller, &memory)?;
    let memory = insert_in(tx, caller, case, memory, now)?;
    let stale = basis.record(tx, &memory.workspace, derived, now)?;
    for old in &earlier.corrected {
        replace(tx, caller, old, &memory, now)?;
    }
    let superseded = earlier.corrected.into_iter().map(|old| old.id).collect();
    Ok(SaveRecord { superseded, retracted, ..SaveRecord::of(memory, stale) })
}

/// The case that a save names, by its key or by an entry of it.
fn find_named_case(tx: &Tx<'_>, caller: &Caller, name: Option<&str>) -> Result<Option<Case>> {
    let Some(name) = name else { return Ok(None) };
    let in_field = |error: Error| error.with_field("case");
    let key = match MemoryId::parse(name) {
        None => name.parse().map_err(in_field)?,
        Some(entry) => {
            let sight = Sight::writing(caller)?;
            let found = tx.memory(&sight, entry)?.and_then(|memory| memory.case.clone());
            found.ok_or_else(|| {
                Error::not_found(format!("{name} is no entry of a case"))
                    .with_field("case")
                    .hint("Use a key from `list_cases`.")
            })?
        }
    };
    let case = find_case(tx, caller, &key).map_err(in_field)?;
    case.takes_entries().map_err(in_field)?;
    Ok(Some(case))
}

/// Stores a new memory, as the last entry of its case if it has one; returns it as stored.
fn insert_in(
    tx: &mut Tx<'_>,
    caller: &Caller,
    case: Option<Case>,
    memory: AdmittedMemory,
    now: Timestamp,
) -> Result<Memory> {
    let Some(case) = case else {
        insert(tx, &memory, now)?;
        return Ok(memory.into_memory());
    };
    let (key, position) = (Some(case.key.clone()), Some(case.version + 1));
    let memory = Memory { case: key, position, ..memory.into_memory() };
    append_one(tx, caller, case, memory.clone(), Vec::new(), now)?;
    Ok(memory)
}

/// Purges a memory with its event, which names no topics.
pub(super) fn purge(
    tx: &mut Tx<'_>,
    memory: &Memory,
    caller: &Caller,
    now: Timestamp,
) -> Result<()> {
    remove_memory(tx, EventKind::MemoryPurged, memory, caller, now)
}

/// Removes a memory for good with an event of this kind, which names no topics. What it superseded is
/// current again.
pub(super) fn remove_memory(
    tx: &mut Tx<'_>,
    kind: EventKind,
    memory: &Memory,
    caller: &Caller,
    now: Timestamp,
) -> Result<()> {
    settle_removal(tx, caller, memory, now)?;
    tx.append_event(&NewEvent::of(kind, memory, &caller.agent, now))?;
    tx.drop_proposals_of(&memory.workspace, memory.id)?;
    tx.purge_memory(memory)
}

/// How long a deleted memory can be restored.
pub(super) const RECOVERY_PERIOD: SignedDuration =
    SignedDuration::from_hours(24 * limits::DELETED_DAYS);

/// Memories deleted before this time cannot be restored any more.
pub(super) fn end_of_recovery(now: Timestamp) -> Timestamp {
    now.checked_sub(RECOVERY_PERIOD).unwrap_or(Timestamp::MIN)
}
