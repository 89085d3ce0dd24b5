//! Saving one memory or many.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::path::{entry_with_path, opaque_with_link};
use super::subject::{SubjectEvidence, missing_user};
use super::{
    DocumentPath, Importance, Memory, MemoryAddress, MemoryPath, MemorySource, MemorySubject,
    MemoryType, NearNote, Retraction, Sharing, TimeChange, Trust, UpdateMemory, distinct_entities,
    distinct_topics,
};
use crate::base::clock::whole_milliseconds;
use crate::base::error::{Error, Result};
use crate::base::hash::sha256;
use crate::base::id::{MemoryId, SessionId};
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::caller::{Caller, CallerProof, EntryPoint};
use crate::model::case::digest::shorten_to;
use crate::model::entity::EntityLabel;
use crate::model::lineage::StaleMemory;

/// Saves one memory under your name for you and the other agents of this workspace: a decision,
/// fact, finding or preference worth knowing again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveMemory {
    /// The content, understandable on its own: names instead of "it". Up to 64 KiB.
    #[schemars(length(min = 1, max = limits::OPAQUE_BYTES), regex(pattern = input::TEXT_PATTERN))]
    pub text: String,
    /// semantic (a fact, the default), episodic, procedural, decision, learning, profile,
    /// task_context, conversation, or a slug of your own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// What a colleague would look for, in ten words. Up to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// The text in one or two sentences. Up to 512 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SUMMARY_CHARS))]
    pub summary: Option<String>,
    /// Short words for its subjects. Up to 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::TOPICS), inner(length(min = 1, max = limits::TOPIC_CHARS)))]
    pub topics: Vec<String>,
    /// What it is about, as `type:name`: `tool:TypeScript`, `file:src/lib.rs`.
    /// Those named in the text are found automatically.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::NAMED_ENTITIES))]
    pub entities: Vec<EntityLabel>,
    /// How much it matters; normal by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Who besides you may read it; shared by default. A conversation is private by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// Whom it is about: user (only your user's agents see it) or project (all do). By default the
    /// text decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<MemorySubject>,
    /// The user it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Where you keep and change it, such as `/notes/plan.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<MemoryPath>,
    /// With `path`: replaces the text there if the memory has this revision; 0 if nothing may be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// Further data of your own, a JSON object of up to 16 KiB.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// When it begins to hold, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// When it ceases to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// The case that it joins: key or entry id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::CASE_KEY_CHARS))]
    pub case: Option<String>,
    /// The id of your memory that this one replaces. Searches then leave out the replaced one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryId>,
    /// Ids of notes, anyone's, that cannot hold beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::STATEMENTS))]
    pub contradicts: Vec<MemoryId>,
    /// Ids of notes that say the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::STATEMENTS))]
    pub repeats: Vec<MemoryId>,
    /// Ids of what it rests on. Memories and contexts; `id@revision` names the revision that you know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::BASED_ON), inner(length(min = 1, max = limits::BASIS_CHARS)))]
    pub based_on: Vec<String>,
    /// Fails with `conflict` if that has changed; nothing is written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_current: bool,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Saves up to 100 memories in one call: all of them, or none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveMemories {
    /// The memories, in order. Their own idempotency keys are ignored.
    #[schemars(length(min = 1, max = limits::BATCH))]
    pub memories: Vec<SaveMemory>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Whether a save wrote something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SaveOutcome {
    /// The memory was saved by this call.
    Created,
    /// The memory that was at the path was changed by this call.
    Replaced,
    /// An earlier call made the same request, or the author said the same before; this call wrote
    /// nothing.
    Repeated,
}

/// The memory that was saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SaveResult {
    /// The memory as stored.
    pub memory: Memory,
    /// Whether this call saved it.
    pub outcome: SaveOutcome,
    /// The author's earlier memories that it corrects and supersedes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<MemoryId>,
    /// What it rests on and has changed since you received it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleMemory>,
    /// A memory that said the same, and was retracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retracted: Option<RetractedTwin>,
    /// The nearest notes, up to three: it may contradict, repeat or replace them. A list saves none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<NearNote>,
    /// What to do if the memory is quarantined, or to keep what it superseded; who retracted the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl SaveResult {
    /// The response for a memory that was just saved through this entry point.
    #[must_use]
    pub fn of(memory: Memory, outcome: SaveOutcome, door: EntryPoint) -> Self {
        let hint = memory.quarantine_hint(door);
        let (superseded, stale, near) = (Vec::new(), Vec::new(), Vec::new());
        Self { memory, outcome, superseded, stale, retracted: None, near, hint }
    }

    /// The response for a memory that supersedes these of its author.
    #[must_use]
    pub fn superseding(mut self, superseded: Vec<MemoryId>, door: EntryPoint) -> Self {
        if let Some(first) = superseded.first() {
            self.hint = Some(restore_hint(*first, door));
        }
        Self { superseded, ..self }
    }

    /// The response with the notes that are nearest to the memory, and how a caller says what they are to it.
    #[must_use]
    pub fn beside(mut self, near: Vec<NearNote>, door: EntryPoint) -> Self {
        if !near.is_empty() {
            let hints = self.hint.take().into_iter().chain([near_hint(door)]);
            self.hint = Some(hints.collect::<Vec<_>>().join(" "));
        }
        Self { near, ..self }
    }

    /// The response for a memory that says the same as a retracted one.
    #[must_use]
    pub fn after_retraction(mut self, retracted: Option<RetractedTwin>, door: EntryPoint) -> Self {
        if let Some(retracted) = &retracted {
            let hints = self.hint.take().into_iter().chain([retracted.hint(door)]);
            self.hint = Some(hints.collect::<Vec<_>>().join(" "));
        }
        Self { retracted, ..self }
    }

    /// The response with a note if the new memory carries the name of a session that does not exist.
    #[must_use]
    pub fn in_named_session(mut self, door: EntryPoint) -> Self {
        if self.outcome == SaveOutcome::Created
            && let Some(hint) = unbegun_session_hint(&self.memory, door)
        {
            let hints = self.hint.take().into_iter().chain([hint]);
            self.hint = Some(hints.collect::<Vec<_>>().join(" "));
        }
        self
    }
}

/// What to do if the session of a memory is a text under which its agent has begun no session: such a
/// text groups memories, and nothing else.
#[must_use]
pub fn unbegun_session_hint(memory: &Memory, door: EntryPoint) -> Option<String> {
    let name = memory.session.as_deref().filter(|name| SessionId::parse(name).is_none())?;
    let begin = match door {
        EntryPoint::Mcp => format!("start_session with client_session {name}"),
        EntryPoint::Rest => format!("POST /v1/sessions with client_session {name}"),
        _ => format!("`commonbook session start --client-session {name}`"),
    };
    Some(format!(
        "No session was begun as {name}: the memory carries the name alone, and nothing resumes it. \
         {begin} begins one."
    ))
}

/// A memory that says the same as another one, and was retracted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetractedTwin {
    /// Its id.
    pub id: MemoryId,
    /// The agent or person that retracted it.
    pub by: Agent,
    /// When it was retracted.
    pub at: Timestamp,
}

impl RetractedTwin {
    /// The twin, if this memory was retracted.
    #[must_use]
    pub fn of(memory: &Memory) -> Option<Self> {
        let Retraction { by, at, .. } = memory.retraction.clone()?;
        Some(Self { id: memory.id, by, at })
    }

    /// Who retracted it, and how a caller at this door reads the reason.
    fn hint(&self, door: EntryPoint) -> String {
        let Self { id, by, at } = self;
        let shows = match door {
            EntryPoint::Mcp => format!("get_memory {id}"),
            EntryPoint::Rest => format!("GET /v1/memories/{id}"),
            EntryPoint::Hook
            | EntryPoint::Cli
            | EntryPoint::Import
            | EntryPoint::Handoff
            | EntryPoint::Digest
            | EntryPoint::Dashboard => format!("`commonbook show {id}`"),
        };
        let day = at.strftime("%Y-%m-%d");
        format!("{by} retracted the same on {day}; {shows} tells why. Delete yours if it is wrong.")
    }
}

/// How a caller at this door says what a new memory is to one of the notes nearest to it.
fn near_hint(door: EntryPoint) -> String {
    let call = match door {
        EntryPoint::Mcp => "`update_memory`",
        EntryPoint::Rest => "`PATCH /v1/memories/{id}`",
        _ => "`commonbook update`",
    };
    format!("Of the notes in near, {call} says which it contradicts, repeats or supersedes.")
}

/// How a caller at this door keeps a memory that a newer one superseded.
fn restore_hint(id: MemoryId, door: EntryPoint) -> String {
    match door {
        EntryPoint::Mcp => {
            "It supersedes what you said before; restore_memory keeps both.".to_owned()
        }
        EntryPoint::Rest => format!("To keep both: POST /v1/memories/{id}/restore"),
        EntryPoint::Hook
        | EntryPoint::Cli
        | EntryPoint::Import
        | EntryPoint::Handoff
        | EntryPoint::Digest
        | EntryPoint::Dashboard => {
            format!("To keep both: `commonbook restore {id}`")
        }
    }
}

impl SaveMemory {
    /// The memory that this request makes, saved by `caller` at `now` under `id`. `policy` sets the
    /// sharing if the request does not.
    ///
    /// # Errors
    /// `invalid` or `too_large`, with the field that exceeds its limits.
    pub fn memory(
        &self,
        caller: &Caller,
        default_sharing: Sharing,
        id: MemoryId,
        now: Timestamp,
    ) -> Result<Memory> {
        let memory_type = self.memory_type.clone().unwrap_or_else(MemoryType::semantic);
        memory_type.check_choice()?;
        let sharing =
            self.sharing.unwrap_or_else(|| default_sharing.min(memory_type.default_sharing()));
        let sharing = self.entry_sharing(sharing)?;
        self.check_path()?;
        self.check_links()?;
        let caller = caller.clone().for_user(self.user_id.as_deref())?;
        let user_id = self.subject_user(caller.user, &memory_type)?;
        let mut memory = Memory {
            id,
            workspace: caller.workspace,
            owner: caller.agent.clone(),
            user_id,
            memory_type,
            title: self.title.clone(),
            text: self.text.clone(),
            summary: self.entry_summary(),
            topics: distinct_topics(&self.topics)?,
            entities: distinct_entities(&self.entities)?,
            importance: self.importance.unwrap_or(Importance::Normal),
            sharing,
            session: caller.session.clone(),
            case: None,
            position: None,
            path: self.path.clone(),
            source: MemorySource {
                agent: caller.agent.clone(),
                device: caller.device,
                client: caller.client,
                session: caller.session,
                how: caller.door,
                asserted: matches!(caller.proof, CallerProof::Token { asserted: true, .. }),
                sha256: String::new(),
            },
            trust: Trust::Normal,
            suspicions: Vec::new(),
            review: None,
            redacted: Vec::new(),
            metadata: self.metadata.clone(),
            recorded_at: now,
            revised_at: now,
            revised_by: caller.agent,
            revision: 1,
            valid_from: self.valid_from.map(whole_milliseconds),
            valid_until: self.valid_until.map(whole_milliseconds),
            superseded_by: None,
            retraction: None,
            deleted_at: None,
            archived_at: None,
            usage: None,
            rests_on: Vec::new(),
            contradictions: Vec::new(),
        };
        memory.receive(None)?;
        memory.source.sha256 = sha256(&memory.text);
        Ok(memory)
    }

    fn is_opaque(&self) -> bool {
        self.memory_type.as_ref().is_some_and(MemoryType::is_opaque)
    }

    /// Refuses what an opaque document does not have: whatever links a memory to others.
    fn check_links(&self) -> Result<()> {
        let links = [
            ("entities", !self.entities.is_empty()),
            ("supersedes", self.supersedes.is_some()),
            ("contradicts", !self.contradicts.is_empty()),
            ("repeats", !self.repeats.is_empty()),
            ("based_on", !self.based_on.is_empty()),
        ];
        match links.into_iter().find(|(_, is_set)| *is_set && self.is_opaque()) {
            Some((field, _)) => Err(opaque_with_link(field)),
            None => Ok(()),
        }
    }

    /// Checks the fields about a path.
    fn check_path(&self) -> Result<()> {
        match (&self.path, &self.case, self.expected_revision) {
            (Some(_), Some(_), _) => Err(entry_with_path()),
            (None, ..) if self.is_opaque() => {
                Err(Error::invalid("path", "is missing; an opaque document is found by its path alone")
                    .hint("Set `path`, or choose another `memory_type`."))
            }
            (None, _, Some(1..)) => {
                Err(Error::invalid("expected_revision", "belongs to `path`, which is missing").hint(
                    "Set `path`, or leave out `expected_revision`; `update_memory` changes a memory by its id.",
                ))
            }
            _ => Ok(()),
        }
    }

    /// The change that this request makes to the memory at its path, if it names one: the text, and the fields that
    /// are set.
    #[must_use]
    pub fn replacement(&self) -> Option<UpdateMemory> {
        let change = TimeChange::to;
        let at = DocumentPath { owner: None, path: self.path.clone()? };
        Some(UpdateMemory {
            expected_revision: self.expected_revision,
            text: Some(self.text.clone()),
            memory_type: self.memory_type.clone(),
            title: self.title.clone(),
            summary: self.summary.clone(),
            topics: Some(self.topics.clone()).filter(|topics| !topics.is_empty()),
            entities: Some(self.entities.clone()).filter(|entities| !entities.is_empty()),
            importance: self.importance,
            sharing: self.sharing,
            about: self.about,
            metadata: Some(self.metadata.clone()).filter(|metadata| !metadata.is_empty()),
            valid_from: self.valid_from.map(|time| change(Some(time))),
            valid_until: self.valid_until.map(|time| change(Some(time))),
            supersedes: self.supersedes,
            ..UpdateMemory::empty_update(MemoryAddress::Path(at))
        })
    }

    /// The sharing of the memory: everybody in the workspace reads the entries of a case.
    fn entry_sharing(&self, sharing: Sharing) -> Result<Sharing> {
        match (&self.case, self.sharing) {
            (Some(_), Some(Sharing::Private)) => Err(Error::invalid(
                "sharing",
                "private contradicts the field case: all on a case read its entries",
            )
            .hint("Leave out sharing, or leave out case.")),
            (Some(_), _) => Ok(Sharing::Shared),
            (None, _) => Ok(sharing),
        }
    }

    /// The summary of the memory; an entry of a case has one, of its text if its author wrote none.
    fn entry_summary(&self) -> Option<String> {
        let own = self.summary.clone().filter(|summary| !summary.trim().is_empty());
        match (&self.case, own) {
            (Some(_), None) => Some(shorten_to(self.text.trim(), limits::SUMMARY_CHARS)),
            _ => self.summary.clone(),
        }
    }

    /// The user that the memory is about, of a caller that works for `user`: the choice of the
    /// request, else what its words show.
    fn subject_user(
        &self,
        user: Option<String>,
        memory_type: &MemoryType,
    ) -> Result<Option<String>> {
        // Nothing reads the words of an opaque document.
        let is_opaque = memory_type.is_opaque();
        let evidence = SubjectEvidence {
            memory_type,
            title: self.title.as_deref(),
            text: &self.text,
            summary: self.summary.as_deref(),
            topics: &self.topics,
            entities: &self.entities,
        };
        let about = match (self.about, &user) {
            (Some(MemorySubject::User), None) => return Err(missing_user()),
            (Some(MemorySubject::Project), _) if self.user_id.is_some() => {
                return Err(Error::invalid("about", "project contradicts the field user_id")
                    .hint("Leave out user_id, or set about to user."));
            }
            (Some(about), _) => about,
            (None, _) if self.user_id.is_some() => MemorySubject::User,
            (None, Some(_)) if is_opaque => MemorySubject::User,
            (None, Some(user)) => evidence.judge(user),
            (None, None) => MemorySubject::Project,
        };
        Ok(user.filter(|_| about == MemorySubject::User))
    }
}
