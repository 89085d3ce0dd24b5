//! Entries: memories as a case tells them, in its order.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use crate::model::memory::{Importance, Memory, MemoryType};
use commonbook_text::string_enum;

string_enum! {
    /// What sort of entry it is; its memory's type is called the same.
    EntryKind {
        /// Something worth knowing for who works on this.
        Note = "note",
        /// What was decided.
        Decision = "decision",
        /// What was reached.
        Milestone = "milestone",
        /// What somebody has to find out or decide.
        Question = "question",
        /// What was found out.
        Answer = "answer",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for EntryKind {
    fn default() -> Self {
        Self::Note
    }
}

impl EntryKind {
    /// The type of a memory that is such an entry.
    ///
    /// # Errors
    /// Never: every kind is a slug.
    pub fn memory_type(self) -> Result<MemoryType> {
        MemoryType::try_from(self.name().to_owned())
    }

    /// The kind of an entry whose memory is of this type.
    #[must_use]
    pub fn of(memory_type: &MemoryType) -> Self {
        let known = Self::ALL.iter().find(|kind| kind.name() == memory_type.as_str());
        known.copied().unwrap_or_default()
    }
}

/// An entry of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseEntry {
    /// Its place in the case: 1, 2, 3 … without a gap.
    pub position: u64,
    /// Whether it is kept from you, and only its place is told: it is quarantined until a person
    /// has looked at it, or it is about a user that you do not work for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
    /// The id of its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<MemoryId>,
    /// What sort of entry it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntryKind>,
    /// The agent that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What it says, in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What it says at length, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What it is about, as short words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// How much it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// The session it was written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The earlier entries that it takes the place of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<MemoryId>,
    /// The later entry that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
}

impl CaseEntry {
    /// A memory as an entry that supersedes these.
    #[must_use]
    pub fn of(memory: Memory, supersedes: Vec<MemoryId>) -> Self {
        let kind = EntryKind::of(&memory.memory_type);
        // Without a text of its own, the text of its memory is the summary.
        let (summary, text) = match memory.summary {
            Some(summary) if summary == memory.text => (summary, None),
            Some(summary) => (summary, Some(memory.text)),
            None => (memory.text, None),
        };
        Self {
            position: memory.position.unwrap_or(0),
            withheld: false,
            entry_id: Some(memory.id),
            kind: Some(kind),
            agent: Some(memory.owner),
            at: Some(memory.recorded_at),
            summary: Some(summary),
            text,
            topics: memory.topics,
            importance: Some(memory.importance),
            session: memory.session,
            supersedes,
            superseded_by: memory.superseded_by,
        }
    }

    /// The place of an entry that the caller is not given.
    #[must_use]
    pub fn withheld(position: u64) -> Self {
        Self { position, withheld: true, ..Self::default() }
    }
}
