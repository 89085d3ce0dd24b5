//! The SQL of mentions: which memories mention which entities.
//!
//! `CROSS JOIN` fixes the order from a name to its memories: by its own plan SQLite walks all
//! memories of the workspace and tests each for the name.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Tx;
use super::driver::ToSql;
use super::entity::{ENTITY_NAMES, home_workspace};
use super::follower::{JournalLag, JournalScope};
use super::relation::{SOURCE_COLUMNS, memory_source};
use super::row::{encode_json, text, time};
use crate::base::error::Result;
use crate::base::id::{EntityId, MemoryId};
use crate::model::access::{Audience, Sight};
use crate::model::entity::{
    AgentMentions, EntityMention, EntityName, EntityType, MentionLink, NameMention,
};
use crate::model::graph::GraphSource;
use crate::model::memory::Memory;
use crate::model::workspace::Workspace;

/// The follower whose position is that of the mentions.
const MENTION_FOLLOWER: &str = "mentions";

/// The newest memories that decide the spelling of an entity. `+` before the column keeps the
/// engine from walking all mentions in their order.
const SPELLING_MEMORIES_MAX: u32 = 200;

impl Tx<'_> {
    /// Removes the mentions of a memory, and the names without any other mention: a purge leaves
    /// no name of the memory.
    pub(super) fn forget_mentions(&self, memory: &Memory) -> Result<()> {
        let (workspace, id) = (memory.workspace.as_str(), memory.id.to_string());
        let unseen = self.unseen("a verb has judged the memory whose mentions it forgets");
        let names: Vec<(EntityId, i64)> = unseen.all(
            "DELETE FROM mention INDEXED BY mention_memory WHERE workspace = ?1 AND sequence = \
             (SELECT sequence FROM memory WHERE workspace = ?1 AND id = ?2) RETURNING name, audience",
            (workspace, id),
            |row| Ok((text(row, 0)?, row.get(1)?)),
        )?;
        let forget = |(name, audience)| self.forget_name(&memory.workspace, name, audience);
        names.into_iter().try_for_each(forget)
    }

    /// Moves the mentions of a memory from one audience to another, whose readers know the names
    /// then.
    pub(super) fn move_mentions(
        &self,
        memory: &Memory,
        sequence: u64,
        from: i64,
        to: i64,
    ) -> Result<()> {
        let workspace = memory.workspace.as_str();
        let unseen = self.unseen("a verb has judged the memory whose mentions it moves");
        unseen.execute(
            "INSERT OR IGNORE INTO entity_name \
             (workspace, id, audience, session, entity_type, value, normalised, stated) \
             SELECT e.workspace, e.id, ?4, e.session, e.entity_type, n.value, e.normalised, FALSE \
             FROM mention n INDEXED BY mention_memory CROSS JOIN entity_name e \
                 ON e.workspace = n.workspace AND e.id = n.name AND e.audience = ?3 \
             WHERE n.workspace = ?1 AND n.sequence = ?2",
            (workspace, sequence, from, to),
        )?;
        let names: Vec<EntityId> = unseen.all(
            "UPDATE mention INDEXED BY mention_memory SET audience = ?3 \
             WHERE workspace = ?1 AND sequence = ?2 RETURNING name",
            (workspace, sequence, to),
            |row| text(row, 0),
        )?;
        names.into_iter().try_for_each(|name| self.forget_name(&memory.workspace, name, from))
    }

    /// The entity that each of these names redirects to, with its type. Each name is looked up
    /// once, however many memories have it, with an audience that knows it.
    fn entities_by_name(
        &self,
        workspace: &Workspace,
        names: &BTreeMap<&str, i64>,
    ) -> Result<FxHashMap<String, (EntityId, EntityType)>> {
        let sql = "SELECT e.id, ifnull(s.entity, e.id), e.entity_type FROM json_each(?2) w \
             CROSS JOIN entity_name e \
                 ON e.workspace = ?1 AND e.id = w.value ->> 0 \
                 AND e.audience = CAST(w.value ->> 1 AS BIGINT) \
             LEFT JOIN entity_same s ON s.workspace = ?1 AND s.name = e.id";
        let found = self.query_all(
            sql,
            (workspace.as_str(), encode_json(&names.iter().collect::<Vec<_>>())?),
            |row| Ok((row.get(0)?, (text(row, 1)?, text(row, 2)?))),
        )?;
        Ok(found.into_iter().collect())
    }
}

/// The rows of mentions, which are derived from memories.
impl Tx<'_> {
    /// Stores the mentions of this memory, replacing the earlier ones, if it is still at this
    /// revision; returns whether it is.
    pub fn put_mentions(&mut self, memory: &Memory, mentions: &[NameMention]) -> Result<bool> {
        let workspace = memory.workspace.as_str();
        let unseen = self.unseen("what follows the journal shows no caller what it finds");
        let kept: Option<(u64, i64)> = unseen.first(
            "SELECT sequence, audience FROM memory WHERE workspace = ?1 AND id = ?2 AND revision = ?3",
            (workspace, memory.id.to_string(), memory.revision),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let Some((sequence, audience)) = kept else { return Ok(false) };
        let before: Vec<(EntityId, i64)> = unseen.all(
            "DELETE FROM mention INDEXED BY mention_memory \
             WHERE workspace = ?1 AND sequence = ?2 RETURNING name, audience",
            (workspace, sequence),
            |row| Ok((text(row, 0)?, row.get(1)?)),
        )?;
        for mention in mentions {
            self.execute(
                "INSERT OR IGNORE INTO mention \
                 (workspace, name, audience, sequence, value, confidence, count, place) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                (
                    workspace,
                    mention.name.id.to_string(),
                    audience,
                    sequence,
                    &mention.name.value,
                    mention.confidence,
                    mention.count,
                    mention.place,
                ),
            )?;
            self.note_name(&mention.name, audience, false)?;
        }
        // A name without mentions has no row.
        for (name, audience) in before {
            if mentions.iter().all(|mention| mention.name.id != name) {
                self.forget_name(&memory.workspace, name, audience)?;
            }
        }
        Ok(true)
    }

    /// Drops the mentions of an entity, in the memories of these audiences only if any is given.
    /// Its names stay.
    pub fn drop_mentions(
        &mut self,
        workspace: &Workspace,
        id: EntityId,
        audiences: &[Audience],
    ) -> Result<()> {
        let unseen = self.unseen("a verb has judged the deletion of the entity");
        let everywhere = "DELETE FROM mention WHERE workspace = ?1 AND (name = ?2 OR name IN \
             (SELECT s.name FROM entity_same s WHERE s.workspace = ?1 AND s.entity = ?2))";
        if audiences.is_empty() {
            unseen.execute(everywhere, (workspace.as_str(), id.to_string()))?;
        }
        for audience in audiences {
            let number = self.find_audience(audience)?;
            let sql = format!("{everywhere} AND audience = ?3");
            unseen.execute(&sql, (workspace.as_str(), id.to_string(), number))?;
        }
        Ok(())
    }

    /// At most `limit` standing memories in sight that mention an entity, each with its position,
    /// by time, after this position.
    pub fn mentions(
        &self,
        sight: &Sight,
        id: EntityId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<(u64, EntityMention)>> {
        let seen = self.seen(sight)?;
        let (seen_m, seen_n) = (seen.of("m"), seen.of("n"));
        let sql = format!(
            "SELECT {SOURCE_COLUMNS}, m.sequence, m.id, m.recorded_at, n.value, max(n.confidence), \
                 sum(n.count), m.text, n.place \
             FROM mention n \
             CROSS JOIN memory m ON m.workspace = n.workspace AND m.sequence = n.sequence \
             WHERE +n.workspace = :workspace AND n.name IN {ENTITY_NAMES} AND {seen_n} \
             AND n.sequence > :after \
             AND m.deleted_at IS NULL AND {seen_m} \
             GROUP BY m.sequence ORDER BY m.sequence LIMIT :limit"
        );
        let id = id.to_string();
        let more: [(&str, &dyn ToSql); 4] = [
            (":id", &id),
            (":workspace", &home_workspace(sight)),
            (":after", &after),
            (":limit", &limit),
        ];
        seen.all(&sql, &more, |row| {
            let GraphSource { author, origin_note } = memory_source(row)?;
            let whole: String = row.get(9)?;
            let mention = EntityMention {
                memory: text(row, 4)?,
                owner: author,
                origin_note,
                at: time(row.get(5)?),
                value: row.get(6)?,
                confidence: row.get(7)?,
                count: row.get(8)?,
                excerpt: EntityMention::excerpt(&whole, row.get(10)?),
            };
            Ok((row.get(3)?, mention))
        })
    }

    /// The owners of the standing memories in sight that mention an entity, most mentions first.
    pub fn mentioning_agents(&self, sight: &Sight, id: EntityId) -> Result<Vec<AgentMentions>> {
        let seen = self.seen(sight)?;
        let (seen_m, seen_n) = (seen.of("m"), seen.of("n"));
        let sql = format!(
            "SELECT m.owner, count(DISTINCT m.sequence), min(m.recorded_at), max(m.recorded_at) \
             FROM mention n \
             CROSS JOIN memory m ON m.workspace = n.workspace AND m.sequence = n.sequence \
             WHERE +n.workspace = :workspace AND n.name IN {ENTITY_NAMES} AND {seen_n} \
             AND m.deleted_at IS NULL AND {seen_m} \
             GROUP BY m.owner ORDER BY 2 DESC, m.owner"
        );
        let id = id.to_string();
        let more: [(&str, &dyn ToSql); 2] = [(":id", &id), (":workspace", &home_workspace(sight))];
        seen.all(&sql, &more, |row| {
            Ok(AgentMentions {
                agent: text(row, 0)?,
                memories: row.get(1)?,
                first_seen: time(row.get(2)?),
                last_seen: time(row.get(3)?),
            })
        })
    }

    /// The usual name of an entity in the memories in sight: the name and its greatest confidence.
    pub fn usual_name(&self, sight: &Sight, id: EntityId) -> Result<Option<(EntityName, f64)>> {
        let seen = self.seen(sight)?;
        let (seen_m, seen_n) = (seen.of("m"), seen.of("n"));
        let sql = format!(
            "SELECT e.workspace, e.session, e.entity_type, f.value, max(f.confidence), e.normalised \
             FROM (SELECT n.name, n.audience, n.value, n.confidence FROM mention n \
                 CROSS JOIN memory m ON m.workspace = n.workspace AND m.sequence = n.sequence \
                 WHERE +n.workspace = :workspace AND n.name IN {ENTITY_NAMES} AND {seen_n} \
                 AND m.deleted_at IS NULL AND {seen_m} \
                 ORDER BY +n.sequence DESC LIMIT {SPELLING_MEMORIES_MAX}) f \
             CROSS JOIN entity_name e \
                 ON e.workspace = :workspace AND e.id = f.name AND e.audience = f.audience \
             GROUP BY f.value ORDER BY count(*) DESC, f.value LIMIT 1"
        );
        let written = id.to_string();
        let more: [(&str, &dyn ToSql); 2] =
            [(":id", &written), (":workspace", &home_workspace(sight))];
        seen.first(&sql, &more, |row| {
            let name = EntityName {
                id,
                workspace: text(row, 0)?,
                session: row.get(1)?,
                entity_type: text(row, 2)?,
                value: row.get(3)?,
                normalised: row.get(5)?,
            };
            Ok((name, row.get(4)?))
        })
    }

    /// At most `limit` memories of a workspace in sight that mention an entity.
    pub fn mentioning_memories(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        id: EntityId,
        limit: usize,
    ) -> Result<Vec<MemoryId>> {
        let seen = self.seen(sight)?;
        let (seen_m, seen_n) = (seen.of("m"), seen.of("n"));
        let sql = format!(
            "SELECT DISTINCT m.id FROM mention n \
             CROSS JOIN memory m ON m.workspace = n.workspace AND m.sequence = n.sequence \
             WHERE +n.workspace = :workspace AND n.name IN {ENTITY_NAMES} AND {seen_n} \
             AND {seen_m} LIMIT :limit"
        );
        let (workspace, id) = (workspace.as_str(), id.to_string());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let more: [(&str, &dyn ToSql); 3] =
            [(":workspace", &workspace), (":id", &id), (":limit", &limit)];
        seen.all(&sql, &more, |row| text(row, 0))
    }

    /// The entities in sight that these memories of a workspace mention, each pair once.
    pub fn entities_mentioned_in(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        memories: &[MemoryId],
    ) -> Result<Vec<MentionLink>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        let seen = seen.and_unseen("a mention is in the sight of its memory");
        let sql = format!(
            "SELECT j.key, n.name, n.value, m.audience FROM json_each(:memories) j \
             CROSS JOIN memory m ON m.workspace = :workspace AND m.id = j.value AND {seen_m} \
             CROSS JOIN mention n INDEXED BY mention_memory \
                 ON n.workspace = :workspace AND n.sequence = m.sequence"
        );
        let (home, wanted) = (workspace.as_str(), encode_json(&memories)?);
        let more: [(&str, &dyn ToSql); 2] = [(":workspace", &home), (":memories", &wanted)];
        let found: Vec<(usize, String, String, i64)> =
            seen.all(&sql, &more, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        let names: BTreeMap<&str, i64> =
            found.iter().map(|(_, name, _, audience)| (name.as_str(), *audience)).collect();
        let entities = self.entities_by_name(workspace, &names)?;
        let mention = |(place, name, value, _): &(usize, String, String, i64)| {
            let (memory, (entity, entity_type)) = (memories.get(*place)?, entities.get(name)?);
            let value = value.clone();
            Some(MentionLink { memory: *memory, entity: *entity, entity_type: *entity_type, value })
        };
        Ok(found.iter().filter_map(mention).collect())
    }

    /// The position up to which mentions follow a journal with this revision of the rules.
    pub fn mentions_position(&self, workspace: &Workspace, rules: u32) -> Result<u64> {
        self.follower_position(MENTION_FOLLOWER, workspace, rules)
    }

    /// The journals in this scope that are ahead of their mentions, by workspace.
    pub fn mentions_behind(&self, scope: &JournalScope, rules: u32) -> Result<Vec<JournalLag>> {
        self.follower_lags(MENTION_FOLLOWER, scope, rules)
    }

    /// The next `limit` events of a journal after this position: whether any is about a memory,
    /// their number, and the position of the last.
    pub fn next_events(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<(bool, u32, u64)> {
        let sql = "SELECT count(*) FILTER (WHERE f.kind LIKE 'memory.%') > 0, count(*), \
                 ifnull(max(f.sequence), ?2) FROM \
             (SELECT e.kind, e.sequence FROM event e WHERE e.workspace = ?1 AND e.sequence > ?2 \
              ORDER BY e.sequence LIMIT ?3) f";
        let unseen = self.unseen("a follower asks only how far it is behind");
        let news = unseen.first(sql, (workspace.as_str(), after, limit), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        Ok(news.unwrap_or((false, 0, after)))
    }

    /// Records the position up to which mentions follow a journal.
    pub fn set_mentions_position(
        &mut self,
        workspace: &Workspace,
        rules: u32,
        place: u64,
    ) -> Result<()> {
        self.set_follower_position(MENTION_FOLLOWER, workspace, rules, place)
    }
}
