//! Adopting and purging many memories at once, and taking it back.

use jiff::Timestamp;

use super::Commonbook;
use super::memory::Change;
use crate::base::error::{Error, Result};
use crate::base::id::{ActId, MemoryId};
use crate::model::access::{self, Sight};
use crate::model::agent::Agent;
use crate::model::bulk::{Act, ActKind, Acted, AdoptMemories, DoneTo, Meant, PurgeSince, UndoAct};
use crate::model::caller::Caller;
use crate::model::event::EventKind;
use crate::model::memory::{Memory, Order};
use crate::model::search::Filter;
use crate::model::token::Scope;
use crate::store::Transaction;

/// Memories of one transaction: others write in between.
const AT_ONCE: u32 = 200;

impl Commonbook {
    /// Gives memories another owner.
    ///
    /// # Errors
    /// `forbidden` for who is no administrator; `invalid` with the field.
    pub fn adopt_memories(&self, caller: &Caller, request: &AdoptMemories) -> Result<Acted> {
        access::may(caller, Scope::Admin)?;
        let now = self.clock.now();
        let (to, meant) = request.read(now)?;
        let filter = Filter {
            memory_type: request.memory_type.as_ref().map(ToString::to_string),
            topic: request.topic.clone(),
            ..Filter::default()
        };
        self.act(caller, (&meant, &filter), &Deed::Adopt(to), request.dry_run, now)
    }

    /// Deletes the memories of the caller and its children since a time.
    ///
    /// # Errors
    /// `invalid` with the field.
    pub fn purge_since(&self, caller: &Caller, request: &PurgeSince) -> Result<Acted> {
        let now = self.clock.now();
        let meant = request.read(&caller.agent, now)?;
        self.act(caller, (&meant, &Filter::default()), &Deed::Purge, request.dry_run, now)
    }

    /// Does this to every memory that is meant, some at a time: what is broken off is an act that
    /// was done to fewer.
    fn act(
        &self,
        caller: &Caller,
        (meant, filter): (&Meant, &Filter),
        deed: &Deed,
        dry_run: bool,
        now: Timestamp,
    ) -> Result<Acted> {
        self.policy.may_write(caller)?;
        let id = ActId::new(&*self.ids, now);
        let (kind, agent) = (deed.kind(), caller.agent.clone());
        let act = Act { id, workspace: caller.workspace.clone(), kind, agent, at: now };
        let sight = Sight { workspaces: vec![caller.workspace.clone()], ..Sight::writing(caller)? };
        let mut acted = Acted::default();
        let mut from = None;
        loop {
            let page = self
                .store
                .read(|tx| tx.memories(&sight, filter, (Order::Oldest, from), AT_ONCE))?;
            let Some((last, _)) = page.last() else { return Ok(acted) };
            from = Some(*last);
            let stays = |(_, memory): &&(u64, Memory)| {
                memory.case.is_some() && meant.fits(memory) && deed.would_change(memory)
            };
            acted.entries += page.iter().filter(stays).count() as u64;
            let fitting: Vec<Memory> = page
                .into_iter()
                .map(|(_, memory)| memory)
                .filter(|memory| meant.fits(memory) && deed.changes(memory))
                .collect();
            if fitting.is_empty() {
                continue;
            }
            if dry_run {
                fitting.iter().for_each(|memory| acted.add(memory));
                continue;
            }
            let ids: Vec<MemoryId> = fitting.iter().map(|memory| memory.id).collect();
            let (act, deed, meant) = (act.clone(), deed.clone(), meant.clone());
            let (caller, sight) = (caller.clone(), sight.clone());
            let done = self.store.write(move |tx| {
                tx.see_agent(&caller, now)?;
                tx.put_act(&act)?;
                let mut done = Vec::new();
                for id in &ids {
                    // As it is now: it may have changed since it was looked for.
                    let Some(memory) = tx.memory(&sight, *id)? else { continue };
                    if meant.fits(&memory) && deed.changes(&memory) {
                        let after = deed.does(tx, &caller, &memory, now)?;
                        let owner = memory.owner.clone();
                        let done_to = DoneTo { memory: *id, owner, revision: after.revision };
                        tx.add_to_act(&act, &done_to)?;
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
    pub fn undo_act(&self, caller: &Caller, request: &UndoAct) -> Result<Acted> {
        self.policy.may_write(caller)?;
        let (id, now) = (request.act_id, self.clock.now());
        let sight = Sight { workspaces: vec![caller.workspace.clone()], ..Sight::writing(caller)? };
        let found = self.store.read(|tx| tx.act(&caller.workspace, id))?;
        let Some(act) = found.filter(|act| act.agent == caller.agent) else {
            return Err(Error::not_found(format!("there is no act {id}")).hint(
                "Adopting and purging answer the id of what they did; who did it undoes it.",
            ));
        };
        let mut acted = Acted { act: Some(id), ..Acted::default() };
        let mut any = false;
        loop {
            let (act, caller, sight) = (act.clone(), caller.clone(), sight.clone());
            let (taken, done) = self.store.write(move |tx| {
                let taken = tx.take_from_act(&act, AT_ONCE)?;
                let mut done = Vec::new();
                for done_to in &taken {
                    let Some(memory) = tx.memory(&sight, done_to.memory)? else { continue };
                    if memory.revision == done_to.revision {
                        let (kind, fields) = match act.kind {
                            ActKind::Adopted => (EventKind::MemoryUpdated, OWNER),
                            ActKind::Purged => (EventKind::MemoryRestored, &[][..]),
                        };
                        let owner = done_to.owner.clone();
                        let after = Memory { owner, deleted_at: None, ..memory.clone() };
                        Change { kind, fields, caller: &caller, now }.write(tx, &memory, after)?;
                        done.push(memory);
                    }
                }
                Ok((taken.len(), done))
            })?;
            any |= taken > 0;
            done.iter().for_each(|memory| acted.add(memory));
            if taken < AT_ONCE as usize {
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
const OWNER: &[&str] = &["owner"];

/// What is done to each memory.
#[derive(Debug, Clone)]
enum Deed {
    Adopt(Agent),
    Purge,
}

impl Deed {
    fn kind(&self) -> ActKind {
        match self {
            Self::Adopt(_) => ActKind::Adopted,
            Self::Purge => ActKind::Purged,
        }
    }

    /// Whether it changes anything about this memory; nothing does about an entry of a case.
    fn changes(&self, memory: &Memory) -> bool {
        memory.case.is_none() && self.would_change(memory)
    }

    fn would_change(&self, memory: &Memory) -> bool {
        match self {
            Self::Adopt(to) => memory.owner != *to,
            Self::Purge => true,
        }
    }

    fn does(
        &self,
        tx: &mut dyn Transaction,
        caller: &Caller,
        memory: &Memory,
        now: Timestamp,
    ) -> Result<Memory> {
        let (kind, fields, after) = match self {
            Self::Adopt(to) => {
                let after = Memory { owner: to.clone(), ..memory.clone() };
                (EventKind::MemoryUpdated, OWNER, after)
            }
            Self::Purge => {
                let after = Memory { deleted_at: Some(now), ..memory.clone() };
                (EventKind::MemoryDeleted, &[][..], after)
            }
        };
        Change { kind, fields, caller, now }.write(tx, memory, after)
    }
}
