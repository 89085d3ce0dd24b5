//! Hot facts: read for many memories per search, so they lie close together in memory.

use super::CatalogEntry;

/// The facts of one memory that searches read most.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::index) struct HotFacts {
    /// The number of the session, or of the stream, in which other memories stand around it; 0 for
    /// none.
    pub(in crate::index) session: u32,
    /// The number of its case; 0 for none.
    pub(in crate::index) case: u32,
    /// Its length in words, as [`MemoryFacts::length`](super::MemoryFacts::length).
    pub(in crate::index) length: f32,
    /// Whether the delta has its words, and not the generation.
    pub(in crate::index) in_delta: bool,
    /// Whether it addresses somebody.
    pub(in crate::index) addresses: bool,
    /// The start of its validity.
    pub(in crate::index) from: i64,
}

impl HotFacts {
    pub(super) fn of(entry: &CatalogEntry, in_delta: bool) -> Self {
        let (length, from) = (entry.facts.length() as f32, entry.facts.from);
        let (session, case) = (entry.stream, entry.case);
        Self { session, case, length, in_delta, addresses: entry.facts.signals.addresses, from }
    }
}
