//! Duplicates: two memories with the same text, and the one memory that they become.

use std::collections::BTreeSet;

use commonbook_text::dates;
use commonbook_text::terms::composed;

use crate::base::limits;
use crate::model::access::StoredMemory;
use crate::model::contradiction::MemoryStatements;
use crate::model::memory::{Memory, Sharing, Trust};

/// Types that report what happened: the same words on another day report something else.
const EVENT_TYPES: [&str; 5] =
    ["episodic", "conversation", "task_context", "milestone", "question"];

/// Types of which each memory stands for itself.
const SINGLE_TYPES: [&str; 1] = ["handoff"];

/// Whether a consolidation may merge this memory with another: a current memory of an agent with a
/// name that is no entry of a case, no document and not quarantined.
#[must_use]
pub fn may_merge(memory: &Memory) -> bool {
    memory.is_usable()
        && memory.case.is_none()
        && !memory.is_document()
        && !memory.owner.is_anonymous()
        && !SINGLE_TYPES.contains(&memory.memory_type.as_str())
}

/// Whether one of two memories can stand for both if they say the same: what stands beside the texts
/// fits, the time in which they hold and the metadata. A private memory never merges with a shared one,
/// whose readers would see that it exists.
#[must_use]
pub fn may_stand_for_both(a: &Memory, b: &Memory) -> bool {
    a.id != b.id
        && may_merge(a)
        && may_merge(b)
        && a.workspace == b.workspace
        && a.user_id == b.user_id
        && a.memory_type == b.memory_type
        && a.sharing == b.sharing
        && (a.owner == b.owner || a.sharing == Sharing::Shared)
        && (a.valid_from, a.valid_until) == (b.valid_from, b.valid_until)
        && metadata_fits(a, b)
}

/// Whether two memories have the same text, so that one can stand for both: another word, number or unit is
/// never the same. The title and the topics must fit too. What says the same in other words merges only if
/// it was said to.
#[must_use]
pub fn are_duplicates(a: &Memory, b: &Memory) -> bool {
    may_stand_for_both(a, b)
        && title_words(a) == title_words(b)
        && names_same_times(a, b)
        && MemoryStatements::of(a).has_text_of(&MemoryStatements::of(b))
}

fn title_words(memory: &Memory) -> Option<String> {
    memory.title.as_ref().map(|title| composed(title.trim()).to_lowercase())
}

/// Whether no key has two values.
fn metadata_fits(a: &Memory, b: &Memory) -> bool {
    a.metadata.iter().all(|(key, value)| b.metadata.get(key).is_none_or(|other| other == value))
}

/// Whether "yesterday" is the same day in both. What reports an event does so of its day.
fn names_same_times(a: &Memory, b: &Memory) -> bool {
    const DAY_SECONDS: i64 = 24 * 60 * 60;
    let day = |memory: &Memory| memory.recorded_at.as_second().div_euclid(DAY_SECONDS);
    if day(a) == day(b) {
        return true;
    }
    let reports = EVENT_TYPES.contains(&a.memory_type.as_str());
    let times = |memory: &Memory| dates::parse_times(&memory.text, memory.recorded_at).spans;
    !reports && times(a) == times(b)
}

/// The memory that stays, with what the merged ones have besides their text: all topics and entities,
/// the highest importance, the weakest trust. What exceeds a limit stays with the merged one.
#[must_use]
pub fn merged_memory(kept: &Memory, merged: &[StoredMemory]) -> Memory {
    let mut memory = kept.clone();
    let mut topics: BTreeSet<String> =
        memory.topics.iter().map(|topic| topic.to_lowercase()).collect();
    for other in merged {
        for topic in &other.topics {
            if memory.topics.len() < limits::TOPICS && topics.insert(topic.to_lowercase()) {
                memory.topics.push(topic.clone());
            }
        }
        for label in &other.entities {
            if memory.entities.len() < limits::NAMED_ENTITIES
                && !memory.entities.iter().any(|own| own.names_same(label))
            {
                memory.entities.push(label.clone());
            }
        }
        memory.importance = memory.importance.max(other.importance);
        if other.trust == Trust::Untrusted {
            memory.trust = Trust::Untrusted;
        }
        if memory.summary.is_none() {
            memory.summary.clone_from(&other.summary);
        }
        let mut metadata = memory.metadata.clone();
        for (key, value) in &other.metadata {
            metadata.entry(key.clone()).or_insert_with(|| value.clone());
        }
        let with_metadata = Memory { metadata, ..memory.clone() };
        if with_metadata.check().is_ok() {
            memory = with_metadata;
        }
    }
    memory
}
