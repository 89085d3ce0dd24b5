//! Asking for memories by id or as a list, and taking them away.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Importance, Memory, MemoryType, Trust};
use crate::base::id::MemoryId;
use crate::base::key::CaseKey;
use crate::base::limits;
use crate::base::page::PageCursor;
use crate::model::agent::Agent;

/// Reads one memory whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetMemory {
    /// The id of the memory.
    pub id: MemoryId,
    /// The time, as RFC 3339, at which to read it; the memory as it stands now by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// Reads one memory as it stood at a time in the past.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryAt {
    /// The id of the memory.
    pub id: MemoryId,
    /// The time, as RFC 3339.
    pub at: Timestamp,
}

/// Lists the memories of the workspace that you may see, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListMemories {
    /// Only those of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Only those of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Only those about this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only those that matter at least so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Only those of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only the entries of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only those that are trusted so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// About this user or about nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Those that were deleted and can still be restored, instead of those that stand.
    #[serde(default)]
    pub deleted: bool,
    /// Which end to begin at.
    #[serde(default)]
    pub order: ListOrder,
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Which end of a list comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListOrder {
    /// What was kept last.
    #[default]
    Newest,
    /// What was kept first.
    Oldest,
}

/// Deletes a memory of your own. It can be restored for 30 days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteMemory {
    /// The id of the memory.
    pub id: MemoryId,
    /// The revision that you have seen; when the memory has moved on, nothing is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Brings back a deleted memory of your own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreMemory {
    /// The id of the memory.
    pub id: MemoryId,
    /// The revision that you have seen; when the memory has moved on, nothing is restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Removes a memory of your own for good, with its history. Nobody can bring it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeMemory {
    /// The id of the memory, deleted or not.
    pub id: MemoryId,
    /// The revision that you have seen; when the memory has moved on, nothing is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// The memory that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PurgeResult {
    /// The id it had.
    pub id: MemoryId,
}

/// Tells how a memory came to be what it is: every revision, oldest first, with who wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryHistory {
    /// The id of the memory.
    pub id: MemoryId,
}

/// The revisions of a memory that the caller may see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionHistory {
    /// The revisions, oldest first.
    pub items: Vec<MemoryRevision>,
}

/// A memory as it stood from one change to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRevision {
    /// Its number, from 1.
    pub revision: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The agent that wrote it.
    pub agent: Agent,
    /// The memory as it then was.
    pub memory: Memory,
}

impl From<Memory> for MemoryRevision {
    fn from(memory: Memory) -> Self {
        Self {
            revision: memory.revision,
            at: memory.revised_at,
            agent: memory.revised_by.clone(),
            memory,
        }
    }
}
