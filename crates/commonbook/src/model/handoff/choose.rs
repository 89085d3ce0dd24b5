//! Choosing: which memories and entities a handoff includes, within its token budget.
//!
//! What belongs to the work goes along in full: what the source named, what it saved in the session that it hands
//! over, what is of the case, what its completed handoffs brought back, and what it received with the work. Of a
//! session with two matters that is the matter of the task ([`settle_matter`]). Of the rest the text has in full only a hit that
//! stands far above the others ([`limits::RELEVANCE_FULL`]); headlines name what else fits,
//! of which the target opens what it needs.
//!
//! A memory's score orders what comes in full: 0.4 for its fit to the task, 0.2 for its freshness (e^(−age
//! / 7 days)), 0.3 for its tier (project 1, agent 0.7, conversation 0.4) and 0.1 for the entities
//! that it shares with the task (Jaccard). Its fit is how likely it is relevant to the task and its context, 0 to 1
//! ([`crate::model::search::relevance`]); importance, freshness, author and time do not count in it,
//! because they would count twice. What is at hand fits by [`AT_HAND_FIT`] besides: both combine as
//! `1 − (1 − match) (1 − hand)`. Headlines have the order of their fit.

mod matter;
mod outcome;
mod select;

pub use matter::{MeaningNearness, settle_matter};
pub use outcome::{empty_hint, left_out_count};
pub use select::saturating_tokens;
pub use select::{ExclusionReason, HandoffSelection, MemoryExclusion, select_for_handoff};

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::Result;
use crate::base::id::{EntityId, HandoffId, MemoryId};
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::memory::{Memory, Sharing};

/// Default minimum score of a memory in full that no work brought: that of an old shared fact that just fits.
pub const DEFAULT_THRESHOLD: f64 = 0.36;

/// Fit of a memory that belongs to the work, whatever its text.
pub const AT_HAND_FIT: f64 = 0.2;

/// Factor for the score of a memory that a further handoff inherits.
pub const CARRY_FACTOR: f64 = 0.9;

/// Maximum number of search hits that are candidates.
pub const SEARCH_CANDIDATES_MAX: u32 = 40;

/// Maximum number of memories at hand that are candidates, newest first.
pub const AT_HAND_CANDIDATES_MAX: u32 = 20;

/// Days after which freshness falls to 1/e.
const FRESHNESS_DECAY_DAYS: f64 = 7.0;

/// How the memories of a handoff are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HandoffSettings {
    /// Length of the whole text, in tokens.
    #[schemars(range(min = limits::HANDOFF_TOKENS_MIN, max = limits::HANDOFF_TOKENS_MAX))]
    pub budget: u32,
    /// Maximum number of chosen and named memories in full; inherited ones do not count.
    #[schemars(range(min = 1, max = limits::HANDOFF_MEMORIES_MAX))]
    pub max_memories: u32,
    /// Maximum number of entities.
    #[schemars(range(min = 1, max = limits::HANDOFF_ENTITIES_MAX))]
    pub max_entities: u32,
    /// Minimum score of a memory in full that the work did not bring.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: f64,
    /// Minimum fit of such a memory to the task.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub least_fit: f64,
    /// The weights of the score.
    pub weights: ScoreWeights,
}

impl Default for HandoffSettings {
    fn default() -> Self {
        Self {
            budget: limits::HANDOFF_TOKENS,
            max_memories: limits::HANDOFF_MEMORIES,
            max_entities: limits::HANDOFF_ENTITIES,
            threshold: DEFAULT_THRESHOLD,
            least_fit: limits::RELEVANCE_FULL,
            weights: ScoreWeights::default(),
        }
    }
}

impl HandoffSettings {
    /// Checks the settings.
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
            input::in_range(field, part, 0.0..=1.0)?;
        }
        let numbers = [
            ("budget", self.budget, limits::HANDOFF_TOKENS_MIN, limits::HANDOFF_TOKENS_MAX),
            ("max_memories", self.max_memories, 1, limits::HANDOFF_MEMORIES_MAX),
            ("max_entities", self.max_entities, 1, limits::HANDOFF_ENTITIES_MAX),
        ];
        for (field, number, least, most) in numbers {
            input::in_range(field, number, least..=most)?;
        }
        Ok(())
    }
}

/// The weights of a score; their sum is 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScoreWeights {
    /// Weight of the fit to the task.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub semantic: f64,
    /// Weight of the freshness.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub recency: f64,
    /// Weight of the tier.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub tier: f64,
    /// Weight of the entities shared with the task.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub entities: f64,
}

impl Default for ScoreWeights {
    fn default() -> Self {
        Self { semantic: 0.4, recency: 0.2, tier: 0.3, entities: 0.1 }
    }
}

/// How widely a memory is meant to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryTier {
    /// By every agent: shared and lasting.
    Project,
    /// By one agent: private, or about what the agent did or works on.
    Agent,
    /// By an agent and its user in one conversation.
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

    /// The value of the tier in a score, 0 to 1.
    #[must_use]
    pub const fn tier_score(self) -> f64 {
        match self {
            Self::Project => 1.0,
            Self::Agent => 0.7,
            Self::Conversation => 0.4,
        }
    }
}

/// A memory that a handoff may include.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoffCandidate {
    /// The memory. The source may see it.
    pub id: MemoryId,
    /// The agent that wrote it first.
    pub author: Agent,
    /// Whether it is private to the source.
    pub private: bool,
    /// Its tier.
    pub tier: MemoryTier,
    /// The start of the time in which it holds.
    pub since: Timestamp,
    /// How likely it is relevant to the task, 0 to 1; 0 if no search found it.
    pub found: f64,
    /// Whether it belongs to the work: the source saved it in the session that is handed over, it is of its
    /// case, or a completed handoff brought it back.
    pub at_hand: bool,
    /// The completed handoff that brought it back.
    pub brought_by: Option<HandoffId>,
    /// Whether the source saved it in the last hours, in another session or in none.
    pub recent: bool,
    /// Whether it is at hand for another matter than the task's.
    pub other_matter: bool,
    /// The words of one at hand or recent, by which its matter is known.
    pub words: BTreeSet<String>,
    /// The entities that it mentions.
    pub entities: BTreeSet<EntityId>,
    /// Whether the source named it.
    pub named: bool,
    /// Its score in the earlier handoff that this one continues.
    pub came_with: Option<f64>,
}

/// An entity that a handoff may include.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityCandidate {
    /// The entity. The target may see it.
    pub id: EntityId,
    /// Its type.
    pub kind: String,
    /// Its name.
    pub value: String,
    /// Whether the task mentions it.
    pub in_task: bool,
    /// Whether an earlier handoff included it.
    pub inherited: bool,
    /// Whether more is known about it than its name.
    pub has_facts: bool,
    /// Its length in the text, in tokens.
    pub tokens: usize,
}

impl HandoffCandidate {
    /// A memory of which nothing is known but itself: no search found it, and no work brought it.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        let private = memory.sharing == Sharing::Private;
        Self {
            id: memory.id,
            author: memory.source.agent.clone(),
            private,
            tier: MemoryTier::of(memory.memory_type.as_str(), private),
            since: memory.valid_from.unwrap_or(memory.recorded_at),
            found: 0.0,
            at_hand: false,
            brought_by: None,
            recent: false,
            other_matter: false,
            words: BTreeSet::new(),
            entities: BTreeSet::new(),
            named: false,
            came_with: None,
        }
    }

    /// The fit to the task, 0 to 1.
    #[must_use]
    pub fn fit(&self) -> f64 {
        let hand = if self.at_hand { AT_HAND_FIT } else { 0.0 };
        1.0 - (1.0 - self.found.clamp(0.0, 1.0)) * (1.0 - hand)
    }

    /// Whether the text tells it in full if it has room: the work brought it, or it stands far above the rest.
    #[must_use]
    pub fn is_full(&self, score: f64, settings: &HandoffSettings) -> bool {
        self.named
            || self.came_with.is_some()
            || (self.at_hand && !self.other_matter)
            || (self.found >= settings.least_fit && score >= settings.threshold)
    }

    /// Whether the text may name it by a headline.
    #[must_use]
    pub fn may_be_headline(&self) -> bool {
        self.named || self.came_with.is_some() || self.at_hand || self.found > 0.0
    }

    /// The score, 0 to 1, for a task that mentions these entities.
    #[must_use]
    pub fn score(&self, weights: ScoreWeights, task: &BTreeSet<EntityId>, now: Timestamp) -> f64 {
        let own = weights.semantic * self.fit()
            + weights.recency * age_freshness(now.duration_since(self.since))
            + weights.tier * self.tier.tier_score()
            + weights.entities * entity_overlap(&self.entities, task);
        // A memory that an earlier task needed stays relevant, even if this task is worded
        // differently.
        own.max(self.came_with.map_or(0.0, |score| CARRY_FACTOR * score)).clamp(0.0, 1.0)
    }
}

/// The freshness for an age, from 1 down to 0. A time in the future, after a clock was set back,
/// counts as now.
fn age_freshness(age: SignedDuration) -> f64 {
    (-age.as_secs_f64().max(0.0) / (FRESHNESS_DECAY_DAYS * 86_400.0)).exp()
}

/// The Jaccard index of two sets of entities; 0 if both are empty.
fn entity_overlap(a: &BTreeSet<EntityId>, b: &BTreeSet<EntityId>) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests;
