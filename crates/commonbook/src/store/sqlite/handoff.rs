//! The SQL of handoffs, and of the settled clock.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::ToSql;
use serde::{Deserialize, Serialize};

use super::SqliteTransaction;
use super::row::{encode_json, json, text, time};
use crate::base::error::Result;
use crate::base::id::{HandoffId, MemoryId};
use crate::base::settled_clock::SettledClock;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::checkpoint::OpenHandoff;
use crate::model::collaboration::{EdgeFilter, HandoffEdge};
use crate::model::handoff::choose::MemoryExclusion;
use crate::model::handoff::{Handoff, HandoffFilter, HandoffMemory, HandoffSide, HandoffStatus};
use crate::model::workspace::Workspace;
use crate::prompt::handoff::stored::read_memory;
use crate::prompt::handoff::{HandoffPackage, PackResult};
use crate::store::{HandoffRows, SettledClockRows};

/// The rule of [`Sight::can_see`] for a row `h`. The conformance suite proves the two equal.
pub(super) const SEEN_HANDOFF: &str = "\
    h.workspace = (:workspaces ->> 0) AND (h.user_id IS NULL OR h.user_id = :user \
        OR (:user IS NULL AND :agent IN (h.from_agent, h.to_agent)))";

/// The handoffs of a session and of a case, each by its index: with an `OR` the engine would scan
/// all.
const WORK_CONDITION: &str = "h.id IN (\
    SELECT id FROM handoff WHERE workspace = (:workspaces ->> 0) AND session = :session UNION \
    SELECT id FROM handoff WHERE workspace = (:workspaces ->> 0) AND accepted_in = :session UNION \
    SELECT id FROM handoff WHERE workspace = (:workspaces ->> 0) AND case_key = :other)";

/// Whether a handoff is open: [`HandoffStatus::is_open`].
const OPEN_CONDITION: &str = "h.status IN ('pending', 'accepted')";

/// The number of a handoff among those with the same counterpart: the agent that the reader hands
/// work to or receives it from.
const TURN_COLUMN: &str = "row_number() OVER (PARTITION BY substr( \
        CASE h.from_agent WHEN :agent THEN h.to_agent ELSE h.from_agent END, 1, \
        instr(CASE h.from_agent WHEN :agent THEN h.to_agent ELSE h.from_agent END || '/', '/') - 1) \
    ORDER BY h.sequence DESC),";

/// What the source wrote besides the task, in one column.
#[derive(Serialize, Deserialize)]
struct HandoffDetails {
    context: Option<String>,
    active_files: Vec<String>,
    decisions_made: Vec<String>,
    next_steps: Vec<String>,
}

impl SqliteTransaction<'_> {
    /// These columns of the handoffs that a filter admits, read by a function, with the position of
    /// each.
    fn query_handoffs<T>(
        &self,
        columns: &str,
        sight: &Sight,
        filter: &HandoffFilter,
        before: Option<u64>,
        limit: u32,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<(u64, T)>> {
        let side = match filter.side {
            HandoffSide::Received => "h.to_agent = :agent",
            HandoffSide::Sent => "h.from_agent = :agent",
            HandoffSide::Either => ":agent IN (h.from_agent, h.to_agent)",
            HandoffSide::All => "TRUE",
        };
        let order = if filter.in_turn { TURN_COLUMN } else { "" };
        let sql = format!(
            "SELECT h.sequence, {columns} FROM handoff h WHERE {SEEN_HANDOFF} AND {side} \
                 AND h.status IN (SELECT value FROM json_each(:status)) \
                 AND (:with IS NULL OR :with IN (h.from_agent, h.to_agent)) \
                 AND (:chain IS NULL OR h.chain = :chain) \
                 AND (:case IS NULL OR h.case_key = :case) AND h.sequence < :before \
             ORDER BY {order} h.sequence DESC LIMIT :limit"
        );
        let before =
            before.map_or(i64::MAX, |position| i64::try_from(position).unwrap_or(i64::MAX));
        let status = encode_json(&filter.status)?;
        let (with, chain) = (filter.with.as_ref().map(Agent::as_str), id_text(filter.chain));
        let seen = self.seen_without_audiences(sight);
        let more: [(&str, &dyn ToSql); 6] = [
            (":status", &status),
            (":with", &with),
            (":chain", &chain),
            (":case", &filter.case),
            (":before", &before),
            (":limit", &limit),
        ];
        seen.all(&sql, &more, |row| Ok((row.get(0)?, read(row)?)))
    }

    /// The handoffs of a query, with the memories that are in sight.
    pub(super) fn with_memories(&self, sight: &Sight, found: Vec<Handoff>) -> Result<Vec<Handoff>> {
        let named = |handoff: Handoff| -> Result<Handoff> {
            let memories = self.passed_memories(sight, &handoff)?;
            Ok(Handoff { memories, ..handoff })
        };
        found.into_iter().map(named).collect()
    }

    fn passed_memories(&self, sight: &Sight, handoff: &Handoff) -> Result<Vec<HandoffMemory>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        // The two agents of a handoff also see the private memories that were named for the target.
        let sql = format!(
            "SELECT p.passed FROM handoff_memory p \
             CROSS JOIN memory m ON m.workspace = p.origin AND m.id = p.memory AND m.deleted_at IS NULL \
             WHERE p.workspace = :home AND p.handoff = :handoff \
                 AND ((p.private AND :between) OR ({seen_m})) ORDER BY p.place"
        );
        let (home, id) = (handoff.workspace.as_str(), handoff.id.to_string());
        let between = handoff.is_between(&sight.agent);
        let more: [(&str, &dyn ToSql); 3] =
            [(":home", &home), (":handoff", &id), (":between", &between)];
        seen.all(&sql, &more, |row| json(row, 0))
    }
}

impl HandoffRows for SqliteTransaction<'_> {
    fn handoff(&self, sight: &Sight, id: HandoffId) -> Result<Option<Handoff>> {
        let sql = format!("SELECT h.* FROM handoff h WHERE {SEEN_HANDOFF} AND h.id = :id");
        let seen = self.seen_without_audiences(sight);
        let found = seen.first(&sql, &[(":id", &id.to_string())], from_row)?;
        Ok(self.with_memories(sight, found.into_iter().collect())?.pop())
    }

    fn handoff_ids_ending(
        &self,
        sight: &Sight,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<HandoffId>> {
        let sql = format!(
            "SELECT h.id FROM handoff h INDEXED BY handoff_ending \
             WHERE substr(h.id, -6) = substr(:ending, -6) \
                 AND substr(h.id, -length(:ending)) = :ending AND {SEEN_HANDOFF} \
             ORDER BY h.id LIMIT :limit"
        );
        let seen = self.seen_without_audiences(sight);
        seen.all(&sql, &[(":ending", &ending), (":limit", &limit)], |row| text(row, 0))
    }

    fn handoff_ids_alike(&self, sight: &Sight, ids: &[HandoffId]) -> Result<Vec<HandoffId>> {
        let sql = format!(
            "SELECT DISTINCT h.id FROM json_each(:ids) w \
             CROSS JOIN handoff h INDEXED BY handoff_ending \
                 ON substr(h.id, -6) = substr(w.value, -6) AND h.id <> w.value \
             WHERE {SEEN_HANDOFF}"
        );
        let seen = self.seen_without_audiences(sight);
        seen.all(&sql, &[(":ids", &encode_json(&ids)?)], |row| text(row, 0))
    }

    fn handoffs(
        &self,
        sight: &Sight,
        filter: &HandoffFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Handoff)>> {
        let found = self.query_handoffs("h.*", sight, filter, before, limit, from_row)?;
        let (places, found): (Vec<u64>, Vec<Handoff>) = found.into_iter().unzip();
        Ok(places.into_iter().zip(self.with_memories(sight, found)?).collect())
    }

    fn handoff_count(&self, sight: &Sight, filter: &HandoffFilter) -> Result<u64> {
        let filter = HandoffFilter { in_turn: false, ..filter.clone() };
        // `h.sequence` is the only column read of each.
        let found =
            self.query_handoffs("h.sequence", sight, &filter, None, u32::MAX, |_| Ok(()))?;
        Ok(found.len() as u64)
    }

    fn tasks(
        &self,
        sight: &Sight,
        filter: &HandoffFilter,
        limit: u32,
    ) -> Result<Vec<(u64, OpenHandoff)>> {
        let columns = "h.id, h.from_agent, h.to_agent, h.status, h.task";
        self.query_handoffs(columns, sight, filter, None, limit, task_from_row)
    }

    fn received_handoffs(&self, sight: &Sight, agent: &Agent, limit: u32) -> Result<Vec<Handoff>> {
        let sql = format!(
            "SELECT h.* FROM handoff h WHERE {SEEN_HANDOFF} AND h.to_agent = :to \
                 AND h.accepted IS NOT NULL ORDER BY h.accepted DESC LIMIT :limit"
        );
        let (seen, to) = (self.seen_without_audiences(sight), agent.as_str());
        let more: [(&str, &dyn ToSql); 2] = [(":to", &to), (":limit", &limit)];
        let mut found = seen.all(&sql, &more, from_row)?;
        found.reverse();
        self.with_memories(sight, found)
    }

    fn edges(&self, sight: &Sight, filter: &EdgeFilter, limit: u32) -> Result<Vec<HandoffEdge>> {
        let EdgeFilter { chain, case, work, agent, open, since } = filter;
        let (session, other) = work.clone().unzip();
        let wanted = [
            (chain.is_some(), "h.chain = :chain"),
            (case.is_some(), "h.case_key = :case"),
            (work.is_some(), WORK_CONDITION),
            (agent.is_some(), ":of IN (h.from_agent, h.to_agent)"),
            (*open, OPEN_CONDITION),
            (since.is_some(), "h.created_at >= :since"),
        ];
        let wanted = wanted.iter().filter(|(is_wanted, _)| *is_wanted);
        let wanted: String = wanted.map(|(_, holds)| format!(" AND {holds}")).collect();
        // `+` keeps the engine from walking all handoffs in their order.
        let order = if work.is_some() { "+h.sequence" } else { "h.sequence" };
        let sql = format!(
            "SELECT h.id, h.from_agent, h.to_agent, h.kind, h.status, h.chain, h.depth, \
                 h.created_at, h.accepted_at, h.ended_at FROM handoff h \
             WHERE {SEEN_HANDOFF}{wanted} ORDER BY {order} DESC LIMIT :limit"
        );
        let (chain, since) = (id_text(*chain), since.map(Timestamp::as_millisecond));
        let of = agent.as_ref().map(Agent::as_str);
        let other = other.flatten();
        let more: [(&str, &dyn ToSql); 7] = [
            (":chain", &chain),
            (":case", case),
            (":session", &session),
            (":other", &other),
            (":of", &of),
            (":since", &since),
            (":limit", &limit),
        ];
        let seen = self.seen_without_audiences(sight);
        let mut edges = seen.all(&sql, &more, edge_from_row)?;
        edges.reverse();
        Ok(edges)
    }

    fn package(&self, handoff: &Handoff) -> Result<HandoffPackage> {
        let key = [handoff.workspace.as_str(), &handoff.id.to_string()];
        let sql = "SELECT package FROM handoff WHERE workspace = ?1 AND id = ?2";
        let package: HandoffPackage =
            self.query_one(sql, key, |row| json(row, 0))?.unwrap_or_default();
        let sql = "SELECT memory, told FROM handoff_memory WHERE workspace = ?1 AND handoff = ?2";
        let items = self.query_all(sql, key, |row| Ok((text(row, 0)?, row.get(1)?)))?;
        let read = |(id, stored): (MemoryId, String)| {
            Some((id, read_memory(id, &stored, handoff.created_at)?))
        };
        let memories = items.into_iter().filter_map(read).collect();
        Ok(HandoffPackage { memories, ..package })
    }

    fn left_out(&self, sight: &Sight, id: HandoffId) -> Result<Vec<MemoryExclusion>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT j.value FROM handoff h, json_each(h.left_out) j \
             WHERE h.workspace = (:workspaces ->> 0) AND h.id = :id AND EXISTS \
                 (SELECT 1 FROM memory m INDEXED BY memory_seen_id \
                  WHERE {seen_m} AND m.id = j.value ->> 'id') ORDER BY j.key"
        );
        seen.all(&sql, &[(":id", &id.to_string())], |row| json(row, 0))
    }

    fn overdue_handoffs(&self, sure: Timestamp, limit: u32) -> Result<Vec<Handoff>> {
        let sql = "SELECT * FROM handoff WHERE status = 'pending' AND expires_at <= ?1 \
                   ORDER BY expires_at LIMIT ?2";
        self.query_all(sql, (sure.as_millisecond(), limit), from_row)
    }

    fn insert_handoff(&mut self, packed: &PackResult, sequence: u64) -> Result<()> {
        let PackResult { handoff, package, left_out } = packed;
        let details = HandoffDetails {
            context: handoff.context.clone(),
            active_files: handoff.active_files.clone(),
            decisions_made: handoff.decisions_made.clone(),
            next_steps: handoff.next_steps.clone(),
        };
        let row: [&dyn ToSql; 23] = [
            &handoff.workspace.as_str(),
            &handoff.id.to_string(),
            &sequence,
            &handoff.from.as_str(),
            &handoff.to.as_str(),
            &handoff.user_id,
            &handoff.session,
            &handoff.case,
            &handoff.task,
            &encode_json(&details)?,
            &handoff.kind.name(),
            &handoff.status.name(),
            &encode_json(&handoff.follows)?,
            &handoff.chain.to_string(),
            &handoff.depth,
            &encode_json(&handoff.entities)?,
            &handoff.tokens,
            &handoff.note,
            &handoff.created_at.as_millisecond(),
            &handoff.expires_at.as_millisecond(),
            &handoff.version,
            &encode_json(package)?,
            &encode_json(left_out)?,
        ];
        self.execute(
            "INSERT INTO handoff (workspace, id, sequence, from_agent, to_agent, user_id, session, \
             case_key, task, said, kind, status, follows, chain, depth, entities, tokens, note, \
             created_at, expires_at, version, package, left_out) VALUES (?1, ?2, ?3, ?4, ?5, ?6, \
             ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)",
            row.as_slice(),
        )?;
        let global = Workspace::global();
        for (place, memory) in handoff.memories.iter().enumerate() {
            let item = package.memories.get(&memory.id);
            let stored_item = item.map(encode_json).transpose()?.unwrap_or_default();
            // A memory that was purged just now leaves no row.
            let unseen = self.unseen("a verb has chosen what goes along; this finds its workspace");
            unseen.execute(
                "INSERT INTO handoff_memory \
                 (workspace, handoff, place, origin, memory, passed, private, told) \
                 SELECT ?1, ?2, ?3, m.workspace, m.id, ?5, ?6, ?7 FROM memory m \
                 WHERE m.id = ?4 AND m.workspace IN (?1, ?8) ORDER BY m.workspace <> ?1 LIMIT 1",
                (
                    handoff.workspace.as_str(),
                    handoff.id.to_string(),
                    place,
                    memory.id.to_string(),
                    encode_json(memory)?,
                    memory.private,
                    stored_item,
                    global.as_str(),
                ),
            )?;
        }
        Ok(())
    }

    fn step_handoff(&mut self, handoff: &Handoff, sequence: u64) -> Result<()> {
        let accepted = (handoff.status == HandoffStatus::Accepted).then_some(sequence);
        self.execute(
            "UPDATE handoff SET status = ?3, note = ?4, accepted_at = ?5, accepted_in = ?6, \
             ended_at = ?7, version = ?8, accepted = coalesce(?9, accepted) \
             WHERE workspace = ?1 AND id = ?2",
            (
                handoff.workspace.as_str(),
                handoff.id.to_string(),
                handoff.status.name(),
                &handoff.note,
                handoff.accepted_at.map(Timestamp::as_millisecond),
                &handoff.accepted_in,
                handoff.ended_at.map(Timestamp::as_millisecond),
                handoff.version,
                accepted,
            ),
        )?;
        Ok(())
    }
}

impl SettledClockRows for SqliteTransaction<'_> {
    fn settled_clock(&self) -> Result<Option<SettledClock>> {
        self.query_one("SELECT sure, shown FROM steady", [], |row| {
            Ok(SettledClock { confirmed: time(row.get(0)?), candidate: time(row.get(1)?) })
        })
    }

    fn put_settled_clock(&mut self, clock: SettledClock) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO steady (one, sure, shown) VALUES (1, ?1, ?2)",
            (clock.confirmed.as_millisecond(), clock.candidate.as_millisecond()),
        )?;
        Ok(())
    }
}

fn id_text(id: Option<HandoffId>) -> Option<String> {
    id.map(|id| id.to_string())
}

fn task_from_row(row: &Row<'_>) -> rusqlite::Result<OpenHandoff> {
    Ok(OpenHandoff {
        id: text(row, "id")?,
        from: text(row, "from_agent")?,
        to: text(row, "to_agent")?,
        status: text(row, "status")?,
        task: row.get("task")?,
    })
}

fn edge_from_row(row: &Row<'_>) -> rusqlite::Result<HandoffEdge> {
    Ok(HandoffEdge {
        handoff: text(row, "id")?,
        from: text(row, "from_agent")?,
        to: text(row, "to_agent")?,
        kind: text(row, "kind")?,
        status: text(row, "status")?,
        chain: text(row, "chain")?,
        depth: row.get("depth")?,
        created_at: time(row.get("created_at")?),
        accepted_at: row.get::<_, Option<i64>>("accepted_at")?.map(time),
        ended_at: row.get::<_, Option<i64>>("ended_at")?.map(time),
    })
}

pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Handoff> {
    let HandoffDetails { context, active_files, decisions_made, next_steps } = json(row, "said")?;
    let HandoffEdge {
        handoff,
        from,
        to,
        kind,
        status,
        chain,
        depth,
        created_at,
        accepted_at,
        ended_at,
    } = edge_from_row(row)?;
    Ok(Handoff {
        id: handoff,
        workspace: text(row, "workspace")?,
        from,
        to,
        user_id: row.get("user_id")?,
        session: row.get("session")?,
        case: row.get("case_key")?,
        task: row.get("task")?,
        context,
        active_files,
        decisions_made,
        next_steps,
        kind,
        status,
        follows: json(row, "follows")?,
        chain,
        depth,
        memories: Vec::new(),
        entities: json(row, "entities")?,
        tokens: row.get("tokens")?,
        note: row.get("note")?,
        created_at,
        expires_at: time(row.get("expires_at")?),
        accepted_at,
        accepted_in: row.get("accepted_in")?,
        ended_at,
        version: row.get("version")?,
    })
}
