//! Usage: how often a memory was found, told and used.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::Result;
use crate::base::page::PageCursor;
use commonbook_text::string_enum;

string_enum! {
    /// A way in which a memory reaches a reader.
    UsageKind {
        /// A search returned it.
        Found = "found",
        /// A context, briefing, handoff or resumed session told it.
        Told = "told",
        /// It was opened by its id, or named in a handoff.
        Used = "used",
    }
}

/// How often a memory reached readers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUsage {
    /// `found`, `told` and `used` together.
    pub access_count: u64,
    /// Times that a search returned it.
    pub found: u64,
    /// Times that a context, briefing, handoff or resumed session told it.
    pub told: u64,
    /// Times that it was opened by its id, or named in a handoff.
    pub used: u64,
    /// When a text last told it, to the minute.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_told_at: Option<Timestamp>,
}

impl MemoryUsage {
    /// The usage with these counts.
    #[must_use]
    pub const fn of(found: u64, told: u64, used: u64) -> Self {
        Self { access_count: found + told + used, found, told, used, last_told_at: None }
    }

    /// The usage as a reader sees it: a time to the second could reveal a reader.
    #[must_use]
    pub fn to_the_minute(self) -> Self {
        let minute = |time: Timestamp| {
            Timestamp::from_second(time.as_second() - time.as_second().rem_euclid(60))
                .unwrap_or(time)
        };
        Self { last_told_at: self.last_told_at.map(minute), ..self }
    }
}

/// A position in a list that is sorted by a count: the highest first, of equal counts the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsagePosition {
    /// The count.
    pub count: u64,
    /// The position of the memory in its journal.
    pub sequence: u64,
}

impl UsagePosition {
    /// Before every memory.
    pub const FIRST: Self = Self { count: u64::MAX, sequence: u64::MAX };

    /// The position of a cursor.
    ///
    /// # Errors
    /// `invalid` if the cursor is of another list.
    pub fn of_cursor(cursor: &PageCursor) -> Result<Self> {
        let [count, sequence] = cursor.numbers()?;
        Ok(Self { count, sequence })
    }

    /// The cursor after this position.
    #[must_use]
    pub fn cursor(self) -> PageCursor {
        PageCursor::of(&[self.count, self.sequence])
    }
}
