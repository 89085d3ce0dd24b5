//! Handoffs: one agent's work given to another, with the memory that goes with it.
//!
//! A handoff waits until its target accepts it, and its target alone can. What it carries was
//! chosen when it was made ([`choose`]) and is kept as text ([`crate::prompt::handoff`]), so that whoever accepts
//! it twice reads the same, as far as it still may. A handoff that nobody accepts in time becomes an ordinary
//! memory. Where each step leads is a function of status and step alone ([`next_status`]).

pub mod choose;
mod lifecycle;
mod requests;
mod responses;

pub use lifecycle::{HandoffSide, HandoffStep, StepActor, StepAttempt, next_status};
pub use requests::{
    AcceptHandoff, CompleteHandoff, CreateHandoff, GetHandoff, HandoffDraft, ListHandoffs,
    RejectHandoff, WithdrawHandoff,
};
pub use responses::{AcceptHandoffResult, HandoffReceipt, HandoffStepResult};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{EntityId, HandoffId, MemoryId};
use crate::base::limits;
use crate::model::access::Visibility;
use crate::model::agent::Agent;
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::{Sharing, Trust};
use crate::model::workspace::Workspace;
use commonbook_text::string_enum;

string_enum! {
    /// How far a handoff has come.
    HandoffStatus {
        /// Its target has not answered yet.
        Pending = "pending",
        /// Its target works on it.
        Accepted = "accepted",
        /// Its target has done it.
        Completed = "completed",
        /// Its target will not do it.
        Rejected = "rejected",
        /// Its source took it back before anybody accepted it.
        Withdrawn = "withdrawn",
        /// Nobody accepted it in time; what it said is an ordinary memory now.
        Expired = "expired",
    }
}

impl HandoffStatus {
    /// Whether somebody still has to do something about it.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Accepted)
    }

    /// Whether work has passed, or may yet pass, from its source to its target: such a handoff is
    /// an edge of the collaboration graph.
    #[must_use]
    pub const fn passes_work(self) -> bool {
        matches!(self, Self::Pending | Self::Accepted | Self::Completed)
    }
}

string_enum! {
    /// How the target's work stands to the source's.
    HandoffKind {
        /// The target goes on where the source stops.
        Sequential = "sequential",
        /// The target works beside the source, which goes on.
        Parallel = "parallel",
        /// The source splits its work among several targets, and this is one of them.
        Fork = "fork",
        /// Several branches come together at the target again.
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
    /// Why a memory went along with a handoff.
    InclusionReason {
        /// The source named it.
        Named = "named",
        /// It is about the task, or was kept during the work that is handed over.
        Chosen = "chosen",
        /// It came to the source by an earlier handoff.
        Inherited = "inherited",
    }
}

/// Which handoffs a list gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandoffFilter {
    /// On which side of them the reader stands.
    pub side: HandoffSide,
    /// How far they have come: one of these.
    pub status: Vec<HandoffStatus>,
    /// From or to this other agent.
    pub with: Option<Agent>,
    /// Of this chain.
    pub chain: Option<HandoffId>,
    /// Of this case.
    pub case: Option<String>,
    /// Whether the newest of each counterpart, all below one root being one, precedes every second newest.
    pub in_turn: bool,
}

/// A memory that goes along with a handoff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffMemory {
    /// The memory.
    pub id: MemoryId,
    /// The agent that wrote it first.
    pub author: Agent,
    /// Why it goes along.
    pub why: InclusionReason,
    /// How well it fits the task, 0 to 1.
    pub score: f64,
    /// Whether it is private: its owner named it for this target, and it goes no further.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// How many tokens it takes in the text.
    pub tokens: u32,
}

/// An entity that goes along with a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffEntity {
    /// The entity.
    pub id: EntityId,
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name.
    pub value: String,
    /// How many tokens it takes in the text.
    pub tokens: u32,
}

/// One agent's work given to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Handoff {
    /// Its id.
    pub id: HandoffId,
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// The agent that hands over.
    pub from: Agent,
    /// The agent that it is for, and the only one that can accept it.
    pub to: Agent,
    /// The user that the work is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The session that it was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The case that the work belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// What is to be done.
    pub task: String,
    /// What its target has to know about the work so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The files that are being worked on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_files: Vec<String>,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions_made: Vec<String>,
    /// What comes next, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
    /// How the target's work stands to the source's.
    pub kind: HandoffKind,
    /// How far it has come.
    pub status: HandoffStatus,
    /// The handoffs that this one goes on from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<HandoffId>,
    /// The handoff that its chain began with; its own id where it begins one.
    pub chain: HandoffId,
    /// How far down its chain it stands: 1 at the beginning.
    pub depth: u32,
    /// The memories that go along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<HandoffMemory>,
    /// The entities that go along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<HandoffEntity>,
    /// How many tokens it is, written out for its target.
    pub tokens: u32,
    /// What came of it, or why it was rejected or withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires, unless it is accepted before.
    pub expires_at: Timestamp,
    /// When it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<Timestamp>,
    /// The session that it was accepted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_in: Option<String>,
    /// When it was completed, rejected, withdrawn or expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How often it changed: 1 at first.
    pub version: u64,
}

/// Where a new handoff stands among those before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainPosition {
    /// The handoffs that it goes on from.
    pub follows: Vec<HandoffId>,
    /// The handoff that its chain began with.
    pub chain: HandoffId,
    /// How far down the chain it stands.
    pub depth: u32,
}

impl ChainPosition {
    /// The place of a handoff `id` that `from` makes.
    ///
    /// `received` are those that `from` has accepted, the completed ones too, in the order in
    /// which it accepted them: by the journal, not by the clock. Where the request names none of
    /// them, it goes on from the last one that is still open and not of another case; else from
    /// the last one that was completed in the same session or case.
    ///
    /// # Errors
    /// `invalid` when a named one did not come to `from`, was not accepted, or when several are
    /// named and this is no join.
    pub fn of(
        id: HandoffId,
        asked: &HandoffDraft,
        from: &Agent,
        received: &[Handoff],
    ) -> Result<Self> {
        let came =
            |it: &&Handoff| it.to == *from && it.accepted_at.is_some() && it.status.passes_work();
        let mut before = Vec::new();
        for (place, named) in asked.follows.iter().enumerate() {
            let found = received.iter().filter(came).find(|it| it.id == *named);
            before.push(found.ok_or_else(|| {
                let field = format!("follows[{place}]");
                Error::invalid(&field, format!("{named} is no handoff that you have accepted"))
                    .hint("Accept it first, or leave follows out to go on from the latest.")
            })?);
        }
        if before.is_empty() {
            before.extend(latest_received(asked, received.iter().filter(came)));
        }
        if before.len() > 1 && asked.kind != HandoffKind::Join {
            return Err(Error::invalid("follows", "only a join goes on from several handoffs")
                .hint("Send kind \"join\", or name one handoff."));
        }
        let depth = before.iter().map(|it| it.depth).max().unwrap_or(0).saturating_add(1);
        Ok(Self {
            follows: before.iter().map(|it| it.id).collect(),
            chain: before.first().map_or(id, |it| it.chain),
            depth,
        })
    }
}

/// The handoff that work goes on from when nobody says.
fn latest_received<'a>(
    asked: &HandoffDraft,
    received: impl DoubleEndedIterator<Item = &'a Handoff> + Clone,
) -> Option<&'a Handoff> {
    let same = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
    let other_case =
        |it: &Handoff| it.case.is_some() && asked.case.is_some() && it.case != asked.case;
    let near = |it: &Handoff| {
        same(&it.accepted_in, &asked.session)
            || same(&it.session, &asked.session)
            || same(&it.case, &asked.case)
    };
    let mut newest = received.rev().filter(|it| !other_case(it));
    let open = newest.clone().find(|it| it.status == HandoffStatus::Accepted);
    open.or_else(|| newest.find(|it| it.status == HandoffStatus::Completed && near(it)))
}

/// Who hands over, and where.
#[derive(Debug, Clone)]
pub struct HandoffOrigin {
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// The agent that hands over.
    pub from: Agent,
    /// The user that the work is for.
    pub user_id: Option<String>,
}

impl Handoff {
    /// The handoff that a request makes, with nothing in it yet ([`crate::prompt::handoff::pack`]).
    #[must_use]
    pub fn new(
        id: HandoffId,
        asked: &HandoffDraft,
        origin: HandoffOrigin,
        place: ChainPosition,
        now: Timestamp,
    ) -> Self {
        let life = jiff::SignedDuration::from_hours(i64::from(asked.expires_hours));
        Self {
            id,
            workspace: origin.workspace,
            from: origin.from,
            to: asked.to.clone(),
            user_id: origin.user_id,
            session: asked.session.clone(),
            case: asked.case.clone(),
            task: asked.task.clone(),
            context: asked.context.clone(),
            active_files: asked.active_files.clone(),
            decisions_made: asked.decisions_made.clone(),
            next_steps: asked.next_steps.clone(),
            kind: asked.kind,
            status: HandoffStatus::Pending,
            follows: place.follows,
            chain: place.chain,
            depth: place.depth,
            memories: Vec::new(),
            entities: Vec::new(),
            tokens: 0,
            note: None,
            created_at: now,
            expires_at: now.saturating_add(life).unwrap_or(Timestamp::MAX),
            accepted_at: None,
            accepted_in: None,
            ended_at: None,
            version: 1,
        }
    }

    /// Whether this agent made it or is to accept it.
    #[must_use]
    pub fn is_between(&self, agent: &Agent) -> bool {
        self.from == *agent || self.to == *agent
    }

    /// The handoff as this agent may see it: whoever has no part in it learns neither how long its
    /// text is nor that anything private went along.
    #[must_use]
    pub fn redacted_for(mut self, agent: &Agent) -> Self {
        if !self.is_between(agent) {
            self.memories.retain(|memory| !memory.private);
            self.tokens = 0;
        }
        self
    }

    /// What decides whether this agent may see it: those that it is between see it like their own.
    #[must_use]
    pub fn handoff_visibility(&self, agent: &Agent) -> Visibility {
        Visibility {
            workspace: self.workspace.clone(),
            owner: if self.to == *agent { self.to.clone() } else { self.from.clone() },
            user_id: self.user_id.clone(),
            sharing: Sharing::Shared,
            trust: Trust::Normal,
        }
    }

    /// What happened to it: of one for a user, only those that it is between are told.
    #[must_use]
    pub fn event(&self, kind: EventKind, agent: &Agent, at: Timestamp) -> NewEvent {
        let sharing = if self.user_id.is_some() { Sharing::Private } else { Sharing::Shared };
        let id = self.id.to_string();
        let event = NewEvent::for_subject(kind, &self.workspace, id, agent, at, sharing);
        NewEvent { owner: self.from.clone(), told: Some(self.to.clone()), ..event }
    }

    /// The memory that an expired handoff leaves: what its author wrote, to be found like any other.
    #[must_use]
    pub fn expired_text(&self) -> String {
        let mut text =
            format!("Handed over by {} to {}, and not accepted.\n\n", self.from, self.to);
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
