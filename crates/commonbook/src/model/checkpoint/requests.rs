//! Requests for checkpoints, and the response of a resume.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CasePosition, Checkpoint, CheckpointKind, OpenHandoff, ResumeMetadata};
use crate::base::id::{CheckpointId, EntityId, MemoryId};
use crate::base::limits;
use crate::model::collaboration::HandoffEdge;
use crate::model::memory::MemoryChange;
use crate::model::session::Session;

/// Saves a summary of your work so far and creates a checkpoint, in one call: appends the summary
/// to the session's case (or saves it as a memory), marks the case as read, and makes the
/// checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointAndSummarise {
    /// The summary, up to 512 characters.
    #[schemars(length(min = 1, max = limits::SUMMARY_CHARS))]
    pub summary: String,
    /// The session; your present one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Why the checkpoint is made: `manual` (the default), `workflow`, `milestone`, or `automatic`.
    #[serde(default)]
    pub kind: CheckpointKind,
    /// The checkpoint's title, up to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// A saved summary with its checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummariseResult {
    /// The case entry, or the memory, that holds the summary.
    pub summary: MemoryId,
    /// The version of the case after it, marked as read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_version: Option<u64>,
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// What to do if the summary is quarantined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Lists the checkpoints of a session, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListCheckpoints {
    /// The session; your present one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Lists the archived ones instead.
    #[serde(default)]
    pub archived: bool,
}

/// Deletes a checkpoint of your session. What was saved in the session stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteCheckpoint {
    /// The checkpoint's id.
    pub checkpoint: CheckpointId,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Archives a checkpoint of your session: it stays until it is deleted, however many follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchiveCheckpoint {
    /// The checkpoint's id.
    pub checkpoint: CheckpointId,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Returns one checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCheckpoint {
    /// The checkpoint's id.
    pub checkpoint: CheckpointId,
}

/// A resumed session, and the session that the caller works in from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumeSessionResult {
    /// Your session from now on: the resumed one if it is yours, else a new one on the same case.
    pub session: Session,
    /// The result as text for an agent.
    pub text: String,
    /// The memories of the session that you requested, newest first.
    pub memories: Vec<MemoryId>,
    /// How they have changed since the checkpoint that you named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<MemoryChange>,
    /// The entities that you requested, latest first.
    pub entities: Vec<EntityId>,
    /// The open handoffs.
    pub handoffs: Vec<OpenHandoff>,
    /// All handoffs, newest first.
    pub history: Vec<HandoffEdge>,
    /// The state of the cases.
    pub cases: Vec<CasePosition>,
    /// Figures of the resume.
    pub metadata: ResumeMetadata,
}
