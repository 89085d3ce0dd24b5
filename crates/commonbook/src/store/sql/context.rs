//! The SQL of contexts.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::Tx;
use super::case;
use super::driver::{SqlRow, ToSql};
use super::handoff::SEEN_HANDOFF;
use super::memory::{self, MEMORY_COLUMNS};
use super::row::{encode_json, json, text, time};
use crate::base::error::Result;
use crate::base::id::ContextId;
use crate::model::access::{ItemKind, Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::case::Case;
use crate::model::delivery::{ContextFilter, ContextRecord};
use crate::model::workspace::Workspace;

/// The contexts of a sight: the index to read, and the rule of [`Sight::sees_work`] for a row `c`.
/// The conformance suite proves the two equal. The person reads those of every agent; another
/// reader seeks its own, and those of the agents below it.
fn seen_contexts(sight: &Sight) -> (&'static str, String) {
    let about = "c.workspace = (:workspaces ->> 0) \
        AND (c.receipt ->> '$.diagnostics.resolved_user_id' IS NULL \
            OR c.receipt ->> '$.diagnostics.resolved_user_id' = :user \
            OR (:user IS NULL AND c.agent = :agent))";
    if sight.is_person {
        return ("", about.to_owned());
    }
    let below = "c.agent >= :agent AND c.agent < :agent || '0' \
        AND (c.agent = :agent OR c.agent > :agent || '/')";
    ("INDEXED BY context_agent", format!("{below} AND {about}"))
}

/// The rows of contexts.
impl Tx<'_> {
    /// At most `limit` current memories in sight of this type, `profile` or `task_context`, about
    /// this user or about none, of normal trust: those of the first owner first, of each owner the
    /// newest first.
    pub fn memories_about(
        &self,
        sight: &Sight,
        memory_type: &str,
        user: Option<&str>,
        owners: &[Agent],
        limit: u32,
    ) -> Result<Vec<StoredMemory>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        // The condition repeats that of the index, so that the engine uses the index.
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m INDEXED BY memory_profile WHERE {seen_m} \
                 AND m.memory_type = :type \
                 AND m.memory_type IN ('profile', 'task_context') AND m.user_id IS :about \
                 AND m.owner = :owner AND m.deleted_at IS NULL AND m.superseded_by IS NULL \
                 AND m.archived_at IS NULL AND m.retraction IS NULL AND m.trust = 'normal' \
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

    /// At most `limit` open cases that this agent has a read mark in and that have newer entries:
    /// last changed first, each with that mark.
    pub fn unread_cases(
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

    /// The context with this id in the first workspace of the sight, if the sight sees what its
    /// agent received.
    pub fn context(&self, sight: &Sight, id: ContextId) -> Result<Option<ContextRecord>> {
        let (_, seen) = seen_contexts(sight);
        let sql = format!("SELECT * FROM context c WHERE {seen} AND c.id = :id");
        self.seen_without_audiences(sight).first(&sql, &[(":id", &id.to_string())], from_row)
    }

    /// At most `limit` contexts in the first workspace of the sight, of agents whose work it sees,
    /// that the filter admits: newest first, starting after `beyond`.
    pub fn contexts(
        &self,
        sight: &Sight,
        filter: &ContextFilter,
        beyond: Option<ContextId>,
        limit: u32,
    ) -> Result<Vec<ContextRecord>> {
        let (index, seen) = seen_contexts(sight);
        let sql = format!(
            "SELECT * FROM context c {index} WHERE {seen} \
                 AND (:beyond IS NULL OR c.id < :beyond) AND (:of IS NULL OR c.agent = :of) \
                 AND (:since IS NULL OR c.at >= :since) \
                 AND (:session IS NULL OR c.receipt ->> '$.session' = :session) \
             ORDER BY c.id DESC LIMIT :limit"
        );
        let beyond = beyond.map(|id| id.to_string());
        let of = filter.agent.as_ref().map(Agent::as_str);
        let since = filter.since.map(Timestamp::as_millisecond);
        let more: [(&str, &dyn ToSql); 5] = [
            (":beyond", &beyond),
            (":of", &of),
            (":since", &since),
            (":session", &filter.session),
            (":limit", &limit),
        ];
        self.seen_without_audiences(sight).all(&sql, &more, from_row)
    }

    /// The tasks of the latest `limit` contexts of a workspace, of all agents, newest first: they are
    /// compared with a task, and shown to nobody.
    pub fn latest_tasks(&self, workspace: &Workspace, limit: u32) -> Result<Vec<String>> {
        let sql = "SELECT receipt ->> '$.query' AS task FROM context WHERE workspace = ?1 \
                   ORDER BY id DESC LIMIT ?2";
        let unseen = self.unseen("tasks are compared with another, and shown to nobody");
        unseen.all(sql, (workspace.as_str(), limit), |row| text(row, "task"))
    }

    /// At most `limit` ids of the contexts of [`Self::contexts`] that have this ending.
    pub fn context_ids_ending(
        &self,
        sight: &Sight,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<ContextId>> {
        let (index, seen) = seen_contexts(sight);
        let sql = format!(
            "SELECT c.id FROM context c {index} WHERE substr(c.id, -length(:ending)) = :ending \
                 AND {seen} ORDER BY c.id LIMIT :limit"
        );
        let more: [(&str, &dyn ToSql); 2] = [(":ending", &ending), (":limit", &limit)];
        self.seen_without_audiences(sight).all(&sql, &more, |row| text(row, 0))
    }

    /// Those of these ids of memories and handoffs that are in sight. An id of neither counts as
    /// one: it names a standing memory file.
    pub fn items_in_sight(
        &self,
        sight: &Sight,
        ids: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>> {
        let mut seen = BTreeSet::new();
        let (mut memories, mut handoffs) = (Vec::new(), Vec::new());
        for id in ids {
            match ItemKind::of(id) {
                ItemKind::Memory(_) => memories.push(id),
                ItemKind::Handoff(_) => handoffs.push(id),
                ItemKind::File => drop(seen.insert(id.clone())),
            }
        }
        let rows = self.seen(sight)?;
        let sql = format!(
            "SELECT DISTINCT m.id FROM json_each(:ids) w \
             CROSS JOIN memory m INDEXED BY memory_seen_id ON {} AND m.id = w.value",
            rows.of("m")
        );
        let of = |row: &SqlRow<'_>| row.get::<_, String>(0);
        seen.extend(rows.all(&sql, &[(":ids", &encode_json(&memories)?)], of)?);
        let sql = format!(
            "SELECT h.id FROM json_each(:ids) w \
             CROSS JOIN handoff h ON h.id = w.value AND {SEEN_HANDOFF}"
        );
        let rows = self.seen_without_audiences(sight);
        seen.extend(rows.all(&sql, &[(":ids", &encode_json(&handoffs)?)], of)?);
        Ok(seen)
    }

    /// Stores a context.
    pub fn put_context(&mut self, context: &ContextRecord) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO context (workspace, id, agent, at, sequence, milliseconds, \
             sha256, nonce, standing, receipt, counted) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
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
                context.is_bound.then_some(0_i64),
            ),
        )?;
        self.record_told(context)
    }

    /// Removes at most `limit` contexts that were made before this time, or that have more than
    /// `kept` newer ones of the same agent; returns the number removed.
    pub fn drop_contexts(&mut self, before: Timestamp, kept: u32, limit: u32) -> Result<u64> {
        let old = "DELETE FROM context WHERE (workspace, id) IN \
                   (SELECT workspace, id FROM context WHERE at < ?1 LIMIT ?2)";
        let dropped = self.execute(old, (before.as_millisecond(), limit))?;
        let many = "DELETE FROM context WHERE (workspace, id) IN \
                    (SELECT workspace, id FROM (SELECT workspace, id, row_number() OVER \
                         (PARTITION BY workspace, agent ORDER BY id DESC) AS place FROM context) c \
                     WHERE place > ?1 LIMIT ?2)";
        Ok((dropped + self.execute(many, (kept, limit))?) as u64)
    }
}

pub(super) fn from_row(row: &SqlRow<'_>) -> Result<ContextRecord> {
    let standing = match row.is_null("standing")? {
        true => None,
        false => Some(json(row, "standing")?),
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
        is_bound: row.get::<_, Option<i64>>("counted")? == Some(0),
        receipt: json(row, "receipt")?,
    })
}
