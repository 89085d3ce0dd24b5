//! What a new memory repeats or corrects of what its author saved before.

use crate::base::error::Result;
use crate::base::limits;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::contradiction::{EarlierRelation, MemoryStatements};
use crate::model::memory::{Memory, RetractedTwin};
use crate::store::Tx;

/// The earlier memories of an author that a new one is about.
#[derive(Debug, Default)]
pub(in crate::verbs) struct EarlierMemories {
    /// A memory that says the same.
    pub(in crate::verbs) repeated: Option<StoredMemory>,
    /// The memories that the new one corrects.
    pub(in crate::verbs) corrected: Vec<StoredMemory>,
}

/// Finds what a memory that is about to be saved repeats or corrects. A quarantined memory, an imported one
/// and a document correct nothing, and an anonymous one repeats what anybody without a name said.
pub(in crate::verbs) fn find_earlier(
    tx: &Tx<'_>,
    caller: &Caller,
    memory: &Memory,
) -> Result<EarlierMemories> {
    let mut earlier = EarlierMemories::default();
    let is_imported = memory.source.how == EntryPoint::Import;
    if memory.is_quarantined() || is_imported || memory.is_document() {
        return Ok(earlier);
    }
    let stated = MemoryStatements::of(memory);
    let (keys, limit) = (stated.keys(), limits::CONTRADICTION_CANDIDATES);
    // The author's own in its sight: what others hide takes no place among them.
    let sight = Sight::writing(caller)?;
    let (workspace, owner) = (&memory.workspace, Some(&memory.owner));
    for other in tx.memories_claiming(&sight, workspace, &keys, owner, limit)? {
        if other.is_document() || access::may_change(caller, &other).is_err() {
            continue;
        }
        match stated.relation_to_earlier(&MemoryStatements::of(&other)) {
            EarlierRelation::Repeated => {
                earlier.repeated = Some(other);
                return Ok(earlier);
            }
            EarlierRelation::Corrected => earlier.corrected.push(other),
            _ => {}
        }
    }
    Ok(earlier)
}

/// The newest memory in sight that says the same as one that is about to be saved, and was
/// retracted.
pub(super) fn find_retracted_twin(
    tx: &Tx<'_>,
    caller: &Caller,
    memory: &Memory,
) -> Result<Option<RetractedTwin>> {
    let stated = MemoryStatements::of(memory);
    let (keys, limit) = (stated.keys(), limits::CONTRADICTION_CANDIDATES);
    let sight = Sight::writing(caller)?;
    for other in tx.retracted_claiming(&sight, &memory.workspace, &keys, limit)? {
        if stated.has_wording_of(&MemoryStatements::of(&other)) {
            return Ok(RetractedTwin::of(&other));
        }
    }
    Ok(None)
}
