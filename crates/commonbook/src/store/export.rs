//! The contract of a store for exports: rows in a stable order, and what only an import writes.

use crate::base::error::Result;
use crate::base::id::{
    CheckpointId, ContextId, ContradictionId, EntityId, HandoffId, MemoryId, RelationId, SessionId,
};
use crate::model::access::{Audience, Sight};
use crate::model::agent::AgentRecord;
use crate::model::case::{Case, CaseKey};
use crate::model::checkpoint::Checkpoint;
use crate::model::contradiction::ContradictionRecord;
use crate::model::entity::{Entity, EntityName, MergeRecord};
use crate::model::export::CaseMark;
use crate::model::graph::Relation;
use crate::model::handoff::Handoff;
use crate::model::memory::Memory;
use crate::model::session::Session;
use crate::model::workspace::Workspace;

/// The id of a row that an import may find stored already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredId {
    /// A session.
    Session(SessionId),
    /// A checkpoint.
    Checkpoint(CheckpointId),
    /// A handoff.
    Handoff(HandoffId),
    /// A relation.
    Relation(RelationId),
    /// A contradiction.
    Contradiction(ContradictionId),
    /// The receipt of a context.
    Context(ContextId),
}

/// The rows that an export reads and an import writes, besides those of the other traits. Each list
/// begins after `after`.
pub trait ExportRows {
    /// At most `limit` cases in the order in which they were opened, each with its position.
    fn cases_after(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, Case)>>;

    /// At most `limit` sessions in sight in the order in which they were started, each with its
    /// position.
    fn sessions_after(&self, sight: &Sight, after: u64, limit: u32) -> Result<Vec<(u64, Session)>>;

    /// At most `limit` handoffs in sight in the order in which they were created, each with its
    /// position. They name their memories as [`super::HandoffRows`] does.
    fn handoffs_after(&self, sight: &Sight, after: u64, limit: u32) -> Result<Vec<(u64, Handoff)>>;

    /// The handoffs in sight in the order in which each was accepted or completed last; empty if that
    /// is the order in which they were created.
    fn handoff_order(&self, sight: &Sight) -> Result<Vec<HandoffId>>;

    /// At most `limit` entities that agents made statements about, by id.
    fn stated_entities_after(
        &self,
        workspace: &Workspace,
        after: Option<EntityId>,
        limit: u32,
    ) -> Result<Vec<Entity>>;

    /// The merges into an entity that were not undone, oldest first.
    fn merges(&self, workspace: &Workspace, target: EntityId) -> Result<Vec<MergeRecord>>;

    /// Those of these names that an agent stated.
    fn stated_names(&self, workspace: &Workspace, names: &[EntityId]) -> Result<Vec<EntityName>>;

    /// At most `limit` relations in sight by id, each with its audience.
    fn relations_after(
        &self,
        sight: &Sight,
        after: Option<RelationId>,
        limit: u32,
    ) -> Result<Vec<(Relation, Audience)>>;

    /// At most `limit` contradictions in sight by id that no follower finds again as they are:
    /// resolved ones, and those that an endpoint found.
    fn decided_contradictions_after(
        &self,
        sight: &Sight,
        after: Option<ContradictionId>,
        limit: u32,
    ) -> Result<Vec<ContradictionRecord>>;

    /// At most `limit` checkpoints of sessions in sight, by id.
    fn checkpoints_after(
        &self,
        sight: &Sight,
        after: Option<CheckpointId>,
        limit: u32,
    ) -> Result<Vec<Checkpoint>>;

    /// At most `limit` read marks in cases, by agent and case, after the first `skip`: those of the
    /// reader and the agents below it, of all agents for the person.
    fn case_marks(&self, sight: &Sight, skip: u64, limit: u32) -> Result<Vec<CaseMark>>;

    /// The position of a memory in its journal, in sight or not: an import asks only whether it is
    /// there.
    fn memory_position(&self, workspace: &Workspace, id: MemoryId) -> Result<Option<u64>>;

    /// The entry at a position of a case, in sight or not: an import asks only whether the position
    /// is free.
    fn entry_at(
        &self,
        workspace: &Workspace,
        case: &CaseKey,
        position: u64,
    ) -> Result<Option<MemoryId>>;

    /// Whether the workspace has a row with this id, in sight or not; of contradictions, a decided one.
    fn is_stored(&self, workspace: &Workspace, id: StoredId) -> Result<bool>;

    /// The checkpoint of a session with this number.
    fn checkpoint_numbered(
        &self,
        workspace: &Workspace,
        session: &str,
        number: u64,
    ) -> Result<Option<CheckpointId>>;

    /// Stores what the registry knew of an agent elsewhere; times only widen. Returns whether
    /// anything changed.
    fn restore_agent(&mut self, workspace: &Workspace, agent: &AgentRecord) -> Result<bool>;

    /// Stores an earlier revision of a memory that is here at a later one; returns whether it is new.
    fn restore_revision(&mut self, earlier: &Memory) -> Result<bool>;

    /// Makes this the order in which these handoffs were accepted or completed last; returns whether it
    /// was another one.
    fn restore_handoff_order(&mut self, workspace: &Workspace, ids: &[HandoffId]) -> Result<bool>;

    /// Records that a session has used checkpoint numbers up to this one.
    fn note_checkpoint_number(&mut self, checkpoint: &Checkpoint) -> Result<()>;
}
