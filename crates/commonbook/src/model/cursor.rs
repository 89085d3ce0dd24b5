//! Cursors: how far an agent has read a case or the journal, and the changes since.

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

/// Returns what has changed since you last looked, oldest first: in one case, or in everything of
/// the workspace that you may see. Leaves out your own changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesSince {
    /// Only the entries of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Starts after this position of the journal or the case; by default after your mark, or at the
    /// beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// Marks the returned changes as read, so that the next call continues after them.
    #[serde(default)]
    pub mark: bool,
    /// Includes your own changes. Entries of a case always include them.
    #[serde(default)]
    pub own: bool,
}

/// The changes since a position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesResponse {
    /// The position after which they begin.
    pub after: u64,
    /// Events of the workspace, oldest first; empty if a case was requested.
    pub changes: Vec<ChangeNotice>,
    /// New entries of the case, in order; empty if no case was requested.
    pub entries: Vec<CaseEntry>,
    /// Quarantined memories that you, or agents below you, saved since then; at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<QuarantineNotice>,
    /// The last position covered: mark it with `mark_read`, or pass it as `after` in the next call.
    pub through: u64,
    /// Number of further changes that you may see; in a long journal, among its next 100,000
    /// events.
    pub left: u64,
}

/// One change in the workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeNotice {
    /// The event.
    pub event: Event,
    /// The headline of the memory, as it is now; that of the first entry that a case got; of a contradiction
    /// those of its two memories, the newer one first, with handles and authors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The short handle of that memory, which every tool takes for its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
}

/// Marks how far you have read a case or the journal; `changes_since` continues there. A mark never
/// moves back: pass `after` to read again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkRead {
    /// The case; the journal of the workspace by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// The last position that you have read; the present end by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// How far an agent has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadMark {
    /// The case; `null` for the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// The last position marked as read.
    pub position: u64,
    /// The position of the last entry or event.
    pub end: u64,
}

/// Checks that this caller can have marks.
///
/// # Errors
/// `unauthenticated` for a caller without a name; as [`access::require_scope`] for a token without
/// the scope to write.
pub fn may_mark(caller: &Caller) -> Result<()> {
    if caller.agent.is_anonymous() {
        let message = "a caller without a name has no mark";
        return Err(Error::new(ErrorKind::Unauthenticated, message)
            .hint("Give your name, or pass `after`."));
    }
    access::require_scope(caller, TokenScope::Write)
}

/// The beginning of a memory's text; `None` if it is quarantined.
#[must_use]
pub fn visible_beginning(memory: &Memory) -> Option<String> {
    if memory.is_quarantined() {
        return None;
    }
    let text = memory.title.as_ref().or(memory.summary.as_ref()).unwrap_or(&memory.text);
    let mut beginning: String = text.chars().take(limits::PREVIEW_CHARS_MAX).collect();
    if beginning.len() < text.len() {
        beginning.push('…');
    }
    Some(beginning)
}
