//! The SQL of exports and of what only an import writes.

use super::Tx;
use super::contradiction::{CONTRADICTION_INDEX, shown_rows};
use super::driver::{SqlRow, ToSql};
use super::entity::name_from_row;
use super::handoff::SEEN_HANDOFF;
use super::row::{encode_json, json, text, time};
use super::session::SEEN_SESSION;
use super::{case, checkpoint, handoff, session};
use crate::base::error::Result;
use crate::base::id::{
    CheckpointId, ContextId, ContradictionId, EntityId, HandoffId, MemoryId, RelationId, SessionId,
};
use crate::model::access::{Audience, Sight};
use crate::model::agent::AgentRecord;
use crate::model::case::{Case, CaseKey};
use crate::model::checkpoint::Checkpoint;
use crate::model::contradiction::ContradictionRecord;
use crate::model::entity::{Entity, EntityName, MergeRecord};
use crate::model::export::CaseMark;
use crate::model::graph::Relation;
use crate::model::handoff::Handoff;
use crate::model::memory::Memory;
use crate::model::session::Session;
use crate::model::workspace::Workspace;

/// The id of a row that an import may find stored already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredId {
    /// A session.
    Session(SessionId),
    /// A checkpoint.
    Checkpoint(CheckpointId),
    /// A handoff.
    Handoff(HandoffId),
    /// A relation.
    Relation(RelationId),
    /// A contradiction.
    Contradiction(ContradictionId),
    /// The receipt of a context.
    Context(ContextId),
}

/// Why an import reads rows in no sight.
const IMPORT_READS: &str = "an import asks only whether it is there, and shows it to no caller";

/// Whether no follower finds a contradiction `c` again as it is.
const DECIDED_CONDITION: &str =
    "(c.resolved OR c.contradiction ->> '$.found.found_by' IN ('endpoint', 'person', 'agent'))";

/// The rows that an export reads and an import writes, besides those of the other traits. Each list
/// begins after `after`.
impl Tx<'_> {
    /// At most `limit` cases in the order in which they were opened, each with its position.
    pub fn cases_after(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, Case)>> {
        let sql = "SELECT * FROM case_log WHERE workspace = ?1 AND sequence > ?2 \
                   ORDER BY sequence LIMIT ?3";
        let read = |row: &SqlRow<'_>| Ok((row.get("sequence")?, case::from_row(row)?));
        self.query_all(sql, (workspace.as_str(), after, limit), read)
    }

    /// At most `limit` sessions in sight in the order in which they were started, each with its
    /// position.
    pub fn sessions_after(
        &self,
        sight: &Sight,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, Session)>> {
        let sql = format!(
            "SELECT s.* FROM session s WHERE {SEEN_SESSION} AND s.sequence > :after \
             ORDER BY s.sequence LIMIT :limit"
        );
        let more: [(&str, &dyn ToSql); 2] = [(":after", &after), (":limit", &limit)];
        self.seen_without_audiences(sight)
            .all(&sql, &more, |row| Ok((row.get("sequence")?, session::from_row(row)?)))
    }

    /// At most `limit` handoffs in sight in the order in which they were created, each with its
    /// position. They name their memories as [`Tx::handoff`] does.
    pub fn handoffs_after(
        &self,
        sight: &Sight,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, Handoff)>> {
        let sql = format!(
            "SELECT h.* FROM handoff h WHERE {SEEN_HANDOFF} AND h.sequence > :after \
             ORDER BY h.sequence LIMIT :limit"
        );
        let more: [(&str, &dyn ToSql); 2] = [(":after", &after), (":limit", &limit)];
        let found: Vec<(u64, Handoff)> =
            self.seen_without_audiences(sight)
                .all(&sql, &more, |row| Ok((row.get("sequence")?, handoff::from_row(row)?)))?;
        let (positions, found): (Vec<u64>, Vec<Handoff>) = found.into_iter().unzip();
        Ok(positions.into_iter().zip(self.with_memories(sight, found)?).collect())
    }

    /// The handoffs in sight in the order in which each was accepted or completed last; empty if that
    /// is the order in which they were created.
    pub fn handoff_order(&self, sight: &Sight) -> Result<Vec<HandoffId>> {
        let sql = format!(
            "SELECT h.id, h.sequence FROM handoff h WHERE {SEEN_HANDOFF} \
             AND h.moved IS NOT NULL ORDER BY h.moved, h.sequence"
        );
        let found: Vec<(HandoffId, u64)> =
            self.seen_without_audiences(sight)
                .all(&sql, &[], |row| Ok((text(row, 0)?, row.get(1)?)))?;
        if found.is_sorted_by_key(|(_, created)| *created) {
            return Ok(Vec::new());
        }
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }

    /// At most `limit` entities that agents made statements about, by id.
    pub fn stated_entities_after(
        &self,
        workspace: &Workspace,
        after: Option<EntityId>,
        limit: u32,
    ) -> Result<Vec<Entity>> {
        let sql = "SELECT entity FROM entity WHERE workspace = ?1 AND id > ?2 ORDER BY id LIMIT ?3";
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.query_all(sql, (workspace.as_str(), after, limit), |row| json(row, 0))
    }

    /// The merges into an entity that were not undone, oldest first.
    pub fn merges(&self, workspace: &Workspace, target: EntityId) -> Result<Vec<MergeRecord>> {
        let sql =
            "SELECT merge FROM entity_merge WHERE workspace = ?1 AND target = ?2 ORDER BY number";
        self.query_all(sql, (workspace.as_str(), target.to_string()), |row| json(row, 0))
    }

    /// Those of these names that an agent stated.
    pub fn stated_names(
        &self,
        workspace: &Workspace,
        names: &[EntityId],
    ) -> Result<Vec<EntityName>> {
        let sql = "SELECT e.* FROM json_each(?3) w CROSS JOIN entity_name e \
                   ON e.audience = ?2 AND e.id = w.value \
                   WHERE e.workspace = ?1 AND e.stated ORDER BY e.id";
        let everybody = self.find_audience(&Audience::Workspace(workspace.clone()))?;
        let params = (workspace.as_str(), everybody, encode_json(&names)?);
        self.query_all(sql, params, name_from_row)
    }

    /// At most `limit` relations in sight by id, each with its audience.
    pub fn relations_after(
        &self,
        sight: &Sight,
        after: Option<RelationId>,
        limit: u32,
    ) -> Result<Vec<(Relation, Audience)>> {
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT r.relation, r.audience FROM relation r \
             WHERE r.workspace = (:workspaces ->> 0) AND r.id > :after AND {} \
             ORDER BY r.id LIMIT :limit",
            seen.of("r")
        );
        let after = after.map_or_else(String::new, |id| id.to_string());
        let more: [(&str, &dyn ToSql); 2] = [(":after", &after), (":limit", &limit)];
        let found: Vec<(Relation, i64)> =
            seen.all(&sql, &more, |row| Ok((json(row, 0)?, row.get(1)?)))?;
        let visible = self.visible_audiences(sight)?;
        let with_audience = found.into_iter().filter_map(|(relation, number)| {
            let row = visible.iter().find(|audience| audience.number == number)?;
            Some((relation, row.audience.clone()))
        });
        Ok(with_audience.collect())
    }

    /// At most `limit` contradictions in sight by id that no follower finds again as they are:
    /// resolved ones, and those that an endpoint found.
    pub fn decided_contradictions_after(
        &self,
        sight: &Sight,
        after: Option<ContradictionId>,
        limit: u32,
    ) -> Result<Vec<ContradictionRecord>> {
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT c.contradiction FROM {} WHERE c.workspace = (:workspaces ->> 0) \
             AND c.id > :after \
             AND {DECIDED_CONDITION} ORDER BY c.id LIMIT :limit",
            shown_rows(&seen, CONTRADICTION_INDEX)
        );
        let after = after.map_or_else(String::new, |id| id.to_string());
        let more: [(&str, &dyn ToSql); 2] = [(":after", &after), (":limit", &limit)];
        seen.all(&sql, &more, |row| json(row, 0))
    }

    /// At most `limit` checkpoints of sessions in sight, by id.
    pub fn checkpoints_after(
        &self,
        sight: &Sight,
        after: Option<CheckpointId>,
        limit: u32,
    ) -> Result<Vec<Checkpoint>> {
        let sql = format!(
            "SELECT c.* FROM checkpoint c \
             CROSS JOIN session s ON s.workspace = c.workspace AND s.id = c.session \
             WHERE c.workspace = (:workspaces ->> 0) AND c.id > :after AND {SEEN_SESSION} \
             ORDER BY c.id LIMIT :limit"
        );
        let after = after.map_or_else(String::new, |id| id.to_string());
        let more: [(&str, &dyn ToSql); 2] = [(":after", &after), (":limit", &limit)];
        self.seen_without_audiences(sight).all(&sql, &more, checkpoint::from_row)
    }

    /// At most `limit` read marks in cases, by agent and case, after the first `skip`: those of the
    /// reader and the agents below it, of all agents for the person.
    pub fn case_marks(&self, sight: &Sight, skip: u64, limit: u32) -> Result<Vec<CaseMark>> {
        let sql = "SELECT c.* FROM cursor c WHERE c.workspace = (:workspaces ->> 0) \
                   AND c.case_key <> '' AND (:person OR c.agent = :agent \
                       OR (c.agent > :agent || '/' AND c.agent < :agent || '0')) \
                   ORDER BY c.agent, c.case_key LIMIT :limit OFFSET :skip";
        let more: [(&str, &dyn ToSql); 2] = [(":skip", &skip), (":limit", &limit)];
        self.seen_without_audiences(sight).all(sql, &more, |row| {
            Ok(CaseMark {
                workspace: text(row, "workspace")?,
                agent: text(row, "agent")?,
                case: text(row, "case_key")?,
                position: row.get("position")?,
                at: time(row.get("at")?),
            })
        })
    }

    /// The position of a memory in its journal, in sight or not: an import asks only whether it is
    /// there.
    pub fn memory_position(&self, workspace: &Workspace, id: MemoryId) -> Result<Option<u64>> {
        let sql = "SELECT sequence FROM memory WHERE workspace = ?1 AND id = ?2";
        let key = (workspace.as_str(), id.to_string());
        self.unseen(IMPORT_READS).first(sql, key, |row| row.get(0))
    }

    /// The entry at a position of a case, in sight or not: an import asks only whether the position
    /// is free.
    pub fn entry_at(
        &self,
        workspace: &Workspace,
        case: &CaseKey,
        position: u64,
    ) -> Result<Option<MemoryId>> {
        let sql = "SELECT id FROM memory WHERE workspace = ?1 AND case_key = ?2 AND position = ?3";
        let key = (workspace.as_str(), case.as_str(), position);
        self.unseen(IMPORT_READS).first(sql, key, |row| text(row, 0))
    }

    /// Whether the workspace has a row with this id, in sight or not; of contradictions, a decided one.
    pub fn is_stored(&self, workspace: &Workspace, id: StoredId) -> Result<bool> {
        let (table, id) = match id {
            StoredId::Session(id) => ("session", id.to_string()),
            StoredId::Checkpoint(id) => ("checkpoint", id.to_string()),
            StoredId::Handoff(id) => ("handoff", id.to_string()),
            StoredId::Relation(id) => ("relation", id.to_string()),
            StoredId::Contradiction(id) => ("contradiction", id.to_string()),
            StoredId::Context(id) => ("context", id.to_string()),
        };
        let decided = match table {
            "contradiction" => format!(" AND {DECIDED_CONDITION}"),
            _ => String::new(),
        };
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM {table} c WHERE workspace = ?1 AND id = ?2{decided})"
        );
        Ok(self.query_one(&sql, (workspace.as_str(), id), |row| row.get(0))?.unwrap_or(false))
    }

    /// The checkpoint of a session with this number.
    pub fn checkpoint_numbered(
        &self,
        workspace: &Workspace,
        session: &str,
        number: u64,
    ) -> Result<Option<CheckpointId>> {
        let sql =
            "SELECT id FROM checkpoint WHERE workspace = ?1 AND session = ?2 AND sequence = ?3";
        self.query_one(sql, (workspace.as_str(), session, number), |row| text(row, 0))
    }

    /// Stores what the registry knew of an agent elsewhere; times only widen. Returns whether
    /// anything changed.
    pub fn restore_agent(&mut self, workspace: &Workspace, agent: &AgentRecord) -> Result<bool> {
        let changed = self.execute(
            "INSERT INTO agent (workspace, name, first_seen, last_seen, device, client) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (workspace, name) DO UPDATE SET \
                 first_seen = min(agent.first_seen, excluded.first_seen), \
                 last_seen = max(agent.last_seen, excluded.last_seen), \
                 device = coalesce(agent.device, excluded.device), \
                 client = coalesce(agent.client, excluded.client) \
             WHERE excluded.first_seen < agent.first_seen OR excluded.last_seen > agent.last_seen \
                 OR (agent.device IS NULL AND excluded.device IS NOT NULL) \
                 OR (agent.client IS NULL AND excluded.client IS NOT NULL)",
            (
                workspace.as_str(),
                agent.agent.as_str(),
                agent.first_seen.as_millisecond(),
                agent.last_seen.as_millisecond(),
                &agent.device,
                &agent.client,
            ),
        )?;
        Ok(changed > 0)
    }

    /// Stores an earlier revision of a memory that is here at a later one; returns whether it is new.
    pub fn restore_revision(&mut self, earlier: &Memory) -> Result<bool> {
        let sql = "INSERT OR IGNORE INTO revision (workspace, memory, revision, snapshot) \
                   SELECT m.workspace, m.id, ?3, ?4 FROM memory m \
                   WHERE m.workspace = ?1 AND m.id = ?2 AND m.revision > ?3";
        let new = self.unseen(IMPORT_READS).execute(
            sql,
            (
                earlier.workspace.as_str(),
                earlier.id.to_string(),
                earlier.revision,
                encode_json(earlier)?,
            ),
        )?;
        Ok(new > 0)
    }

    /// Makes this the order in which these handoffs were accepted or completed last; returns whether it
    /// was another one.
    pub fn restore_handoff_order(
        &mut self,
        workspace: &Workspace,
        ids: &[HandoffId],
    ) -> Result<bool> {
        let sql = "SELECT h.id, h.moved FROM json_each(?2) w CROSS JOIN handoff h \
                   ON h.workspace = ?1 AND h.id = w.value \
                   WHERE h.moved IS NOT NULL ORDER BY w.key";
        let found: Vec<(String, u64)> =
            self.query_all(sql, (workspace.as_str(), encode_json(&ids)?), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let mut positions: Vec<u64> = found.iter().map(|(_, position)| *position).collect();
        positions.sort_unstable();
        let mut changed = false;
        for ((id, before), position) in found.iter().zip(positions) {
            if *before != position {
                let sql = "UPDATE handoff SET moved = ?3 WHERE workspace = ?1 AND id = ?2";
                self.execute(sql, (workspace.as_str(), id, position))?;
                changed = true;
            }
        }
        Ok(changed)
    }

    /// Records that a session has used checkpoint numbers up to this one.
    pub fn note_checkpoint_number(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.execute(
            "UPDATE session SET checkpoints = max(checkpoints, ?3) WHERE workspace = ?1 AND id = ?2",
            (checkpoint.workspace.as_str(), &checkpoint.session, checkpoint.sequence),
        )?;
        Ok(())
    }
}
