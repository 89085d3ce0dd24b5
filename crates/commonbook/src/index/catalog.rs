//! What the index knows of every memory besides its words: all that filters and ranking ask.

use std::collections::HashMap;

use jiff::Timestamp;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::access::Reach;
use crate::id::MemoryId;
use crate::memory::{Importance, Memory};

/// The number of an entry in its catalog, which this process alone knows it by.
pub(super) type Number = u32;

/// What many memories have alike; each of them names its class. The permission rule and most
/// filters are so decided once a class, not once a memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Class {
    pub(super) reach: Reach,
    pub(super) memory_type: String,
    pub(super) importance: Importance,
    pub(super) superseded: bool,
    pub(super) deleted: bool,
}

/// What the index knows of one memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Facts {
    pub(super) id: MemoryId,
    /// The event that this is as of.
    pub(super) sequence: u64,
    /// From when on it holds, in milliseconds.
    pub(super) from: i64,
    /// Until when it holds.
    pub(super) until: i64,
    /// What replaced it.
    pub(super) heir: Option<MemoryId>,
    /// Words of title, topics, summary and author; words of the text.
    pub(super) lengths: (u32, u32),
    /// The fingerprint of what is embedded of it.
    pub(super) print: u64,
}

/// A memory as the catalog takes it in.
#[derive(Debug, Clone)]
pub(super) struct Described {
    pub(super) class: Class,
    pub(super) facts: Facts,
    pub(super) session: Option<String>,
    pub(super) topics: Vec<String>,
}

impl Described {
    /// The description of a memory as of an event, whose words are so many.
    pub(super) fn of(memory: &Memory, sequence: u64, lengths: (u32, u32)) -> Self {
        let millis = |time: Timestamp| time.as_millisecond();
        let topics = memory.topics.iter().map(|topic| topic.to_lowercase()).collect();
        Self {
            class: Class {
                reach: Reach::of(memory),
                memory_type: memory.memory_type.to_string(),
                importance: memory.importance,
                superseded: memory.superseded_by.is_some(),
                deleted: memory.deleted_at.is_some(),
            },
            facts: Facts {
                id: memory.id,
                sequence,
                from: millis(memory.valid_from.unwrap_or(memory.recorded_at)),
                until: memory.valid_until.map_or(i64::MAX, millis),
                heir: memory.superseded_by,
                lengths,
                print: print(memory),
            },
            session: memory.session.clone(),
            topics,
        }
    }
}

/// The fingerprint of what is embedded of a memory: 64 bits of its SHA-256.
fn print(memory: &Memory) -> u64 {
    let mut digest = Sha256::new();
    for part in [memory.title.as_deref(), Some(memory.text.as_str())] {
        digest.update(part.unwrap_or_default().as_bytes());
        digest.update([0]);
    }
    let bytes = digest.finalize();
    bytes.iter().take(8).fold(0, |print, byte| print << 8 | u64::from(*byte))
}

/// One memory in the catalog.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) facts: Facts,
    pub(super) class: u32,
    /// Numbers of its session and topics; 0 is no session.
    pub(super) session: u32,
    pub(super) topics: Box<[u32]>,
    /// Whether its words are in the tail, and not as the generation has them.
    pub(super) in_tail: bool,
    /// Whether the memory is gone for good.
    pub(super) gone: bool,
}

/// Words of all memories of one class, for the statistics that ranking needs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) memories: u64,
    pub(super) head: u64,
    pub(super) body: u64,
}

/// Every memory of the home.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    pub(super) entries: Vec<Entry>,
    classes: Vec<Class>,
    sums: Vec<Sums>,
    class_numbers: HashMap<Class, u32>,
    numbers: FxHashMap<(u32, MemoryId), Number>,
    workspaces: Names,
    names: Names,
    /// The entries of each session in the order of time, where nothing is marked unsorted.
    sessions: FxHashMap<u32, Vec<Number>>,
    unsorted: Vec<u32>,
}

/// Texts by number, from 1 on.
#[derive(Debug, Default)]
struct Names(HashMap<Box<str>, u32>);

impl Names {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.0.get(text) {
            return *number;
        }
        let number = u32::try_from(self.0.len() + 1).unwrap_or(u32::MAX);
        self.0.insert(text.into(), number);
        number
    }

    fn known(&self, text: &str) -> Option<u32> {
        self.0.get(text).copied()
    }
}

impl Catalog {
    /// Takes a memory in, or what is new of it; answers its number.
    pub(super) fn put(&mut self, described: Described, in_tail: bool) -> Number {
        let Described { class, facts, session, topics } = described;
        let workspace = self.workspaces.number(class.reach.workspace.as_str());
        let session = match session {
            Some(session) => self.names.number(&named(class.reach.workspace.as_str(), &session)),
            None => 0,
        };
        let topics = topics.iter().map(|topic| self.names.number(topic)).collect();
        let class = self.class_number(class);
        let entry = Entry { class, session, topics, in_tail, gone: false, facts };
        let key = (workspace, entry.facts.id);
        let number = match self.numbers.get(&key).copied() {
            Some(number) => {
                self.uncount(number);
                number
            }
            None => Number::try_from(self.entries.len()).unwrap_or(Number::MAX),
        };
        self.numbers.insert(key, number);
        self.count(&entry);
        self.file(number, &entry);
        match self.entries.get_mut(number as usize) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
        number
    }

    /// Forgets a memory that is gone for good; answers its number, if it was known.
    pub(super) fn remove(&mut self, workspace: &str, id: MemoryId) -> Option<Number> {
        let workspace = self.workspaces.known(workspace)?;
        let number = self.numbers.remove(&(workspace, id))?;
        self.uncount(number);
        let entry = &mut self.entries[number as usize];
        entry.gone = true;
        if let Some(session) = self.sessions.get_mut(&entry.session) {
            session.retain(|other| *other != number);
        }
        Some(number)
    }

    /// Notes that the words of a memory as of this event are no longer the tail's to give.
    pub(super) fn leave_tail(&mut self, number: Number, sequence: u64) {
        let entry = &mut self.entries[number as usize];
        entry.in_tail &= entry.facts.sequence != sequence;
    }

    /// The number of a memory.
    pub(super) fn number(&self, workspace: &str, id: MemoryId) -> Option<Number> {
        self.numbers.get(&(self.workspaces.known(workspace)?, id)).copied()
    }

    /// The entry of a number.
    pub(super) fn entry(&self, number: Number) -> &Entry {
        &self.entries[number as usize]
    }

    /// The class of an entry.
    pub(super) fn class(&self, entry: &Entry) -> &Class {
        &self.classes[entry.class as usize]
    }

    /// Every class with the sums of its memories.
    pub(super) fn classes(&self) -> impl Iterator<Item = (&Class, &Sums)> {
        self.classes.iter().zip(&self.sums)
    }

    /// The number that a session of a workspace has in entries.
    pub(super) fn session(&self, workspace: &str, session: &str) -> Option<u32> {
        self.names.known(&named(workspace, session))
    }

    /// The number that a topic has in entries, whatever its case.
    pub(super) fn topic(&self, topic: &str) -> Option<u32> {
        self.names.known(&topic.to_lowercase())
    }

    /// The memories of the same session around this one, in the order of time, with their
    /// distance in places: at most `reach` on each side.
    pub(super) fn around(&self, number: Number, reach: usize) -> Vec<(Number, usize)> {
        let entry = self.entry(number);
        let Some(session) = self.sessions.get(&entry.session) else { return Vec::new() };
        let key = self.place(number);
        let Ok(place) = session.binary_search_by_key(&key, |other| self.place(*other)) else {
            return Vec::new();
        };
        let first = place.saturating_sub(reach);
        let last = (place + reach).min(session.len() - 1);
        let near = (first..=last).filter(|other| *other != place);
        near.map(|other| (session[other], other.abs_diff(place))).collect()
    }

    /// Puts the sessions that changed back in order; to be called after memories were put in.
    pub(super) fn settle(&mut self) {
        for session in std::mem::take(&mut self.unsorted) {
            if let Some(mut list) = self.sessions.remove(&session) {
                list.sort_by_key(|number| self.place(*number));
                self.sessions.insert(session, list);
            }
        }
    }

    /// What orders the memories of a session: time, then id, which grows with time too.
    fn place(&self, number: Number) -> (i64, MemoryId) {
        let facts = &self.entry(number).facts;
        (facts.from, facts.id)
    }

    fn class_number(&mut self, class: Class) -> u32 {
        if let Some(number) = self.class_numbers.get(&class) {
            return *number;
        }
        let number = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
        self.classes.push(class.clone());
        self.sums.push(Sums::default());
        self.class_numbers.insert(class, number);
        number
    }

    fn count(&mut self, entry: &Entry) {
        let sums = &mut self.sums[entry.class as usize];
        let (head, body) = entry.facts.lengths;
        sums.memories += 1;
        sums.head += u64::from(head);
        sums.body += u64::from(body);
    }

    fn uncount(&mut self, number: Number) {
        let entry = &self.entries[number as usize];
        let (head, body) = entry.facts.lengths;
        let sums = &mut self.sums[entry.class as usize];
        sums.memories -= 1;
        sums.head -= u64::from(head);
        sums.body -= u64::from(body);
    }

    /// Files an entry in its session, and takes it out of the one it was in.
    fn file(&mut self, number: Number, entry: &Entry) {
        let before = self.entries.get(number as usize).map(|old| (old.session, old.facts.from));
        if before == Some((entry.session, entry.facts.from)) {
            return;
        }
        if let Some((session, _)) = before
            && let Some(list) = self.sessions.get_mut(&session)
        {
            list.retain(|other| *other != number);
        }
        if entry.session != 0 {
            self.sessions.entry(entry.session).or_default().push(number);
            if self.unsorted.last() != Some(&entry.session) {
                self.unsorted.push(entry.session);
            }
        }
    }
}

/// A session's name among those of all workspaces; no workspace has a blank in its name.
fn named(workspace: &str, session: &str) -> String {
    format!("{workspace} {session}")
}
