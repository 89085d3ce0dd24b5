//! Requests that read memories by id or as a list, or delete them, and their responses.

use std::ops::Deref;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    DELETION_ADDRESS_PATTERN, Importance, Memory, MemoryAddress, MemoryType, PathPattern, Trust,
    UsageKind,
};
use crate::base::error::{Error, Result};
use crate::base::id::{DELETION_HANDLE_CHARS_MIN, MemoryId};
use crate::base::key::CaseKey;
use crate::base::limits;
use crate::base::page::PageCursor;
use crate::model::agent::Agent;
use crate::model::search::period;

/// Reads memories in full: one by `id`, several by `ids`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetMemories {
    /// Its id or path; another's is `OWNER:/path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryAddress>,
    /// Further ids to read in the same call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::OPENED_MEMORIES))]
    pub ids: Vec<MemoryAddress>,
    /// Reads them as they were at this time, RFC 3339; now by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

impl GetMemories {
    /// The ids, each once, in their order.
    ///
    /// # Errors
    /// `invalid` on `id` if there is none, `too_large` on `ids` for more than [`limits::OPENED_MEMORIES`].
    pub fn check(&self) -> Result<Vec<MemoryAddress>> {
        if self.ids.len() > limits::OPENED_MEMORIES {
            return Err(Error::too_large("ids", self.ids.len(), limits::OPENED_MEMORIES, "ids")
                .hint("Open the rest in another call."));
        }
        let mut ids: Vec<MemoryAddress> = Vec::with_capacity(1 + self.ids.len());
        for id in self.id.iter().chain(&self.ids) {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        if ids.is_empty() {
            return Err(Error::invalid("id", "there is no id; expected that of a memory")
                .hint("Put the id or handle of one memory into id, those of several into ids."));
        }
        Ok(ids)
    }
}

/// The memories that a call opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenedMemories {
    /// The first one.
    #[serde(flatten)]
    pub memory: Memory,
    /// The further ones, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Memory>,
    /// Those that one answer has no room for; open them in another call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<MemoryId>,
}

/// Reads one memory in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetMemory {
    /// Its id or path.
    pub id: MemoryAddress,
    /// Reads the memory as it was at this time, RFC 3339; now by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// Reads one memory as it was at a past time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryAt {
    /// The memory's id.
    pub id: MemoryId,
    /// The time, RFC 3339.
    pub at: Timestamp,
}

/// Lists the memories of the workspace that you may see, newest first. To find memories about a
/// question, use `search_memory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListMemories {
    /// Only memories of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Only memories of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Only memories with this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only memories of at least this importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Only memories of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only the entries of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// At this path, or below one that ends in `/`. A `*` at its end finds more beginnings; the order is that of paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathPattern>,
    /// Only memories with this trust.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Only memories about this user or about no user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Lists deleted memories that can still be restored, instead of current ones.
    #[serde(default)]
    pub deleted: bool,
    /// Only memories that hold from then on: a date, or an age such as `10m` or `7d`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = period::TIME_PATTERN))]
    pub since: Option<String>,
    /// What held at this time, in the words of then. It may be superseded since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = period::TIME_PATTERN))]
    pub at: Option<String>,
    /// Sort order by time.
    #[serde(default)]
    pub order: ListOrder,
    /// By how often each was found, told or used, the most often first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<UsageKind>,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// The sort order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListOrder {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
}

/// The memory that a call deleted; of a folder, the first one in the order of paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeleteResult {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// What else the call did, if it named a folder.
    #[serde(flatten)]
    pub folder: FolderResult,
}

impl Deref for DeleteResult {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.memory
    }
}

/// What a call that named a folder did besides the first document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderResult {
    /// Number of further documents that it changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further: u64,
    /// Whether more documents are in the folder than one call changes: call again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Deletes one memory of your own. It can be restored for 30 days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteMemory {
    /// Its id or path.
    #[schemars(extend("pattern" = DELETION_ADDRESS_PATTERN))]
    pub id: MemoryAddress,
    /// Only if the memory still has this revision; otherwise `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Restores a deleted or archived memory of your own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreMemory {
    /// The memory's id.
    pub id: MemoryId,
    /// The earlier revision whose content becomes current again, as a new revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Only if the memory still has this revision; otherwise `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Removes one memory of your own permanently, with its history. It cannot be restored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeMemory {
    /// The memory's id. The memory may be deleted already.
    #[schemars(length(min = DELETION_HANDLE_CHARS_MIN))]
    pub id: MemoryId,
    /// Removes the content of this earlier revision alone; the memory and its other revisions stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revision: Option<u64>,
    /// Only if the memory still has this revision; otherwise `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// What was removed: the memory, or the content of one of its revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PurgeResult {
    /// The id of the memory.
    pub id: MemoryId,
    /// The number of the revision; without it the whole memory was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The revisions that have the same text, and still say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_text: Vec<u64>,
}

/// Returns every revision of one memory, oldest first, each with its author and time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryHistory {
    /// Its id or path.
    pub id: MemoryAddress,
}

/// The revisions of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionHistory {
    /// The revisions, oldest first.
    pub items: Vec<MemoryRevision>,
}

/// One revision of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRevision {
    /// Its number, from 1.
    pub revision: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The agent that wrote it.
    pub agent: Agent,
    /// The memory at this revision; of a purged one without its content, and with an empty text.
    pub memory: Memory,
    /// When its content was purged, and by whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purged: Option<RevisionPurge>,
}

/// The removal of what an earlier revision said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionPurge {
    /// When its content was removed.
    pub at: Timestamp,
    /// The agent that removed it.
    pub by: Agent,
}

impl MemoryRevision {
    /// A revision of this memory, whose content may have been purged.
    #[must_use]
    pub fn of(memory: Memory, purged: Option<RevisionPurge>) -> Self {
        Self {
            purged,
            revision: memory.revision,
            at: memory.revised_at,
            agent: memory.revised_by.clone(),
            memory,
        }
    }
}
