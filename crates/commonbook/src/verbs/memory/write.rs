//! Writing memories: saving one, superseding one by another, and the next revision of one.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::lookup::{changeable_memory, not_deleted};
use super::succession::settle_succession;
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::contradiction::MemoryStatements;
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::{AdmittedMemory, ListOrder, Memory, Sharing};
use crate::model::search::MemoryFilter;
use crate::store::Tx;
use crate::verbs::ops::basis::note_own_change;
use crate::verbs::ops::forgotten::refuse_or_cut_forgotten;
use crate::verbs::ops::heirs::show;
use crate::verbs::outdated::note_change;

/// Saves one memory with its event, judged together with what its author saved just before. Returns
/// the memory as saved.
///
/// # Errors
/// `conflict` if its author says again what was forgotten.
pub(in crate::verbs) fn keep_memory(
    tx: &mut Tx<'_>,
    memory: &Memory,
    now: Timestamp,
) -> Result<Memory> {
    let memory = admit(tx, memory)?;
    insert(tx, &memory, now)?;
    Ok(memory.into_memory())
}

/// The gate of a new memory.
///
/// # Errors
/// `conflict` if its author says again what was forgotten.
pub(super) fn admit(tx: &Tx<'_>, memory: &Memory) -> Result<AdmittedMemory> {
    let memory = refuse_or_cut_forgotten(tx, memory)?;
    // An imported text was not written by the importing agent, and is judged by itself.
    if memory.source.how == EntryPoint::Import {
        return Ok(AdmittedMemory::judged(memory));
    }
    judge_with_earlier(tx, memory).map(AdmittedMemory::judged)
}

/// Saves one memory as [`keep_memory`] does, to supersede others.
///
/// # Errors
/// `invalid` if the memory is quarantined: it would hide the others, and readers could not read it
/// either.
pub(in crate::verbs) fn keep_heir(
    tx: &mut Tx<'_>,
    memory: &Memory,
    heir_of: &[MemoryId],
    now: Timestamp,
) -> Result<Memory> {
    let memory = keep_memory(tx, memory, now)?;
    if memory.is_quarantined() && !heir_of.is_empty() {
        return Err(Error::invalid("supersedes", "a quarantined memory cannot supersede another")
            .hint("Append it without `supersedes`, or rephrase the text."));
    }
    Ok(memory)
}

/// The memory, quarantined if it completes an instruction that its author began before, in any session, or that
/// an agent above or below its author began: parts of one order do not pass by another name or session.
fn judge_with_earlier(tx: &Tx<'_>, mut memory: Memory) -> Result<Memory> {
    if memory.is_quarantined() || memory.is_opaque() {
        return Ok(memory);
    }
    let sight = Sight::of_owner(&memory);
    let newest =
        |filter: &MemoryFilter, limit| tx.memories(&sight, filter, ListOrder::Newest, None, limit);
    let owner = Some(memory.owner.to_string());
    let own = newest(&MemoryFilter { owner, ..MemoryFilter::default() }, limits::SPLIT_MEMORIES)?;
    let recent = newest(&MemoryFilter::default(), limits::SPLIT_NEIGHBOURS)?.into_iter();
    let family = recent.filter(|(_, other)| other.owner.root() == memory.owner.root());
    // Ids are in the order of time, over all workspaces.
    let mut earlier: BTreeMap<MemoryId, StoredMemory> =
        own.into_iter().chain(family).map(|(_, other)| (other.id, other)).collect();
    earlier.remove(&memory.id);
    let left_out = earlier.len().saturating_sub(limits::SPLIT_MEMORIES as usize);
    memory.judge_after(earlier.values().skip(left_out).map(|other| &**other));
    Ok(memory)
}

/// Refuses a current memory whose path another one has.
///
/// # Errors
/// `conflict` on `path`.
pub(in crate::verbs) fn refuse_taken_path(tx: &Tx<'_>, memory: &Memory) -> Result<()> {
    let is_there = memory.deleted_at.is_none() && memory.superseded_by.is_none();
    let Some(path) = memory.path.as_ref().filter(|_| is_there) else { return Ok(()) };
    match tx.path_holder(memory)? {
        None => Ok(()),
        Some(_) => {
            Err(Error::conflict(format!("path: {} has another document at {path}", memory.owner))
                .with_field("path")
                .hint("Choose another path, or move or delete the document that is there."))
        }
    }
}

/// Stores a memory as it is, with its event.
pub(in crate::verbs) fn insert(
    tx: &mut Tx<'_>,
    memory: &AdmittedMemory,
    now: Timestamp,
) -> Result<()> {
    refuse_taken_path(tx, memory)?;
    let event = NewEvent::of(EventKind::MemorySaved, memory, &memory.owner, now);
    let sequence = tx.append_event(&event)?;
    tx.insert_memory(memory, sequence)?;
    tx.put_claims(memory, &MemoryStatements::of(memory).keys())?;
    // Entities that the author names count at once; entities found in the text follow in the
    // background.
    if !memory.entities.is_empty() {
        tx.put_mentions(memory, &memory.author_mentions())?;
    }
    if memory.is_quarantined() {
        let event = NewEvent::of(EventKind::MemoryQuarantined, memory, &memory.owner, now);
        tx.append_event(&event)?;
    }
    Ok(())
}

pub(super) fn supersede(
    tx: &mut Tx<'_>,
    caller: &Caller,
    old: MemoryId,
    new: &Memory,
    now: Timestamp,
) -> Result<()> {
    let before = may_supersede(tx, caller, old, new)?;
    replace(tx, caller, &before, new, now).map(drop)
}

/// The memory that this caller wants to supersede.
pub(super) fn may_supersede(
    tx: &Tx<'_>,
    caller: &Caller,
    old: MemoryId,
    new: &Memory,
) -> Result<StoredMemory> {
    let before = not_deleted(changeable_memory(tx, caller, &Sight::writing(caller)?, old)?)?;
    access::may_change(caller, &before)?;
    may_replace(tx, caller, &before, new)?;
    Ok(before)
}

/// Lets one memory supersede another; the caller may decide that. Returns the superseded memory.
pub(in crate::verbs) fn replace(
    tx: &mut Tx<'_>,
    caller: &Caller,
    before: &StoredMemory,
    new: &Memory,
    now: Timestamp,
) -> Result<StoredMemory> {
    may_replace(tx, caller, before, new)?;
    let after = before.with(|after| after.superseded_by = Some(new.id));
    MemoryChange { kind: EventKind::MemorySuperseded, fields: &[], caller, now }
        .write(tx, before, after)
}

/// Whether one memory can supersede another, which the caller may change.
pub(super) fn may_replace(
    tx: &Tx<'_>,
    caller: &Caller,
    before: &StoredMemory,
    new: &Memory,
) -> Result<()> {
    if before.superseded_by.is_some() {
        let error = Error::conflict(format!("memory {} was superseded before", before.id));
        let shown = show(tx, &Sight::writing(caller)?, before.clone())?;
        return Err(match shown.superseded_by {
            Some(other) => error.hint(format!("Supersede {other} instead.")),
            None => error.hint("You may not read its successor; save your own version."),
        });
    }
    if let Some(path) = &before.path {
        let reason = format!(
            "memory {} is the document at {path}, which its owner changes in place",
            before.id
        );
        return Err(Error::conflict(reason)
            .hint("Save the new text with its `path` and `expected_revision`, or delete it."));
    }
    // One that has a successor itself leads on, or back: two memories would supersede each other.
    if !new.is_current() {
        let reason = format!("memory {} is not current, and cannot supersede another", new.id);
        return Err(Error::conflict(reason).hint("Supersede it by a current memory."));
    }
    if before.sharing == Sharing::Shared && new.sharing == Sharing::Private {
        let reason = "a private memory cannot supersede a memory that others read";
        return Err(Error::invalid("supersedes", reason)
            .hint("Share the new memory, or delete the old one."));
    }
    may_replace_subject(before, new)
}

/// Checks that the readers of a memory see the one that is to supersede it: a memory about a user
/// does not supersede one about the project.
pub(in crate::verbs) fn may_replace_subject(before: &Memory, new: &Memory) -> Result<()> {
    if new.user_id.is_none() || before.user_id.is_some() {
        return Ok(());
    }
    let reason = "a memory about a user cannot supersede one about the project";
    Err(Error::invalid("supersedes", reason)
        .hint("Set `about` to project, or leave `supersedes` out."))
}

/// A change of a memory: its kind of event, the fields that it touches, who makes it and when.
pub(in crate::verbs) struct MemoryChange<'c> {
    pub(in crate::verbs) kind: EventKind,
    pub(in crate::verbs) fields: &'c [&'static str],
    pub(in crate::verbs) caller: &'c Caller,
    pub(in crate::verbs) now: Timestamp,
}

impl MemoryChange<'_> {
    /// Writes `after` as the next revision, with its event, and settles who succeeds whom. New words pass the
    /// gate that those of a new memory pass.
    ///
    /// # Errors
    /// `conflict` if an agent says a forgotten text again, or if the path is taken.
    pub(in crate::verbs) fn write(
        &self,
        tx: &mut Tx<'_>,
        before: &Memory,
        after: StoredMemory,
    ) -> Result<StoredMemory> {
        if after.has_words_of(before) {
            return self.write_cut(tx, before, after);
        }
        let after = judge_with_earlier(tx, refuse_or_cut_forgotten(tx, &after)?)?;
        self.write_cut(tx, before, StoredMemory::of(after))
    }

    /// Writes as [`Self::write`] does a revision that has no new word.
    ///
    /// # Errors
    /// `conflict` if the path is taken.
    pub(in crate::verbs) fn write_cut(
        &self,
        tx: &mut Tx<'_>,
        before: &Memory,
        mut after: StoredMemory,
    ) -> Result<StoredMemory> {
        let quarantined = after.is_quarantined() && !before.is_quarantined();
        let taken = settle_succession(tx, self, before, &mut after)?;
        // A memory that no other supersedes any more is current again.
        if before.superseded_by.is_some() && after.superseded_by.is_none() {
            after.archived_at = None;
        }
        after.revision = before.revision + 1;
        after.revised_at = self.now.max(before.revised_at);
        after.revised_by = self.caller.agent.clone();
        refuse_taken_path(tx, &after)?;
        let reason = "new words passed the gate; else it says what it said, or less";
        tx.replace_memory(before, &AdmittedMemory::unjudged((*after).clone(), reason))?;
        if after.text != before.text
            || after.memory_type != before.memory_type
            || after.is_document() != before.is_document()
        {
            tx.put_claims(&after, &MemoryStatements::of(&after).keys())?;
        }
        let event = NewEvent::of(self.kind, &after, &self.caller.agent, self.now);
        tx.append_event(&event.with_changed_fields(self.fields))?;
        if quarantined {
            let (kind, actor) = (EventKind::MemoryQuarantined, &self.caller.agent);
            tx.append_event(&NewEvent::of(kind, &after, actor, self.now))?;
        }
        note_change(tx, before, &after, &self.caller.agent, self.now)?;
        note_own_change(tx, self.caller, &after, self.now)?;
        for old in taken {
            let superseded = old.with(|superseded| superseded.superseded_by = Some(after.id));
            Self { kind: EventKind::MemorySuperseded, fields: &[], ..*self }
                .write(tx, &old, superseded)?;
        }
        Ok(after)
    }
}
