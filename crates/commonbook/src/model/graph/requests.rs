//! Asking: relating two things, and walking the graph.

use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GraphNode, RelationType};
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::entity::{EntityRef, EntityType};
use commonbook_text::string_enum;

/// Which entity or memory is meant: its id, or an entity by its type and any of its names, as in
/// `tool:TypeScript`.
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
    fn from(meant: NodeRef) -> Self {
        match meant {
            NodeRef::Entity(entity) => entity.to_string(),
            NodeRef::Memory(id) => id.to_string(),
        }
    }
}

/// Relates two entities or two memories; saying it again makes the relation stronger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddRelation {
    /// Where it leads from: the id of an entity or a memory, or an entity as `tool:TypeScript`.
    pub from: NodeRef,
    /// Where it leads to: another of the same sort.
    pub to: NodeRef,
    /// How they are related: `depends_on`, `part_of`, `uses` … or a slug of your own.
    #[serde(rename = "type")]
    pub relation_type: RelationType,
    /// From when on it holds; always, when you do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it holds; from then on it does no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

impl AddRelation {
    /// Checks what the caller chose, between these two.
    ///
    /// # Errors
    /// `invalid` for a thing with itself, for an entity with a memory, and for a time that ends
    /// before it begins.
    pub fn check(&self, from: GraphNode, to: GraphNode) -> Result<()> {
        if from == to {
            return Err(Error::invalid("to", "a thing is not related to itself"));
        }
        if matches!(from, GraphNode::Entity(_)) != matches!(to, GraphNode::Entity(_)) {
            return Err(Error::invalid("to", "an entity and a memory are linked by mentions")
                .hint("Relate two entities or two memories."));
        }
        match (self.valid_from, self.valid_until) {
            (Some(from), Some(until)) if until <= from => {
                Err(Error::invalid("valid_until", "this is not after valid_from"))
            }
            _ => Ok(()),
        }
    }
}

string_enum! {
    /// Which way relations are followed.
    WalkDirection {
        /// As they lead, and against.
        Both = "both",
        /// As they lead.
        Out = "out",
        /// Against.
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
    /// How a graph is told.
    GraphFormat {
        /// Nodes and links.
        Json = "json",
        /// With a drawing for Graphviz besides.
        Dot = "dot",
    }
}

/// Walks the graph from a thing: its neighbourhood, or the shortest path to another thing. Entities and
/// memories are linked by relations, memories and the entities that they mention by `mentions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphQuery {
    /// Where to begin: the id of an entity or a memory, or an entity as `tool:TypeScript`.
    pub from: NodeRef,
    /// Where to get to: the answer is the shortest path to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<NodeRef>,
    /// How many steps to go, 1 to 3; 1 when you do not say. Of no use with `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::GRAPH_DEPTH))]
    pub depth: Option<u32>,
    /// Follow relations of these types alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<RelationType>,
    /// Give entities of these types alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<EntityType>,
    /// Which way relations are followed; both when you do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<WalkDirection>,
    /// The graph as it held at this time; as it holds now when you do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// How many nodes to give at the most, 1 to 500; 100 when you do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::GRAPH_NODES))]
    pub limit: Option<u32>,
    /// Whether a drawing is wanted besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<GraphFormat>,
}

/// Which links a walk goes along.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkFilter {
    /// Relations of these types alone; of any, when there are none.
    pub relations: Vec<RelationType>,
    /// To entities of these types alone; of any, when there are none.
    pub types: Vec<EntityType>,
    /// Which way.
    pub direction: WalkDirection,
    /// Along the links that follow from memories besides: `mentions` and `supersedes`.
    pub follows: bool,
    /// As things stood at this time.
    pub at: Timestamp,
}

/// Nodes of one answer when nobody says how many.
pub const NODES_DEFAULT: u32 = 100;

impl GraphQuery {
    /// Which links the walk goes along, at this time unless another was asked for.
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

    /// How far the walk goes.
    ///
    /// # Errors
    /// `invalid` when it is not from 1 to 3.
    pub fn depth(&self) -> Result<u32> {
        let depth = self.depth.unwrap_or(1);
        if (1..=limits::GRAPH_DEPTH).contains(&depth) {
            return Ok(depth);
        }
        Err(Error::invalid("depth", format!("{depth} is not from 1 to {}", limits::GRAPH_DEPTH))
            .hint("Go on from one of the nodes that you get."))
    }

    /// How many nodes are given at the most.
    ///
    /// # Errors
    /// `invalid` when it is not from 1 to 500.
    pub fn limit(&self) -> Result<usize> {
        let limit = self.limit.unwrap_or(NODES_DEFAULT) as usize;
        if (1..=limits::GRAPH_NODES).contains(&limit) {
            return Ok(limit);
        }
        let most = limits::GRAPH_NODES;
        Err(Error::invalid("limit", format!("{limit} is not from 1 to {most}")))
    }
}
