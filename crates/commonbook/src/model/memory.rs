//! Memories: the record, and what its author may choose.

mod admission;
mod change;
mod difference;
mod marks;
mod memory_type;
mod mentions;
mod near;
mod path;
mod receive;
mod requests;
mod retraction;
mod review;
mod save;
mod subject;
mod update;
mod usage;

pub use admission::AdmittedMemory;
pub use change::{MemoryChange, MemoryChangeKind, says_same};
pub use difference::{
    DiffMemories, FieldDifference, MemoryDifference, field_differences, state_differences,
};
pub use marks::{ChangedBasis, OpenContradiction};
pub use memory_type::MemoryType;
pub use near::{NearNote, NoteStatements};
pub use path::{
    ADDRESS_PATTERN, DELETION_ADDRESS_PATTERN, DocumentPath, MemoryAddress, MemoryPath,
    PathPattern, PathPosition,
};
pub use receive::{fit_line, fit_text};
pub use requests::{
    DeleteMemory, DeleteResult, FolderResult, GetMemories, GetMemory, ListMemories, ListOrder,
    MemoryAt, MemoryHistory, MemoryRevision, OpenedMemories, PurgeMemory, PurgeResult,
    RestoreMemory, RevisionHistory, RevisionPurge,
};
pub use retraction::{
    BlastRadius, RadiusKind, RadiusNode, RetractMemory, Retraction, RetractionNotice,
    RetractionNoticeKind, RetractionResult, may_retract,
};
pub use review::{
    AppealMemory, ListQuarantined, PendingReview, QuarantineNotice, ReleaseAppeal, ReleaseMemory,
};
pub use save::{
    RetractedTwin, SaveMemories, SaveMemory, SaveOutcome, SaveResult, unbegun_session_hint,
};
pub use subject::MemorySubject;
pub use update::{TimeChange, UpdateMemory, UpdateResult, changed_fields, expect_revision};
pub use usage::{MemoryUsage, UsageKind, UsagePosition};

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
use commonbook_text::headline::headline;
use commonbook_text::injection::InjectionReason;
use commonbook_text::string_enum;

string_enum! {
    /// How much a memory matters.
    Importance {
        /// Nice to know.
        Low = "low",
        /// The default.
        Normal = "normal",
        /// Worth reading before any work on its subject.
        High = "high",
        /// Not knowing it causes harm.
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
    /// Who besides its owner may read a memory.
    Sharing {
        /// Only its owner.
        Private = "private",
        /// Every agent in the workspace.
        Shared = "shared",
    }
}

impl Sharing {
    /// [`Self::Shared`] if `common`, else [`Self::Private`].
    #[must_use]
    pub const fn shared_if(common: bool) -> Self {
        if common { Self::Shared } else { Self::Private }
    }
}

string_enum! {
    /// How far a memory is trusted.
    Trust {
        /// As much as its author.
        Normal = "normal",
        /// It came from outside the workspace, and no person has reviewed it.
        Untrusted = "untrusted",
        /// It tries to instruct other agents. Only its author receives it until a person reviews
        /// and releases it.
        Quarantined = "quarantined",
    }
}

impl Trust {
    /// What a reader must know of the origin of a memory with this trust that came in by `how`: that it is
    /// quarantined or not trusted, or [`FROM_FILE`].
    #[must_use]
    pub fn origin_note(self, how: EntryPoint) -> Option<&'static str> {
        match self {
            Self::Normal => (how == EntryPoint::Import).then_some(FROM_FILE),
            trust => Some(trust.name()),
        }
    }
}

/// The note of what a file brought.
pub const FROM_FILE: &str = "from a file";

/// The origin of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemorySource {
    /// The agent that wrote it.
    pub agent: Agent,
    /// The device on which it was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device: Option<String>,
    /// The client program that wrote it, with its version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub client: Option<String>,
    /// The session in which it was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// The interface through which it was saved.
    pub how: EntryPoint,
    /// True if a token proves only the parent agent, and the caller itself asserted that it is this
    /// child.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub asserted: bool,
    /// The SHA-256 of the text as first written; for an imported memory, of the whole line.
    pub sha256: String,
}

/// One memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// The memory's id.
    pub id: MemoryId,
    /// The workspace that holds it.
    pub workspace: Workspace,
    /// The agent that may change it.
    pub owner: Agent,
    /// The user it is about. Callers that work for another user do not see it.
    #[serde(flatten, with = "subject")]
    #[schemars(with = "subject::SubjectFields<'static>")]
    pub user_id: Option<String>,
    /// The type of the memory.
    pub memory_type: MemoryType,
    /// A heading.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// The content.
    pub text: String,
    /// The text in one or two sentences.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<String>,
    /// Its topics, as short words.
    pub topics: Vec<String>,
    /// The entities that its author named. Entities found in the text are stored separately.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub entities: Vec<EntityLabel>,
    /// How much it matters.
    pub importance: Importance,
    /// Who besides its owner may read it.
    pub sharing: Sharing,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// The case that it is an entry of. An entry cannot be changed or deleted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub case: Option<CaseKey>,
    /// Its position in the case: 1, 2, 3 … without gaps.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub position: Option<u64>,
    /// Its path: it stays there until its owner changes it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<MemoryPath>,
    /// Where it came from.
    pub source: MemorySource,
    /// How far it is trusted.
    pub trust: Trust,
    /// Why it is quarantined, or was before its release.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[schemars(with = "Vec<String>")]
    pub suspicions: Vec<InjectionReason>,
    /// What takes effect only after a person has reviewed it; set while it is quarantined.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub review: Option<PendingReview>,
    /// The kinds of secrets that were removed before it was stored.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub redacted: Vec<String>,
    /// Any further data of its author, as a JSON object.
    pub metadata: Map<String, Value>,
    /// When it was first saved.
    pub recorded_at: Timestamp,
    /// When it last changed.
    pub revised_at: Timestamp,
    /// The agent that changed it last.
    pub revised_by: Agent,
    /// Number of times it was written, from 1.
    pub revision: u64,
    /// The start of the time in which it holds, if that differs from `recorded_at`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_from: Option<Timestamp>,
    /// The end of the time in which it holds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_until: Option<Timestamp>,
    /// The memory that replaced it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub superseded_by: Option<MemoryId>,
    /// Why it does not hold any more, if it was retracted. Searches and contexts leave it out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retraction: Option<Retraction>,
    /// When it was deleted. It can be restored for 30 days.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deleted_at: Option<Timestamp>,
    /// When a consolidation archived it: only a search that includes `archived` finds it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub archived_at: Option<Timestamp>,
    /// How often it reached readers, if it did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<MemoryUsage>,
    /// The memories that it was derived from and that have changed since; its owner has not reviewed it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub rests_on: Vec<ChangedBasis>,
    /// The memories that contradict it, which nobody has resolved, where it is read alone or listed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub contradictions: Vec<OpenContradiction>,
}

impl Memory {
    /// What remains of a revision whose content is purged: who wrote it and when, and who may read it.
    #[must_use]
    pub fn without_content(&self) -> Self {
        Self {
            title: None,
            text: String::new(),
            summary: None,
            topics: Vec::new(),
            entities: Vec::new(),
            path: None,
            source: MemorySource { sha256: String::new(), ..self.source.clone() },
            suspicions: Vec::new(),
            review: None,
            redacted: Vec::new(),
            metadata: Map::new(),
            retraction: None,
            rests_on: Vec::new(),
            contradictions: Vec::new(),
            ..self.clone()
        }
    }

    /// Checks the fields that a writer chose against the limits.
    ///
    /// # Errors
    /// `invalid` or `too_large`, with the field.
    pub fn check(&self) -> Result<()> {
        if input::is_blank(&self.text) {
            return Err(Error::empty("text").hint("Put what is to be remembered into `text`."));
        }
        let bytes_max = self.text_bytes_max();
        if self.text.len() > bytes_max {
            return Err(Error::too_large("text", self.text.len(), bytes_max, "bytes"));
        }
        self.check_path()?;
        self.check_characters()?;
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
                Err(Error::invalid("valid_until", "must not be earlier than valid_from"))
            }
            _ => Ok(()),
        }
    }

    /// Whether handoffs, resumed sessions and comparisons use it: current and not quarantined.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.is_current() && !self.is_quarantined()
    }

    /// Its title and its text; of an opaque document, whose text nothing reads, its path.
    #[must_use]
    pub fn full_text(&self) -> String {
        let text = if self.is_opaque() { self.told_text() } else { &self.text };
        match &self.title {
            Some(title) => format!("{title}\n{text}"),
            None => text.to_owned(),
        }
    }

    /// What agents receive of it: its text, of an entry of a case its summary, of an opaque document its path.
    #[must_use]
    pub fn told_text(&self) -> &str {
        if let Some(path) = self.path.as_ref().filter(|_| self.is_opaque()) {
            return path.as_str();
        }
        self.summary.as_deref().filter(|_| self.position.is_some()).unwrap_or(&self.text)
    }

    /// Its headline: of its title, else of its text, of an entry of a case of its summary.
    #[must_use]
    pub fn headline(&self) -> String {
        headline(self.title.as_deref().unwrap_or_else(|| self.told_text()))
    }

    /// Whether searches return it: neither deleted, superseded, retracted nor archived.
    #[must_use]
    pub fn is_current(&self) -> bool {
        let Self { deleted_at, superseded_by, retraction, archived_at, .. } = self;
        deleted_at.is_none()
            && superseded_by.is_none()
            && retraction.is_none()
            && archived_at.is_none()
    }
}

/// Refuses control characters in every text of a metadata value.
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

/// Removes duplicates: entities that have the same name and type count once.
///
/// # Errors
/// `too_large` if there are more than [`limits::NAMED_ENTITIES`].
pub(crate) fn distinct_entities(labels: &[EntityLabel]) -> Result<Vec<EntityLabel>> {
    if labels.len() > limits::NAMED_ENTITIES {
        let limit = limits::NAMED_ENTITIES;
        return Err(Error::too_large("entities", labels.len(), limit, "entities"));
    }
    let mut entities: Vec<EntityLabel> = Vec::with_capacity(labels.len());
    for label in labels {
        if !entities.iter().any(|label_of| label_of.names_same(label)) {
            entities.push(label.clone());
        }
    }
    Ok(entities)
}

/// Trims the topics and removes duplicates; keeps their order.
pub(crate) fn distinct_topics(texts: &[String]) -> Result<Vec<String>> {
    if texts.len() > limits::TOPICS {
        return Err(Error::too_large("topics", texts.len(), limits::TOPICS, "topics"));
    }
    let mut seen = BTreeSet::new();
    let mut topics = Vec::with_capacity(texts.len());
    for (place, topic) in texts.iter().enumerate() {
        let topic = input::line(&format!("topics[{place}]"), topic, limits::TOPIC_CHARS)?;
        if seen.insert(topic.to_lowercase()) {
            topics.push(topic);
        }
    }
    Ok(topics)
}
