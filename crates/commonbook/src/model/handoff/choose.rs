//! Choosing: which memories and entities go along with a handoff, within its budget of tokens.
//!
//! A memory's score is the weighted sum of seed 000: 0.4 for how well it fits the task, 0.2 for how
//! fresh it is (e^(−age / 7 days)), 0.3 for its tier (project 1, agent 0.7, conversation 0.4) and
//! 0.1 for the entities that it shares with the task (Jaccard). It has to reach 0.5.
//!
//! The original compared words where it had no vectors, got 0.1 for what was to the point, and so
//! passed 0 of 3 relevant memories. What "fits the task" means, and on which scale, decides
//! everything. Measured with our own search on tasks such as the seed's "Fix the performance issues
//! identified": no word of it stands in the findings, and by nearness alone a note about the coffee
//! machine comes before them. A search for the task is not enough, so there are two grounds:
//!
//! * **It matches**, by what a search for the task and its context found: words, surroundings and
//!   nearness, 0 to 1, as the parts of its score have them *before* importance, freshness, author and time
//!   raise them, which would count twice. Words give 0.6 of it at most and nearness 0.4.
//! * **It is at hand**: the source kept it in the session or case that is handed over. That alone
//!   is worth [`AT_HAND_FIT`], half of all: with any tier but conversation it reaches the threshold
//!   while it is fresh, and as a shared fact at any age.
//!
//! Both join as `1 − (1 − match) (1 − hand)`, so that what is at hand is still ranked by the task.
//! And since freshness and tier alone add up to 0.5 for whatever was saved today, a memory must
//! besides fit by [`FIT_MIN`], which nearness alone never gives: what the vectors find nearest in
//! a collection that holds nothing about the task is not passed on.

mod within;

pub use within::saturating_tokens;
pub use within::{ExclusionReason, HandoffSelection, MemoryExclusion, select_for_handoff};

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::id::{EntityId, MemoryId};
use crate::base::limits;
use crate::model::agent::Agent;

/// How well a memory has to fit when nobody says.
pub const DEFAULT_THRESHOLD: f64 = 0.5;

/// How well a memory fits the task by being of the work that is handed over, whatever it says.
pub const AT_HAND_FIT: f64 = 0.5;

/// How well a memory has to fit, however fresh it is and of whatever tier. Nearness alone gives 0.4
/// at most. In long working sessions (BEAM, 90 questions) this drops nothing that was needed and
/// stood among the first ten hits, and of all hits that nobody needed one half.
pub const FIT_MIN: f64 = 0.5;

/// What is left of the score with which a memory came, when it goes on with the next handoff.
pub const CARRY_FACTOR: f64 = 0.9;

/// How many hits of the search are candidates, at the most.
pub const SEARCH_CANDIDATES_MAX: u32 = 40;

/// How many memories that are at hand are candidates besides, the newest.
pub const AT_HAND_CANDIDATES_MAX: u32 = 20;

/// Days after which freshness is down to 1/e.
const FRESHNESS_DECAY_DAYS: f64 = 7.0;

/// How a handoff's memories are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HandoffSettings {
    /// Tokens of the whole text.
    pub budget: u32,
    /// How many memories are chosen or named; what came by an earlier handoff is not counted.
    pub max_memories: u32,
    /// How many entities go along.
    pub max_entities: u32,
    /// How well a memory has to score.
    pub threshold: f64,
    /// How well it has to fit the task by itself.
    pub least_fit: f64,
    /// What each part of a score counts.
    pub weights: ScoreWeights,
}

impl Default for HandoffSettings {
    fn default() -> Self {
        Self {
            budget: limits::HANDOFF_TOKENS,
            max_memories: limits::HANDOFF_MEMORIES,
            max_entities: limits::HANDOFF_ENTITIES,
            threshold: DEFAULT_THRESHOLD,
            least_fit: FIT_MIN,
            weights: ScoreWeights::default(),
        }
    }
}

impl HandoffSettings {
    /// Checks what a configuration chose.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub fn check(&self) -> Result<()> {
        let ScoreWeights { semantic, recency, tier, entities } = self.weights;
        let parts = [
            ("threshold", self.threshold),
            ("least_fit", self.least_fit),
            ("weights.semantic", semantic),
            ("weights.recency", recency),
            ("weights.tier", tier),
            ("weights.entities", entities),
        ];
        for (field, part) in parts {
            if !(0.0..=1.0).contains(&part) {
                return Err(Error::invalid(field, format!("{part} is not from 0 to 1")));
            }
        }
        let numbers = [
            ("budget", self.budget, limits::HANDOFF_TOKENS_MIN, limits::HANDOFF_TOKENS_MAX),
            ("max_memories", self.max_memories, 1, limits::HANDOFF_MEMORIES_MAX),
            ("max_entities", self.max_entities, 1, limits::HANDOFF_ENTITIES_MAX),
        ];
        for (field, number, least, most) in numbers {
            if !(least..=most).contains(&number) {
                let reason = format!("{number} is not between {least} and {most}");
                return Err(Error::invalid(field, reason));
            }
        }
        Ok(())
    }
}

/// What each part of a score counts; all together 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScoreWeights {
    /// How well it fits the task.
    pub semantic: f64,
    /// How fresh it is.
    pub recency: f64,
    /// Its tier.
    pub tier: f64,
    /// The entities that it shares with the task.
    pub entities: f64,
}

impl Default for ScoreWeights {
    fn default() -> Self {
        Self { semantic: 0.4, recency: 0.2, tier: 0.3, entities: 0.1 }
    }
}

/// How far beyond its moment a memory is meant to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryTier {
    /// It is there for everybody: what is shared and lasts.
    Project,
    /// It is an agent's own: what is private, and what it did or had before it.
    Agent,
    /// It was said between an agent and its user.
    Conversation,
}

impl MemoryTier {
    /// The tier of a memory of this type.
    #[must_use]
    pub fn of(memory_type: &str, private: bool) -> Self {
        match memory_type {
            "conversation" => Self::Conversation,
            "episodic" | "task_context" => Self::Agent,
            _ if private => Self::Agent,
            _ => Self::Project,
        }
    }

    /// What it is worth, 0 to 1 (seed 000).
    #[must_use]
    pub const fn tier_score(self) -> f64 {
        match self {
            Self::Project => 1.0,
            Self::Agent => 0.7,
            Self::Conversation => 0.4,
        }
    }
}

/// A memory that may go along.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoffCandidate {
    /// The memory. It is in the source's sight: nothing else is ever a candidate.
    pub id: MemoryId,
    /// The agent that wrote it first.
    pub author: Agent,
    /// Whether it is private to the source.
    pub private: bool,
    /// How far beyond its moment it is meant to reach.
    pub tier: MemoryTier,
    /// Since when it holds.
    pub since: Timestamp,
    /// How well a search for the task found it, 0 to 1: words, context and vector of its score's
    /// parts; 0 when it was not found.
    pub found: f64,
    /// Whether the source kept it in the session or case that is handed over.
    pub at_hand: bool,
    /// The entities that it mentions.
    pub entities: BTreeSet<EntityId>,
    /// Whether the source named it.
    pub named: bool,
    /// The score with which it came by an earlier handoff that this one goes on from.
    pub came_with: Option<f64>,
}

/// An entity that may go along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityCandidate {
    /// The entity. The target may see it: nothing else is ever a candidate.
    pub id: EntityId,
    /// What sort of thing it is.
    pub kind: String,
    /// Its name.
    pub value: String,
    /// Whether the task mentions it.
    pub in_task: bool,
    /// Whether it came by an earlier handoff.
    pub came: bool,
    /// How many tokens it takes in the text.
    pub tokens: usize,
}

impl HandoffCandidate {
    /// How well it fits the task, 0 to 1.
    #[must_use]
    pub fn fit(&self) -> f64 {
        let hand = if self.at_hand { AT_HAND_FIT } else { 0.0 };
        1.0 - (1.0 - self.found.clamp(0.0, 1.0)) * (1.0 - hand)
    }

    /// How well it scores, 0 to 1, for a task that mentions these entities.
    #[must_use]
    pub fn score(&self, weights: ScoreWeights, task: &BTreeSet<EntityId>, now: Timestamp) -> f64 {
        let own = weights.semantic * self.fit()
            + weights.recency * age_freshness(now.duration_since(self.since))
            + weights.tier * self.tier.tier_score()
            + weights.entities * entity_overlap(&self.entities, task);
        // What an earlier task needed is worth going on with, even if this one says it otherwise.
        own.max(self.came_with.map_or(0.0, |score| CARRY_FACTOR * score)).clamp(0.0, 1.0)
    }
}

/// How fresh something is, 1 down to 0. What a clock that went back makes lie ahead is of now.
fn age_freshness(age: SignedDuration) -> f64 {
    (-age.as_secs_f64().max(0.0) / (FRESHNESS_DECAY_DAYS * 86_400.0)).exp()
}

/// How many entities two sets share, of all that are in either (Jaccard); 0 when there are none.
fn entity_overlap(a: &BTreeSet<EntityId>, b: &BTreeSet<EntityId>) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests;
