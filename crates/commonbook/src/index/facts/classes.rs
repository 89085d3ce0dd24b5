//! Classes of memories: the facts that all members share, the members, and the audience.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::audiences::AudienceTable;
use super::authors::ClassAuthors;
use super::{MemoryClass, MemoryNumber};
use crate::index::facts::interner::NameInterner;
use crate::model::access::{Audience, Sight};

/// Word counts of all memories of a class, for ranking.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::index) struct LengthStatistics {
    pub(in crate::index) memories: u64,
    /// The sum of their lengths in words.
    pub(in crate::index) words: f64,
}

impl LengthStatistics {
    pub(in crate::index) fn add(&mut self, other: &Self) {
        self.memories += other.memories;
        self.words += other.words;
    }
}

/// The class of a memory, with the memory's length.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassMembership {
    pub(super) class: u32,
    pub(super) length: f32,
}

/// The classes by number.
#[derive(Debug, Default)]
pub(in crate::index) struct ClassTable {
    all: Vec<MemoryClass>,
    /// The number of each class in `all`.
    numbers: HashTable<u32>,
    /// Keyed per process: agents choose the names in classes.
    hasher: RandomState,
    /// The workspace of each class.
    workspaces: Vec<u32>,
    /// The audience of each class.
    audience_of: Vec<u32>,
    sums: Vec<LengthStatistics>,
    /// The memories of each audience, mostly in the order of their numbers, so that a scan reads
    /// their vectors sequentially.
    members: Vec<Vec<MemoryNumber>>,
    /// The index of each memory among the members of its audience.
    places: Vec<u32>,
    audiences: AudienceTable,
    authors: ClassAuthors,
}

impl ClassTable {
    /// The number of a class.
    pub(super) fn number(&mut self, class: MemoryClass, workspaces: &mut NameInterner) -> u32 {
        let Self { all, numbers, hasher, .. } = self;
        let hash = hasher.hash_one(&class);
        let same = |number: &u32| all[*number as usize] == class;
        if let Some(number) = numbers.find(hash, same) {
            return *number;
        }
        let number = u32::try_from(all.len()).unwrap_or(u32::MAX);
        numbers.insert_unique(hash, number, |number| hasher.hash_one(&all[*number as usize]));
        let workspace = workspaces.intern(class.visibility.workspace.as_str());
        let audience = self.audiences.enrol(Audience::of(&class.visibility), workspace, number);
        self.workspaces.push(workspace);
        self.audience_of.push(audience);
        self.authors.push(class.visibility.owner.as_str());
        self.sums.push(LengthStatistics::default());
        if self.members.len() <= audience as usize {
            self.members.push(Vec::new());
        }
        self.all.push(class);
        number
    }

    /// Adds a memory of this length to a class.
    pub(super) fn add_member(&mut self, class: u32, number: MemoryNumber, length: f32) {
        let members = &mut self.members[self.audience_of[class as usize] as usize];
        let place = number as usize;
        if self.places.len() <= place {
            self.places.resize(place + 1, 0);
        }
        self.places[place] = u32::try_from(members.len()).unwrap_or(u32::MAX);
        members.push(number);
        self.count(class, length, 1);
    }

    /// Moves a memory to another class, with its length in each; it keeps its index if the audience
    /// stays.
    pub(super) fn move_member(
        &mut self,
        number: MemoryNumber,
        before: ClassMembership,
        after: ClassMembership,
    ) {
        if self.audience(before.class) == self.audience(after.class) {
            self.count(before.class, before.length, -1);
            self.count(after.class, after.length, 1);
        } else {
            self.remove_member(before.class, number, before.length);
            self.add_member(after.class, number, after.length);
        }
    }

    /// Removes a memory of this length from its class.
    pub(super) fn remove_member(&mut self, class: u32, number: MemoryNumber, length: f32) {
        let members = &mut self.members[self.audience_of[class as usize] as usize];
        let place = self.places[number as usize];
        members.swap_remove(place as usize);
        if let Some(moved) = members.get(place as usize) {
            self.places[*moved as usize] = place;
        }
        self.count(class, length, -1);
    }

    fn count(&mut self, class: u32, length: f32, sign: i64) {
        let sums = &mut self.sums[class as usize];
        let (by, length) = (sign as f64, f64::from(length));
        sums.memories = sums.memories.wrapping_add_signed(sign);
        sums.words += by * length;
        self.audiences.count(self.audience_of[class as usize], sign);
    }

    /// Reserves capacity for this many memories.
    pub(super) fn reserve(&mut self, memories: usize) {
        self.places.resize(memories.max(self.places.len()), 0);
    }

    /// The number of classes.
    pub(in crate::index) fn len(&self) -> usize {
        self.all.len()
    }

    /// The shared facts of a class.
    pub(in crate::index) fn class(&self, class: u32) -> &MemoryClass {
        &self.all[class as usize]
    }

    /// The number of a class's workspace.
    pub(in crate::index) fn workspace(&self, class: u32) -> u32 {
        self.workspaces[class as usize]
    }

    /// The audience of a class.
    pub(in crate::index) fn audience(&self, class: u32) -> u32 {
        self.audience_of[class as usize]
    }

    /// The word counts of a class.
    pub(in crate::index) fn sums(&self, class: u32) -> &LengthStatistics {
        &self.sums[class as usize]
    }

    /// The memories of an audience.
    pub(in crate::index) fn members(&self, audience: u32) -> &[MemoryNumber] {
        &self.members[audience as usize]
    }

    /// The number of memories in all classes.
    pub(in crate::index) fn memories(&self) -> u64 {
        self.sums.iter().map(|sums| sums.memories).sum()
    }

    /// The prefix of the audience's terms in the index.
    pub(in crate::index) fn key(&self, audience: u32) -> &str {
        self.audiences.key(audience)
    }

    /// The classes of an audience.
    pub(in crate::index) fn of_audience(&self, audience: u32) -> &[u32] {
        self.audiences.classes(audience)
    }

    /// As [`AudienceTable::admitted`].
    pub(super) fn admitted(&self, sight: &Sight, workspaces: &NameInterner) -> Vec<(u32, u32)> {
        self.audiences.admitted(sight, workspaces)
    }

    /// Whether one of these words names the author of a class.
    pub(in crate::index) fn is_author_named(&self, class: u32, words: &[String]) -> bool {
        self.authors.is_named(class, words)
    }
}
