//! The number of each memory by its workspace and its id.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::MemoryNumber;
use crate::base::id::MemoryId;

/// What is looked up: the number of a workspace, and an id.
pub(super) type CatalogKey = (u32, MemoryId);

/// Numbers by what they are of. Only the numbers are kept; the key of each is told by `of`, the same
/// for as long as it is here.
#[derive(Debug, Default)]
pub(super) struct NumberTable(HashTable<MemoryNumber>);

impl NumberTable {
    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize, of: impl Fn(MemoryNumber) -> CatalogKey) {
        self.0.reserve(more, |number| hash(&of(*number)));
    }

    /// The number of a key.
    pub(super) fn get(
        &self,
        key: CatalogKey,
        of: impl Fn(MemoryNumber) -> CatalogKey,
    ) -> Option<MemoryNumber> {
        self.0.find(hash(&key), |number| of(*number) == key).copied()
    }

    /// Takes in the number of a key that is not here yet.
    pub(super) fn insert(
        &mut self,
        key: CatalogKey,
        number: MemoryNumber,
        of: impl Fn(MemoryNumber) -> CatalogKey,
    ) {
        self.0.insert_unique(hash(&key), number, |number| hash(&of(*number)));
    }

    /// Takes out the number of a key.
    pub(super) fn remove(&mut self, key: CatalogKey, number: MemoryNumber) {
        if let Ok(found) = self.0.find_entry(hash(&key), |other| *other == number) {
            found.remove();
        }
    }
}

fn hash(key: &CatalogKey) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}
