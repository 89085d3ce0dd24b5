//! Bulk operations: adopting and purging many memories at once, and undoing it.

mod moving;
mod standing_items;
mod trace;
mod trace_change;

use jiff::Timestamp;

use super::memory::MemoryChange;
use super::retraction::{RETRACTION_FIELDS, take_back};
use super::{Commonbook, consolidation};
use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, OperationId};
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::bulk::{
    AdoptMemories, BulkItem, BulkKind, BulkOperation, BulkResult, BulkSelection, PurgeSince,
    PurgeTrace, TraceFate, UndoOperation,
};
use crate::model::caller::Caller;
use crate::model::event::EventKind;
use crate::model::memory::{ListOrder, Memory, Trust};
use crate::model::search::MemoryFilter;
use crate::model::token::TokenScope;
use crate::store::Tx;
use crate::verbs::entity::join::undo_merges;
use crate::verbs::ops::heirs::for_reader;

/// Memories per transaction; other writers get their turn in between.
const BULK_BATCH_MAX: u32 = 200;

impl Commonbook {
    /// Gives memories another owner.
    ///
    /// # Errors
    /// `forbidden` if the caller is not an administrator; `invalid` with the field.
    pub fn adopt_memories(&self, caller: &Caller, request: &AdoptMemories) -> Result<BulkResult> {
        access::require_scope(caller, TokenScope::Admin)?;
        let now = self.clock.now();
        let (to, selection) = request.read(now)?;
        let filter = MemoryFilter {
            memory_type: request.memory_type.as_ref().map(ToString::to_string),
            topic: request.topic.clone(),
            ..MemoryFilter::default()
        };
        self.policy.may_write(caller)?;
        let operation = self.bulk_operation(caller, BulkKind::Adopted, now);
        let action = BulkAction::Adopt(to);
        self.run_bulk(caller, &selection, &filter, &action, request.dry_run, &operation)
    }

    /// Gives the person what was saved at the command line without a name, in every workspace. What waits for
    /// a review stays as it is: nobody has vouched for it. Returns the number of memories.
    ///
    /// # Errors
    /// As [`Self::adopt_memories`].
    pub fn adopt_unnamed(&self, caller: &Caller) -> Result<u64> {
        access::require_scope(caller, TokenScope::Admin)?;
        let now = self.clock.now();
        self.policy.may_write(caller)?;
        let selection = BulkSelection::unnamed_at_cli();
        let filter = MemoryFilter {
            owner: Some(Agent::anonymous().into()),
            trust: Some(Trust::Normal),
            ..MemoryFilter::default()
        };
        let mut memories = 0;
        for workspace in self.store.read(|tx| tx.workspaces())? {
            let caller = Caller { workspace, ..caller.clone() };
            let operation = self.bulk_operation(&caller, BulkKind::Adopted, now);
            let action = BulkAction::Adopt(Agent::human());
            let done = self.run_bulk(&caller, &selection, &filter, &action, false, &operation)?;
            memories += done.memories;
        }
        Ok(memories)
    }

    /// Deletes the memories of the caller and its children since a time, and takes back what else they
    /// did since. What stays is named in the answer.
    ///
    /// # Errors
    /// `invalid` with the field; `unavailable` if a standing memory file cannot be written.
    pub fn purge_since(&self, caller: &Caller, request: &PurgeSince) -> Result<BulkResult> {
        let now = self.clock.now();
        let selection = request.read(&caller.agent, now)?;
        self.policy.may_write(caller)?;
        let kind = BulkKind::Purged;
        let operation = self.bulk_operation(caller, kind, now);
        // First, as they are found by the memories. A purge that ends early finds the rest again.
        let mut traces = self.purge_traces(caller, &selection, &operation, request.dry_run)?;
        traces.extend(self.purge_standing_items(caller, &selection, request.dry_run, now)?);
        let (filter, action) = (MemoryFilter::default(), BulkAction::Purge);
        let mut result =
            self.run_bulk(caller, &selection, &filter, &action, request.dry_run, &operation)?;
        let is_retracted = |trace: &PurgeTrace| trace.fate == TraceFate::Retracted;
        if !request.dry_run && traces.iter().any(is_retracted) {
            result.operation = Some(operation.id);
        }
        result.add_traces(traces);
        Ok(result)
    }

    fn bulk_operation(&self, caller: &Caller, kind: BulkKind, at: Timestamp) -> BulkOperation {
        let id = OperationId::new(&*self.ids, at);
        let (workspace, agent) = (caller.workspace.clone(), caller.agent.clone());
        BulkOperation { id, workspace, kind, agent, at }
    }

    /// Applies the action to every selected memory, one batch per transaction: an interrupted
    /// operation has changed fewer memories.
    fn run_bulk(
        &self,
        caller: &Caller,
        selection: &BulkSelection,
        filter: &MemoryFilter,
        action: &BulkAction,
        dry_run: bool,
        operation: &BulkOperation,
    ) -> Result<BulkResult> {
        let (id, now) = (operation.id, operation.at);
        let sight = Sight::writing_at_home(caller)?.with_opaque();
        let mut result = BulkResult::default();
        let mut from = None;
        loop {
            let page = self
                .store
                .read(|tx| tx.memories(&sight, filter, ListOrder::Oldest, from, BULK_BATCH_MAX))?;
            let Some((last, _)) = page.last() else {
                return self.store.read(|tx| for_reader(tx, &sight, result.clone()));
            };
            from = Some(*last);
            let stays = |(_, memory): &&(u64, StoredMemory)| {
                memory.case.is_some() && selection.fits(memory) && action.would_change(memory)
            };
            result.entries += page.iter().filter(stays).count() as u64;
            let fitting: Vec<StoredMemory> = page
                .into_iter()
                .map(|(_, memory)| memory)
                .filter(|memory| selection.fits(memory) && action.changes_memory(memory))
                .collect();
            if fitting.is_empty() {
                continue;
            }
            if dry_run {
                fitting.iter().for_each(|memory| result.add(memory));
                continue;
            }
            let ids: Vec<MemoryId> = fitting.iter().map(|memory| memory.id).collect();
            let (operation, action, selection) =
                (operation.clone(), action.clone(), selection.clone());
            let sight = sight.clone();
            let done = self.write_as(caller, now, move |tx, caller| {
                tx.put_bulk_operation(&operation)?;
                let mut done = Vec::new();
                for id in &ids {
                    // The memory may have changed since the page was read.
                    let Some(memory) = tx.memory(&sight, *id)? else { continue };
                    let fits = selection.fits(&memory) && action.changes_memory(&memory);
                    if fits && action.has_place(tx, &memory)? {
                        let after = action.apply_to_memory(tx, caller, &memory, now)?;
                        let owner = memory.owner.clone();
                        let item = BulkItem { memory: *id, owner, revision: after.revision };
                        tx.add_bulk_item(&operation, &item)?;
                        done.push(memory);
                    }
                }
                Ok(done)
            })?;
            done.iter().for_each(|memory| result.add(memory));
            result.operation = Some(id).filter(|_| result.memories > 0);
        }
    }

    /// Reverses a bulk operation of the caller, or its last change. Memories of an operation that
    /// changed since stay as they are.
    ///
    /// # Errors
    /// `not_found` if the workspace has no such operation, or if another agent ran it; `conflict`
    /// if it was reversed before, or if another agent changed a memory of the last change since.
    pub fn undo_operation(&self, caller: &Caller, request: &UndoOperation) -> Result<BulkResult> {
        self.policy.may_write(caller)?;
        match request.operation_id {
            Some(id) => self.undo_bulk_operation(caller, id),
            None => self.undo_last_change(caller, request),
        }
    }

    /// Reverses the operation with this id.
    ///
    /// # Errors
    /// As [`Self::undo_operation`].
    pub(super) fn undo_bulk_operation(
        &self,
        caller: &Caller,
        id: OperationId,
    ) -> Result<BulkResult> {
        let now = self.clock.now();
        let found = self.store.read(|tx| tx.bulk_operation(&caller.workspace, id))?;
        let Some(operation) = found.filter(|operation| operation.agent == caller.agent) else {
            return Err(Error::not_found(format!("no bulk operation {id} of yours exists in this workspace")).hint(
                "Use the `operation` id from the response of `adopt_memories`, `purge_since`, `consolidate_memory` or `retract_memory`; only the agent that ran it can undo it.",
            ));
        };
        // A memory of `global` can be retracted from any workspace.
        let sight = match operation.kind {
            BulkKind::Moved | BulkKind::MovedAway => return self.undo_move(caller, id),
            BulkKind::Retracted => Sight::writing(caller)?,
            _ => Sight::writing_at_home(caller)?,
        }
        .with_opaque();
        let mut result = BulkResult { operation: Some(id), ..BulkResult::default() };
        let mut any = false;
        loop {
            let (operation, sight) = (operation.clone(), sight.clone());
            let (taken, done) = self.write_as(caller, now, move |tx, caller| {
                let taken = tx.take_bulk_items(&operation, BULK_BATCH_MAX)?;
                let mut done = Vec::new();
                for item in &taken {
                    let Some(memory) = tx.memory(&sight, item.memory)? else { continue };
                    if memory.revision == item.revision {
                        if operation.kind == BulkKind::Consolidated {
                            consolidation::take_back(tx, caller, &memory, now)?;
                            done.push(memory);
                            continue;
                        }
                        let (kind, fields) = undoing_event(operation.kind, &memory);
                        let owner = item.owner.clone();
                        let retraction =
                            memory.retraction.clone().filter(|_| fields != RETRACTION_FIELDS);
                        let after = memory.with(|after| {
                            (after.owner, after.deleted_at) = (owner, None);
                            after.retraction = retraction;
                        });
                        // A document stays where it is while another has its place.
                        if tx.path_holder(&after)?.is_some() {
                            continue;
                        }
                        MemoryChange { kind, fields, caller, now }.write(tx, &memory, after)?;
                        done.push(memory);
                    }
                }
                if operation.kind == BulkKind::Retracted && !done.is_empty() {
                    take_back(tx, &operation, now)?;
                }
                Ok((taken.len(), done))
            })?;
            any |= taken > 0;
            done.iter().for_each(|memory| result.add(memory));
            if taken < BULK_BATCH_MAX as usize {
                break;
            }
        }
        if operation.kind == BulkKind::Consolidated {
            let operation = operation.clone();
            let entities = self.write_as(caller, now, move |tx, caller| {
                undo_merges(tx, &operation, &caller.agent, now)
            })?;
            result.memories += entities;
            any |= entities > 0;
        }
        if !any {
            return Err(undone_before(id));
        }
        self.store.read(|tx| for_reader(tx, &sight, result.clone()))
    }
}

/// The event of a memory that an undone operation changed, with the fields that go back.
fn undoing_event(kind: BulkKind, memory: &Memory) -> (EventKind, &'static [&'static str]) {
    match kind {
        BulkKind::Adopted => (EventKind::MemoryUpdated, OWNER_FIELDS),
        BulkKind::Purged if memory.deleted_at.is_some() => (EventKind::MemoryRestored, &[][..]),
        // What a purge did not delete it retracted.
        _ => (EventKind::MemoryRestored, RETRACTION_FIELDS),
    }
}

fn undone_before(id: OperationId) -> Error {
    Error::conflict(format!("bulk operation {id} was undone before"))
}

/// The field that changes when a memory is adopted.
const OWNER_FIELDS: &[&str] = &["owner"];

/// The change of each memory.
#[derive(Debug, Clone)]
enum BulkAction {
    Adopt(Agent),
    Purge,
}

impl BulkAction {
    /// Whether the action changes this memory. Entries of cases never change.
    fn changes_memory(&self, memory: &Memory) -> bool {
        memory.case.is_none() && self.would_change(memory)
    }

    fn would_change(&self, memory: &Memory) -> bool {
        match self {
            Self::Adopt(to) => memory.owner != *to,
            Self::Purge => true,
        }
    }

    /// Whether the path of a document is free where the action takes it.
    fn has_place(&self, tx: &Tx<'_>, memory: &StoredMemory) -> Result<bool> {
        let Self::Adopt(to) = self else { return Ok(true) };
        let adopted = memory.with(|adopted| adopted.owner = to.clone());
        Ok(tx.path_holder(&adopted)?.is_none())
    }

    fn apply_to_memory(
        &self,
        tx: &mut Tx<'_>,
        caller: &Caller,
        memory: &StoredMemory,
        now: Timestamp,
    ) -> Result<StoredMemory> {
        let (kind, fields, after) = match self {
            Self::Adopt(to) => {
                let after = memory.with(|after| after.owner = to.clone());
                (EventKind::MemoryUpdated, OWNER_FIELDS, after)
            }
            Self::Purge => {
                let after = memory.with(|after| after.deleted_at = Some(now));
                (EventKind::MemoryDeleted, &[][..], after)
            }
        };
        MemoryChange { kind, fields, caller, now }.write(tx, memory, after)
    }
}
