//! Reviews: a quarantined memory waits for a person, and its author may appeal.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Memory;
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::page::PageCursor;
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::caller::{Caller, EntryPoint};
use commonbook_text::secrets;

/// What takes effect only when a memory is released from quarantine, restored or shown to others again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PendingReview {
    /// The author's request for release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appeal: Option<ReleaseAppeal>,
    /// The memories that it supersedes then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<MemoryId>,
}

/// An author's request to release a quarantined memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReleaseAppeal {
    /// The author's reason. It is data for a person to judge, not an instruction.
    pub reason: String,
    /// When the author appealed.
    pub at: Timestamp,
}

/// Asks a person to review and release a quarantined memory of your own. Use this if a save reports
/// `quarantined` and the memory only reports or quotes an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppealMemory {
    /// The memory's id.
    pub id: MemoryId,
    /// Why other agents should read it, in one sentence.
    #[schemars(length(min = 1, max = limits::APPEAL_CHARS))]
    pub reason: String,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

impl AppealMemory {
    /// The appeal at time `now`, without secrets.
    ///
    /// # Errors
    /// `invalid` or `too_large` for the reason.
    pub fn appeal(&self, now: Timestamp) -> Result<ReleaseAppeal> {
        let reason = input::line("reason", &self.reason, limits::APPEAL_CHARS)?;
        if reason.trim().is_empty() {
            return Err(Error::empty("reason")
                .hint("Say in one sentence why other agents should read the memory."));
        }
        let reason = secrets::redact(&reason).text.chars().take(limits::APPEAL_CHARS).collect();
        Ok(ReleaseAppeal { reason, at: now })
    }
}

/// Lists the quarantined memories of the workspace, newest first; on each page, those under appeal
/// come first. They try to instruct other agents, and only their authors receive them. For a person
/// at the command line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuarantined {
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Releases a quarantined memory, so that other agents can read it. For a person at the command
/// line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseMemory {
    /// The memory's id.
    pub id: MemoryId,
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

/// A quarantined memory, as its author sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuarantineNotice {
    /// The memory's id.
    pub id: MemoryId,
    /// The agent that saved it: you, or an agent below you.
    pub owner: Agent,
    /// Why other agents do not receive it, and what its author can do.
    pub hint: String,
}

impl QuarantineNotice {
    /// The notice for a caller that owns the memory, or whose child does. Returns `None` if the
    /// memory is not quarantined or belongs to another agent.
    #[must_use]
    pub fn of(memory: &Memory, caller: &Caller) -> Option<Self> {
        let hint = match memory.owner == caller.agent {
            true => memory.quarantine_hint(caller.door)?,
            false => memory.quarantine_hint(EntryPoint::Cli)?,
        };
        Some(Self { id: memory.id, owner: memory.owner.clone(), hint })
    }
}

impl Memory {
    /// Why other agents do not receive this memory, and what its author can do, as a call at this
    /// entry point. Returns `None` if it is not quarantined.
    #[must_use]
    pub fn quarantine_hint(&self, door: EntryPoint) -> Option<String> {
        let (id, owner) = (self.id, &self.owner);
        let appeal = match door {
            EntryPoint::Mcp => format!("call appeal_memory with id {id} and a reason"),
            EntryPoint::Rest => format!("POST /v1/memories/{id}/appeal with a reason"),
            // A client's hook does not know which tools its agent has.
            EntryPoint::Hook
            | EntryPoint::Cli
            | EntryPoint::Import
            | EntryPoint::Handoff
            | EntryPoint::Digest
            | EntryPoint::Dashboard => {
                format!("run `commonbook appeal {id} --agent {owner} --reason …`")
            }
        };
        // An entry of a case is never changed.
        let reword = match self.position {
            Some(_) => "Append a reworded entry that supersedes it",
            None => "Reword it with an update",
        };
        self.is_quarantined().then(|| {
            format!(
                "Others are not given this memory until a person releases it. {} {reword}, or, if it \
                 only reports or quotes an order, {appeal}.",
                self.reasons().collect::<Vec<_>>().join(" ")
            )
        })
    }
}
