//! The number of each memory by workspace and id.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;

use super::MemoryNumber;
use crate::base::id::MemoryId;

/// A lookup key: the number of a workspace, and an id.
pub(super) type CatalogKey = (u32, MemoryId);

/// A hash table of numbers only. The function `key_of` returns the key of a number, which must not
/// change while the number is in the table.
#[derive(Debug, Default)]
pub(super) struct NumberTable(HashTable<MemoryNumber>);

impl NumberTable {
    /// Reserves capacity for more numbers.
    pub(super) fn reserve(&mut self, more: usize, key_of: impl Fn(MemoryNumber) -> CatalogKey) {
        self.0.reserve(more, |number| hash(&key_of(*number)));
    }

    /// The number of a key.
    pub(super) fn get(
        &self,
        key: CatalogKey,
        key_of: impl Fn(MemoryNumber) -> CatalogKey,
    ) -> Option<MemoryNumber> {
        self.0.find(hash(&key), |number| key_of(*number) == key).copied()
    }

    /// The number of a key; inserts this one for a new key, and returns `None`.
    pub(super) fn get_or_insert(
        &mut self,
        key: CatalogKey,
        number: MemoryNumber,
        key_of: impl Fn(MemoryNumber) -> CatalogKey,
    ) -> Option<MemoryNumber> {
        let is_same = |number: &MemoryNumber| key_of(*number) == key;
        match self.0.entry(hash(&key), is_same, |number| hash(&key_of(*number))) {
            Entry::Occupied(existing) => Some(*existing.get()),
            Entry::Vacant(vacant) => {
                vacant.insert(number);
                None
            }
        }
    }

    /// Removes the number of a key.
    pub(super) fn remove(&mut self, key: CatalogKey, number: MemoryNumber) {
        if let Ok(found) = self.0.find_entry(hash(&key), |candidate| *candidate == number) {
            found.remove();
        }
    }
}

fn hash(key: &CatalogKey) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}
