//! What a session has heard.

use std::collections::HashMap;

use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use crate::model::workspace::Workspace;

/// How the headline of a memory is known among what a session has heard; the id of the memory follows. Its
/// text may still come.
pub(crate) const HEADLINE_PREFIX: &str = "headline:";

/// The session of an agent that a briefing belongs to. A sub-agent has sessions of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BriefingKey {
    /// The workspace.
    pub workspace: Workspace,
    /// The agent.
    pub agent: Agent,
    /// The client's own id of the session, else ours, else the day.
    pub session: String,
}

/// What a session has heard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BriefingRecord {
    /// The position of the journal that the last briefing considered; `None` before the first one.
    pub position: Option<u64>,
    /// The items that the session has heard, by id, each at its revision then.
    pub items: HashMap<String, u64>,
}

impl BriefingRecord {
    /// The memories that the session has heard, in full or as headlines, each at its revision then.
    pub fn memories(&self) -> impl Iterator<Item = (MemoryId, u64)> + '_ {
        self.items.iter().filter_map(|(item, revision)| {
            let id = item.strip_prefix(HEADLINE_PREFIX).unwrap_or(item);
            Some((MemoryId::parse(id)?, *revision))
        })
    }
}

/// An item that a session has heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BriefingItem {
    /// Its id.
    pub id: String,
    /// Its revision. What has no revisions has a fingerprint of its text.
    pub revision: u64,
}

impl BriefingItem {
    /// A memory that a text told at this revision, or named by its headline.
    #[must_use]
    pub fn told(id: &str, revision: u64, is_headline: bool) -> Self {
        let prefix = if is_headline { HEADLINE_PREFIX } else { "" };
        Self { id: format!("{prefix}{id}"), revision }
    }
}

/// Memories in a sight, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCensus {
    /// The memories, at most [`crate::base::limits::BRIEFING_COUNTED`] and one.
    pub memories: u64,
    /// The agents that wrote them.
    pub agents: u64,
}
