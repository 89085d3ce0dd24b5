//! The facts of every memory by number: documents of the segments at opening are read from their
//! files, everything newer lies in an overlay.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{MemoryFacts, MemoryNumber};
use crate::base::id::MemoryId;
use crate::index::facts::segment_file::SegmentFile;

/// The facts and topics of all memories.
#[derive(Debug, Default)]
pub(super) struct FactOverlay {
    parts: Vec<SegmentRange>,
    /// Lower numbers belong to the segment files.
    flat: MemoryNumber,
    /// Facts that replace those of the segment files.
    changed: FxHashMap<MemoryNumber, OverlayEntry>,
    /// The facts of numbers from `flat` on.
    own: Vec<OverlayEntry>,
    /// The topics of the overlay. Replaced ones stay.
    topics: Vec<u32>,
}

/// A segment file with a range of numbers.
#[derive(Debug)]
struct SegmentRange {
    first: MemoryNumber,
    end: MemoryNumber,
    segment_file: Arc<SegmentFile>,
    /// The number of each of its distinct topics.
    topics: Vec<u32>,
}

#[derive(Debug)]
struct OverlayEntry {
    facts: MemoryFacts,
    /// The range of its topics.
    topics: Range<usize>,
}

impl FactOverlay {
    /// Assigns the next numbers to the documents of a segment file. To be called before anything is
    /// set.
    pub(super) fn add_segment(&mut self, segment_file: Arc<SegmentFile>, topics: Vec<u32>) {
        let (first, end) = (self.flat, self.flat.saturating_add(segment_file.documents));
        self.flat = end;
        self.parts.push(SegmentRange { first, end, segment_file, topics });
    }

    /// Sets the facts of an existing number, or of the next one.
    pub(super) fn set(&mut self, number: MemoryNumber, facts: MemoryFacts, topics: &[u32]) {
        let before = self.own_entry(number).map(|own| own.topics.clone());
        let topics = before.filter(|own| self.topics_of(own) == topics).unwrap_or_else(|| {
            let begin = self.topics.len();
            self.topics.extend_from_slice(topics);
            begin..self.topics.len()
        });
        let own = OverlayEntry { facts, topics };
        let Some(place) = number.checked_sub(self.flat) else {
            self.changed.insert(number, own);
            return;
        };
        match self.own.get_mut(place as usize) {
            Some(place) => *place = own,
            None => self.own.push(own),
        }
    }

    /// The facts of a memory.
    pub(super) fn facts(&self, number: MemoryNumber) -> MemoryFacts {
        if let Some(own) = self.own_entry(number) {
            return own.facts;
        }
        let part = self.segment_range(number);
        part.segment_file.facts(number - part.first)
    }

    /// The id of a memory, without its other facts.
    pub(super) fn id(&self, number: MemoryNumber) -> MemoryId {
        if let Some(own) = self.own_entry(number) {
            return own.facts.id;
        }
        let part = self.segment_range(number);
        part.segment_file.id(number - part.first)
    }

    /// Whether a memory has this topic.
    pub(super) fn has_topic(&self, number: MemoryNumber, topic: u32) -> bool {
        if let Some(own) = self.own_entry(number) {
            return self.topics_of(&own.topics).contains(&topic);
        }
        let part = self.segment_range(number);
        let mut topics = part.segment_file.topics(number - part.first);
        topics.any(|place| part.topics.get(place) == Some(&topic))
    }

    /// The entry of the overlay.
    fn own_entry(&self, number: MemoryNumber) -> Option<&OverlayEntry> {
        match number.checked_sub(self.flat) {
            Some(place) => self.own.get(place as usize),
            None => self.changed.get(&number),
        }
    }

    fn segment_range(&self, number: MemoryNumber) -> &SegmentRange {
        &self.parts[self.parts.partition_point(|part| part.end <= number)]
    }

    fn topics_of(&self, range: &Range<usize>) -> &[u32] {
        &self.topics[range.clone()]
    }
}
