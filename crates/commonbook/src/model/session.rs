//! Sessions: spans of one agent's work, which group what was saved in them.
//!
//! Commonbook assigns the id, and the client sends it with its writes. A client with an id of its
//! own finds its session by that.

use std::ops::Deref;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, SessionId};
use crate::base::key::CaseKey;
use crate::base::page::PageCursor;
use crate::base::{input, limits};
use crate::model::access::Visibility;
use crate::model::agent::Agent;
use crate::model::caller::{Caller, SESSION_PATTERN};
use crate::model::event::EventKind;
use crate::model::memory::{Memory, Sharing, Trust};
use crate::model::workspace::Workspace;
use commonbook_text::string_enum;

/// What the digest of a session names.
const DIGEST_PARTS: &str = "the cause, the decision with its reason, the fix and the next step";

string_enum! {
    /// The status of a session.
    SessionStatus {
        /// The agent works in it.
        Active = "active",
        /// The agent will continue later.
        Paused = "paused",
        /// It has ended.
        Completed = "completed",
    }
}

/// What a verb does with a session that its caller does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionUse {
    /// It works in none.
    Unused,
    /// It works in the open session of the caller, if there is one.
    Joins,
    /// It works in the open session of the caller, else in a new one.
    Begins,
}

/// The open sessions among which that of a caller is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionPool {
    /// Those of its agent, user, token and workspace.
    Own,
    /// Among these, those that a client keeps under its own id: hooks began them.
    OfClient,
}

/// A span of one agent's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Its id; send it with writes that belong to it.
    pub id: SessionId,
    /// The workspace.
    pub workspace: Workspace,
    /// The agent.
    pub agent: Agent,
    /// The device it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The client program, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The user it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The case of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// The client's own id of it; only its agent sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_session: Option<String>,
    /// Its status.
    pub status: SessionStatus,
    /// When it was started.
    pub started_at: Timestamp,
    /// When something was last written in it.
    pub touched_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The memory with its summary; an entry of its case, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<MemoryId>,
}

impl Session {
    /// A new session of this caller, without a case or a client's id.
    #[must_use]
    pub fn of(caller: &Caller, id: SessionId, now: Timestamp) -> Self {
        Self {
            id,
            workspace: caller.workspace.clone(),
            agent: caller.agent.clone(),
            device: caller.device.clone(),
            client: caller.client.clone(),
            user_id: caller.user.clone(),
            case: None,
            client_session: None,
            status: SessionStatus::Active,
            started_at: now,
            touched_at: now,
            ended_at: None,
            summary: None,
        }
    }

    /// What decides who sees it: every agent in the workspace, unless it is for a user.
    #[must_use]
    pub fn session_visibility(&self) -> Visibility {
        Visibility {
            workspace: self.workspace.clone(),
            owner: self.agent.clone(),
            user_id: self.user_id.clone(),
            sharing: Sharing::Shared,
            trust: Trust::Normal,
            opaque: false,
        }
    }

    /// The sharing of its events: if it is for a user, only its agent sees them.
    #[must_use]
    pub fn event_sharing(&self) -> Sharing {
        Sharing::shared_if(self.user_id.is_none())
    }

    /// The session as this agent may see it.
    #[must_use]
    pub fn for_agent(self, agent: &Agent) -> Self {
        let client_session = self.client_session.filter(|_| self.agent == *agent);
        Self { client_session, ..self }
    }

    /// Checks that this caller may end or pause it.
    ///
    /// # Errors
    /// `forbidden` with the code `ownership_mismatch` if it belongs to another agent.
    pub fn may_change(&self, caller: &Caller) -> Result<()> {
        if self.agent == caller.agent || self.agent.is_child_of(&caller.agent) {
            return Ok(());
        }
        let error = Error::ownership_mismatch(self.agent.as_str(), caller.agent.as_str());
        let message = format!(
            "this session belongs to '{}', and you are '{}'",
            self.agent.as_str(),
            caller.agent.as_str()
        );
        Err(Error { message, ..error }
            .hint("Resume it with `resume_session`: that starts a session of your own."))
    }

    /// The session after activity, and the kind of event if it had ended or was paused.
    #[must_use]
    pub fn with_touch(&self, at: Timestamp) -> (Self, Option<EventKind>) {
        let kind = (self.status != SessionStatus::Active).then_some(EventKind::SessionResumed);
        let (status, touched_at) = (SessionStatus::Active, at.max(self.touched_at));
        (Self { status, touched_at, ended_at: None, ..self.clone() }, kind)
    }

    /// Whether its agent has summed up what this memory says: the memory is of the session, and older
    /// than its summary.
    #[must_use]
    pub fn has_summed_up(&self, memory: &Memory) -> bool {
        let summed_up = self.summary.map(|summary| summary.made_at());
        memory.session.as_deref() == Some(self.id.to_string().as_str())
            && summed_up.is_some_and(|at| memory.recorded_at <= at)
    }

    /// What its agent is asked to leave for its case when it ends.
    #[must_use]
    pub fn digest_hint(&self) -> Option<String> {
        let key = self.case.as_ref()?;
        Some(format!(
            "When you end it, `end_session` takes your digest for case {key} as its summary: {DIGEST_PARTS}."
        ))
    }

    /// What its agent is asked for that ended it without a summary for its case.
    #[must_use]
    pub fn missing_digest_hint(&self) -> Option<String> {
        let key = self.case.as_ref().filter(|_| self.summary.is_none())?;
        Some(format!(
            "Case {key} lacks your digest: call `end_session` once more with a summary that names {DIGEST_PARTS}."
        ))
    }

    /// The session after its end.
    #[must_use]
    pub fn with_end(&self, at: Timestamp) -> Self {
        let ended_at = Some(at.max(self.touched_at));
        Self { status: SessionStatus::Completed, ended_at, ..self.clone() }
    }
}

/// Starts a session: a span of your work whose memories are grouped and can be resumed. Send its id
/// with your writes. If you started one with the same `client_session` before, continues that one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartSession {
    /// Your own id for it, by which it is found again: letters, digits and `-_.:@/+=#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS), regex(pattern = SESSION_PATTERN))]
    pub client_session: Option<String>,
    /// The key of the case that you work on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Whether a session is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionOutcome {
    /// This call started it.
    Started,
    /// It existed, and continues.
    Found,
}

/// The session that was started or found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartSessionResult {
    /// The session as it is now.
    pub session: Session,
    /// Whether it is new.
    pub outcome: SessionOutcome,
    /// What to leave for its case when it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Marks a session of yours as active, or as paused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TouchSession {
    /// The session: its id, or your own id for it.
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: String,
    /// Pauses the session: you will continue later.
    #[serde(default)]
    pub pause: bool,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Ends a session of yours, with a summary. The summary becomes an entry of the session's case, or
/// else a memory that other agents find.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSession {
    /// The session: its id, or your own id for it; your present one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// The summary of its results, up to 512 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SUMMARY_CHARS))]
    pub summary: Option<String>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// A session that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndSessionResult {
    /// The session as it is now.
    #[serde(flatten)]
    pub session: Session,
    /// What to do if its case lacks a summary of it, or if its summary is quarantined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Deref for EndSessionResult {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

/// Returns one session and what was saved in it that you may see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetSession {
    /// The session: its id, or your own id for it.
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: String,
}

/// A session with what was saved in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionDetails {
    /// The session.
    pub session: Session,
    /// Number of its memories that you may see.
    pub memory_count: u64,
    /// The newest of them, at most 20; `list_memories` with this session returns all.
    pub memories: Vec<Memory>,
}

/// Lists the sessions of the workspace, last started first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSessions {
    /// Only sessions of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Only sessions with this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SessionStatus>,
    /// Only sessions of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only sessions that have ended without a summary although several memories were saved in them.
    #[serde(default)]
    pub unsummarised: bool,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// A filter of sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionFilter {
    /// Of this agent.
    pub owner: Option<String>,
    /// With this status.
    pub status: Option<SessionStatus>,
    /// Of this case.
    pub case: Option<CaseKey>,
    /// Ended without a summary, with several memories saved.
    pub unsummarised: bool,
    /// With a memory in sight that was saved in it.
    pub written: bool,
}

/// The error of a session that the caller does not see.
#[must_use]
pub fn unknown_session(name: &str) -> Error {
    Error::not_found(format!("there is no session {name}"))
        .with_field("session")
        .hint("Leave `session` out for the last one; `list_sessions` names the others.")
}

/// How a caller refers to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionName {
    /// By its id.
    Id(SessionId),
    /// By the client's own id.
    Own(String),
}

impl SessionName {
    /// Parses a reference.
    ///
    /// # Errors
    /// `invalid` or `too_large` for a text that is neither kind of id.
    pub fn read(text: &str) -> Result<Self> {
        let text = input::line("session", text, limits::SESSION_CHARS)?;
        Ok(text.parse().map_or(Self::Own(text), Self::Id))
    }
}
