//! The SQL of lineage: what was derived from which memory, and what sessions received.

use jiff::Timestamp;

use super::Tx;
use super::driver::SqlRow;
use super::handoff;
use super::memory::{self, MEMORY_COLUMNS};
use super::row::{encode_json, json, optional_text, text, time};
use crate::base::error::Result;
use crate::base::id::{HandoffId, MemoryId};
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::handoff::Handoff;
use crate::model::lineage::{
    Basis, DerivedId, MemoryReading, OutdatedMark, OutdatedRecord, ReadSetKey, ToldMemory,
};
use crate::model::memory::ChangedBasis;
use crate::model::search::MemoryRef;
use crate::model::workspace::Workspace;

/// Why lineage reads rows of memories in no sight.
const LINEAGE_READS: &str = "lineage reads ids and revisions, and a verb shows a memory in a sight";

/// The rows of lineage. They hold ids alone; a verb shows one through a sight. A purged memory is in none
/// of them.
impl Tx<'_> {
    /// Records what something was derived from; a later record about the same two replaces an earlier one.
    pub fn add_basis(&mut self, basis: &[Basis]) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO basis \
                   (workspace, derived, origin, memory, revision, context, recorded_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        for row in basis {
            self.execute(
                sql,
                (
                    row.workspace.as_str(),
                    row.derived.to_string(),
                    row.origin.as_str(),
                    row.memory.to_string(),
                    row.revision,
                    row.context.map(|id| id.to_string()),
                    row.recorded_at.as_millisecond(),
                ),
            )?;
        }
        Ok(())
    }

    /// At most `limit` things that were derived from this memory of a workspace, by id.
    pub fn derived_from(
        &self,
        origin: &Workspace,
        memory: MemoryId,
        limit: u32,
    ) -> Result<Vec<Basis>> {
        let sql = "SELECT * FROM basis INDEXED BY basis_memory WHERE origin = ?1 AND memory = ?2 \
                   ORDER BY workspace, derived LIMIT ?3";
        self.query_all(sql, (origin.as_str(), memory.to_string(), limit), basis_from_row)
    }

    /// Records that a session received these memories.
    pub fn note_told(&mut self, reading: &MemoryReading) -> Result<()> {
        let MemoryReading { workspace, agent, session, context, sequence, at, memories } = reading;
        // A memory of `global` learns in every workspace.
        let origins = workspace.with_global();
        let sql = "\
            INSERT INTO told_memory \
                (workspace, agent, session, origin, memory, revision, context, sequence, at) \
            SELECT ?1, ?2, ?3, m.workspace, m.id, coalesce(CAST(w.value ->> 1 AS BIGINT), m.revision), ?4, ?5, ?6 \
            FROM json_each(?7) w CROSS JOIN json_each(?8) o \
            CROSS JOIN memory m ON m.workspace = o.value AND m.id = w.value ->> 0 WHERE true \
            ON CONFLICT (workspace, agent, session, origin, memory) DO UPDATE SET \
                revision = max(told_memory.revision, excluded.revision), \
                context = coalesce(excluded.context, told_memory.context), \
                sequence = max(told_memory.sequence, excluded.sequence), \
                at = max(told_memory.at, excluded.at)";
        let unseen = self.unseen(LINEAGE_READS);
        unseen.execute(
            sql,
            (
                workspace.as_str(),
                agent.as_str(),
                session,
                context.map(|id| id.to_string()),
                *sequence,
                at.as_millisecond(),
                encode_json(memories)?,
                encode_json(&origins)?,
            ),
        )?;
        Ok(())
    }

    /// What a session received, by memory, with the present revisions.
    pub fn told_memories(&self, key: &ReadSetKey) -> Result<Vec<ToldMemory>> {
        let contradicted = |index: &str, side: &str, revision: &str| {
            format!(
                "EXISTS (SELECT 1 FROM contradiction c INDEXED BY {index} \
                 WHERE c.workspace = t.origin AND c.{side} = t.memory AND NOT c.resolved \
                     AND c.{revision} = m.revision AND c.sequence > t.sequence)"
            )
        };
        let sql = format!(
            "SELECT t.origin, t.memory, t.revision, m.revision AS current, t.context, \
                 coalesce(m.title || char(10), '') || m.text AS text, {} OR {} AS contradicted \
             FROM json_each(?3) s CROSS JOIN told_memory t ON t.workspace = ?1 AND t.agent = ?2 \
                 AND t.session = s.value \
             CROSS JOIN memory m ON m.workspace = t.origin AND m.id = t.memory \
             ORDER BY t.origin, t.memory, t.revision DESC",
            contradicted("contradiction_of", "older", "older_revision"),
            contradicted("contradiction_newer", "newer", "newer_revision"),
        );
        let params = (key.workspace.as_str(), key.agent.as_str(), encode_json(&key.sessions)?);
        let mut told: Vec<ToldMemory> = self.unseen(LINEAGE_READS).all(&sql, params, |row| {
            Ok(ToldMemory {
                origin: text(row, "origin")?,
                memory: text(row, "memory")?,
                revision: row.get("revision")?,
                current: row.get("current")?,
                context: optional_text(row, "context")?,
                is_contradicted: row.get("contradicted")?,
                text: row.get("text")?,
            })
        })?;
        // Of two ids of one session the one that knows more counts.
        told.dedup_by(|second, first| {
            let same = second.origin == first.origin && second.memory == first.memory;
            first.is_contradicted &= !same || second.is_contradicted;
            same
        });
        Ok(told)
    }

    /// Records that a session knows these memories as they are now, if it received them before;
    /// `sequence` is the end of its journal.
    pub fn note_known(
        &mut self,
        key: &ReadSetKey,
        memories: &[(Workspace, MemoryId)],
        sequence: u64,
    ) -> Result<()> {
        let sql = "\
            UPDATE told_memory SET sequence = max(sequence, ?6), revision = coalesce( \
                (SELECT m.revision FROM memory m WHERE m.workspace = ?4 AND m.id = ?5), revision) \
            WHERE workspace = ?1 AND agent = ?2 AND session = ?3 AND origin = ?4 AND memory = ?5";
        let unseen = self.unseen(LINEAGE_READS);
        for session in &key.sessions {
            for (origin, memory) in memories {
                unseen.execute(
                    sql,
                    (
                        key.workspace.as_str(),
                        key.agent.as_str(),
                        session,
                        origin.as_str(),
                        memory.to_string(),
                        sequence,
                    ),
                )?;
            }
        }
        Ok(())
    }

    /// Records that a session heard of these memories as they are now; `sequence` is the end of its journal.
    pub fn note_heard(
        &mut self,
        key: &ReadSetKey,
        memories: &[(Workspace, MemoryId)],
        sequence: u64,
        at: Timestamp,
    ) -> Result<()> {
        let Some(session) = key.sessions.first() else { return Ok(()) };
        let sql = "\
            INSERT INTO told_memory (workspace, agent, session, origin, memory, revision, sequence, at) \
            SELECT ?1, ?2, ?3, m.workspace, m.id, m.revision, ?6, ?7 FROM memory m \
            WHERE m.workspace = ?4 AND m.id = ?5 \
            ON CONFLICT (workspace, agent, session, origin, memory) DO UPDATE SET \
                revision = excluded.revision, sequence = excluded.sequence, at = excluded.at";
        let unseen = self.unseen(LINEAGE_READS);
        for (origin, memory) in memories {
            unseen.execute(
                sql,
                (
                    key.workspace.as_str(),
                    key.agent.as_str(),
                    session,
                    origin.as_str(),
                    memory.to_string(),
                    sequence,
                    at.as_millisecond(),
                ),
            )?;
        }
        Ok(())
    }

    /// Marks something as derived from a memory that has changed; `sequence` is that of its event.
    pub fn put_outdated(&mut self, record: &OutdatedRecord, sequence: u64) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO outdated \
                   (workspace, derived, owner, origin, memory, sequence, mark) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.execute(
            sql,
            (
                record.workspace.as_str(),
                record.derived.to_string(),
                record.owner.as_str(),
                record.origin.as_str(),
                record.memory.to_string(),
                sequence,
                encode_json(&record.mark)?,
            ),
        )?;
        Ok(())
    }

    /// At most `limit` marks of what this agent owns, oldest first, after this position.
    pub fn outdated(
        &self,
        workspace: &Workspace,
        owner: &Agent,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, OutdatedRecord)>> {
        let sql = "SELECT * FROM outdated INDEXED BY outdated_owner \
                   WHERE workspace = ?1 AND owner = ?2 AND sequence > ?3 ORDER BY sequence LIMIT ?4";
        let params = (workspace.as_str(), owner.as_str(), after, limit);
        self.query_all(sql, params, |row| {
            let record = OutdatedRecord {
                workspace: text(row, "workspace")?,
                derived: text(row, "derived")?,
                owner: text(row, "owner")?,
                origin: text(row, "origin")?,
                memory: text(row, "memory")?,
                mark: json(row, "mark")?,
            };
            Ok((row.get("sequence")?, record))
        })
    }

    /// The marked things of this agent whose ids end so.
    pub fn outdated_ending(
        &self,
        workspace: &Workspace,
        owner: &Agent,
        ending: &str,
    ) -> Result<Vec<DerivedId>> {
        let sql = "SELECT DISTINCT derived FROM outdated INDEXED BY outdated_owner \
                   WHERE workspace = ?1 AND owner = ?2 AND substr(derived, -length(?3)) = ?3";
        self.query_all(sql, (workspace.as_str(), owner.as_str(), ending), |row| text(row, 0))
    }

    /// The memories that these rest on and that have changed since, in sight, each with the memory that rests on it.
    pub fn changed_bases(
        &self,
        sight: &Sight,
        among: &[MemoryRef],
    ) -> Result<Vec<(MemoryId, ChangedBasis)>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT o.derived, o.memory, o.mark FROM json_each(:among) w \
             CROSS JOIN outdated o ON o.workspace = w.value ->> 0 AND o.derived = w.value ->> 1 \
             CROSS JOIN memory m ON m.workspace = o.origin AND m.id = o.memory \
             WHERE {seen_m} ORDER BY o.sequence"
        );
        seen.all(&sql, &[(":among", &encode_json(&among)?)], |row| {
            let OutdatedMark { change, by, .. } = json(row, 2)?;
            Ok((text(row, 0)?, ChangedBasis { memory: text(row, 1)?, change, by }))
        })
    }

    /// A memory that was derived from others, in sight or not: its mark is for its owner.
    pub fn derived_memory(
        &self,
        workspace: &Workspace,
        id: MemoryId,
    ) -> Result<Option<StoredMemory>> {
        let sql =
            format!("SELECT {MEMORY_COLUMNS} FROM memory m WHERE m.workspace = ?1 AND m.id = ?2");
        let unseen = self.unseen("a mark of a memory is for its owner");
        unseen.first(&sql, (workspace.as_str(), id.to_string()), memory::from_row)
    }

    /// A handoff that was derived from memories, in sight or not, without its memories.
    pub fn derived_handoff(&self, workspace: &Workspace, id: HandoffId) -> Result<Option<Handoff>> {
        let sql = "SELECT * FROM handoff WHERE workspace = ?1 AND id = ?2";
        self.query_one(sql, (workspace.as_str(), id.to_string()), handoff::from_row)
    }

    /// Removes the marks of something; returns their number.
    pub fn drop_outdated(&mut self, workspace: &Workspace, derived: DerivedId) -> Result<u64> {
        let sql = "DELETE FROM outdated WHERE workspace = ?1 AND derived = ?2";
        Ok(self.execute(sql, (workspace.as_str(), derived.to_string()))? as u64)
    }

    /// Removes the marks that changes of this memory made; with `keeper` those of all other agents.
    pub fn drop_outdated_by(
        &mut self,
        origin: &Workspace,
        memory: MemoryId,
        keeper: Option<&Agent>,
    ) -> Result<()> {
        let sql =
            "DELETE FROM outdated WHERE origin = ?1 AND memory = ?2 AND owner <> coalesce(?3, '')";
        self.execute(sql, (origin.as_str(), memory.to_string(), keeper.map(Agent::as_str)))?;
        Ok(())
    }

    /// Removes these memories from what a session received.
    pub fn drop_told_of(
        &mut self,
        key: &ReadSetKey,
        memories: &[(Workspace, MemoryId)],
    ) -> Result<()> {
        let sql = "DELETE FROM told_memory \
                   WHERE workspace = ?1 AND agent = ?2 AND session = ?3 AND origin = ?4 AND memory = ?5";
        let (workspace, agent) = (key.workspace.as_str(), key.agent.as_str());
        for session in &key.sessions {
            for (origin, memory) in memories {
                let of = (workspace, agent, session, origin.as_str(), memory.to_string());
                self.execute(sql, of)?;
            }
        }
        Ok(())
    }

    /// Removes at most `limit` records of what sessions received before this time; returns their number.
    pub fn drop_told(&mut self, before: Timestamp, limit: u32) -> Result<u64> {
        let sql = "DELETE FROM told_memory WHERE (workspace, agent, session, origin, memory) IN \
                   (SELECT workspace, agent, session, origin, memory FROM told_memory \
                    INDEXED BY told_memory_at WHERE at < ?1 LIMIT ?2)";
        Ok(self.execute(sql, (before.as_millisecond(), limit))? as u64)
    }
}

impl Tx<'_> {
    /// Removes a memory from all lineage.
    pub(super) fn forget_lineage(&self, workspace: &Workspace, memory: &str) -> Result<()> {
        for table in ["basis", "outdated"] {
            let of = format!("DELETE FROM {table} WHERE workspace = ?1 AND derived = ?2");
            self.execute(&of, (workspace.as_str(), memory))?;
        }
        for table in ["basis", "outdated", "told_memory"] {
            let from = format!("DELETE FROM {table} WHERE origin = ?1 AND memory = ?2");
            self.execute(&from, (workspace.as_str(), memory))?;
        }
        Ok(())
    }
}

fn basis_from_row(row: &SqlRow<'_>) -> Result<Basis> {
    Ok(Basis {
        workspace: text(row, "workspace")?,
        derived: text(row, "derived")?,
        origin: text(row, "origin")?,
        memory: text(row, "memory")?,
        revision: row.get("revision")?,
        context: optional_text(row, "context")?,
        recorded_at: time(row.get("recorded_at")?),
    })
}
