//! The SQL of checkpoints.

use jiff::Timestamp;

use super::Tx;
use super::driver::{SqlRow, ToSql};
use super::row::{encode_json, json, text, time};
use super::session::{self, SEEN_SESSION};
use crate::base::error::Result;
use crate::base::id::{CheckpointId, SessionId};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::checkpoint::{Checkpoint, SessionActivity};
use crate::model::session::Session;
use crate::model::workspace::Workspace;

/// The rows of checkpoints. Everybody who sees the session sees its checkpoints.
impl Tx<'_> {
    /// The checkpoint with this id.
    pub fn checkpoint(
        &self,
        workspace: &Workspace,
        id: CheckpointId,
    ) -> Result<Option<Checkpoint>> {
        let sql = "SELECT * FROM checkpoint WHERE workspace = ?1 AND id = ?2";
        self.query_one(sql, (workspace.as_str(), id.to_string()), from_row)
    }

    /// At most `limit` ids of checkpoints with this ending, of sessions in sight.
    pub fn checkpoint_ids_ending(
        &self,
        sight: &Sight,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<CheckpointId>> {
        let sql = format!(
            "SELECT c.id FROM checkpoint c \
             CROSS JOIN session s ON s.workspace = c.workspace AND s.id = c.session \
             WHERE {SEEN_SESSION} AND substr(c.id, -length(:ending)) = :ending \
             ORDER BY c.id LIMIT :limit"
        );
        let seen = self.seen_without_audiences(sight);
        seen.all(&sql, &[(":ending", &ending), (":limit", &limit)], |row| text(row, 0))
    }

    /// The checkpoints of a session, oldest first.
    pub fn checkpoints(&self, session: &Session) -> Result<Vec<Checkpoint>> {
        let sql =
            "SELECT * FROM checkpoint WHERE workspace = ?1 AND session = ?2 ORDER BY sequence";
        self.query_all(sql, (session.workspace.as_str(), session.id.to_string()), from_row)
    }

    /// At most `limit` checkpoints of all workspaces that were created before this time and are not
    /// archived: for the sweep.
    pub fn old_checkpoints(&self, before: Timestamp, limit: u32) -> Result<Vec<Checkpoint>> {
        let sql = "SELECT * FROM checkpoint WHERE created_at < ?1 AND archived_at IS NULL \
                   ORDER BY created_at LIMIT ?2";
        self.query_all(sql, (before.as_millisecond(), limit), from_row)
    }

    /// The agents with a memory of this session in sight, by name.
    pub fn session_agents(&self, sight: &Sight, session: &Session) -> Result<Vec<Agent>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT DISTINCT m.owner FROM memory m INDEXED BY memory_session \
             WHERE {seen_m} AND m.workspace = :workspace AND m.session = :session ORDER BY m.owner"
        );
        let (workspace, id) = (session.workspace.as_str(), session.id.to_string());
        let more: [(&str, &dyn ToSql); 2] = [(":workspace", &workspace), (":session", &id)];
        seen.all(&sql, &more, |row| text(row, 0))
    }

    /// The working time of this agent's unfinished session since its last checkpoint.
    pub fn activity(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        id: SessionId,
    ) -> Result<Option<(Session, SessionActivity)>> {
        let sql = "SELECT * FROM session WHERE workspace = ?1 AND id = ?2 AND agent = ?3 \
                   AND status <> 'completed'";
        let params = (workspace.as_str(), id.to_string(), agent.as_str());
        self.query_one(sql, params, |row| {
            let session = session::from_row(row)?;
            let activity = SessionActivity { active: row.get("active")?, last: session.touched_at };
            Ok((session, activity))
        })
    }

    /// Records the working time of a session since its last checkpoint, and when anything was last
    /// written in it.
    pub fn put_activity(&mut self, session: &Session, activity: SessionActivity) -> Result<()> {
        self.execute(
            "UPDATE session SET active = ?3, touched_at = max(touched_at, ?4) \
             WHERE workspace = ?1 AND id = ?2",
            (
                session.workspace.as_str(),
                session.id.to_string(),
                activity.active,
                activity.last.as_millisecond(),
            ),
        )?;
        Ok(())
    }

    /// The next checkpoint number of this session; a number is never used twice.
    pub fn next_checkpoint(&mut self, session: &Session) -> Result<u64> {
        let sql = "UPDATE session SET checkpoints = checkpoints + 1 \
                   WHERE workspace = ?1 AND id = ?2 RETURNING checkpoints";
        let params = (session.workspace.as_str(), session.id.to_string());
        Ok(self.query_one(sql, params, |row| row.get(0))?.unwrap_or(1))
    }

    /// Stores a checkpoint, replacing the one with its id.
    pub fn put_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO checkpoint (workspace, id, session, sequence, kind, title, agent, \
             agents_involved, case_key, position, created_at, resumed, resumed_at, archived_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            (
                checkpoint.workspace.as_str(),
                checkpoint.id.to_string(),
                &checkpoint.session,
                checkpoint.sequence,
                checkpoint.kind.name(),
                &checkpoint.title,
                checkpoint.agent.as_str(),
                encode_json(&checkpoint.agents_involved)?,
                &checkpoint.case,
                checkpoint.position,
                checkpoint.created_at.as_millisecond(),
                checkpoint.resumed,
                checkpoint.resumed_at.map(Timestamp::as_millisecond),
                checkpoint.archived_at.map(Timestamp::as_millisecond),
            ),
        )?;
        Ok(())
    }

    /// Removes a checkpoint.
    pub fn drop_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.execute(
            "DELETE FROM checkpoint WHERE workspace = ?1 AND id = ?2",
            (checkpoint.workspace.as_str(), checkpoint.id.to_string()),
        )?;
        Ok(())
    }
}

pub(super) fn from_row(row: &SqlRow<'_>) -> Result<Checkpoint> {
    Ok(Checkpoint {
        id: text(row, "id")?,
        workspace: text(row, "workspace")?,
        session: row.get("session")?,
        sequence: row.get("sequence")?,
        kind: text(row, "kind")?,
        title: row.get("title")?,
        agent: text(row, "agent")?,
        agents_involved: json(row, "agents_involved")?,
        case: row.get("case_key")?,
        position: row.get("position")?,
        created_at: time(row.get("created_at")?),
        resumed: row.get("resumed")?,
        resumed_at: row.get::<_, Option<i64>>("resumed_at")?.map(time),
        archived_at: row.get::<_, Option<i64>>("archived_at")?.map(time),
    })
}
