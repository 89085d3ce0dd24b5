//! Memories: what is kept, and what its author may choose.

mod memory_type;
mod mentions;
mod receive;
mod requests;
mod review;
mod save;
mod update;

pub use memory_type::MemoryType;
pub use receive::{fit_line, fit_text};
pub use requests::{
    DeleteMemory, GetMemory, ListMemories, ListOrder, MemoryAt, MemoryHistory, MemoryRevision,
    PurgeMemory, PurgeResult, RestoreMemory, RevisionHistory,
};
pub use review::{
    AppealMemory, ListQuarantined, PendingReview, QuarantineNotice, ReleaseAppeal, ReleaseMemory,
};
pub use save::{SaveMemories, SaveMemory, SaveOutcome, SaveResult};
pub use update::{UpdateMemory, UpdateResult, expect_revision};

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::key::CaseKey;
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::caller::{EntryPoint, user_id};
use crate::model::entity::EntityLabel;
use crate::model::workspace::Workspace;
use commonbook_text::injection::InjectionReason;
use commonbook_text::string_enum;

string_enum! {
    /// How much a memory matters.
    Importance {
        /// Good to have.
        Low = "low",
        /// The usual.
        Normal = "normal",
        /// Worth reading before work that touches it.
        High = "high",
        /// Harm follows where it is not known.
        Critical = "critical",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for Importance {
    fn default() -> Self {
        Self::Normal
    }
}

string_enum! {
    /// Who else may read a memory.
    Sharing {
        /// Its owner alone.
        Private = "private",
        /// Everybody in the workspace.
        Shared = "shared",
    }
}

string_enum! {
    /// How far a memory is trusted.
    Trust {
        /// As its author is.
        Normal = "normal",
        /// It came from outside and was not looked at.
        Untrusted = "untrusted",
        /// It tries to instruct other agents; nobody but its author is given it until somebody has
        /// looked at it and released it.
        Quarantined = "quarantined",
    }
}

/// Where a memory came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemorySource {
    /// The agent that wrote it.
    pub agent: Agent,
    /// The device it was written from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device: Option<String>,
    /// The client program it was written through, with its version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub client: Option<String>,
    /// The session it was written in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// The door it came in by.
    pub how: EntryPoint,
    /// Whether only its own word says that it was this child of the agent that a token proved.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub asserted: bool,
    /// The SHA-256 of the text as first written; of the whole line for an imported one.
    pub sha256: String,
}

/// One thing kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// The workspace it is kept in.
    pub workspace: Workspace,
    /// The agent that may change it.
    pub owner: Agent,
    /// The user it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user_id: Option<String>,
    /// What sort of memory it is.
    pub memory_type: MemoryType,
    /// A heading.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// What is kept.
    pub text: String,
    /// The text in a sentence or two.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<String>,
    /// What it is about, as short words.
    pub topics: Vec<String>,
    /// The things that it names itself; others are found in it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub entities: Vec<EntityLabel>,
    /// How much it matters.
    pub importance: Importance,
    /// Who else may read it.
    pub sharing: Sharing,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// The case that it is an entry of: then nobody changes or deletes it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub case: Option<CaseKey>,
    /// Its place in the case: 1, 2, 3 … without a gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub position: Option<u64>,
    /// Where it came from.
    pub source: MemorySource,
    /// How far it is trusted.
    pub trust: Trust,
    /// Why it is quarantined, or was until somebody released it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[schemars(with = "Vec<String>")]
    pub suspicions: Vec<InjectionReason>,
    /// What waits until somebody has looked at it, while it is quarantined.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub review: Option<PendingReview>,
    /// The kinds of secrets that were taken out of it before it was kept.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub redacted: Vec<String>,
    /// Whatever else its author wants to keep with it.
    pub metadata: Map<String, Value>,
    /// When it was first kept.
    pub recorded_at: Timestamp,
    /// When it last changed.
    pub revised_at: Timestamp,
    /// The agent that changed it last.
    pub revised_by: Agent,
    /// How often it was written: 1 at first.
    pub revision: u64,
    /// From when on it holds, where that differs from `recorded_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_from: Option<Timestamp>,
    /// Until when it holds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_until: Option<Timestamp>,
    /// The memory that replaced it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub superseded_by: Option<MemoryId>,
    /// When it was deleted; it can be restored for 30 days.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deleted_at: Option<Timestamp>,
}

impl Memory {
    /// Whether everybody in its workspace can read it, whoever they work for.
    #[must_use]
    pub fn is_common(&self) -> bool {
        self.sharing == Sharing::Shared
            && self.user_id.is_none()
            && self.deleted_at.is_none()
            && !self.is_quarantined()
    }

    /// Checks what a writer chose against the limits.
    ///
    /// # Errors
    /// `invalid` and `too_large`, with the field.
    pub fn check(&self) -> Result<()> {
        if self.text.trim().is_empty() {
            return Err(Error::invalid("text", "there is nothing to keep")
                .hint("Put what is to be remembered into text."));
        }
        if self.text.len() > limits::TEXT_BYTES {
            return Err(Error::too_large("text", self.text.len(), limits::TEXT_BYTES, "bytes"));
        }
        input::refuse_control_characters("text", &self.text)?;
        if let Some(title) = &self.title {
            input::line("title", title, limits::TITLE_CHARS)?;
        }
        if let Some(summary) = &self.summary {
            let chars = summary.chars().count();
            if chars > limits::SUMMARY_CHARS {
                return Err(Error::too_large(
                    "summary",
                    chars,
                    limits::SUMMARY_CHARS,
                    "characters",
                ));
            }
            input::refuse_control_characters("summary", summary)?;
        }
        distinct_topics(&self.topics)?;
        distinct_entities(&self.entities)?;
        if let Some(user) = &self.user_id {
            user_id(user)?;
        }
        if let Some(session) = &self.session {
            input::line("session", session, limits::SESSION_CHARS)?;
        }
        for (key, value) in &self.metadata {
            input::refuse_control_characters("metadata", key)?;
            no_control_within(value)?;
        }
        let metadata = Value::Object(self.metadata.clone()).to_string();
        if metadata.len() > limits::METADATA_BYTES {
            let found = metadata.len();
            return Err(Error::too_large("metadata", found, limits::METADATA_BYTES, "bytes"));
        }
        match (self.valid_from, self.valid_until) {
            (Some(from), Some(until)) if until < from => {
                Err(Error::invalid("valid_until", "this is before valid_from"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a search gives it: neither deleted nor superseded.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.deleted_at.is_none() && self.superseded_by.is_none()
    }
}

/// Refuses control characters in any text of a metadata value.
fn no_control_within(value: &Value) -> Result<()> {
    match value {
        Value::String(text) => input::refuse_control_characters("metadata", text),
        Value::Array(values) => values.iter().try_for_each(no_control_within),
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            input::refuse_control_characters("metadata", key)?;
            no_control_within(value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Things by their names, each once.
///
/// # Errors
/// `too_large` for too many.
pub(crate) fn distinct_entities(given: &[EntityLabel]) -> Result<Vec<EntityLabel>> {
    if given.len() > limits::NAMED_ENTITIES {
        let limit = limits::NAMED_ENTITIES;
        return Err(Error::too_large("entities", given.len(), limit, "entities"));
    }
    let mut entities: Vec<EntityLabel> = Vec::with_capacity(given.len());
    for named in given {
        if !entities.iter().any(|other| other.names_same(named)) {
            entities.push(named.clone());
        }
    }
    Ok(entities)
}

/// The topics, trimmed and each once, in order.
pub(crate) fn distinct_topics(given: &[String]) -> Result<Vec<String>> {
    if given.len() > limits::TOPICS {
        return Err(Error::too_large("topics", given.len(), limits::TOPICS, "topics"));
    }
    let mut seen = BTreeSet::new();
    let mut topics = Vec::with_capacity(given.len());
    for (place, topic) in given.iter().enumerate() {
        let topic = input::line(&format!("topics[{place}]"), topic, limits::TOPIC_CHARS)?;
        if seen.insert(topic.to_lowercase()) {
            topics.push(topic);
        }
    }
    Ok(topics)
}
