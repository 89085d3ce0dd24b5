//! Saving: what it takes to keep a memory, one or many.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Importance, Memory, MemorySource, MemoryType, Sharing, Trust, distinct_entities,
    distinct_topics,
};
use crate::base::clock::whole_milliseconds;
use crate::base::error::Result;
use crate::base::hash::sha256;
use crate::base::id::MemoryId;
use crate::base::{input, limits};
use crate::model::caller::{Caller, CallerProof, EntryPoint};
use crate::model::entity::EntityLabel;

/// Keeps a memory under your own name, so that you and the other agents of this workspace find it
/// later. Save decisions, facts, findings and preferences worth knowing again; one thing each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveMemory {
    /// What to keep, up to 64 KiB; understandable on its own, with names instead of "it".
    #[schemars(length(min = 1, max = limits::TEXT_BYTES), regex(pattern = input::TEXT_PATTERN))]
    pub text: String,
    /// What sort of memory it is: semantic (a fact, the default), episodic, procedural, decision,
    /// learning, profile, task_context, conversation, or a slug of your own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// A heading of up to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// The text in a sentence or two, up to 512 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SUMMARY_CHARS))]
    pub summary: Option<String>,
    /// What it is about, as up to 32 short words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::TOPICS), inner(length(min = 1, max = limits::TOPIC_CHARS)))]
    pub topics: Vec<String>,
    /// The people, tools, files, projects it speaks of, as `type:name` (`tool:TypeScript`,
    /// `file:src/lib.rs`) or `{"type", "value"}`; those that the text itself names are found anyway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::NAMED_ENTITIES))]
    pub entities: Vec<EntityLabel>,
    /// How much it matters; normal by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Who else may read it; shared by default, a conversation private.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// The user it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Whatever else to keep with it, as a JSON object of up to 16 KiB.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// From when on it holds, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it holds, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// The id of a memory of yours that this one replaces; searches then leave that one out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryId>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Keeps up to 100 memories in one go: all of them, or none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveMemories {
    /// The memories, in order; their own idempotency keys are not looked at.
    #[schemars(length(min = 1, max = limits::BATCH))]
    pub memories: Vec<SaveMemory>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Whether a save kept something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SaveOutcome {
    /// It was kept now.
    Created,
    /// The same request had been carried out before; nothing was written.
    Repeated,
}

/// The memory that was saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SaveResult {
    /// The memory as it is kept.
    pub memory: Memory,
    /// Whether it is new.
    pub outcome: SaveOutcome,
    /// What to do now, where others are not given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl SaveResult {
    /// The answer about a memory that was just kept, for who called by this door.
    #[must_use]
    pub fn of(memory: Memory, outcome: SaveOutcome, door: EntryPoint) -> Self {
        let hint = memory.quarantine_hint(door);
        Self { memory, outcome, hint }
    }
}

impl SaveMemory {
    /// The memory that this request makes, kept by `caller` at `now` under `id`.
    ///
    /// # Errors
    /// `invalid` and `too_large`, with the field, for what `limits` does not admit.
    pub fn memory(&self, caller: &Caller, id: MemoryId, now: Timestamp) -> Result<Memory> {
        let memory_type = self.memory_type.clone().unwrap_or_else(MemoryType::semantic);
        memory_type.check_choice()?;
        let sharing = self.sharing.unwrap_or_else(|| memory_type.default_sharing());
        let caller = caller.clone().for_user(self.user_id.as_deref())?;
        let mut memory = Memory {
            id,
            workspace: caller.workspace,
            owner: caller.agent.clone(),
            user_id: caller.user,
            memory_type,
            title: self.title.clone(),
            text: self.text.clone(),
            summary: self.summary.clone(),
            topics: distinct_topics(&self.topics)?,
            entities: distinct_entities(&self.entities)?,
            importance: self.importance.unwrap_or(Importance::Normal),
            sharing,
            session: caller.session.clone(),
            case: None,
            position: None,
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
            deleted_at: None,
        };
        memory.receive(None)?;
        memory.source.sha256 = sha256(&memory.text);
        Ok(memory)
    }
}
