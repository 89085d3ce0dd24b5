//! The SQL of usage: how often each memory was found, told and used.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Tx;
use super::access::VisibleAudience;
use super::context;
use super::driver::ToSql;
use super::filter::FilterParameters;
use super::row::{encode_json, text, time};
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::{Sight, StoredMemory};
use crate::model::delivery::ContextRecord;
use crate::model::memory::{Memory, MemoryUsage, UsageKind, UsagePosition};
use crate::model::search::{MemoryFilter, MemoryRef};
use crate::model::workspace::Workspace;

/// Counts to add, by memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageCounts(pub BTreeMap<(Workspace, MemoryId), UsageCount>);

/// Counts to add to one memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageCount {
    /// How often it was found.
    pub found: u64,
    /// How often a text told it.
    pub told: u64,
    /// How often it was used.
    pub used: u64,
    /// When a text last told it.
    pub last_told_at: Option<Timestamp>,
}

impl UsageCounts {
    /// Counts a memory once more. `at` counts for [`UsageKind::Told`].
    pub fn add(&mut self, workspace: &Workspace, memory: MemoryId, kind: UsageKind, at: Timestamp) {
        let count = self.0.entry((workspace.clone(), memory)).or_default();
        match kind {
            UsageKind::Found => count.found += 1,
            UsageKind::Used => count.used += 1,
            UsageKind::Told => {
                count.told += 1;
                count.last_told_at = count.last_told_at.max(Some(at));
            }
        }
    }
}

/// The rows of usage.
impl Tx<'_> {
    /// The usage of these memories in sight, of those that have any.
    pub fn usage(
        &self,
        sight: &Sight,
        memories: &[MemoryRef],
    ) -> Result<Vec<(MemoryRef, MemoryUsage)>> {
        let seen = self.seen(sight)?;
        let seen_u = seen.of("u");
        let sql = format!(
            "SELECT u.workspace, u.memory, u.found, u.told, u.used, u.last_told_at \
             FROM json_each(:wanted) w \
             CROSS JOIN usage u ON u.workspace = w.value ->> 0 AND u.memory = w.value ->> 1 \
             WHERE {seen_u}"
        );
        seen.all(&sql, &[(":wanted", &encode_json(&memories)?)], |row| {
            let last_told_at: Option<i64> = row.get(5)?;
            let usage = MemoryUsage::of(row.get(2)?, row.get(3)?, row.get(4)?);
            let usage = MemoryUsage { last_told_at: last_told_at.map(time), ..usage };
            Ok(((text(row, 0)?, text(row, 1)?), usage))
        })
    }

    /// At most `limit` memories in the first workspace of the sight that the filter admits: those
    /// with the highest count first, of equal counts the newest, starting after `beyond`.
    pub fn memories_by_usage(
        &self,
        sight: &Sight,
        filter: &MemoryFilter,
        kind: UsageKind,
        beyond: Option<UsagePosition>,
        limit: u32,
    ) -> Result<Vec<(UsagePosition, StoredMemory)>> {
        let filter = FilterParameters::of(filter);
        let from = beyond.unwrap_or(UsagePosition::FIRST);
        let audiences = self.visible_audiences(sight)?;
        let mut places: Vec<(UsagePosition, &VisibleAudience)> = Vec::new();
        for audience in audiences.iter().filter(|audience| filter.admits(audience)) {
            let counted = self.counted_places(audience, &filter, kind, from, limit)?;
            let room = limit.saturating_sub(u32::try_from(counted.len()).unwrap_or(u32::MAX));
            places.extend(counted.into_iter().map(|place| (place, audience)));
            if room > 0 {
                let rest = self.uncounted_places(audience, &filter, kind, from, room)?;
                places.extend(rest.into_iter().map(|place| (place, audience)));
            }
        }
        places.sort_unstable_by_key(|(place, _)| std::cmp::Reverse(*place));
        places.truncate(limit as usize);
        let sequences: Vec<(u64, &VisibleAudience)> =
            places.iter().map(|(place, audience)| (place.sequence, *audience)).collect();
        let found = self.memories_at(&sequences)?.into_iter();
        let place =
            |sequence| places.iter().map(|(place, _)| *place).find(|p| p.sequence == sequence);
        Ok(found.filter_map(|(sequence, memory)| Some((place(sequence)?, memory))).collect())
    }

    /// At most `limit` contexts that are not counted yet: for the count, which shows them to no
    /// caller.
    pub fn uncounted_contexts(&self, limit: u32) -> Result<Vec<ContextRecord>> {
        let sql = "SELECT * FROM context INDEXED BY context_uncounted WHERE counted IS NOT 1 \
                   ORDER BY workspace, id LIMIT ?1";
        self.query_all(sql, [limit], context::from_row)
    }

    /// Marks a context as counted.
    pub fn mark_counted(&mut self, context: &ContextRecord) -> Result<()> {
        let sql = "UPDATE context SET counted = 1 WHERE workspace = ?1 AND id = ?2";
        self.execute(sql, (context.workspace.as_str(), context.id.to_string()))?;
        Ok(())
    }

    /// Adds these counts. A memory that its workspace does not have is looked for in `global`, if
    /// `in_global` allows it; one that is gone is left out.
    pub fn add_usage(&mut self, counts: &UsageCounts, in_global: bool) -> Result<()> {
        let sql = "\
            INSERT INTO usage (workspace, memory, audience, sequence, found, told, used, last_told_at) \
            SELECT m.workspace, m.id, m.audience, m.sequence, ?3, ?4, ?5, ?6 FROM memory m \
            WHERE m.workspace = ?1 AND m.id = ?2 \
            ON CONFLICT (workspace, memory) DO UPDATE SET \
                found = usage.found + excluded.found, told = usage.told + excluded.told, \
                used = usage.used + excluded.used, \
                last_told_at = max(coalesce(usage.last_told_at, excluded.last_told_at), \
                                   coalesce(excluded.last_told_at, usage.last_told_at))";
        let unseen = self.unseen("counts are added to memories, and shown to no caller here");
        for ((workspace, id), count) in &counts.0 {
            let last_told_at = count.last_told_at.map(Timestamp::as_millisecond);
            let places = if in_global { workspace.with_global() } else { vec![workspace.clone()] };
            for workspace in places {
                let added = unseen.execute(
                    sql,
                    (
                        workspace.as_str(),
                        id.to_string(),
                        count.found,
                        count.told,
                        count.used,
                        last_told_at,
                    ),
                )?;
                if added > 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Tx<'_> {
    /// The places after `from` in one audience of memories with a count.
    fn counted_places(
        &self,
        audience: &VisibleAudience,
        filter: &FilterParameters<'_>,
        kind: UsageKind,
        from: UsagePosition,
        limit: u32,
    ) -> Result<Vec<UsagePosition>> {
        if from.count == 0 {
            return Ok(Vec::new());
        }
        let seen = self.seen_in(audience);
        let (seen_u, seen_m, wanted, name) =
            (seen.of("u"), seen.of("m"), filter.sql(), kind.name());
        let sql = format!(
            "SELECT u.{name}, u.sequence FROM usage u INDEXED BY usage_{name} \
             CROSS JOIN memory m ON m.workspace = u.workspace AND m.id = u.memory \
             WHERE {seen_u} AND u.{name} > 0 AND (u.{name}, u.sequence) < (:count, :from) \
                 AND {seen_m} AND m.workspace = :workspace AND {wanted} \
             ORDER BY u.{name} DESC, u.sequence DESC LIMIT :limit"
        );
        self.places(&seen, &sql, audience, filter, from, limit)
    }

    /// The places after `from` in one audience of memories without a count: the newest first.
    fn uncounted_places(
        &self,
        audience: &VisibleAudience,
        filter: &FilterParameters<'_>,
        kind: UsageKind,
        from: UsagePosition,
        limit: u32,
    ) -> Result<Vec<UsagePosition>> {
        // All memories with a count come before the first one without.
        let from = if from.count > 0 { UsagePosition::FIRST } else { from };
        let seen = self.seen_in(audience);
        let (seen_u, seen_m, wanted, name) =
            (seen.of("u"), seen.of("m"), filter.sql(), kind.name());
        let index = filter.index();
        let sql = format!(
            "SELECT 0, m.sequence FROM memory m INDEXED BY {index} \
             WHERE m.workspace = :workspace AND {seen_m} AND {wanted} \
                 AND m.sequence < :from \
                 AND NOT EXISTS (SELECT 1 FROM usage u WHERE u.workspace = m.workspace \
                     AND u.memory = m.id AND {seen_u} AND u.{name} > 0) \
             ORDER BY m.sequence DESC LIMIT :limit"
        );
        self.places(&seen, &sql, audience, filter, from, limit)
    }

    fn places(
        &self,
        seen: &super::rows::VisibleRows<'_>,
        sql: &str,
        audience: &VisibleAudience,
        filter: &FilterParameters<'_>,
        from: UsagePosition,
        limit: u32,
    ) -> Result<Vec<UsagePosition>> {
        let name = audience.workspace().as_str();
        let bounded = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (count, sequence) = (bounded(from.count), bounded(from.sequence));
        let mut params = filter.parameters();
        params.extend::<[(&str, &dyn ToSql); 4]>([
            (":workspace", &name),
            (":count", &count),
            (":from", &sequence),
            (":limit", &limit),
        ]);
        seen.all(sql, &params, |row| {
            Ok(UsagePosition { count: row.get(0)?, sequence: row.get(1)? })
        })
    }

    /// Moves the usage of a memory to the audience that reads it now.
    pub(super) fn move_usage(&self, memory: &Memory, audience: i64) -> Result<()> {
        let unseen = self.unseen("a verb has judged the memory whose usage moves");
        let sql = "UPDATE usage SET audience = ?3 WHERE workspace = ?1 AND memory = ?2";
        unseen.execute(sql, (memory.workspace.as_str(), memory.id.to_string(), audience))?;
        Ok(())
    }

    /// Removes the usage of a memory.
    pub(super) fn forget_usage(&self, workspace: &Workspace, memory: &str) -> Result<()> {
        let unseen = self.unseen("a verb has judged the memory that it removes");
        let sql = "DELETE FROM usage WHERE workspace = ?1 AND memory = ?2";
        unseen.execute(sql, (workspace.as_str(), memory))?;
        Ok(())
    }
}
