//! The facts of every memory by its number: those of the segments that the index was opened with
//! lie in their sheets, and all others beside them.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{MemoryFacts, MemoryNumber};
use crate::index::facts::segment_file::SegmentFile;

/// The facts and topics of all memories.
#[derive(Debug, Default)]
pub(super) struct FactOverlay {
    parts: Vec<SegmentRange>,
    /// Numbers below are of documents in the parts.
    flat: MemoryNumber,
    /// What of those is no longer as it lies there.
    changed: FxHashMap<MemoryNumber, OverlayEntry>,
    /// The numbers from `flat` on.
    own: Vec<OverlayEntry>,
    /// The topics of what lies in no sheet. Those that a memory had before stay behind.
    topics: Vec<u32>,
}

/// A sheet, whose documents have their numbers in order.
#[derive(Debug)]
struct SegmentRange {
    first: MemoryNumber,
    end: MemoryNumber,
    sheet: Arc<SegmentFile>,
    /// The number of each of its distinct topics.
    topics: Vec<u32>,
}

#[derive(Debug)]
struct OverlayEntry {
    facts: MemoryFacts,
    /// Where its topics are among all.
    topics: Range<usize>,
}

impl FactOverlay {
    /// Gives the documents of a sheet the next numbers. To be called before anything is set.
    pub(super) fn add_segment(&mut self, sheet: Arc<SegmentFile>, topics: Vec<u32>) {
        let (first, end) = (self.flat, self.flat.saturating_add(sheet.documents));
        self.flat = end;
        self.parts.push(SegmentRange { first, end, sheet, topics });
    }

    /// Sets what is known of a number: one that is there, or the next.
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

    /// What is known of a memory.
    pub(super) fn facts(&self, number: MemoryNumber) -> MemoryFacts {
        if let Some(own) = self.own_entry(number) {
            return own.facts;
        }
        let part = self.segment_range(number);
        part.sheet.facts(number - part.first)
    }

    /// Whether a memory has the topic of this number.
    pub(super) fn has_topic(&self, number: MemoryNumber, topic: u32) -> bool {
        if let Some(own) = self.own_entry(number) {
            return self.topics_of(&own.topics).contains(&topic);
        }
        let part = self.segment_range(number);
        let mut topics = part.sheet.topics(number - part.first);
        topics.any(|place| part.topics.get(place) == Some(&topic))
    }

    /// What lies beside the sheets.
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
