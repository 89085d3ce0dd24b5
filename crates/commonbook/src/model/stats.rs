//! Statistics of a workspace, as far as the caller may see it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::event::Event;
use crate::model::workspace::Workspace;

/// Counts the memories of the workspace that you may see: in total, by agent and by type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetStats {}

/// Figures of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceStats {
    /// The workspace.
    pub workspace: Workspace,
    /// Number of current memories.
    pub memories: u64,
    /// Number of deleted memories that can be restored.
    pub deleted: u64,
    /// Number of events in the journal, through the last one in sight.
    pub events: u64,
    /// Number of sessions that have ended without a summary although several memories were saved in them.
    pub unsummarised: u64,
    /// Number of open contradictions found so far between memories that you may both read.
    pub contradictions: u64,
    /// Number of current memories per owner.
    pub by_agent: BTreeMap<String, u64>,
    /// Number of current memories per type.
    pub by_type: BTreeMap<String, u64>,
    /// Disk space of all workspaces together, in bytes.
    pub disk_bytes: u64,
    /// The event streams, if a server answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<BusStats>,
}

/// The event streams of the server since it started: yours, or for the person all of the workspace.
/// Only events in sight count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BusStats {
    /// Events of the journal, through the last one in sight.
    pub published: u64,
    /// Events sent, for each follower.
    pub delivered: u64,
    /// Events that the followers' filters left out.
    pub filtered: u64,
    /// Streams that broke or fell behind.
    pub failed: u64,
    /// Followers now.
    pub followers: u64,
    /// The last event of the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event: Option<Event>,
}

/// Numbers of memories of one owner and type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryCount {
    /// The owner.
    pub owner: String,
    /// The type.
    pub memory_type: String,
    /// Number of current memories.
    pub standing: u64,
    /// Number of deleted memories.
    pub deleted: u64,
}

/// Lists the users that the memories of this workspace are about, as far as you may see these
/// memories.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListUsers {}

/// A user that memories are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserRecord {
    /// The user's id, case-sensitive.
    pub user_id: String,
    /// Number of memories about the user that you may see.
    pub memory_count: u64,
    /// When the first of them was saved.
    pub first_seen: Timestamp,
    /// When the last of them was saved.
    pub last_seen: Timestamp,
}

/// The users, sorted by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserList {
    /// One record per user.
    pub items: Vec<UserRecord>,
}
