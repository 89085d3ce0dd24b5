//! The classes of memories: what each has for all of its members, who they are, and its audience.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::audiences::AudienceTable;
use super::authors::ClassAuthors;
use super::{MemoryClass, MemoryNumber};
use crate::index::facts::interner::NameInterner;
use crate::model::access::{Audience, Sight};
use crate::model::search::rank;

/// Words of all memories of one class, for the statistics that ranking needs.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::index) struct LengthStatistics {
    pub(in crate::index) memories: u64,
    /// Their lengths in words.
    pub(in crate::index) plain: f64,
    /// Their lengths as ranking measures them.
    pub(in crate::index) long: f64,
}

impl LengthStatistics {
    pub(in crate::index) fn add(&mut self, other: &Self) {
        self.memories += other.memories;
        self.plain += other.plain;
        self.long += other.long;
    }
}

/// A class that a memory is in, with the memory's length there.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassMembership {
    pub(super) class: u32,
    pub(super) length: f32,
}

/// The classes by their numbers.
#[derive(Debug, Default)]
pub(in crate::index) struct ClassTable {
    all: Vec<MemoryClass>,
    /// The number of each class, which stands in `all`.
    numbers: HashTable<u32>,
    /// What classes are hashed by: strangers choose the names in them.
    hasher: RandomState,
    /// The number of each class's workspace.
    workspaces: Vec<u32>,
    /// The audience of each class.
    audience_of: Vec<u32>,
    sums: Vec<LengthStatistics>,
    /// The memories of each audience. They lie in the order of their numbers as far as they came so:
    /// walked class by class, their vectors would be fetched from all over.
    members: Vec<Vec<MemoryNumber>>,
    /// The place of each memory among the members of its audience.
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
        let workspace = workspaces.intern(class.reach.workspace.as_str());
        let audience = self.audiences.enrol(Audience::of(&class.reach), workspace, number);
        self.workspaces.push(workspace);
        self.audience_of.push(audience);
        self.authors.push(class.reach.owner.as_str());
        self.sums.push(LengthStatistics::default());
        if self.members.len() <= audience as usize {
            self.members.push(Vec::new());
        }
        self.all.push(class);
        number
    }

    /// Takes a memory of this length among the members of a class.
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

    /// Takes a memory from one class to another, with its length in each; who stays in its audience
    /// keeps its place.
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

    /// Takes a memory of this length from the members of its class.
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
        sums.plain += by * length;
        sums.long += by * rank::scoring_length(length);
        self.audiences.count(self.audience_of[class as usize], sign);
    }

    /// Makes room for so many memories.
    pub(super) fn reserve(&mut self, more: usize) {
        self.places.reserve(more);
    }

    /// How many classes there are.
    pub(in crate::index) fn len(&self) -> usize {
        self.all.len()
    }

    /// What the memories of a class have alike.
    pub(in crate::index) fn class(&self, class: u32) -> &MemoryClass {
        &self.all[class as usize]
    }

    /// The number of the workspace of a class.
    pub(in crate::index) fn workspace(&self, class: u32) -> u32 {
        self.workspaces[class as usize]
    }

    /// The audience of a class.
    pub(in crate::index) fn audience(&self, class: u32) -> u32 {
        self.audience_of[class as usize]
    }

    /// The sums of the members of a class.
    pub(in crate::index) fn sums(&self, class: u32) -> &LengthStatistics {
        &self.sums[class as usize]
    }

    /// The memories of an audience.
    pub(in crate::index) fn members(&self, audience: u32) -> &[MemoryNumber] {
        &self.members[audience as usize]
    }

    /// How many memories all classes have.
    pub(in crate::index) fn memories(&self) -> u64 {
        self.sums.iter().map(|sums| sums.memories).sum()
    }

    /// What the words of an audience begin with in the index.
    pub(in crate::index) fn key(&self, audience: u32) -> &str {
        self.audiences.key(audience)
    }

    /// The classes of an audience.
    pub(in crate::index) fn of_audience(&self, audience: u32) -> &[u32] {
        self.audiences.classes(audience)
    }

    /// As [`AudienceTable::verify_token`].
    pub(super) fn admitted(&self, sight: &Sight, workspaces: &NameInterner) -> Vec<(u32, u32)> {
        self.audiences.admitted(sight, workspaces)
    }

    /// Whether one of these words is what the author of a class is called by.
    pub(in crate::index) fn is_author_named(&self, class: u32, words: &[String]) -> bool {
        self.authors.is_named(class, words)
    }
}
