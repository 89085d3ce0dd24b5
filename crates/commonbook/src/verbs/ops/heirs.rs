//! What a reader may know of the successors of memories. [`show`] makes an answer of what the store holds;
//! an answer that was stored passes [`for_reader`] again, in `write_once`.

use std::collections::BTreeSet;

use crate::base::error::Result;
use crate::base::page::Page;
use crate::model::access::{Sight, StoredMemory, hide_links, links_of};
use crate::model::bulk::BulkResult;
use crate::model::case::{AppendResult, BranchMergeResult, Case, DecisionResult, OpenCaseResult};
use crate::model::checkpoint::{Checkpoint, ResumeSessionResult, SummariseResult};
use crate::model::collaboration::CreateHandoffResult;
use crate::model::contradiction::{
    AnswerPairsResult, Contradiction, ResolutionRecord, ResolveContradictionResult,
};
use crate::model::cursor::ReadMark;
use crate::model::entity::{
    DeleteEntityResult, Entity, MergeEntitiesResult, RenameEntityResult, ResolveEntityResult,
    UnmergeEntitiesResult,
};
use crate::model::graph::Relation;
use crate::model::handoff::{AcceptHandoffResult, HandoffStepResult};
use crate::model::learning::LearnResult;
use crate::model::lineage::OutdatedReview;
use crate::model::memory::{DeleteResult, Memory, PurgeResult, RetractionResult};
use crate::model::search::MemoryRef;
use crate::model::session::{EndSessionResult, Session, StartSessionResult};
use crate::model::workspace::Workspace;
use crate::store::Tx;

/// Successors that are followed from one memory, one after the other.
const SUCCESSORS_MAX: usize = 20;

/// An answer of a verb, by the memories in it: a reader sees them without the successors that are out
/// of its sight.
pub(in crate::verbs) trait ReaderAnswer {
    /// The memories in it.
    fn memories(&mut self) -> Vec<&mut Memory>;

    /// The resolutions of contradictions in it, each with its workspace.
    fn resolutions(&mut self) -> Vec<(Workspace, &mut ResolutionRecord)> {
        Vec::new()
    }
}

/// An answer that was stored, as its reader may see it now.
pub(in crate::verbs) fn for_reader<A: ReaderAnswer>(
    tx: &Tx<'_>,
    sight: &Sight,
    mut answer: A,
) -> Result<A> {
    let mut memories = answer.memories();
    let known = known_links(tx, sight, memories.iter().map(|memory| &**memory))?;
    for memory in &mut memories {
        let workspace = memory.workspace.clone();
        hide_links(memory, |id| Ok(known.contains(&(workspace.clone(), id))))?;
    }
    for (workspace, resolved) in answer.resolutions() {
        hide_kept(tx, sight, &workspace, resolved)?;
    }
    Ok(answer)
}

/// Clears `kept` in a resolution where the memory that holds is out of sight.
pub(in crate::verbs) fn hide_kept(
    tx: &Tx<'_>,
    sight: &Sight,
    workspace: &Workspace,
    resolved: &mut ResolutionRecord,
) -> Result<()> {
    let there = Sight { workspaces: vec![workspace.clone()], ..sight.clone() };
    if let Some(kept) = resolved.kept
        && tx.memory(&there, kept)?.is_none()
    {
        resolved.kept = None;
    }
    Ok(())
}

impl ReaderAnswer for Memory {
    fn memories(&mut self) -> Vec<&mut Memory> {
        vec![self]
    }
}

impl ReaderAnswer for DeleteResult {
    fn memories(&mut self) -> Vec<&mut Memory> {
        vec![&mut self.memory]
    }
}

impl<A: ReaderAnswer> ReaderAnswer for Vec<A> {
    fn memories(&mut self) -> Vec<&mut Memory> {
        self.iter_mut().flat_map(A::memories).collect()
    }
}

impl<A: ReaderAnswer> ReaderAnswer for Page<A> {
    fn memories(&mut self) -> Vec<&mut Memory> {
        self.items.memories()
    }

    fn resolutions(&mut self) -> Vec<(Workspace, &mut ResolutionRecord)> {
        self.items.iter_mut().flat_map(A::resolutions).collect()
    }
}

impl ReaderAnswer for Contradiction {
    fn memories(&mut self) -> Vec<&mut Memory> {
        Vec::new()
    }

    fn resolutions(&mut self) -> Vec<(Workspace, &mut ResolutionRecord)> {
        let Self { workspace, resolved, .. } = self;
        resolved.iter_mut().map(|resolved| (workspace.clone(), resolved)).collect()
    }
}

impl ReaderAnswer for ResolveContradictionResult {
    fn memories(&mut self) -> Vec<&mut Memory> {
        Vec::new()
    }

    fn resolutions(&mut self) -> Vec<(Workspace, &mut ResolutionRecord)> {
        self.contradiction.resolutions()
    }
}

impl ReaderAnswer for BulkResult {
    fn memories(&mut self) -> Vec<&mut Memory> {
        self.items.memories()
    }
}

impl ReaderAnswer for RetractionResult {
    fn memories(&mut self) -> Vec<&mut Memory> {
        vec![&mut self.memory]
    }
}

/// Answers that hold no memory.
macro_rules! without_memories {
    ($($answer:ty),* $(,)?) => {
        $(impl ReaderAnswer for $answer {
            fn memories(&mut self) -> Vec<&mut Memory> {
                Vec::new()
            }
        })*
    };
}

without_memories!(
    AcceptHandoffResult,
    AnswerPairsResult,
    AppendResult,
    BranchMergeResult,
    Case,
    Checkpoint,
    CreateHandoffResult,
    DecisionResult,
    DeleteEntityResult,
    EndSessionResult,
    Entity,
    HandoffStepResult,
    LearnResult,
    MergeEntitiesResult,
    OpenCaseResult,
    OutdatedReview,
    PurgeResult,
    ReadMark,
    Relation,
    RenameEntityResult,
    ResolveEntityResult,
    ResumeSessionResult,
    Session,
    StartSessionResult,
    SummariseResult,
    UnmergeEntitiesResult,
);

/// These memories as a reader may know them, in their order.
pub(in crate::verbs) fn show_all(
    tx: &Tx<'_>,
    sight: &Sight,
    memories: Vec<StoredMemory>,
) -> Result<Vec<Memory>> {
    let known = known_links(tx, sight, memories.iter().map(|memory| &**memory))?;
    let shown = memories.into_iter().map(|memory| {
        let workspace = memory.workspace.clone();
        memory.show(|id| Ok(known.contains(&(workspace.clone(), id))))
    });
    let mut shown = shown.collect::<Result<Vec<Memory>>>()?;
    add_changed_bases(tx, sight, &mut shown)?;
    Ok(shown)
}

/// Sets what these memories rest on that has changed since.
fn add_changed_bases(tx: &Tx<'_>, sight: &Sight, shown: &mut [Memory]) -> Result<()> {
    let places: Vec<MemoryRef> =
        shown.iter().map(|memory| (memory.workspace.clone(), memory.id)).collect();
    if places.is_empty() {
        return Ok(());
    }
    for (derived, basis) in tx.changed_bases(sight, &places)? {
        let marked = shown.iter_mut().find(|memory| memory.id == derived);
        marked.into_iter().for_each(|memory| memory.rests_on.push(basis.clone()));
    }
    Ok(())
}

/// A memory as a reader may know it.
pub(in crate::verbs) fn show(tx: &Tx<'_>, sight: &Sight, memory: StoredMemory) -> Result<Memory> {
    Ok(show_all(tx, sight, vec![memory])?.remove(0))
}

/// A page of memories as a reader may know them.
pub(in crate::verbs) fn show_page(
    tx: &Tx<'_>,
    sight: &Sight,
    page: Page<StoredMemory>,
) -> Result<Page<Memory>> {
    Ok(Page { items: show_all(tx, sight, page.items)?, next: page.next })
}

/// Of the memories that these name, those that a reader sees.
fn known_links<'m>(
    tx: &Tx<'_>,
    sight: &Sight,
    memories: impl Iterator<Item = &'m Memory>,
) -> Result<BTreeSet<MemoryRef>> {
    let places: Vec<MemoryRef> = memories
        .flat_map(|memory| links_of(memory).map(|id| (memory.workspace.clone(), id)))
        .collect();
    if places.is_empty() {
        return Ok(BTreeSet::new());
    }
    let found = tx.memories_of(sight, &places)?.into_iter();
    Ok(found.map(|memory| (memory.workspace.clone(), memory.id)).collect())
}

/// The last successor of a memory that holds, in this sight.
pub(in crate::verbs) fn last_heir(
    tx: &Tx<'_>,
    sight: &Sight,
    memory: &Memory,
) -> Result<Option<StoredMemory>> {
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
