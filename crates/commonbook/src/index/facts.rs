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

use super::vectors::{VectorIndex, VectorRows};
use crate::base::id::MemoryId;
use crate::model::access::{Sight, Visibility};
use crate::model::case::CaseKey;

pub(super) use audiences::{KEY_BYTES, audience_key};
use classes::ClassMembership;
pub(super) use classes::{ClassTable, LengthStatistics};
pub(super) use flat::{MemoryClass, MemoryDescription, MemoryFacts, TextSignals, WordLengths};
pub(super) use hot::HotFacts;
use ids::{CatalogKey, NumberTable};
use interner::{NameInterner, qualified_name};
pub(super) use load::{NO_MEMORY, SegmentDocuments};
use overlay::FactOverlay;
pub(super) use sessions::SessionNeighbours;
use sessions::{StrandKey, StrandTable};
pub(super) use vector_refs::VectorRefs;

/// The number of a memory in its catalog, which this process alone knows it by.
pub(super) type MemoryNumber = u32;

/// The class of what is gone: there is none, so no question admits it.
const NO_CLASS: u32 = u32::MAX;

/// A memory as the catalog files it: class, session and case by their numbers; 0 is no session, and
/// no case.
#[derive(Debug, Clone, Copy)]
struct CatalogEntry {
    facts: MemoryFacts,
    class: u32,
    session: u32,
    case: u32,
}

/// Every memory of the home.
#[derive(Debug, Default)]
pub(super) struct MemoryCatalog {
    kept: FactOverlay,
    pub(super) brief: Vec<HotFacts>,
    /// The class of each memory, which every question asks of all; [`NO_CLASS`] of what is gone.
    pub(super) classed: Vec<u32>,
    pub(super) links: VectorRefs,
    /// Those of which the generation has words, as they are now or as they were.
    written: FixedBitSet,
    pub(super) classes: ClassTable,
    numbers: NumberTable,
    /// What is gone for good, with the place in its journal where it went: an older generation may
    /// still have it.
    gone: FxHashMap<(u32, MemoryId), u64>,
    workspaces: NameInterner,
    names: NameInterner,
    /// The cases that are not open, by the number of their workspace.
    shut: FxHashMap<u32, FxHashSet<u32>>,
    sessions: StrandTable,
}

impl MemoryCatalog {
    /// Takes a memory into the tail, or what is new of it; answers its number.
    pub(super) fn put(
        &mut self,
        described: MemoryDescription,
        vector: Option<VectorRows>,
    ) -> MemoryNumber {
        let MemoryDescription { class, facts, session, case, topics } = described;
        let workspace = class.reach.workspace.as_str().to_owned();
        let session = session.map_or(0, |session| self.intern_session(&workspace, &session));
        let case = case.map_or(0, |case| self.intern_session(&workspace, case.as_str()));
        let topics: Vec<u32> = topics.iter().map(|topic| self.intern_topic(topic)).collect();
        let class = self.classes.number(class, &mut self.workspaces);
        let number = self.put_entry(&CatalogEntry { facts, class, session, case }, &topics, true);
        self.links.set(number, vector);
        number
    }

    /// The same, where class, session and topics have their numbers already.
    fn put_entry(&mut self, entry: &CatalogEntry, topics: &[u32], in_tail: bool) -> MemoryNumber {
        let known = self.number_in_class(entry.class, entry.facts.id);
        let number = known.unwrap_or_else(|| self.next_number());
        let before = (self.strand_key(number), self.brief[number as usize].from);
        self.kept.set(number, entry.facts, topics);
        self.register_entry(number, entry, in_tail);
        let after = (self.strand_key(number), entry.facts.from);
        if before != after {
            self.sessions.unfile(number, before.0);
            self.sessions.file(number, after.0);
        }
        number
    }

    /// Which memories of its session a memory stands among; none where it is in no session.
    fn strand_key(&self, number: MemoryNumber) -> Option<StrandKey> {
        let (class, session) = (self.classed[number as usize], self.brief[number as usize].session);
        let files = class != NO_CLASS && session != 0;
        files.then(|| StrandKey { session, audience: self.classes.audience(class) })
    }

    /// The next number, which is nobody's yet.
    fn next_number(&mut self) -> MemoryNumber {
        let number = MemoryNumber::try_from(self.len()).unwrap_or(MemoryNumber::MAX);
        self.brief.push(HotFacts::default());
        self.classed.push(NO_CLASS);
        self.written.grow(self.classed.len());
        number
    }

    /// Gives a number to a memory whose facts are kept, or what is new of it.
    fn register_entry(&mut self, number: MemoryNumber, entry: &CatalogEntry, in_tail: bool) {
        let new = self.classed[number as usize] == NO_CLASS;
        let before = ClassMembership {
            class: self.classed[number as usize],
            length: self.brief[number as usize].length,
        };
        self.brief[number as usize] = HotFacts::of(entry, in_tail);
        self.classed[number as usize] = entry.class;
        let length = self.brief[number as usize].length;
        if new {
            self.classes.add_member(entry.class, number, length);
        } else {
            let after = ClassMembership { class: entry.class, length };
            self.classes.move_member(number, before, after);
        }
        self.links.set(number, None);
        if new {
            let mut numbers = std::mem::take(&mut self.numbers);
            let key = (self.classes.workspace(entry.class), entry.facts.id);
            numbers.insert(key, number, |number| self.catalog_key(number));
            self.numbers = numbers;
        }
    }

    /// How many numbers there are, also those of what is gone.
    pub(super) fn len(&self) -> usize {
        self.classed.len()
    }

    /// The numbers of what is not gone.
    pub(super) fn live(&self) -> impl Iterator<Item = MemoryNumber> {
        (0..).zip(&self.classed).filter(|(_, class)| **class != NO_CLASS).map(|(number, _)| number)
    }

    /// Makes room for so many memories more.
    fn reserve(&mut self, more: usize) {
        self.brief.reserve(more);
        self.classed.reserve(more);
        self.classes.reserve(more);
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.reserve(more, |number| self.catalog_key(number));
        self.numbers = numbers;
    }

    /// The number of a topic, in lower case.
    fn intern_topic(&mut self, text: &str) -> u32 {
        self.names.intern(text)
    }

    /// Notes whether a case of a workspace is open now.
    pub(super) fn note_case(&mut self, workspace: &str, case: &CaseKey, open: bool) {
        let number = self.intern_session(workspace, case.as_str());
        let shut = self.shut.entry(self.workspaces.intern(workspace)).or_default();
        if open {
            shut.remove(&number);
        } else {
            shut.insert(number);
        }
    }

    /// Whether any case in the workspaces of a caller is not open.
    pub(super) fn has_inactive_case(&self, sight: &Sight) -> bool {
        let number = |name: &str| self.workspaces.find(name);
        let mut shut =
            sight.workspaces.iter().filter_map(|it| self.shut.get(&number(it.as_str())?));
        shut.any(|cases| !cases.is_empty())
    }

    /// Whether a memory of this class is an entry of a case that is not open.
    pub(super) fn is_inactive_case(&self, class: u32, case: u32) -> bool {
        let shut = (case != 0).then(|| self.shut.get(&self.classes.workspace(class))).flatten();
        shut.is_some_and(|cases| cases.contains(&case))
    }

    /// The number of a session, or of a case, of a workspace.
    fn intern_session(&mut self, workspace: &str, session: &str) -> u32 {
        self.names.intern(&qualified_name(workspace, session))
    }

    /// Whether what is known of a memory as of an event is older than its end.
    fn is_outdated(&self, class: u32, id: MemoryId, sequence: u64) -> bool {
        let gone = self.gone.get(&(self.classes.workspace(class), id));
        gone.is_some_and(|gone| sequence < *gone)
    }

    /// The number of the memory of a class by its id.
    fn number_in_class(&self, class: u32, id: MemoryId) -> Option<MemoryNumber> {
        let workspace = self.classes.workspace(class);
        self.numbers.get((workspace, id), |number| self.catalog_key(number))
    }

    /// What the number of a memory is found by.
    fn catalog_key(&self, number: MemoryNumber) -> CatalogKey {
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
    ) -> Option<(MemoryNumber, Visibility)> {
        let key = (self.workspaces.intern(workspace), id);
        self.gone.insert(key, sequence);
        let number = self.numbers.get(key, |number| self.catalog_key(number))?;
        let reach = self.class(number).reach.clone();
        self.numbers.remove(key, number);
        self.sessions.unfile(number, self.strand_key(number));
        self.leave_class(number);
        self.classed[number as usize] = NO_CLASS;
        self.links.forget(number);
        Some((number, reach))
    }

    /// Notes that the generation has the words of a memory as of this event: those are no longer
    /// the tail's to give.
    fn leave_tail(&mut self, number: MemoryNumber, sequence: u64) {
        let newer = self.facts(number).sequence != sequence;
        self.brief[number as usize].in_tail &= newer;
    }

    /// Notes that the generation is given the words of a memory; answers whether it had some.
    pub(super) fn mark_written(&mut self, number: MemoryNumber) -> bool {
        self.written.put(number as usize)
    }

    /// The number of a memory.
    pub(super) fn number(&self, workspace: &str, id: MemoryId) -> Option<MemoryNumber> {
        let workspace = self.workspaces.find(workspace)?;
        self.numbers.get((workspace, id), |number| self.catalog_key(number))
    }

    /// What is known of a memory.
    pub(super) fn facts(&self, number: MemoryNumber) -> MemoryFacts {
        self.kept.facts(number)
    }

    /// Whether a memory has the topic of this number.
    pub(super) fn has_topic(&self, number: MemoryNumber, topic: u32) -> bool {
        self.kept.has_topic(number, topic)
    }

    /// Takes a memory from the members of its class.
    fn leave_class(&mut self, number: MemoryNumber) {
        let length = self.brief[number as usize].length;
        self.classes.remove_member(self.classed[number as usize], number, length);
    }

    /// The class of a memory that is not gone.
    pub(super) fn class(&self, number: MemoryNumber) -> &MemoryClass {
        self.classes.class(self.classed[number as usize])
    }

    /// The audience of a memory that is not gone.
    pub(super) fn audience(&self, number: MemoryNumber) -> u32 {
        self.classes.audience(self.classed[number as usize])
    }

    /// The audiences that a caller belongs to and that have memories, with the numbers of their
    /// workspaces, in order.
    pub(super) fn admitted(&self, sight: &Sight) -> Vec<(u32, u32)> {
        self.classes.admitted(sight, &self.workspaces)
    }

    /// The number that a session, or a case, of a workspace has here.
    pub(super) fn session(&self, workspace: &str, session: &str) -> Option<u32> {
        self.names.find(&qualified_name(workspace, session))
    }

    /// The number that a topic has here, whatever its case.
    pub(super) fn topic(&self, topic: &str) -> Option<u32> {
        self.names.find(&topic.to_lowercase())
    }

    /// The memories of these audiences in the session of a memory.
    pub(super) fn strands(&self, session: u32, audiences: &[(u32, u32)]) -> Vec<u32> {
        self.sessions.strands(session, audiences)
    }

    /// The admitted memories of these strands around this one, nearest first on each side, with
    /// their distance: at most `reach` on each side.
    pub(super) fn neighbours(
        &self,
        number: MemoryNumber,
        strands: &[u32],
        reach: usize,
        admits: impl Fn(MemoryNumber) -> bool + Copy,
    ) -> SessionNeighbours {
        let order = |a: &MemoryNumber, b: &MemoryNumber| self.compare_times(*a, *b);
        match self.strand_key(number) {
            Some(own) => self.sessions.neighbours(number, own, strands, reach, admits, order),
            None => SessionNeighbours::default(),
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
        let add = |(length, count): (f64, u64), number: &MemoryNumber| {
            let (brief, class) = (&self.brief[*number as usize], self.classed[*number as usize]);
            (if admits(class) { length + f64::from(brief.length) } else { length }, count + 1)
        };
        members.fold((0.0, 0), add)
    }

    /// How many numbers sessions and topics have: all are below.
    pub(super) fn name_count(&self) -> usize {
        self.names.end()
    }

    /// Takes all memories their vectors.
    pub(super) fn unlink_vectors(&mut self) {
        self.relink_vectors(|_| None);
    }

    /// Gives vectors to the memories that have none, where there are some now; or to all anew.
    pub(super) fn link_vectors(&mut self, vectors: &VectorIndex, anew: bool) {
        if anew {
            self.relink_vectors(|print| vectors.of(print));
            return;
        }
        let bare: Vec<MemoryNumber> = self.links.unembedded().collect();
        for number in bare {
            if let Some(rows) = vectors.of(self.facts(number).print) {
                self.links.set(number, Some(rows));
            }
        }
    }

    fn relink_vectors(&mut self, rows: impl Fn(u64) -> Option<VectorRows>) {
        let live: Vec<MemoryNumber> = self.live().collect();
        for number in live {
            self.links.set(number, rows(self.facts(number).print));
        }
    }

    /// Puts the sessions that changed back in order; to be called after memories were put in.
    pub(super) fn sort_sessions(&mut self) {
        let Self { sessions, brief, kept, .. } = self;
        sessions.sort_changed(|a, b| compare_hot_times(brief, kept, *a, *b));
    }

    /// Files all memories anew, each in its session.
    fn rebuild_sessions(&mut self) {
        let order =
            |a: &MemoryNumber, b: &MemoryNumber| compare_hot_times(&self.brief, &self.kept, *a, *b);
        let strands = (0..self.len()).map(|place| self.strand_key(place as MemoryNumber)).collect();
        self.sessions = StrandTable::of(strands, order);
    }

    /// How two memories stand in time: from when on they hold, then the id, which grows with time.
    pub(super) fn compare_times(&self, a: MemoryNumber, b: MemoryNumber) -> Ordering {
        compare_hot_times(&self.brief, &self.kept, a, b)
    }
}

/// How two memories stand in time, as [`MemoryCatalog::compare_times`] has it; most differ before their ids.
fn compare_hot_times(
    brief: &[HotFacts],
    kept: &FactOverlay,
    a: MemoryNumber,
    b: MemoryNumber,
) -> Ordering {
    let from = |number: MemoryNumber| brief[number as usize].from;
    from(a).cmp(&from(b)).then_with(|| kept.facts(a).id.cmp(&kept.facts(b).id))
}
