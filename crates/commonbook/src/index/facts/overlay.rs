//! The facts of every memory by its number: those of the segments that the index was opened with
//! lie in their sheets, and all others beside them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Facts, Number};
use crate::index::facts::segment_file::Sheet;

/// The facts and topics of all memories.
#[derive(Debug, Default)]
pub(super) struct Kept {
    parts: Vec<Part>,
    /// Numbers below are of documents in the parts.
    flat: Number,
    /// What of those is no longer as it lies there.
    changed: FxHashMap<Number, Own>,
    /// The numbers from `flat` on.
    own: Vec<Own>,
    /// The topics of what lies in no sheet. Those that a memory had before stay behind.
    topics: Vec<u32>,
}

/// A sheet, whose documents have their numbers in order.
#[derive(Debug)]
struct Part {
    first: Number,
    end: Number,
    sheet: Arc<Sheet>,
    /// The number of each of its distinct topics.
    topics: Vec<u32>,
}

#[derive(Debug)]
struct Own {
    facts: Facts,
    /// Where its topics begin and end.
    topics: (usize, usize),
}

impl Kept {
    /// Gives the documents of a sheet the next numbers. To be called before anything is set.
    pub(super) fn lay(&mut self, sheet: Arc<Sheet>, topics: Vec<u32>) {
        let (first, end) = (self.flat, self.flat.saturating_add(sheet.documents));
        self.flat = end;
        self.parts.push(Part { first, end, sheet, topics });
    }

    /// Sets what is known of a number: one that is there, or the next.
    pub(super) fn set(&mut self, number: Number, facts: Facts, topics: &[u32]) {
        let before = self.own(number).map(|own| own.topics);
        let topics = before.filter(|own| self.topics_of(*own) == topics).unwrap_or_else(|| {
            let begin = self.topics.len();
            self.topics.extend_from_slice(topics);
            (begin, self.topics.len())
        });
        let own = Own { facts, topics };
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
    pub(super) fn facts(&self, number: Number) -> Facts {
        if let Some(own) = self.own(number) {
            return own.facts;
        }
        let part = self.part(number);
        part.sheet.facts(number - part.first)
    }

    /// Whether a memory has the topic of this number.
    pub(super) fn has_topic(&self, number: Number, topic: u32) -> bool {
        if let Some(own) = self.own(number) {
            return self.topics_of(own.topics).contains(&topic);
        }
        let part = self.part(number);
        let mut topics = part.sheet.topics(number - part.first);
        topics.any(|place| part.topics.get(place) == Some(&topic))
    }

    /// What lies beside the sheets.
    fn own(&self, number: Number) -> Option<&Own> {
        match number.checked_sub(self.flat) {
            Some(place) => self.own.get(place as usize),
            None => self.changed.get(&number),
        }
    }

    fn part(&self, number: Number) -> &Part {
        &self.parts[self.parts.partition_point(|part| part.end <= number)]
    }

    fn topics_of(&self, (begin, end): (usize, usize)) -> &[u32] {
        &self.topics[begin..end]
    }
}
