//! The words of one memory that is not in the generation, or not as it is now.

use std::sync::{Arc, LazyLock, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::facts::{MemoryDescription, MemoryNumber, TextSignals};
use crate::index::words::MemoryWords;
use crate::model::memory::Memory;
use crate::model::search::{rank, update};
use commonbook_text::terms::{self, StemCache};

/// Words by which a text tells a time: days, months, and what counts them.
const TIME_WORDS: &str = "yesterday today tomorrow tonight week weekend month year ago last next \
    monday tuesday wednesday thursday friday saturday sunday january february march april may \
    june july august september october november december";

static TIME_TERMS: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| terms::terms(TIME_WORDS).into_iter().collect());

/// A memory with its words.
pub(super) struct DeltaMemory {
    pub(super) described: MemoryDescription,
    pub(super) bag: MemoryWords,
    /// How often each term stands in head and body; counted when it is first asked, which for most
    /// memories is never: they are written out before.
    counts: OnceLock<FxHashMap<String, (u32, u32)>>,
}

impl DeltaMemory {
    /// A memory as of an event.
    fn of(memory: &Memory, sequence: u64, stems: &mut StemCache) -> Self {
        let mut bag = MemoryWords::default();
        // The summary of an entry without a text of its own is its text.
        let summary = memory.summary.iter().filter(|summary| **summary != memory.text);
        for part in memory.title.iter().chain(&memory.topics).chain(summary) {
            bag.head.add(part, stems);
        }
        bag.body.add(&memory.text, stems);
        let mut marks = TextSignals::default();
        for word in bag.all_words() {
            marks.first_person += u32::from(terms::is_first_person(word));
            marks.tells_time |= TIME_TERMS.contains(word);
            marks.updates |= update::is_update_term(word);
        }
        let described = MemoryDescription::of(memory, sequence, bag.lengths(), marks);
        Self { described, bag, counts: OnceLock::new() }
    }

    /// How often a term stands in it, in its head counting for more.
    pub(super) fn occurrences(&self, term: &str) -> f64 {
        let counts = self.counts.get_or_init(|| self.bag.counts());
        counts.get(term).map_or(0.0, |(head, body)| rank::weight(*head, *body))
    }

    /// Whether these terms stand in it one after the other.
    pub(super) fn has_phrase(&self, phrase: &[String]) -> bool {
        self.bag.has_phrase(phrase)
    }
}

/// The memories of the tail, audience by audience: a search walks past nobody else's.
#[derive(Default)]
pub(super) struct MemoryDelta {
    audiences: FxHashMap<u32, FxHashMap<MemoryNumber, Arc<DeltaMemory>>>,
    audience_of: FxHashMap<MemoryNumber, u32>,
}

impl MemoryDelta {
    /// Puts a memory in, as it is now, among those of its audience.
    pub(super) fn insert(&mut self, number: MemoryNumber, audience: u32, tail: DeltaMemory) {
        self.remove(number);
        self.audience_of.insert(number, audience);
        self.audiences.entry(audience).or_default().insert(number, Arc::new(tail));
    }

    /// Takes a memory out, if it is in.
    pub(super) fn remove(&mut self, number: MemoryNumber) {
        let Some(audience) = self.audience_of.remove(&number) else { return };
        if let Some(memories) = self.audiences.get_mut(&audience) {
            memories.remove(&number);
        }
    }

    /// A memory, if it is in.
    pub(super) fn get(&self, number: MemoryNumber) -> Option<&Arc<DeltaMemory>> {
        self.audiences.get(self.audience_of.get(&number)?)?.get(&number)
    }

    /// The memories of these audiences, which stand beside the numbers of their workspaces.
    pub(super) fn of_audiences(
        &self,
        audiences: &[(u32, u32)],
    ) -> impl Iterator<Item = (MemoryNumber, &DeltaMemory)> {
        let groups = audiences.iter().filter_map(|(_, audience)| self.audiences.get(audience));
        groups.flatten().map(|(number, tail)| (*number, &**tail))
    }

    /// The numbers of all memories in it.
    pub(super) fn numbers(&self) -> impl Iterator<Item = MemoryNumber> {
        self.audience_of.keys().copied()
    }

    /// Leaves only those for which this holds.
    pub(super) fn retain(&mut self, stays: impl Fn(MemoryNumber) -> bool) {
        let gone: Vec<MemoryNumber> = self.numbers().filter(|number| !stays(*number)).collect();
        gone.into_iter().for_each(|number| self.remove(number));
        self.audiences.retain(|_, memories| !memories.is_empty());
    }

    /// How many memories are in it.
    pub(super) fn len(&self) -> usize {
        self.audience_of.len()
    }

    /// Whether no memory is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.audience_of.is_empty()
    }
}

/// Memories from which on several threads take them apart.
const PARALLEL_MEMORIES_MIN: usize = 100;

/// These memories, each as of its event, with their words. One of `stems` is used by each thread.
pub(super) fn describe_all(
    memories: &[(Memory, u64)],
    stems: &mut Vec<StemCache>,
) -> Vec<DeltaMemory> {
    let each = |share: &[(Memory, u64)], stems: &mut StemCache| -> Vec<DeltaMemory> {
        share.iter().map(|(memory, sequence)| DeltaMemory::of(memory, *sequence, stems)).collect()
    };
    let threads = if memories.len() < PARALLEL_MEMORIES_MIN { 1 } else { core_count() };
    stems.resize_with(threads.max(stems.len()), StemCache::default);
    if threads == 1 {
        return each(memories, &mut stems[0]);
    }
    std::thread::scope(|scope| {
        let shares = memories.chunks(memories.len().div_ceil(threads)).zip(stems);
        let threads: Vec<_> =
            shares.map(|(share, stems)| scope.spawn(move || each(share, stems))).collect();
        let taken = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        taken.flatten().collect()
    })
}

fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
