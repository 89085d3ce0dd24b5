//! What a new memory repeats or corrects of what its author saved before.

use crate::base::error::Result;
use crate::base::limits;
use crate::model::access::{self, Sight};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::contradiction::{EarlierRelation, MemoryStatements};
use crate::model::memory::{Memory, RetractedTwin};
use crate::store::Transaction;

/// The earlier memories of an author that a new one is about.
#[derive(Debug, Default)]
pub(in crate::verbs) struct EarlierMemories {
    /// A memory that says the same.
    pub(in crate::verbs) repeated: Option<Memory>,
    /// The memories that the new one corrects.
    pub(in crate::verbs) corrected: Vec<Memory>,
}

/// Finds what a memory that is about to be saved repeats or corrects. A quarantined or an imported
/// memory corrects nothing, and an anonymous one repeats what anybody without a name said.
pub(in crate::verbs) fn find_earlier(
    tx: &dyn Transaction,
    caller: &Caller,
    memory: &Memory,
) -> Result<EarlierMemories> {
    let mut earlier = EarlierMemories::default();
    if memory.is_quarantined() || memory.source.how == EntryPoint::Import {
        return Ok(earlier);
    }
    let stated = MemoryStatements::of(memory);
    let (keys, limit) = (stated.keys(), limits::CONTRADICTION_CANDIDATES);
    for other in tx.memories_claiming(&memory.workspace, &keys, Some(&memory.owner), limit)? {
        let relation = stated.relation_to_earlier(&MemoryStatements::of(&other));
        let is_visible = || -> Result<bool> {
            Ok(access::may_change(caller, &other).is_ok()
                && tx.memory(&Sight::writing(caller)?, other.id)?.is_some())
        };
        match relation {
            EarlierRelation::Repeated if is_visible()? => {
                earlier.repeated = Some(other);
                return Ok(earlier);
            }
            EarlierRelation::Corrected if is_visible()? => earlier.corrected.push(other),
            _ => {}
        }
    }
    Ok(earlier)
}

/// The newest memory in sight that says the same as one that is about to be saved, and was
/// retracted.
pub(super) fn find_retracted_twin(
    tx: &dyn Transaction,
    caller: &Caller,
    memory: &Memory,
) -> Result<Option<RetractedTwin>> {
    let stated = MemoryStatements::of(memory);
    let (keys, limit) = (stated.keys(), limits::CONTRADICTION_CANDIDATES);
    for other in tx.retracted_claiming(&memory.workspace, &keys, limit)? {
        if stated.has_wording_of(&MemoryStatements::of(&other))
            && tx.memory(&Sight::writing(caller)?, other.id)?.is_some()
        {
            return Ok(RetractedTwin::of(&other));
        }
    }
    Ok(None)
}
