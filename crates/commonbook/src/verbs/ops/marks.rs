//! Marks of memories that one call shows alone, without a text that would say them.

use crate::base::error::Result;
use crate::model::access::Sight;
use crate::model::contradiction::ContradictionStatus;
use crate::model::memory::{Memory, OpenContradiction};
use crate::model::search::MemoryRef;
use crate::store::Tx;

/// Sets the open contradictions of these memories that the reader sees.
pub(in crate::verbs) fn add_contradictions<'m>(
    tx: &Tx<'_>,
    sight: &Sight,
    memories: impl IntoIterator<Item = &'m mut Memory>,
) -> Result<()> {
    let mut memories: Vec<&mut Memory> = memories.into_iter().collect();
    let places: Vec<MemoryRef> =
        memories.iter().map(|memory| (memory.workspace.clone(), memory.id)).collect();
    if places.is_empty() {
        return Ok(());
    }
    let marks = tx.contradiction_marks(sight, &places)?.into_iter();
    for mark in marks.filter(|mark| mark.status == ContradictionStatus::Open) {
        let open = OpenContradiction {
            contradiction: mark.contradiction,
            memory: mark.other,
            owner: mark.owner,
            stated_by: mark.stated_by,
        };
        let marked = memories.iter_mut().find(|memory| memory.id == mark.memory);
        marked.into_iter().for_each(|memory| memory.contradictions.push(open.clone()));
    }
    Ok(())
}
