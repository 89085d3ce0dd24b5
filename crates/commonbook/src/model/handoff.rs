//! Handoffs: one agent gives its work to another, with the memories for it.
//!
//! A handoff waits until its target accepts it; no other agent can. If the target is a role, the first
//! agent with that role that accepts becomes the target. The memories that it carries
//! are chosen when it is created ([`choose`]) and stored as text ([`crate::prompt::handoff`]), so
//! accepting twice returns the same text, apart from what the target may no longer see. A handoff
//! that expires becomes an ordinary memory. The next status depends only on the status and the step
//! ([`next_status`]).

mod chain;
pub mod choose;
mod cycle;
mod lifecycle;
pub(crate) mod package;
mod requests;
mod responses;
mod target;

pub use chain::{BroughtWork, ChainLink, ChainPosition, ReceivedHandoffs};
pub use cycle::HandoffCycle;
pub use lifecycle::{HandoffSide, HandoffStep, StepActor, StepAttempt, next_status};
pub use package::{BriefSection, HandoffPackage, PackResult};
pub use requests::{
    AcceptHandoff, CompleteHandoff, CreateHandoff, GetHandoff, HandoffDraft, ListHandoffs,
    RejectHandoff, SearchText, WithdrawHandoff, check_other_agent,
};
pub use responses::{AcceptHandoffResult, HandoffReceipt, HandoffStepResult, PassedNote};
pub use target::HandoffTarget;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::{EntityId, HandoffId, MemoryId};
use crate::base::limits;
use crate::model::access::Visibility;
use crate::model::agent::Agent;
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::{Sharing, Trust};
use crate::model::workspace::Workspace;
use commonbook_text::claims::compare::says_same;
use commonbook_text::referring::refers_back;
use commonbook_text::string_enum;

string_enum! {
    /// The status of a handoff.
    HandoffStatus {
        /// The target has not answered yet.
        Pending = "pending",
        /// The target works on it.
        Accepted = "accepted",
        /// The target has done it.
        Completed = "completed",
        /// The target refused it.
        Rejected = "rejected",
        /// The source withdrew it before it was accepted.
        Withdrawn = "withdrawn",
        /// It was not accepted in time; its text is an ordinary memory now.
        Expired = "expired",
    }
}

impl HandoffStatus {
    /// Whether an agent still has to act on it.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Accepted)
    }

    /// Whether work has passed from source to target, or still can: then the handoff is an edge of
    /// the collaboration graph.
    #[must_use]
    pub const fn passes_work(self) -> bool {
        matches!(self, Self::Pending | Self::Accepted | Self::Completed)
    }
}

string_enum! {
    /// How the target's work relates to the source's.
    HandoffKind {
        /// The target continues where the source stops.
        Sequential = "sequential",
        /// The target works in parallel with the source.
        Parallel = "parallel",
        /// The source splits its work among several targets.
        Fork = "fork",
        /// The target joins several branches.
        Join = "join",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for HandoffKind {
    fn default() -> Self {
        Self::Sequential
    }
}

string_enum! {
    /// Why a handoff includes a memory.
    InclusionReason {
        /// The source named it.
        Named = "named",
        /// It fits the task, or was saved during the work that is handed over.
        Chosen = "chosen",
        /// It came to the source by an earlier handoff.
        Inherited = "inherited",
    }
}

/// A filter of handoffs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandoffFilter {
    /// The side of the reader.
    pub side: HandoffSide,
    /// One of these statuses; empty for any.
    pub status: Vec<HandoffStatus>,
    /// From or to this other agent.
    pub with: Option<Agent>,
    /// Of this chain.
    pub chain: Option<HandoffId>,
    /// Of this case.
    pub case: Option<String>,
    /// With this memory, as far as the reader may know that.
    pub memory: Option<MemoryId>,
    /// Whether the oldest comes first, as in a queue.
    pub oldest_first: bool,
}

/// A memory that a handoff includes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffMemory {
    /// The memory's id.
    pub id: MemoryId,
    /// The agent that wrote it first.
    pub author: Agent,
    /// Why it is included.
    pub why: InclusionReason,
    /// Its score for the task, 0 to 1.
    pub score: f64,
    /// True if it is private: the owner named it for this target, and later handoffs do not include
    /// it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// True if the text names it by a headline: the target opens it. Later handoffs do not include it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub headline: bool,
    /// Its length in the text, in tokens.
    pub tokens: u32,
}

/// An entity that a handoff includes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffEntity {
    /// The entity's id.
    pub id: EntityId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name.
    pub value: String,
    /// Its length in the text, in tokens.
    pub tokens: u32,
}

/// A handoff of one agent's work to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Handoff {
    /// Its id.
    pub id: HandoffId,
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// The source: the agent that hands over.
    pub from: Agent,
    /// The target: the only agent that can accept it, or the role until one has.
    pub to: Agent,
    /// The role that it was created for: every agent with it can accept, the first has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Agent>,
    /// The user that the work is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The session in which it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The case of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The work to be done.
    pub task: String,
    /// What the target has to know about the work so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The files that are being worked on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_files: Vec<String>,
    /// The decisions made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions_made: Vec<String>,
    /// The next steps, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
    /// How the target's work relates to the source's.
    pub kind: HandoffKind,
    /// Its status.
    pub status: HandoffStatus,
    /// The handoffs that it continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<HandoffId>,
    /// Completed handoffs of its source whose results it tells besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds_on: Vec<HandoffId>,
    /// The first handoff of its chain; its own id if it begins one.
    pub chain: HandoffId,
    /// Its depth in the chain, from 1.
    pub depth: u32,
    /// The memories that it includes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<HandoffMemory>,
    /// The entities that it includes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<HandoffEntity>,
    /// Length of its full text, in tokens.
    pub tokens: u32,
    /// The cycle that it closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<HandoffCycle>,
    /// Its number in your queue, from 1: only in a list of those that wait for you.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Its result, or the reason why it was rejected or withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires unless it is accepted before.
    pub expires_at: Timestamp,
    /// When it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<Timestamp>,
    /// The session in which it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_in: Option<String>,
    /// When it was completed, rejected, withdrawn or expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Number of its changes, from 1.
    pub version: u64,
}

/// The origin of a handoff.
#[derive(Debug, Clone)]
pub struct HandoffOrigin {
    /// The workspace.
    pub workspace: Workspace,
    /// The agent that hands over.
    pub from: Agent,
    /// The user that the work is for.
    pub user_id: Option<String>,
}

impl Handoff {
    /// The handoff of a request, without memories yet ([`crate::prompt::handoff::pack`]).
    #[must_use]
    pub fn new(
        id: HandoffId,
        draft: &HandoffDraft,
        origin: HandoffOrigin,
        place: ChainPosition,
        now: Timestamp,
    ) -> Self {
        let life = jiff::SignedDuration::from_hours(i64::from(draft.expires_hours));
        Self {
            id,
            workspace: origin.workspace,
            from: origin.from,
            to: draft.to.clone(),
            role: draft.role.clone(),
            user_id: origin.user_id,
            session: draft.session.clone(),
            case: draft.case.clone(),
            task: draft.task.clone(),
            context: draft.context.clone(),
            active_files: draft.active_files.clone(),
            decisions_made: draft.decisions_made.clone(),
            next_steps: draft.next_steps.clone(),
            kind: draft.kind,
            status: HandoffStatus::Pending,
            follows: place.follows,
            builds_on: Vec::new(),
            chain: place.chain,
            depth: place.depth,
            memories: Vec::new(),
            entities: Vec::new(),
            tokens: 0,
            cycle: None,
            position: None,
            note: None,
            created_at: now,
            expires_at: now.saturating_add(life).unwrap_or(Timestamp::MAX),
            accepted_at: None,
            accepted_in: None,
            ended_at: None,
            version: 1,
        }
    }

    /// Whether this agent is its source or its target.
    #[must_use]
    pub fn is_between(&self, agent: &Agent) -> bool {
        self.from == *agent || self.to == *agent
    }

    /// Whether it waits for this agent: as its target, or as one that has its role.
    #[must_use]
    pub fn waits_for(&self, agent: &Agent) -> bool {
        self.status == HandoffStatus::Pending && (self.to == *agent || self.has_role(agent))
    }

    /// Whether it was created for a role that this agent has. The source hands over to others.
    #[must_use]
    pub fn has_role(&self, agent: &Agent) -> bool {
        self.from != *agent && self.role.as_ref().is_some_and(|role| agent.roles().contains(role))
    }

    /// The handoff as this agent may see it. Any other agent than source and target sees neither
    /// the length of the text nor whether it includes private memories.
    #[must_use]
    pub fn redacted_for(mut self, agent: &Agent) -> Self {
        if !self.is_between(agent) {
            self.memories.retain(|memory| !memory.private);
            self.tokens = 0;
        }
        self
    }

    /// What decides whether this agent may see it: source and target see it like their own.
    #[must_use]
    pub fn handoff_visibility(&self, agent: &Agent) -> Visibility {
        Visibility {
            workspace: self.workspace.clone(),
            owner: if self.to == *agent { self.to.clone() } else { self.from.clone() },
            user_id: self.user_id.clone(),
            sharing: Sharing::Shared,
            trust: Trust::Normal,
            opaque: false,
        }
    }

    /// An event about it: who sees it sees the event.
    #[must_use]
    pub fn event(&self, kind: EventKind, agent: &Agent, at: Timestamp) -> NewEvent {
        let id = self.id.to_string();
        let event = NewEvent::for_subject(kind, &self.workspace, id, agent, at, Sharing::Shared);
        NewEvent {
            owner: self.from.clone(),
            addressee: Some(self.to.clone()),
            user_id: self.user_id.clone(),
            ..event
        }
    }

    /// Whether its author writes nothing in it that these earlier handoffs do not say.
    #[must_use]
    pub fn only_repeats(&self, earlier: &[Self]) -> bool {
        let said: Vec<&str> = earlier.iter().flat_map(Self::written_parts).collect();
        // "Go on" says nothing, in whichever words.
        let is_empty = |part: &str| part == self.task && refers_back(part);
        let is_said = |part: &str| said.iter().any(|said| says_same(said, part));
        self.written_parts().all(|part| is_empty(part) || is_said(part))
    }

    /// What its author wrote in it, and what came of it.
    fn written_and_answered(&self) -> String {
        let parts: Vec<&str> = self.written_parts().chain(self.note.as_deref()).collect();
        parts.join("\n")
    }

    /// What its author wrote in it, part by part.
    fn written_parts(&self) -> impl Iterator<Item = &str> {
        let lines = [&self.active_files, &self.decisions_made, &self.next_steps];
        let lines = lines.into_iter().flatten();
        [&self.task].into_iter().chain(&self.context).chain(lines).map(String::as_str)
    }

    /// The text of the memory that an expired handoff becomes: what its author wrote.
    #[must_use]
    pub fn expired_text(&self) -> String {
        let mut text =
            format!("Handoff from {} to {}, not accepted in time.\n\n", self.from, self.to);
        text += &format!("## Task\n{}\n", self.task);
        if let Some(context) = &self.context {
            text += &format!("\n## Context\n{context}\n");
        }
        let lists = [
            ("Active files", &self.active_files),
            ("Decisions made", &self.decisions_made),
            ("Next steps", &self.next_steps),
        ];
        for (head, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            text += &format!("\n## {head}\n");
            for line in lines {
                text += &format!("- {line}\n");
            }
        }
        debug_assert!(text.len() <= limits::TEXT_BYTES, "the author's part is limited");
        text
    }
}

#[cfg(test)]
mod tests;
