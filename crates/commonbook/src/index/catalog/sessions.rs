//! Which memories stand together in a session, in the order of time, and how many words they have.

use super::Number;
use crate::id::MemoryId;

/// The sessions by their numbers.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    sessions: Vec<Session>,
    /// The place of each memory in its session, where that is in order.
    places: Vec<u32>,
    /// Those that are not in order.
    unsorted: Vec<u32>,
}

#[derive(Debug, Default)]
struct Session {
    /// In the order of time, unless it is marked unsorted.
    entries: Vec<Number>,
    /// Words by class.
    words: Vec<(u32, f64)>,
    unsorted: bool,
}

impl Sessions {
    /// Makes room for so many memories more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.places.reserve(more);
    }

    fn session(&mut self, session: u32) -> &mut Session {
        let place = session as usize;
        if self.sessions.len() <= place {
            self.sessions.resize_with(place + 1, Session::default);
        }
        &mut self.sessions[place]
    }

    fn unsort(&mut self, session: u32) {
        if !std::mem::replace(&mut self.session(session).unsorted, true) {
            self.unsorted.push(session);
        }
    }

    /// Puts a memory into a session.
    pub(super) fn file(&mut self, number: Number, session: u32) {
        self.session(session).entries.push(number);
        self.unsort(session);
    }

    /// Takes a memory out of a session.
    pub(super) fn unfile(&mut self, number: Number, session: u32) {
        self.session(session).entries.retain(|other| *other != number);
        self.unsort(session);
    }

    /// Adds words of a class to a session, or takes them off.
    pub(super) fn add(&mut self, session: u32, class: u32, length: f64) {
        let words = &mut self.session(session).words;
        match words.iter_mut().find(|(other, _)| *other == class) {
            Some((_, words)) => *words += length,
            None => words.push((class, length)),
        }
    }

    /// Puts the sessions that changed back in order.
    pub(super) fn settle(&mut self, time: impl Fn(Number) -> (i64, MemoryId)) {
        for session in std::mem::take(&mut self.unsorted) {
            let session = &mut self.sessions[session as usize];
            session.entries.sort_by_key(|number| time(*number));
            session.unsorted = false;
            for (place, number) in (0..).zip(&session.entries) {
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
        admits: impl Fn(Number) -> bool,
    ) -> Vec<(Number, usize)> {
        let Some(&place) = self.places.get(number as usize).filter(|_| session != 0) else {
            return Vec::new();
        };
        let (session, place) = (&self.sessions[session as usize].entries, place as usize);
        let before = session[..place].iter().rev().take(LOOK).filter(|other| admits(**other));
        let after = session[place + 1..].iter().take(LOOK).filter(|other| admits(**other));
        let near = |(distance, number): (usize, &Number)| (*number, distance + 1);
        let before = before.take(reach).enumerate().map(near);
        before.chain(after.take(reach).enumerate().map(near)).collect()
    }

    /// The words of a session's memories, of the classes that are admitted.
    pub(super) fn length(&self, session: u32, classes: &[bool]) -> f64 {
        let words = self.sessions.get(session as usize).map(|session| &session.words);
        let admitted = words.into_iter().flatten().filter(|(class, _)| classes[*class as usize]);
        admitted.map(|(_, words)| words).sum()
    }
}

/// How many places of a session are looked at on each side for neighbours that are admitted.
const LOOK: usize = 32;
