//! Updating: changes only the fields that a request sets.

use std::ops::Deref;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    FolderResult, Importance, Memory, MemoryAddress, MemoryPath, MemorySubject, MemoryType,
    Sharing, distinct_entities, distinct_topics,
};
use crate::base::clock::whole_milliseconds;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::base::{input, limits};
use crate::model::entity::EntityLabel;

/// Changes one memory of your own: only the fields that you set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateMemory {
    /// Its id or path.
    pub id: MemoryAddress,
    /// Only if the memory still has this revision; otherwise `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// The new text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::OPAQUE_BYTES), regex(pattern = input::TEXT_PATTERN))]
    pub text: Option<String>,
    /// The path to which it moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_path: Option<MemoryPath>,
    /// The new type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// The new heading; empty removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// The new summary; empty removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SUMMARY_CHARS))]
    pub summary: Option<String>,
    /// The new topics, which replace all old ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TOPICS), inner(length(min = 1, max = limits::TOPIC_CHARS)))]
    pub topics: Option<Vec<String>>,
    /// The new entities, which replace all old ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::NAMED_ENTITIES))]
    pub entities: Option<Vec<EntityLabel>>,
    /// The new importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Who besides you may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// Whom it is about: user (only your user's agents see it) or project (all do).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<MemorySubject>,
    /// The new metadata; it replaces all of the old.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// When it begins to hold, RFC 3339; empty removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<TimeChange>,
    /// When it ceases to hold; empty removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<TimeChange>,
    /// The id of your memory that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryId>,
    /// Ids of notes, anyone's, that cannot hold beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::STATEMENTS))]
    pub contradicts: Vec<MemoryId>,
    /// Ids of notes that say the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::STATEMENTS))]
    pub repeats: Vec<MemoryId>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// A new value of a time that a memory may lack: a time, or an empty text, which removes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub enum TimeChange {
    /// The memory has this time.
    Set(Timestamp),
    /// The memory has none.
    Remove,
}

impl TimeChange {
    /// The change that makes a time this one.
    #[must_use]
    pub fn to(time: Option<Timestamp>) -> Self {
        time.map_or(Self::Remove, Self::Set)
    }

    fn time(self) -> Option<Timestamp> {
        match self {
            Self::Set(time) => Some(whole_milliseconds(time)),
            Self::Remove => None,
        }
    }
}

impl TryFrom<String> for TimeChange {
    type Error = jiff::Error;

    fn try_from(text: String) -> std::result::Result<Self, jiff::Error> {
        match text.trim() {
            "" => Ok(Self::Remove),
            time => time.parse().map(Self::Set),
        }
    }
}

impl From<TimeChange> for String {
    fn from(change: TimeChange) -> Self {
        match change {
            TimeChange::Set(time) => time.to_string(),
            TimeChange::Remove => Self::new(),
        }
    }
}

/// A memory after a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpdateResult {
    /// The memory as it is now.
    #[serde(flatten)]
    pub memory: Memory,
    /// What to do if the memory is quarantined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What else the call did, if it named a folder.
    #[serde(flatten)]
    pub folder: FolderResult,
}

impl Deref for UpdateResult {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.memory
    }
}

impl UpdateMemory {
    /// Applies the change to `memory`, for a caller that works for `user`, and returns the names of
    /// the fields that differ.
    ///
    /// # Errors
    /// `invalid` if no field is set or one is wrong, `too_large`, or `conflict` if the memory's
    /// revision is not the expected one.
    pub fn apply(&self, memory: &mut Memory, user: Option<&str>) -> Result<Vec<&'static str>> {
        expect_revision(self.expected_revision, memory)?;
        let before = memory.clone();
        if let Some(text) = &self.text {
            self.check_opaque_text(memory)?;
            memory.text.clone_from(text);
        }
        if let Some(path) = &self.new_path {
            memory.path = Some(path.clone());
        }
        if let Some(memory_type) = &self.memory_type {
            if *memory_type != memory.memory_type {
                memory_type.check_choice()?;
            }
            memory.memory_type.clone_from(memory_type);
        }
        if let Some(title) = &self.title {
            memory.title = Some(title.clone()).filter(|title| !title.trim().is_empty());
        }
        if let Some(summary) = &self.summary {
            memory.summary = Some(summary.clone()).filter(|summary| !summary.trim().is_empty());
        }
        if let Some(topics) = &self.topics {
            memory.topics = distinct_topics(topics)?;
        }
        if let Some(entities) = &self.entities {
            memory.entities = distinct_entities(entities)?;
        }
        if self.text.is_some() && self.entities.is_none() {
            drop_entities_gone(&before, memory);
        }
        memory.importance = self.importance.unwrap_or(memory.importance);
        memory.sharing = self.sharing.unwrap_or(memory.sharing);
        if let Some(metadata) = &self.metadata {
            memory.metadata.clone_from(metadata);
        }
        memory.valid_from = self.valid_from.map_or(memory.valid_from, TimeChange::time);
        memory.valid_until = self.valid_until.map_or(memory.valid_until, TimeChange::time);
        self.check_any_change()?;
        match self.about {
            Some(about) => memory.set_subject(about, user)?,
            None => memory.follow_words(&before, user),
        }
        memory.receive(Some(&before))?;
        Ok(changed_fields(&before, memory))
    }

    /// Checks that a new text of an opaque document comes as one: any other text has lost its control characters.
    fn check_opaque_text(&self, before: &Memory) -> Result<()> {
        let is_said = self.memory_type.as_ref().is_some_and(MemoryType::is_opaque);
        if !before.is_opaque() || is_said {
            return Ok(());
        }
        Err(Error::invalid("memory_type", "is missing; the document is opaque")
            .hint("Set `memory_type` to opaque, so that the text is kept byte for byte."))
    }

    /// Checks that a change of a whole folder moves it, and nothing else.
    ///
    /// # Errors
    /// `invalid` on `new_path` if it is missing, on `id` if another field is set.
    pub fn folder_target(&self) -> Result<MemoryPath> {
        let Some(to) = &self.new_path else {
            return Err(Error::invalid("new_path", "is missing; a folder is only moved").hint(
                "Name one document to change it, or set `new_path` to move all below the folder.",
            ));
        };
        let Self { id, idempotency_key, .. } = self.clone();
        let new_path = Some(to.clone());
        let move_alone = Self { new_path, idempotency_key, ..Self::empty_update(id) };
        if *self != move_alone {
            return Err(Error::invalid("id", "names a folder, which is only moved")
                .hint("Leave out all but `new_path`, or name one document."));
        }
        if format!("{to}/").starts_with(&self.id.to_string()) {
            return Err(Error::invalid("new_path", "lies in the folder that is to move there")
                .hint("Choose a path outside of the folder."));
        }
        Ok(to.clone())
    }

    fn check_any_change(&self) -> Result<()> {
        let fields = Self { expected_revision: None, idempotency_key: None, ..self.clone() };
        if fields == Self::empty_update(self.id.clone()) {
            return Err(Error::new(ErrorKind::Invalid, "no field is set; expected at least one")
                .hint("Set at least one field to its new value."));
        }
        Ok(())
    }

    /// A request for this memory that sets no field.
    #[must_use]
    pub fn empty_update(id: impl Into<MemoryAddress>) -> Self {
        Self {
            id: id.into(),
            expected_revision: None,
            text: None,
            new_path: None,
            memory_type: None,
            title: None,
            summary: None,
            topics: None,
            entities: None,
            importance: None,
            sharing: None,
            about: None,
            metadata: None,
            valid_from: None,
            valid_until: None,
            supersedes: None,
            contradicts: Vec::new(),
            repeats: Vec::new(),
            idempotency_key: None,
        }
    }
}

impl Memory {
    /// This memory with the content of one of its revisions, for a caller that works for `user`, and
    /// the names of the fields that differ. Its readers are those that may read both: content that
    /// was private or about a user stays so.
    ///
    /// # Errors
    /// As [`Memory::receive`].
    pub fn with_content_of(
        &self,
        revision: &Self,
        user: Option<&str>,
    ) -> Result<(Self, Vec<&'static str>)> {
        let Self { memory_type, title, text, summary, topics, entities, importance, .. } =
            revision.clone();
        let Self { metadata, valid_from, valid_until, .. } = revision.clone();
        let mut after = Self {
            memory_type,
            title,
            text,
            summary,
            topics,
            entities,
            importance,
            metadata,
            valid_from,
            valid_until,
            ..self.clone()
        };
        if !changed_fields(self, &after).is_empty() {
            after.sharing = self.sharing.min(revision.sharing);
            after.user_id = self.user_id.clone().or_else(|| revision.user_id.clone());
            after.follow_words(self, user);
        }
        after.receive(Some(self))?;
        let changed = changed_fields(self, &after);
        Ok((after, changed))
    }
}

/// Removes the entities that the old text mentions and the new text does not. Entities that the
/// author named without mentioning them stay.
fn drop_entities_gone(before: &Memory, after: &mut Memory) {
    let words = |memory: &Memory| {
        let parts =
            [memory.title.as_deref(), memory.summary.as_deref(), Some(memory.text.as_str())];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n").to_lowercase()
    };
    let (old, new) = (words(before), words(after));
    after.entities.retain(|entity| {
        let value = entity.value.to_lowercase();
        !old.contains(&value) || new.contains(&value)
    });
}

/// The names of the fields that differ between two revisions.
#[must_use]
pub fn changed_fields(before: &Memory, after: &Memory) -> Vec<&'static str> {
    [
        ("text", before.text != after.text),
        ("path", before.path != after.path),
        ("memory_type", before.memory_type != after.memory_type),
        ("title", before.title != after.title),
        ("summary", before.summary != after.summary),
        ("topics", before.topics != after.topics),
        ("entities", before.entities != after.entities),
        ("importance", before.importance != after.importance),
        ("trust", before.trust != after.trust),
        ("sharing", before.sharing != after.sharing),
        ("about", before.user_id != after.user_id),
        ("metadata", before.metadata != after.metadata),
        ("valid_from", before.valid_from != after.valid_from),
        ("valid_until", before.valid_until != after.valid_until),
    ]
    .into_iter()
    .filter_map(|(field, differs)| differs.then_some(field))
    .collect()
}

/// Refuses a change of a memory that was revised since the caller read it.
///
/// # Errors
/// `conflict`, with both revisions.
pub fn expect_revision(expected: Option<u64>, memory: &Memory) -> Result<()> {
    match expected {
        Some(expected) if expected != memory.revision => Err(Error::conflict(format!(
            "expected_revision: the memory is at revision {}, not {expected}",
            memory.revision
        ))
        .with_field("expected_revision")
        .hint(
            "Read the memory with `get_memory`, and repeat the change with its present revision.",
        )),
        _ => Ok(()),
    }
}
