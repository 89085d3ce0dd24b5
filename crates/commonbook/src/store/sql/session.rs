//! The SQL of sessions.

use jiff::Timestamp;

use super::Tx;
use super::driver::{SqlRow, ToSql};
use super::row::{optional_text, text, time};
use crate::base::error::Result;
use crate::base::id::SessionId;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::case::CaseKey;
use crate::model::session::{Session, SessionFilter, SessionPool, SessionStatus};
use crate::model::workspace::Workspace;

/// The rule of [`Sight::can_see`] for a row `s`. The conformance suite proves the two equal.
pub(super) const SEEN_SESSION: &str = "\
    s.workspace IN (SELECT value FROM json_each(:workspaces)) \
    AND (s.user_id IS NULL OR s.user_id = :user OR (:user IS NULL AND s.agent = :agent))";

/// Sessions that lack a summary: they have ended without one, have several memories that everybody who
/// sees them sees, and no memory in a case. A single memory needs no summary; nor does a session that a
/// call over REST began by itself, because its agent does not know of it.
const UNSUMMARISED_CONDITION: &str = "\
    s.status = 'completed' AND s.summary IS NULL \
    AND (s.door <> 'rest' OR s.door IS NULL OR s.client_session IS NOT NULL OR s.case_key IS NOT NULL) \
    AND (SELECT count(*) FROM (SELECT 1 FROM memory \
        WHERE workspace = s.workspace AND session = s.id AND sharing = 'shared' \
            AND trust <> 'quarantined' AND user_id IS s.user_id AND deleted_at IS NULL LIMIT 2) found) > 1 \
    AND NOT EXISTS (SELECT 1 FROM memory WHERE workspace = s.workspace AND session = s.id \
        AND case_key IS NOT NULL)";

/// Why [`UNSUMMARISED_CONDITION`] reads memories in no sight.
const OWES_SUMMARY: &str =
    "whether a session owes a summary, judged by the memories that all see who see the session";

/// The rows of sessions. [`Sight::can_see`] decides by its visibility who sees one.
impl Tx<'_> {
    /// The session with this id in sight.
    pub fn session(&self, sight: &Sight, id: SessionId) -> Result<Option<Session>> {
        let sql = format!("SELECT s.* FROM session s WHERE {SEEN_SESSION} AND s.id = :id LIMIT 1");
        let seen = self.seen_without_audiences(sight);
        seen.first(&sql, &[(":id", &id.to_string())], from_row)
    }

    /// The newest session that this agent started under this `client_session`.
    pub fn own_session(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        client_session: &str,
    ) -> Result<Option<Session>> {
        let sql = "SELECT * FROM session WHERE workspace = ?1 AND agent = ?2 \
                   AND client_session = ?3 ORDER BY sequence DESC LIMIT 1";
        self.query_one(sql, [workspace.as_str(), agent.as_str(), client_session], from_row)
    }

    /// The active session of this caller's agent, user, token and workspace in which something was
    /// written last, if that was at this time or later.
    pub fn open_session(
        &self,
        caller: &Caller,
        pool: SessionPool,
        since: Timestamp,
    ) -> Result<Option<Session>> {
        let sql = "SELECT * FROM session INDEXED BY session_at_work \
                   WHERE workspace = ?1 AND agent = ?2 AND status = 'active' AND touched_at >= ?3 \
                       AND user_id IS ?4 AND token IS ?5 \
                       AND (NOT ?6 OR (client_session IS NOT NULL AND door IN ('hook', 'rest'))) \
                   ORDER BY touched_at DESC, sequence DESC LIMIT 1";
        let params = (
            caller.workspace.as_str(),
            caller.agent.as_str(),
            since.as_millisecond(),
            &caller.user,
            caller.proof.token().map(|token| token.to_string()),
            pool == SessionPool::OfClient,
        );
        self.query_one(sql, params, from_row)
    }

    /// At most `limit` ids of sessions in sight that have this ending.
    pub fn session_ids_ending(
        &self,
        sight: &Sight,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<SessionId>> {
        let sql = format!(
            "SELECT s.id FROM session s WHERE {SEEN_SESSION} \
                 AND substr(s.id, -length(:ending)) = :ending ORDER BY s.id LIMIT :limit"
        );
        let seen = self.seen_without_audiences(sight);
        seen.all(&sql, &[(":ending", &ending), (":limit", &limit)], |row| text(row, 0))
    }

    /// At most `limit` sessions in sight that a filter admits, last started first, each with the
    /// position of its start in the journal, which is before the given one.
    pub fn sessions(
        &self,
        sight: &Sight,
        filter: &SessionFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Session)>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT s.* FROM session s WHERE {SEEN_SESSION} \
                 AND (:owner IS NULL OR s.agent = :owner) \
                 AND (:status IS NULL OR s.status = :status) \
                 AND (:case IS NULL OR s.case_key = :case) \
                 AND (NOT :unsummarised OR ({UNSUMMARISED_CONDITION})) \
                 AND (NOT :written OR EXISTS (SELECT 1 FROM memory m INDEXED BY memory_session \
                     WHERE {seen_m} AND m.workspace = s.workspace AND m.session = s.id \
                         AND m.deleted_at IS NULL)) \
                 AND s.sequence < :before \
             ORDER BY s.sequence DESC LIMIT :limit"
        );
        let before =
            before.map_or(i64::MAX, |position| i64::try_from(position).unwrap_or(i64::MAX));
        let status = filter.status.map(SessionStatus::name);
        let case = filter.case.as_ref().map(CaseKey::as_str);
        let more: [(&str, &dyn ToSql); 7] = [
            (":owner", &filter.owner),
            (":status", &status),
            (":case", &case),
            (":unsummarised", &filter.unsummarised),
            (":written", &filter.written),
            (":before", &before),
            (":limit", &limit),
        ];
        seen.and_unseen(OWES_SUMMARY)
            .all(&sql, &more, |row| Ok((row.get("sequence")?, from_row(row)?)))
    }

    /// The number of current memories in sight that were saved in a session.
    pub fn session_memory_count(&self, sight: &Sight, session: &str) -> Result<u64> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT count(*) FROM memory m INDEXED BY memory_session WHERE {seen_m} \
                 AND m.workspace IN (SELECT value FROM json_each(:workspaces)) \
                 AND m.session = :session AND m.deleted_at IS NULL"
        );
        let count = seen.first(&sql, &[(":session", &session)], |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }

    /// The number of sessions in sight that lack a summary.
    pub fn unsummarised_count(&self, sight: &Sight) -> Result<u64> {
        let sql = format!(
            "SELECT count(*) FROM session s WHERE {SEEN_SESSION} AND {UNSUMMARISED_CONDITION}"
        );
        let seen = self.seen_without_audiences(sight);
        let seen = seen.and_unseen(OWES_SUMMARY);
        Ok(seen.first(&sql, &[], |row| row.get(0))?.unwrap_or(0))
    }

    /// Whether a session lacks a summary: it has ended without one, it has a memory that everybody
    /// who sees the session sees, and none of its memories is in a case.
    pub fn owes_summary(&self, session: &Session) -> Result<bool> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM session s WHERE s.workspace = ?1 AND s.id = ?2 \
             AND {UNSUMMARISED_CONDITION})"
        );
        let params = (session.workspace.as_str(), session.id.to_string());
        Ok(self.unseen(OWES_SUMMARY).first(&sql, params, |row| row.get(0))?.unwrap_or(false))
    }

    /// At most `limit` unfinished sessions of all workspaces in which nothing was written since
    /// this time: for the sweep.
    pub fn idle_sessions(&self, before: Timestamp, limit: u32) -> Result<Vec<Session>> {
        let sql = "SELECT * FROM session WHERE status <> 'completed' AND touched_at < ?1 \
                   ORDER BY touched_at LIMIT ?2";
        self.query_all(sql, (before.as_millisecond(), limit), from_row)
    }

    /// Stores a new session that this caller began; `sequence` is the position of its event in the
    /// journal.
    pub fn insert_session(
        &mut self,
        session: &Session,
        caller: &Caller,
        sequence: u64,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO session (workspace, id, sequence, agent, device, client, user_id, case_key, \
             client_session, status, started_at, touched_at, ended_at, summary, token, door) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
            (
                session.workspace.as_str(),
                session.id.to_string(),
                sequence,
                session.agent.as_str(),
                &session.device,
                &session.client,
                &session.user_id,
                session.case.as_ref().map(CaseKey::as_str),
                &session.client_session,
                session.status.name(),
                session.started_at.as_millisecond(),
                session.touched_at.as_millisecond(),
                session.ended_at.map(Timestamp::as_millisecond),
                session.summary.map(|id| id.to_string()),
                caller.proof.token().map(|token| token.to_string()),
                caller.door.name(),
            ),
        )?;
        Ok(())
    }

    /// Replaces a session by its new state.
    pub fn replace_session(&mut self, session: &Session) -> Result<()> {
        self.execute(
            "UPDATE session SET device = ?3, client = ?4, case_key = ?5, status = ?6, \
             touched_at = ?7, ended_at = ?8, summary = ?9 WHERE workspace = ?1 AND id = ?2",
            (
                session.workspace.as_str(),
                session.id.to_string(),
                &session.device,
                &session.client,
                session.case.as_ref().map(CaseKey::as_str),
                session.status.name(),
                session.touched_at.as_millisecond(),
                session.ended_at.map(Timestamp::as_millisecond),
                session.summary.map(|id| id.to_string()),
            ),
        )?;
        Ok(())
    }
}

pub(super) fn from_row(row: &SqlRow<'_>) -> Result<Session> {
    Ok(Session {
        id: text(row, "id")?,
        workspace: text(row, "workspace")?,
        agent: text(row, "agent")?,
        device: row.get("device")?,
        client: row.get("client")?,
        user_id: row.get("user_id")?,
        case: optional_text(row, "case_key")?,
        client_session: row.get("client_session")?,
        status: text(row, "status")?,
        started_at: time(row.get("started_at")?),
        touched_at: time(row.get("touched_at")?),
        ended_at: row.get::<_, Option<i64>>("ended_at")?.map(time),
        summary: optional_text(row, "summary")?,
    })
}
