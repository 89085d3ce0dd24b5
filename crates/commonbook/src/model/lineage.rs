//! Lineage: what was derived from which memory, and what a session received.

mod requests;
mod stale;

pub use requests::{
    AcknowledgeOutdated, BasisClaim, BasisRef, ListOutdated, OutdatedItem, OutdatedReview,
};
pub(crate) use stale::excerpt;
pub use stale::{StaleMemory, TextTerms, stale_error};

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::error::{Error, ErrorKind};
use crate::base::id::{ContextId, ContradictionId, HandoffId, MemoryId};
use crate::model::agent::Agent;
use crate::model::memory::MemoryChangeKind;
use crate::model::workspace::Workspace;

/// Something that an agent derived from memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DerivedId {
    /// A memory, an entry of a case included.
    Memory(MemoryId),
    /// A handoff.
    Handoff(HandoffId),
    /// The resolution of a contradiction.
    Resolution(ContradictionId),
}

impl fmt::Display for DerivedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(id) => id.fmt(f),
            Self::Handoff(id) => id.fmt(f),
            Self::Resolution(id) => id.fmt(f),
        }
    }
}

impl FromStr for DerivedId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let memory = || MemoryId::parse(text).map(Self::Memory);
        let handoff = || HandoffId::parse(text).map(Self::Handoff);
        let resolution = || ContradictionId::parse(text).map(Self::Resolution);
        memory().or_else(handoff).or_else(resolution).ok_or_else(|| {
            Error::new(ErrorKind::Internal, format!("nothing with the id {text:?} is derived"))
        })
    }
}

impl Serialize for DerivedId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DerivedId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// One memory that something was derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Basis {
    /// The workspace of what was derived.
    pub workspace: Workspace,
    /// What was derived.
    pub derived: DerivedId,
    /// The workspace of the memory.
    pub origin: Workspace,
    /// The memory.
    pub memory: MemoryId,
    /// The revision of the memory that the author knew.
    pub revision: u64,
    /// The receipt of the text that told the memory; `None` if the author named the memory.
    pub context: Option<ContextId>,
    /// When it was derived.
    pub recorded_at: Timestamp,
}

/// Memories that a session received: those of a text, or those that it opened.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryReading {
    /// The workspace of the session.
    pub workspace: Workspace,
    /// The agent.
    pub agent: Agent,
    /// The session, else the day.
    pub session: String,
    /// The receipt of the text.
    pub context: Option<ContextId>,
    /// The end of the journal then: what the session knows of contradictions.
    pub sequence: u64,
    /// When.
    pub at: Timestamp,
    /// The memories, each at its revision; at the present one if that is unknown.
    pub memories: Vec<(MemoryId, Option<u64>)>,
}

/// The sessions of an agent that one call belongs to: a session of ours, and the client's own id of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadSetKey {
    /// The workspace.
    pub workspace: Workspace,
    /// The agent.
    pub agent: Agent,
    /// The ids of the session, as receipts name it.
    pub sessions: Vec<String>,
}

/// The session of what an agent learns outside any session: the day.
#[must_use]
pub fn day_session(at: Timestamp) -> String {
    at.strftime("day-%F").to_string()
}

/// A memory that a session received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldMemory {
    /// The workspace of the memory.
    pub origin: Workspace,
    /// The memory.
    pub memory: MemoryId,
    /// The last revision that the session knows.
    pub revision: u64,
    /// The present revision.
    pub current: u64,
    /// The receipt that told it last.
    pub context: Option<ContextId>,
    /// Whether a contradiction of it was found since, and is open.
    pub is_contradicted: bool,
    /// Its present title and text.
    pub text: String,
}

/// The mark of something that was derived from a memory that has changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutdatedRecord {
    /// The workspace of what was derived.
    pub workspace: Workspace,
    /// What was derived.
    pub derived: DerivedId,
    /// Its owner.
    pub owner: Agent,
    /// The workspace of the memory that has changed.
    pub origin: Workspace,
    /// The memory that has changed.
    pub memory: MemoryId,
    /// How it has changed.
    pub mark: OutdatedMark,
}

/// How a memory has changed that something was derived from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutdatedMark {
    /// The change.
    pub change: MemoryChangeKind,
    /// The agent that made it.
    pub by: Agent,
    /// When.
    pub at: Timestamp,
    /// The memory, what was derived from it, and so on to what is marked.
    pub path: Vec<DerivedId>,
}
