//! What a write names as its basis, and the list of what was derived from changed memories.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DerivedId;
use crate::base::error::{Error, Result};
use crate::base::id::{ContextId, MemoryId, parse_handle};
use crate::base::limits;
use crate::base::page::PageCursor;
use crate::model::agent::Agent;
use crate::model::memory::MemoryChangeKind;

/// What a write names as its basis.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BasisClaim {
    /// What it rests on, each with its place in the request.
    pub named: Vec<BasisRef>,
    /// Whether the write fails if something of that has changed.
    pub require_current: bool,
}

impl BasisClaim {
    /// The claim of a request.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field.
    pub fn parse(based_on: &[String], require_current: bool) -> Result<Self> {
        if based_on.len() > limits::BASED_ON {
            return Err(Error::too_large("based_on", based_on.len(), limits::BASED_ON, "items"));
        }
        let named = based_on.iter().enumerate().map(|(place, text)| {
            BasisRef::parse(text).ok_or_else(|| malformed(&format!("based_on[{place}]"), text))
        });
        Ok(Self { named: named.collect::<Result<_>>()?, require_current })
    }
}

fn malformed(field: &str, text: &str) -> Error {
    let shown: String = text.chars().take(40).collect();
    Error::invalid(field, format!("{shown:?} names no memory and no context"))
        .hint("Give the id or handle of a memory, with `@` and a revision, or the id of a context.")
}

/// One thing that a write names as its basis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BasisRef {
    /// A memory, at the revision that the author knows if it names one.
    Memory {
        /// Its id.
        id: MemoryId,
        /// The revision.
        revision: Option<u64>,
    },
    /// The receipt of a context: everything that it told.
    Context(ContextId),
    /// The end of one of these ids.
    Handle {
        /// The last letters of the id.
        ending: String,
        /// The revision, of a memory.
        revision: Option<u64>,
    },
}

impl BasisRef {
    /// Parses `mem_…`, `mem_…@3`, `ctx_…` or the handle of one of these.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (name, revision) = match text.split_once('@') {
            Some((name, revision)) => (name, Some(revision.parse().ok().filter(|it| *it > 0)?)),
            None => (text, None),
        };
        if let Some(id) = MemoryId::parse(name) {
            return Some(Self::Memory { id, revision });
        }
        if let Some(id) = ContextId::parse(name) {
            return revision.is_none().then_some(Self::Context(id));
        }
        Some(Self::Handle { ending: parse_handle(name)?, revision })
    }
}

/// Lists what you derived from memories that have changed since, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListOutdated {
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Says that an item of `list_outdated` still holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcknowledgeOutdated {
    /// The id of the memory or handoff.
    #[schemars(length(min = 1, max = limits::BASIS_CHARS))]
    pub id: String,
}

impl AcknowledgeOutdated {
    /// The end of the id of the item; a whole id is its own end.
    ///
    /// # Errors
    /// `invalid` for a malformed id.
    pub fn ending(&self) -> Result<String> {
        let whole = self.id.trim().parse::<DerivedId>().map(|id| id.to_string()).ok();
        whole.or_else(|| parse_handle(&self.id)).ok_or_else(|| {
            Error::invalid("id", "is not the id of a memory or handoff")
                .hint("Use the `id` of an item of list_outdated.")
        })
    }
}

/// Something that was derived from a memory that has changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutdatedItem {
    /// The id of the memory or handoff to review.
    pub id: String,
    /// The beginning of its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The memory that has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryId>,
    /// How it has changed.
    pub change: MemoryChangeKind,
    /// The agent that changed it.
    pub by: Agent,
    /// When it changed.
    pub at: Timestamp,
    /// The ids from the changed memory to the item.
    pub path: Vec<String>,
}

/// What is left of the marks of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutdatedReview {
    /// The id of the item.
    pub id: String,
    /// The number of marks that were removed.
    pub removed: u64,
}
