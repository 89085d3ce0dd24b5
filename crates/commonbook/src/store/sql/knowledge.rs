//! The SQL of knowledge: which agents received which memory, and what they hear of retractions.

use jiff::Timestamp;

use super::Tx;
use super::case::EntryStretch;
use super::contradiction::ClaimFilter;
use super::driver::{SqlRow, ToSql};
use super::memory::{self, MEMORY_COLUMNS};
use super::row::{encode_json, optional_text, text, time};
use crate::base::error::Result;
use crate::base::id::{MemoryId, OperationId};
use crate::model::access::{ItemKind, Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::delivery::ContextRecord;
use crate::model::knowledge::{CASE_ORIGIN, KnowledgeRecord};
use crate::model::memory::{Memory, RetractionNotice};
use crate::model::workspace::Workspace;

/// The rows of knowledge. A stored context records what its text told.
impl Tx<'_> {
    /// What agents of this workspace, or of every one, received of these memories: for each agent
    /// and revision the first time, by memory and agent. Who may read it decides `Sight::sees_work`.
    pub fn knowledge(
        &self,
        workspace: Option<&Workspace>,
        memories: &[MemoryId],
        agents: &[Agent],
    ) -> Result<Vec<KnowledgeRecord>> {
        let sql = "SELECT k.* FROM json_each(?1) w CROSS JOIN knowledge k ON k.memory = w.value \
                   WHERE (?2 IS NULL OR k.workspace = ?2) \
                       AND (json_array_length(?3) = 0 OR k.agent IN (SELECT value FROM json_each(?3))) \
                   ORDER BY w.key, k.workspace, k.agent, k.at, k.revision";
        let workspace = workspace.map(Workspace::as_str);
        let params = (encode_json(&memories)?, workspace, encode_json(&agents)?);
        self.query_all(sql, params, |row| {
            Ok(KnowledgeRecord {
                memory: text(row, "memory")?,
                workspace: text(row, "workspace")?,
                agent: text(row, "agent")?,
                revision: row.get("revision")?,
                user: user_of(row)?,
                at: time(row.get("at")?),
                origin: row.get("origin")?,
                context: optional_text(row, "context")?,
            })
        })
    }

    /// Records that this caller has read the entries of a stretch: those that every agent sees.
    pub fn record_entries_read(
        &mut self,
        caller: &Caller,
        stretch: &EntryStretch,
        at: Timestamp,
    ) -> Result<()> {
        let EntryStretch { workspace, case, after, until } = stretch;
        let unseen =
            self.unseen("a read mark records entries for its own agent, and shows nobody anything");
        unseen.execute(
            "INSERT OR IGNORE INTO knowledge \
                 (memory, workspace, agent, revision, user_id, at, origin, context) \
             SELECT m.id, m.workspace, ?5, m.revision, ?6, ?7, ?8, NULL \
             FROM memory m INDEXED BY memory_entry \
             WHERE m.workspace = ?1 AND m.case_key = ?2 AND m.position > ?3 AND m.position <= ?4 \
                 AND m.sharing = 'shared' AND m.trust <> 'quarantined' AND m.owner <> ?5 \
                 AND (m.user_id IS NULL OR m.user_id = ?6)",
            (
                workspace.as_str(),
                case.as_str(),
                after,
                until,
                caller.agent.as_str(),
                caller.user.as_deref().unwrap_or_default(),
                at.as_millisecond(),
                CASE_ORIGIN,
            ),
        )?;
        Ok(())
    }

    /// At most `limit` entries of cases in sight whose text names this memory.
    pub fn digest_entries(
        &self,
        sight: &Sight,
        memory: &Memory,
        limit: u32,
    ) -> Result<Vec<StoredMemory>> {
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m INDEXED BY memory_case WHERE {} \
                 AND m.case_key IS NOT NULL AND m.workspace = :workspace \
                 AND m.deleted_at IS NULL AND (instr(m.text, :id) > 0 OR instr(m.metadata, :id) > 0) ORDER BY m.sequence LIMIT :limit",
            seen.of("m")
        );
        let (id, workspace) = (memory.id.to_string(), memory.workspace.as_str());
        let more: [(&str, &dyn ToSql); 3] =
            [(":workspace", &workspace), (":id", &id), (":limit", &limit)];
        seen.all(&sql, &more, memory::from_row)
    }

    /// Stores what an agent hears of a retraction; an existing notice stays unchanged.
    pub fn put_retraction_notice(&mut self, notice: &RetractionNotice) -> Result<()> {
        self.execute(
            "INSERT OR IGNORE INTO retraction_notice \
                 (workspace, agent, memory, operation, kind, user_id, told_at, actor, at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                notice.workspace.as_str(),
                notice.agent.as_str(),
                notice.memory.to_string(),
                notice.operation.to_string(),
                notice.kind.name(),
                notice.user.as_deref().unwrap_or_default(),
                notice.told_at.map(Timestamp::as_millisecond),
                notice.actor.as_str(),
                notice.at.as_millisecond(),
            ),
        )?;
        Ok(())
    }

    /// At most `limit` notices for this agent that it heard at this time, or that wait for it: those
    /// that it may hear while it works for this user, oldest first.
    pub fn retraction_notices(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        user: Option<&str>,
        heard_at: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<RetractionNotice>> {
        let sql = "SELECT * FROM retraction_notice \
                   WHERE workspace = ?1 AND agent = ?2 AND heard_at IS ?4 \
                       AND (user_id = '' OR ?3 IS NULL OR user_id = ?3) \
                   ORDER BY at, memory LIMIT ?5";
        let heard_at = heard_at.map(Timestamp::as_millisecond);
        let params = (workspace.as_str(), agent.as_str(), user, heard_at, limit);
        self.query_all(sql, params, notice_from_row)
    }

    /// Records that an agent has heard the notices about this memory.
    pub fn hear_retraction(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        memory: MemoryId,
        at: Timestamp,
    ) -> Result<()> {
        let sql = "UPDATE retraction_notice SET heard_at = ?4 \
                   WHERE workspace = ?1 AND agent = ?2 AND memory = ?3 AND heard_at IS NULL";
        let id = memory.to_string();
        self.execute(sql, (workspace.as_str(), agent.as_str(), id, at.as_millisecond()))?;
        Ok(())
    }

    /// Removes the notices of an operation, except those that it was taken back; returns those that
    /// were heard.
    pub fn take_back_notices(&mut self, operation: OperationId) -> Result<Vec<RetractionNotice>> {
        let of = "FROM retraction_notice INDEXED BY retraction_notice_operation \
                  WHERE operation = ?1 AND kind <> 'restored'";
        let params = [operation.to_string()];
        let sql =
            format!("SELECT * {of} AND heard_at IS NOT NULL ORDER BY workspace, agent, memory");
        let heard = self.query_all(&sql, params.clone(), notice_from_row)?;
        self.execute(&format!("DELETE {of}"), params)?;
        Ok(heard)
    }

    /// At most `limit` retracted memories of a workspace in sight with one of these claims, newest first.
    pub fn retracted_claiming(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        keys: &[i64],
        limit: u32,
    ) -> Result<Vec<StoredMemory>> {
        let condition = "m.retraction IS NOT NULL AND m.deleted_at IS NULL";
        let claims = ClaimFilter { workspace, keys, owner: None, except: None, condition, limit };
        let found = self.memories_with_claims(self.audiences_of(sight, workspace)?, &claims)?;
        Ok(found.into_values().collect())
    }
}

impl Tx<'_> {
    /// Records what the text of a context told its agent.
    pub(super) fn record_told(&self, context: &ContextRecord) -> Result<()> {
        if context.agent.is_anonymous() {
            return Ok(());
        }
        let memories: Vec<(String, Option<u64>)> = (context.receipt.included())
            .filter(|candidate| matches!(ItemKind::of(&candidate.id), ItemKind::Memory(_)))
            .map(|candidate| (candidate.id.clone(), candidate.revision))
            .collect();
        if memories.is_empty() {
            return Ok(());
        }
        let unseen =
            self.unseen("what a text told is recorded for its reader, and shown to nobody");
        unseen.execute(
            "INSERT OR IGNORE INTO knowledge \
                 (memory, workspace, agent, revision, user_id, at, origin, context) \
             SELECT m.id, ?1, ?2, coalesce(CAST(w.value ->> 1 AS BIGINT), m.revision), ?3, ?4, ?5, ?6 \
             FROM json_each(?7) w CROSS JOIN memory m \
                 ON m.workspace IN (?1, 'global') AND m.id = w.value ->> 0",
            (
                context.workspace.as_str(),
                context.agent.as_str(),
                context.user_id().unwrap_or_default(),
                context.at.as_millisecond(),
                context.receipt.origin.name(),
                context.id.to_string(),
                encode_json(&memories)?,
            ),
        )?;
        Ok(())
    }

    /// Removes what agents received of a memory, and what they hear of its retraction.
    pub(super) fn forget_knowledge(&self, workspace: &Workspace, memory: &str) -> Result<()> {
        // What agents of other workspaces received of `global` goes too.
        let anywhere = *workspace == Workspace::global();
        for table in ["knowledge", "retraction_notice"] {
            let sql = format!("DELETE FROM {table} WHERE memory = ?1 AND (?3 OR workspace = ?2)");
            self.execute(&sql, (memory, workspace.as_str(), anywhere))?;
        }
        Ok(())
    }
}

fn notice_from_row(row: &SqlRow<'_>) -> Result<RetractionNotice> {
    let told_at: Option<i64> = row.get("told_at")?;
    Ok(RetractionNotice {
        workspace: text(row, "workspace")?,
        agent: text(row, "agent")?,
        user: user_of(row)?,
        memory: text(row, "memory")?,
        operation: text(row, "operation")?,
        kind: text(row, "kind")?,
        told_at: told_at.map(time),
        actor: text(row, "actor")?,
        at: time(row.get("at")?),
    })
}

/// The user of a row; an empty name is nobody.
fn user_of(row: &SqlRow<'_>) -> Result<Option<String>> {
    let user: String = row.get("user_id")?;
    Ok(Some(user).filter(|user| !user.is_empty()))
}
