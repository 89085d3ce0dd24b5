//! Responses about entities.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::merging::{EntityMerge, MergeStrategy};
use super::{Entity, EntityName, EntitySighting, EntityType};
use crate::base::id::{EntityId, MemoryId, OperationId, ReviewId};
use crate::base::limits;
use crate::model::access::Audience;
use crate::model::agent::Agent;
use commonbook_text::string_enum;

string_enum! {
    /// The result of resolving an entity.
    EntityOutcome {
        /// It is new.
        Created = "created",
        /// It existed under this name or a similar one.
        Matched = "matched",
        /// It exists, and the statement waits for a decision.
        Queued = "queued",
    }
}

/// The resolved entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResolveEntityResult {
    /// The entity as it is now.
    pub entity: Entity,
    /// Whether it is new.
    pub outcome: EntityOutcome,
    /// The waiting statement, with the outcome `queued`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewId>,
}

/// The result of merging two entities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergeEntitiesResult {
    /// The entity that stays, with the statements of both; unchanged if the merge waits.
    pub entity: Entity,
    /// The entity that leads to it.
    pub source: EntityId,
    /// The waiting merge, with the strategy `manual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewId>,
}

/// Both entities after an undone merge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnmergeEntitiesResult {
    /// The source of the merge.
    pub source: Entity,
    /// The target of the merge.
    pub target: Entity,
}

/// A renamed entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RenameEntityResult {
    /// The entity under its new name.
    pub entity: Entity,
    /// The id of its old name, which leads to it; the same id if only the spelling differs.
    pub source: EntityId,
}

/// A deleted entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeleteEntityResult {
    /// The entity as it was.
    pub entity: Entity,
    /// Number of memories that mention it and that you may see; they stay.
    pub memories: u64,
}

/// Who deleted an entity, and for whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityDeletion {
    /// The agent that deleted it.
    pub agent: Agent,
    /// When it was deleted.
    pub at: Timestamp,
    /// The memories of these audiences do not mention it any more; empty for every memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub audiences: Vec<Audience>,
}

impl EntityDeletion {
    /// Whether memories of this audience do not mention the entity any more.
    #[must_use]
    pub fn covers(&self, audience: &Audience) -> bool {
        self.audiences.is_empty() || self.audiences.contains(audience)
    }
}

/// One agent's statement about an entity, as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityStatement {
    /// The statement, with its agent and time.
    pub sighting: EntitySighting,
    /// The strategy with which it was merged.
    pub strategy: MergeStrategy,
    /// The name under which it was made.
    pub name: EntityId,
}

/// How many memories of one agent mention an entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentMentions {
    /// The agent.
    pub agent: Agent,
    /// Number of its memories that mention the entity and that you may see.
    pub memories: u64,
    /// When the first of them was saved.
    pub first_seen: Timestamp,
    /// When the last of them was saved.
    pub last_seen: Timestamp,
}

/// A mention of an entity in a memory, as an edge of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionLink {
    /// The memory.
    pub memory: MemoryId,
    /// The entity.
    pub entity: EntityId,
    /// The entity's type.
    pub entity_type: EntityType,
    /// The name that the memory uses.
    pub value: String,
}

/// A memory that mentions an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityMention {
    /// The memory's id.
    pub memory: MemoryId,
    /// Its owner.
    pub owner: Agent,
    /// What to know of its origin: `untrusted`, `quarantined`, or `from a file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_note: Option<String>,
    /// When it was saved.
    pub at: Timestamp,
    /// The name as written there.
    pub value: String,
    /// Confidence that the entity is meant, from 0 to 1.
    pub confidence: f64,
    /// Number of times the memory names it.
    pub count: u64,
    /// The text around the first mention.
    pub excerpt: String,
}

impl EntityMention {
    /// The text around a byte offset, on one line.
    #[must_use]
    pub fn excerpt(text: &str, place: usize) -> String {
        let place = (0..=place.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let (before, after) = text.split_at(place.unwrap_or(0));
        let back = before.char_indices().rev().nth(limits::EXCERPT_CHARS / 3);
        let start = back.map_or(0, |(at, _)| {
            // Drops a word that is cut off at the beginning.
            before[at..].find(char::is_whitespace).map_or(at, |blank| at + blank)
        });
        let room = limits::EXCERPT_CHARS - before[start..].chars().count();
        let end = after.char_indices().nth(room).map_or(after.len(), |(at, _)| at);
        let excerpt = format!("{}{}", &before[start..], &after[..end]);
        let line = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        let (left, right) = (start > 0, end < after.len());
        format!("{}{line}{}", if left { "… " } else { "" }, if right { " …" } else { "" })
    }
}

/// A name that a memory mentions, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NameMention {
    /// The name.
    pub name: EntityName,
    /// Confidence that an entity is meant, from 0 to 1.
    pub confidence: f64,
    /// Number of times the memory names it.
    pub count: u64,
    /// The byte offset of its first mention in the text.
    pub place: usize,
}

/// A statement or merge that waits for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityReview {
    /// Its id.
    pub id: ReviewId,
    /// The agent that proposed it.
    pub agent: Agent,
    /// When it was proposed.
    pub at: Timestamp,
    /// The entity that it is about.
    pub entity: EntityId,
    /// The proposed change.
    pub wanted: ReviewProposal,
}

/// A proposed change of an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewProposal {
    /// Add this statement.
    Stated(Box<EntitySighting>),
    /// Merge this entity into it.
    Merged(EntityId),
}

/// A merge as stored, so that it can be undone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MergeRecord {
    /// Both entities, before and after.
    pub joined: EntityMerge,
    /// The names that led to the source before.
    pub names: Vec<EntityId>,
    /// Number of statements about the target.
    pub statements: u64,
    /// The names that were not findable by similar ones before.
    pub filed: Vec<EntityId>,
    /// The consolidation that merged them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub operation: Option<OperationId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_and_cuts_no_character() {
        assert_eq!(EntityMention::excerpt("We use\nSQLite here.", 7), "We use SQLite here.");
        assert_eq!(EntityMention::excerpt("", 9), "");
        let long = format!("{} SQLite {}", "ä ".repeat(300), "ö".repeat(300));
        let excerpt = EntityMention::excerpt(&long, 901);
        assert!(
            excerpt.starts_with("… ä") && excerpt.contains("SQLite") && excerpt.ends_with('…'),
            "{excerpt}"
        );
        assert!(excerpt.chars().count() <= limits::EXCERPT_CHARS + 4);
    }
}
