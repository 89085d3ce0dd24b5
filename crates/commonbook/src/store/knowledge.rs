//! The contract of a store for knowledge: which agents received which memory, and what they hear of
//! retractions.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::{MemoryId, OperationId};
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::knowledge::KnowledgeRecord;
use crate::model::memory::{Memory, RetractionNotice};
use crate::model::workspace::Workspace;
use crate::store::EntryStretch;

/// The rows of knowledge. A stored context records what its text told.
pub trait KnowledgeRows {
    /// What agents of this workspace, or of every one, received of these memories: for each agent
    /// and revision the first time, by memory and agent. Who may read it decides `Sight::sees_work`.
    fn knowledge(
        &self,
        workspace: Option<&Workspace>,
        memories: &[MemoryId],
        agents: &[Agent],
    ) -> Result<Vec<KnowledgeRecord>>;

    /// Records that this caller has read the entries of a stretch: those that every agent sees.
    fn record_entries_read(
        &mut self,
        caller: &Caller,
        stretch: &EntryStretch,
        at: Timestamp,
    ) -> Result<()>;

    /// At most `limit` entries of cases in sight whose text names this memory.
    fn digest_entries(
        &self,
        sight: &Sight,
        memory: &Memory,
        limit: u32,
    ) -> Result<Vec<StoredMemory>>;

    /// Stores what an agent hears of a retraction; an existing notice stays unchanged.
    fn put_retraction_notice(&mut self, notice: &RetractionNotice) -> Result<()>;

    /// At most `limit` notices for this agent that it heard at this time, or that wait for it: those
    /// that it may hear while it works for this user, oldest first.
    fn retraction_notices(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        user: Option<&str>,
        heard_at: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<RetractionNotice>>;

    /// Records that an agent has heard the notices about this memory.
    fn hear_retraction(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        memory: MemoryId,
        at: Timestamp,
    ) -> Result<()>;

    /// Removes the notices of an operation, except those that it was taken back; returns those that
    /// were heard.
    fn take_back_notices(&mut self, operation: OperationId) -> Result<Vec<RetractionNotice>>;

    /// At most `limit` retracted memories of a workspace in sight with one of these claims, newest first.
    fn retracted_claiming(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        keys: &[i64],
        limit: u32,
    ) -> Result<Vec<StoredMemory>>;
}
