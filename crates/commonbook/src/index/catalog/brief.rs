//! What of an entry is asked so often that it lies close together in memory.

use super::Entry;

/// What is asked of many memories at once, close together in memory.
#[derive(Debug, Clone, Copy)]
pub(in crate::index) struct Brief {
    pub(in crate::index) session: u32,
    pub(in crate::index) case: u32,
    pub(in crate::index) length: f32,
    pub(in crate::index) in_tail: bool,
    /// From when on it holds.
    pub(in crate::index) from: i64,
}

impl Brief {
    pub(super) fn of(entry: &Entry) -> Self {
        let length = entry.facts.length() as f32;
        let (session, in_tail, from) = (entry.session, entry.in_tail, entry.facts.from);
        Self { session, case: entry.case, length, in_tail, from }
    }
}
