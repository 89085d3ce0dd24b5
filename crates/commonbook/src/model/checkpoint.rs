//! Checkpoints: named places in a session, to go on from later, elsewhere, or as somebody else.
//!
//! A checkpoint copies nothing: it marks how far the workspace's journal had come, and what was
//! kept in the session until then is what it resumes. It is made when asked for, and by itself
//! after an hour of activity. A session has at most ten, each for at most thirty days.

mod requests;

pub use requests::{
    CheckpointAndSummarise, GetCheckpoint, ListCheckpoints, ResumeSessionResult, SummariseResult,
};

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{CheckpointId, HandoffId};
use crate::base::{input, limits};
use crate::model::agent::{Agent, AgentName};
use crate::model::handoff::HandoffStatus;
use crate::model::workspace::Workspace;
use commonbook_text::string_enum;

/// A handoff that is still open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenHandoff {
    /// The handoff.
    pub id: HandoffId,
    /// The agent that hands over.
    pub from: Agent,
    /// The agent that it is for.
    pub to: Agent,
    /// How far it has come.
    pub status: HandoffStatus,
    /// What is to be done.
    pub task: String,
}

/// How far a case has come, and how far of it the resuming agent has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CasePosition {
    /// Its key.
    pub key: String,
    /// Its title.
    pub title: String,
    /// How many entries it has.
    pub context_version: u64,
    /// How many of them the agent has read.
    pub read: u64,
}

/// What was resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumeMetadata {
    /// The session.
    pub session: String,
    /// The checkpoint that it was resumed from, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// When that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_at: Option<Timestamp>,
    /// How much was wanted.
    pub mode: ResumeMode,
    /// The agent whose part was wanted, with mode `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The agents that took part.
    pub agents_involved: Vec<Agent>,
    /// How many memories the text tells.
    pub memories_resumed: usize,
    /// How many it has no room for; `memories` names them all the same.
    pub memories_left_out: usize,
    /// How many entities the text tells.
    pub entities_resumed: usize,
    /// How many handoffs are open.
    pub handoffs_open: usize,
    /// How many handoffs there were.
    pub collaborations: usize,
    /// How many tokens the text is.
    pub tokens: usize,
}

string_enum! {
    /// Why a checkpoint was made. When there are too many, those named first here go first.
    CheckpointKind {
        /// By itself, after an hour of activity or before a client forgets what was said.
        Automatic = "automatic",
        /// At a step of a workflow.
        Workflow = "workflow",
        /// Somebody wanted it.
        Manual = "manual",
        /// Something was reached.
        Milestone = "milestone",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for CheckpointKind {
    fn default() -> Self {
        Self::Manual
    }
}

/// A place in a session to go on from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// Its id.
    pub id: CheckpointId,
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// The session that it is a place in.
    pub session: String,
    /// Its number in the session: 1, 2, 3 … A number is never given twice.
    pub sequence: u64,
    /// Why it was made.
    pub kind: CheckpointKind,
    /// What to call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The agent that made it.
    pub agent: Agent,
    /// The agents that took part until then.
    pub agents_involved: Vec<Agent>,
    /// The case that the session worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// How far the workspace's journal had come.
    pub position: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// How often the session was resumed from it.
    pub resumed: u64,
    /// When it was last resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_at: Option<Timestamp>,
}

/// Marks how far a session has come, so that you or another agent can go on from there later, with
/// `resume_session`. Make one before you stop, and when something is reached.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateCheckpoint {
    /// The session; the one that you work in when you name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Why it is made: `manual` (the default), `workflow`, `milestone`, or `automatic`.
    #[serde(default)]
    pub kind: CheckpointKind,
    /// What to call it, in up to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// The agents that took part, up to 50; those that kept something in the session are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::CHECKPOINT_AGENTS))]
    pub agents_involved: Vec<String>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// A request for a checkpoint, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointDraft {
    /// The session.
    pub session: String,
    /// Why it is made.
    pub kind: CheckpointKind,
    /// What to call it.
    pub title: Option<String>,
    /// The agents that took part, each once, in the order of their names.
    pub agents_involved: Vec<Agent>,
}

impl CreateCheckpoint {
    /// What `caller` asks for in `session`, where `wrote` have kept something.
    ///
    /// # Errors
    /// `invalid` and `too_large`, with the field; `invalid` where no session is known.
    pub fn check(
        &self,
        caller: &Agent,
        session: Option<&str>,
        wrote: &[Agent],
    ) -> Result<CheckpointDraft> {
        let session = self.session.as_deref().or(session).ok_or_else(no_session)?;
        let named = self.agents_involved.len();
        if named > limits::CHECKPOINT_AGENTS {
            let limit = limits::CHECKPOINT_AGENTS;
            return Err(Error::too_large("agents_involved", named, limit, "agents")
                .hint("Name those whose work is to be gone on with."));
        }
        let mut agents: BTreeSet<Agent> = wrote.iter().chain([caller]).cloned().collect();
        for (place, name) in self.agents_involved.iter().enumerate() {
            let agent = name.parse::<AgentName>();
            agents.insert(
                agent.map_err(|it| it.with_field(&format!("agents_involved[{place}]")))?.agent,
            );
        }
        let title = self.title.as_deref();
        Ok(CheckpointDraft {
            session: input::line("session", session, limits::SESSION_CHARS)?,
            kind: self.kind,
            title: title.map(|it| input::line("title", it, limits::TITLE_CHARS)).transpose()?,
            agents_involved: agents.into_iter().collect(),
        })
    }
}

fn no_session() -> Error {
    Error::invalid("session", "no session is known")
        .hint("Name one, or begin one with start_session.")
}

string_enum! {
    /// How much of a session is resumed.
    ResumeMode {
        /// All that it holds, the newest 500 memories at the most.
        Full = "full",
        /// The newest 50 memories and 20 entities.
        Partial = "partial",
        /// What one agent kept, said and handed over.
        Agent = "agent",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for ResumeMode {
    fn default() -> Self {
        Self::Full
    }
}

impl ResumeMode {
    /// How many memories and entities are resumed at the most.
    #[must_use]
    pub const fn count_limits(self) -> (usize, usize) {
        match self {
            Self::Full | Self::Agent => (limits::RESUME_MEMORIES, limits::RESUME_ENTITIES),
            Self::Partial => (limits::RESUME_PARTIAL_MEMORIES, limits::RESUME_PARTIAL_ENTITIES),
        }
    }
}

/// Goes on with a session, yours or another agent's: what was kept in it, which handoffs are open,
/// who worked with whom, and how far its cases have come, as one text and as data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeSession {
    /// The session, to go on from its newest checkpoint; your own last one when you name neither
    /// a session nor a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// The checkpoint to go on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// How much: `full` (the default), `partial` (the newest 50 memories and 20 entities), or
    /// `agent` (what one agent did).
    #[serde(default)]
    pub mode: ResumeMode,
    /// The agent, with mode `agent`; you, when you name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// How many tokens the text may be, 500 to 40,000; 5,000 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = limits::RESUME_TOKENS_MIN, max = limits::RESUME_TOKENS_MAX))]
    pub budget: Option<u32>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// A request to resume, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeOptions {
    /// How much.
    pub mode: ResumeMode,
    /// The agent whose part is wanted, with mode `agent`.
    pub agent: Option<Agent>,
    /// How many tokens the text may be.
    pub budget: usize,
}

impl ResumeSession {
    /// What `caller` asks for.
    ///
    /// # Errors
    /// `invalid`, with the field: for an agent without mode `agent`, and for what `limits` does
    /// not admit.
    pub fn check(&self, caller: &Agent) -> Result<ResumeOptions> {
        if let Some(session) = &self.session {
            input::line("session", session, limits::SESSION_CHARS)?;
        }
        let named = self.owner.as_deref().map(Agent::with_any_name).transpose();
        let agent = match (self.mode, named.map_err(|error| error.with_field("owner"))?) {
            (ResumeMode::Agent, named) => Some(named.unwrap_or_else(|| caller.clone())),
            (_, None) => None,
            (mode, Some(_)) => {
                return Err(Error::invalid("owner", format!("mode {mode} is of all agents"))
                    .hint("Send mode \"agent\", or leave the agent out."));
            }
        };
        let budget = self.budget.unwrap_or(limits::RESUME_TOKENS);
        let (least, most) = (limits::RESUME_TOKENS_MIN, limits::RESUME_TOKENS_MAX);
        if !(least..=most).contains(&budget) {
            let reason = format!("{budget} is not between {least} and {most}");
            return Err(Error::invalid("budget", reason).hint("It is in tokens; 5,000 is usual."));
        }
        Ok(ResumeOptions { mode: self.mode, agent, budget: budget as usize })
    }
}

/// Whether a checkpoint's time is over. `sure` is a time that the clock has reached without doubt
/// ([`crate::base::settled_clock`]).
#[must_use]
pub fn is_expired(checkpoint: &Checkpoint, sure: Timestamp) -> bool {
    let kept = SignedDuration::from_hours(limits::CHECKPOINT_DAYS * 24);
    sure.duration_since(checkpoint.created_at) > kept
}

/// The checkpoints of one session that a sweep removes.
///
/// First those whose time is over. Then, while more than ten are left, the automatic ones, then
/// those of workflows, then the manual ones, milestones last; of one kind the one with the least
/// number. The one with the greatest number stays in any case: it is what a session resumes from.
/// Which is older is told by number and never by the clock.
#[must_use]
pub fn checkpoints_to_sweep(checkpoints: &[Checkpoint], sure: Timestamp) -> Vec<CheckpointId> {
    let (over, mut kept): (Vec<&Checkpoint>, Vec<&Checkpoint>) =
        checkpoints.iter().partition(|checkpoint| is_expired(checkpoint, sure));
    kept.sort_by_key(|checkpoint| checkpoint.sequence);
    let surplus = kept.len().saturating_sub(limits::CHECKPOINTS);
    // The newest is out of question.
    kept.pop();
    kept.sort_by_key(|checkpoint| (checkpoint.kind, checkpoint.sequence));
    over.into_iter().chain(kept.into_iter().take(surplus)).map(|it| it.id).collect()
}

/// How long a session has been at work since its last checkpoint; kept with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionActivity {
    /// Milliseconds at work.
    pub active: u64,
    /// When something was last done.
    pub last: Timestamp,
}

impl SessionActivity {
    /// A session that begins now, or that a checkpoint was made of now.
    #[must_use]
    pub const fn start_at(now: Timestamp) -> Self {
        Self { active: 0, last: now }
    }

    /// The same after something was done. A silence counts for 15 minutes at the most, and time
    /// that runs backwards not at all: neither a night nor a clock that leaps is an hour's work.
    #[must_use]
    pub fn extend_to(self, now: Timestamp) -> Self {
        let idle = SignedDuration::from_mins(limits::IDLE_MINUTES);
        let passed = now.duration_since(self.last).min(idle);
        // What is negative is no number of this type.
        let passed = u64::try_from(passed.as_millis()).unwrap_or(0);
        Self { active: self.active.saturating_add(passed), last: now }
    }

    /// Whether a checkpoint is to be made by itself: after an hour of activity.
    #[must_use]
    pub const fn is_due(self) -> bool {
        self.active >= limits::CHECKPOINT_MINUTES as u64 * 60_000
    }
}

#[cfg(test)]
pub(crate) mod tests;
