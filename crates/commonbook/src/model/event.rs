//! Events: what happened in a workspace, in one journal each. The journal is the audit log.

mod entries;
mod follow;
mod rates;
mod resume;
mod work;

pub(crate) use entries::{appended_ids, appended_positions, with_entries};
pub use follow::{
    EventBatch, EventFilter, EventPage, FollowEvents, JournalRange, ListEvents, RecordedEvents,
    SubjectName,
};
pub use rates::{EventRates, EventTally, GetEventRates, KindRate, RatePeriod, RateSteps};
pub use resume::{JournalHistory, RESYNC_EVENT, ResumeToken};
use work::unnarrowed;
pub(crate) use work::{ItemFigures, narrowed, work_details, work_items};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::access::{EventSubject, EventVisibility, Sight};
use crate::model::agent::Agent;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::memory::{Importance, Memory, Sharing};
use crate::model::workspace::Workspace;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum EventKind {
    /// A memory was saved.
    #[serde(rename = "memory.saved")]
    MemorySaved,
    /// A memory was updated.
    #[serde(rename = "memory.updated")]
    MemoryUpdated,
    /// A memory was superseded.
    #[serde(rename = "memory.superseded")]
    MemorySuperseded,
    /// A memory was retracted: it is wrong.
    #[serde(rename = "memory.retracted")]
    MemoryRetracted,
    /// A memory was deleted; it can be restored.
    #[serde(rename = "memory.deleted")]
    MemoryDeleted,
    /// A memory was restored.
    #[serde(rename = "memory.restored")]
    MemoryRestored,
    /// A memory was removed permanently.
    #[serde(rename = "memory.purged")]
    MemoryPurged,
    /// The content of an earlier revision was removed permanently; its `details` name the `revision`.
    #[serde(rename = "memory.revision_purged")]
    MemoryRevisionPurged,
    /// A memory was forgotten: removed with every copy, and kept from coming back.
    #[serde(rename = "memory.forgotten")]
    MemoryForgotten,
    /// A memory was quarantined: it tries to instruct other agents.
    #[serde(rename = "memory.quarantined")]
    MemoryQuarantined,
    /// A person reviewed a quarantined memory and released it.
    #[serde(rename = "memory.released")]
    MemoryReleased,
    /// The author of a quarantined memory asks for its release.
    #[serde(rename = "memory.appealed")]
    MemoryAppealed,
    /// A memory was derived from one that has changed since; its `details` name the `change`.
    #[serde(rename = "memory.outdated")]
    MemoryOutdated,
    /// An entity was created.
    #[serde(rename = "entity.created")]
    EntityCreated,
    /// Statements were added to an entity, or another one was merged into it.
    #[serde(rename = "entity.merged")]
    EntityMerged,
    /// An entity was unmerged.
    #[serde(rename = "entity.unmerged")]
    EntityUnmerged,
    /// An entity was renamed, or its type changed; its old name leads to it.
    #[serde(rename = "entity.renamed")]
    EntityRenamed,
    /// An entity was deleted; it can be restored.
    #[serde(rename = "entity.deleted")]
    EntityDeleted,
    /// A deleted entity was restored.
    #[serde(rename = "entity.restored")]
    EntityRestored,
    /// A statement or a merge waits for a decision.
    #[serde(rename = "entity.queued")]
    EntityQueued,
    /// A waiting statement or merge was dropped.
    #[serde(rename = "entity.dismissed")]
    EntityDismissed,
    /// A contradiction was found.
    #[serde(rename = "contradiction.found")]
    ContradictionFound,
    /// A contradiction was resolved.
    #[serde(rename = "contradiction.resolved")]
    ContradictionResolved,
    /// A resolved contradiction was reopened, by an agent or because a text changed.
    #[serde(rename = "contradiction.reopened")]
    ContradictionReopened,
    /// A relation was added.
    #[serde(rename = "relation.added")]
    RelationAdded,
    /// A relation was removed.
    #[serde(rename = "relation.removed")]
    RelationRemoved,
    /// A case was opened.
    #[serde(rename = "case.opened")]
    CaseOpened,
    /// Entries were appended to a case; each is a `memory.saved` too.
    #[serde(rename = "case.appended")]
    CaseAppended,
    /// The title, labels or lead of a case were changed.
    #[serde(rename = "case.updated")]
    CaseUpdated,
    /// A branch of a case was opened; its `details` name the case (`of`) and its version (`at`).
    #[serde(rename = "case.branched")]
    CaseBranched,
    /// A branch was merged into its case, which its `details` name (`into`).
    #[serde(rename = "case.merged")]
    CaseMerged,
    /// Entries of a case were proposed to its lead.
    #[serde(rename = "case.proposed")]
    CaseProposed,
    /// The lead of a case accepted or rejected a proposal.
    #[serde(rename = "case.decided")]
    CaseDecided,
    /// A case was closed.
    #[serde(rename = "case.closed")]
    CaseClosed,
    /// A case was archived.
    #[serde(rename = "case.archived")]
    CaseArchived,
    /// A case was reopened.
    #[serde(rename = "case.reopened")]
    CaseReopened,
    /// A session was started.
    #[serde(rename = "session.started")]
    SessionStarted,
    /// A paused or ended session continues.
    #[serde(rename = "session.resumed")]
    SessionResumed,
    /// A session was paused.
    #[serde(rename = "session.paused")]
    SessionPaused,
    /// A session ended.
    #[serde(rename = "session.ended")]
    SessionEnded,
    /// A checkpoint was created.
    #[serde(rename = "checkpoint.created")]
    CheckpointCreated,
    /// A checkpoint was archived: it stays until it is deleted.
    #[serde(rename = "checkpoint.archived")]
    CheckpointArchived,
    /// A checkpoint was deleted.
    #[serde(rename = "checkpoint.deleted")]
    CheckpointDeleted,
    /// A session ended with several memories and without a summary.
    #[serde(rename = "session.unsummarised")]
    SessionUnsummarised,
    /// A handoff was created.
    #[serde(rename = "handoff.created")]
    HandoffCreated,
    /// A handoff was accepted.
    #[serde(rename = "handoff.accepted")]
    HandoffAccepted,
    /// A handoff was completed.
    #[serde(rename = "handoff.completed")]
    HandoffCompleted,
    /// A handoff was rejected.
    #[serde(rename = "handoff.rejected")]
    HandoffRejected,
    /// A handoff was withdrawn.
    #[serde(rename = "handoff.withdrawn")]
    HandoffWithdrawn,
    /// A handoff expired.
    #[serde(rename = "handoff.expired")]
    HandoffExpired,
    /// A handoff was created that leads back to an earlier agent of its chain.
    #[serde(rename = "handoff.cycle_found")]
    HandoffCycleFound,
    /// A handoff was refused for its cycle or its long chain; the subject is the earlier one.
    #[serde(rename = "handoff.refused")]
    HandoffRefused,
    /// A handoff was derived from a memory that has changed since; its `details` name the `change`.
    #[serde(rename = "handoff.outdated")]
    HandoffOutdated,
    /// A context was built for an agent. That agent, those above it and the person see the event.
    #[serde(rename = "context.built")]
    ContextBuilt,
    /// An agent's standing memory was read. The same readers see the event.
    #[serde(rename = "agent.memory.loaded")]
    AgentMemoryLoaded,
    /// An agent's memories were consolidated; only that agent sees the event.
    #[serde(rename = "consolidation.completed")]
    ConsolidationCompleted,
    /// A memory was retracted that an agent received. The same readers see the event.
    #[serde(rename = "agent.memory.retracted")]
    AgentMemoryRetracted,
    /// The store had lost events of this journal, and the operator accepted the loss.
    #[serde(rename = "store.loss_accepted")]
    StoreLossAccepted,
}

impl EventKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: &'static [Self] = &[
        Self::MemorySaved,
        Self::MemoryUpdated,
        Self::MemorySuperseded,
        Self::MemoryRetracted,
        Self::MemoryDeleted,
        Self::MemoryRestored,
        Self::MemoryPurged,
        Self::MemoryRevisionPurged,
        Self::MemoryForgotten,
        Self::MemoryQuarantined,
        Self::MemoryReleased,
        Self::MemoryAppealed,
        Self::MemoryOutdated,
        Self::EntityCreated,
        Self::EntityMerged,
        Self::EntityUnmerged,
        Self::EntityRenamed,
        Self::EntityDeleted,
        Self::EntityRestored,
        Self::EntityQueued,
        Self::EntityDismissed,
        Self::RelationAdded,
        Self::RelationRemoved,
        Self::ContradictionFound,
        Self::ContradictionResolved,
        Self::ContradictionReopened,
        Self::CaseOpened,
        Self::CaseAppended,
        Self::CaseUpdated,
        Self::CaseBranched,
        Self::CaseMerged,
        Self::CaseProposed,
        Self::CaseDecided,
        Self::CaseClosed,
        Self::CaseArchived,
        Self::CaseReopened,
        Self::SessionStarted,
        Self::SessionResumed,
        Self::SessionPaused,
        Self::SessionEnded,
        Self::SessionUnsummarised,
        Self::CheckpointCreated,
        Self::CheckpointArchived,
        Self::CheckpointDeleted,
        Self::HandoffCreated,
        Self::HandoffAccepted,
        Self::HandoffCompleted,
        Self::HandoffRejected,
        Self::HandoffWithdrawn,
        Self::HandoffExpired,
        Self::HandoffCycleFound,
        Self::HandoffRefused,
        Self::HandoffOutdated,
        Self::ContextBuilt,
        Self::AgentMemoryLoaded,
        Self::ConsolidationCompleted,
        Self::AgentMemoryRetracted,
        Self::StoreLossAccepted,
    ];

    /// The kind's name on the wire, `noun.past_tense`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MemorySaved => "memory.saved",
            Self::MemoryUpdated => "memory.updated",
            Self::MemorySuperseded => "memory.superseded",
            Self::MemoryRetracted => "memory.retracted",
            Self::MemoryDeleted => "memory.deleted",
            Self::MemoryRestored => "memory.restored",
            Self::MemoryPurged => "memory.purged",
            Self::MemoryRevisionPurged => "memory.revision_purged",
            Self::MemoryForgotten => "memory.forgotten",
            Self::MemoryQuarantined => "memory.quarantined",
            Self::MemoryReleased => "memory.released",
            Self::MemoryAppealed => "memory.appealed",
            Self::MemoryOutdated => "memory.outdated",
            Self::EntityCreated => "entity.created",
            Self::EntityMerged => "entity.merged",
            Self::EntityUnmerged => "entity.unmerged",
            Self::EntityRenamed => "entity.renamed",
            Self::EntityDeleted => "entity.deleted",
            Self::EntityRestored => "entity.restored",
            Self::EntityQueued => "entity.queued",
            Self::EntityDismissed => "entity.dismissed",
            Self::RelationAdded => "relation.added",
            Self::RelationRemoved => "relation.removed",
            Self::ContradictionFound => "contradiction.found",
            Self::ContradictionResolved => "contradiction.resolved",
            Self::ContradictionReopened => "contradiction.reopened",
            Self::CaseOpened => "case.opened",
            Self::CaseAppended => "case.appended",
            Self::CaseUpdated => "case.updated",
            Self::CaseBranched => "case.branched",
            Self::CaseMerged => "case.merged",
            Self::CaseProposed => "case.proposed",
            Self::CaseDecided => "case.decided",
            Self::CaseClosed => "case.closed",
            Self::CaseArchived => "case.archived",
            Self::CaseReopened => "case.reopened",
            Self::SessionStarted => "session.started",
            Self::SessionResumed => "session.resumed",
            Self::SessionPaused => "session.paused",
            Self::SessionEnded => "session.ended",
            Self::CheckpointCreated => "checkpoint.created",
            Self::CheckpointArchived => "checkpoint.archived",
            Self::CheckpointDeleted => "checkpoint.deleted",
            Self::SessionUnsummarised => "session.unsummarised",
            Self::HandoffCreated => "handoff.created",
            Self::HandoffAccepted => "handoff.accepted",
            Self::HandoffCompleted => "handoff.completed",
            Self::HandoffRejected => "handoff.rejected",
            Self::HandoffWithdrawn => "handoff.withdrawn",
            Self::HandoffExpired => "handoff.expired",
            Self::HandoffCycleFound => "handoff.cycle_found",
            Self::HandoffRefused => "handoff.refused",
            Self::HandoffOutdated => "handoff.outdated",
            Self::ContextBuilt => "context.built",
            Self::AgentMemoryRetracted => "agent.memory.retracted",
            Self::AgentMemoryLoaded => "agent.memory.loaded",
            Self::ConsolidationCompleted => "consolidation.completed",
            Self::StoreLossAccepted => "store.loss_accepted",
        }
    }

    /// Whether its subject is a memory, whose own permissions then decide who sees the event.
    #[must_use]
    pub fn is_of_memory(self) -> bool {
        self.name().starts_with("memory.")
    }

    /// Whether its subject is a contradiction: agents that see both memories see the event.
    #[must_use]
    pub fn is_of_contradiction(self) -> bool {
        self.name().starts_with("contradiction.")
    }

    /// Whether it says what an agent received: each reader sees in it only what it may read.
    #[must_use]
    pub const fn is_of_work(self) -> bool {
        matches!(self, Self::ContextBuilt | Self::AgentMemoryLoaded | Self::AgentMemoryRetracted)
    }
}

/// One event of a workspace's journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Its position in the journal: 1, 2, 3 … without gaps.
    pub sequence: u64,
    /// The workspace.
    pub workspace: Workspace,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: EventKind,
    /// The agent that did it.
    pub actor: Agent,
    /// The device of the call, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The client program of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The interface of the call; none if Commonbook did it by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub door: Option<EntryPoint>,
    /// The id of what it happened to.
    pub subject: String,
    /// The topics of what it happened to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// How much what it happened to matters.
    pub importance: Importance,
    /// The fields that changed, in `memory.updated`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Further data. `context.built`, `agent.memory.loaded`: `agent_id`, `source`, and `ids`, `bytes`
    /// and `tokens` of the items that you may see. `handoff.cycle_found`: the `cycle`.
    /// `handoff.refused`: the `reason`, and the `cycle` if it closes one. `memory.retracted`: the
    /// `operation`. `agent.memory.retracted`: that, `agent_id` and `ids`. `case.appended`: `first`,
    /// `last` and `entries` (`position`, `entry_id`, `kind`, `summary`, or `withheld`).
    /// `consolidation.completed`: `merged`, `archived`, `pruned`, `seconds`. `store.loss_accepted`: the
    /// last event `stored` and the last `marked`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Event {
    /// The event for the person whose home it is: with all that an agent received, seen by others or not,
    /// and without topics, which forgetting removes from the journal but could not remove from what was printed.
    #[must_use]
    pub fn for_audit(self) -> Self {
        Self { topics: Vec::new(), details: unnarrowed(&self.details), ..self }
    }
}

/// From where a caller called: what an event says of the call beside its actor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventOrigin {
    /// The agent that called.
    pub agent: Agent,
    /// Its device, if it named one.
    pub device: Option<String>,
    /// Its client program, if known.
    pub client: Option<String>,
    /// The interface through which it called.
    pub door: EntryPoint,
}

impl EventOrigin {
    /// The origin of what this caller does.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        let Caller { agent, device, client, door, .. } = caller;
        Self { agent: agent.clone(), device: device.clone(), client: client.clone(), door: *door }
    }

    /// Whether an event of this actor comes from here: what Commonbook does by itself during a call
    /// does not.
    #[must_use]
    pub fn is_of(&self, actor: &Agent) -> bool {
        *actor == self.agent || *actor != Agent::system()
    }
}

/// An event to be appended; the journal assigns its position.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The workspace.
    pub workspace: Workspace,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: EventKind,
    /// The agent that did it.
    pub actor: Agent,
    /// The id of the subject.
    pub subject: String,
    /// The subject's owner, who sees the event even when the subject is gone.
    pub owner: Agent,
    /// The user that the subject was for or about at the time.
    pub user_id: Option<String>,
    /// The subject's sharing at the time: an event of a private subject stays its owner's.
    pub sharing: Sharing,
    /// Another agent that sees the event like its owner: the other side of a handoff.
    pub addressee: Option<Agent>,
    /// The subject's topics.
    pub topics: Vec<String>,
    /// The subject's importance.
    pub importance: Importance,
    /// The fields that changed.
    pub changed: Vec<String>,
    /// Further data.
    pub details: Map<String, Value>,
}

impl NewEvent {
    /// An event about `memory`, by `actor`, at `at`.
    #[must_use]
    pub fn of(kind: EventKind, memory: &Memory, actor: &Agent, at: Timestamp) -> Self {
        Self {
            workspace: memory.workspace.clone(),
            at,
            kind,
            actor: actor.clone(),
            subject: memory.id.to_string(),
            owner: memory.owner.clone(),
            user_id: memory.user_id.clone(),
            sharing: memory.sharing,
            addressee: None,
            topics: memory.topics.clone(),
            importance: memory.importance,
            changed: Vec::new(),
            details: Map::new(),
        }
    }

    /// An event about a subject that is not a memory, by `actor`, at `at`; agents that may read the
    /// subject see it.
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
            user_id: None,
            sharing,
            addressee: None,
            topics: Vec::new(),
            importance: Importance::Normal,
            changed: Vec::new(),
            details: Map::new(),
        }
    }

    /// The same event, with these details added.
    #[must_use]
    pub fn with_details(mut self, details: &[(&str, Value)]) -> Self {
        self.details =
            details.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self
    }

    /// The same event, with the fields that changed.
    #[must_use]
    pub fn with_changed_fields(mut self, fields: &[&str]) -> Self {
        self.changed = fields.iter().map(|field| (*field).to_owned()).collect();
        self
    }
}

/// An event of a journal, with what decides who sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    /// The event.
    pub event: Event,
    /// What decides who sees it.
    pub visibility: EventVisibility,
}

impl EventRecord {
    /// The event as this sight sees it; `None` if it does not.
    #[must_use]
    pub fn shown_to(&self, sight: &Sight) -> Option<Event> {
        sight.sees_event(&self.visibility).then(|| match &self.visibility.about {
            EventSubject::Work(work) => narrowed(&self.event, sight, work),
            EventSubject::Entries(entries) => with_entries(&self.event, sight, entries),
            _ => self.event.clone(),
        })
    }
}
