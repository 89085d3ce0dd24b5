//! Requests that add relations and walk the graph.

use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GraphNode, RelationType};
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::{input, limits};
use crate::model::entity::{EntityRef, EntityType};
use commonbook_text::string_enum;

/// A node: an id, or an entity by its type and any of its names, as in `tool:TypeScript`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("type" = "string", "minLength" = 1))]
pub enum NodeRef {
    /// An entity.
    Entity(EntityRef),
    /// A memory.
    Memory(MemoryId),
}

impl FromStr for NodeRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse() {
            Ok(id) => Ok(Self::Memory(id)),
            Err(_) => text.parse().map(Self::Entity),
        }
    }
}

impl TryFrom<String> for NodeRef {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<NodeRef> for String {
    fn from(node: NodeRef) -> Self {
        match node {
            NodeRef::Entity(entity) => entity.to_string(),
            NodeRef::Memory(id) => id.to_string(),
        }
    }
}

/// Relates two entities, or two memories. Repeating a relation makes it stronger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddRelation {
    /// Where the relation begins: the id of an entity or memory, or an entity as `tool:TypeScript`.
    pub from: NodeRef,
    /// Where it ends: an entity for an entity, a memory for a memory.
    pub to: NodeRef,
    /// Its type: `depends_on`, `part_of`, `uses` … or a slug of your own.
    #[serde(rename = "type")]
    pub relation_type: RelationType,
    /// The start of the time in which it holds; unlimited by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// The end of the time in which it holds, exclusive; unlimited by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Removes the relation of this type between two entities, or two memories. `add_relation` states it
/// again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveRelation {
    /// Where the relation begins: the id of an entity or memory, or an entity as `tool:TypeScript`.
    pub from: NodeRef,
    /// Where it ends.
    pub to: NodeRef,
    /// Its type.
    #[serde(rename = "type")]
    pub relation_type: RelationType,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

impl AddRelation {
    /// Checks the request for these resolved ends.
    ///
    /// # Errors
    /// `invalid` if both ends are equal, if an entity is related to a memory, or if `valid_until`
    /// is not after `valid_from`.
    pub fn check(&self, from: GraphNode, to: GraphNode) -> Result<()> {
        if from == to {
            return Err(Error::invalid("to", "is the same as from; expected another node"));
        }
        if matches!(from, GraphNode::Entity(_)) != matches!(to, GraphNode::Entity(_)) {
            return Err(Error::invalid("to", "cannot relate an entity to a memory").hint(
                "Relate two entities or two memories; mentions link a memory to its entities.",
            ));
        }
        match (self.valid_from, self.valid_until) {
            (Some(from), Some(until)) if until <= from => {
                Err(Error::invalid("valid_until", "must be later than valid_from"))
            }
            _ => Ok(()),
        }
    }
}

string_enum! {
    /// The direction in which relations are followed.
    WalkDirection {
        /// Both directions.
        Both = "both",
        /// From begin to end.
        Out = "out",
        /// From end to begin.
        In = "in",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for WalkDirection {
    fn default() -> Self {
        Self::Both
    }
}

string_enum! {
    /// The format of a graph.
    GraphFormat {
        /// Nodes and links.
        Json = "json",
        /// Nodes and links, and a drawing in DOT for Graphviz.
        Dot = "dot",
    }
}

/// Returns the neighbourhood of an entity or memory in the graph, or the shortest path to another
/// one. Links are relations, and `mentions` between a memory and its entities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphQuery {
    /// The start: the id of an entity or memory, or an entity as `tool:TypeScript`.
    pub from: NodeRef,
    /// The end of the path; without it, returns the neighbourhood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<NodeRef>,
    /// Number of steps of the neighbourhood, 1 to 3; 1 by default. Ignored with `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::GRAPH_DEPTH))]
    pub depth: Option<u32>,
    /// Follows only relations of these types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<RelationType>,
    /// Returns only entities of these types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<EntityType>,
    /// The direction in which relations are followed; both by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<WalkDirection>,
    /// The graph as it was at this time; now by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Maximum number of nodes, 1 to 500; 100 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::GRAPH_NODES))]
    pub limit: Option<u32>,
    /// The format; `json` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<GraphFormat>,
}

/// Selects the links of a walk.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkFilter {
    /// Relations of these types; empty for any.
    pub relations: Vec<RelationType>,
    /// To entities of these types; empty for any.
    pub types: Vec<EntityType>,
    /// In this direction.
    pub direction: WalkDirection,
    /// Also the links that memories imply: `mentions` and `supersedes`.
    pub follows: bool,
    /// As of this time.
    pub at: Timestamp,
}

/// The default number of nodes of a response.
pub const NODES_DEFAULT: u32 = 100;

impl GraphQuery {
    /// The filter of this request; as of `now` unless it names a time.
    #[must_use]
    pub fn link_filter(&self, now: Timestamp) -> LinkFilter {
        LinkFilter {
            relations: self.relations.clone(),
            types: self.types.clone(),
            direction: self.direction.unwrap_or_default(),
            follows: true,
            at: self.at.unwrap_or(now),
        }
    }

    /// The depth of the walk.
    ///
    /// # Errors
    /// `invalid` if it is out of range.
    pub fn depth(&self) -> Result<u32> {
        input::in_range("depth", self.depth.unwrap_or(1), 1..=limits::GRAPH_DEPTH)
            .map_err(|error| error.hint("Continue from one of the returned nodes."))
    }

    /// The maximum number of nodes.
    ///
    /// # Errors
    /// `invalid` if it is out of range.
    pub fn limit(&self) -> Result<usize> {
        let limit = self.limit.unwrap_or(NODES_DEFAULT) as usize;
        input::in_range("limit", limit, 1..=limits::GRAPH_NODES)
    }
}
