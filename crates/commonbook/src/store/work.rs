//! The cost of a transaction, as its engine counts it.

use std::ops::Add;

/// Steps of an engine. They depend only on the rows that a query reads, so that two homes can be
/// compared that differ in rows out of everybody's sight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineWork {
    /// Steps of the engine's machine.
    pub steps: u64,
    /// Rows that it read without an index.
    pub scanned_rows: u64,
    /// The number of sorts.
    pub sorts: u64,
}

impl Add for EngineWork {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(more.steps),
            scanned_rows: self.scanned_rows.saturating_add(more.scanned_rows),
            sorts: self.sorts.saturating_add(more.sorts),
        }
    }
}
