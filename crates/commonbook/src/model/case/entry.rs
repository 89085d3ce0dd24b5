//! Entries: memories as a case lists them.

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Value, json};

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use crate::model::case::digest::DigestOrigin;
use crate::model::memory::{Importance, Memory, MemoryType, Retraction};
use commonbook_text::string_enum;

string_enum! {
    /// The kind of an entry; its memory's type has the same name.
    EntryKind {
        /// Worth knowing for the agents on this case.
        Note = "note",
        /// Something that was decided.
        Decision = "decision",
        /// Something that was reached.
        Milestone = "milestone",
        /// Something to find out or decide.
        Question = "question",
        /// The answer to a question.
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
    /// The memory type of this kind.
    ///
    /// # Errors
    /// Never: every kind is a slug.
    pub fn memory_type(self) -> Result<MemoryType> {
        MemoryType::try_from(self.name().to_owned())
    }

    /// The kind of an entry whose memory has this type.
    #[must_use]
    pub fn of(memory_type: &MemoryType) -> Self {
        let kind = Self::ALL.iter().find(|kind| kind.name() == memory_type.as_str());
        kind.copied().unwrap_or_default()
    }
}

/// A place in a case: a position, or the id of the entry there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum EntryMark {
    /// A position.
    Position(u64),
    /// An entry.
    Entry(MemoryId),
}

impl<'de> Deserialize<'de> for EntryMark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let position = || value.as_u64().or_else(|| value.as_str()?.parse().ok());
        let entry = || value.as_str().and_then(MemoryId::parse);
        let found = position().map(Self::Position).or_else(|| entry().map(Self::Entry));
        found.ok_or_else(|| de::Error::custom("expected a position or the id of an entry"))
    }
}

impl JsonSchema for EntryMark {
    fn schema_name() -> Cow<'static, str> {
        "EntryMark".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = MemoryId::json_schema(generator);
        schema.insert("type".to_owned(), json!(["integer", "string"]));
        schema.insert("minimum".to_owned(), json!(0));
        schema
    }
}

/// Which entries of a case a reader wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Of this kind.
    pub kind: Option<EntryKind>,
    /// By this agent.
    pub author: Option<String>,
    /// The newest ones instead of the oldest.
    pub newest: bool,
}

/// An entry of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseEntry {
    /// Its position in the case: 1, 2, 3 … without gaps.
    pub position: u64,
    /// True if you may see only its position, because it is quarantined or about a user that you do
    /// not work for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
    /// The id of its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<MemoryId>,
    /// Its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntryKind>,
    /// The agent that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What it says, in one or two sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The full text, if it says more than the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its topics, as short words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// How much it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// The session in which it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The earlier entries that it supersedes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<MemoryId>,
    /// The later entry that supersedes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// What a digest made it of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<DigestOrigin>,
    /// Why it does not hold any more, if it was retracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retraction: Option<Retraction>,
    /// What to know of its origin: `untrusted`, `quarantined`, or `from a file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_note: Option<String>,
}

impl CaseEntry {
    /// The entry of a memory that supersedes these others.
    #[must_use]
    pub fn of(memory: Memory, supersedes: Vec<MemoryId>) -> Self {
        let kind = EntryKind::of(&memory.memory_type);
        let origin = DigestOrigin::of(&memory);
        let origin_note = memory.origin_note().map(str::to_owned);
        let memory = without_sources_line(memory, origin.as_ref());
        // An entry without a full text keeps its summary as the memory's text.
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
            origin,
            retraction: memory.retraction,
            origin_note,
        }
    }

    /// The position of an entry that the caller may not see.
    #[must_use]
    pub fn withheld(position: u64) -> Self {
        Self { position, withheld: true, ..Self::default() }
    }
}

/// The memory of an entry without the line that names its sources, which an earlier release wrote; its
/// summary is its text then.
fn without_sources_line(memory: Memory, origin: Option<&DigestOrigin>) -> Memory {
    let has_line = origin.is_some_and(|origin| origin.is_in_text(&memory));
    let text = match (memory.text.rsplit_once('\n'), &memory.summary) {
        _ if !has_line => return memory,
        (Some((before, _)), _) => before.to_owned(),
        (None, Some(summary)) => summary.clone(),
        (None, None) => return memory,
    };
    Memory { text, ..memory }
}
