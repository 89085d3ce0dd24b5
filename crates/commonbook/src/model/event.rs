//! Events: facts about the layer, in one journal a workspace. The journal is the audit.

mod follow;

pub use follow::{EventBatch, EventFilter, EventPage, FollowEvents, JournalRange, ListEvents};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::access::EventVisibility;
use crate::model::agent::Agent;
use crate::model::memory::{Importance, Memory, Sharing};
use crate::model::workspace::Workspace;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum EventKind {
    /// A memory was kept.
    #[serde(rename = "memory.saved")]
    MemorySaved,
    /// A memory was changed.
    #[serde(rename = "memory.updated")]
    MemoryUpdated,
    /// A memory was replaced by another.
    #[serde(rename = "memory.superseded")]
    MemorySuperseded,
    /// A memory was deleted; it can be restored.
    #[serde(rename = "memory.deleted")]
    MemoryDeleted,
    /// A deleted memory was brought back.
    #[serde(rename = "memory.restored")]
    MemoryRestored,
    /// A memory was removed for good.
    #[serde(rename = "memory.purged")]
    MemoryPurged,
    /// A memory was set apart: it tries to instruct other agents.
    #[serde(rename = "memory.quarantined")]
    MemoryQuarantined,
    /// Somebody has looked at a quarantined memory, and lets others read it.
    #[serde(rename = "memory.released")]
    MemoryReleased,
    /// The author of a quarantined memory asks a person to release it.
    #[serde(rename = "memory.appealed")]
    MemoryAppealed,
    /// Something was stated about an entity for the first time.
    #[serde(rename = "entity.created")]
    EntityCreated,
    /// Something new was stated about an entity, or another was merged into it.
    #[serde(rename = "entity.merged")]
    EntityMerged,
    /// A merge into an entity was taken back.
    #[serde(rename = "entity.unmerged")]
    EntityUnmerged,
    /// A statement about an entity, or a merge, waits for somebody's decision.
    #[serde(rename = "entity.queued")]
    EntityQueued,
    /// What waited for a decision was dropped.
    #[serde(rename = "entity.dismissed")]
    EntityDismissed,
    /// Two memories contradict each other.
    #[serde(rename = "contradiction.found")]
    ContradictionFound,
    /// Somebody has decided what becomes of two memories that contradicted each other.
    #[serde(rename = "contradiction.resolved")]
    ContradictionResolved,
    /// Two things were related, or related once more.
    #[serde(rename = "relation.added")]
    RelationAdded,
    /// A case was opened.
    #[serde(rename = "case.opened")]
    CaseOpened,
    /// Entries were appended to a case; each is a `memory.saved` too.
    #[serde(rename = "case.appended")]
    CaseAppended,
    /// A case was closed: the work is done.
    #[serde(rename = "case.closed")]
    CaseClosed,
    /// A case was put away.
    #[serde(rename = "case.archived")]
    CaseArchived,
    /// A case was opened again.
    #[serde(rename = "case.reopened")]
    CaseReopened,
    /// A session was started.
    #[serde(rename = "session.started")]
    SessionStarted,
    /// A session goes on that was paused or had ended, or that another one takes up.
    #[serde(rename = "session.resumed")]
    SessionResumed,
    /// The agent will go on with a session later.
    #[serde(rename = "session.paused")]
    SessionPaused,
    /// A session has ended.
    #[serde(rename = "session.ended")]
    SessionEnded,
    /// A checkpoint was made of a session.
    #[serde(rename = "checkpoint.created")]
    CheckpointCreated,
    /// A session has ended in which something was kept, and nobody has summed it up.
    #[serde(rename = "session.unsummarised")]
    SessionUnsummarised,
    /// Work was handed over.
    #[serde(rename = "handoff.created")]
    HandoffCreated,
    /// A handoff was accepted.
    #[serde(rename = "handoff.accepted")]
    HandoffAccepted,
    /// What a handoff asked for is done.
    #[serde(rename = "handoff.completed")]
    HandoffCompleted,
    /// A handoff was rejected.
    #[serde(rename = "handoff.rejected")]
    HandoffRejected,
    /// A handoff was taken back.
    #[serde(rename = "handoff.withdrawn")]
    HandoffWithdrawn,
    /// A handoff was not accepted in time.
    #[serde(rename = "handoff.expired")]
    HandoffExpired,
    /// A handoff was made that leads back to where its work came from.
    #[serde(rename = "handoff.cycle_found")]
    HandoffCycleFound,
    /// An agent was given a context; only it is told.
    #[serde(rename = "context.built")]
    ContextBuilt,
    /// An agent's standing memory was read for it; only it is told.
    #[serde(rename = "agent.memory.loaded")]
    AgentMemoryLoaded,
    /// The store had lost events of this journal, and somebody went on without them.
    #[serde(rename = "store.loss_accepted")]
    StoreLossAccepted,
}

impl EventKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[
        Self::MemorySaved,
        Self::MemoryUpdated,
        Self::MemorySuperseded,
        Self::MemoryDeleted,
        Self::MemoryRestored,
        Self::MemoryPurged,
        Self::MemoryQuarantined,
        Self::MemoryReleased,
        Self::MemoryAppealed,
        Self::EntityCreated,
        Self::EntityMerged,
        Self::EntityUnmerged,
        Self::EntityQueued,
        Self::EntityDismissed,
        Self::RelationAdded,
        Self::ContradictionFound,
        Self::ContradictionResolved,
        Self::CaseOpened,
        Self::CaseAppended,
        Self::CaseClosed,
        Self::CaseArchived,
        Self::CaseReopened,
        Self::SessionStarted,
        Self::SessionResumed,
        Self::SessionPaused,
        Self::SessionEnded,
        Self::SessionUnsummarised,
        Self::CheckpointCreated,
        Self::HandoffCreated,
        Self::HandoffAccepted,
        Self::HandoffCompleted,
        Self::HandoffRejected,
        Self::HandoffWithdrawn,
        Self::HandoffExpired,
        Self::HandoffCycleFound,
        Self::ContextBuilt,
        Self::AgentMemoryLoaded,
        Self::StoreLossAccepted,
    ];

    /// The kind as it is written, `noun.past_tense`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MemorySaved => "memory.saved",
            Self::MemoryUpdated => "memory.updated",
            Self::MemorySuperseded => "memory.superseded",
            Self::MemoryDeleted => "memory.deleted",
            Self::MemoryRestored => "memory.restored",
            Self::MemoryPurged => "memory.purged",
            Self::MemoryQuarantined => "memory.quarantined",
            Self::MemoryReleased => "memory.released",
            Self::MemoryAppealed => "memory.appealed",
            Self::EntityCreated => "entity.created",
            Self::EntityMerged => "entity.merged",
            Self::EntityUnmerged => "entity.unmerged",
            Self::EntityQueued => "entity.queued",
            Self::EntityDismissed => "entity.dismissed",
            Self::RelationAdded => "relation.added",
            Self::ContradictionFound => "contradiction.found",
            Self::ContradictionResolved => "contradiction.resolved",
            Self::CaseOpened => "case.opened",
            Self::CaseAppended => "case.appended",
            Self::CaseClosed => "case.closed",
            Self::CaseArchived => "case.archived",
            Self::CaseReopened => "case.reopened",
            Self::SessionStarted => "session.started",
            Self::SessionResumed => "session.resumed",
            Self::SessionPaused => "session.paused",
            Self::SessionEnded => "session.ended",
            Self::CheckpointCreated => "checkpoint.created",
            Self::SessionUnsummarised => "session.unsummarised",
            Self::HandoffCreated => "handoff.created",
            Self::HandoffAccepted => "handoff.accepted",
            Self::HandoffCompleted => "handoff.completed",
            Self::HandoffRejected => "handoff.rejected",
            Self::HandoffWithdrawn => "handoff.withdrawn",
            Self::HandoffExpired => "handoff.expired",
            Self::HandoffCycleFound => "handoff.cycle_found",
            Self::ContextBuilt => "context.built",
            Self::AgentMemoryLoaded => "agent.memory.loaded",
            Self::StoreLossAccepted => "store.loss_accepted",
        }
    }

    /// Whether it happens to a memory, whose own sight then decides who is told.
    #[must_use]
    pub fn is_of_memory(self) -> bool {
        self.name().starts_with("memory.")
    }

    /// Whether it happens to two memories that contradict each other: who sees both is told.
    #[must_use]
    pub fn is_of_contradiction(self) -> bool {
        self.name().starts_with("contradiction.")
    }
}

/// A fact about the layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Its place in the workspace's journal: 1, 2, 3 … without a gap.
    pub sequence: u64,
    /// The workspace whose journal it is in.
    pub workspace: Workspace,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: EventKind,
    /// The agent that did it.
    pub actor: Agent,
    /// The id of what it happened to.
    pub subject: String,
    /// The topics of what it happened to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// How much what it happened to matters.
    pub importance: Importance,
    /// The fields that changed, with `memory.updated`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What else it says: with `agent.memory.loaded`, `agent_id`, `memory_source`, `memory_size`
    /// (bytes) and `timestamp`; with `context.built`, its figures; with `store.loss_accepted`, the
    /// last event that the store held (`stored`) and the last that was acknowledged (`marked`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// An event that is about to be appended; the journal gives it its place.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The workspace whose journal it goes to.
    pub workspace: Workspace,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: EventKind,
    /// The agent that did it.
    pub actor: Agent,
    /// The id of what it happened to.
    pub subject: String,
    /// The owner of what it happened to: who sees the event when the thing itself is gone.
    pub owner: Agent,
    /// Who else may read what it happened to: an event of a private time stays its owner's.
    pub sharing: Sharing,
    /// Another agent that is told of it however it is shared: the other side of a handoff.
    pub told: Option<Agent>,
    /// The topics of what it happened to.
    pub topics: Vec<String>,
    /// How much what it happened to matters.
    pub importance: Importance,
    /// The fields that changed.
    pub changed: Vec<String>,
    /// What else it says.
    pub details: Map<String, Value>,
}

impl NewEvent {
    /// This happened to `memory`, by `actor`, at `at`.
    #[must_use]
    pub fn of(kind: EventKind, memory: &Memory, actor: &Agent, at: Timestamp) -> Self {
        Self {
            workspace: memory.workspace.clone(),
            at,
            kind,
            actor: actor.clone(),
            subject: memory.id.to_string(),
            owner: memory.owner.clone(),
            sharing: memory.sharing,
            told: None,
            topics: memory.topics.clone(),
            importance: memory.importance,
            changed: Vec::new(),
            details: Map::new(),
        }
    }

    /// This happened to what is no memory, by `actor`, at `at`; those who may read it are told.
    #[must_use]
    pub fn for_subject(
        kind: EventKind,
        workspace: &Workspace,
        subject: String,
        actor: &Agent,
        at: Timestamp,
        sharing: Sharing,
    ) -> Self {
        Self {
            workspace: workspace.clone(),
            at,
            kind,
            actor: actor.clone(),
            subject,
            owner: actor.clone(),
            sharing,
            told: None,
            topics: Vec::new(),
            importance: Importance::Normal,
            changed: Vec::new(),
            details: Map::new(),
        }
    }

    /// The same event, saying this too.
    #[must_use]
    pub fn with_details(mut self, details: &[(&str, Value)]) -> Self {
        self.details = details.iter().map(|(name, it)| ((*name).to_owned(), it.clone())).collect();
        self
    }

    /// The same event, with the fields that changed.
    #[must_use]
    pub fn with_changed_fields(mut self, fields: &[&str]) -> Self {
        self.changed = fields.iter().map(|field| (*field).to_owned()).collect();
        self
    }
}

/// An event of a journal, with what decides who is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    /// The event.
    pub event: Event,
    /// What decides who is told of it.
    pub reach: EventVisibility,
}
