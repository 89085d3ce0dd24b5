//! Asking: what can be said of entities, and what can be asked of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::merging::MergeStrategy;
use super::{EntityRef, EntityType};
use crate::base::id::ReviewId;
use crate::base::limits;
use crate::base::page::PageCursor;
use commonbook_text::string_enum;

/// Finds an entity by its name or a nearly equal one and adds what you know about it, or makes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveEntity {
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// Its name, of at most 256 characters: `TypeScript`, `src/lib.rs`, `#12`.
    #[schemars(length(min = 1, max = limits::ENTITY_VALUE_CHARS))]
    pub value: String,
    /// What you know about it, in a sentence or a few, of at most 1,000 characters. Everybody in the
    /// workspace can read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ENTITY_CONTEXT_CHARS))]
    pub context: Option<String>,
    /// How certain you are, from 0 to 1; 1 when you do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
    /// Attributes by name, such as `version` or `role`. A `context` in here is taken as above.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// What becomes of what is known already; `merge_context` when you do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<MergeStrategy>,
    /// The session to know it in alone; the whole workspace when you name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Finds an entity by its name, or by a nearly equal one, and changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindEntity {
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// A name of it.
    #[schemars(length(min = 1, max = limits::ENTITY_VALUE_CHARS))]
    pub value: String,
    /// The session that it is known in alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
}

/// Reads the page of an entity: what is stated about it and by whom, which agents' memories mention
/// it, what it is related to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetEntity {
    /// Its id, or its type and a name of it, as in `tool:TypeScript`.
    pub entity: EntityRef,
}

/// Lists the entities of the workspace by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListEntities {
    /// Only those of this type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<EntityType>,
    /// Only those whose name begins so, whatever its case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::ENTITY_VALUE_CHARS))]
    pub beginning: Option<String>,
    /// Only those that are known in this session alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Lists the memories that mention an entity, in the order of time: who said what about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntityMentions {
    /// Its id, or its type and a name of it, as in `tool:TypeScript`.
    pub entity: EntityRef,
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Merges one entity into another of its type, since both are one thing. Everybody in the workspace
/// can see that; unmerging takes it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeEntities {
    /// The entity that goes: its id, or its type and a name of it. It leads to the other for ever.
    pub source: EntityRef,
    /// The entity that stays.
    pub target: EntityRef,
    /// The version of the source that you have read; when it has moved on, nothing is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_version: Option<u64>,
    /// The version of the target that you have read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_version: Option<u64>,
    /// Which of what is known of both holds; `merge_context` when you do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<MergeStrategy>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Takes a merge back: both entities are what they were, with what was stated since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnmergeEntities {
    /// The entity that was merged into another: its id, as the merge answered it, or its type and
    /// its name.
    pub source: EntityRef,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Lists what waits for somebody's decision: statements and merges with the strategy manual.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListReviews {
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

string_enum! {
    /// What becomes of what waits for a decision.
    ReviewJudgement {
        /// It is done.
        Accept = "accept",
        /// It is dropped.
        Dismiss = "dismiss",
    }
}

/// Decides what becomes of a statement or a merge that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideReview {
    /// The id of what waits.
    pub review_id: ReviewId,
    /// Whether it is done or dropped.
    pub judgement: ReviewJudgement,
    /// Which of what is known and what is said holds, when it is done; `merge_context` when you do
    /// not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<MergeStrategy>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}
