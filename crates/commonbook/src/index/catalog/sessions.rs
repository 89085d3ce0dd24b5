//! Which memories stand together in a session, in the order of time.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Brief, Number};

/// The sessions by their numbers.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// The memories of the sessions that the index was opened with, session after session.
    members: Vec<Number>,
    /// Where in `members` those of each session end.
    ends: Vec<u32>,
    /// The memories of what is new or has changed since.
    changed: FxHashMap<u32, Vec<Number>>,
    /// The place of each memory in its session, where that is in order.
    places: Vec<u32>,
    /// Those that are not in order.
    unsorted: FxHashSet<u32>,
}

impl Sessions {
    /// The sessions of all these memories; all numbers of sessions are below `end`.
    pub(super) fn of(
        brief: &[Brief],
        end: usize,
        order: impl Fn(&Number, &Number) -> Ordering,
    ) -> Self {
        let mut ends = vec![0_u32; end];
        brief.iter().for_each(|brief| ends[brief.session as usize] += 1);
        // No session at all has the number 0.
        ends[0] = 0;
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        let mut members = vec![0; sum as usize];
        for (number, brief) in (0..).zip(brief).filter(|(_, brief)| brief.session != 0) {
            // Where a session begins comes to be where it ends.
            let place = &mut ends[brief.session as usize];
            members[*place as usize] = number;
            *place += 1;
        }
        let mut places = vec![0; brief.len()];
        let mut begin = 0;
        for end in &ends {
            let session = &mut members[begin..*end as usize];
            begin = *end as usize;
            if !session.is_sorted_by(|a, b| order(a, b).is_le()) {
                session.sort_unstable_by(&order);
            }
            (0..).zip(session).for_each(|(place, number)| places[*number as usize] = place);
        }
        Self { members, ends, places, ..Self::default() }
    }

    /// The memories of a session.
    fn members(&self, session: u32) -> &[Number] {
        if let Some(members) = self.changed.get(&session) {
            return members;
        }
        laid(&self.members, &self.ends, session)
    }

    fn change(&mut self, session: u32) -> &mut Vec<Number> {
        self.unsorted.insert(session);
        let Self { members, ends, .. } = self;
        self.changed.entry(session).or_insert_with(|| laid(members, ends, session).to_vec())
    }

    /// Puts a memory into a session, where it is in one.
    pub(super) fn file(&mut self, number: Number, session: u32) {
        if session != 0 {
            self.change(session).push(number);
        }
    }

    /// Takes a memory out of the session that it is in, if it is in one.
    pub(super) fn unfile(&mut self, number: Number, session: u32) {
        if session != 0 {
            self.change(session).retain(|other| *other != number);
        }
    }

    /// Puts the sessions that changed back in order.
    pub(super) fn settle(&mut self, order: impl Fn(&Number, &Number) -> Ordering) {
        for session in std::mem::take(&mut self.unsorted) {
            let Some(members) = self.changed.get_mut(&session) else { continue };
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

    /// The admitted memories of a session around this one, nearest first on each side, with their
    /// distance: at most `reach` on each side.
    pub(super) fn around(
        &self,
        (number, session): (Number, u32),
        reach: usize,
        admits: impl Fn(Number) -> bool + Copy,
    ) -> impl Iterator<Item = (Number, usize)> {
        let place = self.places.get(number as usize).filter(|_| session != 0);
        let (before, after) = place.map_or((&[][..], &[][..]), |place| {
            let (before, after) = self.members(session).split_at(*place as usize);
            (before, &after[1..])
        });
        let admitted = move |other: &&Number| admits(**other);
        let near = |(distance, number): (usize, &Number)| (*number, distance + 1);
        let before = before.iter().rev().take(LOOK).filter(admitted).take(reach);
        let after = after.iter().take(LOOK).filter(admitted).take(reach);
        before.enumerate().map(near).chain(after.enumerate().map(near))
    }

    /// The sum over a session's memories.
    pub(super) fn sum(&self, session: u32, of: impl Fn(Number) -> f64) -> f64 {
        self.members(session).iter().map(|number| of(*number)).sum()
    }
}

/// The memories of a session as it was opened with.
fn laid<'m>(members: &'m [Number], ends: &[u32], session: u32) -> &'m [Number] {
    let session = session as usize;
    let Some(end) = ends.get(session) else { return &[] };
    let begin = session.checked_sub(1).map_or(0, |before| ends[before]);
    &members[begin as usize..*end as usize]
}

/// How many places of a session are looked at on each side for neighbours that are admitted.
const LOOK: usize = 32;
