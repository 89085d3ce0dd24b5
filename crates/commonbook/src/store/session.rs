//! The contract of a store for sessions.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::SessionId;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::session::{Session, SessionFilter};
use crate::model::workspace::Workspace;

/// The rows of sessions. Who may see one is what [`Sight::can_see`] says of its reach.
pub trait SessionRows {
    /// The session of this id in sight.
    fn session(&self, sight: &Sight, id: SessionId) -> Result<Option<Session>>;

    /// The newest session that this agent has started under an id of its own.
    fn own_session(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        client_session: &str,
    ) -> Result<Option<Session>>;

    /// At most `limit` sessions in sight that a filter admits, those that were started last first,
    /// each with the place of its start in the journal, which is before the given one.
    fn sessions(
        &self,
        sight: &Sight,
        filter: &SessionFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Session)>>;

    /// How many memories in sight were kept in a session and stand.
    fn session_memory_count(&self, sight: &Sight, session: &str) -> Result<u64>;

    /// How many sessions in sight owe a summary.
    fn unsummarised_count(&self, sight: &Sight) -> Result<u64>;

    /// Whether a session owes a summary: it has ended without one, something was kept in it that
    /// everybody sees who sees the session, and nothing of it in a case.
    fn owes_summary(&self, session: &Session) -> Result<bool>;

    /// At most `limit` sessions of every workspace that have not ended, and in which nothing was
    /// written since this time: for the sweep.
    fn idle_sessions(&self, before: Timestamp, limit: u32) -> Result<Vec<Session>>;

    /// Keeps a new session; `sequence` is the place of its event in the journal.
    fn insert_session(&mut self, session: &Session, sequence: u64) -> Result<()>;

    /// Puts a session in the place of what it was.
    fn replace_session(&mut self, session: &Session) -> Result<()>;
}
