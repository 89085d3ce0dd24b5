//! Sessions: the memories of each session in order of time, by audience.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

use super::MemoryNumber;

/// A strand: the memories of one session with one audience. A search walks only strands of its
/// caller's audiences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StrandKey {
    /// The number of the session, not 0.
    pub(super) session: u32,
    pub(super) audience: u32,
}

/// The number of no strand: that of a memory without a session.
const NO_STRAND: u32 = u32::MAX;

/// The strands by number.
#[derive(Debug, Default)]
pub(super) struct StrandTable {
    numbers: FxHashMap<StrandKey, u32>,
    /// The memories of the strands at opening, strand after strand.
    members: Vec<MemoryNumber>,
    /// The end of each strand in `members`.
    ends: Vec<u32>,
    /// The memories of new and changed strands.
    changed: FxHashMap<u32, Vec<MemoryNumber>>,
    /// The index of each memory in its strand, if the strand is sorted.
    places: Vec<u32>,
    /// The strands that are not sorted.
    unsorted: FxHashSet<u32>,
}

/// The memories around one in its session.
#[derive(Debug, Default)]
pub(in crate::index) struct SessionNeighbours {
    /// Those before it, nearest first, then those after it.
    pub(in crate::index) memories: Vec<SessionNeighbour>,
    /// The number of memories read to find them.
    pub(in crate::index) looked_at: u64,
}

/// A memory that stands around another in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::index) struct SessionNeighbour {
    pub(in crate::index) number: MemoryNumber,
    /// 1 for the next one.
    pub(in crate::index) distance: usize,
    /// Whether it stands before the other.
    pub(in crate::index) is_before: bool,
}

impl StrandTable {
    /// Builds the strands of all memories, each with its strand. Segments do not lie in the order of time, but each is
    /// sorted mostly: a stable sort merges what is.
    pub(super) fn of(
        strands: impl Iterator<Item = Option<StrandKey>>,
        order: impl Fn(&MemoryNumber, &MemoryNumber) -> Ordering,
    ) -> Self {
        let mut sessions = Self::default();
        let mut ends: Vec<u32> = Vec::new();
        // Most memories are in the strand of the previous one.
        let mut last = None;
        let number_of = |strand: Option<StrandKey>| -> u32 {
            let Some(strand) = strand else { return NO_STRAND };
            let number = match last {
                Some((same, number)) if same == strand => number,
                _ => sessions.number(strand),
            };
            last = Some((strand, number));
            match ends.get_mut(number as usize) {
                Some(end) => *end += 1,
                None => ends.push(1),
            }
            number
        };
        let numbers: Vec<u32> = strands.map(number_of).collect();
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        let mut members = vec![0; sum as usize];
        for (number, strand) in (0..).zip(&numbers) {
            // The begin of a strand moves to its end.
            let Some(place) = ends.get_mut(*strand as usize) else { continue };
            members[*place as usize] = number;
            *place += 1;
        }
        let mut places = vec![0; numbers.len()];
        let mut begin = 0;
        for end in &ends {
            let strand = &mut members[begin..*end as usize];
            begin = *end as usize;
            strand.sort_by(&order);
            (0..).zip(strand).for_each(|(place, number)| places[*number as usize] = place);
        }
        Self { members, ends, places, ..sessions }
    }

    /// The number of a strand; assigns one to a new strand.
    fn number(&mut self, strand: StrandKey) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(strand).or_insert(next)
    }

    /// The strands of a session with one of these audiences.
    pub(super) fn strands(&self, session: u32, audiences: &[(u32, u32)]) -> Vec<u32> {
        let number = |audience| self.numbers.get(&StrandKey { session, audience }).copied();
        audiences.iter().filter_map(|(_, audience)| number(*audience)).collect()
    }

    /// The memories of a strand, in order of time.
    pub(super) fn members(&self, strand: u32) -> &[MemoryNumber] {
        match self.changed.get(&strand) {
            Some(members) => members,
            None => opened_members(&self.members, &self.ends, strand),
        }
    }

    fn changed_members(&mut self, strand: StrandKey) -> &mut Vec<MemoryNumber> {
        let strand = self.number(strand);
        self.unsorted.insert(strand);
        let Self { members, ends, .. } = self;
        self.changed.entry(strand).or_insert_with(|| opened_members(members, ends, strand).to_vec())
    }

    /// Adds a memory to a strand, if it has one.
    pub(super) fn file(&mut self, number: MemoryNumber, strand: Option<StrandKey>) {
        if let Some(strand) = strand {
            self.changed_members(strand).push(number);
        }
    }

    /// Removes a memory from its strand, if it has one.
    pub(super) fn unfile(&mut self, number: MemoryNumber, strand: Option<StrandKey>) {
        if let Some(strand) = strand {
            self.changed_members(strand).retain(|other| *other != number);
        }
    }

    /// Sorts the strands that changed.
    pub(super) fn sort_changed(
        &mut self,
        order: impl Fn(&MemoryNumber, &MemoryNumber) -> Ordering,
    ) {
        for strand in std::mem::take(&mut self.unsorted) {
            let Some(members) = self.changed.get_mut(&strand) else { continue };
            members.sort_by(&order);
            for (place, number) in (0..).zip(members) {
                let number = *number as usize;
                if self.places.len() <= number {
                    self.places.resize(number + 1, 0);
                }
                self.places[number] = place;
            }
        }
    }

    /// The admitted memories of these strands around a memory of another strand, nearest first on
    /// each side, with their distance: at most `reach` on each side.
    pub(super) fn neighbours(
        &self,
        number: MemoryNumber,
        own: StrandKey,
        strands: &[u32],
        reach: usize,
        admits: impl Fn(MemoryNumber) -> bool,
        order: impl Fn(&MemoryNumber, &MemoryNumber) -> Ordering,
    ) -> SessionNeighbours {
        let own = self.numbers.get(&own).copied();
        let (mut before, mut after, mut looked_at) = (Vec::new(), Vec::new(), 0);
        for strand in strands {
            let members = self.members(*strand);
            let (place, rest) = if Some(*strand) == own {
                let place = self.places.get(number as usize).map_or(0, |place| *place as usize);
                (place, place + 1)
            } else {
                let place = members.partition_point(|other| order(other, &number).is_lt());
                (place, place)
            };
            let mut admitted = |other: &&MemoryNumber| {
                looked_at += 1;
                admits(**other)
            };
            let near = members[..place].iter().rev().take(NEIGHBOUR_STEPS_MAX);
            before.extend(near.filter(&mut admitted).take(reach));
            let near = members.get(rest..).unwrap_or_default().iter().take(NEIGHBOUR_STEPS_MAX);
            after.extend(near.filter(&mut admitted).take(reach));
        }
        if strands.len() > 1 {
            before.sort_unstable_by(|a, b| order(b, a));
            after.sort_unstable_by(&order);
        }
        let near = |list: Vec<MemoryNumber>, is_before: bool| {
            let list = list.into_iter().take(reach).zip(1..);
            list.map(move |(number, distance)| SessionNeighbour { number, distance, is_before })
        };
        let memories = near(before, true).chain(near(after, false)).collect();
        SessionNeighbours { memories, looked_at }
    }
}

/// The memories of a strand as at opening.
fn opened_members<'m>(
    members: &'m [MemoryNumber],
    ends: &[u32],
    strand: u32,
) -> &'m [MemoryNumber] {
    let strand = strand as usize;
    let Some(end) = ends.get(strand) else { return &[] };
    let begin = strand.checked_sub(1).map_or(0, |before| ends[before]);
    &members[begin as usize..*end as usize]
}

/// Positions of a strand read on each side to find admitted neighbours.
const NEIGHBOUR_STEPS_MAX: usize = 32;
