//! Arrays as long as the catalog that searches mark and wipe: a search pays for what it marks, not for
//! what the home holds.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Slates that are kept at most while no search uses them.
const SPARE_TABLES_MAX: usize = 16;

/// A value for each number, and which of them are not the default.
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

    /// Changes the value of a number; what is changed once is wiped in the end.
    #[inline]
    pub(super) fn change(&mut self, number: u32, change: impl FnOnce(&mut T)) {
        let value = &mut self.values[number as usize];
        if *value == T::default() {
            self.marked.push(number);
        }
        change(value);
    }

    /// The numbers that were changed, each once, in the order of their first change.
    pub(super) fn marked(&self) -> &[u32] {
        &self.marked
    }

    fn wipe(&mut self) {
        for number in self.marked.drain(..) {
            self.values[number as usize] = T::default();
        }
    }
}

/// Slates that nobody uses now.
#[derive(Debug, Default)]
pub(super) struct ScratchPool<T>(Mutex<Vec<ScratchTable<T>>>);

impl<T: Copy + Default + PartialEq> ScratchPool<T> {
    /// A slate with nothing on it, for numbers below this one.
    pub(super) fn take(&self, end: usize) -> ScratchGuard<'_, T> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut slate = spare.unwrap_or_default();
        if slate.values.len() < end {
            // Some more, so that not each memory that is saved makes it grow.
            slate.values.resize(end + end / 8, T::default());
        }
        ScratchGuard { slate, owner: self }
    }
}

/// A slate in use; it is wiped and given back when it is dropped.
#[derive(Debug)]
pub(super) struct ScratchGuard<'s, T: Copy + Default + PartialEq> {
    slate: ScratchTable<T>,
    owner: &'s ScratchPool<T>,
}

impl<T: Copy + Default + PartialEq> Deref for ScratchGuard<'_, T> {
    type Target = ScratchTable<T>;

    fn deref(&self) -> &ScratchTable<T> {
        &self.slate
    }
}

impl<T: Copy + Default + PartialEq> DerefMut for ScratchGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut ScratchTable<T> {
        &mut self.slate
    }
}

impl<T: Copy + Default + PartialEq> Drop for ScratchGuard<'_, T> {
    fn drop(&mut self) {
        let mut slate = std::mem::take(&mut self.slate);
        slate.wipe();
        let mut spare = self.owner.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE_TABLES_MAX {
            spare.push(slate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_search_marked_the_next_does_not_see() {
        let slates = ScratchPool::<u32>::default();
        let mut slate = slates.take(10);
        slate.change(3, |value| *value = 7);
        slate.change(3, |value| *value += 1);
        slate.change(9, |value| *value = 1);
        assert_eq!((slate.get(3), slate.get(4), slate.marked()), (8, 0, &[3, 9][..]));
        drop(slate);
        let slate = slates.take(400);
        let none = (0..400).all(|number| slate.get(number) == 0);
        assert!(none && slate.marked().is_empty());
    }
}
