//! Hot facts: read for many memories per search, so they lie close together in memory.

use super::CatalogEntry;

/// The facts of one memory that searches read most.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::index) struct HotFacts {
    /// The numbers of its session and its case; 0 for none.
    pub(in crate::index) session: u32,
    pub(in crate::index) case: u32,
    /// Its length in words, as [`MemoryFacts::length`](super::MemoryFacts::length).
    pub(in crate::index) length: f32,
    /// Whether the delta has its words, and not the generation.
    pub(in crate::index) in_delta: bool,
    /// The start of its validity.
    pub(in crate::index) from: i64,
}

impl HotFacts {
    pub(super) fn of(entry: &CatalogEntry, in_delta: bool) -> Self {
        let (length, from) = (entry.facts.length() as f32, entry.facts.from);
        Self { session: entry.session, case: entry.case, length, in_delta, from }
    }
}
