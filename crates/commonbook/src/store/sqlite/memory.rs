//! The SQL of memories.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::{ToSql, Type, Value};

use super::SqliteTransaction;
use super::access::{SEEN, SightParams};
use super::row::{encoded, importance, json, maybe, text, time};
use crate::access::Sight;
use crate::caller::Door;
use crate::case::{CaseKey, CaseStatus};
use crate::error::Result;
use crate::id::MemoryId;
use crate::memory::{Memory, Order, Trust};
use crate::search::Filter;
use crate::stats::{Count, UserRecord};
use crate::store::{Change, MemoryRows};
use crate::workspace::Workspace;

/// What [`Filter`] asks for, of a row `m`, as SQL with its parameters. Only what is asked for stands
/// there, so that the engine finds by it.
struct FilterParams<'f> {
    filter: &'f Filter,
    importance: Option<i64>,
    topic: Option<String>,
    case: Option<&'f str>,
    trust: Option<&'static str>,
}

impl<'f> FilterParams<'f> {
    pub(super) fn of(filter: &'f Filter) -> Self {
        Self {
            filter,
            importance: filter.importance.map(|importance| importance as i64),
            topic: filter.topic.as_deref().map(str::to_lowercase),
            case: filter.case.as_ref().map(CaseKey::as_str),
            trust: filter.trust.map(Trust::name),
        }
    }

    /// The conditions, each with its parameter.
    fn each(&self) -> impl Iterator<Item = (&'static str, &'static str, &dyn ToSql)> {
        let Self { filter, importance, topic, case, trust } = self;
        // Only a statement that names the trust itself finds what is quarantined by its index.
        let trusted = match filter.trust {
            Some(Trust::Quarantined) => "m.trust = :trust AND m.trust = 'quarantined'",
            _ => "m.trust = :trust",
        };
        let all: [(bool, &str, &str, &dyn ToSql); 8] = [
            (filter.owner.is_some(), "m.owner = :owner", ":owner", &filter.owner),
            (filter.memory_type.is_some(), "m.memory_type = :type", ":type", &filter.memory_type),
            (filter.session.is_some(), "m.session = :session", ":session", &filter.session),
            (case.is_some(), "m.case_key = :case", ":case", case),
            (importance.is_some(), "m.importance >= :importance", ":importance", importance),
            (topic.is_some(), ABOUT, ":topic", topic),
            (trust.is_some(), trusted, ":trust", trust),
            (true, "(m.deleted_at IS NOT NULL) = :deleted", ":deleted", &filter.deleted),
        ];
        let asked = all.into_iter().filter(|(asked, ..)| *asked);
        asked.map(|(_, sql, name, value)| (sql, name, value))
    }

    pub(super) fn sql(&self) -> String {
        self.each().map(|(sql, ..)| sql).collect::<Vec<_>>().join(" AND ")
    }

    pub(super) fn list(&self) -> Vec<(&str, &dyn ToSql)> {
        self.each().map(|(_, name, value)| (name, value)).collect()
    }
}

/// Whether a memory is about a topic, whatever its case.
const ABOUT: &str = "EXISTS (SELECT 1 FROM json_each(m.topics) t \
    WHERE commonbook_lower(t.value) = :topic)";

impl MemoryRows for SqliteTransaction<'_> {
    fn memory(&self, sight: &Sight, id: MemoryId) -> Result<Option<Memory>> {
        let sql = format!(
            "SELECT {MEMORY} FROM memory m WHERE {SEEN} AND m.id = :id \
             ORDER BY (SELECT key FROM json_each(:workspaces) WHERE value = m.workspace) LIMIT 1"
        );
        let seen = SightParams::of(sight);
        self.one(&sql, &*seen.with(&[(":id", &id.to_string())]), from_row)
    }

    fn memories_of(&self, sight: &Sight, wanted: &[(Workspace, MemoryId)]) -> Result<Vec<Memory>> {
        let sql = format!(
            "SELECT {MEMORY} FROM json_each(:wanted) w \
             CROSS JOIN memory m ON m.workspace = w.value ->> 0 AND m.id = w.value ->> 1 \
             WHERE {SEEN} ORDER BY w.key"
        );
        let (seen, wanted) = (SightParams::of(sight), encoded(&wanted)?);
        self.all(&sql, &*seen.with(&[(":wanted", &wanted)]), from_row)
    }

    fn memory_ids(
        &self,
        sight: &Sight,
        (first, last): (MemoryId, MemoryId),
        limit: u32,
    ) -> Result<Vec<MemoryId>> {
        let sql = format!(
            "SELECT DISTINCT m.id FROM memory m WHERE {SEEN} AND m.id BETWEEN :first AND :last \
             ORDER BY m.id LIMIT :limit"
        );
        let seen = SightParams::of(sight);
        let (first, last) = (first.to_string(), last.to_string());
        let more: [(&str, &dyn ToSql); 3] =
            [(":first", &first), (":last", &last), (":limit", &limit)];
        self.all(&sql, &*seen.with(&more), |row| text(row, "id"))
    }

    fn memories(
        &self,
        sight: &Sight,
        filter: &Filter,
        (order, from): (Order, Option<u64>),
        limit: u32,
    ) -> Result<Vec<(u64, Memory)>> {
        let (beyond, direction, start) = match order {
            Order::Newest => ("<", "DESC", i64::MAX as u64),
            Order::Oldest => (">", "ASC", 0),
        };
        let (seen, filter) = (SightParams::of(sight), FilterParams::of(filter));
        let sql = format!(
            "SELECT {MEMORY}, m.sequence FROM memory m WHERE {SEEN} AND {} \
                 AND m.sequence {beyond} :from ORDER BY m.sequence {direction} LIMIT :limit",
            filter.sql()
        );
        let from = from.unwrap_or(start);
        let mut params = seen.with(&filter.list());
        params.push((":from", &from));
        params.push((":limit", &limit));
        self.all(&sql, &*params, |row| Ok((row.get(BESIDE)?, from_row(row)?)))
    }

    fn topics(&self, sight: &Sight, beginning: &str, limit: u32) -> Result<Vec<String>> {
        let sql = format!(
            "SELECT min(t.value) FROM memory m, json_each(m.topics) t \
             WHERE {SEEN} AND m.deleted_at IS NULL AND m.superseded_by IS NULL \
                 AND instr(commonbook_lower(t.value), :beginning) = 1 \
             GROUP BY commonbook_lower(t.value) ORDER BY count(*) DESC, 1 LIMIT :limit"
        );
        let seen = SightParams::of(sight);
        let more: [(&str, &dyn ToSql); 2] = [(":beginning", &beginning), (":limit", &limit)];
        self.all(&sql, &*seen.with(&more), |row| row.get(0))
    }

    fn counts(&self, sight: &Sight) -> Result<Vec<Count>> {
        let sql = format!(
            "SELECT m.owner, m.memory_type, count(*) FILTER (WHERE m.deleted_at IS NULL), \
                    count(*) FILTER (WHERE m.deleted_at IS NOT NULL) \
             FROM memory m WHERE {SEEN} GROUP BY 1, 2 ORDER BY 1, 2"
        );
        self.all(&sql, &*SightParams::of(sight).with(&[]), |row| {
            Ok(Count {
                owner: row.get(0)?,
                memory_type: row.get(1)?,
                standing: row.get(2)?,
                deleted: row.get(3)?,
            })
        })
    }

    fn users(&self, sight: &Sight) -> Result<Vec<UserRecord>> {
        let sql = format!(
            "SELECT m.user_id, count(*), min(m.recorded_at), max(m.recorded_at) FROM memory m \
             WHERE {SEEN} AND m.user_id IS NOT NULL AND m.deleted_at IS NULL \
             GROUP BY 1 ORDER BY 1"
        );
        self.all(&sql, &*SightParams::of(sight).with(&[]), |row| {
            let (first_seen, last_seen) = (time(row.get(2)?), time(row.get(3)?));
            Ok(UserRecord {
                user_id: row.get(0)?,
                memory_count: row.get(1)?,
                first_seen,
                last_seen,
            })
        })
    }

    fn earlier(&self, sight: &Sight, id: MemoryId) -> Result<Vec<Memory>> {
        let sql = "SELECT snapshot FROM revision \
                   WHERE workspace = ?1 AND memory = ?2 ORDER BY revision";
        let mut earlier = Vec::new();
        for workspace in &sight.workspaces {
            let params = [workspace.as_str(), &id.to_string()];
            let snapshots: Vec<Memory> = self.all(sql, params, |row| json(row, "snapshot"))?;
            earlier.extend(snapshots.into_iter().filter(|memory| sight.sees(memory)));
        }
        Ok(earlier)
    }

    fn was_imported(&self, memory: &Memory) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM memory WHERE workspace = ?1 AND id = ?2) \
                   OR (?3 IS NOT NULL AND \
                       EXISTS (SELECT 1 FROM memory WHERE workspace = ?1 AND imported = ?3))";
        let params = (memory.workspace.as_str(), memory.id.to_string(), imported(memory));
        Ok(self.one(sql, params, |row| row.get(0))?.unwrap_or(false))
    }

    fn superseded_by(&self, workspace: &Workspace, heir: MemoryId) -> Result<Vec<Memory>> {
        let sql = format!(
            "SELECT {MEMORY} FROM memory m WHERE m.workspace = ?1 AND m.superseded_by = ?2"
        );
        self.all(&sql, (workspace.as_str(), heir.to_string()), from_row)
    }

    fn insert_memory(&mut self, memory: &Memory, sequence: u64) -> Result<()> {
        let columns = columns(memory)?;
        let mut names: Vec<&str> = columns.iter().map(|(name, _)| &name[1..]).collect();
        let mut params = by_name(&columns);
        names.push("sequence");
        params.push((":sequence", &sequence));
        let sql =
            format!("INSERT INTO memory ({}) VALUES (:{})", names.join(", "), names.join(", :"));
        self.execute(&sql, &*params)?;
        Ok(())
    }

    fn replace_memory(&mut self, before: &Memory, after: &Memory) -> Result<()> {
        self.execute(
            "INSERT INTO revision (workspace, memory, revision, snapshot) VALUES (?1, ?2, ?3, ?4)",
            (before.workspace.as_str(), before.id.to_string(), before.revision, encoded(before)?),
        )?;
        let columns = columns(after)?;
        let sets: Vec<String> =
            columns.iter().map(|(name, _)| format!("{} = {name}", &name[1..])).collect();
        let sql = format!(
            "UPDATE memory SET {} WHERE workspace = :workspace AND id = :id",
            sets.join(", ")
        );
        self.execute(&sql, &*by_name(&columns))?;
        Ok(())
    }

    fn purge_memory(&mut self, memory: &Memory) -> Result<()> {
        self.forget_mentions(memory)?;
        self.forget_contradictions(memory)?;
        let (workspace, id) = (memory.workspace.as_str(), memory.id.to_string());
        self.execute("DELETE FROM memory WHERE workspace = ?1 AND id = ?2", (workspace, &id))?;
        self.execute(
            "DELETE FROM revision WHERE workspace = ?1 AND memory = ?2",
            (workspace, &id),
        )?;
        let sql = "DELETE FROM handoff_memory WHERE origin = ?1 AND memory = ?2";
        self.execute(sql, (workspace, &id))?;
        // An answer is kept where its caller spoke, which is elsewhere for a memory of `global`.
        self.execute("DELETE FROM answer WHERE instr(answer, ?1)", [&id])?;
        // The event that kept it named its topics.
        self.execute(
            "UPDATE event SET topics = '[]' WHERE workspace = ?1 AND subject = ?2",
            (workspace, &id),
        )?;
        Ok(())
    }

    fn deleted_before(&self, time: Timestamp, limit: u32) -> Result<Vec<Memory>> {
        let sql = format!(
            "SELECT {MEMORY} FROM memory m WHERE m.deleted_at < ?1 ORDER BY m.deleted_at LIMIT ?2"
        );
        self.all(&sql, (time.as_millisecond(), limit), from_row)
    }

    fn changes(&self, workspace: &Workspace, after: u64, limit: u32) -> Result<Vec<Change>> {
        let sql = format!(
            "SELECT {MEMORY}, c.key, c.status, e.sequence, e.subject FROM event e \
             LEFT JOIN memory m ON m.workspace = e.workspace AND m.id = e.subject \
             LEFT JOIN case_log c ON e.kind LIKE 'case.%' AND c.workspace = e.workspace \
                 AND c.key = e.subject \
             WHERE e.workspace = ?1 AND e.sequence > ?2 ORDER BY e.sequence LIMIT ?3"
        );
        self.all(&sql, (workspace.as_str(), after, limit), |row| {
            let gone = row.get_ref(0)?.data_type() == Type::Null;
            Ok(Change {
                sequence: row.get(BESIDE + 2)?,
                subject: row.get(BESIDE + 3)?,
                memory: if gone { None } else { Some(Box::new(from_row(row)?)) },
                case: match maybe(row, BESIDE)? {
                    Some(key) => {
                        Some((key, text::<CaseStatus>(row, BESIDE + 1)? == CaseStatus::Open))
                    }
                    None => None,
                },
            })
        })
    }
}

/// The fingerprint by which a second import knows the memory.
fn imported(memory: &Memory) -> Option<&str> {
    (memory.source.how == Door::Import).then_some(memory.source.sha256.as_str())
}

/// Every column of a memory's row but its number and sequence, as parameters.
fn columns(memory: &Memory) -> Result<Vec<(&'static str, Value)>> {
    let millis = |time: Option<Timestamp>| Value::from(time.map(Timestamp::as_millisecond));
    Ok(vec![
        (":workspace", memory.workspace.to_string().into()),
        (":id", memory.id.to_string().into()),
        (":owner", memory.owner.to_string().into()),
        (":user_id", memory.user_id.clone().into()),
        (":memory_type", memory.memory_type.to_string().into()),
        (":title", memory.title.clone().into()),
        (":text", memory.text.clone().into()),
        (":summary", memory.summary.clone().into()),
        (":topics", encoded(&memory.topics)?.into()),
        (":importance", (memory.importance as i64).into()),
        (":sharing", memory.sharing.to_string().into()),
        (":session", memory.session.clone().into()),
        (":source", encoded(&memory.source)?.into()),
        (":trust", memory.trust.to_string().into()),
        (":metadata", encoded(&memory.metadata)?.into()),
        (":recorded_at", memory.recorded_at.as_millisecond().into()),
        (":revised_at", memory.revised_at.as_millisecond().into()),
        (":revised_by", memory.revised_by.to_string().into()),
        (":revision", i64::try_from(memory.revision).unwrap_or(i64::MAX).into()),
        (":valid_from", millis(memory.valid_from)),
        (":valid_until", millis(memory.valid_until)),
        (":superseded_by", memory.superseded_by.map(|id| id.to_string()).into()),
        (":deleted_at", millis(memory.deleted_at)),
        (":redacted", encoded(&memory.redacted)?.into()),
        (":suspicions", encoded(&memory.suspicions)?.into()),
        (":entities", encoded(&memory.entities)?.into()),
        (":imported", imported(memory).map(str::to_owned).into()),
        (":case_key", memory.case.as_ref().map(ToString::to_string).into()),
        (":review", memory.review.as_ref().map(encoded).transpose()?.into()),
        (":position", memory.position.map(|it| i64::try_from(it).unwrap_or(i64::MAX)).into()),
    ])
}

fn by_name<'c>(columns: &'c [(&'static str, Value)]) -> Vec<(&'c str, &'c dyn ToSql)> {
    columns.iter().map(|(name, value)| (*name, value as &dyn ToSql)).collect()
}

/// The columns that a memory is made of, in the order in which [`from_row`] reads them: looking
/// each one up by its name would take longer than reading it.
pub(super) const MEMORY: &str = "m.id, m.workspace, m.owner, m.user_id, m.memory_type, m.title, m.text, \
    m.summary, m.topics, m.importance, m.sharing, m.session, m.source, m.trust, m.metadata, \
    m.recorded_at, m.revised_at, m.revised_by, m.revision, m.valid_from, m.valid_until, \
    m.superseded_by, m.deleted_at, m.redacted, m.suspicions, m.case_key, m.position, m.entities, m.review";

/// The place of the first column after [`MEMORY`].
pub(super) const BESIDE: usize = 29;

/// A memory out of a row that begins with [`MEMORY`].
pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let millis = |place: usize| row.get::<_, Option<i64>>(place).map(|it| it.map(time));
    Ok(Memory {
        id: text(row, 0)?,
        workspace: text(row, 1)?,
        owner: text(row, 2)?,
        user_id: row.get(3)?,
        memory_type: text(row, 4)?,
        title: row.get(5)?,
        text: row.get(6)?,
        summary: row.get(7)?,
        topics: json(row, 8)?,
        importance: importance(row.get(9)?),
        sharing: text(row, 10)?,
        session: row.get(11)?,
        source: json(row, 12)?,
        trust: text(row, 13)?,
        metadata: json(row, 14)?,
        recorded_at: time(row.get(15)?),
        revised_at: time(row.get(16)?),
        revised_by: text(row, 17)?,
        revision: row.get(18)?,
        valid_from: millis(19)?,
        valid_until: millis(20)?,
        superseded_by: maybe(row, 21)?,
        deleted_at: millis(22)?,
        redacted: json(row, 23)?,
        suspicions: json(row, 24)?,
        case: maybe(row, 25)?,
        position: row.get(26)?,
        entities: json(row, 27)?,
        review: match row.get_ref(28)?.data_type() {
            Type::Null => None,
            _ => Some(json(row, 28)?),
        },
    })
}
