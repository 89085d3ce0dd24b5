//! What the index knows of every memory besides its words: all that filters and ranking ask.

mod brief;
mod facts;
mod links;
mod names;
mod sessions;

use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::vectors::{Rows, Vectors};
use crate::case::CaseKey;
use crate::id::MemoryId;
use crate::search::rank;
use crate::words;

pub(super) use brief::Brief;
pub(super) use facts::{Class, Described, Facts, Marks};
pub(super) use links::Links;
use names::{Names, named};
use sessions::Sessions;

/// The number of an entry in its catalog, which this process alone knows it by.
pub(super) type Number = u32;

/// The class of what is gone: there is none, so no question admits it.
const NO_CLASS: u32 = u32::MAX;

/// One memory in the catalog.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) facts: Facts,
    pub(super) class: u32,
    /// Numbers of its session and topics; 0 is no session.
    pub(super) session: u32,
    /// Number of the case that it is an entry of; 0 is none.
    pub(super) case: u32,
    /// Where its topics lie, and how many there are.
    topics: (u32, u32),
    /// Whether its words are in the tail, and not as the generation has them.
    pub(super) in_tail: bool,
    /// Whether the generation has words of it, as it is now or as it was.
    pub(super) written: bool,
    /// Whether the memory is gone for good.
    pub(super) gone: bool,
}

impl Entry {
    /// The entry of a memory that the generation has as it is, yet without topics.
    pub(super) fn of(facts: Facts, class: u32, (session, case): (u32, u32)) -> Self {
        let (in_tail, written, gone) = (false, true, false);
        Self { facts, class, session, case, topics: (0, 0), in_tail, written, gone }
    }

    /// What orders memories in time.
    fn time(&self) -> (i64, MemoryId) {
        (self.facts.from, self.facts.id)
    }
}

/// Words of all memories of one class, for the statistics that ranking needs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) memories: u64,
    /// Their lengths in words.
    pub(super) plain: f64,
    /// Their lengths as ranking measures them.
    pub(super) long: f64,
}

impl Sums {
    pub(super) fn add(&mut self, other: &Self) {
        self.memories += other.memories;
        self.plain += other.plain;
        self.long += other.long;
    }
}

/// Every memory of the home.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    pub(super) entries: Vec<Entry>,
    pub(super) brief: Vec<Brief>,
    /// The class of each memory, which every question asks of all; [`NO_CLASS`] of what is gone.
    pub(super) classed: Vec<u32>,
    pub(super) links: Links,
    classes: Vec<Class>,
    /// What a question calls each class's author by.
    pub(super) authors: Vec<Option<String>>,
    /// The number of each class's workspace.
    workspace_numbers: Vec<u32>,
    sums: Vec<Sums>,
    class_numbers: HashMap<Class, u32>,
    numbers: FxHashMap<(u32, MemoryId), Number>,
    /// What is gone for good, with the place in its journal where it went: an older generation may
    /// still have it.
    gone: FxHashMap<(u32, MemoryId), u64>,
    workspaces: Names,
    names: Names,
    /// The cases that are not open.
    shut: FxHashSet<u32>,
    sessions: Sessions,
    /// The numbers of the topics of all entries. Those that an entry had before stay behind.
    topics: Vec<u32>,
}

impl Catalog {
    /// Takes a memory into the tail, or what is new of it; answers its number.
    pub(super) fn put(&mut self, described: Described, vector: Option<Rows>) -> Number {
        let Described { class, facts, session, case, topics } = described;
        let workspace = class.reach.workspace.as_str().to_owned();
        let session = session.map_or(0, |session| self.name_session(&workspace, &session));
        let case = case.map_or(0, |case| self.name_session(&workspace, case.as_str()));
        let topics: Vec<u32> = topics.iter().map(|topic| self.name(topic)).collect();
        let class = self.class_number(class);
        let known = self.number_in(class, facts.id);
        let written = known.is_some_and(|number| self.entry(number).written);
        let entry = Entry { in_tail: true, written, ..Entry::of(facts, class, (session, case)) };
        self.put_entry(entry, &topics, vector)
    }

    /// The same, where class, session and topics have their numbers already.
    pub(super) fn put_entry(
        &mut self,
        mut entry: Entry,
        topics: &[u32],
        vector: Option<Rows>,
    ) -> Number {
        let key = (self.workspace_numbers[entry.class as usize], entry.facts.id);
        let next = Number::try_from(self.entries.len()).unwrap_or(Number::MAX);
        let number = *self.numbers.entry(key).or_insert(next);
        if number != next {
            self.uncount(number);
        }
        self.count(&entry);
        self.file(number, &entry);
        entry.topics = self.lay(number, topics);
        let (brief, class) = (Brief::of(&entry), entry.class);
        match self.entries.get_mut(number as usize) {
            Some(place) => {
                *place = entry;
                self.brief[number as usize] = brief;
                self.classed[number as usize] = class;
            }
            None => {
                self.entries.push(entry);
                self.brief.push(brief);
                self.classed.push(class);
            }
        }
        self.links.set(number, vector);
        number
    }

    /// Where the topics of an entry lie from now on; the same ones stay where they are.
    fn lay(&mut self, number: Number, topics: &[u32]) -> (u32, u32) {
        if let Some(entry) = self.entries.get(number as usize)
            && self.topics(entry) == topics
        {
            return entry.topics;
        }
        let begin = self.topics.len();
        self.topics.extend_from_slice(topics);
        let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        (number(begin), number(topics.len()))
    }

    /// The numbers of the topics of an entry.
    pub(super) fn topics(&self, entry: &Entry) -> &[u32] {
        let (begin, count) = (entry.topics.0 as usize, entry.topics.1 as usize);
        self.topics.get(begin..begin + count).unwrap_or_default()
    }

    /// Makes room for so many memories more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.entries.reserve(more);
        self.brief.reserve(more);
        self.classed.reserve(more);
        self.sessions.reserve(more);
        self.numbers.reserve(more);
        self.links.reserve(more);
    }

    /// The number of a topic, in lower case.
    pub(super) fn name(&mut self, text: &str) -> u32 {
        self.names.number(text)
    }

    /// Notes whether a case of a workspace is open now.
    pub(super) fn note_case(&mut self, workspace: &str, case: &CaseKey, open: bool) {
        let number = self.name_session(workspace, case.as_str());
        if open {
            self.shut.remove(&number);
        } else {
            self.shut.insert(number);
        }
    }

    /// Whether any case is not open.
    pub(super) fn has_shut(&self) -> bool {
        !self.shut.is_empty()
    }

    /// Whether the case of this number is not open.
    pub(super) fn is_shut(&self, case: u32) -> bool {
        case != 0 && self.shut.contains(&case)
    }

    /// The number of a session, or of a case, of a workspace.
    pub(super) fn name_session(&mut self, workspace: &str, session: &str) -> u32 {
        self.names.number(&named(workspace, session))
    }

    /// Whether what is known of a memory as of an event is older than its end.
    pub(super) fn outlived(&self, class: u32, id: MemoryId, sequence: u64) -> bool {
        let gone = self.gone.get(&(self.workspace_numbers[class as usize], id));
        gone.is_some_and(|gone| sequence < *gone)
    }

    /// The number of the memory of a class by its id.
    pub(super) fn number_in(&self, class: u32, id: MemoryId) -> Option<Number> {
        self.numbers.get(&(self.workspace_numbers[class as usize], id)).copied()
    }

    /// Forgets a memory that is gone for good; answers its number, if it was known.
    pub(super) fn remove(
        &mut self,
        workspace: &str,
        id: MemoryId,
        sequence: u64,
    ) -> Option<Number> {
        let workspace = self.workspaces.number(workspace);
        self.gone.insert((workspace, id), sequence);
        let number = self.numbers.remove(&(workspace, id))?;
        self.uncount(number);
        let entry = &mut self.entries[number as usize];
        entry.gone = true;
        self.classed[number as usize] = NO_CLASS;
        self.links.forget(number);
        let session = entry.session;
        self.sessions.unfile(number, session);
        Some(number)
    }

    /// Notes that the generation has the words of a memory as of this event: those are no longer
    /// the tail's to give.
    pub(super) fn leave_tail(&mut self, number: Number, sequence: u64) {
        let entry = &mut self.entries[number as usize];
        entry.written = true;
        entry.in_tail &= entry.facts.sequence != sequence;
        self.brief[number as usize] = Brief::of(entry);
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

    /// The number that a session, or a case, of a workspace has in entries.
    pub(super) fn session(&self, workspace: &str, session: &str) -> Option<u32> {
        self.names.known(&named(workspace, session))
    }

    /// The number that a topic has in entries, whatever its case.
    pub(super) fn topic(&self, topic: &str) -> Option<u32> {
        self.names.known(&topic.to_lowercase())
    }

    /// The admitted memories of the same session around this one, nearest first on each side, with
    /// their distance: at most `reach` on each side.
    pub(super) fn around(
        &self,
        number: Number,
        reach: usize,
        admits: impl Fn(Number) -> bool,
    ) -> Vec<(Number, usize)> {
        let session = self.brief[number as usize].session;
        self.sessions.around((number, session), reach, admits)
    }

    /// The words of a session's memories, of the classes that are admitted.
    pub(super) fn session_length(&self, session: u32, classes: &[bool]) -> f64 {
        self.sessions.length(session, classes)
    }

    /// How many numbers sessions and topics have: all are below.
    pub(super) fn names(&self) -> usize {
        self.names.end()
    }

    /// Takes all memories their vectors.
    pub(super) fn unlink(&mut self) {
        self.relink(|_| None);
    }

    /// Gives vectors to the memories that have none, where there are some now; or to all anew.
    pub(super) fn link(&mut self, vectors: &Vectors, anew: bool) {
        if anew {
            self.relink(|print| vectors.of(print));
            return;
        }
        let bare: Vec<Number> = self.links.bare().collect();
        for number in bare {
            if let Some(rows) = vectors.of(self.entry(number).facts.print) {
                self.links.set(number, Some(rows));
            }
        }
    }

    fn relink(&mut self, rows: impl Fn(u64) -> Option<Rows>) {
        for (number, entry) in self.entries.iter().enumerate().filter(|(_, entry)| !entry.gone) {
            let number = Number::try_from(number).unwrap_or(Number::MAX);
            self.links.set(number, rows(entry.facts.print));
        }
    }

    /// Puts the sessions that changed back in order; to be called after memories were put in.
    pub(super) fn settle(&mut self) {
        let entries = &self.entries;
        self.sessions.settle(|number| entries[number as usize].time());
    }

    /// What orders memories in time: from when on they hold, then the id, which grows with time.
    pub(super) fn place(&self, number: Number) -> (i64, MemoryId) {
        self.entry(number).time()
    }

    /// The number of a class.
    pub(super) fn class_number(&mut self, class: Class) -> u32 {
        if let Some(number) = self.class_numbers.get(&class) {
            return *number;
        }
        let number = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
        self.workspace_numbers.push(self.workspaces.number(class.reach.workspace.as_str()));
        self.authors.push(called(class.reach.owner.as_str()));
        self.classes.push(class.clone());
        self.sums.push(Sums::default());
        self.class_numbers.insert(class, number);
        number
    }

    fn count(&mut self, entry: &Entry) {
        self.add(entry.class, entry.session, entry.facts.length(), 1);
    }

    fn uncount(&mut self, number: Number) {
        let entry = &self.entries[number as usize];
        self.add(entry.class, entry.session, entry.facts.length(), -1);
    }

    fn add(&mut self, class: u32, session: u32, length: f64, sign: i64) {
        let by = if sign < 0 { -1.0 } else { 1.0 };
        let sums = &mut self.sums[class as usize];
        sums.memories = sums.memories.wrapping_add_signed(sign);
        sums.plain += by * length;
        sums.long += by * rank::long(length);
        if session != 0 {
            self.sessions.add(session, class, by * length);
        }
    }

    /// Files an entry in its session, and takes it out of the one it was in.
    fn file(&mut self, number: Number, entry: &Entry) {
        let before = self.entries.get(number as usize).map(|old| (old.session, old.facts.from));
        if before == Some((entry.session, entry.facts.from)) {
            return;
        }
        if let Some((session, _)) = before {
            self.sessions.unfile(number, session);
        }
        if entry.session != 0 {
            self.sessions.file(number, entry.session);
        }
    }
}

/// What a question calls an author by: the first word of the role, unless it is one of grammar.
fn called(author: &str) -> Option<String> {
    let role = author.rsplit('/').next().unwrap_or(author);
    let first = words::plain(role).into_iter().next()?;
    (!words::is_function_word(&first)).then_some(first)
}
