//! The SQL of memories.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Tx;
use super::access::{VisibleAudience, opaque_condition};
use super::driver::{SqlRow, SqlValue, ToSql};
use super::filter::{FilterParameters, path_condition};
use super::row::{encode_json, importance, json, optional_text, text, time};
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::{Audience, Sight, StoredMemory, Visibility};
use crate::model::agent::Agent;
use crate::model::caller::EntryPoint;
use crate::model::case::{CaseKey, CaseStatus};
use crate::model::checkpoint::{EarlierRevision, PurgedRevision};
use crate::model::memory::{
    AdmittedMemory, ListOrder, Memory, MemoryPath, PathPattern, PathPosition, RevisionPurge,
};
use crate::model::search::MemoryFilter;
use crate::model::stats::{MemoryCount, UserRecord};
use crate::model::workspace::Workspace;

/// The subject of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectChange {
    /// The position of the event in its journal.
    pub sequence: u64,
    /// The id of the subject.
    pub subject: String,
    /// The memory with this id, as it is now; `None` if it was purged.
    pub memory: Option<Box<StoredMemory>>,
    /// The case with this key, if the event is about a case, and whether it is open now.
    pub case: Option<(CaseKey, bool)>,
}

/// The stored state of a purged revision. The memory has an empty text, which no other state has.
#[derive(Serialize)]
struct PurgedSnapshot<'r> {
    #[serde(flatten)]
    remains: &'r Memory,
    purged: &'r RevisionPurge,
}

/// What a stored state says of its purge.
#[derive(Deserialize)]
struct SnapshotPurge {
    purged: RevisionPurge,
}

/// The rows of memories.
impl Tx<'_> {
    /// The memory with this id in sight, deleted or not. If several workspaces have one, the first
    /// workspace of the sight counts.
    pub fn memory(&self, sight: &Sight, id: MemoryId) -> Result<Option<StoredMemory>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m INDEXED BY memory_seen_id WHERE {seen_m} AND m.id = :id \
             ORDER BY (SELECT key FROM json_each(:workspaces) WHERE value = m.workspace) LIMIT 1"
        );
        seen.first(&sql, &[(":id", &id.to_string())], from_row)
    }

    /// Those of these memories that are in sight, in this order; `wanted` names each with its
    /// workspace.
    pub fn memories_of(
        &self,
        sight: &Sight,
        wanted: &[(Workspace, MemoryId)],
    ) -> Result<Vec<StoredMemory>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM json_each(:wanted) w \
             CROSS JOIN memory m ON m.workspace = w.value ->> 0 AND m.id = w.value ->> 1 \
             WHERE {seen_m} ORDER BY w.key"
        );
        seen.all(&sql, &[(":wanted", &encode_json(&wanted)?)], from_row)
    }

    /// At most `limit` ids in sight that end in `ending`, each once, in order, deleted or not.
    /// `ending` has at least six letters.
    pub fn memory_ids_ending(
        &self,
        sight: &Sight,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<MemoryId>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT m.id FROM memory m INDEXED BY memory_ending \
             WHERE substr(m.id, -6) = substr(:ending, -6) AND {seen_m} \
                 AND substr(m.id, -length(:ending)) = :ending \
             GROUP BY m.id ORDER BY m.id LIMIT :limit"
        );
        seen.all(&sql, &[(":ending", &ending), (":limit", &limit)], |row| text(row, 0))
    }

    /// The ids in sight that end in the same six letters as another id of `ids`, deleted or not.
    pub fn memory_ids_alike(&self, sight: &Sight, ids: &[MemoryId]) -> Result<Vec<MemoryId>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT DISTINCT m.id FROM json_each(:ids) w \
             CROSS JOIN memory m INDEXED BY memory_ending \
                 ON substr(m.id, -6) = substr(w.value, -6) AND m.id <> w.value \
             WHERE {seen_m}"
        );
        seen.all(&sql, &[(":ids", &encode_json(&ids)?)], |row| text(row, 0))
    }

    /// At most `limit` ids in sight from `first` to `last`, each once, in order, deleted or not.
    pub fn memory_ids(
        &self,
        sight: &Sight,
        first: MemoryId,
        last: MemoryId,
        limit: u32,
    ) -> Result<Vec<MemoryId>> {
        let (first, last) = (first.to_string(), last.to_string());
        let mut ids = BTreeSet::new();
        for audience in &*self.visible_audiences(sight)? {
            let seen = self.seen_in(audience);
            let sql = format!(
                "SELECT m.id FROM memory m INDEXED BY memory_seen_id \
                 WHERE {} AND m.id BETWEEN :first AND :last ORDER BY m.id LIMIT :limit",
                seen.of("m")
            );
            let more: [(&str, &dyn ToSql); 3] =
                [(":first", &first), (":last", &last), (":limit", &limit)];
            let found: Vec<MemoryId> = seen.all(&sql, &more, |row| text(row, 0))?;
            ids.extend(found);
        }
        Ok(ids.into_iter().take(limit as usize).collect())
    }

    /// At most `limit` memories in sight, in this order, each with its position in its journal,
    /// starting after `beyond`.
    pub fn memories(
        &self,
        sight: &Sight,
        filter: &MemoryFilter,
        order: ListOrder,
        beyond: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, StoredMemory)>> {
        let (sign, direction, start) = match order {
            ListOrder::Newest => ("<", "DESC", i64::MAX as u64),
            ListOrder::Oldest => (">", "ASC", 0),
        };
        let filter = FilterParameters::of(filter);
        let (index, wanted) = (filter.index(), filter.sql());
        let from = beyond.unwrap_or(start);
        let audiences = self.visible_audiences(sight)?;
        let mut places: Vec<(u64, &VisibleAudience)> = Vec::new();
        for audience in audiences.iter().filter(|audience| filter.admits(audience)) {
            let name = audience.workspace().as_str();
            let seen = self.seen_in(audience);
            let seen_m = seen.of("m");
            let sql = format!(
                "SELECT m.sequence FROM memory m INDEXED BY {index} WHERE m.workspace = :workspace \
                     AND {seen_m} AND {wanted} AND m.sequence {sign} :from \
                 ORDER BY m.sequence {direction} LIMIT :limit"
            );
            let mut params = filter.parameters();
            params.extend::<[(&str, &dyn ToSql); 3]>([
                (":workspace", &name),
                (":from", &from),
                (":limit", &limit),
            ]);
            let found: Vec<u64> = seen.all(&sql, &params, |row| row.get(0))?;
            places.extend(found.into_iter().map(|place| (place, audience)));
        }
        places.sort_unstable_by(|a, b| match order {
            ListOrder::Newest => b.0.cmp(&a.0),
            ListOrder::Oldest => a.0.cmp(&b.0),
        });
        places.truncate(limit as usize);
        self.memories_at(&places)
    }

    /// The current memories of this owner at a path in sight, those of the first workspace of the sight first,
    /// those about a user first among them.
    pub fn memories_at_path(
        &self,
        sight: &Sight,
        owner: &Agent,
        path: &MemoryPath,
    ) -> Result<Vec<StoredMemory>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m WHERE m.workspace = :workspace AND m.owner = :owner \
                 AND m.path = :path AND m.path IS NOT NULL AND m.deleted_at IS NULL \
                 AND m.superseded_by IS NULL AND {seen_m} ORDER BY coalesce(m.user_id, '') DESC"
        );
        let (owner, path) = (owner.as_str(), path.as_str());
        let mut found = Vec::new();
        for workspace in &sight.workspaces {
            let workspace = workspace.as_str();
            let more: [(&str, &dyn ToSql); 3] =
                [(":workspace", &workspace), (":owner", &owner), (":path", &path)];
            found.extend(seen.all(&sql, &more, from_row)?);
        }
        Ok(found)
    }

    /// The id of another memory that has the place of this one: current, of its workspace, owner and path, and about
    /// the same user; in sight or not.
    pub fn path_holder(&self, memory: &Memory) -> Result<Option<MemoryId>> {
        let Some(path) = &memory.path else { return Ok(None) };
        let sql = "SELECT m.id FROM memory m WHERE m.workspace = ?1 AND m.owner = ?2 AND m.path = ?3 \
                       AND coalesce(m.user_id, '') = ?4 AND m.id <> ?5 AND m.path IS NOT NULL \
                       AND m.deleted_at IS NULL AND m.superseded_by IS NULL";
        let unseen = self.unseen("a write asks only whether its place is free");
        let user = memory.user_id.as_deref().unwrap_or_default();
        let (workspace, owner, id) =
            (memory.workspace.as_str(), memory.owner.as_str(), memory.id.to_string());
        unseen.first(sql, (workspace, owner, path.as_str(), user, id), |row| text(row, 0))
    }

    /// At most `limit` documents in sight that fit the filter and its pattern, in the order of paths, starting
    /// after `beyond`.
    pub fn memories_by_path(
        &self,
        sight: &Sight,
        filter: &MemoryFilter,
        beyond: Option<&PathPosition>,
        limit: u32,
    ) -> Result<Vec<(PathPosition, StoredMemory)>> {
        let filter = FilterParameters::of(filter);
        let wanted = filter.sql();
        let first = PathPosition { path: String::new(), sequence: 0 };
        let from = beyond.unwrap_or(&first);
        let audiences = self.visible_audiences(sight)?;
        let mut places: Vec<(PathPosition, &VisibleAudience)> = Vec::new();
        for audience in audiences.iter().filter(|audience| filter.admits(audience)) {
            let name = audience.workspace().as_str();
            let seen = self.seen_in(audience);
            let seen_m = seen.of("m");
            let sql = format!(
                "SELECT m.path, m.sequence FROM memory m INDEXED BY memory_by_path \
                 WHERE m.workspace = :workspace AND {seen_m} AND {wanted} AND m.path IS NOT NULL \
                     AND (m.path, m.sequence) > (:from_path, :from) \
                 ORDER BY m.path, m.sequence LIMIT :limit"
            );
            let mut params = filter.parameters();
            params.extend::<[(&str, &dyn ToSql); 4]>([
                (":workspace", &name),
                (":from_path", &from.path),
                (":from", &from.sequence),
                (":limit", &limit),
            ]);
            let found: Vec<PathPosition> = seen.all(&sql, &params, |row| {
                Ok(PathPosition { path: row.get(0)?, sequence: row.get(1)? })
            })?;
            places.extend(found.into_iter().map(|place| (place, audience)));
        }
        places.sort_by(|a, b| a.0.cmp(&b.0));
        places.truncate(limit as usize);
        let sequences: Vec<(u64, &VisibleAudience)> =
            places.iter().map(|(place, audience)| (place.sequence, *audience)).collect();
        let found = self.memories_at(&sequences)?.into_iter();
        let positions = places.into_iter().map(|(place, _)| place);
        Ok(positions.zip(found).map(|(position, (_, memory))| (position, memory)).collect())
    }

    /// All memories in sight at a path or below a beginning of one, in whichever state: for a search, which judges
    /// the state itself.
    pub fn memories_matching_path(
        &self,
        sight: &Sight,
        pattern: &PathPattern,
    ) -> Result<Vec<(Workspace, MemoryId)>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let mut conditions = vec!["m.path IS NOT NULL", path_condition(pattern)];
        let owner = pattern.owner.as_ref().map(Agent::as_str);
        let mut more: Vec<(&str, &dyn ToSql)> = vec![(":path", &pattern.path)];
        if owner.is_some() {
            conditions.push("m.owner = :owner");
            more.push((":owner", &owner));
        }
        let sql = format!(
            "SELECT m.workspace, m.id FROM memory m WHERE {seen_m} AND {}",
            conditions.join(" AND ")
        );
        seen.all(&sql, &more, |row| Ok((text(row, 0)?, text(row, 1)?)))
    }

    /// At most `limit` topics of the standing memories in sight that begin with this text in lower
    /// case: most used first, each once whatever its case.
    pub fn topics(&self, sight: &Sight, beginning: &str, limit: u32) -> Result<Vec<String>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT min(t.value) FROM memory m INDEXED BY memory_seen \
             CROSS JOIN json_each(m.topics) t WHERE {seen_m} AND m.deleted_at IS NULL AND m.superseded_by IS NULL \
                 AND m.archived_at IS NULL AND m.retraction IS NULL AND instr(commonbook_lower(t.value), :beginning) = 1 \
             GROUP BY commonbook_lower(t.value) ORDER BY count(*) DESC, 1 LIMIT :limit"
        );
        let more: [(&str, &dyn ToSql); 2] = [(":beginning", &beginning), (":limit", &limit)];
        seen.all(&sql, &more, |row| row.get(0))
    }

    /// Memories in sight, counted by owner and type.
    pub fn counts(&self, sight: &Sight) -> Result<Vec<MemoryCount>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        // Grouped in the order of the index, which spares sorting every row; the few groups of several
        // audiences are added up here.
        let sql = format!(
            "SELECT m.owner, m.memory_type, count(*) - count(m.deleted_at), count(m.deleted_at) \
             FROM memory m INDEXED BY memory_counted WHERE {seen_m} GROUP BY m.audience, 1, 2"
        );
        let mut counts: BTreeMap<(String, String), MemoryCount> = BTreeMap::new();
        let groups = seen.all(&sql, &[], |row| {
            Ok(MemoryCount {
                owner: row.get(0)?,
                memory_type: row.get(1)?,
                standing: row.get(2)?,
                deleted: row.get(3)?,
            })
        })?;
        for group in groups {
            let key = (group.owner.clone(), group.memory_type.clone());
            let (standing, deleted) = (group.standing, group.deleted);
            let count =
                counts.entry(key).or_insert(MemoryCount { standing: 0, deleted: 0, ..group });
            count.standing += standing;
            count.deleted += deleted;
        }
        Ok(counts.into_values().collect())
    }

    /// The users that standing memories in sight are about, by id.
    pub fn users(&self, sight: &Sight) -> Result<Vec<UserRecord>> {
        let seen = self.seen_among(sight, VisibleAudience::is_about_user)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT m.user_id, count(*), min(m.recorded_at), max(m.recorded_at) \
             FROM memory m INDEXED BY memory_seen WHERE {seen_m} AND m.deleted_at IS NULL \
             GROUP BY 1 ORDER BY 1"
        );
        seen.all(&sql, &[], |row| {
            let (first_seen, last_seen) = (time(row.get(2)?), time(row.get(3)?));
            Ok(UserRecord {
                user_id: row.get(0)?,
                memory_count: row.get(1)?,
                first_seen,
                last_seen,
            })
        })
    }

    /// The earlier revisions of this memory in sight, oldest first, without purged ones.
    pub fn earlier_revisions(&self, sight: &Sight, id: MemoryId) -> Result<Vec<StoredMemory>> {
        let log = self.revision_log(sight, id)?.into_iter();
        Ok(log.filter_map(|revision| revision.snapshot).collect())
    }

    /// Every earlier revision of this memory, oldest first. Those out of sight and purged ones have no snapshot.
    pub fn revision_log(&self, sight: &Sight, id: MemoryId) -> Result<Vec<EarlierRevision>> {
        let sql = "SELECT revision, ended, snapshot FROM revision \
                   WHERE workspace = ?1 AND memory = ?2 ORDER BY revision";
        let mut log = Vec::new();
        for workspace in &sight.workspaces {
            let params = [workspace.as_str(), &id.to_string()];
            let unseen = self.unseen("each snapshot is judged by `Sight::sees`, here");
            log.extend(unseen.all(sql, params, |row| earlier_revision(row, sight))?);
        }
        Ok(log)
    }

    /// The earlier revisions of these memories that ended after a position of the journal, or whose
    /// end has no position, by memory and number. Those out of sight and purged ones have no snapshot.
    pub fn revisions_after(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        ids: &[MemoryId],
        position: u64,
    ) -> Result<Vec<EarlierRevision>> {
        let sql = "SELECT r.revision, r.ended, r.snapshot FROM json_each(?2) w \
                   CROSS JOIN revision r ON r.workspace = ?1 AND r.memory = w.value \
                   WHERE r.ended IS NULL OR r.ended > ?3 ORDER BY r.memory, r.revision";
        let unseen = self.unseen("each snapshot is judged by `Sight::sees`, here");
        let params = (workspace.as_str(), encode_json(&ids)?, position);
        unseen.all(sql, params, |row| earlier_revision(row, sight))
    }

    /// The number of current memories in sight that were saved in the filter's session, by its owner
    /// if it has one, before this position.
    pub fn older_session_memories(
        &self,
        sight: &Sight,
        filter: &MemoryFilter,
        before: u64,
    ) -> Result<u64> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let sql = format!(
            "SELECT count(*) FROM memory m INDEXED BY memory_session WHERE {seen_m} \
                 AND m.workspace IN (SELECT value FROM json_each(:workspaces)) \
                 AND m.session = :session AND m.sequence < :before AND m.deleted_at IS NULL \
                 AND m.superseded_by IS NULL AND m.archived_at IS NULL AND m.retraction IS NULL AND m.trust <> 'quarantined' \
                 AND (:owner IS NULL OR m.owner = :owner)"
        );
        let more: [(&str, &dyn ToSql); 3] =
            [(":session", &filter.session), (":before", &before), (":owner", &filter.owner)];
        Ok(seen.first(&sql, &more, |row| row.get(0))?.unwrap_or(0))
    }

    /// Whether the workspace has a memory with this id or this import fingerprint, in sight or not:
    /// this prevents duplicates from a second import.
    pub fn was_imported(&self, memory: &Memory) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM memory WHERE workspace = ?1 AND id = ?2) \
                   OR (?3 IS NOT NULL AND \
                       EXISTS (SELECT 1 FROM memory WHERE workspace = ?1 AND imported = ?3))";
        let params = (memory.workspace.as_str(), memory.id.to_string(), import_fingerprint(memory));
        let unseen = self.unseen("an import asks only whether it ran before");
        Ok(unseen.first(sql, params, |row| row.get(0))?.unwrap_or(false))
    }

    /// The memories of a workspace that this one superseded, in sight or not: they are current
    /// again while it is quarantined.
    pub fn superseded_by(
        &self,
        workspace: &Workspace,
        heir: MemoryId,
    ) -> Result<Vec<StoredMemory>> {
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m WHERE m.workspace = ?1 AND m.superseded_by = ?2"
        );
        let unseen =
            self.unseen("memories return whose heir is quarantined; no caller is shown them");
        unseen.all(&sql, (workspace.as_str(), heir.to_string()), from_row)
    }

    /// Stores a new memory; `sequence` is the position of its event in the journal.
    pub fn insert_memory(&mut self, memory: &AdmittedMemory, sequence: u64) -> Result<()> {
        let columns =
            memory_columns(memory, self.audience_number(&Audience::of(&Visibility::of(memory)))?)?;
        let mut names: Vec<&str> = columns.iter().map(|(name, _)| &name[1..]).collect();
        let mut params = named_parameters(&columns);
        names.push("sequence");
        params.push((":sequence", &sequence));
        let sql =
            format!("INSERT INTO memory ({}) VALUES (:{})", names.join(", "), names.join(", :"));
        self.execute(&sql, &*params)?;
        Ok(())
    }

    /// Replaces `before` by `after`, and keeps `before` as an earlier revision.
    pub fn replace_memory(&mut self, before: &Memory, after: &AdmittedMemory) -> Result<()> {
        self.execute(
            "INSERT INTO revision (workspace, memory, revision, snapshot, ended) \
             VALUES (?1, ?2, ?3, ?4, (SELECT sequence + 1 FROM workspace WHERE name = ?1))",
            (
                before.workspace.as_str(),
                before.id.to_string(),
                before.revision,
                encode_json(before)?,
            ),
        )?;
        self.write_memory_row(after)
    }

    /// Puts a memory back to `before`, the last of its earlier revisions, as if the change had not been
    /// made: the row and the history are equal to those from before it.
    pub fn revert_memory(&mut self, before: &Memory) -> Result<()> {
        let unseen = self.unseen("a verb has judged the memory that it reverts");
        unseen.execute(
            "DELETE FROM revision WHERE workspace = ?1 AND memory = ?2 AND revision = ?3",
            (before.workspace.as_str(), before.id.to_string(), before.revision),
        )?;
        self.write_memory_row(before)
    }

    /// Removes the content of an earlier revision, with what was derived from it and the stored answers about
    /// the memory. `remains` is its state without content.
    pub fn purge_revision(&mut self, remains: &Memory, purge: &RevisionPurge) -> Result<()> {
        let (workspace, id) = (remains.workspace.as_str(), remains.id.to_string());
        let number = remains.revision;
        let unseen = self.unseen("a verb has judged the memory whose revision it removes");
        // The event that wrote it named its topics.
        unseen.execute(
            "UPDATE event SET topics = '[]', topics_salt = NULL WHERE workspace = ?1 AND subject = ?2 \
                 AND sequence = CASE WHEN ?3 = 1 THEN \
                     (SELECT min(e.sequence) FROM event e WHERE e.workspace = ?1 AND e.subject = ?2) \
                     ELSE (SELECT r.ended FROM revision r \
                           WHERE r.workspace = ?1 AND r.memory = ?2 AND r.revision = ?3 - 1) END",
            (workspace, &id, number),
        )?;
        unseen.execute(
            "UPDATE revision SET snapshot = ?4 WHERE workspace = ?1 AND memory = ?2 AND revision = ?3",
            (
                workspace,
                &id,
                number,
                encode_json(&PurgedSnapshot { remains, purged: purge })?,
            ),
        )?;
        self.execute(
            "DELETE FROM handoff_memory WHERE origin = ?1 AND memory = ?2 AND revision = ?3",
            (workspace, &id, number),
        )?;
        self.execute(
            "DELETE FROM contradiction WHERE workspace = ?1 \
                 AND (older = ?2 AND older_revision = ?3 OR newer = ?2 AND newer_revision = ?3)",
            (workspace, &id, number),
        )?;
        self.execute("DELETE FROM answer WHERE instr(answer, ?1) > 0", [&id])?;
        Ok(())
    }

    /// Removes a memory with its earlier revisions and the stored answers about it.
    pub fn purge_memory(&mut self, memory: &Memory) -> Result<()> {
        self.purge_derived(memory)?;
        let (workspace, id) = (memory.workspace.as_str(), memory.id.to_string());
        let audience = self.find_audience(&Audience::of(&Visibility::of(memory)))?;
        let unseen = self.unseen("a verb has judged the memory that it removes");
        unseen.execute("DELETE FROM memory WHERE workspace = ?1 AND id = ?2", (workspace, &id))?;
        if let Some(audience) = audience {
            self.forget_audience(&memory.workspace, audience)?;
        }
        Ok(())
    }

    /// Removes the earlier revisions of a memory, what was derived from it, and the stored answers
    /// about it; the memory stays.
    pub fn purge_derived(&mut self, memory: &Memory) -> Result<()> {
        self.forget_mentions(memory)?;
        self.forget_contradictions(memory)?;
        self.forget_claims(memory)?;
        let (workspace, id) = (memory.workspace.as_str(), memory.id.to_string());
        self.forget_usage(&memory.workspace, &id)?;
        self.forget_knowledge(&memory.workspace, &id)?;
        self.forget_lineage(&memory.workspace, &id)?;
        self.execute(
            "DELETE FROM relation WHERE workspace = ?1 AND (origin = ?2 OR target = ?2)",
            (workspace, &id),
        )?;
        let unseen = self.unseen("a verb has judged the memory that it removes");
        unseen.execute(
            "DELETE FROM revision WHERE workspace = ?1 AND memory = ?2",
            (workspace, &id),
        )?;
        let sql = "DELETE FROM handoff_memory WHERE origin = ?1 AND memory = ?2";
        self.execute(sql, (workspace, &id))?;
        // An answer is stored in the workspace of its caller, which differs for a memory of
        // `global`.
        self.execute("DELETE FROM answer WHERE instr(answer, ?1) > 0", [&id])?;
        // The event that saved it named its topics and its user.
        unseen.execute(
            "UPDATE event SET topics = '[]', topics_salt = NULL, user_id = NULL \
             WHERE workspace = ?1 AND subject = ?2",
            (workspace, &id),
        )?;
        Ok(())
    }

    /// At most `limit` memories of all workspaces that were deleted before this time: for the
    /// sweep, which shows them to no caller.
    pub fn deleted_before(&self, time: Timestamp, limit: u32) -> Result<Vec<StoredMemory>> {
        let sql = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m WHERE m.deleted_at < ?1 ORDER BY m.deleted_at LIMIT ?2"
        );
        let unseen = self.unseen("the sweep shows no caller what it removes");
        unseen.all(&sql, (time.as_millisecond(), limit), from_row)
    }

    /// The subjects, as they are now, of the next `limit` events of a workspace after this
    /// position: for followers of the journal, which show them to callers only through a [`Sight`]. An
    /// opaque document is none: no follower reads it.
    pub fn changes(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<SubjectChange>> {
        let opaque_m = opaque_condition("m");
        let sql = format!(
            "SELECT {MEMORY_COLUMNS}, c.key, c.status, e.sequence, e.subject FROM event e \
             LEFT JOIN memory m ON m.workspace = e.workspace AND m.id = e.subject \
                 AND NOT {opaque_m} \
             LEFT JOIN case_log c ON e.kind LIKE 'case.%' AND c.workspace = e.workspace \
                 AND c.key = e.subject \
             WHERE e.workspace = ?1 AND e.sequence > ?2 ORDER BY e.sequence LIMIT ?3"
        );
        let unseen = self.unseen("a follower of the journal shows nothing but in a sight");
        unseen.all(&sql, (workspace.as_str(), after, limit), |row| {
            let gone = row.is_null(0)?;
            Ok(SubjectChange {
                sequence: row.get(MEMORY_COLUMN_COUNT + 2)?,
                subject: row.get(MEMORY_COLUMN_COUNT + 3)?,
                memory: if gone { None } else { Some(Box::new(from_row(row)?)) },
                case: match optional_text(row, MEMORY_COLUMN_COUNT)? {
                    Some(key) => Some((
                        key,
                        text::<CaseStatus>(row, MEMORY_COLUMN_COUNT + 1)? == CaseStatus::Open,
                    )),
                    None => None,
                },
            })
        })
    }
}

/// A row of an earlier revision, as far as this reader sees it.
fn earlier_revision(row: &SqlRow<'_>, sight: &Sight) -> Result<EarlierRevision> {
    let state: StoredMemory = json(row, "snapshot")?;
    let (memory, revised_at) = (state.id, state.revised_at);
    let (snapshot, purged) = match Some(state).filter(|state| sight.sees(state)) {
        Some(remains) if remains.text.is_empty() => {
            let SnapshotPurge { purged: purge } = json(row, "snapshot")?;
            (None, Some(PurgedRevision { remains, purge }))
        }
        seen => (seen, None),
    };
    let (revision, ended) = (row.get("revision")?, row.get("ended")?);
    Ok(EarlierRevision { memory, revision, revised_at, ended, snapshot, purged })
}

impl Tx<'_> {
    /// Writes the row of a memory, and moves what is derived from it to the audience that reads it.
    fn write_memory_row(&mut self, after: &Memory) -> Result<()> {
        let audience = self.audience_number(&Audience::of(&Visibility::of(after)))?;
        let columns = memory_columns(after, audience)?;
        let sets: Vec<String> =
            columns.iter().map(|(name, _)| format!("{} = {name}", &name[1..])).collect();
        let unseen = self.unseen("a verb has judged the memory that it replaces");
        let left: Option<(u64, i64)> = unseen.first(
            "SELECT sequence, audience FROM memory WHERE workspace = ?1 AND id = ?2",
            (after.workspace.as_str(), after.id.to_string()),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let sql = format!(
            "UPDATE memory SET {} WHERE workspace = :workspace AND id = :id",
            sets.join(", ")
        );
        unseen.execute(&sql, &*named_parameters(&columns))?;
        // Its mentions, contradictions and relations move to the audience that reads it.
        if let Some((sequence, left)) = left.filter(|(_, left)| *left != audience) {
            self.move_mentions(after, sequence, left, audience)?;
            self.move_contradictions(after, audience)?;
            self.move_claims(after, sequence, audience)?;
            self.move_relations(after)?;
            self.move_usage(after, audience)?;
            self.forget_audience(&after.workspace, left)?;
        }
        Ok(())
    }

    /// The memories at these positions of their journals, in this order, each of its audience.
    pub(super) fn memories_at(
        &self,
        places: &[(u64, &VisibleAudience)],
    ) -> Result<Vec<(u64, StoredMemory)>> {
        let mut memories = Vec::with_capacity(places.len());
        for (sequence, audience) in places {
            let name = audience.workspace().as_str();
            let seen = self.seen_in(audience);
            let seen_m = seen.of("m");
            let sql = format!(
                "SELECT {MEMORY_COLUMNS} FROM memory m \
                 WHERE m.workspace = :workspace AND m.sequence = :sequence AND {seen_m}"
            );
            let more: [(&str, &dyn ToSql); 2] = [(":workspace", &name), (":sequence", sequence)];
            let memory = seen.first(&sql, &more, from_row)?;
            memories.extend(memory.map(|memory| (*sequence, memory)));
        }
        Ok(memories)
    }
}

/// The fingerprint by which a second import recognises the memory.
fn import_fingerprint(memory: &Memory) -> Option<&str> {
    (memory.source.how == EntryPoint::Import).then_some(memory.source.sha256.as_str())
}

/// Every column of a memory's row except its number and sequence, as parameters.
fn memory_columns(memory: &Memory, audience: i64) -> Result<Vec<(&'static str, SqlValue)>> {
    let millis = |time: Option<Timestamp>| SqlValue::from(time.map(Timestamp::as_millisecond));
    Ok(vec![
        (":workspace", memory.workspace.to_string().into()),
        (":id", memory.id.to_string().into()),
        (":audience", audience.into()),
        (":owner", memory.owner.to_string().into()),
        (":user_id", memory.user_id.clone().into()),
        (":memory_type", memory.memory_type.to_string().into()),
        (":title", memory.title.clone().into()),
        (":text", memory.text.clone().into()),
        (":summary", memory.summary.clone().into()),
        (":topics", encode_json(&memory.topics)?.into()),
        (":importance", (memory.importance as i64).into()),
        (":sharing", memory.sharing.to_string().into()),
        (":session", memory.session.clone().into()),
        (":source", encode_json(&memory.source)?.into()),
        (":trust", memory.trust.to_string().into()),
        (":metadata", encode_json(&memory.metadata)?.into()),
        (":recorded_at", memory.recorded_at.as_millisecond().into()),
        (":revised_at", memory.revised_at.as_millisecond().into()),
        (":revised_by", memory.revised_by.to_string().into()),
        (":revision", i64::try_from(memory.revision).unwrap_or(i64::MAX).into()),
        (":valid_from", millis(memory.valid_from)),
        (":valid_until", millis(memory.valid_until)),
        (":superseded_by", memory.superseded_by.map(|id| id.to_string()).into()),
        (":deleted_at", millis(memory.deleted_at)),
        (":archived_at", millis(memory.archived_at)),
        (":redacted", encode_json(&memory.redacted)?.into()),
        (":suspicions", encode_json(&memory.suspicions)?.into()),
        (":entities", encode_json(&memory.entities)?.into()),
        (":imported", import_fingerprint(memory).map(str::to_owned).into()),
        (":case_key", memory.case.as_ref().map(ToString::to_string).into()),
        (":review", memory.review.as_ref().map(encode_json).transpose()?.into()),
        (":retraction", memory.retraction.as_ref().map(encode_json).transpose()?.into()),
        (":path", memory.path.as_ref().map(ToString::to_string).into()),
        (
            ":position",
            memory.position.map(|position| i64::try_from(position).unwrap_or(i64::MAX)).into(),
        ),
    ])
}

fn named_parameters<'c>(columns: &'c [(&'static str, SqlValue)]) -> Vec<(&'c str, &'c dyn ToSql)> {
    columns.iter().map(|(name, value)| (*name, value as &dyn ToSql)).collect()
}

/// The columns of a memory, in the order in which [`from_row`] reads them: looking up each
/// by its name would take longer than reading it.
pub(super) const MEMORY_COLUMNS: &str = "m.id, m.workspace, m.owner, m.user_id, m.memory_type, m.title, m.text, \
    m.summary, m.topics, m.importance, m.sharing, m.session, m.source, m.trust, m.metadata, \
    m.recorded_at, m.revised_at, m.revised_by, m.revision, m.valid_from, m.valid_until, \
    m.superseded_by, m.deleted_at, m.redacted, m.suspicions, m.case_key, m.position, m.entities, m.review, \
    m.archived_at, m.retraction, m.path";

/// The index of the first column after [`MEMORY_COLUMNS`].
pub(super) const MEMORY_COLUMN_COUNT: usize = 32;

/// A memory from a row that begins with [`MEMORY_COLUMNS`].
pub(super) fn from_row(row: &SqlRow<'_>) -> Result<StoredMemory> {
    let millis =
        |place: usize| row.get::<_, Option<i64>>(place).map(|milliseconds| milliseconds.map(time));
    Ok(StoredMemory::of(Memory {
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
        superseded_by: optional_text(row, 21)?,
        deleted_at: millis(22)?,
        redacted: json(row, 23)?,
        suspicions: json(row, 24)?,
        case: optional_text(row, 25)?,
        position: row.get(26)?,
        entities: json(row, 27)?,
        review: match row.is_null(28)? {
            true => None,
            false => Some(json(row, 28)?),
        },
        archived_at: millis(29)?,
        retraction: match row.is_null(30)? {
            true => None,
            false => Some(json(row, 30)?),
        },
        path: optional_text(row, 31)?,
        usage: None,
        rests_on: Vec::new(),
        contradictions: Vec::new(),
    }))
}
