//! The contract of a store for contradictions: what is kept of two memories, and who is shown it.

use crate::base::error::Result;
use crate::base::id::{ContradictionId, MemoryId};
use crate::model::access::Sight;
use crate::model::contradiction::{
    ComparisonBasis, Contradiction, ContradictionRecord, ContradictionStatus,
};
use crate::model::memory::Memory;
use crate::model::search::MemoryRef;
use crate::model::workspace::Workspace;

/// Which contradictions a list gives.
#[derive(Debug, Clone, Default)]
pub struct ContradictionFilter {
    /// Open or resolved ones; all, where neither is asked for.
    pub status: Option<ContradictionStatus>,
    /// Of this memory.
    pub memory: Option<MemoryId>,
    /// One of whose memories is about any of these topics, which are in lower case.
    pub topics: Vec<String>,
    /// Before this place.
    pub before: Option<u64>,
}

/// The rows of contradictions. One is shown to who sees both memories, while both are as they were
/// compared and neither is deleted; an open one while both are current.
pub trait ContradictionRows {
    /// At most `limit` contradictions in sight, the newest first, each with its place.
    fn contradictions(
        &self,
        sight: &Sight,
        wanted: &ContradictionFilter,
        limit: u32,
    ) -> Result<Vec<(u64, Contradiction)>>;

    /// The contradiction of this id in sight, with its memories, the older first.
    fn contradiction(
        &self,
        sight: &Sight,
        id: ContradictionId,
    ) -> Result<Option<(ContradictionRecord, Memory, Memory)>>;

    /// How many open contradictions are in sight.
    fn contradiction_count(&self, sight: &Sight) -> Result<u64>;

    /// Which of these memories are in open contradictions in sight with which others of them.
    fn contradicting_pairs(
        &self,
        sight: &Sight,
        among: &[MemoryRef],
    ) -> Result<Vec<(MemoryId, MemoryId)>>;

    /// What is kept of this memory, in anybody's sight or not, each with the other memory as it is
    /// now: for what follows the journal, which shows it to nobody.
    fn contradictions_of(&self, memory: &Memory) -> Result<Vec<(ContradictionRecord, Memory)>>;

    /// At most `limit` current memories that mention what this one does, in anybody's sight or not:
    /// those that share the most with it, of these the newest. For what follows the journal, which
    /// shows them to nobody.
    fn neighbours(&self, memory: &Memory, limit: u32) -> Result<Vec<(Memory, ComparisonBasis)>>;

    /// At most `limit` current memories of this one's type about the same user or about nobody, in
    /// anybody's sight or not: the newest of each other owner. For what follows the journal, which
    /// shows them to nobody. Of a type other than `profile` and `task_context` there are none.
    fn other_authors(&self, memory: &Memory, limit: u32) -> Result<Vec<Memory>>;

    /// Keeps a contradiction in the place of what was kept of the same two, if both still are at the
    /// revisions that were compared; answers whether they are. A new one stands at this place.
    fn put_contradiction(&mut self, kept: &ContradictionRecord, sequence: u64) -> Result<bool>;

    /// Forgets a contradiction.
    fn drop_contradiction(&mut self, workspace: &Workspace, id: ContradictionId) -> Result<()>;

    /// How far contradictions follow a journal, by this revision of the rules.
    fn contradictions_position(&self, workspace: &Workspace, rules: u32) -> Result<u64>;

    /// The journals that go on beyond where contradictions follow them, each with the place.
    fn contradictions_behind(&self, rules: u32) -> Result<Vec<(Workspace, u64)>>;

    /// Notes how far they do.
    fn set_contradictions_position(
        &mut self,
        workspace: &Workspace,
        rules: u32,
        place: u64,
    ) -> Result<()>;
}
