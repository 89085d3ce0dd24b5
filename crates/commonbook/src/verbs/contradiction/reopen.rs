//! Reopening a contradiction: its resolution is undone.

use jiff::Timestamp;

use super::{contradiction_event, visible_contradiction};
use crate::base::error::{Error, Result};
use crate::base::id::{ContradictionId, MemoryId};
use crate::model::access::{self, Audience, Sight, StoredMemory, Visibility};
use crate::model::caller::Caller;
use crate::model::contradiction::{Contradiction, ContradictionResolution, ReopenContradiction};
use crate::model::event::EventKind;
use crate::model::graph::{GraphNode, Relation, RelationType};
use crate::model::memory::Memory;
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::memory::MemoryChange;
use crate::verbs::ops::write_once::WriteScope;

impl Commonbook {
    /// Opens a resolved contradiction again. What the resolution superseded is current again, and
    /// the new memory of a merge is deleted. An open contradiction returns unchanged.
    ///
    /// # Errors
    /// `not_found` if no such contradiction is in sight; `forbidden` (`ownership_mismatch`) if the
    /// caller may not change what the resolution changed; `conflict` if another memory superseded
    /// one of the two since.
    pub fn reopen_contradiction(
        &self,
        caller: &Caller,
        request: &ReopenContradiction,
    ) -> Result<Contradiction> {
        Sight::writing_at_home(caller)?;
        self.follow_contradictions(caller)?;
        let (id, now) = (request.contradiction, self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            reopen(tx, caller, &sight, id, now)
        })?;
        Ok(once.answer)
    }
}

/// Opens a contradiction in sight again; an open one returns unchanged.
pub(in crate::verbs) fn reopen(
    tx: &mut Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    id: ContradictionId,
    now: Timestamp,
) -> Result<Contradiction> {
    let (record, older, newer) = visible_contradiction(tx, sight, id)?;
    let Some(resolved) = &record.resolved else {
        return Ok(record.into_contradiction(&older, &newer));
    };
    let undo = ResolutionUndo { caller, now };
    if resolved.resolution == ContradictionResolution::KeepBoth {
        undo.end_relation(tx, &newer, "context", &older)?;
    }
    let mut after = [older, newer];
    if let Some(kept) = resolved.kept {
        for memory in &mut after {
            *memory = undo.restore(tx, sight, memory, kept)?;
        }
        if resolved.resolution == ContradictionResolution::Merge {
            undo.delete_merged(tx, sight, kept)?;
        }
    }
    let [older, newer] = after;
    let record = record.reopened(&older, &newer);
    tx.put_contradiction(&record, 0)?;
    let kind = EventKind::ContradictionReopened;
    tx.append_event(&contradiction_event(kind, &older, &newer, &caller.agent, now))?;
    Ok(record.into_contradiction(&older, &newer))
}

/// The undoing of a resolution by a caller.
struct ResolutionUndo<'u> {
    caller: &'u Caller,
    now: Timestamp,
}

impl ResolutionUndo<'_> {
    /// The memory as it is without the successor that the resolution gave it.
    fn restore(
        &self,
        tx: &mut Tx<'_>,
        sight: &Sight,
        memory: &StoredMemory,
        heir: MemoryId,
    ) -> Result<StoredMemory> {
        match memory.superseded_by {
            None => return Ok(memory.clone()),
            Some(present) if present == heir => {}
            Some(_) => {
                let message = format!("memory {} was superseded again since", memory.id);
                return Err(Error::conflict(message).hint("Save what holds as a new memory."));
            }
        }
        access::may_replace(self.caller, memory)?;
        if let Some(heir) = tx.memory(sight, heir)? {
            self.end_relation(tx, &heir, "supersedes", memory)?;
        }
        let after = memory.with(|after| after.superseded_by = None);
        self.change(EventKind::MemoryUpdated, &["superseded_by"]).write(tx, memory, after)
    }

    /// Deletes the memory that a merge wrote.
    fn delete_merged(&self, tx: &mut Tx<'_>, sight: &Sight, id: MemoryId) -> Result<()> {
        let merged = tx.memory(sight, id)?.filter(|memory| memory.deleted_at.is_none());
        let Some(merged) = merged else { return Ok(()) };
        access::may_replace(self.caller, &merged)?;
        let after = merged.with(|after| after.deleted_at = Some(self.now));
        self.change(EventKind::MemoryDeleted, &[]).write(tx, &merged, after).map(drop)
    }

    fn change<'c>(&'c self, kind: EventKind, fields: &'c [&'static str]) -> MemoryChange<'c> {
        MemoryChange { kind, fields, caller: self.caller, now: self.now }
    }

    /// Ends the relation by which the resolution joined two memories.
    fn end_relation(&self, tx: &mut Tx<'_>, from: &Memory, kind: &str, to: &Memory) -> Result<()> {
        let relation_type: RelationType = kind.parse()?;
        let of = |memory: &Memory| Audience::of(&Visibility::of(memory));
        let audience = Audience::of_both(&of(from), &of(to), &self.caller.agent);
        let (source, target) = (GraphNode::Memory(from.id), GraphNode::Memory(to.id));
        let found = tx.relation(&from.workspace, source, target, &relation_type, &audience)?;
        if let Some(relation) = found {
            let ended = Relation { valid_until: Some(self.now), ..relation };
            tx.put_relation(&ended, &audience)?;
        }
        Ok(())
    }
}
