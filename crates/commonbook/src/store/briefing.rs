//! The contract of a store for briefings: what a session has heard, and what its beginning needs.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::model::access::{Sight, StoredMemory};
use crate::prompt::briefing::{BriefingItem, BriefingKey, BriefingRecord, MemoryCensus};

/// The rows of briefings.
pub trait BriefingRows {
    /// What this session has heard.
    fn briefing(&self, key: &BriefingKey) -> Result<BriefingRecord>;

    /// Records that this session has heard these items, besides earlier ones, and with `position` how far in the
    /// journal. A position never moves back.
    fn record_briefing(
        &mut self,
        key: &BriefingKey,
        position: Option<u64>,
        items: &[BriefingItem],
        at: Timestamp,
    ) -> Result<()>;

    /// Forgets what this session has heard.
    fn forget_briefing(&mut self, key: &BriefingKey) -> Result<()>;

    /// Removes at most `limit` sessions that were briefed last before this time, with their items;
    /// returns the number removed.
    fn drop_briefings(&mut self, before: Timestamp, limit: u32) -> Result<u64>;

    /// At most `limit` current memories in sight that are not quarantined: the most important ones
    /// first, then the newest. Without profiles, task contexts, conversations, handoffs and entries
    /// of cases, and without those about a user that the sight does not work for.
    fn important_memories(&self, sight: &Sight, limit: u32) -> Result<Vec<StoredMemory>>;

    /// The current memories in sight that are not quarantined, counted up to `most` and one, and
    /// their owners.
    fn memory_census(&self, sight: &Sight, most: u64) -> Result<MemoryCensus>;
}
