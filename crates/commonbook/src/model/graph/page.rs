//! The page of an entity: its statements, mentions and relations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::export::KnowledgeSubgraph;
use crate::model::entity::{AgentMentions, Entity, EntityStatement};

/// Everything about one entity that you may see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityDetails {
    /// The entity.
    pub entity: Entity,
    /// Number of memories that mention it.
    pub memories: u64,
    /// The agents whose memories mention it, most mentions first.
    pub mentioned_by: Vec<AgentMentions>,
    /// The statements about it, newest first; at most 20.
    pub statements: Vec<EntityStatement>,
    /// The related entities, strongest relation first; at most 20.
    pub related: KnowledgeSubgraph,
}
