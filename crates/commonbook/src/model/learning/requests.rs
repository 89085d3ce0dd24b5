//! The request to save learnings, and its response.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::memory::Memory;

/// Saves what a message explicitly marks as worth remembering: what stands behind or below
/// `Remember:`, `Lesson:`, `Gotchas`, `Root cause:`, `Decision:` or `What I learned`, and JSON with `remember` or
/// `MEMORIES`, becomes a learning of yours. In a `report` without any of these, sentences that state what the next one
/// must know do. Skips learnings that you have saved or received before. To save one statement directly,
/// use `save_memory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnRequest {
    /// The whole message.
    #[schemars(length(min = 1))]
    pub message: String,
    /// The prompt that the message answers. If `auto_extract` is configured, both are also saved as
    /// a private conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Whether the message is the report of an agent at the end of a delegated task. If no label marks a
    /// learning in it, up to three sentences that read like lessons are saved, with low importance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub report: bool,
    /// The user that the message was written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// The learnings that were saved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LearnResult {
    /// The learnings as stored.
    pub learnings: Vec<Memory>,
    /// What to do about each quarantined learning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Number of learnings that were saved or received before.
    pub repeated: u32,
    /// The agent's earlier memories that a learning corrects and supersedes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<MemoryId>,
    /// Learnings that were not saved, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The conversation, if it was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<MemoryId>,
    /// The change of the standing memory file, if the agent has one on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<StandingChange>,
}

/// The change of a standing memory file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingChange {
    /// Its path.
    pub file: String,
    /// Number of items added.
    pub added: u32,
    /// The path of the backup made before `MEMORIES` replaced its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
    /// Items that were dropped to make room, or replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
