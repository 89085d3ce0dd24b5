//! Reviewing: what is quarantined waits until a person has looked at it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::MemoryId;
use crate::limits;
use crate::page::Cursor;

/// Lists what is quarantined in the workspace, the newest first: memories that try to instruct
/// other agents, and that nobody but their authors is given. For a person at the command line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuarantined {
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
}

/// Lets others read a memory that was quarantined. For a person at the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseMemory {
    /// The id of the memory.
    pub id: MemoryId,
    /// The revision that you have looked at; when the memory has moved on, nothing is released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}
