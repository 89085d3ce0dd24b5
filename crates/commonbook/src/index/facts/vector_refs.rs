//! Where the vectors of each memory lie, and which memories have none yet.

use fixedbitset::FixedBitSet;

use super::MemoryNumber;
use crate::index::vectors::VectorRows;

/// What links memories to their vectors.
#[derive(Debug, Default)]
pub(in crate::index) struct VectorRefs {
    rows: Vec<Option<VectorRows>>,
    /// The memories without one.
    bare: FixedBitSet,
}

impl VectorRefs {
    /// Links a memory to its vectors, or to none.
    pub(super) fn set(&mut self, number: MemoryNumber, rows: Option<VectorRows>) {
        let place = number as usize;
        self.bare.grow(place + 1);
        self.bare.set(place, rows.is_none());
        match self.rows.get_mut(place) {
            Some(there) => *there = rows,
            // Where nothing is embedded there is no place for it either.
            None if rows.is_none() => {}
            None => {
                self.rows.resize(self.bare.len(), None);
                self.rows[place] = rows;
            }
        }
    }

    /// Notes that a memory is gone, and needs none.
    pub(super) fn forget(&mut self, number: MemoryNumber) {
        self.set(number, None);
        self.bare.set(number as usize, false);
    }

    /// Where the vectors of a memory lie.
    #[inline]
    pub(in crate::index) fn of(&self, number: MemoryNumber) -> Option<VectorRows> {
        self.rows.get(number as usize).copied().flatten()
    }

    /// The memories without a vector, those that came last first.
    pub(in crate::index) fn unembedded(&self) -> impl Iterator<Item = MemoryNumber> {
        self.bare
            .ones()
            .rev()
            .map(|place| MemoryNumber::try_from(place).unwrap_or(MemoryNumber::MAX))
    }

    /// How many have none.
    pub(in crate::index) fn unembedded_count(&self) -> u64 {
        self.bare.count_ones(..) as u64
    }
}
