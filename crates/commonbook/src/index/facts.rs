//! What the index knows of every memory besides its words: all that filters and ranking ask.

mod audiences;
mod authors;
mod classes;
mod flat;
mod hot;
mod ids;
mod interner;
mod load;
mod overlay;
pub(super) mod segment_file;
mod sessions;
mod vector_refs;

use std::cmp::Ordering;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::vectors::{Rows, Vectors};
use crate::base::id::MemoryId;
use crate::model::access::{Reach, Sight};
use crate::model::case::CaseKey;

pub(super) use audiences::{KEY_BYTES, key};
pub(super) use classes::{Classes, Sums};
pub(super) use flat::{Class, Described, Facts, Marks};
pub(super) use hot::Brief;
use ids::{Key, Numbers};
use interner::{Names, named};
pub(super) use load::{Documents, NOBODY};
use overlay::Kept;
pub(super) use sessions::Near;
use sessions::{Sessions, Strand};
pub(super) use vector_refs::Links;

/// The number of a memory in its catalog, which this process alone knows it by.
pub(super) type Number = u32;

/// The class of what is gone: there is none, so no question admits it.
const NO_CLASS: u32 = u32::MAX;

/// A memory as the catalog files it: class, session and case by their numbers; 0 is no session, and
/// no case.
#[derive(Debug, Clone, Copy)]
struct Entry {
    facts: Facts,
    class: u32,
    session: u32,
    case: u32,
}

/// Every memory of the home.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    kept: Kept,
    pub(super) brief: Vec<Brief>,
    /// The class of each memory, which every question asks of all; [`NO_CLASS`] of what is gone.
    pub(super) classed: Vec<u32>,
    pub(super) links: Links,
    /// Those of which the generation has words, as they are now or as they were.
    written: FixedBitSet,
    pub(super) classes: Classes,
    numbers: Numbers,
    /// What is gone for good, with the place in its journal where it went: an older generation may
    /// still have it.
    gone: FxHashMap<(u32, MemoryId), u64>,
    workspaces: Names,
    names: Names,
    /// The cases that are not open, by the number of their workspace.
    shut: FxHashMap<u32, FxHashSet<u32>>,
    sessions: Sessions,
}

impl Catalog {
    /// Takes a memory into the tail, or what is new of it; answers its number.
    pub(super) fn put(&mut self, described: Described, vector: Option<Rows>) -> Number {
        let Described { class, facts, session, case, topics } = described;
        let workspace = class.reach.workspace.as_str().to_owned();
        let session = session.map_or(0, |session| self.name_session(&workspace, &session));
        let case = case.map_or(0, |case| self.name_session(&workspace, case.as_str()));
        let topics: Vec<u32> = topics.iter().map(|topic| self.name(topic)).collect();
        let class = self.classes.number(class, &mut self.workspaces);
        let number = self.put_entry(&Entry { facts, class, session, case }, &topics, true);
        self.links.set(number, vector);
        number
    }

    /// The same, where class, session and topics have their numbers already.
    fn put_entry(&mut self, entry: &Entry, topics: &[u32], in_tail: bool) -> Number {
        let known = self.number_in(entry.class, entry.facts.id);
        let number = known.unwrap_or_else(|| self.make_place());
        let before = (self.strand(number), self.brief[number as usize].from);
        self.kept.set(number, entry.facts, topics);
        self.come(number, entry, in_tail);
        let after = (self.strand(number), entry.facts.from);
        if before != after {
            self.sessions.unfile(number, before.0);
            self.sessions.file(number, after.0);
        }
        number
    }

    /// Which memories of its session a memory stands among; none where it is in no session.
    fn strand(&self, number: Number) -> Option<Strand> {
        let (class, session) = (self.classed[number as usize], self.brief[number as usize].session);
        let files = class != NO_CLASS && session != 0;
        files.then(|| Strand { session, audience: self.classes.audience(class) })
    }

    /// The next number, which is nobody's yet.
    fn make_place(&mut self) -> Number {
        let number = Number::try_from(self.len()).unwrap_or(Number::MAX);
        self.brief.push(Brief::default());
        self.classed.push(NO_CLASS);
        self.written.grow(self.classed.len());
        number
    }

    /// Gives a number to a memory whose facts are kept, or what is new of it.
    fn come(&mut self, number: Number, entry: &Entry, in_tail: bool) {
        let new = self.classed[number as usize] == NO_CLASS;
        let before = (self.classed[number as usize], self.brief[number as usize].length);
        self.brief[number as usize] = Brief::of(entry, in_tail);
        self.classed[number as usize] = entry.class;
        let length = self.brief[number as usize].length;
        if new {
            self.classes.join(entry.class, number, length);
        } else {
            self.classes.change(number, before, (entry.class, length));
        }
        self.links.set(number, None);
        if new {
            let mut numbers = std::mem::take(&mut self.numbers);
            let key = (self.classes.workspace(entry.class), entry.facts.id);
            numbers.insert(key, number, |number| self.key(number));
            self.numbers = numbers;
        }
    }

    /// How many numbers there are, also those of what is gone.
    pub(super) fn len(&self) -> usize {
        self.classed.len()
    }

    /// The numbers of what is not gone.
    pub(super) fn live(&self) -> impl Iterator<Item = Number> {
        (0..).zip(&self.classed).filter(|(_, class)| **class != NO_CLASS).map(|(number, _)| number)
    }

    /// Makes room for so many memories more.
    fn reserve(&mut self, more: usize) {
        self.brief.reserve(more);
        self.classed.reserve(more);
        self.classes.reserve(more);
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.reserve(more, |number| self.key(number));
        self.numbers = numbers;
    }

    /// The number of a topic, in lower case.
    fn name(&mut self, text: &str) -> u32 {
        self.names.number(text)
    }

    /// Notes whether a case of a workspace is open now.
    pub(super) fn note_case(&mut self, workspace: &str, case: &CaseKey, open: bool) {
        let number = self.name_session(workspace, case.as_str());
        let shut = self.shut.entry(self.workspaces.number(workspace)).or_default();
        if open {
            shut.remove(&number);
        } else {
            shut.insert(number);
        }
    }

    /// Whether any case in the workspaces of a caller is not open.
    pub(super) fn has_shut(&self, sight: &Sight) -> bool {
        let number = |name: &str| self.workspaces.known(name);
        let mut shut =
            sight.workspaces.iter().filter_map(|it| self.shut.get(&number(it.as_str())?));
        shut.any(|cases| !cases.is_empty())
    }

    /// Whether a memory of this class is an entry of a case that is not open.
    pub(super) fn is_shut(&self, class: u32, case: u32) -> bool {
        let shut = (case != 0).then(|| self.shut.get(&self.classes.workspace(class))).flatten();
        shut.is_some_and(|cases| cases.contains(&case))
    }

    /// The number of a session, or of a case, of a workspace.
    fn name_session(&mut self, workspace: &str, session: &str) -> u32 {
        self.names.number(&named(workspace, session))
    }

    /// Whether what is known of a memory as of an event is older than its end.
    fn outlived(&self, class: u32, id: MemoryId, sequence: u64) -> bool {
        let gone = self.gone.get(&(self.classes.workspace(class), id));
        gone.is_some_and(|gone| sequence < *gone)
    }

    /// The number of the memory of a class by its id.
    fn number_in(&self, class: u32, id: MemoryId) -> Option<Number> {
        let workspace = self.classes.workspace(class);
        self.numbers.get((workspace, id), |number| self.key(number))
    }

    /// What the number of a memory is found by.
    fn key(&self, number: Number) -> Key {
        let class = self.classed[number as usize];
        (self.classes.workspace(class), self.facts(number).id)
    }

    /// Forgets a memory that is gone for good; answers its number, and who could see it, if it was
    /// known.
    pub(super) fn remove(
        &mut self,
        workspace: &str,
        id: MemoryId,
        sequence: u64,
    ) -> Option<(Number, Reach)> {
        let key = (self.workspaces.number(workspace), id);
        self.gone.insert(key, sequence);
        let number = self.numbers.get(key, |number| self.key(number))?;
        let reach = self.class(number).reach.clone();
        self.numbers.remove(key, number);
        self.sessions.unfile(number, self.strand(number));
        self.leave(number);
        self.classed[number as usize] = NO_CLASS;
        self.links.forget(number);
        Some((number, reach))
    }

    /// Notes that the generation has the words of a memory as of this event: those are no longer
    /// the tail's to give.
    fn leave_tail(&mut self, number: Number, sequence: u64) {
        let newer = self.facts(number).sequence != sequence;
        self.brief[number as usize].in_tail &= newer;
    }

    /// Notes that the generation is given the words of a memory; answers whether it had some.
    pub(super) fn write(&mut self, number: Number) -> bool {
        self.written.put(number as usize)
    }

    /// The number of a memory.
    pub(super) fn number(&self, workspace: &str, id: MemoryId) -> Option<Number> {
        let workspace = self.workspaces.known(workspace)?;
        self.numbers.get((workspace, id), |number| self.key(number))
    }

    /// What is known of a memory.
    pub(super) fn facts(&self, number: Number) -> Facts {
        self.kept.facts(number)
    }

    /// Whether a memory has the topic of this number.
    pub(super) fn has_topic(&self, number: Number, topic: u32) -> bool {
        self.kept.has_topic(number, topic)
    }

    /// Takes a memory from the members of its class.
    fn leave(&mut self, number: Number) {
        let length = self.brief[number as usize].length;
        self.classes.leave(self.classed[number as usize], number, length);
    }

    /// The class of a memory that is not gone.
    pub(super) fn class(&self, number: Number) -> &Class {
        self.classes.class(self.classed[number as usize])
    }

    /// The audience of a memory that is not gone.
    pub(super) fn audience(&self, number: Number) -> u32 {
        self.classes.audience(self.classed[number as usize])
    }

    /// The audiences that a caller belongs to and that have memories, with the numbers of their
    /// workspaces, in order.
    pub(super) fn admitted(&self, sight: &Sight) -> Vec<(u32, u32)> {
        self.classes.admitted(sight, &self.workspaces)
    }

    /// The number that a session, or a case, of a workspace has here.
    pub(super) fn session(&self, workspace: &str, session: &str) -> Option<u32> {
        self.names.known(&named(workspace, session))
    }

    /// The number that a topic has here, whatever its case.
    pub(super) fn topic(&self, topic: &str) -> Option<u32> {
        self.names.known(&topic.to_lowercase())
    }

    /// The memories of these audiences in the session of a memory.
    pub(super) fn strands(&self, session: u32, audiences: &[(u32, u32)]) -> Vec<u32> {
        self.sessions.strands(session, audiences)
    }

    /// The admitted memories of these strands around this one, nearest first on each side, with
    /// their distance: at most `reach` on each side.
    pub(super) fn around(
        &self,
        number: Number,
        strands: &[u32],
        reach: usize,
        admits: impl Fn(Number) -> bool + Copy,
    ) -> Near {
        let order = |a: &Number, b: &Number| self.in_time(*a, *b);
        match self.strand(number) {
            Some(own) => self.sessions.around(number, own, strands, reach, admits, order),
            None => Near::default(),
        }
    }

    /// The words of the memories of these strands, of the classes that are admitted; and how many
    /// memories were looked at.
    pub(super) fn session_length(
        &self,
        strands: &[u32],
        admits: impl Fn(u32) -> bool,
    ) -> (f64, u64) {
        let members = strands.iter().flat_map(|strand| self.sessions.members(*strand));
        let add = |(length, count): (f64, u64), number: &Number| {
            let (brief, class) = (&self.brief[*number as usize], self.classed[*number as usize]);
            (if admits(class) { length + f64::from(brief.length) } else { length }, count + 1)
        };
        members.fold((0.0, 0), add)
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
            if let Some(rows) = vectors.of(self.facts(number).print) {
                self.links.set(number, Some(rows));
            }
        }
    }

    fn relink(&mut self, rows: impl Fn(u64) -> Option<Rows>) {
        let live: Vec<Number> = self.live().collect();
        for number in live {
            self.links.set(number, rows(self.facts(number).print));
        }
    }

    /// Puts the sessions that changed back in order; to be called after memories were put in.
    pub(super) fn settle(&mut self) {
        let Self { sessions, brief, kept, .. } = self;
        sessions.settle(|a, b| order(brief, kept, (*a, *b)));
    }

    /// Files all memories anew, each in its session.
    fn file_all(&mut self) {
        let order = |a: &Number, b: &Number| order(&self.brief, &self.kept, (*a, *b));
        let strands = (0..self.len()).map(|place| self.strand(place as Number)).collect();
        self.sessions = Sessions::of(strands, order);
    }

    /// How two memories stand in time: from when on they hold, then the id, which grows with time.
    pub(super) fn in_time(&self, a: Number, b: Number) -> Ordering {
        order(&self.brief, &self.kept, (a, b))
    }
}

/// How two memories stand in time, as [`Catalog::in_time`] has it; most differ before their ids.
fn order(brief: &[Brief], kept: &Kept, (a, b): (Number, Number)) -> Ordering {
    let from = |number: Number| brief[number as usize].from;
    from(a).cmp(&from(b)).then_with(|| kept.facts(a).id.cmp(&kept.facts(b).id))
}
