//! Successors of memories: the last one in sight, and those that a reader cannot see.

use crate::base::error::Result;
use crate::model::access::Sight;
use crate::model::memory::Memory;
use crate::model::search::MemoryRef;
use crate::store::Transaction;

/// Successors that are followed from one memory, one after the other.
const SUCCESSORS_MAX: usize = 20;

/// Clears `superseded_by` in these memories where the successor is out of sight: no reader learns
/// of a memory that it cannot read.
pub(in crate::verbs) fn hide_heirs<'m>(
    tx: &dyn Transaction,
    sight: &Sight,
    memories: impl IntoIterator<Item = &'m mut Memory>,
) -> Result<()> {
    let mut superseded: Vec<&mut Memory> =
        memories.into_iter().filter(|memory| memory.superseded_by.is_some()).collect();
    if superseded.is_empty() {
        return Ok(());
    }
    let place = |memory: &Memory| Some((memory.workspace.clone(), memory.superseded_by?));
    let heirs: Vec<MemoryRef> = superseded.iter().filter_map(|memory| place(memory)).collect();
    let seen = tx.memories_of(sight, &heirs)?;
    for memory in &mut superseded {
        let is_heir = |heir: &Memory| {
            Some(heir.id) == memory.superseded_by && heir.workspace == memory.workspace
        };
        if !seen.iter().any(is_heir) {
            memory.superseded_by = None;
        }
    }
    Ok(())
}

/// The last successor of a memory that holds, in this sight.
pub(in crate::verbs) fn last_heir(
    tx: &dyn Transaction,
    sight: &Sight,
    memory: &Memory,
) -> Result<Option<Memory>> {
    let mut last = None;
    let mut next = memory.superseded_by;
    for _ in 0..SUCCESSORS_MAX {
        let Some(heir) = next.map(|id| tx.memory(sight, id)).transpose()?.flatten() else { break };
        if heir.deleted_at.is_some() || heir.retraction.is_some() || heir.is_quarantined() {
            break;
        }
        next = heir.superseded_by;
        last = Some(heir);
    }
    Ok(last)
}
