//! The contract of a store for lineage: what was derived from which memory, and what sessions received.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::{HandoffId, MemoryId};
use crate::model::access::StoredMemory;
use crate::model::agent::Agent;
use crate::model::handoff::Handoff;
use crate::model::lineage::{
    Basis, DerivedId, MemoryReading, OutdatedRecord, ReadSetKey, ToldMemory,
};
use crate::model::workspace::Workspace;

/// The rows of lineage. They hold ids alone; a verb shows one through a sight. A purged memory is in none
/// of them.
pub trait LineageRows {
    /// Records what something was derived from; a later record about the same two replaces an earlier one.
    fn add_basis(&mut self, basis: &[Basis]) -> Result<()>;

    /// What this was derived from, by memory.
    fn basis_of(&self, workspace: &Workspace, derived: DerivedId) -> Result<Vec<Basis>>;

    /// At most `limit` things that were derived from this memory of a workspace, by id.
    fn derived_from(&self, origin: &Workspace, memory: MemoryId, limit: u32) -> Result<Vec<Basis>>;

    /// Records that a session received these memories.
    fn note_told(&mut self, reading: &MemoryReading) -> Result<()>;

    /// What a session received, by memory, with the present revisions.
    fn told_memories(&self, key: &ReadSetKey) -> Result<Vec<ToldMemory>>;

    /// Records that a session knows these memories as they are now, if it received them before;
    /// `sequence` is the end of its journal.
    fn note_known(
        &mut self,
        key: &ReadSetKey,
        memories: &[(Workspace, MemoryId)],
        sequence: u64,
    ) -> Result<()>;

    /// Records that a session heard of these memories as they are now; `sequence` is the end of its journal.
    fn note_heard(
        &mut self,
        key: &ReadSetKey,
        memories: &[(Workspace, MemoryId)],
        sequence: u64,
        at: Timestamp,
    ) -> Result<()>;

    /// The agents of a workspace with a session that received this memory, by name.
    fn agents_told(
        &self,
        workspace: &Workspace,
        origin: &Workspace,
        memory: MemoryId,
    ) -> Result<Vec<Agent>>;

    /// Marks something as derived from a memory that has changed; `sequence` is that of its event.
    fn put_outdated(&mut self, record: &OutdatedRecord, sequence: u64) -> Result<()>;

    /// At most `limit` marks of what this agent owns, oldest first, after this position.
    fn outdated(
        &self,
        workspace: &Workspace,
        owner: &Agent,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, OutdatedRecord)>>;

    /// The marked things of this agent whose ids end so.
    fn outdated_ending(
        &self,
        workspace: &Workspace,
        owner: &Agent,
        ending: &str,
    ) -> Result<Vec<DerivedId>>;

    /// A memory that was derived from others, in sight or not: its mark is for its owner.
    fn derived_memory(&self, workspace: &Workspace, id: MemoryId) -> Result<Option<StoredMemory>>;

    /// A handoff that was derived from memories, in sight or not, without its memories.
    fn derived_handoff(&self, workspace: &Workspace, id: HandoffId) -> Result<Option<Handoff>>;

    /// Removes the marks of something; returns their number.
    fn drop_outdated(&mut self, workspace: &Workspace, derived: DerivedId) -> Result<u64>;

    /// Removes the marks that changes of this memory made; with `keeper` those of all other agents.
    fn drop_outdated_by(
        &mut self,
        origin: &Workspace,
        memory: MemoryId,
        keeper: Option<&Agent>,
    ) -> Result<()>;

    /// Removes these memories from what a session received.
    fn drop_told_of(&mut self, key: &ReadSetKey, memories: &[(Workspace, MemoryId)]) -> Result<()>;

    /// Removes at most `limit` records of what sessions received before this time; returns their number.
    fn drop_told(&mut self, before: Timestamp, limit: u32) -> Result<u64>;
}
