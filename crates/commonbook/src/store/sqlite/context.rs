//! The SQL of contexts.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::{ToSql, Type};

use super::SqliteTransaction;
use super::case;
use super::memory::{self, MEMORY_COLUMNS};
use super::row::{encode_json, json, text, time};
use crate::base::error::Result;
use crate::base::id::ContextId;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::case::Case;
use crate::model::memory::Memory;
use crate::model::workspace::Workspace;
use crate::prompt::context::ContextRecord;
use crate::store::ContextRows;

impl ContextRows for SqliteTransaction<'_> {
    fn memories_about(
        &self,
        sight: &Sight,
        memory_type: &str,
        user: Option<&str>,
        owners: &[Agent],
        limit: u32,
    ) -> Result<Vec<Memory>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        // The condition repeats that of the index, so that the engine uses the index.
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m INDEXED BY memory_profile WHERE {seen_m} \
                 AND m.memory_type = :type \
                 AND m.memory_type IN ('profile', 'task_context') AND m.user_id IS :about \
                 AND m.owner = :owner AND m.deleted_at IS NULL AND m.superseded_by IS NULL \
             ORDER BY m.revised_at DESC, m.sequence DESC LIMIT :limit"
        );
        let mut memories = Vec::new();
        for owner in owners.iter().map(Agent::as_str) {
            let room = limit.saturating_sub(u32::try_from(memories.len()).unwrap_or(u32::MAX));
            if room == 0 {
                break;
            }
            let more: [(&str, &dyn ToSql); 4] =
                [(":type", &memory_type), (":about", &user), (":owner", &owner), (":limit", &room)];
            memories.extend(seen.all(&sql, &more, memory::from_row)?);
        }
        Ok(memories)
    }

    fn unread_cases(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        limit: u32,
    ) -> Result<Vec<(Case, u64)>> {
        let sql = "SELECT c.*, r.position AS read FROM cursor r \
                   JOIN case_log c ON c.workspace = r.workspace AND c.key = r.case_key \
                   WHERE r.workspace = ?1 AND r.agent = ?2 AND r.case_key <> '' \
                       AND c.status = 'open' AND c.version > r.position \
                   ORDER BY c.changed_at DESC, c.key LIMIT ?3";
        let params = (workspace.as_str(), agent.as_str(), limit);
        self.query_all(sql, params, |row| Ok((case::from_row(row)?, row.get("read")?)))
    }

    fn context(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        id: ContextId,
    ) -> Result<Option<ContextRecord>> {
        let sql = "SELECT * FROM context WHERE workspace = ?1 AND agent = ?2 AND id = ?3";
        self.query_one(sql, (workspace.as_str(), agent.as_str(), id.to_string()), from_row)
    }

    fn contexts(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        limit: u32,
    ) -> Result<Vec<ContextRecord>> {
        let sql = "SELECT * FROM context WHERE workspace = ?1 AND agent = ?2 \
                   ORDER BY id DESC LIMIT ?3";
        self.query_all(sql, (workspace.as_str(), agent.as_str(), limit), from_row)
    }

    fn put_context(&mut self, context: &ContextRecord) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO context (workspace, id, agent, at, sequence, milliseconds, \
             sha256, nonce, standing, receipt) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (
                context.workspace.as_str(),
                context.id.to_string(),
                context.agent.as_str(),
                context.at.as_millisecond(),
                context.sequence,
                context.milliseconds,
                &context.sha256,
                &context.nonce,
                context.standing.as_ref().map(encode_json).transpose()?,
                encode_json(&context.receipt)?,
            ),
        )?;
        Ok(())
    }

    fn drop_contexts(&mut self, before: Timestamp, kept: u32, limit: u32) -> Result<u64> {
        let old = "DELETE FROM context WHERE (workspace, id) IN \
                   (SELECT workspace, id FROM context WHERE at < ?1 LIMIT ?2)";
        let dropped = self.execute(old, (before.as_millisecond(), limit))?;
        let many = "DELETE FROM context WHERE (workspace, id) IN \
                    (SELECT workspace, id FROM (SELECT workspace, id, row_number() OVER \
                         (PARTITION BY workspace, agent ORDER BY id DESC) AS place FROM context) \
                     WHERE place > ?1 LIMIT ?2)";
        Ok((dropped + self.execute(many, (kept, limit))?) as u64)
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<ContextRecord> {
    let standing = match row.get_ref("standing")?.data_type() {
        Type::Null => None,
        _ => Some(json(row, "standing")?),
    };
    Ok(ContextRecord {
        id: text(row, "id")?,
        workspace: text(row, "workspace")?,
        agent: text(row, "agent")?,
        at: time(row.get("at")?),
        sequence: row.get("sequence")?,
        milliseconds: row.get("milliseconds")?,
        sha256: row.get("sha256")?,
        nonce: row.get("nonce")?,
        standing,
        receipt: json(row, "receipt")?,
    })
}
