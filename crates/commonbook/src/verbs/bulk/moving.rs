//! Moving memories of another workspace into this one, and moving them back.

use jiff::Timestamp;

use super::{BULK_BATCH_MAX, Commonbook, undone_before};
use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, OperationId};
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::bulk::{
    BulkItem, BulkKind, BulkOperation, BulkResult, BulkSelection, MoveMemories,
};
use crate::model::caller::Caller;
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::{AdmittedMemory, ListOrder, Memory};
use crate::model::search::MemoryFilter;
use crate::store::Tx;
use crate::verbs::memory::insert_moved;
use crate::verbs::ops::forgotten::says_forgotten;
use crate::verbs::ops::heirs::for_reader;

/// Both ends of a move: the caller in each workspace, and the operation there.
#[derive(Clone)]
struct MoveEnds {
    from: MoveEnd,
    to: MoveEnd,
    now: Timestamp,
}

/// One end of a move.
#[derive(Clone)]
struct MoveEnd {
    caller: Caller,
    sight: Sight,
    operation: BulkOperation,
}

/// The outcome for one memory.
enum MoveOutcome {
    Moved(Box<StoredMemory>),
    /// The other workspace has it already.
    Present,
    /// It has changed since it was selected, or says what was forgotten in the other workspace.
    Stays,
}

impl MoveEnd {
    fn of(caller: &Caller, operation: BulkOperation) -> Result<Self> {
        access::may_write_in(caller, &operation.workspace)?;
        let caller = Caller { workspace: operation.workspace.clone(), ..caller.clone() };
        let sight = Sight::writing_at_home(&caller)?.with_opaque();
        Ok(Self { caller, sight, operation })
    }
}

impl Commonbook {
    /// Moves memories of another workspace into the caller's, each with its id, owner and times.
    ///
    /// # Errors
    /// `invalid` with the field; `forbidden` for memories of others, unless a person calls, and for a token
    /// of one workspace.
    pub fn move_memories(&self, caller: &Caller, request: &MoveMemories) -> Result<BulkResult> {
        let now = self.clock.now();
        let (from, selection) = request.read(caller, now)?;
        self.policy.may_write(caller)?;
        let operation = self.bulk_operation(caller, BulkKind::Moved, now);
        let kind = BulkKind::MovedAway;
        let away = BulkOperation { workspace: from, kind, ..operation.clone() };
        let ends = MoveEnds {
            from: MoveEnd::of(caller, away)?,
            to: MoveEnd::of(caller, operation.clone())?,
            now,
        };
        let topic = request.topic.clone();
        let filter = MemoryFilter { topic, ..MemoryFilter::default() };
        let mut result = BulkResult::default();
        let mut after = None;
        loop {
            let sight = &ends.from.sight;
            let page = self
                .store
                .read(|tx| tx.memories(sight, &filter, ListOrder::Oldest, after, BULK_BATCH_MAX))?;
            let Some((last, _)) = page.last() else { break };
            after = Some(*last);
            let fitting =
                page.into_iter().map(|(_, memory)| memory).filter(|it| selection.fits(it));
            let (entries, memories): (Vec<_>, Vec<_>) =
                fitting.partition(|memory| memory.case.is_some());
            result.entries += entries.len() as u64;
            if request.dry_run {
                memories.iter().for_each(|memory| result.add(memory));
            } else if !memories.is_empty() {
                let ids = memories.iter().map(|memory| memory.id).collect();
                self.move_batch(&ends, ids, &selection, &mut result)?;
            }
        }
        result.operation = Some(operation.id).filter(|_| !request.dry_run && result.memories > 0);
        self.store.read(|tx| for_reader(tx, &ends.from.sight, result.clone()))
    }

    fn move_batch(
        &self,
        ends: &MoveEnds,
        ids: Vec<MemoryId>,
        selection: &BulkSelection,
        result: &mut BulkResult,
    ) -> Result<()> {
        let (of_batch, selection) = (ends.clone(), selection.clone());
        let outcomes = self.write_as(&ends.to.caller, ends.now, move |tx, _| {
            let MoveEnds { from, to, .. } = &of_batch;
            tx.put_bulk_operation(&from.operation)?;
            tx.put_bulk_operation(&to.operation)?;
            let move_one = |id: &MemoryId| of_batch.move_memory(tx, *id, &selection);
            ids.iter().map(move_one).collect::<Result<Vec<_>>>()
        })?;
        for outcome in outcomes {
            match outcome {
                MoveOutcome::Moved(memory) => result.add(&memory),
                MoveOutcome::Present => result.present += 1,
                MoveOutcome::Stays => {}
            }
        }
        Ok(())
    }

    /// Moves the memories of a move back that nobody has changed since.
    ///
    /// # Errors
    /// `conflict` if that was done before.
    pub(super) fn undo_move(&self, caller: &Caller, id: OperationId) -> Result<BulkResult> {
        let ends = self.ends_of(caller, id)?;
        let mut result = BulkResult { operation: Some(id), ..BulkResult::default() };
        let mut any = false;
        loop {
            let of_batch = ends.clone();
            let (taken, done) =
                self.write_as(caller, ends.now, move |tx, _| of_batch.move_back(tx))?;
            any |= taken > 0;
            done.iter().for_each(|memory| result.add(memory));
            if taken < BULK_BATCH_MAX as usize {
                break;
            }
        }
        if !any {
            return Err(undone_before(id));
        }
        self.store.read(|tx| for_reader(tx, &ends.to.sight, result.clone()))
    }

    /// Both ends of a move that one of them knows.
    fn ends_of(&self, caller: &Caller, id: OperationId) -> Result<MoveEnds> {
        let gone = || Error::not_found(format!("the workspaces of operation {id} are gone"));
        let operations = self.store.read(|tx| {
            let workspaces = tx.workspaces()?;
            let found = workspaces.iter().map(|workspace| tx.bulk_operation(workspace, id));
            Ok(found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect::<Vec<_>>())
        })?;
        let end = |kind: BulkKind| {
            let operation = operations.iter().find(|operation| operation.kind == kind);
            let operation = operation.ok_or_else(gone)?;
            MoveEnd::of(caller, operation.clone())
        };
        let now = self.clock.now();
        Ok(MoveEnds { from: end(BulkKind::MovedAway)?, to: end(BulkKind::Moved)?, now })
    }
}

impl MoveEnds {
    fn move_memory(
        &self,
        tx: &mut Tx<'_>,
        id: MemoryId,
        selection: &BulkSelection,
    ) -> Result<MoveOutcome> {
        let Self { from, to, .. } = self;
        let found = tx.memory(&from.sight, id)?;
        let Some(memory) = found.filter(|memory| selection.fits(memory)) else {
            return Ok(MoveOutcome::Stays);
        };
        let copy = Memory { workspace: to.operation.workspace.clone(), ..(*memory).clone() };
        let of_owner = Sight { workspaces: vec![copy.workspace.clone()], ..Sight::of_owner(&copy) };
        if tx.path_holder(&copy)?.is_some() {
            return Ok(MoveOutcome::Present);
        }
        // What was forgotten here does not come back from elsewhere.
        if says_forgotten(tx, &copy)? {
            return Ok(MoveOutcome::Stays);
        }
        let revision = match tx.memory(&of_owner, id)? {
            // It was moved before, and moved back.
            Some(earlier) if earlier.deleted_at.is_some() => {
                let copy = earlier.with(|it| *it = copy);
                self.write(tx, to, EventKind::MemoryRestored, &earlier, copy)?
            }
            Some(_) => return Ok(MoveOutcome::Present),
            None if tx.was_imported(&copy)? => return Ok(MoveOutcome::Present),
            None => {
                let copy =
                    AdmittedMemory::unjudged(copy, "its words were judged where it comes from");
                insert_moved(tx, &copy, self.now)?;
                copy.revision
            }
        };
        let gone = memory.with(|it| it.deleted_at = Some(self.now));
        let left = self.write(tx, from, EventKind::MemoryDeleted, &memory, gone)?;
        for (end, revision) in [(from, left), (to, revision)] {
            let owner = memory.owner.clone();
            tx.add_bulk_item(&end.operation, &BulkItem { memory: id, owner, revision })?;
        }
        Ok(MoveOutcome::Moved(Box::new(memory)))
    }

    /// Moves a batch back; returns how many there were, and those that are back.
    fn move_back(&self, tx: &mut Tx<'_>) -> Result<(usize, Vec<StoredMemory>)> {
        let Self { from, to, .. } = self;
        let moved = tx.take_bulk_items(&to.operation, BULK_BATCH_MAX)?;
        let left = tx.take_bulk_items(&from.operation, BULK_BATCH_MAX)?;
        let mut done = Vec::new();
        for item in &moved {
            let original = left.iter().find(|original| original.memory == item.memory);
            let (Some(copy), Some(memory), Some(original)) = (
                tx.memory(&to.sight, item.memory)?,
                tx.memory(&from.sight, item.memory)?,
                original,
            ) else {
                continue;
            };
            let back = memory.with(|it| it.deleted_at = None);
            let is_free = tx.path_holder(&back)?.is_none();
            if is_free && copy.revision == item.revision && memory.revision == original.revision {
                let gone = copy.with(|it| it.deleted_at = Some(self.now));
                self.write(tx, to, EventKind::MemoryDeleted, &copy, gone)?;
                self.write(tx, from, EventKind::MemoryRestored, &memory, back)?;
                done.push(copy);
            }
        }
        Ok((moved.len(), done))
    }

    /// Writes the next revision of a memory, which succeeds and is succeeded as before: those memories are in
    /// the other workspace, or follow. Returns the revision.
    fn write(
        &self,
        tx: &mut Tx<'_>,
        end: &MoveEnd,
        kind: EventKind,
        before: &Memory,
        mut after: StoredMemory,
    ) -> Result<u64> {
        after.revision = before.revision + 1;
        after.revised_at = self.now.max(before.revised_at);
        after.revised_by = end.caller.agent.clone();
        let after = AdmittedMemory::unjudged((*after).clone(), "its words stay");
        tx.replace_memory(before, &after)?;
        tx.append_event(&NewEvent::of(kind, &after, &end.caller.agent, self.now))?;
        Ok(after.revision)
    }
}
