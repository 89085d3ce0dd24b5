//! Cursors: how far an agent has read a case or the journal, and what has changed since.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;
use crate::model::access;
use crate::model::caller::Caller;
use crate::model::case::{CaseEntry, CaseKey};
use crate::model::event::Event;
use crate::model::memory::{Memory, QuarantineNotice};
use crate::model::token::TokenScope;

/// Tells what has changed since you last looked, oldest first, and how much is left: in one case, or
/// of everything in the workspace that you may see. What you did yourself is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesSince {
    /// Only the entries of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Since this place of the journal or the case; by default since the one that you have marked,
    /// or since the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// Mark what is told as read: the next call goes on after it.
    #[serde(default)]
    pub mark: bool,
    /// Tell what you did yourself too. Entries of a case always are.
    #[serde(default)]
    pub own: bool,
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesResponse {
    /// The place after which it begins.
    pub after: u64,
    /// What happened in the workspace, oldest first; nothing when a case was asked for.
    pub changes: Vec<ChangeNotice>,
    /// The new entries of the case, in order; nothing when none was asked for.
    pub entries: Vec<CaseEntry>,
    /// What you, and the agents below you, kept since then and others are not given: 20 at the most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_apart: Vec<QuarantineNotice>,
    /// The place up to which everything was told: what to mark, or to give as `after` next.
    pub through: u64,
    /// How many are left after that, of those that you may see; of a long journal, of its next
    /// 100,000 places.
    pub left: u64,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeNotice {
    /// What happened.
    pub event: Event,
    /// The beginning of the memory that it happened to, as that is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The short handle of that memory, which every tool takes for its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
}

/// Marks how far you have read a case or the journal, so that reading goes on from there. A mark
/// never goes back; give `after` to read again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkRead {
    /// The case; the journal of the workspace by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// The last place that you have read; the present end by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// How far an agent has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadMark {
    /// The case; the journal when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// The last place that is marked as read.
    pub position: u64,
    /// The place of the last entry, or of the last event.
    pub end: u64,
}

/// Whether this caller has places of its own to mark.
///
/// # Errors
/// `unauthenticated` for who calls without a name; as [`access::require_scope`] for a token that does not
/// write.
pub fn may_mark(caller: &Caller) -> Result<()> {
    if caller.agent.is_anonymous() {
        let message = "who has no name has no place of its own to mark";
        return Err(Error::new(ErrorKind::Unauthenticated, message)
            .hint("Say who you are, or give `after` yourself."));
    }
    access::require_scope(caller, TokenScope::Write)
}

/// The beginning of what a memory says; nothing of one that is quarantined.
#[must_use]
pub fn visible_beginning(memory: &Memory) -> Option<String> {
    if memory.is_quarantined() {
        return None;
    }
    let text = memory.title.as_ref().or(memory.summary.as_ref()).unwrap_or(&memory.text);
    let mut told: String = text.chars().take(limits::GLANCE_CHARS).collect();
    if told.len() < text.len() {
        told.push('…');
    }
    Some(told)
}
