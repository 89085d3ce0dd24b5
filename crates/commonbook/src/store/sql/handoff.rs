//! The SQL of handoffs, and of the settled clock.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Tx;
use super::driver::{SqlRow, ToSql};
use super::event::seen_events;
use super::row::{encode_json, json, optional_text, text, time};
use crate::base::error::Result;
use crate::base::id::{HandoffId, MemoryId};
use crate::base::limits;
use crate::base::settled_clock::SettledClock;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::checkpoint::OpenHandoff;
use crate::model::collaboration::{EdgeFilter, HandoffEdge};
use crate::model::handoff::choose::MemoryExclusion;
use crate::model::handoff::package::read_memory;
use crate::model::handoff::{Handoff, HandoffFilter, HandoffMemory, HandoffSide, HandoffStatus};
use crate::model::handoff::{HandoffPackage, PackResult};
use crate::model::memory::{MemoryChange, MemoryChangeKind};
use crate::model::workspace::Workspace;

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

/// Whether the reader is the target of a handoff, or has the role that it waits for:
/// [`Handoff::has_role`]. The first condition alone leads to the rows by an index.
const RECEIVED_CONDITION: &str = "\
    h.to_agent IN (SELECT :agent UNION SELECT value FROM json_each(:roles)) AND (h.to_agent = :agent \
        OR (h.role IS NOT NULL AND h.status = 'pending' AND h.from_agent <> :agent))";

/// What the source wrote besides the task, and what its text builds on, in one column.
#[derive(Serialize, Deserialize)]
struct HandoffDetails {
    context: Option<String>,
    active_files: Vec<String>,
    decisions_made: Vec<String>,
    next_steps: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    builds_on: Vec<HandoffId>,
}

impl Tx<'_> {
    /// These columns of the handoffs that a filter admits, read by a function, with the position of
    /// each.
    fn query_handoffs<T>(
        &self,
        columns: &str,
        sight: &Sight,
        filter: &HandoffFilter,
        beyond: Option<u64>,
        limit: u32,
        read: impl Fn(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Vec<(u64, T)>> {
        let side = match filter.side {
            // One of a role waits: among others the index gives the order.
            HandoffSide::Received if !filter.status.contains(&HandoffStatus::Pending) => {
                "h.to_agent = :agent".to_owned()
            }
            HandoffSide::Received => RECEIVED_CONDITION.to_owned(),
            HandoffSide::Sent => "h.from_agent = :agent".to_owned(),
            HandoffSide::Either => format!("(h.from_agent = :agent OR ({RECEIVED_CONDITION}))"),
            HandoffSide::All => "TRUE".to_owned(),
        };
        // The index of the queue has open handoffs alone. The engine would walk those of all agents.
        let is_open = filter.status.iter().all(|status| status.is_open());
        let open = if is_open { OPEN_CONDITION } else { "TRUE" };
        let is_queue = is_open && filter.side == HandoffSide::Received;
        let index = if is_queue { "INDEXED BY handoff_queue" } else { "" };
        let (direction, after) = if filter.oldest_first { ("ASC", ">") } else { ("DESC", "<") };
        let sql = format!(
            "SELECT h.sequence, {columns} FROM handoff h {index} \
             WHERE {SEEN_HANDOFF} AND {side} AND {open} \
                 AND h.status IN (SELECT value FROM json_each(:status)) \
                 AND (:with IS NULL OR :with IN (h.from_agent, h.to_agent)) \
                 AND (:chain IS NULL OR h.chain = :chain) \
                 AND (:memory IS NULL OR h.id IN (SELECT value FROM json_each(:memory))) \
                 AND (:case IS NULL OR h.case_key = :case) AND h.sequence {after} :beyond \
             ORDER BY h.sequence {direction} LIMIT :limit"
        );
        let first = if filter.oldest_first { 0 } else { i64::MAX };
        let beyond = beyond.map_or(first, |position| i64::try_from(position).unwrap_or(i64::MAX));
        let (status, roles) = (encode_json(&filter.status)?, encode_json(&sight.agent.roles())?);
        let (with, chain) = (filter.with.as_ref().map(Agent::as_str), id_text(filter.chain));
        let memory = filter.memory.map(|memory| self.handoffs_with_memory(sight, memory));
        let memory = memory.transpose()?.map(|ids| encode_json(&ids)).transpose()?;
        let seen = self.seen_without_audiences(sight);
        let more: [(&str, &dyn ToSql); 8] = [
            (":status", &status),
            (":roles", &roles),
            (":with", &with),
            (":chain", &chain),
            (":memory", &memory),
            (":case", &filter.case),
            (":beyond", &beyond),
            (":limit", &limit),
        ];
        seen.all(&sql, &more, |row| Ok((row.get(0)?, read(row)?)))
    }

    /// The ids of the handoffs in sight that include a memory, as far as the reader may know that.
    fn handoffs_with_memory(&self, sight: &Sight, memory: MemoryId) -> Result<Vec<String>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        // As in `passed_memories`.
        let sql = format!(
            "SELECT DISTINCT h.id FROM json_each(:workspaces) w \
             CROSS JOIN handoff_memory p INDEXED BY handoff_memory_of \
                 ON p.origin = w.value AND p.memory = :memory \
             CROSS JOIN handoff h ON h.workspace = p.workspace AND h.id = p.handoff AND {SEEN_HANDOFF} \
             CROSS JOIN memory m ON m.workspace = p.origin AND m.id = p.memory AND m.deleted_at IS NULL \
             WHERE (p.private AND :agent IN (h.from_agent, h.to_agent)) OR ({seen_m})"
        );
        let memory = memory.to_string();
        seen.all(&sql, &[(":memory", &memory)], |row| row.get(0))
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

/// The rows of handoffs. [`Sight::can_see`] decides by its visibility who sees one. It names the
/// memories that are in the reader's sight now and, to its two agents, the private ones that were
/// named for its target. Handoffs are read from the sight's first workspace.
impl Tx<'_> {
    /// The handoff with this id in sight.
    pub fn handoff(&self, sight: &Sight, id: HandoffId) -> Result<Option<Handoff>> {
        let sql = format!("SELECT h.* FROM handoff h WHERE {SEEN_HANDOFF} AND h.id = :id");
        let seen = self.seen_without_audiences(sight);
        let found = seen.first(&sql, &[(":id", &id.to_string())], from_row)?;
        Ok(self.with_memories(sight, found.into_iter().collect())?.pop())
    }

    /// At most `limit` ids of handoffs in sight that end in `ending`, in order. `ending` has at
    /// least six letters.
    pub fn handoff_ids_ending(
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

    /// The ids in sight that end in the same six letters as another id of `ids`.
    pub fn handoff_ids_alike(&self, sight: &Sight, ids: &[HandoffId]) -> Result<Vec<HandoffId>> {
        let sql = format!(
            "SELECT DISTINCT h.id FROM json_each(:ids) w \
             CROSS JOIN handoff h INDEXED BY handoff_ending \
                 ON substr(h.id, -6) = substr(w.value, -6) AND h.id <> w.value \
             WHERE {SEEN_HANDOFF}"
        );
        let seen = self.seen_without_audiences(sight);
        seen.all(&sql, &[(":ids", &encode_json(&ids)?)], |row| text(row, 0))
    }

    /// At most `limit` handoffs in sight that a filter admits, in its order, each with the position of
    /// its creation in the journal, which is beyond the given one in that order.
    pub fn handoffs(
        &self,
        sight: &Sight,
        filter: &HandoffFilter,
        beyond: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Handoff)>> {
        let found = self.query_handoffs("h.*", sight, filter, beyond, limit, from_row)?;
        let (places, found): (Vec<u64>, Vec<Handoff>) = found.into_iter().unzip();
        Ok(places.into_iter().zip(self.with_memories(sight, found)?).collect())
    }

    /// The number of handoffs in sight that a filter admits.
    pub fn handoff_count(&self, sight: &Sight, filter: &HandoffFilter) -> Result<u64> {
        // `h.sequence` is the only column read of each.
        let found = self.query_handoffs("h.sequence", sight, filter, None, u32::MAX, |_| Ok(()))?;
        Ok(found.len() as u64)
    }

    /// The queue of the reader: the positions of the handoffs that wait for it, oldest first.
    pub fn handoff_queue(&self, sight: &Sight) -> Result<Vec<u64>> {
        let filter = HandoffFilter {
            status: vec![HandoffStatus::Pending],
            oldest_first: true,
            ..HandoffFilter::default()
        };
        let found =
            self.query_handoffs("h.sequence", sight, &filter, None, u32::MAX, |_| Ok(()))?;
        Ok(found.into_iter().map(|(sequence, ())| sequence).collect())
    }

    /// As `handoffs`, but only the task of each.
    pub fn tasks(
        &self,
        sight: &Sight,
        filter: &HandoffFilter,
        limit: u32,
    ) -> Result<Vec<(u64, OpenHandoff)>> {
        let columns = "h.id, h.from_agent, h.to_agent, h.role, h.status, h.task";
        self.query_handoffs(columns, sight, filter, None, limit, task_from_row)
    }

    /// The last `limit` handoffs in sight that this agent accepted, in the order in which each was
    /// accepted or completed last.
    pub fn received_handoffs(
        &self,
        sight: &Sight,
        agent: &Agent,
        limit: u32,
    ) -> Result<Vec<Handoff>> {
        let sql = format!(
            "SELECT h.* FROM handoff h WHERE {SEEN_HANDOFF} AND h.to_agent = :to \
                 AND h.moved IS NOT NULL ORDER BY h.moved DESC LIMIT :limit"
        );
        let (seen, to) = (self.seen_without_audiences(sight), agent.as_str());
        let more: [(&str, &dyn ToSql); 2] = [(":to", &to), (":limit", &limit)];
        let mut found = seen.all(&sql, &more, from_row)?;
        found.reverse();
        self.with_memories(sight, found)
    }

    /// Those of these handoffs to an agent whose work it has handed on, alone or with others.
    pub fn handed_on(&self, workspace: &Workspace, ids: &[HandoffId]) -> Result<Vec<HandoffId>> {
        let sql = "SELECT DISTINCT h.id FROM json_each(?2) w \
             CROSS JOIN handoff h ON h.workspace = ?1 AND h.id = w.value \
             CROSS JOIN handoff n INDEXED BY handoff_chain ON n.workspace = ?1 AND n.chain = h.chain \
                 AND n.from_agent = h.to_agent AND n.kind IN ('sequential', 'join') \
                 AND n.status IN ('pending', 'accepted', 'completed') \
             CROSS JOIN json_each(n.follows) f WHERE f.value = h.id";
        self.query_all(sql, (workspace.as_str(), encode_json(&ids)?), |row| text(row, 0))
    }

    /// At most `limit` handoffs in sight by this agent that were completed or rejected since this
    /// time, ended last first, without those whose end a text told the agent before
    /// `session_start`; without that time, those that no text has told it.
    pub fn ended_handoffs(
        &self,
        sight: &Sight,
        agent: &Agent,
        since: Timestamp,
        session_start: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<Handoff>> {
        let sql = format!(
            "SELECT h.* FROM handoff h INDEXED BY handoff_ended WHERE {SEEN_HANDOFF} \
                 AND h.from_agent = :from AND h.status IN ('completed', 'rejected') \
                 AND h.ended_at >= :since AND (h.result_told_at IS NULL OR h.result_told_at >= :start) \
             ORDER BY h.ended_at DESC, h.sequence DESC LIMIT :limit"
        );
        let (seen, from) = (self.seen_without_audiences(sight), agent.as_str());
        let (since, start) = (since.as_millisecond(), session_start.map(Timestamp::as_millisecond));
        let more: [(&str, &dyn ToSql); 4] =
            [(":from", &from), (":since", &since), (":start", &start), (":limit", &limit)];
        seen.all(&sql, &more, from_row)
    }

    /// Notes that a text tells this agent how those of these handoffs ended that it created. The time of
    /// the first text stays.
    pub fn note_results_told(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        ids: &[HandoffId],
        at: Timestamp,
    ) -> Result<()> {
        let sql = "UPDATE handoff SET result_told_at = ?4 \
                   WHERE workspace = ?1 AND id IN (SELECT value FROM json_each(?3)) \
                       AND from_agent = ?2 AND status IN ('completed', 'rejected') \
                       AND result_told_at IS NULL";
        let (workspace, ids) = (workspace.as_str(), encode_json(&ids)?);
        self.execute(sql, (workspace, agent.as_str(), ids, at.as_millisecond())).map(drop)
    }

    /// The last `limit` handoffs in sight that a filter admits, as edges, in the order of creation.
    pub fn edges(
        &self,
        sight: &Sight,
        filter: &EdgeFilter,
        limit: u32,
    ) -> Result<Vec<HandoffEdge>> {
        let wanted = EdgeParameters::of(filter);
        let conditions = wanted.conditions("h.created_at");
        // `+` keeps the engine from walking all handoffs in their order.
        let order = if filter.work.is_some() { "+h.sequence" } else { "h.sequence" };
        let sql = format!(
            "SELECT h.id, h.from_agent, h.to_agent, h.kind, h.status, h.chain, h.depth, \
                 h.created_at, h.accepted_at, h.ended_at, h.cycle FROM handoff h \
             WHERE {SEEN_HANDOFF}{conditions} ORDER BY {order} DESC LIMIT :limit"
        );
        let mut more = wanted.parameters().to_vec();
        more.push((":limit", &limit));
        let seen = self.seen_without_audiences(sight);
        let mut edges = seen.all(&sql, &more, edge_from_row)?;
        edges.reverse();
        Ok(edges)
    }

    /// The number of handoffs that were refused after one in sight that a filter admits; its `since`
    /// is the time of the refusal.
    pub fn refused_handoffs(&self, sight: &Sight, filter: &EdgeFilter) -> Result<u64> {
        let wanted = EdgeParameters::of(filter);
        let conditions = wanted.conditions("e.at");
        let sql = format!(
            "SELECT count(*) FROM event e INDEXED BY event_refused \
             CROSS JOIN handoff h ON h.workspace = e.workspace AND h.id = e.subject \
             WHERE e.workspace = (:workspaces ->> 0) AND e.kind = 'handoff.refused' \
                 AND (e.sharing = 'shared' OR e.owner = :agent OR e.told = :agent) \
                 AND {SEEN_HANDOFF}{conditions}"
        );
        let seen = self.seen_without_audiences(sight);
        let count = seen.first(&sql, &wanted.parameters(), |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }

    /// Whether these agents, or agents below them, have written anything in sight in the sight's first
    /// workspace since the last of these handoffs was created: a memory, an entry, or the result of a
    /// handoff.
    pub fn has_written_since(
        &self,
        sight: &Sight,
        agents: &[Agent],
        handoffs: &[HandoffId],
    ) -> Result<bool> {
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT 1 FROM event e WHERE e.workspace = (:workspaces ->> 0) AND e.sequence > \
                 (SELECT coalesce(max(h.sequence), 0) FROM handoff h \
                  WHERE h.workspace = (:workspaces ->> 0) \
                      AND h.id IN (SELECT value FROM json_each(:handoffs))) \
                 AND (e.kind IN ('memory.saved', 'memory.updated', 'case.appended') \
                     OR (e.kind = 'handoff.completed' AND EXISTS (SELECT 1 FROM handoff r \
                         WHERE r.workspace = e.workspace AND r.id = e.subject AND r.note IS NOT NULL))) \
                 AND EXISTS (SELECT 1 FROM json_each(:agents) a WHERE e.actor = a.value \
                     OR substr(e.actor, 1, length(a.value) + 1) = a.value || '/') \
                 AND {} LIMIT 1",
            seen_events(&seen)
        );
        let (agents, handoffs) = (encode_json(&agents)?, encode_json(&handoffs)?);
        let more: [(&str, &dyn ToSql); 2] = [(":agents", &agents), (":handoffs", &handoffs)];
        Ok(seen.first(&sql, &more, |_| Ok(()))?.is_some())
    }

    /// The stored text of a handoff, with the memories that it names.
    pub fn package(&self, handoff: &Handoff) -> Result<HandoffPackage> {
        let key = [handoff.workspace.as_str(), &handoff.id.to_string()];
        let sql = "SELECT package FROM handoff WHERE workspace = ?1 AND id = ?2";
        let package: HandoffPackage =
            self.query_one(sql, key, |row| json(row, 0))?.unwrap_or_default();
        let sql = "SELECT memory, told, revision FROM handoff_memory WHERE workspace = ?1 AND handoff = ?2";
        let rows = self.query_all(sql, key, |row| Ok((text(row, 0)?, row.get(1)?, row.get(2)?)))?;
        let (mut memories, mut revisions) = (BTreeMap::new(), BTreeMap::new());
        for (id, stored, revision) in rows {
            let (id, stored): (MemoryId, String) = (id, stored);
            let Some(item) = read_memory(id, &stored, handoff.created_at) else { continue };
            memories.insert(id, item);
            revisions.extend(Option::<u64>::map(revision, |revision| (id, revision)));
        }
        Ok(HandoffPackage { memories, revisions, ..package })
    }

    /// The private memories of others that were named for the reader, the target of this handoff,
    /// and deleted since.
    pub fn deleted_private_memories(
        &self,
        sight: &Sight,
        handoff: &Handoff,
    ) -> Result<Vec<MemoryChange>> {
        if handoff.to != sight.agent {
            return Ok(Vec::new());
        }
        let sql = "SELECT m.id, m.owner FROM handoff_memory p \
             CROSS JOIN memory m ON m.workspace = p.origin AND m.id = p.memory \
             WHERE p.workspace = ?1 AND p.handoff = ?2 AND p.private AND m.owner <> ?3 \
                 AND m.deleted_at IS NOT NULL ORDER BY p.place";
        let unseen = self.unseen("the target of a handoff sees what was named for it");
        let id = handoff.id.to_string();
        unseen.all(sql, (handoff.workspace.as_str(), id, sight.agent.as_str()), |row| {
            let (id, owner) = (text(row, 0)?, text(row, 1)?);
            Ok(MemoryChange { id, owner, change: MemoryChangeKind::Deleted, by: None })
        })
    }

    /// The memories in sight that were considered for a handoff and left out.
    pub fn left_out(&self, sight: &Sight, id: HandoffId) -> Result<Vec<MemoryExclusion>> {
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

    /// At most `limit` handoffs of all workspaces that expired at this time or before: pending ones, and accepted ones
    /// whose target has been silent since. For the sweep.
    pub fn overdue_handoffs(&self, sure: Timestamp, limit: u32) -> Result<Vec<Handoff>> {
        let sql = "SELECT * FROM handoff WHERE status = 'pending' AND expires_at <= ?1 \
                   ORDER BY expires_at LIMIT ?2";
        let waiting = self.query_all(sql, (sure.as_millisecond(), limit), from_row)?;
        // Accepted ones of a target that went silent: `Handoff::apply_step` has the rule.
        let silence = SignedDuration::from_hours(limits::HANDOFF_SILENT_HOURS);
        let silent_since = sure.checked_sub(silence).unwrap_or(Timestamp::MIN);
        let sql = format!(
            "SELECT h.* FROM handoff h INDEXED BY handoff_queue WHERE {OPEN_CONDITION} \
                 AND h.status = 'accepted' AND h.expires_at <= ?1 AND h.accepted_at <= ?2 \
                 AND NOT EXISTS (SELECT 1 FROM agent a WHERE a.workspace = h.workspace \
                     AND a.name = h.to_agent AND a.last_seen > ?2) \
             ORDER BY h.expires_at LIMIT ?3"
        );
        let times = (sure.as_millisecond(), silent_since.as_millisecond());
        let left = limit - u32::try_from(waiting.len()).unwrap_or(limit);
        let silent = self.query_all(&sql, (times.0, times.1, left), from_row)?;
        Ok(waiting.into_iter().chain(silent).collect())
    }

    /// Stores a new handoff; `sequence` is the position of its event in the journal.
    pub fn insert_handoff(&mut self, packed: &PackResult, sequence: u64) -> Result<()> {
        let PackResult { handoff, package, left_out, .. } = packed;
        let details = HandoffDetails {
            context: handoff.context.clone(),
            active_files: handoff.active_files.clone(),
            decisions_made: handoff.decisions_made.clone(),
            next_steps: handoff.next_steps.clone(),
            builds_on: handoff.builds_on.clone(),
        };
        let row: [&dyn ToSql; 25] = [
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
            &handoff.role.as_ref().map(Agent::as_str),
            &handoff.cycle.as_ref().map(encode_json).transpose()?,
        ];
        self.execute(
            "INSERT INTO handoff (workspace, id, sequence, from_agent, to_agent, user_id, session, \
             case_key, task, said, kind, status, follows, chain, depth, entities, tokens, note, \
             created_at, expires_at, version, package, left_out, role, cycle) VALUES (?1, ?2, ?3, ?4, \
             ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, \
             ?23, ?24, ?25)",
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
                 (workspace, handoff, place, origin, memory, passed, private, told, revision) \
                 SELECT ?1, ?2, ?3, m.workspace, m.id, ?5, ?6, ?7, coalesce(?9, m.revision) FROM memory m \
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
                    package.revisions.get(&memory.id),
                ),
            )?;
        }
        Ok(())
    }

    /// Stores a step of a handoff; `sequence` is the position of the step's event.
    pub fn step_handoff(&mut self, handoff: &Handoff, sequence: u64) -> Result<()> {
        let is_moved = matches!(handoff.status, HandoffStatus::Accepted | HandoffStatus::Completed);
        let moved = is_moved.then_some(sequence);
        self.execute(
            "UPDATE handoff SET status = ?3, note = ?4, accepted_at = ?5, accepted_in = ?6, \
             ended_at = ?7, version = ?8, moved = coalesce(?9, moved), to_agent = ?10, cycle = ?11 \
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
                moved,
                handoff.to.as_str(),
                handoff.cycle.as_ref().map(encode_json).transpose()?,
            ),
        )?;
        Ok(())
    }
}

/// The row of the settled clock.
impl Tx<'_> {
    /// The clock as the readings until now have settled it.
    pub fn settled_clock(&self) -> Result<Option<SettledClock>> {
        self.query_one("SELECT sure, shown FROM steady", (), |row| {
            Ok(SettledClock { confirmed: time(row.get(0)?), candidate: time(row.get(1)?) })
        })
    }

    /// Stores the clock after another reading.
    pub fn put_settled_clock(&mut self, clock: SettledClock) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO steady (one, sure, shown) VALUES (1, ?1, ?2)",
            (clock.confirmed.as_millisecond(), clock.candidate.as_millisecond()),
        )?;
        Ok(())
    }
}

/// The parameters that an [`EdgeFilter`] needs.
struct EdgeParameters<'f> {
    filter: &'f EdgeFilter,
    chain: Option<String>,
    session: Option<&'f str>,
    session_case: Option<&'f str>,
    agent: Option<&'f str>,
    since: Option<i64>,
}

impl<'f> EdgeParameters<'f> {
    fn of(filter: &'f EdgeFilter) -> Self {
        let work = filter.work.as_ref();
        Self {
            filter,
            chain: id_text(filter.chain),
            session: work.map(|(session, _)| session.as_str()),
            session_case: work.and_then(|(_, case)| case.as_deref()),
            agent: filter.agent.as_ref().map(Agent::as_str),
            since: filter.since.map(Timestamp::as_millisecond),
        }
    }

    /// The conditions of the filter, for a handoff `h`; `time` is the column that `since` is about.
    fn conditions(&self, time: &str) -> String {
        let EdgeFilter { chain, case, work, agent, open, since } = self.filter;
        let since_condition = format!("{time} >= :since");
        let wanted = [
            (chain.is_some(), "h.chain = :chain"),
            (case.is_some(), "h.case_key = :case"),
            (work.is_some(), WORK_CONDITION),
            (agent.is_some(), ":of IN (h.from_agent, h.to_agent)"),
            (*open, OPEN_CONDITION),
            (since.is_some(), since_condition.as_str()),
        ];
        let wanted = wanted.iter().filter(|(is_wanted, _)| *is_wanted);
        wanted.map(|(_, holds)| format!(" AND {holds}")).collect()
    }

    fn parameters(&self) -> [(&str, &dyn ToSql); 6] {
        [
            (":chain", &self.chain),
            (":case", &self.filter.case),
            (":session", &self.session),
            (":other", &self.session_case),
            (":of", &self.agent),
            (":since", &self.since),
        ]
    }
}

fn id_text(id: Option<HandoffId>) -> Option<String> {
    id.map(|id| id.to_string())
}

fn task_from_row(row: &SqlRow<'_>) -> Result<OpenHandoff> {
    Ok(OpenHandoff {
        id: text(row, "id")?,
        from: text(row, "from_agent")?,
        to: text(row, "to_agent")?,
        role: optional_text(row, "role")?,
        status: text(row, "status")?,
        task: row.get("task")?,
        later: false,
    })
}

fn edge_from_row(row: &SqlRow<'_>) -> Result<HandoffEdge> {
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
        cycle: match row.is_null("cycle")? {
            true => None,
            false => Some(json(row, "cycle")?),
        },
    })
}

pub(super) fn from_row(row: &SqlRow<'_>) -> Result<Handoff> {
    let HandoffDetails { context, active_files, decisions_made, next_steps, builds_on } =
        json(row, "said")?;
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
        cycle,
    } = edge_from_row(row)?;
    Ok(Handoff {
        id: handoff,
        workspace: text(row, "workspace")?,
        from,
        to,
        role: optional_text(row, "role")?,
        user_id: row.get("user_id")?,
        session: row.get("session")?,
        case: row.get("case_key")?,
        task: row.get("task")?,
        context,
        active_files,
        decisions_made,
        next_steps,
        builds_on,
        kind,
        status,
        follows: json(row, "follows")?,
        chain,
        depth,
        memories: Vec::new(),
        entities: json(row, "entities")?,
        tokens: row.get("tokens")?,
        cycle,
        position: None,
        note: row.get("note")?,
        created_at,
        expires_at: time(row.get("expires_at")?),
        accepted_at,
        accepted_in: row.get("accepted_in")?,
        ended_at,
        version: row.get("version")?,
    })
}
