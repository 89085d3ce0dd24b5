//! What is known of one memory besides its words.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::base::id::MemoryId;
use crate::model::access::Visibility;
use crate::model::case::CaseKey;
use crate::model::memory::{Importance, Memory};
use crate::model::search::rank;

/// What many memories have alike; each of them names its class. The permission rule and most
/// filters are so decided once a class, not once a memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::index) struct MemoryClass {
    pub(in crate::index) reach: Visibility,
    pub(in crate::index) memory_type: String,
    pub(in crate::index) importance: Importance,
    pub(in crate::index) superseded: bool,
    pub(in crate::index) deleted: bool,
}

/// How many words stand in each part of a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::index) struct WordLengths {
    /// Those of title, topics and summary.
    pub(in crate::index) head: u32,
    /// Those of the text.
    pub(in crate::index) body: u32,
}

/// What the index knows of one memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::index) struct MemoryFacts {
    pub(in crate::index) id: MemoryId,
    /// The event that this is as of.
    pub(in crate::index) sequence: u64,
    /// From when on it holds, in milliseconds.
    pub(in crate::index) from: i64,
    /// Until when it holds.
    pub(in crate::index) until: i64,
    /// What replaced it.
    pub(in crate::index) heir: Option<MemoryId>,
    /// How many words it has.
    pub(in crate::index) lengths: WordLengths,
    /// What its words tell besides what they mean.
    pub(in crate::index) marks: TextSignals,
    /// The fingerprint of what is embedded of it.
    pub(in crate::index) print: u64,
}

impl MemoryFacts {
    /// Its length in words, those of its head counting for more.
    pub(in crate::index) fn length(&self) -> f64 {
        rank::weight(self.lengths.head, self.lengths.body)
    }
}

/// What the words of a memory tell besides what they mean.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::index) struct TextSignals {
    /// How many of them are in the first person.
    pub(in crate::index) first_person: u32,
    /// Whether some tell a time.
    pub(in crate::index) tells_time: bool,
    /// Whether some say that something is no longer as it was.
    pub(in crate::index) updates: bool,
}

/// A memory as the catalog takes it in.
#[derive(Debug, Clone)]
pub(in crate::index) struct MemoryDescription {
    pub(in crate::index) class: MemoryClass,
    pub(in crate::index) facts: MemoryFacts,
    pub(in crate::index) session: Option<String>,
    pub(in crate::index) case: Option<CaseKey>,
    pub(in crate::index) topics: Vec<String>,
}

impl MemoryDescription {
    /// The description of a memory as of an event, whose words are so many.
    pub(in crate::index) fn of(
        memory: &Memory,
        sequence: u64,
        lengths: WordLengths,
        marks: TextSignals,
    ) -> Self {
        let millis = |time: Timestamp| time.as_millisecond();
        let topics = memory.topics.iter().map(|topic| topic.to_lowercase()).collect();
        Self {
            class: MemoryClass {
                reach: Visibility::of(memory),
                memory_type: memory.memory_type.to_string(),
                importance: memory.importance,
                superseded: memory.superseded_by.is_some(),
                deleted: memory.deleted_at.is_some(),
            },
            facts: MemoryFacts {
                id: memory.id,
                sequence,
                from: millis(memory.valid_from.unwrap_or(memory.recorded_at)),
                until: memory.valid_until.map_or(i64::MAX, millis),
                heir: memory.superseded_by,
                lengths,
                marks,
                print: embedding_fingerprint(memory),
            },
            session: memory.session.clone(),
            case: memory.case.clone(),
            topics,
        }
    }
}

/// The fingerprint of what is embedded of a memory: 64 bits of its SHA-256.
fn embedding_fingerprint(memory: &Memory) -> u64 {
    let mut digest = Sha256::new();
    for part in [memory.title.as_deref(), Some(memory.text.as_str())] {
        digest.update(part.unwrap_or_default().as_bytes());
        digest.update([0]);
    }
    let bytes = digest.finalize();
    bytes.iter().take(8).fold(0, |print, byte| print << 8 | u64::from(*byte))
}
