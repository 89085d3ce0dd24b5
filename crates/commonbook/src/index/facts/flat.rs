//! The facts of one memory, besides its words.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::base::id::MemoryId;
use crate::model::access::Visibility;
use crate::model::case::CaseKey;
use crate::model::memory::{Importance, Memory};
use crate::model::search::rank;

/// The facts that many memories share. Permission and most filters are decided once per class, not
/// per memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::index) struct MemoryClass {
    #[serde(rename = "reach")]
    pub(in crate::index) visibility: Visibility,
    pub(in crate::index) memory_type: String,
    pub(in crate::index) importance: Importance,
    pub(in crate::index) superseded: bool,
    pub(in crate::index) deleted: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::index) archived: bool,
}

/// The number of words in each part of a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::index) struct WordLengths {
    /// Words of title, topics and summary.
    pub(in crate::index) head: u32,
    /// Words of the text.
    pub(in crate::index) body: u32,
}

/// The facts of one memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::index) struct MemoryFacts {
    pub(in crate::index) id: MemoryId,
    /// The event that they are as of.
    pub(in crate::index) sequence: u64,
    /// The start of the memory's validity, in milliseconds.
    pub(in crate::index) from: i64,
    /// The end of its validity, in milliseconds.
    pub(in crate::index) until: i64,
    /// The memory that supersedes it.
    pub(in crate::index) successor: Option<MemoryId>,
    /// Its number of words.
    pub(in crate::index) lengths: WordLengths,
    /// Signals from its words.
    pub(in crate::index) signals: TextSignals,
    /// The fingerprint of its embedded text.
    pub(in crate::index) fingerprint: u64,
}

impl MemoryFacts {
    /// Its length in words; those of its head count more.
    pub(in crate::index) fn length(&self) -> f64 {
        rank::weight(self.lengths.head, self.lengths.body)
    }
}

/// Signals for ranking from the words of a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::index) struct TextSignals {
    /// Number of words in the first person.
    pub(in crate::index) first_person: u32,
    /// Whether a word expresses a time.
    pub(in crate::index) tells_time: bool,
    /// Whether it says that something has changed.
    pub(in crate::index) updates: bool,
    /// Whether it addresses somebody, as turns of a conversation do.
    pub(in crate::index) addresses: bool,
    /// Whether it asks a question.
    pub(in crate::index) asks: bool,
}

/// A memory as input of the catalog.
#[derive(Debug, Clone)]
pub(in crate::index) struct MemoryDescription {
    pub(in crate::index) class: MemoryClass,
    pub(in crate::index) facts: MemoryFacts,
    pub(in crate::index) session: Option<String>,
    pub(in crate::index) case: Option<CaseKey>,
    pub(in crate::index) topics: Vec<String>,
}

impl MemoryDescription {
    /// The description of a memory as of an event, with its number of words.
    pub(in crate::index) fn of(
        memory: &Memory,
        sequence: u64,
        lengths: WordLengths,
        signals: TextSignals,
    ) -> Self {
        let millis = |time: Timestamp| time.as_millisecond();
        let topics = memory.topics.iter().map(|topic| topic.to_lowercase()).collect();
        Self {
            class: MemoryClass {
                visibility: Visibility::of(memory),
                memory_type: memory.memory_type.to_string(),
                importance: memory.importance,
                superseded: memory.superseded_by.is_some(),
                // A retracted memory is found no more than a deleted one.
                deleted: memory.deleted_at.is_some() || memory.retraction.is_some(),
                archived: memory.archived_at.is_some(),
            },
            facts: MemoryFacts {
                id: memory.id,
                sequence,
                from: millis(memory.valid_from.unwrap_or(memory.recorded_at)),
                until: memory.valid_until.map_or(i64::MAX, millis),
                successor: memory.superseded_by,
                lengths,
                signals,
                fingerprint: embedding_fingerprint(memory),
            },
            session: memory.session.clone(),
            case: memory.case.clone(),
            topics,
        }
    }
}

/// The fingerprint of a memory's embedded text: 64 bits of its SHA-256.
fn embedding_fingerprint(memory: &Memory) -> u64 {
    let mut digest = Sha256::new();
    for part in [memory.title.as_deref(), Some(memory.text.as_str())] {
        digest.update(part.unwrap_or_default().as_bytes());
        digest.update([0]);
    }
    let bytes = digest.finalize();
    bytes.iter().take(8).fold(0, |fingerprint, byte| fingerprint << 8 | u64::from(*byte))
}
