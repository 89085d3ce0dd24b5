//! The contract of a store for usage: how often each memory was found, told and used.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::{Sight, StoredMemory};
use crate::model::memory::{MemoryUsage, UsageKind, UsagePosition};
use crate::model::search::MemoryFilter;
use crate::model::search::MemoryRef;
use crate::model::workspace::Workspace;
use crate::prompt::context::ContextRecord;

/// The rows of usage.
pub trait UsageRows {
    /// The usage of these memories in sight, of those that have any.
    fn usage(&self, sight: &Sight, memories: &[MemoryRef])
    -> Result<Vec<(MemoryRef, MemoryUsage)>>;

    /// At most `limit` memories in the first workspace of the sight that the filter admits: those
    /// with the highest count first, of equal counts the newest, starting after `beyond`.
    fn memories_by_usage(
        &self,
        sight: &Sight,
        filter: &MemoryFilter,
        kind: UsageKind,
        beyond: Option<UsagePosition>,
        limit: u32,
    ) -> Result<Vec<(UsagePosition, StoredMemory)>>;

    /// At most `limit` contexts that are not counted yet: for the count, which shows them to no
    /// caller.
    fn uncounted_contexts(&self, limit: u32) -> Result<Vec<ContextRecord>>;

    /// Marks a context as counted.
    fn mark_counted(&mut self, context: &ContextRecord) -> Result<()>;

    /// Adds these counts. A memory that its workspace does not have is looked for in `global`, if
    /// `in_global` allows it; one that is gone is left out.
    fn add_usage(&mut self, counts: &UsageCounts, in_global: bool) -> Result<()>;
}

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
