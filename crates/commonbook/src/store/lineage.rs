//! The contract of a store for lineage: what was derived from which memory, and what sessions were told.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use crate::model::lineage::{Basis, DerivedId, ReadSetKey, ToldMemory};
use crate::model::workspace::Workspace;
use crate::prompt::context::ContextRecord;

/// The rows of lineage. They hold ids alone; a verb shows one through a sight. A purged memory is in none
/// of them.
pub trait LineageRows {
    /// Records what something was derived from; a later record about the same two replaces an earlier one.
    fn add_basis(&mut self, basis: &[Basis]) -> Result<()>;

    /// What this was derived from, by memory.
    fn basis_of(&self, workspace: &Workspace, derived: DerivedId) -> Result<Vec<Basis>>;

    /// At most `limit` things that were derived from this memory of a workspace, by id.
    fn derived_from(&self, origin: &Workspace, memory: MemoryId, limit: u32) -> Result<Vec<Basis>>;

    /// Records that a session was told the memories of this receipt, each at its revision there, else at
    /// the present one.
    fn note_told(&mut self, receipt: &ContextRecord) -> Result<()>;

    /// What a session was told, by memory, with the present revisions.
    fn told_memories(&self, key: &ReadSetKey) -> Result<Vec<ToldMemory>>;

    /// Records that a session knows these memories as they are now, if it was told them before;
    /// `sequence` is the end of its journal.
    fn note_known(
        &mut self,
        key: &ReadSetKey,
        memories: &[(Workspace, MemoryId)],
        sequence: u64,
    ) -> Result<()>;

    /// The agents of a workspace with a session that was told this memory, by name.
    fn agents_told(
        &self,
        workspace: &Workspace,
        origin: &Workspace,
        memory: MemoryId,
    ) -> Result<Vec<Agent>>;

    /// Removes at most `limit` records of what sessions were told before this time; returns their number.
    fn drop_told(&mut self, before: Timestamp, limit: u32) -> Result<u64>;
}
