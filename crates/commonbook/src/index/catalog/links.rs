//! Where the vectors of each memory lie, and which memories have none yet.

use fixedbitset::FixedBitSet;

use super::Number;
use crate::index::vectors::Rows;

/// What links memories to their vectors.
#[derive(Debug, Default)]
pub(in crate::index) struct Links {
    rows: Vec<Option<Rows>>,
    /// The memories without one.
    bare: FixedBitSet,
}

impl Links {
    /// Makes room for so many memories more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.rows.reserve(more);
        self.bare.grow(self.rows.len() + more);
    }

    /// Links a memory to its vectors, or to none.
    pub(super) fn set(&mut self, number: Number, rows: Option<Rows>) {
        let place = number as usize;
        if self.rows.len() <= place {
            self.rows.resize(place + 1, None);
            self.bare.grow(self.rows.len());
        }
        self.rows[place] = rows;
        self.bare.set(place, rows.is_none());
    }

    /// Notes that a memory is gone, and needs none.
    pub(super) fn forget(&mut self, number: Number) {
        self.rows[number as usize] = None;
        self.bare.set(number as usize, false);
    }

    /// Where the vectors of a memory lie.
    pub(in crate::index) fn of(&self, number: Number) -> Option<Rows> {
        self.rows[number as usize]
    }

    /// The memories without a vector, those that came last first.
    pub(in crate::index) fn bare(&self) -> impl Iterator<Item = Number> {
        self.bare.ones().rev().map(|place| Number::try_from(place).unwrap_or(Number::MAX))
    }

    /// How many have none.
    pub(in crate::index) fn waiting(&self) -> u64 {
        self.bare.count_ones(..) as u64
    }
}
