//! What a transaction cost its engine, as the engine counts it.

use std::ops::Add;

/// Steps of an engine: they depend on the rows that a question meets, and on nothing else, so that two
/// homes can be compared that differ in what nobody in sight keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineWork {
    /// Steps of the engine's machine.
    pub steps: u64,
    /// Rows that it went through without an index.
    pub scanned_rows: u64,
    /// Times that it sorted.
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

/// Counting what a transaction costs.
pub trait WorkRows {
    /// What this transaction has cost so far; none where the engine does not count.
    fn work(&self) -> Option<EngineWork>;
}
