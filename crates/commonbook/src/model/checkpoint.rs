//! Checkpoints: named positions in a session, from which any agent can resume later.
//!
//! A checkpoint copies nothing: it marks a position of the workspace's journal, and resumes what
//! the session had saved until then. An agent creates one, or Commonbook does after an hour of
//! activity. A session has at most ten, each for at most thirty days, unless the settings differ;
//! archived ones stay until they are deleted.

mod past;
mod requests;

pub use past::{EarlierRevision, PurgedRevision, memory_at};
pub use requests::{
    ArchiveCheckpoint, CheckpointAndSummarise, DeleteCheckpoint, GetCheckpoint, ListCheckpoints,
    ResumeSessionResult, SummariseResult,
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

/// A handoff that is pending or accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenHandoff {
    /// The handoff's id.
    pub id: HandoffId,
    /// The agent that hands over.
    pub from: Agent,
    /// The target: an agent, or the role that it waits for.
    pub to: Agent,
    /// The role that it was created for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Agent>,
    /// Its status.
    pub status: HandoffStatus,
    /// The work to be done.
    pub task: String,
    /// Whether it was created later than the checkpoint that is resumed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub later: bool,
}

impl OpenHandoff {
    /// Whether this agent is its source or its target, or has the role that it waits for.
    #[must_use]
    pub fn concerns(&self, agent: &Agent) -> bool {
        let waits = self.status == HandoffStatus::Pending;
        let has_role = self.role.as_ref().is_some_and(|role| agent.roles().contains(role));
        self.from == *agent || self.to == *agent || (waits && has_role)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The length of a case, and how far the resuming agent has read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CasePosition {
    /// Its key.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Number of its entries.
    pub context_version: u64,
    /// Number of entries that the agent has read.
    pub read: u64,
}

/// Figures of a resume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumeMetadata {
    /// The session.
    pub session: String,
    /// The checkpoint, if the session has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// When the checkpoint was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_at: Option<Timestamp>,
    /// How much was requested.
    pub mode: ResumeMode,
    /// The agent of mode `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The agents that took part.
    pub agents_involved: Vec<Agent>,
    /// Number of memories in the text.
    pub memories_resumed: usize,
    /// Number of memories for which the text has no room; `memories` lists them too.
    pub memories_left_out: usize,
    /// Number of older memories beyond what this mode resumes.
    #[serde(default)]
    pub memories_beyond: usize,
    /// Number of entities in the text.
    pub entities_resumed: usize,
    /// Number of open handoffs.
    pub handoffs_open: usize,
    /// Number of all handoffs.
    pub collaborations: usize,
    /// Length of the text in tokens.
    pub tokens: usize,
}

string_enum! {
    /// Why a checkpoint was made. If a session has too many, the kinds listed first are removed
    /// first.
    CheckpointKind {
        /// By Commonbook, after an hour of activity or before a client compacts its context.
        Automatic = "automatic",
        /// At a step of a workflow.
        Workflow = "workflow",
        /// On request.
        Manual = "manual",
        /// At a milestone.
        Milestone = "milestone",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for CheckpointKind {
    fn default() -> Self {
        Self::Manual
    }
}

/// How many checkpoints are kept, for how long, and when one is made: the section `checkpoints` of
/// config.json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointSettings {
    /// The checkpoints of one session; archived ones do not count.
    #[schemars(range(min = 1, max = limits::CHECKPOINTS_MAX))]
    pub kept: u32,
    /// The days until a checkpoint expires.
    #[schemars(range(min = 1, max = limits::CHECKPOINT_DAYS_MAX))]
    pub days: u32,
    /// The minutes of activity after which an automatic checkpoint is made.
    #[schemars(range(min = 1, max = limits::CHECKPOINT_MINUTES_MAX))]
    pub minutes: u32,
    /// The newest memories that a partial resume includes.
    #[schemars(range(min = 1, max = limits::RESUME_MEMORIES))]
    pub partial_memories: u32,
    /// The entities mentioned last that a partial resume includes.
    #[schemars(range(min = 0, max = limits::RESUME_ENTITIES))]
    pub partial_entities: u32,
}

impl Default for CheckpointSettings {
    fn default() -> Self {
        Self {
            kept: limits::CHECKPOINTS,
            days: limits::CHECKPOINT_DAYS,
            minutes: limits::CHECKPOINT_MINUTES,
            partial_memories: limits::RESUME_PARTIAL_MEMORIES,
            partial_entities: limits::RESUME_PARTIAL_ENTITIES,
        }
    }
}

impl CheckpointSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub fn check(&self) -> Result<()> {
        let count = |all: usize| u32::try_from(all).unwrap_or(u32::MAX);
        let ranges = [
            ("kept", self.kept, 1, limits::CHECKPOINTS_MAX),
            ("days", self.days, 1, limits::CHECKPOINT_DAYS_MAX),
            ("minutes", self.minutes, 1, limits::CHECKPOINT_MINUTES_MAX),
            ("partial_memories", self.partial_memories, 1, count(limits::RESUME_MEMORIES)),
            ("partial_entities", self.partial_entities, 0, count(limits::RESUME_ENTITIES)),
        ];
        ranges.into_iter().try_for_each(|(field, value, min, max)| {
            input::in_range(field, value, min..=max).map(drop)
        })
    }

    /// The time before which a checkpoint must have been made to expire at a time.
    #[must_use]
    pub fn expiry_before(&self, sure: Timestamp) -> Timestamp {
        let kept = SignedDuration::from_hours(24 * i64::from(self.days));
        sure.checked_sub(kept).unwrap_or(Timestamp::MIN)
    }
}

/// A position in a session to resume from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// Its id.
    pub id: CheckpointId,
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// The session.
    pub session: String,
    /// Its number in the session: 1, 2, 3 … Numbers are not reused.
    pub sequence: u64,
    /// Why it was made.
    pub kind: CheckpointKind,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The agent that made it.
    pub agent: Agent,
    /// The agents that had taken part until then.
    pub agents_involved: Vec<Agent>,
    /// The case of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The position that the workspace's journal had reached.
    pub position: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// Number of times the session was resumed from it.
    pub resumed: u64,
    /// When it was last resumed from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_at: Option<Timestamp>,
    /// When it was archived; it then stays until it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
}

/// Creates a checkpoint of a session, from which you or another agent can continue with
/// `resume_session`. Create one before you stop, and at milestones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateCheckpoint {
    /// The session; your present one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Why it is made: `manual` (the default), `workflow`, `milestone`, or `automatic`.
    #[serde(default)]
    pub kind: CheckpointKind,
    /// Its title, up to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// The agents that took part, up to 50. Agents that saved something in the session are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::CHECKPOINT_AGENTS))]
    pub agents_involved: Vec<String>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// A validated request for a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointDraft {
    /// The session.
    pub session: String,
    /// Why it is made.
    pub kind: CheckpointKind,
    /// Its title.
    pub title: Option<String>,
    /// The agents that took part, sorted, without duplicates.
    pub agents_involved: Vec<Agent>,
}

impl CreateCheckpoint {
    /// The checkpoint that `caller` requests in `session`, in which the agents `wrote` saved
    /// something.
    ///
    /// # Errors
    /// `invalid` or `too_large`, with the field; `invalid` if no session is known.
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
                .hint("Name only the agents whose work is to be resumed."));
        }
        let mut agents: BTreeSet<Agent> = wrote.iter().chain([caller]).cloned().collect();
        for (place, name) in self.agents_involved.iter().enumerate() {
            let agent = name.parse::<AgentName>();
            agents.insert(
                agent
                    .map_err(|error| error.with_field(&format!("agents_involved[{place}]")))?
                    .agent,
            );
        }
        let title = self.title.as_deref();
        Ok(CheckpointDraft {
            session: input::line("session", session, limits::SESSION_CHARS)?,
            kind: self.kind,
            title: title
                .map(|title| input::line("title", title, limits::TITLE_CHARS))
                .transpose()?,
            agents_involved: agents.into_iter().collect(),
        })
    }
}

fn no_session() -> Error {
    Error::invalid("session", "no session is given, and you are not in one")
        .hint("Name a session, or start one with `start_session`.")
}

string_enum! {
    /// How much of a session is resumed.
    ResumeMode {
        /// Everything, up to the newest 500 memories.
        Full = "full",
        /// The newest 50 memories and 20 entities, unless the settings differ.
        Partial = "partial",
        /// What one agent saved, stated and handed over.
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
    /// The maximum numbers of memories and entities.
    #[must_use]
    pub const fn count_limits(self, settings: CheckpointSettings) -> (usize, usize) {
        match self {
            Self::Full | Self::Agent => (limits::RESUME_MEMORIES, limits::RESUME_ENTITIES),
            Self::Partial => {
                (settings.partial_memories as usize, settings.partial_entities as usize)
            }
        }
    }
}

/// Resumes a session, your own or another agent's. Returns what was saved in it, open handoffs,
/// collaborations and the state of its cases, as one text and as data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeSession {
    /// The session; your last one by default. It is resumed from its newest checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// The checkpoint to resume from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// How much: `full` (the default), `partial` (the newest 50 memories and 20 entities), or
    /// `agent` (what one agent did).
    #[serde(default)]
    pub mode: ResumeMode,
    /// The agent of mode `agent`; you by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Maximum of the text in tokens, 500 to 40,000; 5,000 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = limits::RESUME_TOKENS_MIN, max = limits::RESUME_TOKENS_MAX))]
    pub budget: Option<u32>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// A validated request to resume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeOptions {
    /// How much to resume.
    pub mode: ResumeMode,
    /// The agent of mode `agent`.
    pub agent: Option<Agent>,
    /// Maximum of the text in tokens.
    pub budget: usize,
    /// The maximum numbers of memories and entities.
    pub count_limits: (usize, usize),
}

impl ResumeSession {
    /// Validates the request of `caller`.
    ///
    /// # Errors
    /// `invalid`, with the field: for an agent without mode `agent`, and for values out of range.
    pub fn check(&self, caller: &Agent, settings: CheckpointSettings) -> Result<ResumeOptions> {
        if let Some(session) = &self.session {
            input::line("session", session, limits::SESSION_CHARS)?;
        }
        let named = self.owner.as_deref().map(Agent::with_any_name).transpose();
        let agent = match (self.mode, named.map_err(|error| error.with_field("owner"))?) {
            (ResumeMode::Agent, named) => Some(named.unwrap_or_else(|| caller.clone())),
            (_, None) => None,
            (mode, Some(_)) => {
                return Err(Error::invalid(
                    "owner",
                    format!("mode {mode} covers all agents; expected mode agent"),
                )
                .hint("Set `mode` to agent, or leave the agent out."));
            }
        };
        let range = limits::RESUME_TOKENS_MIN..=limits::RESUME_TOKENS_MAX;
        let budget = input::in_range("budget", self.budget.unwrap_or(limits::RESUME_TOKENS), range)
            .map_err(|error| error.hint("Give the budget in tokens, such as 5000."))?;
        let count_limits = self.mode.count_limits(settings);
        Ok(ResumeOptions { mode: self.mode, agent, budget: budget as usize, count_limits })
    }
}

/// Whether a checkpoint has expired; an archived one never does. `sure` is a time that has certainly
/// passed ([`crate::base::settled_clock`]).
#[must_use]
pub fn is_expired(checkpoint: &Checkpoint, settings: CheckpointSettings, sure: Timestamp) -> bool {
    checkpoint.archived_at.is_none() && checkpoint.created_at < settings.expiry_before(sure)
}

/// The checkpoints of one session that a sweep removes.
///
/// First the expired ones. Then, while more than the settings allow are left, the automatic ones,
/// those of workflows, the manual ones and the milestones, in this order; within a kind, lower
/// numbers first. Archived ones stay, and so does the checkpoint with the highest number: the
/// session resumes from it. Age is compared by number, never by the clock.
#[must_use]
pub fn checkpoints_to_sweep(
    checkpoints: &[Checkpoint],
    settings: CheckpointSettings,
    sure: Timestamp,
) -> Vec<CheckpointId> {
    let current = checkpoints.iter().filter(|checkpoint| checkpoint.archived_at.is_none());
    let (over, mut kept): (Vec<&Checkpoint>, Vec<&Checkpoint>) =
        current.partition(|checkpoint| is_expired(checkpoint, settings, sure));
    kept.sort_by_key(|checkpoint| checkpoint.sequence);
    let surplus = kept.len().saturating_sub(settings.kept as usize);
    // The newest always stays.
    kept.pop();
    kept.sort_by_key(|checkpoint| (checkpoint.kind, checkpoint.sequence));
    over.into_iter().chain(kept.into_iter().take(surplus)).map(|checkpoint| checkpoint.id).collect()
}

/// The activity of a session since its last checkpoint; stored with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionActivity {
    /// Active time in milliseconds.
    pub active: u64,
    /// The last activity.
    pub last: Timestamp,
}

impl SessionActivity {
    /// The activity of a session that starts now, or has just made a checkpoint.
    #[must_use]
    pub const fn start_at(now: Timestamp) -> Self {
        Self { active: 0, last: now }
    }

    /// The activity after an event at `now`. A pause counts for at most 15 minutes, and a clock
    /// that moves backwards for nothing: neither a night nor a clock jump makes an hour of work.
    #[must_use]
    pub fn extend_to(self, now: Timestamp) -> Self {
        let idle = SignedDuration::from_mins(limits::IDLE_MINUTES);
        let passed = now.duration_since(self.last).min(idle);
        // A negative number does not convert to `u64`.
        let passed = u64::try_from(passed.as_millis()).unwrap_or(0);
        Self { active: self.active.saturating_add(passed), last: now }
    }

    /// Whether an automatic checkpoint is due: after these minutes of activity.
    #[must_use]
    pub const fn is_due(self, minutes: u32) -> bool {
        self.active >= minutes as u64 * 60_000
    }
}

#[cfg(test)]
pub(crate) mod tests;
