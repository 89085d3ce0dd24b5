//! Undoing the last change of a caller: every memory of it is again what it was before.
//!
//! A change is what one write did, so all events of memories that the caller caused at one time: a save with
//! what it superseded, a batch, an update, a deletion. Undoing is a change too: undoing once more
//! brings back what was undone.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Commonbook;
use super::memory::MemoryChange;
use super::ops::write_once::WriteScope;
use super::retraction::RETRACTION_FIELDS;
use crate::base::error::{Error, Result};
use crate::base::id::{self, MemoryId, OperationId};
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::bulk::{BulkResult, UndoOperation};
use crate::model::caller::Caller;
use crate::model::event::{Event, EventFilter, EventKind, JournalRange};
use crate::model::memory::{Memory, changed_fields};
use crate::store::Tx;

/// Positions of the journal that are read at once, from its end backwards.
const JOURNAL_WINDOW: u64 = 2_000;

/// Memories of one change that can be undone at once.
const UNDO_MEMORIES_MAX: usize = 1_000;

/// The kinds of events that are changes of their actor.
const CHANGE_KINDS: [EventKind; 12] = [
    EventKind::CaseAppended,
    EventKind::MemorySaved,
    EventKind::MemoryUpdated,
    EventKind::MemorySuperseded,
    EventKind::MemoryRetracted,
    EventKind::MemoryDeleted,
    EventKind::MemoryRestored,
    EventKind::MemoryPurged,
    EventKind::MemoryRevisionPurged,
    EventKind::MemoryForgotten,
    EventKind::MemoryAppealed,
    EventKind::MemoryReleased,
];

/// The last change of a caller.
struct LastChange {
    /// Its events, oldest first.
    events: Vec<Event>,
    /// The operation that made it and that was not undone.
    operation: Option<OperationId>,
}

/// The first and the last event of one memory in a change.
#[derive(Clone, Copy)]
struct EventSpan {
    first: u64,
    last: u64,
}

/// The undoing of a change.
struct Undo<'u> {
    scope: WriteScope<'u>,
    sight: &'u Sight,
    /// The end of the journal before it.
    until: u64,
    /// The memories of the change.
    spans: &'u BTreeMap<MemoryId, EventSpan>,
}

impl Commonbook {
    /// Undoes the caller's last change of memories in its workspace.
    ///
    /// # Errors
    /// `not_found` if there is none; `conflict` if it cannot be undone, or if another agent has
    /// changed a memory of it since.
    pub(super) fn undo_last_change(
        &self,
        caller: &Caller,
        request: &UndoOperation,
    ) -> Result<BulkResult> {
        let sight = Sight::writing_at_home(caller)?;
        let last = self.store.read(|tx| last_change(tx, caller, &sight))?;
        if let Some(operation) = last.operation {
            return self.undo_bulk_operation(caller, operation);
        }
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            // Read again: another call may have changed something since.
            let last = last_change(tx, scope.caller, &sight)?;
            undo_change(tx, scope, &sight, &last.events)
        })?;
        Ok(once.answer)
    }
}

/// The last change of the caller, from the end of the journal backwards.
fn last_change(tx: &Tx<'_>, caller: &Caller, sight: &Sight) -> Result<LastChange> {
    let filter = EventFilter {
        kinds: CHANGE_KINDS.to_vec(),
        actor: Some(caller.agent.clone()),
        ..EventFilter::default()
    };
    let mut events: Vec<Event> = Vec::new();
    let mut until = tx.journal_end(&caller.workspace)?;
    while until > 0 {
        let after = until.saturating_sub(JOURNAL_WINDOW);
        let workspace = caller.workspace.clone();
        let range = JournalRange { workspace, after, until, filter: filter.clone() };
        let mut found = tx.events(sight, &range, u32::MAX)?;
        found.retain(|event| event.actor == caller.agent);
        let at = events.first().or(found.last()).map(|event| event.at);
        let begins_before = found.iter().any(|event| Some(event.at) != at);
        found.retain(|event| Some(event.at) == at);
        found.append(&mut events);
        events = found;
        if begins_before || events.len() > UNDO_MEMORIES_MAX {
            break;
        }
        until = after;
    }
    let Some(last) = events.last() else {
        return Err(Error::not_found(format!(
            "{} has changed no memory in workspace {}",
            caller.agent, caller.workspace
        ))
        .hint("`list_events` shows who changed what; `restore_memory` brings back a revision."));
    };
    let operation = tx.open_operation(&caller.workspace, &caller.agent, last.at)?;
    Ok(LastChange { events, operation })
}

/// Makes every memory of a change what it was before it.
fn undo_change(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    sight: &Sight,
    events: &[Event],
) -> Result<BulkResult> {
    if events.len() > UNDO_MEMORIES_MAX {
        let reason = format!("your last change has more than {UNDO_MEMORIES_MAX} events");
        return Err(Error::conflict(reason)
            .hint("Undo an operation by its id, or restore memories with `restore_memory`."));
    }
    // In the order of the change.
    let mut spans: BTreeMap<MemoryId, EventSpan> = BTreeMap::new();
    let mut order: Vec<MemoryId> = Vec::new();
    for event in events {
        refuse_final(event)?;
        let Some(id) = MemoryId::parse(&event.subject) else { continue };
        let sequence = event.sequence;
        let span = spans.entry(id).or_insert_with(|| {
            order.push(id);
            EventSpan { first: sequence, last: sequence }
        });
        span.last = sequence;
    }
    let undo =
        Undo { scope, sight, until: tx.journal_end(&scope.caller.workspace)?, spans: &spans };
    let mut result = BulkResult::default();
    for id in order {
        let Some(span) = spans.get(&id) else { continue };
        let memory = undo.undo_memory(tx, id, *span)?;
        result.add(&memory);
    }
    result.undone = Some(undone_text(events, &result.items));
    Ok(result)
}

/// Refuses a change that nothing takes back.
fn refuse_final(event: &Event) -> Result<()> {
    let subject = id::handle(&event.subject);
    match event.kind {
        EventKind::MemoryPurged | EventKind::MemoryRevisionPurged | EventKind::MemoryForgotten => {
            Err(Error::conflict(
                "your last change removed something for good, and nothing brings it back",
            )
            .hint("To undo what you did before it, use `restore_memory` with a `revision`."))
        }
        EventKind::CaseAppended => Err(Error::conflict(format!(
            "your last change appended to case {}, and entries stay",
            event.subject
        ))
        .hint("Append an entry that supersedes it, with `append_entries`.")),
        EventKind::MemoryRestored if event.changed == RETRACTION_FIELDS => {
            Err(Error::conflict(format!("your last change took back the retraction of {subject}"))
                .hint("Retract it again with `retract_memory`."))
        }
        _ => Ok(()),
    }
}

impl Undo<'_> {
    /// Makes a memory what it was before the events of its span; returns it as it was after them.
    fn undo_memory(&self, tx: &mut Tx<'_>, id: MemoryId, span: EventSpan) -> Result<StoredMemory> {
        let Self { scope: WriteScope { caller, now, .. }, sight, until, spans } = *self;
        let EventSpan { first, last } = span;
        let handle = id::handle(&id.to_string()).to_owned();
        let gone = || Error::conflict(format!("memory {handle} is gone since your last change"));
        let present = tx.memory(sight, id)?.ok_or_else(gone)?;
        access::may_change(caller, &present)?;
        let earlier =
            tx.revisions_after(sight, &present.workspace, &[id], first.saturating_sub(1))?;
        // This undo changes what the memories of the change supersede.
        let mut changes = earlier.iter().filter_map(|revision| revision.ended);
        if changes.any(|ended| ended > last && ended <= until) {
            let reason = format!(
                "{} changed memory {handle} after your last change; it is at revision {}",
                present.revised_by, present.revision
            );
            return Err(Error::conflict(reason).hint(
            "`memory_history` shows both; `restore_memory` with a `revision` chooses what it says.",
        ));
        }
        let before = earlier.into_iter().find(|revision| revision.ended == Some(first));
        let after = match before {
            Some(revision) => {
                let gone =
                    || revision.purged.as_ref().map_or_else(gone, |_| revision.purged_error());
                let before = revision.snapshot.clone().ok_or_else(gone)?;
                before_again(tx, caller, &present, &before, spans)?
            }
            None if present.revision == 1 => present.with(|after| after.deleted_at = Some(now)),
            None => {
                return Err(Error::conflict(format!(
                    "memory {handle} has no earlier revision left"
                ))
                .hint("`memory_history` shows what it said."));
            }
        };
        let mut fields = changed_fields(&present, &after);
        fields.extend((present.owner != after.owner).then_some("owner"));
        let kind = match (present.deleted_at.is_some(), after.deleted_at.is_some()) {
            (false, true) => EventKind::MemoryDeleted,
            (true, false) => EventKind::MemoryRestored,
            _ if present.superseded_by.is_none() && after.superseded_by.is_some() => {
                EventKind::MemorySuperseded
            }
            _ => {
                fields.extend(
                    (present.superseded_by != after.superseded_by).then_some("superseded_by"),
                );
                EventKind::MemoryUpdated
            }
        };
        MemoryChange { kind, fields: &fields, caller, now }.write(tx, &present, after)?;
        Ok(present)
    }
}

/// A memory as it was in an earlier revision, as it may be saved now.
pub(super) fn earlier_state(
    tx: &Tx<'_>,
    caller: &Caller,
    present: &Memory,
    before: &StoredMemory,
) -> Result<StoredMemory> {
    before_again(tx, caller, present, before, &BTreeMap::new())
}

/// A memory as it was before, as it may be saved now. A successor that is gone comes back with it if the
/// same change is undone for both.
fn before_again(
    tx: &Tx<'_>,
    caller: &Caller,
    present: &Memory,
    before: &StoredMemory,
    spans: &BTreeMap<MemoryId, EventSpan>,
) -> Result<StoredMemory> {
    let mut after = before.clone();
    after.receive(Some(present))?;
    access::may_keep(&after.owner, after.sharing)?;
    if after.owner != present.owner {
        access::may_change(caller, &after)?;
    }
    let heir = after.superseded_by.filter(|heir| !spans.contains_key(heir));
    if let Some(heir) = heir.filter(|_| present.superseded_by.is_none()) {
        let heir_sight = Sight::of_owner(&after);
        if tx.memory(&heir_sight, heir)?.is_none_or(|heir| heir.deleted_at.is_some()) {
            let reason = format!("memory {heir} is gone, and cannot supersede another");
            return Err(Error::conflict(reason).hint("Restore it first, with `restore_memory`."));
        }
    }
    Ok(after)
}

/// What was undone, in a sentence.
fn undone_text(events: &[Event], items: &[Memory]) -> String {
    let at = events.first().map_or(Timestamp::UNIX_EPOCH, |event| event.at);
    let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
    let noun = [
        (EventKind::MemorySaved, "save"),
        (EventKind::MemoryDeleted, "deletion"),
        (EventKind::MemoryRestored, "restoration"),
        (EventKind::MemoryRetracted, "retraction"),
        (EventKind::MemorySuperseded, "replacement"),
    ]
    .into_iter()
    .find_map(|(kind, noun)| kinds.contains(&kind).then_some(noun))
    .unwrap_or("change");
    let subject = match items {
        [memory] => {
            let id = memory.id.to_string();
            format!("memory {}", id::handle(&id))
        }
        _ => format!("{} memories", items.len()),
    };
    format!("your {noun} of {subject} at {at}")
}
