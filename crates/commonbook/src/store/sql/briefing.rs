//! The SQL of briefings.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::Tx;
use super::access::VisibleAudience;
use super::driver::ToSql;
use super::memory::{self, MEMORY_COLUMNS};
use crate::base::error::Result;
use crate::model::access::{Audience, Sight, StoredMemory};
use crate::model::delivery::{BriefingItem, BriefingKey, BriefingRecord, MemoryCensus};

/// Current memories, as the index `memory_important` has them.
const CURRENT: &str = "m.deleted_at IS NULL AND m.superseded_by IS NULL AND m.archived_at IS NULL \
    AND m.retraction IS NULL";

/// The rows of briefings.
impl Tx<'_> {
    /// What this session has heard.
    pub fn briefing(&self, key: &BriefingKey) -> Result<BriefingRecord> {
        let sql =
            "SELECT position FROM briefing WHERE workspace = ?1 AND agent = ?2 AND session = ?3";
        let position = self.query_one(sql, params(key), |row| row.get(0))?;
        let sql = "SELECT item, revision FROM briefed_item \
                   WHERE workspace = ?1 AND agent = ?2 AND session = ?3";
        let items = self.query_all(sql, params(key), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(BriefingRecord { position: position.flatten(), items: items.into_iter().collect() })
    }

    /// Records that this session has heard these items, besides earlier ones, and with `position` how far in the
    /// journal. A position never moves back.
    pub fn record_briefing(
        &mut self,
        key: &BriefingKey,
        position: Option<u64>,
        items: &[BriefingItem],
        at: Timestamp,
    ) -> Result<()> {
        let [workspace, agent, session] = params(key);
        self.execute(
            "INSERT INTO briefing (workspace, agent, session, position, at) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (workspace, agent, session) DO UPDATE SET \
                 position = max(coalesce(excluded.position, briefing.position), \
                     coalesce(briefing.position, excluded.position)), \
                 at = excluded.at",
            (workspace, agent, session, position, at.as_millisecond()),
        )?;
        for BriefingItem { id, revision } in items {
            self.execute(
                "INSERT INTO briefed_item (workspace, agent, session, item, revision) \
                 VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (workspace, agent, session, item) \
                 DO UPDATE SET revision = excluded.revision",
                (workspace, agent, session, id, revision),
            )?;
        }
        Ok(())
    }

    /// Forgets what this session has heard.
    pub fn forget_briefing(&mut self, key: &BriefingKey) -> Result<()> {
        for table in ["briefing", "briefed_item"] {
            let sql =
                format!("DELETE FROM {table} WHERE workspace = ?1 AND agent = ?2 AND session = ?3");
            self.execute(&sql, params(key))?;
        }
        Ok(())
    }

    /// Removes at most `limit` sessions that were briefed last before this time, with their items;
    /// returns the number removed.
    pub fn drop_briefings(&mut self, before: Timestamp, limit: u32) -> Result<u64> {
        let old = "SELECT workspace, agent, session FROM briefing WHERE at < ?1 \
                   ORDER BY at, workspace, agent, session LIMIT ?2";
        let mut dropped = 0;
        for table in ["briefed_item", "briefing"] {
            let sql = format!("DELETE FROM {table} WHERE (workspace, agent, session) IN ({old})");
            dropped = self.execute(&sql, (before.as_millisecond(), limit))?;
        }
        Ok(dropped as u64)
    }

    /// At most `limit` current memories in sight that are not quarantined: the most important ones
    /// first, then the newest. Without profiles, task contexts, conversations, handoffs and entries
    /// of cases, and without those about a user that the sight does not work for.
    pub fn important_memories(&self, sight: &Sight, limit: u32) -> Result<Vec<StoredMemory>> {
        let mut memories = Vec::new();
        for audience in self.briefed_audiences(sight)? {
            let seen = self.seen_in(&audience);
            let sql = format!(
                "SELECT {MEMORY_COLUMNS} FROM memory m INDEXED BY memory_important \
                 WHERE {} AND {CURRENT} AND m.case_key IS NULL AND m.memory_type NOT IN \
                     ('profile', 'task_context', 'conversation', 'handoff') \
                 ORDER BY m.importance DESC, m.sequence DESC LIMIT :limit",
                seen.of("m")
            );
            memories.extend(seen.all(&sql, &[(":limit", &limit)], memory::from_row)?);
        }
        memories.sort_by(|a: &StoredMemory, b| {
            b.importance
                .cmp(&a.importance)
                .then(b.recorded_at.cmp(&a.recorded_at))
                .then(b.id.cmp(&a.id))
        });
        memories.truncate(limit as usize);
        Ok(memories)
    }

    /// The current memories in sight that are not quarantined, counted up to `most` and one, and
    /// their owners.
    pub fn memory_census(&self, sight: &Sight, most: u64) -> Result<MemoryCensus> {
        let (mut memories, mut owners) = (0, BTreeSet::new());
        for audience in self.briefed_audiences(sight)? {
            let seen = self.seen_in(&audience);
            let of_m = seen.of("m");
            let room = (most + 1).saturating_sub(memories);
            let sql = format!(
                "SELECT count(*) FROM (SELECT 1 FROM memory m INDEXED BY memory_important \
                 WHERE {of_m} AND {CURRENT} LIMIT :room) found"
            );
            let more: [(&str, &dyn ToSql); 1] = [(":room", &room)];
            memories += seen.first(&sql, &more, |row| row.get::<_, u64>(0))?.unwrap_or(0);
            // Each step seeks the next owner in the index.
            let next =
                format!("SELECT min(m.owner) FROM memory m INDEXED BY memory_owner WHERE {of_m}");
            let sql = format!(
                "WITH RECURSIVE owners (owner) AS ({next} UNION ALL \
                     SELECT ({next} AND m.owner > o.owner) FROM owners o WHERE o.owner IS NOT NULL) \
                 SELECT o.owner FROM owners o WHERE o.owner IS NOT NULL AND EXISTS \
                     (SELECT 1 FROM memory m INDEXED BY memory_owner \
                      WHERE {of_m} AND m.owner = o.owner AND {CURRENT})"
            );
            owners.extend(seen.all(&sql, &[], |row| row.get::<_, String>(0))?);
        }
        Ok(MemoryCensus { memories, agents: owners.len() as u64 })
    }
}

impl Tx<'_> {
    /// The audiences in sight whose memories a briefing may tell of.
    fn briefed_audiences(&self, sight: &Sight) -> Result<Vec<VisibleAudience>> {
        let of_user = |audience: &&VisibleAudience| match &audience.audience {
            Audience::Workspace(_) => true,
            Audience::Visibility(visibility) => {
                visibility.user_id.is_none() || visibility.user_id == sight.user
            }
        };
        let visible = self.visible_audiences(sight)?;
        let told = visible.iter().filter(|audience| !audience.is_quarantined()).filter(of_user);
        Ok(told.cloned().collect())
    }
}

/// The parameters of a key.
fn params(key: &BriefingKey) -> [&str; 3] {
    [key.workspace.as_str(), key.agent.as_str(), &key.session]
}
