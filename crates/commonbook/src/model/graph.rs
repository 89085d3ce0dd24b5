//! The graph: relations between entities and between memories, and what can be asked of them.
//!
//! A relation is said by somebody, holds for some time, and grows stronger each time it is said.
//! Walks ([`walk`]) see the graph through a function that gives the links of some nodes. Sight is
//! that function's: a node or link that the caller may not see is never given, so that neither a
//! path leads through it nor a count tells of it.

pub mod export;
mod page;
mod requests;
pub mod walk;

pub use page::EntityPage;
pub use requests::{
    AddRelation, GraphFormat, GraphQuery, LinkFilter, NODES_DEFAULT, NodeRef, WalkDirection,
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
use crate::model::workspace::Workspace;

/// How strong a relation is that was said once.
pub const FIRST_STRENGTH: f64 = 0.5;
/// What saying it again adds (seed 000's original), up to 1.
pub const REPEATED_STRENGTH: f64 = 0.1;

/// How two things are related: any slug; well known are `supersedes`, `context`, `depends_on`,
/// `part_of`, `uses` and `relates_to`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct RelationType(String);

impl RelationType {
    /// The well-known kinds, in the order of the documentation.
    pub const WELL_KNOWN: [&'static str; 6] =
        ["supersedes", "context", "depends_on", "part_of", "uses", "relates_to"];

    /// The slug.
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

/// What a relation leads from or to: an entity, `ent_…`, or a memory, `mem_…`.
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
                Err(Error::invalid("node", format!("{shown:?} is neither an entity nor a memory"))
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

/// A typed link between two things. Of one type there is one between the same two, in each
/// direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Relation {
    /// Its id.
    pub id: RelationId,
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// Where it leads from.
    pub from: GraphNode,
    /// Where it leads to.
    pub to: GraphNode,
    /// How they are related.
    #[serde(rename = "type")]
    pub relation_type: RelationType,
    /// How strong it is, from 0 to 1: 0.5 at first, and 0.1 more each time it is said.
    pub strength: f64,
    /// How often it was said.
    pub count: u64,
    /// Who said it first.
    pub author: Agent,
    /// When it was first said.
    pub recorded_at: Timestamp,
    /// When it was last said.
    pub last_at: Timestamp,
    /// From when on it holds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_from: Option<Timestamp>,
    /// Until when it holds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_until: Option<Timestamp>,
}

impl Relation {
    /// A relation that nobody said before.
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

    /// The relation after it was said once more: stronger, and valid as was said last where
    /// something was said of that.
    #[must_use]
    pub fn reinforce(&self, said: &AddRelation, at: Timestamp) -> Self {
        let count = self.count.saturating_add(1);
        let further = u32::try_from(count - 1).unwrap_or(u32::MAX);
        Self {
            count,
            // From the count, so that many small sums leave no dust.
            strength: (FIRST_STRENGTH + REPEATED_STRENGTH * f64::from(further)).min(1.0),
            last_at: self.last_at.max(at),
            valid_from: said.valid_from.or(self.valid_from),
            valid_until: said.valid_until.or(self.valid_until),
            ..self.clone()
        }
    }

    /// Whether it holds at a time: from `valid_from` on, and no longer at `valid_until`.
    #[must_use]
    pub fn holds_at(&self, at: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= at)
            && self.valid_until.is_none_or(|until| at < until)
    }
}

#[cfg(test)]
mod tests;
