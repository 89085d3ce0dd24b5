//! Requests about entities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::merging::MergeStrategy;
use super::{EntityRef, EntityType};
use crate::base::id::ReviewId;
use crate::base::limits;
use crate::base::page::PageCursor;
use commonbook_text::string_enum;

/// States what you know about an entity: finds it by its name or a similar one and merges your
/// statement, or creates it. To look it up only, use `get_entity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveEntity {
    /// Its type: person, organization, project, tool, file, function, url, issue, decision, concept, or
    /// one that the settings name.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// Its name, up to 256 characters: `TypeScript`, `src/lib.rs`, `#12`.
    #[schemars(length(min = 1, max = limits::ENTITY_VALUE_CHARS))]
    pub value: String,
    /// What you know about it, in a few sentences, up to 1,000 characters. Every agent in the
    /// workspace can read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ENTITY_CONTEXT_CHARS))]
    pub context: Option<String>,
    /// Your confidence, from 0 to 1; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
    /// Attributes by name, such as `version` or `role`. A `context` in here counts as the field
    /// above.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Settles conflicts: the attributes that you give hold, and other claims about them are
    /// dropped. The statements of their authors stay readable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settle: bool,
    /// How to combine it with what is known; `merge_context` unless the home sets another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<MergeStrategy>,
    /// Limits the entity to this session; the whole workspace by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Finds an entity by its name or a similar one. Returns only its record; for mentions and
/// relations, use `get_entity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindEntity {
    /// Its type.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// One of its names.
    #[schemars(length(min = 1, max = limits::ENTITY_VALUE_CHARS))]
    pub value: String,
    /// The session to which it is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
}

/// Returns everything about one entity: statements with their agents, memories that mention it, and
/// relations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetEntity {
    /// Its id, or its type and a name, as in `tool:TypeScript`.
    pub entity: EntityRef,
}

/// Lists the entities of the workspace, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListEntities {
    /// Only entities of this type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<EntityType>,
    /// Only entities whose name begins with this text, case-insensitive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::ENTITY_VALUE_CHARS))]
    pub beginning: Option<String>,
    /// Only entities limited to this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Only entities with open conflicts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conflicts: bool,
    /// Whether to list deleted entities instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Lists the memories that mention an entity, in order of time, with an excerpt of each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntityMentions {
    /// Its id, or its type and a name, as in `tool:TypeScript`.
    pub entity: EntityRef,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Merges two entities of one type that are the same thing. Every agent in the workspace sees the
/// result; `unmerge_entities` undoes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeEntities {
    /// The entity that is merged: its id, or its type and a name. Its id leads to the target from
    /// then on.
    pub source: EntityRef,
    /// The entity that stays.
    pub target: EntityRef,
    /// The version of the source that you have read. If it has changed since, the call fails with
    /// `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_version: Option<u64>,
    /// The version of the target that you have read. If it has changed since, the call fails with
    /// `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_version: Option<u64>,
    /// How to combine what is known about both; `merge_context` unless the home sets another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<MergeStrategy>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Undoes a merge: both entities exist again, with the statements made since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnmergeEntities {
    /// The entity that was merged into another: its id from the merge's response, or its type and
    /// name.
    pub source: EntityRef,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Renames an entity, or changes its type. Its old name leads to it from then on, and
/// `unmerge_entities` with the old name undoes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameEntity {
    /// Its id, or its type and a name, as in `tool:TypeScript`.
    pub entity: EntityRef,
    /// Its new name, up to 256 characters; the present one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::ENTITY_VALUE_CHARS))]
    pub value: Option<String>,
    /// Its new type; the present one by default.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<EntityType>,
    /// The version that you have read. If it has changed since, the call fails with `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Deletes an entity with its mentions and relations, for every agent that sees it. Memories stay as
/// they are, and later ones do not bring it back; `restore_entity` does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteEntity {
    /// Its id, or its type and a name, as in `tool:TypeScript`.
    pub entity: EntityRef,
    /// The version that you have read. If it has changed since, the call fails with `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Restores a deleted entity with its statements and relations. Mentions are found again in the
/// memories of the workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreEntity {
    /// Its id, or its type and a name, as in `tool:TypeScript`.
    pub entity: EntityRef,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Lists statements and merges that wait for a decision because their strategy is `manual`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListReviews {
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

string_enum! {
    /// The decision about a waiting statement or merge.
    ReviewJudgement {
        /// It is carried out.
        Accept = "accept",
        /// It is dropped.
        Dismiss = "dismiss",
    }
}

/// Decides about a statement or merge that waits, from `list_reviews`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideReview {
    /// The review's id.
    pub review_id: ReviewId,
    /// Accept or dismiss.
    pub judgement: ReviewJudgement,
    /// How to combine an accepted statement with what is known; `merge_context` unless the home sets another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<MergeStrategy>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}
