//! The page of an entity: what is stated about it, who mentions it, what it is related to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::export::KnowledgeSubgraph;
use crate::model::entity::{AgentMentions, Entity, EntityStatement};

/// Everything about one entity, in your sight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityPage {
    /// The entity.
    pub entity: Entity,
    /// How many memories mention it.
    pub memories: u64,
    /// Whose memories mention it; who does so most first.
    pub mentioned_by: Vec<AgentMentions>,
    /// What was stated about it, the newest first; at most 20.
    pub statements: Vec<EntityStatement>,
    /// The entities that it is related to, the most strongly related first; at most 20.
    pub related: KnowledgeSubgraph,
}
