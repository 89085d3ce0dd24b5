//! Telling: what is answered about entities.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::merging::{EntityMerge, MergeStrategy};
use super::{Entity, EntityName, EntitySighting, EntityType};
use crate::base::id::{EntityId, MemoryId, ReviewId};
use crate::base::limits;
use crate::model::agent::Agent;
use commonbook_text::string_enum;

string_enum! {
    /// What became of an entity that was to be resolved.
    EntityOutcome {
        /// Nobody knew of it: it is new.
        Created = "created",
        /// It was known, by this name or a nearly equal one.
        Matched = "matched",
        /// It is known, and what was said waits for somebody's decision.
        Queued = "queued",
    }
}

/// The entity that was meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResolveEntityResult {
    /// The entity as it is now.
    pub entity: Entity,
    /// What became of it.
    pub outcome: EntityOutcome,
    /// What waits for a decision, with the outcome `queued`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewId>,
}

/// What came of merging two entities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergeEntitiesResult {
    /// The entity that stays, with what is known of both; as it was, when the merge waits.
    pub entity: Entity,
    /// The entity that leads to it.
    pub source: EntityId,
    /// What waits for a decision, with the strategy manual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewId>,
}

/// Both entities after a merge was taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnmergeEntitiesResult {
    /// The one that had been merged into the other.
    pub source: Entity,
    /// The other.
    pub target: Entity,
}

/// What one agent stated about an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityStatement {
    /// What was said, by whom and when.
    pub sighting: EntitySighting,
    /// Which of what was known and what was said then held.
    pub strategy: MergeStrategy,
    /// The name under which it was said.
    pub name: EntityId,
}

/// How often the memories of one agent mention an entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentMentions {
    /// The agent.
    pub agent: Agent,
    /// How many of its memories do, in your sight.
    pub memories: u64,
    /// When the first of them was saved.
    pub first_seen: Timestamp,
    /// When the last of them was saved.
    pub last_seen: Timestamp,
}

/// A thing as a memory mentions it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionLink {
    /// The memory.
    pub memory: MemoryId,
    /// The thing.
    pub entity: EntityId,
    /// What sort of thing it is.
    pub entity_type: EntityType,
    /// What the memory calls it.
    pub value: String,
}

/// A memory that mentions an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityMention {
    /// The memory.
    pub memory: MemoryId,
    /// Whose memory it is.
    pub owner: Agent,
    /// When it was saved.
    pub at: Timestamp,
    /// The name as it is written there.
    pub value: String,
    /// How certain it is that the entity is meant, from 0 to 1.
    pub confidence: f64,
    /// How often the memory names it.
    pub count: u64,
    /// What is said around it.
    pub excerpt: String,
}

impl EntityMention {
    /// What a text says around a place in it, in one line.
    #[must_use]
    pub fn excerpt(text: &str, place: usize) -> String {
        let place = (0..=place.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let (before, after) = text.split_at(place.unwrap_or(0));
        let back = before.char_indices().rev().nth(limits::EXCERPT_CHARS / 3);
        let start = back.map_or(0, |(at, _)| {
            // A word that is cut off at the beginning is left out.
            before[at..].find(char::is_whitespace).map_or(at, |blank| at + blank)
        });
        let room = limits::EXCERPT_CHARS - before[start..].chars().count();
        let end = after.char_indices().nth(room).map_or(after.len(), |(at, _)| at);
        let told = format!("{}{}", &before[start..], &after[..end]);
        let line = told.split_whitespace().collect::<Vec<_>>().join(" ");
        let (left, right) = (start > 0, end < after.len());
        format!("{}{line}{}", if left { "… " } else { "" }, if right { " …" } else { "" })
    }
}

/// A name that a memory mentions, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NameMention {
    /// The name.
    pub name: EntityName,
    /// How certain it is that a thing is meant, from 0 to 1.
    pub confidence: f64,
    /// How often the memory names it.
    pub count: u64,
    /// The byte of its text where it first does.
    pub place: usize,
}

/// What waits for somebody's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityReview {
    /// Its id.
    pub id: ReviewId,
    /// Who wants it.
    pub agent: Agent,
    /// Since when it waits.
    pub at: Timestamp,
    /// The entity that it is about.
    pub entity: EntityId,
    /// What is wanted.
    pub wanted: ReviewProposal,
}

/// What somebody wants done to an entity, once it is decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewProposal {
    /// That this is added to it.
    Stated(Box<EntitySighting>),
    /// That this entity is merged into it.
    Merged(EntityId),
}

/// A merge as it is kept, so that it can be taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MergeRecord {
    /// Both entities, before and after.
    pub joined: EntityMerge,
    /// The names that led to the source before.
    pub names: Vec<EntityId>,
    /// How many statements there were about the target.
    pub statements: u64,
    /// The names that nearly equal ones could not find before.
    pub filed: Vec<EntityId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_a_line_around_its_place_and_cuts_no_letter() {
        assert_eq!(EntityMention::excerpt("We use\nSQLite here.", 7), "We use SQLite here.");
        assert_eq!(EntityMention::excerpt("", 9), "");
        let long = format!("{} SQLite {}", "ä ".repeat(300), "ö".repeat(300));
        let told = EntityMention::excerpt(&long, 901);
        assert!(
            told.starts_with("… ä") && told.contains("SQLite") && told.ends_with('…'),
            "{told}"
        );
        assert!(told.chars().count() <= limits::EXCERPT_CHARS + 4);
    }
}
