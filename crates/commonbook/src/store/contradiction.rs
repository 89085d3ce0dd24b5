//! The contract of a store for contradictions between two memories.

use crate::base::error::Result;
use crate::base::id::{ContradictionId, MemoryId};
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::contradiction::{
    Contradiction, ContradictionMark, ContradictionRecord, ContradictionStatus, PairRelation,
    RepeatedPair,
};
use crate::model::memory::Memory;
use crate::model::search::MemoryRef;
use crate::model::workspace::Workspace;
use crate::store::{JournalLag, JournalScope};

/// A filter for contradictions.
#[derive(Debug, Clone, Default)]
pub struct ContradictionFilter {
    /// Open or resolved ones; both if this is `None`.
    pub status: Option<ContradictionStatus>,
    /// Contradictions of this memory.
    pub memory: Option<MemoryId>,
    /// At least one of the two memories has one of these topics, in lower case.
    pub topics: Vec<String>,
    /// Contradictions before this position.
    pub before: Option<u64>,
}

/// The rows of contradictions. A reader sees one if it sees both memories, as long as both are at
/// the revisions that were compared and neither is deleted; an open one only while both are
/// current.
pub trait ContradictionRows {
    /// At most `limit` contradictions in sight, newest first, each with its position.
    fn contradictions(
        &self,
        sight: &Sight,
        wanted: &ContradictionFilter,
        limit: u32,
    ) -> Result<Vec<(u64, Contradiction)>>;

    /// At most `limit` ids of contradictions in sight that have this ending.
    fn contradiction_ids_ending(
        &self,
        sight: &Sight,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<ContradictionId>>;

    /// The contradiction with this id in sight, with its memories, the older one first.
    fn contradiction(
        &self,
        sight: &Sight,
        id: ContradictionId,
    ) -> Result<Option<(ContradictionRecord, StoredMemory, StoredMemory)>>;

    /// The number of open contradictions in sight.
    fn contradiction_count(&self, sight: &Sight) -> Result<u64>;

    /// The pairs of these memories that are in an open contradiction in sight.
    fn contradicting_pairs(
        &self,
        sight: &Sight,
        among: &[MemoryRef],
    ) -> Result<Vec<(MemoryId, MemoryId)>>;

    /// The marks of these memories: their contradictions in sight that are open or that were
    /// resolved by a context, newest first.
    fn contradiction_marks(
        &self,
        sight: &Sight,
        among: &[MemoryRef],
    ) -> Result<Vec<ContradictionMark>>;

    /// The contradictions of this memory, in sight or not, each with the present state of the other
    /// memory: for the follower of the journal, which shows them to no caller.
    fn contradictions_of(
        &self,
        memory: &Memory,
    ) -> Result<Vec<(ContradictionRecord, StoredMemory)>>;

    /// Stores the keys of a memory's claims, replacing earlier ones.
    fn put_claims(&mut self, memory: &Memory, keys: &[i64]) -> Result<()>;

    /// Whether the keys of this memory are stored, with who sees it. Every memory has one.
    fn has_claims(&self, memory: &Memory) -> Result<bool>;

    /// At most `limit` current memories of a workspace in sight that have one of these keys, newest first; of
    /// this owner alone if there is one.
    fn memories_claiming(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        keys: &[i64],
        owner: Option<&Agent>,
        limit: u32,
    ) -> Result<Vec<StoredMemory>>;

    /// Current memories that have one of these keys, and that some reader may see beside this memory, newest
    /// first: at most `limit` of those that many read, and a few of each agent's own. For the follower of the
    /// journal, which shows them to no caller.
    fn memories_beside(
        &self,
        memory: &Memory,
        keys: &[i64],
        limit: u32,
    ) -> Result<Vec<StoredMemory>>;

    /// At most `limit` current memories, in sight or not, of this one's type about the same user or
    /// about none: the newest of each other owner. For the follower of the journal, which shows
    /// them to no caller. Empty for types other than `profile` and `task_context`.
    fn other_authors(&self, memory: &Memory, limit: u32) -> Result<Vec<StoredMemory>>;

    /// Stores a contradiction, replacing that of the same two memories, if both are still at the
    /// revisions that were compared; returns whether they are. A new one gets this position.
    fn put_contradiction(&mut self, kept: &ContradictionRecord, sequence: u64) -> Result<bool>;

    /// Drops a contradiction.
    fn drop_contradiction(&mut self, workspace: &Workspace, id: ContradictionId) -> Result<()>;

    /// Whether something was said of these two memories, at their present texts, other than that they
    /// contradict each other: by an endpoint, or by an agent.
    fn is_judged(&self, a: &Memory, b: &Memory) -> Result<bool>;

    /// Records that an endpoint said that both can hold.
    fn put_judged(&mut self, a: &Memory, b: &Memory) -> Result<()>;

    /// At most `limit` open contradictions of a workspace that this agent stated, in sight or not, newest
    /// first: for the limit of its statements, which shows them to no caller.
    fn statements_of(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        limit: u32,
    ) -> Result<Vec<ContradictionRecord>>;

    /// Records that an agent says of two memories that they are neither contrary nor the same, or that they
    /// say the same although it may change neither.
    fn put_answered(
        &mut self,
        a: &Memory,
        b: &Memory,
        said: PairRelation,
        by: &Agent,
    ) -> Result<()>;

    /// Records that two memories of a workspace were said to say the same, by an agent that may change one.
    fn put_repeated(&mut self, workspace: &Workspace, pair: &RepeatedPair) -> Result<()>;

    /// The pairs of a workspace that were said to say the same, in sight or not: for a consolidation, which
    /// reads their memories in a sight.
    fn repeated_pairs(&self, workspace: &Workspace) -> Result<Vec<RepeatedPair>>;

    /// The position up to which contradictions follow a journal with this revision of the rules.
    fn contradictions_position(&self, workspace: &Workspace, rules: u32) -> Result<u64>;

    /// The journals in this scope that are ahead of their contradictions, by workspace.
    fn contradictions_behind(&self, scope: &JournalScope, rules: u32) -> Result<Vec<JournalLag>>;

    /// Records the position up to which contradictions follow a journal.
    fn set_contradictions_position(
        &mut self,
        workspace: &Workspace,
        rules: u32,
        place: u64,
    ) -> Result<()>;
}
