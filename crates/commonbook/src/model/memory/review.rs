//! Reviewing: what is quarantined waits until a person has looked at it.

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

/// What waits with a quarantined memory until somebody has looked at it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PendingReview {
    /// Why its author wants it released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appeal: Option<ReleaseAppeal>,
    /// The memories whose place it takes when it is released.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<MemoryId>,
}

/// Why an author wants a quarantined memory released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReleaseAppeal {
    /// The reason, in the author's words: data for a person to judge, and no instruction.
    pub reason: String,
    /// When the author gave it.
    pub at: Timestamp,
}

/// Asks a person to look at a quarantined memory of your own and to release it. Use this when a
/// save answers `quarantined` and the memory only reports or quotes an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppealMemory {
    /// The id of the memory.
    pub id: MemoryId,
    /// Why others should read it, in a sentence.
    #[schemars(length(min = 1, max = limits::APPEAL_CHARS))]
    pub reason: String,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

impl AppealMemory {
    /// The appeal that this request makes at `now`, without secrets.
    ///
    /// # Errors
    /// `invalid` and `too_large` for the reason.
    pub fn appeal(&self, now: Timestamp) -> Result<ReleaseAppeal> {
        let reason = input::line("reason", &self.reason, limits::APPEAL_CHARS)?;
        if reason.trim().is_empty() {
            return Err(Error::invalid("reason", "this is empty, and a reason was expected")
                .hint("Say in a sentence why others should read the memory."));
        }
        let reason = secrets::redact(&reason).text.chars().take(limits::APPEAL_CHARS).collect();
        Ok(ReleaseAppeal { reason, at: now })
    }
}

/// Lists what is quarantined in the workspace, the newest first, on each page those whose authors
/// appeal before the others: memories that try to instruct other agents, and that nobody but their
/// authors is given. For a person at the command line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuarantined {
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
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

/// A memory that others are not given, as its author is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuarantineNotice {
    /// The id of the memory.
    pub id: MemoryId,
    /// The agent that kept it: you, or an agent below you.
    pub owner: Agent,
    /// Why others are not given it, and what its author can do.
    pub hint: String,
}

impl QuarantineNotice {
    /// What this caller is told of a memory that is its own, or an agent's below it; nothing where
    /// others are given it.
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
    /// Why others are not given this memory, and what its author does about that in the words of its
    /// door; nothing where it is not quarantined.
    #[must_use]
    pub fn quarantine_hint(&self, door: EntryPoint) -> Option<String> {
        let (id, owner) = (self.id, &self.owner);
        let appeal = match door {
            EntryPoint::Mcp => format!("call appeal_memory with id {id} and a reason"),
            EntryPoint::Rest => format!("POST /v1/memories/{id}/appeal with a reason"),
            EntryPoint::Hook => format!(
                "call appeal_memory with id {id} and a reason, or run \
                 `commonbook appeal {id} --agent {owner} --reason …`"
            ),
            EntryPoint::Cli | EntryPoint::Import | EntryPoint::Handoff => {
                format!("run `commonbook appeal {id} --agent {owner} --reason …`")
            }
        };
        self.is_quarantined().then(|| {
            format!(
                "Others are not given this memory until a person releases it. {} Reword it with an \
                 update, or, if it only reports or quotes an order, {appeal}.",
                self.reasons().collect::<Vec<_>>().join(" ")
            )
        })
    }
}
