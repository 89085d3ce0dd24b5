//! The text of a handoff for the agent that accepts it: the package of then, with what has changed
//! since, and the earlier handoffs of its chain.

use std::collections::{BTreeSet, VecDeque};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::HandoffId;
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::handoff::{BroughtWork, ChainLink, Handoff};
use crate::model::memory::{Memory, MemoryChange, MemoryChangeKind, says_same};
use crate::model::search::MemoryRef;
use crate::prompt::handoff::changed::PresentMemory;
use crate::prompt::handoff::{HandoffPackage, HandoffText};
use crate::store::Tx;
use crate::verbs::ops::handles::longer_handles;
use crate::verbs::ops::heirs::{last_heir, show};
use commonbook_text::fence::Fence;

/// The text of a handoff for the agent that accepts it.
pub(super) fn handoff_text(tx: &Tx<'_>, caller: &Caller, handoff: &Handoff) -> Result<HandoffText> {
    let mut package = tx.package(handoff)?;
    let sight = Sight::reading(caller)?;
    // The package is of then, and what contradicts its memories of now.
    let memories: Vec<MemoryRef> =
        package.memories.keys().map(|id| (handoff.workspace.clone(), *id)).collect();
    let marks = tx.contradiction_marks(&sight, &memories)?;
    for item in package.memories.values_mut() {
        *item = item.clone().with_contradictions(&marks);
    }
    let earlier = earlier_links(tx, &sight, handoff)?;
    let changes = present_memories(tx, &sight, handoff, &package)?;
    let fence = Fence::with_nonce(&package.nonce).ok_or_else(|| {
        Error::new(ErrorKind::Internal, "the package has a nonce that no fence can have")
    })?;
    let handles = |ids: &[String]| longer_handles(tx, &sight, ids);
    let mut told = package.render(handoff, &earlier, &changes, &fence, handles)?;
    // An earlier handoff and its result are one item with one id.
    let mut seen = BTreeSet::new();
    told.items.retain(|item| seen.insert(item.id.clone()));
    Ok(told)
}

/// The earlier handoffs that it tells of, in this sight: those on whose results it builds, then those of its
/// chain, nearest first.
pub(super) fn earlier_links(
    tx: &Tx<'_>,
    sight: &Sight,
    handoff: &Handoff,
) -> Result<Vec<ChainLink>> {
    let mut next: VecDeque<HandoffId> = handoff.follows.iter().copied().collect();
    let (mut seen, mut links) = (BTreeSet::from([handoff.id]), Vec::new());
    while let Some(id) = next.pop_front() {
        if !seen.insert(id) || links.len() == limits::HANDOFF_EARLIER {
            continue;
        }
        let Some(link) = tx.handoff(sight, id)? else { continue };
        next.extend(&link.follows);
        links.push(ChainLink::from(link));
    }
    links.sort_by_key(|link| std::cmp::Reverse(link.depth));
    let brought = handoff.builds_on.iter().filter(|id| !seen.contains(id));
    let brought = brought.filter_map(|id| tx.handoff(sight, *id).transpose());
    let brought = brought.map(|found| found.map(|handoff| BroughtWork::from(handoff).link));
    let mut earlier = brought.collect::<Result<Vec<ChainLink>>>()?;
    earlier.extend(links);
    Ok(earlier)
}

/// The memories of a package that have changed since it was made, as this sight shows them. They
/// tell nothing of one that was hidden since, and of a private one for the target only that it was
/// deleted.
pub(super) fn present_memories(
    tx: &Tx<'_>,
    sight: &Sight,
    handoff: &Handoff,
    package: &HandoffPackage,
) -> Result<Vec<PresentMemory>> {
    let mut present = Vec::new();
    let of_others = tx.deleted_private_memories(sight, handoff)?.into_iter();
    present.extend(of_others.map(|change| PresentMemory { change, memory: None }));
    for id in package.memories.keys() {
        let Some(memory) = tx.memory(sight, *id)? else { continue };
        let change = |change, by| MemoryChange::new(&memory, change, by);
        if memory.deleted_at.is_some() {
            let change = change(MemoryChangeKind::Deleted, None);
            present.push(PresentMemory { change, memory: None });
        } else if memory.retraction.is_some() {
            let change = change(MemoryChangeKind::Retracted, None);
            present.push(PresentMemory { change, memory: None });
        } else if let Some(heir) = last_heir(tx, sight, &memory)? {
            let change = change(MemoryChangeKind::Superseded, Some(heir.id));
            let heir = show(tx, sight, heir)?;
            present.push(PresentMemory { change, memory: Some(heir) });
        } else if was_corrected(tx, sight, package, &memory)? {
            let change = change(MemoryChangeKind::Corrected, None);
            let memory = show(tx, sight, memory)?;
            present.push(PresentMemory { change, memory: Some(memory) });
        }
    }
    Ok(present)
}

/// Whether a memory says something else than the package was made.
fn was_corrected(
    tx: &Tx<'_>,
    sight: &Sight,
    package: &HandoffPackage,
    memory: &Memory,
) -> Result<bool> {
    let then = package.revisions.get(&memory.id).copied();
    if then.is_none_or(|revision| revision == memory.revision) {
        return Ok(false);
    }
    let there = Sight { workspaces: vec![memory.workspace.clone()], ..sight.clone() };
    let earlier = tx.earlier_revisions(&there, memory.id)?;
    let earlier = earlier.iter().find(|earlier| Some(earlier.revision) == then);
    Ok(earlier.is_none_or(|earlier| !says_same(earlier, memory)))
}
