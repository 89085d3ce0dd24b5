//! Statistics: what a workspace holds, of what the caller may see.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::workspace::Workspace;

/// Counts the memories of the workspace that you may see: in all, by agent and by type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetStats {}

/// What a workspace holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceStats {
    /// The workspace that was counted.
    pub workspace: Workspace,
    /// Memories that stand.
    pub memories: u64,
    /// Memories that were deleted and can be restored.
    pub deleted: u64,
    /// Events in the journal.
    pub events: u64,
    /// Sessions that have ended without a summary, though something was kept in them.
    pub unsummarised: u64,
    /// Open contradictions of two memories that you may both read, of those found so far.
    pub contradictions: u64,
    /// Memories that stand, by owner.
    pub by_agent: BTreeMap<String, u64>,
    /// Memories that stand, by type.
    pub by_type: BTreeMap<String, u64>,
    /// Bytes that the whole home takes on disk, every workspace together.
    pub disk_bytes: u64,
}

/// Memories of one owner and type, as a store counts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryCount {
    /// The owner.
    pub owner: String,
    /// The type.
    pub memory_type: String,
    /// How many stand.
    pub standing: u64,
    /// How many were deleted.
    pub deleted: u64,
}

/// Lists the users that memories of this workspace are about, of those memories that you may see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListUsers {}

/// A user that memories are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserRecord {
    /// The user's id, exact, case and all.
    pub user_id: String,
    /// How many memories about the user the caller may see.
    pub memory_count: u64,
    /// When the first of them was kept.
    pub first_seen: Timestamp,
    /// When the last of them was kept.
    pub last_seen: Timestamp,
}

/// The users that memories are about, by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserList {
    /// One record each.
    pub items: Vec<UserRecord>,
}
