//! What of a memory is asked so often that it lies close together in memory.

use super::CatalogEntry;

/// What is asked of many memories at once, close together in memory.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::index) struct HotFacts {
    /// Numbers of its session, and of the case that it is an entry of; 0 is none.
    pub(in crate::index) session: u32,
    pub(in crate::index) case: u32,
    /// Its length in words, as [`MemoryFacts::length`](super::Facts::length) has it.
    pub(in crate::index) length: f32,
    /// Whether its words are in the tail, and not as the generation has them.
    pub(in crate::index) in_tail: bool,
    /// From when on it holds.
    pub(in crate::index) from: i64,
}

impl HotFacts {
    pub(super) fn of(entry: &CatalogEntry, in_tail: bool) -> Self {
        let (length, from) = (entry.facts.length() as f32, entry.facts.from);
        Self { session: entry.session, case: entry.case, length, in_tail, from }
    }
}
