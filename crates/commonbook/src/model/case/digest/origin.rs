//! Origin: what a digest made an entry of, and who said it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SOURCES_LEAD;
use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use crate::model::caller::EntryPoint;
use crate::model::memory::Memory;

/// The key in the metadata of an entry's memory.
const METADATA_KEY: &str = "digest";

/// What a digest made an entry of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DigestOrigin {
    /// The memories that state it; the one that its words come from is first.
    pub sources: Vec<MemoryId>,
    /// The agents that state it.
    pub authors: Vec<Agent>,
}

impl DigestOrigin {
    /// What a digest made this memory of; `None` if no digest made it: an author may write anything into
    /// the metadata and the text of its own entries.
    #[must_use]
    pub fn of(entry: &Memory) -> Option<Self> {
        let by_digest = entry.source.how == EntryPoint::Digest || entry.owner == Agent::system();
        if entry.case.is_none() || !by_digest {
            return None;
        }
        let origin = entry.metadata.get(METADATA_KEY);
        origin.and_then(|origin| Self::deserialize(origin).ok()).or_else(|| Self::in_text(entry))
    }

    /// What the last line of an entry's text names, where an earlier release kept it.
    pub(super) fn in_text(entry: &Memory) -> Option<Self> {
        let line = entry.text.lines().last()?.strip_prefix(SOURCES_LEAD)?;
        let (authors, sources) = line.rsplit_once(" in ")?;
        let sources: Vec<MemoryId> =
            sources.split([' ', ',', '.']).filter_map(MemoryId::parse).collect();
        let authors = authors.split(", ").filter_map(|author| author.parse().ok()).collect();
        (!sources.is_empty()).then_some(Self { sources, authors })
    }

    /// Whether the last line of the entry's text names it, as an earlier release wrote it.
    #[must_use]
    pub fn is_in_text(&self, entry: &Memory) -> bool {
        let last = entry.text.lines().last().unwrap_or_default();
        !entry.metadata.contains_key(METADATA_KEY) && last.starts_with(SOURCES_LEAD)
    }

    /// Keeps it with the memory of an entry.
    pub fn keep(&self, entry: &mut Memory) {
        let origin = serde_json::to_value(self).unwrap_or(Value::Null);
        entry.metadata.insert(METADATA_KEY.to_owned(), origin);
        entry.source.how = EntryPoint::Digest;
    }

    /// The agents that state it, as one text.
    #[must_use]
    pub fn said_by(&self) -> String {
        self.authors.iter().map(Agent::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// Whether a digest made this entry of one of these memories.
#[must_use]
pub fn is_copy_of(entry: &Memory, ids: &[MemoryId]) -> bool {
    DigestOrigin::of(entry)
        .is_some_and(|origin| origin.sources.iter().any(|source| ids.contains(source)))
}

/// These memories without the entries that a digest made of another one among them: no text tells both.
#[must_use]
pub fn without_copies<T>(told: Vec<T>, memory: impl Fn(&T) -> &Memory) -> Vec<T> {
    let ids: Vec<MemoryId> = told.iter().map(|item| memory(item).id).collect();
    told.into_iter().filter(|item| !is_copy_of(memory(item), &ids)).collect()
}
