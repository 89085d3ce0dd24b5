//! The records of a bundle that a reader uses, with the fields and types that the format demands.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::manifest::BundleTime;

/// A memory of any program.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a record without one of these fields is not valid")]
pub(super) struct Episode {
    pub id: String,
    pub event_time: BundleTime,
    pub mention_time: BundleTime,
    pub ingestion_time: BundleTime,
    pub source_type: String,
    pub actors: Vec<String>,
    pub summary: String,
    pub details: String,
    pub sensitivity: String,
    pub metadata: BTreeMap<String, String>,
    pub categories: Vec<String>,
    pub importance: f64,
    pub confidence: f64,
    pub lifecycle_state: String,
    extraction_state: String,
    access_count: f64,
    pub pinned: bool,
    vault_refs: Vec<String>,
    #[serde(rename = "sourceID")]
    pub source_id: Option<String>,
    pub deleted_at: Option<BundleTime>,
    #[serde(rename = "contextID")]
    pub context_id: Option<String>,
    last_accessed: Option<BundleTime>,
    pub expiration_date: Option<BundleTime>,
    pub speaker: Option<String>,
}

/// The names of an episode's fields; any other is foreign, and programs keep it.
pub(super) const EPISODE_FIELDS: [&str; 24] = [
    "id",
    "eventTime",
    "mentionTime",
    "ingestionTime",
    "sourceType",
    "actors",
    "summary",
    "details",
    "sensitivity",
    "metadata",
    "categories",
    "importance",
    "confidence",
    "lifecycleState",
    "extractionState",
    "accessCount",
    "pinned",
    "vaultRefs",
    "sourceID",
    "deletedAt",
    "contextID",
    "lastAccessed",
    "expirationDate",
    "speaker",
];

/// A node of a graph.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a record without one of these fields is not valid")]
pub(super) struct EntityNode {
    pub id: String,
    #[serde(rename = "type")]
    pub entity_type: String,
    pub canonical_name: String,
    pub aliases: Vec<String>,
    pub summary: String,
    pub sensitivity: String,
    updated_at: BundleTime,
}

/// A relation of two nodes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a record without one of these fields is not valid")]
pub(super) struct EntityEdge {
    pub id: String,
    #[serde(rename = "srcEntityID")]
    pub source: String,
    #[serde(rename = "dstEntityID")]
    pub target: String,
    pub edge_type: String,
    pub t_valid_from: BundleTime,
    ingestion_time: BundleTime,
    pub confidence: f64,
    #[serde(rename = "evidenceEpisodeIDs")]
    evidence: Vec<String>,
    pub t_valid_to: Option<BundleTime>,
    pub superseded_by: Option<String>,
}

/// A statement that a program took from an episode.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a record without one of these fields is not valid")]
pub(super) struct DerivedFact {
    pub id: String,
    #[serde(rename = "episodeID")]
    pub episode_id: String,
    pub subject: String,
    pub predicate: String,
    pub object: String,
    pub text: String,
    pub t_valid_from: BundleTime,
    pub confidence: f64,
    pub importance: f64,
    created_at: BundleTime,
    pub t_valid_to: Option<BundleTime>,
    pub superseded_by: Option<String>,
    pub pruned_at: Option<BundleTime>,
}

/// A text that a program always hands to its model.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a record without one of these fields is not valid")]
pub(super) struct CoreBlock {
    pub id: String,
    pub content: String,
    char_budget: f64,
    version: f64,
}

/// A routine of the user.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a record without one of these fields is not valid")]
pub(super) struct UserProcedure {
    pub id: String,
    pub name: String,
    pub trigger_pattern: String,
    pub steps: Vec<String>,
    success_count: f64,
    failure_count: f64,
    pub enabled: bool,
}

/// A setting of the user.
#[derive(Debug, Deserialize)]
pub(super) struct UserPreference {
    pub key: String,
    pub value: String,
}

/// A deletion: what it names is not read, even if the bundle still has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a record without one of these fields is not valid")]
pub(super) struct DeletionRecord {
    id: String,
    op: DeletionKind,
    target_kind: String,
    #[serde(rename = "targetID")]
    pub target_id: String,
    deleted_at: BundleTime,
    actor: String,
}

/// How far a deletion goes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DeletionKind {
    Delete,
    Redact,
}

/// The record of a line.
///
/// # Errors
/// The field and what is wrong with it.
pub(super) fn record_of<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    if !value.is_object() {
        return Err("expected a JSON object".to_owned());
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        match path.as_str() {
            "." => error.inner().to_string(),
            path => format!("{path}: {}", error.inner()),
        }
    })
}
