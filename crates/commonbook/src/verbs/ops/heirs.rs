//! Successors that a reader cannot see.

use crate::base::error::Result;
use crate::model::access::Sight;
use crate::model::memory::Memory;
use crate::model::search::MemoryRef;
use crate::store::Transaction;

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
