//! The vectors of each memory, and the memories without one.

use fixedbitset::FixedBitSet;

use super::MemoryNumber;
use crate::index::vectors::VectorRows;

/// Links memories to their vectors.
#[derive(Debug, Default)]
pub(in crate::index) struct VectorRefs {
    rows: Vec<Option<VectorRows>>,
    /// The memories without vectors.
    bare: FixedBitSet,
}

impl VectorRefs {
    /// Reserves capacity for this many memories.
    pub(super) fn reserve(&mut self, memories: usize) {
        self.bare.grow(memories);
    }

    /// Links a memory to its vectors, or to none.
    pub(super) fn set(&mut self, number: MemoryNumber, rows: Option<VectorRows>) {
        let place = number as usize;
        self.bare.grow(place + 1);
        self.bare.set(place, rows.is_none());
        match self.rows.get_mut(place) {
            Some(there) => *there = rows,
            // Without vectors no entry is needed.
            None if rows.is_none() => {}
            None => {
                self.rows.resize(self.bare.len().max(place + 1), None);
                self.rows[place] = rows;
            }
        }
    }

    /// Marks a memory as deleted; it needs no vector.
    pub(super) fn forget(&mut self, number: MemoryNumber) {
        self.set(number, None);
        self.bare.set(number as usize, false);
    }

    /// The vectors of a memory.
    #[inline]
    pub(in crate::index) fn of(&self, number: MemoryNumber) -> Option<VectorRows> {
        self.rows.get(number as usize).copied().flatten()
    }

    /// The memories without a vector, newest first.
    pub(in crate::index) fn unembedded(&self) -> impl Iterator<Item = MemoryNumber> {
        self.bare
            .ones()
            .rev()
            .map(|place| MemoryNumber::try_from(place).unwrap_or(MemoryNumber::MAX))
    }

    /// The number of memories without a vector.
    pub(in crate::index) fn unembedded_count(&self) -> u64 {
        self.bare.count_ones(..) as u64
    }
}
