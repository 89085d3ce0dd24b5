//! Scratch tables: arrays as long as the catalog that a search marks and then clears. The cost of a
//! search depends on what it marks, not on the size of the home.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Unused tables that are kept.
const SPARE_TABLES_MAX: usize = 16;

/// A value per number, and the numbers with a value other than the default.
#[derive(Debug, Default)]
pub(super) struct ScratchTable<T> {
    values: Vec<T>,
    marked: Vec<u32>,
}

impl<T: Copy + Default + PartialEq> ScratchTable<T> {
    /// The value of a number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> T {
        self.values.get(number as usize).copied().unwrap_or_default()
    }

    /// Changes the value of a number.
    #[inline]
    pub(super) fn change(&mut self, number: u32, change: impl FnOnce(&mut T)) {
        let value = &mut self.values[number as usize];
        if *value == T::default() {
            self.marked.push(number);
        }
        change(value);
    }

    /// The changed numbers, each once, in the order of their first change.
    pub(super) fn marked(&self) -> &[u32] {
        &self.marked
    }

    fn wipe(&mut self) {
        for number in self.marked.drain(..) {
            self.values[number as usize] = T::default();
        }
    }
}

/// The unused tables.
#[derive(Debug, Default)]
pub(super) struct ScratchPool<T>(Mutex<Vec<ScratchTable<T>>>);

impl<T: Copy + Default + PartialEq> ScratchPool<T> {
    /// An empty table for numbers below `end`.
    pub(super) fn take(&self, end: usize) -> ScratchGuard<'_, T> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut table = spare.unwrap_or_default();
        if table.values.len() < end {
            // Some more, so that it need not grow with each saved memory.
            table.values.resize(end + end / 8, T::default());
        }
        ScratchGuard { table, owner: self }
    }
}

/// A table in use; cleared and returned to the pool on drop.
#[derive(Debug)]
pub(super) struct ScratchGuard<'s, T: Copy + Default + PartialEq> {
    table: ScratchTable<T>,
    owner: &'s ScratchPool<T>,
}

impl<T: Copy + Default + PartialEq> Deref for ScratchGuard<'_, T> {
    type Target = ScratchTable<T>;

    fn deref(&self) -> &ScratchTable<T> {
        &self.table
    }
}

impl<T: Copy + Default + PartialEq> DerefMut for ScratchGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut ScratchTable<T> {
        &mut self.table
    }
}

impl<T: Copy + Default + PartialEq> Drop for ScratchGuard<'_, T> {
    fn drop(&mut self) {
        let mut table = std::mem::take(&mut self.table);
        table.wipe();
        let mut spare = self.owner.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE_TABLES_MAX {
            spare.push(table);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_does_not_see_the_marks_of_the_previous_one() {
        let scratch = ScratchPool::<u32>::default();
        let mut table = scratch.take(10);
        table.change(3, |value| *value = 7);
        table.change(3, |value| *value += 1);
        table.change(9, |value| *value = 1);
        assert_eq!((table.get(3), table.get(4), table.marked()), (8, 0, &[3, 9][..]));
        drop(table);
        let table = scratch.take(400);
        let none = (0..400).all(|number| table.get(number) == 0);
        assert!(none && table.marked().is_empty());
    }
}
