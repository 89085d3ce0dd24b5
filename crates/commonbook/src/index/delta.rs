//! The delta: the words of memories that the generation lacks or has in an older state.

use std::sync::{Arc, LazyLock, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::thread;
use crate::index::facts::{MemoryDescription, MemoryNumber, TextSignals};
use crate::index::words::{MemoryWords, WordCounts};
use crate::model::access::StoredMemory;
use crate::model::memory::Memory;
use crate::model::search::{rank, talk, update};
use commonbook_text::terms::{self, StemCache};

/// Words that express a time: days, months, units.
const TIME_WORDS: &str = "yesterday today tomorrow tonight week weekend month year ago last next \
    monday tuesday wednesday thursday friday saturday sunday january february march april may \
    june july august september october november december";

static TIME_TERMS: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| terms::terms(TIME_WORDS).into_iter().collect());

/// A memory with its words.
pub(super) struct DeltaMemory {
    pub(super) described: MemoryDescription,
    pub(super) words: MemoryWords,
    /// The number of each term in head and body, counted on first use: most memories are written
    /// out before any search reads them.
    counts: OnceLock<WordCounts>,
}

impl DeltaMemory {
    /// A memory as of an event.
    fn of(memory: &Memory, sequence: u64, stems: &mut StemCache) -> Self {
        let mut words = MemoryWords::default();
        // An entry without a full text has its summary as its text.
        let summary = memory.summary.iter().filter(|summary| **summary != memory.text);
        for part in memory.title.iter().chain(&memory.topics).chain(summary) {
            words.head.add(part, stems);
        }
        words.body.add(&memory.text, stems);
        let addresses = talk::addresses_somebody(&memory.text);
        let asks = talk::asks(&memory.text);
        let updates = update::states_change(&memory.text);
        let mut signals = TextSignals { addresses, asks, updates, ..TextSignals::default() };
        for word in words.all_words() {
            signals.first_person += u32::from(terms::is_first_person(word));
            signals.tells_time |= TIME_TERMS.contains(word);
        }
        let described = MemoryDescription::of(memory, sequence, words.lengths(), signals);
        Self { described, words, counts: OnceLock::new() }
    }

    /// Occurrences of a term, weighted higher in the head.
    pub(super) fn occurrences(&self, term: &str) -> f64 {
        let counts = self.counts.get_or_init(|| self.words.counts());
        let (head, body) = self.words.count_of(counts, term);
        rank::weight(head, body)
    }

    /// Whether it contains the phrase.
    pub(super) fn has_phrase(&self, phrase: &[String]) -> bool {
        self.words.has_phrase(phrase)
    }
}

/// The memories of the delta by audience, so that a search reads only audiences of its caller.
#[derive(Default)]
pub(super) struct MemoryDelta {
    audiences: FxHashMap<u32, FxHashMap<MemoryNumber, Arc<DeltaMemory>>>,
    audience_of: FxHashMap<MemoryNumber, u32>,
}

impl MemoryDelta {
    /// Inserts or replaces a memory in its audience.
    pub(super) fn insert(&mut self, number: MemoryNumber, audience: u32, delta: DeltaMemory) {
        self.remove(number);
        self.audience_of.insert(number, audience);
        self.audiences.entry(audience).or_default().insert(number, Arc::new(delta));
    }

    /// Removes a memory, if present.
    pub(super) fn remove(&mut self, number: MemoryNumber) {
        let Some(audience) = self.audience_of.remove(&number) else { return };
        if let Some(memories) = self.audiences.get_mut(&audience) {
            memories.remove(&number);
        }
    }

    /// A memory, if present.
    pub(super) fn get(&self, number: MemoryNumber) -> Option<&Arc<DeltaMemory>> {
        self.audiences.get(self.audience_of.get(&number)?)?.get(&number)
    }

    /// The memories of these audiences.
    pub(super) fn of_audiences(
        &self,
        audiences: &[(u32, u32)],
    ) -> impl Iterator<Item = (MemoryNumber, &DeltaMemory)> {
        let groups = audiences.iter().filter_map(|(_, audience)| self.audiences.get(audience));
        groups.flatten().map(|(number, delta)| (*number, &**delta))
    }

    /// The numbers of all its memories.
    pub(super) fn numbers(&self) -> impl Iterator<Item = MemoryNumber> {
        self.audience_of.keys().copied()
    }

    /// Keeps only the memories for which `stays` returns true.
    pub(super) fn retain(&mut self, stays: impl Fn(MemoryNumber) -> bool) {
        let dropped: Vec<MemoryNumber> = self.numbers().filter(|number| !stays(*number)).collect();
        dropped.into_iter().for_each(|number| self.remove(number));
        self.audiences.retain(|_, memories| !memories.is_empty());
    }

    /// The number of memories.
    pub(super) fn len(&self) -> usize {
        self.audience_of.len()
    }

    /// Whether it has no memories.
    pub(super) fn is_empty(&self) -> bool {
        self.audience_of.is_empty()
    }
}

/// Number of memories from which on several threads split texts into words.
const PARALLEL_MEMORIES_MIN: usize = 100;

/// Splits the texts of these memories, each as of its event. Each thread uses one of `stems`.
pub(super) fn describe_all(
    memories: &[(StoredMemory, u64)],
    stems: &mut Vec<StemCache>,
) -> Vec<DeltaMemory> {
    let each = |share: &[(StoredMemory, u64)], stems: &mut StemCache| -> Vec<DeltaMemory> {
        share.iter().map(|(memory, sequence)| DeltaMemory::of(memory, *sequence, stems)).collect()
    };
    let threads = if memories.len() < PARALLEL_MEMORIES_MIN { 1 } else { core_count() };
    stems.resize_with(threads.max(stems.len()), StemCache::default);
    if threads == 1 {
        return each(memories, &mut stems[0]);
    }
    let shares = memories.chunks(memories.len().div_ceil(threads)).zip(stems).collect();
    thread::for_each_part(shares, |(share, stems)| each(share, stems))
        .into_iter()
        .flatten()
        .collect()
}

fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
