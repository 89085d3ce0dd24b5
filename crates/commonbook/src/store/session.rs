//! The contract of a store for sessions.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::SessionId;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::session::{Session, SessionFilter, SessionPool};
use crate::model::workspace::Workspace;

/// The rows of sessions. [`Sight::can_see`] decides by its visibility who sees one.
pub trait SessionRows {
    /// The session with this id in sight.
    fn session(&self, sight: &Sight, id: SessionId) -> Result<Option<Session>>;

    /// The newest session that this agent started under this `client_session`.
    fn own_session(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        client_session: &str,
    ) -> Result<Option<Session>>;

    /// The active session of this caller's agent, user, token and workspace in which something was
    /// written last, if that was at this time or later.
    fn open_session(
        &self,
        caller: &Caller,
        pool: SessionPool,
        since: Timestamp,
    ) -> Result<Option<Session>>;

    /// At most `limit` ids of sessions in sight that have this ending.
    fn session_ids_ending(&self, sight: &Sight, ending: &str, limit: u32)
    -> Result<Vec<SessionId>>;

    /// At most `limit` sessions in sight that a filter admits, last started first, each with the
    /// position of its start in the journal, which is before the given one.
    fn sessions(
        &self,
        sight: &Sight,
        filter: &SessionFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Session)>>;

    /// The number of current memories in sight that were saved in a session.
    fn session_memory_count(&self, sight: &Sight, session: &str) -> Result<u64>;

    /// The number of sessions in sight that lack a summary.
    fn unsummarised_count(&self, sight: &Sight) -> Result<u64>;

    /// Whether a session lacks a summary: it has ended without one, it has a memory that everybody
    /// who sees the session sees, and none of its memories is in a case.
    fn owes_summary(&self, session: &Session) -> Result<bool>;

    /// At most `limit` unfinished sessions of all workspaces in which nothing was written since
    /// this time: for the sweep.
    fn idle_sessions(&self, before: Timestamp, limit: u32) -> Result<Vec<Session>>;

    /// Stores a new session that this caller began; `sequence` is the position of its event in the
    /// journal.
    fn insert_session(&mut self, session: &Session, caller: &Caller, sequence: u64) -> Result<()>;

    /// Replaces a session by its new state.
    fn replace_session(&mut self, session: &Session) -> Result<()>;
}
