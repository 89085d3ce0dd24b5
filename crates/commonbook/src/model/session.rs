//! Sessions: one stretch of one agent's work, by which what was kept in it is found together.
//!
//! The id is made here and echoed by the client with what it writes. A client that has an id of its
//! own for what it does finds its session again by that.

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

string_enum! {
    /// Whether a session goes on.
    SessionStatus {
        /// Its agent works in it.
        Active = "active",
        /// Its agent has said that it will go on later.
        Paused = "paused",
        /// It has ended.
        Completed = "completed",
    }
}

/// One stretch of one agent's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Its id, to be sent with what is written in it.
    pub id: SessionId,
    /// The workspace it is in.
    pub workspace: Workspace,
    /// The agent whose work it is.
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
    /// The case that is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// The client's own id of it; told to its agent alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_session: Option<String>,
    /// Whether it goes on.
    pub status: SessionStatus,
    /// When it was started.
    pub started_at: Timestamp,
    /// When something was last written in it.
    pub touched_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The memory that sums it up: an entry of its case, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<MemoryId>,
}

impl Session {
    /// A session of this caller that begins now, about no case and without an id of its client's.
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

    /// What decides who sees it: everybody in the workspace, unless it is for a user.
    #[must_use]
    pub fn session_visibility(&self) -> Visibility {
        Visibility {
            workspace: self.workspace.clone(),
            owner: self.agent.clone(),
            user_id: self.user_id.clone(),
            sharing: Sharing::Shared,
            trust: Trust::Normal,
        }
    }

    /// Who is told of what happens to it: of one for a user, its agent alone.
    #[must_use]
    pub fn event_sharing(&self) -> Sharing {
        match self.user_id {
            Some(_) => Sharing::Private,
            None => Sharing::Shared,
        }
    }

    /// The session as this agent is told it.
    #[must_use]
    pub fn for_agent(self, agent: &Agent) -> Self {
        let client_session = self.client_session.filter(|_| self.agent == *agent);
        Self { client_session, ..self }
    }

    /// Whether this caller may end or pause it.
    ///
    /// # Errors
    /// `forbidden` with the code `ownership_mismatch` when it is another agent's.
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
        Err(Error { message, ..error }.hint("Resume it: that starts a session of your own."))
    }

    /// The session after something was done in it, with what that is called where it had ended or
    /// was paused.
    #[must_use]
    pub fn with_touch(&self, at: Timestamp) -> (Self, Option<EventKind>) {
        let kind = (self.status != SessionStatus::Active).then_some(EventKind::SessionResumed);
        let (status, touched_at) = (SessionStatus::Active, at.max(self.touched_at));
        (Self { status, touched_at, ended_at: None, ..self.clone() }, kind)
    }

    /// The session as it ends.
    #[must_use]
    pub fn with_end(&self, at: Timestamp) -> Self {
        let ended_at = Some(at.max(self.touched_at));
        Self { status: SessionStatus::Completed, ended_at, ..self.clone() }
    }
}

/// Starts a session: a stretch of your work, by which what you keep in it is found together and can
/// be resumed. Send its id with what you write. One that you have started under the same
/// client_session before is found again, and goes on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartSession {
    /// Your own id of it, by which it is found again: letters, digits and `-_.:@/+=#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS), regex(pattern = SESSION_PATTERN))]
    pub client_session: Option<String>,
    /// The case that you work on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Whether a session is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionOutcome {
    /// It was started now.
    Started,
    /// It was there, and goes on.
    Found,
}

/// The session that was started or found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartSessionResult {
    /// The session as it is now.
    pub session: Session,
    /// Whether it is new.
    pub outcome: SessionOutcome,
}

/// Says that a session of yours goes on, or that you will go on with it later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TouchSession {
    /// The session: its id, or your own id of it.
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: String,
    /// You will go on with it later.
    #[serde(default)]
    pub pause: bool,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Ends a session of yours. Sum up what came of it: the summary becomes an entry of the case that
/// you worked on, where there is one, else a memory that the next agent finds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSession {
    /// The session: its id, or your own id of it; the one that you work in when you name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// What came of it, in up to 512 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SUMMARY_CHARS))]
    pub summary: Option<String>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
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
    /// What to do now, where others are not given its summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Deref for EndSessionResult {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

/// Shows a session with what was kept in it, of what you may see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetSession {
    /// The session: its id, or your own id of it.
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: String,
}

/// A session with what was kept in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionDetails {
    /// The session.
    pub session: Session,
    /// How many memories were kept in it, of those that the caller may see.
    pub memory_count: u64,
    /// The newest of them, at most 20; a list with its id as `session` tells all.
    pub memories: Vec<Memory>,
}

/// Lists the sessions of the workspace, those that were started last first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSessions {
    /// Only those of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Only those with this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SessionStatus>,
    /// Only those on this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only those in which something was kept, and that have ended without a summary.
    #[serde(default)]
    pub unsummarised: bool,
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// What must hold of the sessions that a list gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionFilter {
    /// Of this agent.
    pub owner: Option<String>,
    /// With this status.
    pub status: Option<SessionStatus>,
    /// On this case.
    pub case: Option<CaseKey>,
    /// In which something was kept, and that have ended without a summary.
    pub unsummarised: bool,
}

/// What a caller calls a session by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionName {
    /// Its id.
    Id(SessionId),
    /// The client's own id of it.
    Own(String),
}

impl SessionName {
    /// What this text calls a session by.
    ///
    /// # Errors
    /// `invalid` and `too_large` for what can be neither.
    pub fn read(text: &str) -> Result<Self> {
        let text = input::line("session", text, limits::SESSION_CHARS)?;
        Ok(text.parse().map_or(Self::Own(text), Self::Id))
    }
}
