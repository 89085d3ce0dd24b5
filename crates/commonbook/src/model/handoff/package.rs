//! The package of a handoff, as it is stored; `prompt/handoff.rs` writes and renders it.

mod stored;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Handoff, PassedNote};
use crate::base::id::{EntityId, MemoryId};
use crate::model::delivery::PromptItem;
use crate::model::handoff::choose::MemoryExclusion;
pub(crate) use stored::read_memory;

/// The text of a handoff in parts, written when the handoff is made. Parts that the target may not
/// see any more are left out when it accepts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HandoffPackage {
    /// The nonce of the fence.
    pub nonce: String,
    /// The source's own text.
    #[serde(deserialize_with = "stored::read_brief")]
    pub brief: Vec<BriefSection>,
    /// The entities of the handoff.
    #[serde(deserialize_with = "stored::read_entities")]
    pub entities: BTreeMap<EntityId, PromptItem>,
    /// The memories of the handoff; a purge removes one of them without reading the others.
    #[serde(skip)]
    pub memories: BTreeMap<MemoryId, PromptItem>,
    /// The revision of each memory when the handoff was made.
    #[serde(skip)]
    pub revisions: BTreeMap<MemoryId, u64>,
    /// Tokens for the earlier handoffs of the chain, which are read when the target accepts: their
    /// results may come later.
    #[serde(default)]
    pub earlier_tokens: u32,
    /// The number of fitting memories for which there was no room.
    #[serde(default)]
    pub left_out_count: u32,
    /// Tokens of the whole text at most; 0 in a package of an earlier version.
    #[serde(default)]
    pub budget: u32,
}

/// A part of the source's own text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BriefSection {
    /// Its heading: `Task`, `Next steps`.
    pub heading: String,
    /// Its text.
    pub text: String,
}

/// A handoff with everything that it carries.
#[derive(Debug, Clone, PartialEq)]
pub struct PackResult {
    /// The handoff, which names what it carries.
    pub handoff: Handoff,
    /// Its text in parts.
    pub package: HandoffPackage,
    /// The candidates that were left out.
    pub left_out: Vec<MemoryExclusion>,
    /// What goes along, as its source recognises it: the first ten.
    pub along: Vec<PassedNote>,
    /// What stays behind, likewise.
    pub behind: Vec<PassedNote>,
    /// What the source should know: why no memory goes along, and what of its text has no room.
    pub hint: Option<String>,
}
