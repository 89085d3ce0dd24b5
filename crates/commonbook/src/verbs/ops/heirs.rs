//! Successors of memories: the last one in sight, and those that a reader cannot see. Every answer
//! passes [`for_reader`], the answers of writes in `write_once`.

use std::collections::BTreeSet;

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::base::page::Page;
use crate::model::access::Sight;
use crate::model::bulk::BulkResult;
use crate::model::case::{AppendResult, BranchMergeResult, Case, DecisionResult, OpenCaseResult};
use crate::model::checkpoint::{Checkpoint, ResumeSessionResult, SummariseResult};
use crate::model::collaboration::CreateHandoffResult;
use crate::model::contradiction::{Contradiction, ResolutionRecord, ResolveContradictionResult};
use crate::model::cursor::ReadMark;
use crate::model::entity::{MergeEntitiesResult, ResolveEntityResult, UnmergeEntitiesResult};
use crate::model::graph::Relation;
use crate::model::handoff::{AcceptHandoffResult, HandoffStepResult};
use crate::model::learning::LearnResult;
use crate::model::lineage::OutdatedReview;
use crate::model::memory::{Memory, PendingReview, PurgeResult, RetractionResult};
use crate::model::search::MemoryRef;
use crate::model::session::{EndSessionResult, Session, StartSessionResult};
use crate::model::workspace::Workspace;
use crate::store::Transaction;

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

/// An answer as its reader may see it.
pub(in crate::verbs) fn for_reader<A: ReaderAnswer>(
    tx: &dyn Transaction,
    sight: &Sight,
    mut answer: A,
) -> Result<A> {
    hide_heirs(tx, sight, answer.memories())?;
    for (workspace, resolved) in answer.resolutions() {
        hide_kept(tx, sight, &workspace, resolved)?;
    }
    Ok(answer)
}

/// Clears `kept` in a resolution where the memory that holds is out of sight.
pub(in crate::verbs) fn hide_kept(
    tx: &dyn Transaction,
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
    AppendResult,
    BranchMergeResult,
    Case,
    Checkpoint,
    CreateHandoffResult,
    DecisionResult,
    EndSessionResult,
    HandoffStepResult,
    LearnResult,
    MergeEntitiesResult,
    OpenCaseResult,
    OutdatedReview,
    PurgeResult,
    ReadMark,
    Relation,
    ResolveEntityResult,
    ResumeSessionResult,
    Session,
    StartSessionResult,
    SummariseResult,
    UnmergeEntitiesResult,
);

/// Clears `superseded_by` in these memories where the successor is out of sight, and in
/// `review.supersedes` what is: no reader learns of a memory that it cannot read.
pub(in crate::verbs) fn hide_heirs<'m>(
    tx: &dyn Transaction,
    sight: &Sight,
    memories: impl IntoIterator<Item = &'m mut Memory>,
) -> Result<()> {
    let mut naming: Vec<&mut Memory> =
        memories.into_iter().filter(|memory| named_by(memory).next().is_some()).collect();
    if naming.is_empty() {
        return Ok(());
    }
    let places = naming.iter().flat_map(|memory| {
        named_by(memory).map(|id| (memory.workspace.clone(), id)).collect::<Vec<_>>()
    });
    let places: Vec<MemoryRef> = places.collect();
    let found = tx.memories_of(sight, &places)?;
    let seen: BTreeSet<MemoryRef> =
        found.into_iter().map(|memory| (memory.workspace, memory.id)).collect();
    for memory in &mut naming {
        let workspace = memory.workspace.clone();
        keep_named(memory, |id| Ok(seen.contains(&(workspace.clone(), id))))?;
    }
    Ok(())
}

/// The memories that a memory names: its successor, and those that it waits to supersede.
fn named_by(memory: &Memory) -> impl Iterator<Item = MemoryId> {
    let waiting = memory.review.iter().flat_map(|review| review.supersedes.iter().copied());
    memory.superseded_by.into_iter().chain(waiting)
}

/// Keeps of the memories that a memory names those that a reader may know of.
pub(in crate::verbs) fn keep_named(
    memory: &mut Memory,
    may_know: impl Fn(MemoryId) -> Result<bool>,
) -> Result<()> {
    if let Some(heir) = memory.superseded_by
        && !may_know(heir)?
    {
        memory.superseded_by = None;
    }
    let Some(mut review) = memory.review.take() else { return Ok(()) };
    let mut known = Vec::new();
    for id in review.supersedes {
        if may_know(id)? {
            known.push(id);
        }
    }
    review.supersedes = known;
    memory.review = (review != PendingReview::default()).then_some(review);
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
