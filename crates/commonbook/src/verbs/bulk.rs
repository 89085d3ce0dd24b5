//! Adopting and purging many memories at once, and taking it back.

use jiff::Timestamp;

use super::Commonbook;
use super::memory::MemoryChange;
use crate::base::error::{Error, Result};
use crate::base::id::{ActId, MemoryId};
use crate::model::access::{self, Sight};
use crate::model::agent::Agent;
use crate::model::bulk::{
    AdoptMemories, BulkItem, BulkKind, BulkOperation, BulkResult, BulkSelection, PurgeSince,
    UndoAct,
};
use crate::model::caller::Caller;
use crate::model::event::EventKind;
use crate::model::memory::{ListOrder, Memory};
use crate::model::search::MemoryFilter;
use crate::model::token::TokenScope;
use crate::store::Transaction;

/// Memories of one transaction: others write in between.
const BULK_BATCH_MAX: u32 = 200;

impl Commonbook {
    /// Gives memories another owner.
    ///
    /// # Errors
    /// `forbidden` for who is no administrator; `invalid` with the field.
    pub fn adopt_memories(&self, caller: &Caller, request: &AdoptMemories) -> Result<BulkResult> {
        access::require_scope(caller, TokenScope::Admin)?;
        let now = self.clock.now();
        let (to, meant) = request.read(now)?;
        let filter = MemoryFilter {
            memory_type: request.memory_type.as_ref().map(ToString::to_string),
            topic: request.topic.clone(),
            ..MemoryFilter::default()
        };
        self.run_bulk(caller, &meant, &filter, &BulkAction::Adopt(to), request.dry_run, now)
    }

    /// Deletes the memories of the caller and its children since a time.
    ///
    /// # Errors
    /// `invalid` with the field.
    pub fn purge_since(&self, caller: &Caller, request: &PurgeSince) -> Result<BulkResult> {
        let now = self.clock.now();
        let meant = request.read(&caller.agent, now)?;
        self.run_bulk(
            caller,
            &meant,
            &MemoryFilter::default(),
            &BulkAction::Purge,
            request.dry_run,
            now,
        )
    }

    /// Does this to every memory that is meant, some at a time: what is broken off is an act that
    /// was done to fewer.
    fn run_bulk(
        &self,
        caller: &Caller,
        selection: &BulkSelection,
        filter: &MemoryFilter,
        deed: &BulkAction,
        dry_run: bool,
        now: Timestamp,
    ) -> Result<BulkResult> {
        self.policy.may_write(caller)?;
        let id = ActId::new(&*self.ids, now);
        let (kind, agent) = (deed.kind(), caller.agent.clone());
        let act = BulkOperation { id, workspace: caller.workspace.clone(), kind, agent, at: now };
        let sight = Sight { workspaces: vec![caller.workspace.clone()], ..Sight::writing(caller)? };
        let mut acted = BulkResult::default();
        let mut from = None;
        loop {
            let page = self
                .store
                .read(|tx| tx.memories(&sight, filter, ListOrder::Oldest, from, BULK_BATCH_MAX))?;
            let Some((last, _)) = page.last() else { return Ok(acted) };
            from = Some(*last);
            let stays = |(_, memory): &&(u64, Memory)| {
                memory.case.is_some() && selection.fits(memory) && deed.would_change(memory)
            };
            acted.entries += page.iter().filter(stays).count() as u64;
            let fitting: Vec<Memory> = page
                .into_iter()
                .map(|(_, memory)| memory)
                .filter(|memory| selection.fits(memory) && deed.changes_memory(memory))
                .collect();
            if fitting.is_empty() {
                continue;
            }
            if dry_run {
                fitting.iter().for_each(|memory| acted.add(memory));
                continue;
            }
            let ids: Vec<MemoryId> = fitting.iter().map(|memory| memory.id).collect();
            let (act, deed, selection) = (act.clone(), deed.clone(), selection.clone());
            let (caller, sight) = (caller.clone(), sight.clone());
            let done = self.store.write(move |tx| {
                tx.note_agent_seen(&caller, now)?;
                tx.put_bulk_operation(&act)?;
                let mut done = Vec::new();
                for id in &ids {
                    // As it is now: it may have changed since it was looked for.
                    let Some(memory) = tx.memory(&sight, *id)? else { continue };
                    if selection.fits(&memory) && deed.changes_memory(&memory) {
                        let after = deed.apply_to_memory(tx, &caller, &memory, now)?;
                        let owner = memory.owner.clone();
                        let done_to = BulkItem { memory: *id, owner, revision: after.revision };
                        tx.add_bulk_item(&act, &done_to)?;
                        done.push(memory);
                    }
                }
                Ok(done)
            })?;
            done.iter().for_each(|memory| acted.add(memory));
            acted.act = Some(id).filter(|_| acted.memories > 0);
        }
    }

    /// Takes back what the caller did to many memories, of those that nobody has changed since.
    ///
    /// # Errors
    /// `not_found` for an act that there is not in the workspace, or that is another agent's;
    /// `conflict` when it was taken back before.
    pub fn undo_act(&self, caller: &Caller, request: &UndoAct) -> Result<BulkResult> {
        self.policy.may_write(caller)?;
        let (id, now) = (request.act_id, self.clock.now());
        let sight = Sight { workspaces: vec![caller.workspace.clone()], ..Sight::writing(caller)? };
        let found = self.store.read(|tx| tx.bulk_operation(&caller.workspace, id))?;
        let Some(act) = found.filter(|act| act.agent == caller.agent) else {
            return Err(Error::not_found(format!("there is no act {id}")).hint(
                "Adopting and purging answer the id of what they did; who did it undoes it.",
            ));
        };
        let mut acted = BulkResult { act: Some(id), ..BulkResult::default() };
        let mut any = false;
        loop {
            let (act, caller, sight) = (act.clone(), caller.clone(), sight.clone());
            let (taken, done) = self.store.write(move |tx| {
                let taken = tx.take_bulk_items(&act, BULK_BATCH_MAX)?;
                let mut done = Vec::new();
                for done_to in &taken {
                    let Some(memory) = tx.memory(&sight, done_to.memory)? else { continue };
                    if memory.revision == done_to.revision {
                        let (kind, fields) = match act.kind {
                            BulkKind::Adopted => (EventKind::MemoryUpdated, OWNER_FIELDS),
                            BulkKind::Purged => (EventKind::MemoryRestored, &[][..]),
                        };
                        let owner = done_to.owner.clone();
                        let after = Memory { owner, deleted_at: None, ..memory.clone() };
                        MemoryChange { kind, fields, caller: &caller, now }
                            .write(tx, &memory, after)?;
                        done.push(memory);
                    }
                }
                Ok((taken.len(), done))
            })?;
            any |= taken > 0;
            done.iter().for_each(|memory| acted.add(memory));
            if taken < BULK_BATCH_MAX as usize {
                break;
            }
        }
        if !any {
            return Err(Error::conflict(format!("act {id} was taken back before")));
        }
        Ok(acted)
    }
}

/// The field that changes when a memory is adopted.
const OWNER_FIELDS: &[&str] = &["owner"];

/// What is done to each memory.
#[derive(Debug, Clone)]
enum BulkAction {
    Adopt(Agent),
    Purge,
}

impl BulkAction {
    fn kind(&self) -> BulkKind {
        match self {
            Self::Adopt(_) => BulkKind::Adopted,
            Self::Purge => BulkKind::Purged,
        }
    }

    /// Whether it changes anything about this memory; nothing does about an entry of a case.
    fn changes_memory(&self, memory: &Memory) -> bool {
        memory.case.is_none() && self.would_change(memory)
    }

    fn would_change(&self, memory: &Memory) -> bool {
        match self {
            Self::Adopt(to) => memory.owner != *to,
            Self::Purge => true,
        }
    }

    fn apply_to_memory(
        &self,
        tx: &mut dyn Transaction,
        caller: &Caller,
        memory: &Memory,
        now: Timestamp,
    ) -> Result<Memory> {
        let (kind, fields, after) = match self {
            Self::Adopt(to) => {
                let after = Memory { owner: to.clone(), ..memory.clone() };
                (EventKind::MemoryUpdated, OWNER_FIELDS, after)
            }
            Self::Purge => {
                let after = Memory { deleted_at: Some(now), ..memory.clone() };
                (EventKind::MemoryDeleted, &[][..], after)
            }
        };
        MemoryChange { kind, fields, caller, now }.write(tx, memory, after)
    }
}
