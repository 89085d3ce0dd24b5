//! The graph: relations between entities and between memories.
//!
//! A relation has an author and a time of validity, and grows stronger each time it is stated.
//! Walks ([`walk`]) read the graph through a function that returns the links of some nodes. That
//! function applies the permission rule, so neither a path nor a count reveals a node or link that
//! the caller may not see.

pub mod export;
mod page;
mod requests;
pub mod walk;

pub use page::EntityDetails;
pub use requests::{
    AddRelation, GraphFormat, GraphQuery, LinkFilter, NODES_DEFAULT, NodeRef, RemoveRelation,
    WalkDirection,
};

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{EntityId, MemoryId, RelationId};
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::memory::FROM_FILE;
use crate::model::workspace::Workspace;

/// Strength of a relation that was stated once.
pub const FIRST_STRENGTH: f64 = 0.5;
/// Added for each repetition, up to a strength of 1.
pub const REPEATED_STRENGTH: f64 = 0.1;

/// The type of a relation, a slug. Well known are `supersedes`, `context`, `depends_on`, `part_of`,
/// `uses` and `relates_to`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct RelationType(String);

impl RelationType {
    /// The well-known types, in the order of the documentation.
    pub const WELL_KNOWN: [&'static str; 6] =
        ["supersedes", "context", "depends_on", "part_of", "uses", "relates_to"];

    /// The type as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RelationType {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        input::slug("relation", &text, limits::RELATION_CHARS).map(Self)
    }
}

impl FromStr for RelationType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::try_from(text.to_owned())
    }
}

impl From<RelationType> for String {
    fn from(kind: RelationType) -> Self {
        kind.0
    }
}

impl fmt::Display for RelationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One end of a relation: an entity, `ent_…`, or a memory, `mem_…`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum GraphNode {
    /// An entity.
    Entity(EntityId),
    /// A memory.
    Memory(MemoryId),
}

impl FromStr for GraphNode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let kind = text.split_once('_').map_or(text, |(kind, _)| kind);
        match kind {
            "ent" => text.parse().map(Self::Entity),
            "mem" => text.parse().map(Self::Memory),
            _ => {
                let shown: String = text.chars().take(40).collect();
                Err(Error::invalid(
                    "node",
                    format!("{shown:?} is not the id of an entity or memory"),
                )
                .hint("Give an id that begins with 'ent_' or 'mem_'."))
            }
        }
    }
}

impl TryFrom<String> for GraphNode {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<GraphNode> for String {
    fn from(node: GraphNode) -> Self {
        node.to_string()
    }
}

impl fmt::Display for GraphNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entity(id) => id.fmt(f),
            Self::Memory(id) => id.fmt(f),
        }
    }
}

/// A typed, directed relation between two entities or two memories. Each pair has at most one of
/// each type and direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Relation {
    /// Its id.
    pub id: RelationId,
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// Where it begins.
    pub from: GraphNode,
    /// Where it ends.
    pub to: GraphNode,
    /// Its type.
    #[serde(rename = "type")]
    pub relation_type: RelationType,
    /// Its strength from 0 to 1: 0.5 at first, plus 0.1 for each repetition.
    pub strength: f64,
    /// Number of times it was stated.
    pub count: u64,
    /// The agent that stated it first.
    pub author: Agent,
    /// When it was first stated.
    pub recorded_at: Timestamp,
    /// When it was last stated.
    pub last_at: Timestamp,
    /// The start of the time in which it holds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_from: Option<Timestamp>,
    /// The end of the time in which it holds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_until: Option<Timestamp>,
}

impl Relation {
    /// A relation stated for the first time.
    #[must_use]
    pub fn new(
        id: RelationId,
        workspace: Workspace,
        from: GraphNode,
        request: &AddRelation,
        to: GraphNode,
        author: &Agent,
        at: Timestamp,
    ) -> Self {
        Self {
            id,
            workspace,
            from,
            to,
            relation_type: request.relation_type.clone(),
            strength: FIRST_STRENGTH,
            count: 1,
            author: author.clone(),
            recorded_at: at,
            last_at: at,
            valid_from: request.valid_from,
            valid_until: request.valid_until,
        }
    }

    /// The relation after a repetition: stronger, and with the newest validity, if given.
    #[must_use]
    pub fn reinforce(&self, request: &AddRelation, at: Timestamp) -> Self {
        let count = self.count.saturating_add(1);
        let further = u32::try_from(count - 1).unwrap_or(u32::MAX);
        Self {
            count,
            // Computed from the count, so that rounding errors do not add up.
            strength: (FIRST_STRENGTH + REPEATED_STRENGTH * f64::from(further)).min(1.0),
            last_at: self.last_at.max(at),
            valid_from: request.valid_from.or(self.valid_from),
            valid_until: request.valid_until.or(self.valid_until),
            ..self.clone()
        }
    }

    /// Whether it holds at a time: from `valid_from` until before `valid_until`.
    #[must_use]
    pub fn holds_at(&self, at: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= at)
            && self.valid_until.is_none_or(|until| at < until)
    }
}

/// Who says what a node or a link of the graph shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GraphSource {
    /// Of a memory its owner; of an entity the agent that last stated something about it or, without
    /// statements, last mentioned it; of a relation the agent that stated it first; of `mentions` and
    /// `supersedes` the owner of the memory where the link begins.
    pub author: Agent,
    /// What to know of its origin: `untrusted`, `quarantined`, or `from a file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_note: Option<String>,
}

impl GraphSource {
    /// The source of a statement of this agent, which only a file may name.
    #[must_use]
    pub fn of_statement(author: Agent) -> Self {
        let origin_note = author.is_of_file().then(|| FROM_FILE.to_owned());
        Self { author, origin_note }
    }

    /// The author, and after it what to know of the origin, on one line: `ann, from a file`.
    #[must_use]
    pub fn line(&self) -> String {
        let note = self.origin_note.iter().map(|note| format!(", {note}"));
        format!("{}{}", self.author, note.collect::<String>())
    }
}

#[cfg(test)]
mod tests;
