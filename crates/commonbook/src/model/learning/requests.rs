//! Giving back what an agent has learned.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::memory::Memory;

/// Keeps what you say in so many words that you want remembered: each block of a message under
/// `Remember:`, `Memorize:` or `Add To Memory:`, and JSON with `remember` or `MEMORIES`, becomes a
/// learning of yours. What you were given before, or have kept already, is not kept again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnRequest {
    /// What was said, whole.
    #[schemars(length(min = 1))]
    pub message: String,
    /// What it answers. Both together are kept as a private conversation, where that is configured
    /// (`auto_extract`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The user it was said to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// What was kept of a message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LearnResult {
    /// The learnings, as they are kept.
    pub learnings: Vec<Memory>,
    /// What to do now about those that others are not given, one for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// How many were known already, or had been given before.
    pub repeated: u32,
    /// What was not kept, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The conversation, where it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<MemoryId>,
    /// What came of it in the standing memory file, where the agent has one on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<StandingChange>,
}

/// What was changed in a standing memory file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingChange {
    /// Its path.
    pub file: String,
    /// How many items came to it.
    pub added: u32,
    /// Where a copy of the file is kept as it was before `MEMORIES` replaced its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
    /// What it lost: what had to make room, and what was replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
