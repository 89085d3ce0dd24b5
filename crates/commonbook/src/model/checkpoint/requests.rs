//! Asking for checkpoints, and what resuming answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CasePosition, Checkpoint, CheckpointKind, OpenHandoff, ResumeMetadata};
use crate::base::id::{CheckpointId, EntityId, MemoryId};
use crate::base::limits;
use crate::model::collaboration::HandoffEdge;
use crate::model::session::Session;

/// Sums up what came of your work until now, in one go: appends the summary to the case that the
/// session is on (or keeps it as a memory), marks the case as read, and makes a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointAndSummarise {
    /// What came of it, in up to 512 characters.
    #[schemars(length(min = 1, max = limits::SUMMARY_CHARS))]
    pub summary: String,
    /// The session; the one that you work in when you name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Why the checkpoint is made: `manual` (the default), `workflow`, `milestone`, or `automatic`.
    #[serde(default)]
    pub kind: CheckpointKind,
    /// What to call it, in up to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// What became of a summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummariseResult {
    /// The entry of the case, or the memory, that it is kept as.
    pub summary: MemoryId,
    /// The version of the case after it, which is marked as read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_version: Option<u64>,
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// What to do now, where others are not given the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Lists the checkpoints of a session, the newest first; there are ten at the most.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListCheckpoints {
    /// The session; the one that you work in when you name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
}

/// Shows one checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCheckpoint {
    /// The id of the checkpoint.
    pub checkpoint: CheckpointId,
}

/// A session resumed, and the one that the caller works in from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumeSessionResult {
    /// The session that you work in now: the resumed one where it is yours, else a new one of yours
    /// on the same case.
    pub session: Session,
    /// All of it, for an agent to read.
    pub text: String,
    /// The memories of the session that were wanted, the newest first.
    pub memories: Vec<MemoryId>,
    /// The entities that were wanted, the latest first.
    pub entities: Vec<EntityId>,
    /// The handoffs that are open.
    pub handoffs: Vec<OpenHandoff>,
    /// Who handed work to whom, the newest first.
    pub history: Vec<HandoffEdge>,
    /// How far the cases have come.
    pub cases: Vec<CasePosition>,
    /// What was resumed.
    pub metadata: ResumeMetadata,
}
