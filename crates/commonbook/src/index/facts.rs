//! The catalog: everything that filters and ranking need of each memory, besides its words.

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
use crate::base::id::{MemoryId, SessionId};
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
pub(super) use sessions::{SessionNeighbour, SessionNeighbours};
use sessions::{StrandKey, StrandTable};
pub(super) use vector_refs::VectorRefs;

/// The number of a memory in the catalog of this process.
pub(super) type MemoryNumber = u32;

/// The length of a stream.
const HOUR_MILLISECONDS: i64 = 3_600_000;

/// The class of deleted memories: no filter admits it.
const NO_CLASS: u32 = u32::MAX;

/// A memory in the catalog: class, session and case by their numbers; 0 stands for no session and
/// no case.
#[derive(Debug, Clone, Copy)]
struct CatalogEntry {
    facts: MemoryFacts,
    class: u32,
    session: u32,
    /// The session in which others stand around it, or the stream of its hour.
    stream: u32,
    case: u32,
}

/// Every memory of the home.
#[derive(Debug, Default)]
pub(super) struct MemoryCatalog {
    kept: FactOverlay,
    pub(super) hot: Vec<HotFacts>,
    /// The number of each memory's session; 0 for none.
    sessions_by_number: Vec<u32>,
    /// The class of each memory, which every search reads for all; [`NO_CLASS`] for deleted ones.
    pub(super) classed: Vec<u32>,
    pub(super) vector_refs: VectorRefs,
    /// Memories whose words the generation has, in their present or an older state.
    written: FixedBitSet,
    pub(super) classes: ClassTable,
    numbers: NumberTable,
    /// Permanently removed memories with the journal position of the removal: an older generation
    /// may still have them.
    removed: FxHashMap<(u32, MemoryId), u64>,
    workspaces: NameInterner,
    names: NameInterner,
    /// The sessions that we named and no client: of what a workspace saves one after another they
    /// say nothing.
    unnamed_sessions: FxHashSet<u32>,
    /// The stream of each hour, by the number of its workspace.
    streams: FxHashMap<(u32, i64), u32>,
    /// The last lookup: most memories have the stream of the previous one.
    last_stream: Option<((u32, i64), u32)>,
    stream_numbers: FxHashSet<u32>,
    /// The cases that are not open, by the number of their workspace.
    inactive_cases: FxHashMap<u32, FxHashSet<u32>>,
    sessions: StrandTable,
}

impl MemoryCatalog {
    /// Inserts a memory into the delta, or replaces it. Returns its number.
    pub(super) fn put(
        &mut self,
        described: MemoryDescription,
        vector: Option<VectorRows>,
    ) -> MemoryNumber {
        let MemoryDescription { class, facts, session, case, topics } = described;
        let workspace = class.visibility.workspace.as_str().to_owned();
        let session = session.map_or(0, |session| self.intern_session(&workspace, &session));
        let case = case.map_or(0, |case| self.intern_session(&workspace, case.as_str()));
        let topics: Vec<u32> = topics.iter().map(|topic| self.intern_topic(topic)).collect();
        let class = self.classes.number(class, &mut self.workspaces);
        let stream = self.stream(self.classes.workspace(class), session, facts.from);
        let entry = CatalogEntry { facts, class, session, stream, case };
        let number = self.put_entry(&entry, &topics, true);
        self.vector_refs.set(number, vector);
        number
    }

    /// The same with the numbers of class, session and topics.
    fn put_entry(&mut self, entry: &CatalogEntry, topics: &[u32], in_delta: bool) -> MemoryNumber {
        let number = self.number_in_class(entry.class, entry.facts.id).unwrap_or_else(|| {
            let number = self.next_number();
            self.number_or_insert(entry.class, entry.facts.id, number);
            number
        });
        let before = (self.strand_key(number), self.hot[number as usize].from);
        self.kept.set(number, entry.facts, topics);
        self.register_entry(number, entry, in_delta);
        let after = (self.strand_key(number), entry.facts.from);
        if before != after {
            self.sessions.unfile(number, before.0);
            self.sessions.file(number, after.0);
        }
        number
    }

    /// The session and audience of a memory; `None` without a session.
    fn strand_key(&self, number: MemoryNumber) -> Option<StrandKey> {
        let (class, session) = (self.classed[number as usize], self.hot[number as usize].session);
        let files = class != NO_CLASS && session != 0;
        files.then(|| StrandKey { session, audience: self.classes.audience(class) })
    }

    /// The next unused number.
    fn next_number(&mut self) -> MemoryNumber {
        let number = MemoryNumber::try_from(self.len()).unwrap_or(MemoryNumber::MAX);
        self.hot.push(HotFacts::default());
        self.sessions_by_number.push(0);
        self.classed.push(NO_CLASS);
        self.written.grow(self.classed.len());
        number
    }

    /// Assigns a number to a memory whose facts are stored, or replaces its class and session.
    fn register_entry(&mut self, number: MemoryNumber, entry: &CatalogEntry, in_delta: bool) {
        let new = self.classed[number as usize] == NO_CLASS;
        let before = ClassMembership {
            class: self.classed[number as usize],
            length: self.hot[number as usize].length,
        };
        self.hot[number as usize] = HotFacts::of(entry, in_delta);
        self.sessions_by_number[number as usize] = entry.session;
        self.classed[number as usize] = entry.class;
        let length = self.hot[number as usize].length;
        if new {
            self.classes.add_member(entry.class, number, length);
        } else {
            let after = ClassMembership { class: entry.class, length };
            self.classes.move_member(number, before, after);
        }
        self.vector_refs.set(number, None);
    }

    /// The number of a memory, by class and id. A new memory gets this number, and `None` is returned.
    fn number_or_insert(
        &mut self,
        class: u32,
        id: MemoryId,
        number: MemoryNumber,
    ) -> Option<MemoryNumber> {
        let key = (self.classes.workspace(class), id);
        let mut numbers = std::mem::take(&mut self.numbers);
        let existing = numbers.get_or_insert(key, number, |number| self.catalog_key(number));
        self.numbers = numbers;
        existing
    }

    /// The number of assigned numbers, deleted memories included.
    pub(super) fn len(&self) -> usize {
        self.classed.len()
    }

    /// The numbers of memories that are not deleted.
    pub(super) fn live(&self) -> impl Iterator<Item = MemoryNumber> {
        (0..).zip(&self.classed).filter(|(_, class)| **class != NO_CLASS).map(|(number, _)| number)
    }

    /// Reserves capacity for more memories.
    fn reserve(&mut self, more: usize) {
        self.hot.reserve(more);
        self.sessions_by_number.reserve(more);
        self.classed.reserve(more);
        let memories = self.len() + more;
        self.classes.reserve(memories);
        self.written.grow(memories);
        self.vector_refs.reserve(memories);
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.reserve(more, |number| self.catalog_key(number));
        self.numbers = numbers;
    }

    /// The number of a topic, in lower case.
    fn intern_topic(&mut self, text: &str) -> u32 {
        self.names.intern(text)
    }

    /// Sets whether a case is open.
    pub(super) fn note_case(&mut self, workspace: &str, case: &CaseKey, open: bool) {
        let number = self.intern_session(workspace, case.as_str());
        let inactive_cases =
            self.inactive_cases.entry(self.workspaces.intern(workspace)).or_default();
        if open {
            inactive_cases.remove(&number);
        } else {
            inactive_cases.insert(number);
        }
    }

    /// Whether any case in the caller's workspaces is not open.
    pub(super) fn has_inactive_case(&self, sight: &Sight) -> bool {
        let number = |name: &str| self.workspaces.find(name);
        let mut inactive_cases = sight
            .workspaces
            .iter()
            .filter_map(|workspace| self.inactive_cases.get(&number(workspace.as_str())?));
        inactive_cases.any(|cases| !cases.is_empty())
    }

    /// Whether a memory of this class and case is an entry of a case that is not open.
    pub(super) fn is_inactive_case(&self, class: u32, case: u32) -> bool {
        let inactive_cases =
            (case != 0).then(|| self.inactive_cases.get(&self.classes.workspace(class))).flatten();
        inactive_cases.is_some_and(|cases| cases.contains(&case))
    }

    /// The number of a session or case of a workspace.
    fn intern_session(&mut self, workspace: &str, session: &str) -> u32 {
        let number = self.names.intern(&qualified_name(workspace, session));
        if session.parse::<SessionId>().is_ok() {
            self.unnamed_sessions.insert(number);
        }
        number
    }

    /// The session in which others stand around a memory from then: its own if a client named it,
    /// else the stream of all agents of the workspace in that hour. Two people who talk have an agent
    /// each, and a session each.
    fn stream(&mut self, workspace: u32, session: u32, from: i64) -> u32 {
        if session != 0 && !self.unnamed_sessions.contains(&session) {
            return session;
        }
        let hour = from.div_euclid(HOUR_MILLISECONDS);
        if let Some((last, stream)) = self.last_stream
            && last == (workspace, hour)
        {
            return stream;
        }
        let stream = self.stream_of_hour(workspace, hour);
        self.last_stream = Some(((workspace, hour), stream));
        stream
    }

    fn stream_of_hour(&mut self, workspace: u32, hour: i64) -> u32 {
        if let Some(stream) = self.streams.get(&(workspace, hour)) {
            return *stream;
        }
        // No session has a control character in its name.
        let stream = self.names.intern(&format!("{workspace} \u{1}{hour}"));
        self.streams.insert((workspace, hour), stream);
        self.stream_numbers.insert(stream);
        stream
    }

    /// The number of a memory's session; 0 for none.
    pub(super) fn session_of(&self, number: MemoryNumber) -> u32 {
        self.sessions_by_number[number as usize]
    }

    /// Whether memories stand in it one after another, and no client named it.
    pub(super) fn is_stream(&self, session: u32) -> bool {
        self.stream_numbers.contains(&session)
    }

    /// Whether these facts as of an event are older than the memory's removal.
    fn is_outdated(&self, class: u32, id: MemoryId, sequence: u64) -> bool {
        let removed = self.removed.get(&(self.classes.workspace(class), id));
        removed.is_some_and(|removed| sequence < *removed)
    }

    /// The number of a memory, by class and id.
    fn number_in_class(&self, class: u32, id: MemoryId) -> Option<MemoryNumber> {
        let workspace = self.classes.workspace(class);
        self.numbers.get((workspace, id), |number| self.catalog_key(number))
    }

    /// The lookup key of a number.
    fn catalog_key(&self, number: MemoryNumber) -> CatalogKey {
        let class = self.classed[number as usize];
        (self.classes.workspace(class), self.kept.id(number))
    }

    /// Removes a memory permanently. Returns its number and its visibility, if it was known.
    pub(super) fn remove(
        &mut self,
        workspace: &str,
        id: MemoryId,
        sequence: u64,
    ) -> Option<(MemoryNumber, Visibility)> {
        let key = (self.workspaces.intern(workspace), id);
        self.removed.insert(key, sequence);
        let number = self.numbers.get(key, |number| self.catalog_key(number))?;
        let visibility = self.class(number).visibility.clone();
        self.numbers.remove(key, number);
        self.sessions.unfile(number, self.strand_key(number));
        self.leave_class(number);
        self.classed[number as usize] = NO_CLASS;
        self.vector_refs.forget(number);
        Some((number, visibility))
    }

    /// Marks the words of a memory as part of the generation, as of this event, so that the delta
    /// no longer has them.
    fn leave_tail(&mut self, number: MemoryNumber, sequence: u64) {
        let newer = self.facts(number).sequence != sequence;
        self.hot[number as usize].in_delta &= newer;
    }

    /// Marks the words of a memory as written. Returns whether earlier ones were.
    pub(super) fn mark_written(&mut self, number: MemoryNumber) -> bool {
        self.written.put(number as usize)
    }

    /// The number of a memory.
    pub(super) fn number(&self, workspace: &str, id: MemoryId) -> Option<MemoryNumber> {
        let workspace = self.workspaces.find(workspace)?;
        self.numbers.get((workspace, id), |number| self.catalog_key(number))
    }

    /// The facts of a memory.
    pub(super) fn facts(&self, number: MemoryNumber) -> MemoryFacts {
        self.kept.facts(number)
    }

    /// Whether a memory has this topic.
    pub(super) fn has_topic(&self, number: MemoryNumber, topic: u32) -> bool {
        self.kept.has_topic(number, topic)
    }

    /// Removes a memory from its class.
    fn leave_class(&mut self, number: MemoryNumber) {
        let length = self.hot[number as usize].length;
        self.classes.remove_member(self.classed[number as usize], number, length);
    }

    /// The class of a memory that is not deleted.
    pub(super) fn class(&self, number: MemoryNumber) -> &MemoryClass {
        self.classes.class(self.classed[number as usize])
    }

    /// The audience of a memory that is not deleted.
    pub(super) fn audience(&self, number: MemoryNumber) -> u32 {
        self.classes.audience(self.classed[number as usize])
    }

    /// The caller's audiences that have memories, with the numbers of their workspaces, sorted.
    pub(super) fn admitted(&self, sight: &Sight) -> Vec<(u32, u32)> {
        self.classes.admitted(sight, &self.workspaces)
    }

    /// The number of a session or case of a workspace.
    pub(super) fn session(&self, workspace: &str, session: &str) -> Option<u32> {
        self.names.find(&qualified_name(workspace, session))
    }

    /// The number of a topic, case-insensitive.
    pub(super) fn topic(&self, topic: &str) -> Option<u32> {
        self.names.find(&topic.to_lowercase())
    }

    /// The strands of these audiences in a session.
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

    /// The number of words in the admitted memories of these strands, and the number of memories
    /// read.
    pub(super) fn session_length(
        &self,
        strands: &[u32],
        admits: impl Fn(u32) -> bool,
    ) -> (f64, u64) {
        let members = strands.iter().flat_map(|strand| self.sessions.members(*strand));
        let add = |(length, count): (f64, u64), number: &MemoryNumber| {
            let (hot, class) = (&self.hot[*number as usize], self.classed[*number as usize]);
            (if admits(class) { length + f64::from(hot.length) } else { length }, count + 1)
        };
        members.fold((0.0, 0), add)
    }

    /// An upper bound of all session and topic numbers.
    pub(super) fn name_count(&self) -> usize {
        self.names.end()
    }

    /// Unlinks all vectors.
    pub(super) fn unlink_vectors(&mut self) {
        self.relink_vectors(|_| None);
    }

    /// Links memories without vectors to new vectors, or all memories anew.
    pub(super) fn link_vectors(&mut self, vectors: &VectorIndex, anew: bool) {
        if anew {
            self.relink_vectors(|fingerprint| vectors.of(fingerprint));
            return;
        }
        let bare: Vec<MemoryNumber> = self.vector_refs.unembedded().collect();
        for number in bare {
            if let Some(rows) = vectors.of(self.facts(number).fingerprint) {
                self.vector_refs.set(number, Some(rows));
            }
        }
    }

    fn relink_vectors(&mut self, rows: impl Fn(u64) -> Option<VectorRows>) {
        let live: Vec<MemoryNumber> = self.live().collect();
        for number in live {
            self.vector_refs.set(number, rows(self.facts(number).fingerprint));
        }
    }

    /// Sorts the sessions that changed; to be called after memories were inserted.
    pub(super) fn sort_sessions(&mut self) {
        let Self { sessions, hot, kept, .. } = self;
        sessions.sort_changed(|a, b| compare_hot_times(hot, kept, *a, *b));
    }

    /// Rebuilds all sessions.
    fn rebuild_sessions(&mut self) {
        let order =
            |a: &MemoryNumber, b: &MemoryNumber| compare_hot_times(&self.hot, &self.kept, *a, *b);
        let strands = (0..self.len()).map(|place| self.strand_key(place as MemoryNumber));
        self.sessions = StrandTable::of(strands, order);
    }

    /// Compares two memories by the start of their validity, then by id, which grows with time.
    pub(super) fn compare_times(&self, a: MemoryNumber, b: MemoryNumber) -> Ordering {
        compare_hot_times(&self.hot, &self.kept, a, b)
    }
}

/// As [`MemoryCatalog::compare_times`]; most memories differ before their ids are needed.
fn compare_hot_times(
    hot: &[HotFacts],
    kept: &FactOverlay,
    a: MemoryNumber,
    b: MemoryNumber,
) -> Ordering {
    let from = |number: MemoryNumber| hot[number as usize].from;
    from(a).cmp(&from(b)).then_with(|| kept.id(a).cmp(&kept.id(b)))
}
