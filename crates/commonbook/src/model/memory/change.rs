//! How a memory has changed since a reader received it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Memory;
use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use commonbook_text::string_enum;

string_enum! {
    /// How a memory has changed.
    MemoryChangeKind {
        /// It says something else now.
        Corrected = "corrected",
        /// Another memory took its place.
        Superseded = "superseded",
        /// It was retracted: it is wrong.
        Retracted = "retracted",
        /// It was deleted.
        Deleted = "deleted",
        /// Another memory contradicts it.
        Contradicted = "contradicted",
    }
}

/// A memory that is not what it was at a checkpoint, or when it was handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryChange {
    /// The memory.
    pub id: MemoryId,
    /// The agent that owns it.
    pub owner: Agent,
    /// How it has changed.
    pub change: MemoryChangeKind,
    /// The memory that took its place, if you may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<MemoryId>,
}

impl MemoryChange {
    /// This change of a memory.
    #[must_use]
    pub fn new(memory: &Memory, change: MemoryChangeKind, by: Option<MemoryId>) -> Self {
        Self { id: memory.id, owner: memory.owner.clone(), change, by }
    }

    /// What has become of a memory; `None` if it holds and says what it said.
    #[must_use]
    pub fn between(then: &Memory, now: &Memory) -> Option<Self> {
        if now.deleted_at.is_some() {
            Some(Self::new(now, MemoryChangeKind::Deleted, None))
        } else if now.retraction.is_some() {
            Some(Self::new(now, MemoryChangeKind::Retracted, None))
        } else if now.superseded_by.is_some() {
            Some(Self::new(now, MemoryChangeKind::Superseded, now.superseded_by))
        } else {
            (!says_same(then, now)).then(|| Self::new(now, MemoryChangeKind::Corrected, None))
        }
    }
}

/// Whether two revisions of a memory say the same, of the same time.
#[must_use]
pub fn says_same(then: &Memory, now: &Memory) -> bool {
    let says = |memory: &Memory| {
        let Memory { title, text, summary, valid_from, valid_until, .. } = memory.clone();
        (title, text, summary, valid_from, valid_until)
    };
    says(then) == says(now)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::base::id::CountingIds;
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::memory::{Retraction, SaveMemory, Sharing};
    use crate::model::workspace::Workspace;

    fn now() -> Timestamp {
        "2026-11-23T09:00:00Z".parse().expect("a time")
    }

    fn memory(text: &str) -> Memory {
        let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Rest);
        let request = SaveMemory { text: text.to_owned(), ..SaveMemory::default() };
        let id = MemoryId::new(&CountingIds::default(), now());
        request.memory(&caller, Sharing::Shared, id, now()).expect("a memory")
    }

    #[test]
    fn what_became_of_a_memory_is_one_of_four() {
        let then = memory("three");
        let heir = MemoryId::new(&CountingIds::default(), now());
        let changed = |change: fn(&mut Memory)| {
            let mut now = Memory { revision: 2, ..then.clone() };
            change(&mut now);
            MemoryChange::between(&then, &now).map(|change| change.change)
        };
        assert_eq!(changed(|_| ()), None);
        assert_eq!(
            changed(|memory| memory.topics = vec!["retries".into()]),
            None,
            "it says the same"
        );
        assert_eq!(
            changed(|memory| memory.text = "five".into()),
            Some(MemoryChangeKind::Corrected)
        );
        assert_eq!(
            changed(|memory| memory.deleted_at = Some(now())),
            Some(MemoryChangeKind::Deleted)
        );
        let retraction = Retraction { reason: "x".into(), by: Agent::human(), at: now() };
        let retracted = Memory { retraction: Some(retraction), ..then.clone() };
        let change = MemoryChange::between(&then, &retracted).expect("a change");
        assert_eq!((change.change, change.by), (MemoryChangeKind::Retracted, None));
        let superseded = Memory { superseded_by: Some(heir), ..then.clone() };
        let change = MemoryChange::between(&then, &superseded).expect("a change");
        assert_eq!((change.change, change.by), (MemoryChangeKind::Superseded, Some(heir)));
    }
}
