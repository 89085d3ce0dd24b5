//! Contradictions: two memories that cannot both hold, found by rules that read words alone.
//!
//! Two memories are compared when they mention the same thing or topic. What each states plainly
//! is taken apart into what it is about and what it says of that (`contradiction/clause.rs`); two
//! clauses about the same that differ in exactly one way, a number, a date, a side of a pair of
//! opposites, a denial, contradict each other (`contradiction/compare.rs`). What is uncertain is
//! passed over: a change in time, a guess, what happened once, what is said of another environment.
//! Nothing is ever decided by itself: a contradiction is told, and stays open until somebody
//! resolves it.

mod compare;
mod requests;
#[cfg(test)]
mod tests;

pub use commonbook_text::claims::DifferenceKind;
pub use compare::MemoryStatements;
pub use requests::{
    ContradictionResolution, ContradictionStatus, DetectContradictions, GetContradiction,
    ResolveContradiction,
};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::{ContradictionId, MemoryId};
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::memory::{Memory, Sharing};
use crate::model::workspace::Workspace;

/// What two memories share that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ComparisonBasis {
    /// A topic or a notion.
    Topic,
    /// A thing that both speak of: a tool, a person, a file.
    Thing,
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContradictionFinding {
    /// What they differ in.
    pub kind: DifferenceKind,
    /// Why, in a sentence with the words in which they differ.
    pub reason: String,
    /// How certain it is, from 0 to 1: 0.8 for a number or a boolean, 0.75 for a date or a denial,
    /// 0.7 for an antonym and for a second author; 0.1 more where both speak of the same thing and not only of a topic, 0.05
    /// more where four words of what they are about agree; 0.15 less where one of them is narrower
    /// by a word, 0.1 less where one agent said both.
    pub confidence: f64,
}

/// One of two memories that contradict each other, in brief.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContradictionSide {
    /// Its id.
    pub id: MemoryId,
    /// Whose it is.
    pub owner: Agent,
    /// Its heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The beginning of what it says.
    pub text: String,
    /// Since when it holds.
    pub at: Timestamp,
}

impl ContradictionSide {
    /// This memory, in brief.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        let (text, limit) = (&memory.text, limits::GLANCE_CHARS);
        let end = text.char_indices().nth(limit).map(|(end, _)| end);
        Self {
            id: memory.id,
            owner: memory.owner.clone(),
            title: memory.title.clone(),
            text: end.map_or_else(|| text.clone(), |end| format!("{} …", &text[..end])),
            at: valid_since(memory),
        }
    }
}

/// Two memories that cannot both hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contradiction {
    /// Its id.
    pub id: ContradictionId,
    /// The workspace that both memories are kept in.
    pub workspace: Workspace,
    /// The two memories, the older first.
    pub memories: [ContradictionSide; 2],
    /// What they differ in.
    pub kind: DifferenceKind,
    /// Why, in a sentence with the words in which they differ.
    pub reason: String,
    /// How certain it is, from 0 to 1.
    pub confidence: f64,
    /// Whether somebody has resolved it.
    pub status: ContradictionStatus,
    /// When it was found.
    pub found_at: Timestamp,
    /// How it was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<ResolutionRecord>,
}

/// How a contradiction was resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResolutionRecord {
    /// What became of the two memories.
    pub resolution: ContradictionResolution,
    /// Who resolved it.
    pub resolved_by: Agent,
    /// When.
    pub resolved_at: Timestamp,
    /// In which context each holds, with `keep_both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The memory that stands: with `keep_newer` and `override` one of the two, with `merge` a new
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<MemoryId>,
}

/// A contradiction as it is kept: of two memories at these revisions. It is shown only while both
/// still are at them, so that it never says what a reader of the memories cannot read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContradictionRecord {
    /// Its id, which follows from its memories.
    pub id: ContradictionId,
    /// The workspace that both memories are kept in.
    pub workspace: Workspace,
    /// The two memories, the older first, each with the revision that was compared.
    pub memories: [(MemoryId, u64); 2],
    /// What they share.
    pub shared: ComparisonBasis,
    /// What was found.
    pub found: ContradictionFinding,
    /// When.
    pub found_at: Timestamp,
    /// How it was resolved.
    pub resolved: Option<ResolutionRecord>,
    /// The fingerprint of the request that resolved it: asking for the same again is no conflict.
    pub request_sha256: Option<String>,
}

impl ContradictionRecord {
    /// What was found in these two memories, the older first.
    #[must_use]
    pub fn new(
        older: &Memory,
        newer: &Memory,
        shared: ComparisonBasis,
        found: ContradictionFinding,
        now: Timestamp,
    ) -> Self {
        Self {
            id: id_of(older.id, newer.id),
            workspace: older.workspace.clone(),
            memories: [(older.id, older.revision), (newer.id, newer.revision)],
            shared,
            found,
            found_at: now,
            resolved: None,
            request_sha256: None,
        }
    }

    /// Whether it is resolved.
    #[must_use]
    pub fn status(&self) -> ContradictionStatus {
        if self.resolved.is_some() {
            ContradictionStatus::Resolved
        } else {
            ContradictionStatus::Open
        }
    }

    /// The contradiction as it is told, with its memories.
    #[must_use]
    pub fn into_contradiction(self, older: &Memory, newer: &Memory) -> Contradiction {
        let status = self.status();
        Contradiction {
            id: self.id,
            workspace: self.workspace,
            memories: [ContradictionSide::of(older), ContradictionSide::of(newer)],
            kind: self.found.kind,
            reason: self.found.reason,
            confidence: self.found.confidence,
            status,
            found_at: self.found_at,
            resolved: self.resolved,
        }
    }
}

/// The id of the contradiction of two memories, in whichever order: the same whoever finds it.
#[must_use]
pub fn id_of(a: MemoryId, b: MemoryId) -> ContradictionId {
    ContradictionId::from_name(&format!("contradiction\n{}\n{}", a.min(b), a.max(b)))
}

/// Since when a memory holds.
#[must_use]
pub fn valid_since(memory: &Memory) -> Timestamp {
    memory.valid_from.unwrap_or(memory.recorded_at)
}

/// Two memories in the order of time.
#[must_use]
pub fn ordered_by_time<'m>(a: &'m Memory, b: &'m Memory) -> (&'m Memory, &'m Memory) {
    if (valid_since(a), a.id) <= (valid_since(b), b.id) { (a, b) } else { (b, a) }
}

/// How certain it is that two authors of one profile contradict each other.
const SECOND_AUTHOR_CONFIDENCE: f64 = 0.7;

/// What stands against two memories of which the second is another agent's profile of the same user,
/// or its state of the same task: nobody has said whose counts. Agents below one root are one author,
/// for one of them answers for all.
#[must_use]
pub fn profile_conflict(older: &Memory, newer: &Memory) -> Option<ContradictionFinding> {
    let kind = older.memory_type.as_str();
    let alike = matches!(kind, "profile" | "task_context")
        && older.memory_type == newer.memory_type
        && older.user_id == newer.user_id
        && older.owner.root() != newer.owner.root();
    let about = match &older.user_id {
        Some(user) => format!("the user {user:?}"),
        None => "nobody in particular".to_owned(),
    };
    alike.then(|| ContradictionFinding {
        kind: DifferenceKind::Author,
        reason: format!("{} and {} each keep a {kind} about {about}", older.owner, newer.owner),
        confidence: SECOND_AUTHOR_CONFIDENCE,
    })
}

/// Whether two memories of a workspace can contradict each other at all: both are current, about
/// the same user or about nobody, hold at the same time, and there may be somebody who sees both.
#[must_use]
pub fn may_contradict(a: &Memory, b: &Memory) -> bool {
    let current = |memory: &Memory| memory.is_current() && !memory.is_quarantined();
    let before =
        |one: &Memory, other: &Memory| one.valid_until.is_some_and(|end| end <= valid_since(other));
    let hidden =
        a.owner != b.owner && a.sharing == Sharing::Private && b.sharing == Sharing::Private;
    a.id != b.id
        && a.workspace == b.workspace
        && a.user_id == b.user_id
        && current(a)
        && current(b)
        && !before(a, b)
        && !before(b, a)
        && !hidden
}
