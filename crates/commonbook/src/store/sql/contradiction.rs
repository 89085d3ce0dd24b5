//! The SQL of contradictions.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Tx;
use super::driver::ToSql;
use super::follower::{JournalLag, JournalScope};
use super::memory::{self, MEMORY_COLUMNS};
use super::row::{encode_json, json, text};
use super::rows::VisibleRows;
use crate::base::error::Result;
use crate::base::id::{ContradictionId, MemoryId};
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::contradiction::{
    Contradiction, ContradictionMark, ContradictionRecord, ContradictionStatus, PairRelation,
    RepeatedPair, pair_texts,
};
use crate::model::memory::{Memory, Sharing};
use crate::model::search::MemoryRef;
use crate::model::workspace::Workspace;

/// A filter for contradictions.
#[derive(Debug, Clone, Default)]
pub struct ContradictionFilter {
    /// Open or resolved ones; both if this is `None`.
    pub status: Option<ContradictionStatus>,
    /// Contradictions of this memory.
    pub memory: Option<MemoryId>,
    /// At least one of the two memories has one of these topics, in lower case.
    pub topics: Vec<String>,
    /// Contradictions before this position.
    pub before: Option<u64>,
}

/// The follower whose position is that of the contradictions.
const CONTRADICTION_FOLLOWER: &str = "contradictions";

/// Why the comparison reads memories in no sight.
const FOLLOWER_READS: &str = "a follower of the journal shows nothing but in a sight";

/// The index of contradictions by the audiences of both memories.
pub(super) const CONTRADICTION_INDEX: &str = "contradiction_order";

/// Whether a row `c` between `m` and `q` is visible: both are at the compared revisions and, while
/// it is open, both are current.
const SHOWN_CONDITION: &str = "\
    c.older_revision = m.revision AND c.newer_revision = q.revision \
    AND m.deleted_at IS NULL AND q.deleted_at IS NULL AND (c.resolved OR ( \
        m.superseded_by IS NULL AND q.superseded_by IS NULL \
        AND m.archived_at IS NULL AND q.archived_at IS NULL \
        AND m.retraction IS NULL AND q.retraction IS NULL \
        AND m.trust <> 'quarantined' AND q.trust <> 'quarantined'))";

/// The visible rows `c`, with `m` and `q`, and the permission rule on both, found by this index. It
/// begins with the audiences of both memories, or with one memory and the audience of the other.
pub(super) fn shown_rows(seen: &VisibleRows<'_>, index: &str) -> String {
    let (seen_m, seen_q) = (seen.of("m"), seen.of("q"));
    let (older, newer) = (seen.among("c.older_audience"), seen.among("c.newer_audience"));
    format!(
        "contradiction c INDEXED BY {index} \
         CROSS JOIN memory q ON q.workspace = c.workspace AND q.id = c.newer AND {seen_q} \
         CROSS JOIN memory m ON m.workspace = c.workspace AND m.id = c.older AND {seen_m} \
         AND {older} AND {newer} AND {SHOWN_CONDITION}"
    )
}

/// The row of a pair: the workspace, both ids in order, and the hash of both texts.
fn judged_row<'m>(a: &'m Memory, b: &Memory) -> (&'m str, String, String, String) {
    let ([first, second], texts) = pair_texts(a, b);
    (a.workspace.as_str(), first.to_string(), second.to_string(), texts)
}

/// What `said` of a pair is that says the same.
const SAID_REPEATED: &str = "repeats";

/// The beginning of `said` where an answer about a pair merges nothing.
const ANSWERED_PREFIX: &str = "answered ";

/// What a memory `m` fulfils that can contradict another one now.
const CURRENT_CONDITION: &str = "m.deleted_at IS NULL AND m.superseded_by IS NULL \
    AND m.archived_at IS NULL AND m.retraction IS NULL AND m.trust <> 'quarantined'";

/// Shared audiences, and audiences of single agents, whose memories are compared with one memory.
const AUDIENCES_BESIDE: u32 = 50;

/// The newest memories of a single agent that are compared with one that many read: the hidden ones of one agent
/// take no place of others.
const OWN_CANDIDATES: u32 = 5;

/// Which memories are looked up by their claims.
pub(super) struct ClaimFilter<'c> {
    /// Their workspace.
    pub(super) workspace: &'c Workspace,
    /// The keys, one of which each has.
    pub(super) keys: &'c [i64],
    /// Their owner, if it is one.
    pub(super) owner: Option<&'c Agent>,
    /// A memory that does not count.
    pub(super) except: Option<MemoryId>,
    /// A condition on `m`.
    pub(super) condition: &'c str,
    /// How many of each audience and key.
    pub(super) limit: u32,
}

impl Tx<'_> {
    /// The memories `m` that fulfil a condition, newest first: of each of these audiences and each of these keys
    /// at most `limit`. What others keep in other audiences costs no step.
    pub(super) fn memories_with_claims(
        &self,
        audiences: impl IntoIterator<Item = i64>,
        claims: &ClaimFilter<'_>,
    ) -> Result<BTreeMap<Reverse<u64>, StoredMemory>> {
        let ClaimFilter { workspace, keys, owner, except, condition, limit } = claims;
        let audiences: Vec<i64> = audiences.into_iter().collect();
        let mut found: BTreeMap<Reverse<u64>, StoredMemory> = BTreeMap::new();
        if audiences.is_empty() || keys.is_empty() {
            return Ok(found);
        }
        let claimed = |audience: &str, key: &str| {
            format!(
                "FROM claim c INDEXED BY claim_seen \
                 CROSS JOIN memory m ON m.workspace = ?1 AND m.sequence = c.sequence \
                 WHERE c.audience = {audience} AND c.key = {key} AND (?2 IS NULL OR m.owner = ?2) \
                 AND (?3 IS NULL OR m.id <> ?3) AND {condition}"
            )
        };
        // Most keys are those of no other memory: one statement finds the pairs that are.
        let (audience, key) = ("CAST(a.value AS BIGINT)", "CAST(k.value AS BIGINT)");
        let pairs = format!(
            "SELECT {audience}, {key} FROM json_each(?4) a CROSS JOIN json_each(?5) k \
             WHERE EXISTS (SELECT 1 {})",
            claimed(audience, key)
        );
        let newest = format!(
            "SELECT {MEMORY_COLUMNS}, c.sequence {} ORDER BY c.sequence DESC LIMIT ?6",
            claimed("?4", "?5")
        );
        let (workspace, owner) = (workspace.as_str(), owner.map(ToString::to_string));
        let except = except.map(|id| id.to_string());
        let unseen = self.unseen("the audiences are those of a sight, or a follower reads them");
        let asked = (workspace, &owner, &except, encode_json(&audiences)?, encode_json(keys)?);
        let pairs: Vec<(i64, i64)> =
            unseen.all(&pairs, asked, |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (audience, key) in pairs {
            let params = (workspace, &owner, &except, audience, key, *limit);
            found.extend(unseen.all(&newest, params, |row| {
                Ok((Reverse(row.get(memory::MEMORY_COLUMN_COUNT)?), memory::from_row(row)?))
            })?);
        }
        Ok(found)
    }

    /// The audiences of a workspace that a sight belongs to.
    pub(super) fn audiences_of(&self, sight: &Sight, workspace: &Workspace) -> Result<Vec<i64>> {
        let visible = self.visible_audiences(sight)?;
        let here = visible.iter().filter(|audience| audience.workspace() == workspace);
        Ok(here.map(|audience| audience.number).collect())
    }

    /// Moves the claims of a memory to its new audience.
    pub(super) fn move_claims(&self, memory: &Memory, sequence: u64, audience: i64) -> Result<()> {
        let unseen = self.unseen("a verb has judged the memory whose claims it moves");
        unseen.execute(
            "UPDATE claim SET audience = ?3 WHERE workspace = ?1 AND sequence = ?2",
            (memory.workspace.as_str(), sequence, audience),
        )?;
        Ok(())
    }

    /// Removes the contradictions of a memory.
    pub(super) fn forget_contradictions(&self, memory: &Memory) -> Result<()> {
        self.execute(
            "DELETE FROM contradiction WHERE workspace = ?1 AND (older = ?2 OR newer = ?2)",
            (memory.workspace.as_str(), memory.id.to_string()),
        )?;
        self.execute(
            "DELETE FROM judged_pair WHERE workspace = ?1 AND (first = ?2 OR second = ?2)",
            (memory.workspace.as_str(), memory.id.to_string()),
        )?;
        Ok(())
    }

    /// Removes the keys of a memory's claims.
    pub(super) fn forget_claims(&self, memory: &Memory) -> Result<()> {
        let unseen = self.unseen("a verb has judged the memory whose claims it forgets");
        unseen.execute(
            "DELETE FROM claim WHERE workspace = ?1 AND sequence = \
             (SELECT sequence FROM memory WHERE workspace = ?1 AND id = ?2)",
            (memory.workspace.as_str(), memory.id.to_string()),
        )?;
        Ok(())
    }

    /// Moves the contradictions of a memory to its new audience.
    pub(super) fn move_contradictions(&self, memory: &Memory, audience: i64) -> Result<()> {
        for side in ["older", "newer"] {
            let sql = format!(
                "UPDATE contradiction SET {side}_audience = ?3 WHERE workspace = ?1 AND {side} = ?2"
            );
            self.execute(&sql, (memory.workspace.as_str(), memory.id.to_string(), audience))?;
        }
        Ok(())
    }

    /// Records what an agent says of a pair.
    fn put_said(
        &self,
        workspace: &str,
        [first, second]: [String; 2],
        texts_sha256: &str,
        said: &str,
        by: &Agent,
    ) -> Result<()> {
        let sql = "INSERT INTO judged_pair (workspace, first, second, texts, said, said_by) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (workspace, first, second) DO UPDATE SET texts = excluded.texts, \
             said = excluded.said, said_by = excluded.said_by";
        self.execute(sql, (workspace, first, second, texts_sha256, said, by.to_string()))?;
        Ok(())
    }

    /// These contradictions with their memories, if both are in sight.
    fn with_both_memories(
        &self,
        sight: &Sight,
        kept: Vec<(u64, ContradictionRecord)>,
    ) -> Result<Vec<(u64, ContradictionRecord, StoredMemory, StoredMemory)>> {
        let place = |kept: &ContradictionRecord, id: MemoryId| (kept.workspace.clone(), id);
        let places: Vec<MemoryRef> = kept
            .iter()
            .flat_map(|(_, record)| record.memories.map(|(id, _)| place(record, id)))
            .collect();
        let memories = self.memories_of(sight, &places)?;
        let by_place: BTreeMap<MemoryRef, StoredMemory> = memories
            .into_iter()
            .map(|memory| ((memory.workspace.clone(), memory.id), memory))
            .collect();
        let whole = kept.into_iter().filter_map(|(sequence, kept)| {
            let [older, newer] = kept.memories.map(|(id, _)| by_place.get(&place(&kept, id)));
            Some((sequence, kept.clone(), older?.clone(), newer?.clone()))
        });
        Ok(whole.collect())
    }
}

/// The rows of contradictions. A reader sees one if it sees both memories, as long as both are at
/// the revisions that were compared and neither is deleted; an open one only while both are
/// current.
impl Tx<'_> {
    /// At most `limit` contradictions in sight, newest first, each with its position.
    pub fn contradictions(
        &self,
        sight: &Sight,
        wanted: &ContradictionFilter,
        limit: u32,
    ) -> Result<Vec<(u64, Contradiction)>> {
        let about = |row: &str| {
            format!(
                "EXISTS (SELECT 1 FROM json_each({row}.topics) t \
                 WHERE commonbook_lower(t.value) IN (SELECT value FROM json_each(:topics)))"
            )
        };
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT c.sequence, c.contradiction FROM {} \
             WHERE (:status IS NULL OR c.resolved = :status) \
             AND (:memory IS NULL OR :memory IN (c.older, c.newer)) \
             AND (:topics IS NULL OR {} OR {}) \
             AND c.sequence < :before ORDER BY c.sequence DESC LIMIT :limit",
            shown_rows(&seen, CONTRADICTION_INDEX),
            about("m"),
            about("q"),
        );
        let status = wanted.status.map(|status| status == ContradictionStatus::Resolved);
        let memory = wanted.memory.map(|id| id.to_string());
        let topics =
            (!wanted.topics.is_empty()).then(|| encode_json(&wanted.topics)).transpose()?;
        let before =
            wanted.before.map_or(i64::MAX, |position| i64::try_from(position).unwrap_or(i64::MAX));
        let more: [(&str, &dyn ToSql); 5] = [
            (":status", &status),
            (":memory", &memory),
            (":topics", &topics),
            (":before", &before),
            (":limit", &limit),
        ];
        let kept = seen.all(&sql, &more, |row| Ok((row.get(0)?, json(row, 1)?)))?;
        let visible = self.with_both_memories(sight, kept)?.into_iter();
        Ok(visible
            .map(|(sequence, kept, older, newer)| {
                (sequence, kept.into_contradiction(&older, &newer))
            })
            .collect())
    }

    /// At most `limit` ids of contradictions in sight that have this ending.
    pub fn contradiction_ids_ending(
        &self,
        sight: &Sight,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<ContradictionId>> {
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT c.id FROM {} WHERE substr(c.id, -length(:ending)) = :ending \
             ORDER BY c.id LIMIT :limit",
            shown_rows(&seen, CONTRADICTION_INDEX)
        );
        seen.all(&sql, &[(":ending", &ending), (":limit", &limit)], |row| text(row, 0))
    }

    /// The contradiction with this id in sight, with its memories, the older one first.
    pub fn contradiction(
        &self,
        sight: &Sight,
        id: ContradictionId,
    ) -> Result<Option<(ContradictionRecord, StoredMemory, StoredMemory)>> {
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT c.sequence, c.contradiction FROM {} \
             WHERE c.workspace IN (SELECT value FROM json_each(:workspaces)) AND c.id = :id",
            shown_rows(&seen, "sqlite_autoindex_contradiction_1")
        );
        let id = id.to_string();
        let kept = seen.all(&sql, &[(":id", &id)], |row| Ok((row.get(0)?, json(row, 1)?)))?;
        let visible = self.with_both_memories(sight, kept)?.into_iter().next();
        Ok(visible.map(|(_, kept, older, newer)| (kept, older, newer)))
    }

    /// The number of open contradictions in sight.
    pub fn contradiction_count(&self, sight: &Sight) -> Result<u64> {
        let seen = self.seen(sight)?;
        let sql = format!(
            "SELECT count(*) FROM {} WHERE NOT c.resolved",
            shown_rows(&seen, CONTRADICTION_INDEX)
        );
        let count = seen.first(&sql, &[], |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }

    /// The pairs of these memories that are in an open contradiction in sight.
    pub fn contradicting_pairs(
        &self,
        sight: &Sight,
        among: &[MemoryRef],
    ) -> Result<Vec<(MemoryId, MemoryId)>> {
        let seen = self.seen(sight)?;
        // From the memories to their contradictions, not through all contradictions.
        let sql = format!(
            "SELECT c.older, c.newer FROM json_each(:among) w CROSS JOIN {} \
             WHERE c.workspace = w.value ->> 0 AND c.older = w.value ->> 1 AND NOT c.resolved \
             AND EXISTS (SELECT 1 FROM json_each(:among) o \
                 WHERE o.value ->> 0 = c.workspace AND o.value ->> 1 = c.newer)",
            shown_rows(&seen, "contradiction_older")
        );
        let among = encode_json(&among)?;
        seen.all(&sql, &[(":among", &among)], |row| Ok((text(row, 0)?, text(row, 1)?)))
    }

    /// The marks of these memories: their contradictions in sight that are open or that were
    /// resolved by a context, newest first.
    pub fn contradiction_marks(
        &self,
        sight: &Sight,
        among: &[MemoryRef],
    ) -> Result<Vec<ContradictionMark>> {
        let seen = self.seen(sight)?;
        let among = encode_json(&among)?;
        let mut marks: Vec<(u64, ContradictionMark)> = Vec::new();
        // From the memories to their contradictions, not through all contradictions.
        for (side, other, index) in [
            ("older", "q.owner", "contradiction_older"),
            ("newer", "m.owner", "contradiction_newer_seen"),
        ] {
            let sql = format!(
                "SELECT c.contradiction, {other}, c.sequence FROM json_each(:among) w \
                 CROSS JOIN {} WHERE c.workspace = w.value ->> 0 AND c.{side} = w.value ->> 1 \
                 AND (NOT c.resolved \
                     OR c.contradiction ->> '$.resolved.resolution' = 'keep_both')",
                shown_rows(&seen, index)
            );
            let found = seen.all(&sql, &[(":among", &among)], |row| {
                Ok((json::<ContradictionRecord>(row, 0)?, text(row, 1)?, row.get(2)?))
            })?;
            marks.extend(found.into_iter().map(|(record, owner, sequence)| {
                let [older, newer] = record.memories.map(|(id, _)| id);
                let (memory, other) = if side == "older" { (older, newer) } else { (newer, older) };
                let (contradiction, status) = (record.id, record.status());
                let (found_by, stated_by) = (record.found.found_by, record.found.stated_by);
                let context = record.resolved.and_then(|resolved| resolved.context);
                let mark = ContradictionMark {
                    contradiction,
                    memory,
                    other,
                    owner,
                    status,
                    found_by,
                    stated_by,
                    context,
                };
                (sequence, mark)
            }));
        }
        marks.sort_by_key(|(sequence, _)| std::cmp::Reverse(*sequence));
        Ok(marks.into_iter().map(|(_, mark)| mark).collect())
    }

    /// The contradictions of this memory, in sight or not, each with the present state of the other
    /// memory: for the follower of the journal, which shows them to no caller.
    pub fn contradictions_of(
        &self,
        memory: &Memory,
    ) -> Result<Vec<(ContradictionRecord, StoredMemory)>> {
        // Left to itself SQLite reads every contradiction of the workspace, in the order of the key.
        let sql = format!(
            "SELECT {MEMORY_COLUMNS}, c.contradiction FROM \
             (SELECT * FROM contradiction INDEXED BY contradiction_of \
                  WHERE workspace = ?1 AND older = ?2 \
              UNION SELECT * FROM contradiction INDEXED BY contradiction_newer \
                  WHERE workspace = ?1 AND newer = ?2) c \
             CROSS JOIN memory m ON m.workspace = c.workspace AND m.id IN (c.older, c.newer) \
             WHERE m.id <> ?2 ORDER BY c.id"
        );
        let params = (memory.workspace.as_str(), memory.id.to_string());
        self.unseen(FOLLOWER_READS).all(&sql, params, |row| {
            Ok((json(row, memory::MEMORY_COLUMN_COUNT)?, memory::from_row(row)?))
        })
    }

    /// Stores the keys of a memory's claims, replacing earlier ones.
    pub fn put_claims(&mut self, memory: &Memory, keys: &[i64]) -> Result<()> {
        if memory.revision > 1 {
            self.forget_claims(memory)?;
        }
        let unseen = self.unseen("what is derived from a memory shows no caller what it finds");
        unseen.execute(
            "INSERT INTO claim (workspace, sequence, key, audience) \
             SELECT m.workspace, m.sequence, CAST(k.value AS BIGINT), m.audience \
             FROM memory m CROSS JOIN json_each(?3) k WHERE m.workspace = ?1 AND m.id = ?2 \
             ON CONFLICT (workspace, sequence, key) DO UPDATE SET audience = excluded.audience",
            (memory.workspace.as_str(), memory.id.to_string(), encode_json(&keys)?),
        )?;
        Ok(())
    }

    /// Whether the keys of this memory are stored, with who sees it. Every memory has one.
    pub fn has_claims(&self, memory: &Memory) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM claim WHERE workspace = ?1 AND audience <> 0 AND sequence = \
             (SELECT sequence FROM memory WHERE workspace = ?1 AND id = ?2))";
        let params = (memory.workspace.as_str(), memory.id.to_string());
        let found = self.unseen(FOLLOWER_READS).first(sql, params, |row| row.get(0))?;
        Ok(found.unwrap_or(false))
    }

    /// At most `limit` current memories of a workspace in sight that have one of these keys, newest first; of
    /// this owner alone if there is one.
    pub fn memories_claiming(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        keys: &[i64],
        owner: Option<&Agent>,
        limit: u32,
    ) -> Result<Vec<StoredMemory>> {
        let claims = ClaimFilter {
            workspace,
            keys,
            owner,
            except: None,
            condition: CURRENT_CONDITION,
            limit,
        };
        let found = self.memories_with_claims(self.audiences_of(sight, workspace)?, &claims)?;
        Ok(found.into_values().take(limit as usize).collect())
    }

    /// Current memories that have one of these keys, and that some reader may see beside this memory, newest
    /// first: at most `limit` of those that many read, and a few of each agent's own. For the follower of the
    /// journal, which shows them to no caller.
    pub fn memories_beside(
        &self,
        memory: &Memory,
        keys: &[i64],
        limit: u32,
    ) -> Result<Vec<StoredMemory>> {
        let workspace = &memory.workspace;
        let (except, condition) = (Some(memory.id), CURRENT_CONDITION);
        let claims = ClaimFilter { workspace, keys, owner: None, except, condition, limit };
        let unseen = self.unseen(FOLLOWER_READS);
        let user = &memory.user_id;
        let many = "SELECT number FROM audience INDEXED BY audience_shared \
             WHERE workspace = ?1 AND quarantined = FALSE AND sharing = 'shared' \
             AND (user_id IS NULL OR ?2 IS NULL OR user_id = ?2) ORDER BY owner <> '', number DESC LIMIT ?3";
        let many: Vec<i64> =
            unseen.all(many, (workspace.as_str(), user, AUDIENCES_BESIDE), |row| row.get(0))?;
        let shared = self.memories_with_claims(many, &claims)?;
        let shared = shared.into_iter().take(limit as usize);
        // Nobody but its owner sees a private memory beside others.
        let is_private = memory.sharing == Sharing::Private;
        let owner = is_private.then(|| memory.owner.to_string());
        let own = "SELECT number FROM audience INDEXED BY audience_shared \
             WHERE workspace = ?1 AND quarantined = FALSE AND sharing = 'private' \
             AND (user_id IS NULL OR ?2 IS NULL OR user_id = ?2) AND (?4 IS NULL OR owner = ?4) \
             ORDER BY number DESC LIMIT ?3";
        let params = (workspace.as_str(), user, AUDIENCES_BESIDE, owner);
        let own: Vec<i64> = unseen.all(own, params, |row| row.get(0))?;
        let few = ClaimFilter { limit: if is_private { limit } else { OWN_CANDIDATES }, ..claims };
        let all: BTreeMap<_, _> = shared.chain(self.memories_with_claims(own, &few)?).collect();
        Ok(all.into_values().collect())
    }

    /// At most `limit` current memories, in sight or not, of this one's type about the same user or
    /// about none: the newest of each other owner. For the follower of the journal, which shows
    /// them to no caller. Empty for types other than `profile` and `task_context`.
    pub fn other_authors(&self, memory: &Memory, limit: u32) -> Result<Vec<StoredMemory>> {
        // The index leads from one owner to the next and to the newest memory of each, not through
        // all.
        let next = "SELECT min(m.owner) FROM memory m INDEXED BY memory_profile \
             WHERE m.workspace = ?1 AND m.memory_type = ?2 \
             AND m.memory_type IN ('profile', 'task_context') AND m.user_id IS ?3 AND m.owner > ?4";
        let newest = format!(
            "SELECT {MEMORY_COLUMNS} FROM memory m INDEXED BY memory_profile \
             WHERE m.workspace = ?1 AND m.memory_type = ?2 \
             AND m.memory_type IN ('profile', 'task_context') AND m.user_id IS ?3 AND m.owner = ?4 \
             AND m.deleted_at IS NULL AND m.superseded_by IS NULL AND m.archived_at IS NULL \
             AND m.retraction IS NULL \
             AND m.trust <> 'quarantined' \
             ORDER BY m.revised_at DESC, m.sequence DESC LIMIT 1"
        );
        let (workspace, kind) = (memory.workspace.as_str(), memory.memory_type.as_str());
        let unseen = self.unseen(FOLLOWER_READS);
        let mut owner = String::new();
        let mut others = Vec::new();
        for _ in 0..=limit {
            let params = (workspace, kind, &memory.user_id, &owner);
            let found: Option<Option<String>> = unseen.first(next, params, |row| row.get(0))?;
            let Some(found) = found.flatten() else { break };
            owner = found;
            if owner != memory.owner.as_str() {
                let params = (workspace, kind, &memory.user_id, &owner);
                others.extend(unseen.first(&newest, params, memory::from_row)?);
            }
        }
        others.truncate(limit as usize);
        Ok(others)
    }

    /// Stores a contradiction, replacing that of the same two memories, if both are still at the
    /// revisions that were compared; returns whether they are. A new one gets this position.
    pub fn put_contradiction(&mut self, kept: &ContradictionRecord, sequence: u64) -> Result<bool> {
        let [(older, older_revision), (newer, newer_revision)] = kept.memories;
        let reason = "a contradiction is kept only while its memories are as they were compared";
        let kept_rows = self.unseen(reason).execute(
            "INSERT INTO contradiction (workspace, id, sequence, older, older_revision, newer, \
             newer_revision, resolved, contradiction, older_audience, newer_audience) \
             SELECT ?1, ?2, ?3, o.id, o.revision, n.id, n.revision, ?8, ?9, o.audience, n.audience \
             FROM memory o CROSS JOIN memory n ON n.workspace = o.workspace \
             WHERE o.workspace = ?1 AND o.id = ?4 AND o.revision = ?5 \
             AND n.id = ?6 AND n.revision = ?7 \
             ON CONFLICT (workspace, id) DO UPDATE SET older = excluded.older, \
             older_revision = excluded.older_revision, newer = excluded.newer, \
             newer_revision = excluded.newer_revision, resolved = excluded.resolved, \
             contradiction = excluded.contradiction, older_audience = excluded.older_audience, \
             newer_audience = excluded.newer_audience",
            (
                kept.workspace.as_str(),
                kept.id.to_string(),
                sequence,
                older.to_string(),
                older_revision,
                newer.to_string(),
                newer_revision,
                kept.status() == ContradictionStatus::Resolved,
                encode_json(kept)?,
            ),
        )?;
        Ok(kept_rows > 0)
    }

    /// Drops a contradiction.
    pub fn drop_contradiction(&mut self, workspace: &Workspace, id: ContradictionId) -> Result<()> {
        let sql = "DELETE FROM contradiction WHERE workspace = ?1 AND id = ?2";
        self.execute(sql, (workspace.as_str(), id.to_string()))?;
        Ok(())
    }

    /// Whether something was said of these two memories, at their present texts, other than that they
    /// contradict each other: by an endpoint, or by an agent.
    pub fn is_judged(&self, a: &Memory, b: &Memory) -> Result<bool> {
        let (workspace, first, second, texts) = judged_row(a, b);
        let sql = "SELECT EXISTS (SELECT 1 FROM judged_pair \
             WHERE workspace = ?1 AND first = ?2 AND second = ?3 AND texts = ?4)";
        let found = self.query_all(sql, (workspace, first, second, texts), |row| row.get(0))?;
        Ok(found.first().copied().unwrap_or(false))
    }

    /// Records that an endpoint said that both can hold.
    pub fn put_judged(&mut self, a: &Memory, b: &Memory) -> Result<()> {
        let sql = "INSERT INTO judged_pair (workspace, first, second, texts) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (workspace, first, second) DO UPDATE SET texts = excluded.texts, \
             said = excluded.said, said_by = excluded.said_by";
        self.execute(sql, judged_row(a, b))?;
        Ok(())
    }

    /// Records that an agent says of two memories that they are neither contrary nor the same, or that they
    /// say the same although it may change neither.
    pub fn put_answered(
        &mut self,
        a: &Memory,
        b: &Memory,
        said: PairRelation,
        by: &Agent,
    ) -> Result<()> {
        let (workspace, first, second, texts) = judged_row(a, b);
        let said = format!("{ANSWERED_PREFIX}{said}");
        self.put_said(workspace, [first, second], &texts, &said, by)
    }

    /// At most `limit` open contradictions of a workspace that this agent stated, in sight or not, newest
    /// first: for the limit of its statements, which shows them to no caller.
    pub fn statements_of(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        limit: u32,
    ) -> Result<Vec<ContradictionRecord>> {
        let sql = "SELECT c.contradiction FROM contradiction c WHERE c.workspace = ?1 \
             AND NOT c.resolved AND c.contradiction ->> '$.found.stated_by' = ?2 \
             ORDER BY c.sequence DESC LIMIT ?3";
        self.query_all(sql, (workspace.as_str(), agent.to_string(), limit), |row| json(row, 0))
    }

    /// Records that two memories of a workspace were said to say the same, by an agent that may change one.
    pub fn put_repeated(&mut self, workspace: &Workspace, pair: &RepeatedPair) -> Result<()> {
        let RepeatedPair { memories: [first, second], texts_sha256, said_by } = pair;
        let ids = [first.to_string(), second.to_string()];
        self.put_said(workspace.as_str(), ids, texts_sha256, SAID_REPEATED, said_by)
    }

    /// The pairs of a workspace that were said to say the same, in sight or not: for a consolidation, which
    /// reads their memories in a sight.
    pub fn repeated_pairs(&self, workspace: &Workspace) -> Result<Vec<RepeatedPair>> {
        let sql = "SELECT first, second, texts, said_by FROM judged_pair \
             WHERE workspace = ?1 AND said = ?2 ORDER BY first, second";
        self.query_all(sql, (workspace.as_str(), SAID_REPEATED), |row| {
            Ok(RepeatedPair {
                memories: [text(row, 0)?, text(row, 1)?],
                texts_sha256: row.get(2)?,
                said_by: text(row, 3)?,
            })
        })
    }

    /// The position up to which contradictions follow a journal with this revision of the rules.
    pub fn contradictions_position(&self, workspace: &Workspace, rules: u32) -> Result<u64> {
        self.follower_position(CONTRADICTION_FOLLOWER, workspace, rules)
    }

    /// The journals in this scope that are ahead of their contradictions, by workspace.
    pub fn contradictions_behind(
        &self,
        scope: &JournalScope,
        rules: u32,
    ) -> Result<Vec<JournalLag>> {
        self.follower_lags(CONTRADICTION_FOLLOWER, scope, rules)
    }

    /// Records the position up to which contradictions follow a journal.
    pub fn set_contradictions_position(
        &mut self,
        workspace: &Workspace,
        rules: u32,
        place: u64,
    ) -> Result<()> {
        self.set_follower_position(CONTRADICTION_FOLLOWER, workspace, rules, place)
    }
}
