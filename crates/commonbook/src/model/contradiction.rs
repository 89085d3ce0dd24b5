//! Contradictions: two memories that cannot both hold, found by rules on their words alone.
//!
//! Each memory is split into plain statements with a subject and a value (`commonbook_text::claims`).
//! Two statements with the same subject and attribute that differ in exactly one way (a number, a
//! date, a name, opposites, a negation) contradict each other, whatever the topics
//! (`contradiction/compare.rs`). Uncertain cases are skipped: guesses, single events, different
//! environments. An endpoint of the user's own may judge some of what the rules leave open
//! (`contradiction/judging.rs`). Nothing is resolved automatically: a contradiction is reported, and stays open
//! until an agent resolves it. An author's own correction is no contradiction: it supersedes.

mod compare;
pub mod judging;
mod pair;
mod requests;
#[cfg(test)]
mod tests;

pub use commonbook_text::claims::DifferenceKind;
pub use compare::{EarlierRelation, MemoryStatements};
pub use pair::{
    AnswerOutcome, AnswerPair, AnswerPairs, AnswerPairsResult, AnsweredPair, ListPairs, NearPair,
    PairRelation, PairSide,
};
pub use requests::{
    ContradictionResolution, ContradictionStatus, DetectContradictions, GetContradiction,
    JudgeContradictions, ReopenContradiction, ResolveContradiction,
};

use commonbook_text::string_enum;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::hash::sha256;
use crate::base::id::{ContradictionId, MemoryId};
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::lineage::StaleMemory;
use crate::model::memory::{Memory, Sharing};
use crate::model::workspace::Workspace;

string_enum! {
    /// Who found a contradiction.
    FindingSource {
        /// The rules, by the words of both memories.
        Rules = "rules",
        /// The endpoint in the settings, where the rules leave it open.
        Endpoint = "endpoint",
        /// A person, whose edit of a file another change crossed.
        Person = "person",
        /// An agent, which says so.
        Agent = "agent",
    }
}

impl FindingSource {
    fn is_rules(&self) -> bool {
        *self == Self::Rules
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for FindingSource {
    fn default() -> Self {
        Self::Rules
    }
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContradictionFinding {
    /// How they differ.
    pub kind: DifferenceKind,
    /// The reason, in a sentence with both authors and the differing words.
    pub reason: String,
    /// Confidence from 0 to 1. Base: 0.8 for a number or boolean, 0.75 for a date, name or
    /// negation, 0.7 for an antonym and for a second author. Add 0.1 if both subjects have the same
    /// name, and 0.05 if four words of the subject agree; subtract 0.15 if one subject is narrower
    /// by a word, and 0.1 if one agent wrote both. 0.6 from an endpoint, 0.7 from an agent, 1 from a person.
    pub confidence: f64,
    /// Who found it.
    #[serde(default)]
    pub found_by: FindingSource,
    /// The agent that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_by: Option<Agent>,
}

impl ContradictionFinding {
    /// The finding of a person's edit that another change of the same memory crossed: both versions are
    /// memories.
    #[must_use]
    pub fn of_edit(older: &Memory, newer: &Memory) -> Self {
        let (a, b) = (&older.owner, &newer.owner);
        Self {
            kind: DifferenceKind::Meaning,
            reason: format!("{a} and {b} changed the same lines of one memory at the same time"),
            confidence: 1.0,
            found_by: FindingSource::Person,
            stated_by: None,
        }
    }

    /// The statement of an agent that both cannot hold. The reason is in our words.
    #[must_use]
    pub fn of_statement(agent: &Agent, older: &Memory, newer: &Memory) -> Self {
        let (a, b) = (&older.owner, &newer.owner);
        let notes = match a == b {
            true => format!("the two notes of {a}"),
            false => format!("the notes of {a} and {b}"),
        };
        Self::stated(agent, format!("{agent} says that {notes} cannot both hold"))
    }

    /// The statement of an agent that one memory holds instead of another, which it may not change.
    #[must_use]
    pub fn of_replacement(agent: &Agent, older: &Memory, newer: &Memory) -> Self {
        let (a, b) = (&older.owner, &newer.owner);
        Self::stated(agent, format!("{agent} says that a note of {b} replaces one of {a}"))
    }

    fn stated(agent: &Agent, reason: String) -> Self {
        Self {
            kind: DifferenceKind::Meaning,
            reason,
            confidence: STATED_CONFIDENCE,
            found_by: FindingSource::Agent,
            stated_by: Some(agent.clone()),
        }
    }
}

/// Confidence of a contradiction that an agent states.
const STATED_CONFIDENCE: f64 = 0.7;

/// A summary of one of two contradicting memories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContradictionSide {
    /// The memory's id.
    pub id: MemoryId,
    /// Its owner.
    pub owner: Agent,
    /// Its heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The beginning of its text.
    pub text: String,
    /// The start of the time in which it holds.
    pub at: Timestamp,
}

impl ContradictionSide {
    /// The summary of this memory.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        let (text, limit) = (&memory.text, limits::PREVIEW_CHARS_MAX);
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
    /// The workspace of both memories.
    pub workspace: Workspace,
    /// The two memories, older first.
    pub memories: [ContradictionSide; 2],
    /// How they differ.
    pub kind: DifferenceKind,
    /// The reason, in a sentence with the differing words.
    pub reason: String,
    /// Confidence from 0 to 1.
    pub confidence: f64,
    /// Who found it: the rules, the endpoint in the settings, a person, or an agent that says so.
    #[serde(default)]
    pub found_by: FindingSource,
    /// The agent that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_by: Option<Agent>,
    /// Whether it is open or resolved.
    pub status: ContradictionStatus,
    /// When it was found.
    pub found_at: Timestamp,
    /// How it was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<ResolutionRecord>,
}

impl Contradiction {
    /// Who found it, in words: `rules`; `ann, who says so`.
    #[must_use]
    pub fn finder(&self) -> String {
        match &self.stated_by {
            Some(agent) => format!("{agent}, who says so"),
            None => self.found_by.name().to_owned(),
        }
    }
}

/// A contradiction that was resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResolveContradictionResult {
    /// The contradiction.
    #[serde(flatten)]
    pub contradiction: Contradiction,
    /// What the decision rests on and has changed since you received it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleMemory>,
}

/// What a reader of a memory must know of another that contradicts it: that this is open, or the
/// context in which each of the two holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContradictionMark {
    /// The contradiction's id.
    pub contradiction: ContradictionId,
    /// The memory that has the mark.
    pub memory: MemoryId,
    /// The other memory.
    pub other: MemoryId,
    /// The owner of the other memory.
    pub owner: Agent,
    /// Whether it is open, or resolved with `keep_both`.
    pub status: ContradictionStatus,
    /// Who found it; left out for the rules.
    #[serde(default, skip_serializing_if = "FindingSource::is_rules")]
    pub found_by: FindingSource,
    /// The agent that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_by: Option<Agent>,
    /// The context in which each of the two holds, with `keep_both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

/// How a contradiction was resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResolutionRecord {
    /// The resolution.
    pub resolution: ContradictionResolution,
    /// The agent that resolved it.
    pub resolved_by: Agent,
    /// When it was resolved.
    pub resolved_at: Timestamp,
    /// The context in which each memory holds, with `keep_both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The memory that holds: one of the two with `keep_newer` and `override`, a new one with
    /// `merge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<MemoryId>,
}

/// A stored contradiction between two memories at given revisions. It is shown only while both are
/// at these revisions, so that it never reveals text that a reader of the memories cannot read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContradictionRecord {
    /// Its id, derived from its memories.
    pub id: ContradictionId,
    /// The workspace of both memories.
    pub workspace: Workspace,
    /// The two memories, older first, each with the revision that was compared.
    pub memories: [(MemoryId, u64); 2],
    /// The result of the comparison.
    pub found: ContradictionFinding,
    /// When it was found.
    pub found_at: Timestamp,
    /// How it was resolved.
    pub resolved: Option<ResolutionRecord>,
    /// The hash of the request that resolved it: repeating that request is not a conflict.
    pub request_sha256: Option<String>,
    /// The hashes of the two texts when it was resolved, or when an endpoint judged them: both hold
    /// for these texts alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts_sha256: Option<[String; 2]>,
}

impl ContradictionRecord {
    /// A new record about these two memories, older first.
    #[must_use]
    pub fn new(
        older: &Memory,
        newer: &Memory,
        found: ContradictionFinding,
        now: Timestamp,
    ) -> Self {
        Self {
            id: id_of(older.id, newer.id),
            workspace: older.workspace.clone(),
            memories: [(older.id, older.revision), (newer.id, newer.revision)],
            texts_sha256: judged_texts(&found, older, newer),
            found,
            found_at: now,
            resolved: None,
            request_sha256: None,
        }
    }

    /// The open record about these two memories, with a new reading of why they differ.
    #[must_use]
    pub fn reopened(self, older: &Memory, newer: &Memory) -> Self {
        Self {
            memories: [(older.id, older.revision), (newer.id, newer.revision)],
            resolved: None,
            request_sha256: None,
            texts_sha256: judged_texts(&self.found, older, newer),
            ..self
        }
    }

    /// The judgement of an endpoint, a person or an agent about these two memories, as long as both texts are those
    /// that were judged.
    #[must_use]
    pub fn judgement(&self, older: &Memory, newer: &Memory) -> Option<ContradictionFinding> {
        let holds = self.texts_sha256.as_ref() == Some(&texts_sha256(older, newer));
        (holds && !self.found.found_by.is_rules()).then(|| self.found.clone())
    }

    /// Whether one of the two texts has changed since it was resolved.
    #[must_use]
    pub fn is_outdated(&self, older: &Memory, newer: &Memory) -> bool {
        let texts = texts_sha256(older, newer);
        self.resolved.is_some() && self.texts_sha256.as_ref().is_some_and(|then| *then != texts)
    }

    /// Whether it is open or resolved.
    #[must_use]
    pub fn status(&self) -> ContradictionStatus {
        if self.resolved.is_some() {
            ContradictionStatus::Resolved
        } else {
            ContradictionStatus::Open
        }
    }

    /// The contradiction with summaries of its memories.
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
            found_by: self.found.found_by,
            stated_by: self.found.stated_by,
            status,
            found_at: self.found_at,
            resolved: self.resolved,
        }
    }
}

/// The id of the contradiction between two memories, independent of their order.
#[must_use]
pub fn id_of(a: MemoryId, b: MemoryId) -> ContradictionId {
    ContradictionId::from_name(&format!("contradiction\n{}\n{}", a.min(b), a.max(b)))
}

/// The hashes of the texts of two memories.
#[must_use]
pub fn texts_sha256(older: &Memory, newer: &Memory) -> [String; 2] {
    [older, newer].map(|memory| sha256(&memory.text))
}

/// The hashes of the texts of a finding that holds for them alone.
fn judged_texts(
    found: &ContradictionFinding,
    older: &Memory,
    newer: &Memory,
) -> Option<[String; 2]> {
    (!found.found_by.is_rules()).then(|| texts_sha256(older, newer))
}

/// Two memories of which an agent that may change one says that they say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedPair {
    /// The two memories, the smaller id first.
    pub memories: [MemoryId; 2],
    /// The hashes of both texts, in this order: of others the statement says nothing.
    pub texts_sha256: String,
    /// The agent that says so.
    pub said_by: Agent,
}

impl RepeatedPair {
    /// The statement of this agent about two memories.
    #[must_use]
    pub fn of(a: &Memory, b: &Memory, said_by: &Agent) -> Self {
        let (memories, texts_sha256) = pair_texts(a, b);
        Self { memories, texts_sha256, said_by: said_by.clone() }
    }

    /// Whether it is about these two memories, at their present texts.
    #[must_use]
    pub fn holds_for(&self, a: &Memory, b: &Memory) -> bool {
        let (memories, texts) = pair_texts(a, b);
        self.memories == memories && self.texts_sha256 == texts
    }
}

/// The ids of two memories, the smaller one first, and the hashes of their texts in this order.
#[must_use]
pub fn pair_texts(a: &Memory, b: &Memory) -> ([MemoryId; 2], String) {
    let (first, second) = if a.id <= b.id { (a, b) } else { (b, a) };
    ([first.id, second.id], texts_sha256(first, second).concat())
}

/// The start of the time in which a memory holds.
#[must_use]
pub fn valid_since(memory: &Memory) -> Timestamp {
    memory.valid_from.unwrap_or(memory.recorded_at)
}

/// Two memories, older first.
#[must_use]
pub fn ordered_by_time<'m>(a: &'m Memory, b: &'m Memory) -> (&'m Memory, &'m Memory) {
    if (valid_since(a), a.id) <= (valid_since(b), b.id) { (a, b) } else { (b, a) }
}

/// Confidence of a conflict between two authors of one profile.
const SECOND_AUTHOR_CONFIDENCE: f64 = 0.7;

/// Finds a conflict between a user's profile, or the state of a user's task, and another agent's
/// version of the same. Agents below one root count as one author.
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
        found_by: FindingSource::Rules,
        stated_by: None,
    })
}

/// Whether two memories of a workspace can contradict each other at all: both are current, about
/// the same user or no user, hold at the same time, some agent can see both, and neither is a document.
#[must_use]
pub fn may_contradict(a: &Memory, b: &Memory) -> bool {
    let before = |first: &Memory, second: &Memory| {
        first.valid_until.is_some_and(|end| end <= valid_since(second))
    };
    let hidden =
        a.owner != b.owner && a.sharing == Sharing::Private && b.sharing == Sharing::Private;
    a.id != b.id
        && !a.is_document()
        && !b.is_document()
        && a.workspace == b.workspace
        && a.user_id == b.user_id
        && a.is_usable()
        && b.is_usable()
        && !before(a, b)
        && !before(b, a)
        && !hidden
}
