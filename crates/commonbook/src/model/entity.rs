//! Entities: the people, tools, files and concepts that memories mention, each under one name for
//! all agents.
//!
//! Statements of several agents about one thing meet in one entity, found by its exact name
//! (module `name`) or a similar one ([`commonbook_text::entities::likeness`]). [`merging`] combines the
//! statements; [`commonbook_text::entities`] finds entities in a text.

pub mod merging;
mod name;
mod query_names;
mod requests;
mod responses;
mod settings;

use commonbook_text::entities::value;
pub use commonbook_text::entities::{EntityType, OwnTypes};
pub use name::{EntityLabel, EntityName, EntityRef};
pub use query_names::query_name_ids;
pub use requests::{
    DecideReview, DeleteEntity, EntityMentions, FindEntity, GetEntity, ListEntities, ListReviews,
    MergeEntities, RenameEntity, ResolveEntity, RestoreEntity, ReviewJudgement, UnmergeEntities,
};
pub use responses::{
    AgentMentions, DeleteEntityResult, EntityDeletion, EntityMention, EntityOutcome, EntityReview,
    EntityStatement, MentionLink, MergeEntitiesResult, MergeRecord, NameMention,
    RenameEntityResult, ResolveEntityResult, ReviewProposal, UnmergeEntitiesResult,
};

pub use settings::{EntityRules, EntitySettings, check_labels, check_type, with_own_type};

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::error::{Error, Result};
use crate::base::id::{EntityId, MemoryId};
use crate::base::{input, limits};
use crate::model::agent::Agent;
use crate::model::workspace::Workspace;
use commonbook_text::{injection, secrets};
use merging::MergeStrategy;

/// Confidence of a statement whose author gives none.
pub const STATED_CONFIDENCE: f64 = 1.0;

/// One agent's claim about an attribute of an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttributeClaim {
    /// The value of the attribute.
    pub value: Value,
    /// The agent that claims it.
    pub agent: Agent,
    /// When it was claimed.
    pub at: Timestamp,
    /// Confidence from 0 to 1.
    pub confidence: f64,
    /// The memory that is its source.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<MemoryId>,
}

/// An attribute of an entity: the value that holds, and conflicting claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityAttribute {
    /// The claim that holds.
    #[serde(flatten)]
    pub held: AttributeClaim,
    /// Further agents that claim the same value.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub agreed: Vec<Agent>,
    /// Conflicting claims, most certain first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub conflicts: Vec<AttributeClaim>,
}

impl EntityAttribute {
    /// An attribute with one claim.
    #[must_use]
    pub fn of(claim: AttributeClaim) -> Self {
        Self { held: claim, agreed: Vec::new(), conflicts: Vec::new() }
    }

    /// The claims of the value that holds, one of each agent.
    pub fn held_claims(&self) -> impl Iterator<Item = AttributeClaim> {
        let agreed = self.agreed.iter();
        let agreed =
            agreed.map(|agent| AttributeClaim { agent: agent.clone(), ..self.held.clone() });
        std::iter::once(self.held.clone()).chain(agreed)
    }
}

/// A person, tool, file, concept or other thing that memories mention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entity {
    /// Its id. After a merge, the old id continues to lead here.
    pub id: EntityId,
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// The session to which it is limited; `null` for the whole workspace.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// Its name, as the first memory that you may see writes it.
    pub value: String,
    /// Its normalised name. Entities of one type with the same normalised name are one.
    pub normalised: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// A description, in sentences.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<String>,
    /// Confidence that the entity exists, from 0 to 1.
    pub confidence: f64,
    /// Its attributes by name, with sources and conflicts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub attributes: BTreeMap<String, EntityAttribute>,
    /// Number of changes of its statements, from 1; 0 while memories only mention it.
    pub version: u64,
    /// Number of merges into it.
    pub merge_count: u64,
    /// The agent that last stated something about it; without statements, the agent that last
    /// mentioned it.
    pub last_agent: Agent,
    /// When it was first stated or mentioned.
    pub first_seen: Timestamp,
    /// When it was last stated or mentioned.
    pub last_seen: Timestamp,
    /// Number of statements about it; without any, the number of memories that mention it and that
    /// you may see.
    pub occurrences: u64,
    /// Number of open conflicts about it in your sight: attributes that agents claim differently,
    /// and open contradictions between two memories that mention it. Left out if there are none.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub open_conflicts: u64,
    /// The entity that it was merged into.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merged_into: Option<EntityId>,
    /// Who deleted it; absent while it exists.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deleted: Option<EntityDeletion>,
}

impl Entity {
    /// A new entity from its first statement.
    #[must_use]
    pub fn new(name: &EntityName, seen: &EntitySighting) -> Self {
        Self {
            context: seen.context.clone(),
            attributes: seen
                .claims
                .iter()
                .map(|(name, claim)| (name.clone(), EntityAttribute::of(claim.clone())))
                .collect(),
            version: 1,
            occurrences: 1,
            ..Self::from_mention(name, seen.confidence, &seen.agent, seen.at)
        }
    }

    /// An entity that memories mention and no agent has stated.
    #[must_use]
    pub fn from_mention(name: &EntityName, confidence: f64, agent: &Agent, at: Timestamp) -> Self {
        Self {
            id: name.id,
            workspace: name.workspace.clone(),
            session: name.session.clone(),
            entity_type: name.entity_type,
            value: name.value.clone(),
            normalised: name.normalised.clone(),
            aliases: Vec::new(),
            context: None,
            confidence,
            attributes: BTreeMap::new(),
            version: 0,
            merge_count: 0,
            last_agent: agent.clone(),
            first_seen: at,
            last_seen: at,
            occurrences: 0,
            open_conflicts: 0,
            merged_into: None,
            deleted: None,
        }
    }

    /// The name that its id is derived from.
    #[must_use]
    pub fn name(&self) -> EntityName {
        EntityName {
            id: self.id,
            workspace: self.workspace.clone(),
            session: self.session.clone(),
            entity_type: self.entity_type,
            value: self.value.clone(),
            normalised: self.normalised.clone(),
        }
    }

    /// The entity after this statement; unchanged if the statement waits for a decision. An entity
    /// that was only mentioned takes its name from the statement.
    #[must_use]
    pub fn with_statement(&self, seen: &EntitySighting, strategy: MergeStrategy) -> Self {
        if strategy != MergeStrategy::Manual && self.version == 0 {
            let name = EntityName { value: seen.value.clone(), ..self.name() };
            return Self::new(&name, seen);
        }
        match merging::merge(self, seen, strategy) {
            merging::MergeOutcome::Changed(entity) | merging::MergeOutcome::Seen(entity) => entity,
            merging::MergeOutcome::Review => self.clone(),
        }
    }

    /// The fields that differ in `after`.
    #[must_use]
    pub fn differing_fields(&self, after: &Self) -> Vec<&'static str> {
        let fields = [
            ("context", self.context != after.context),
            ("confidence", self.confidence.total_cmp(&after.confidence).is_ne()),
            ("attributes", self.attributes != after.attributes),
            ("aliases", self.aliases != after.aliases),
        ];
        fields.iter().filter(|(_, changed)| *changed).map(|(field, _)| *field).collect()
    }

    /// Number of its attributes that agents claim differently.
    #[must_use]
    pub fn disputed_attributes(&self) -> u64 {
        self.attributes.values().filter(|attribute| !attribute.conflicts.is_empty()).count() as u64
    }

    /// Whether this is one of its normalised names.
    #[must_use]
    pub fn is_called(&self, normalised: &str) -> bool {
        let is = |alias: &String| value::normalise(self.entity_type, alias) == normalised;
        self.normalised == normalised || self.aliases.iter().any(is)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A validated statement of an agent about an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntitySighting {
    /// The entity's type.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// Its name.
    pub value: String,
    /// Its normalised name.
    pub normalised: String,
    /// A description, in sentences.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<String>,
    /// Confidence from 0 to 1.
    pub confidence: f64,
    /// Claims about its attributes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub claims: BTreeMap<String, AttributeClaim>,
    /// Whether its claims settle the conflicts about their attributes.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub settles: bool,
    /// The agent that states it.
    pub agent: Agent,
    /// When it was stated.
    pub at: Timestamp,
}

impl EntitySighting {
    /// Validates a request.
    ///
    /// # Errors
    /// `invalid` for an empty value, for a value that cannot name an entity of its type, and for a
    /// confidence outside 0 to 1; `too_large` for a field over its limit.
    pub fn of(request: &ResolveEntity, agent: &Agent, at: Timestamp) -> Result<Self> {
        let kind = request.entity_type;
        let (value, normalised) = checked_value(kind, &request.value)?;
        let confidence = input::in_range(
            "confidence",
            request.confidence.unwrap_or(STATED_CONFIDENCE),
            0.0..=1.0,
        )?;
        let mut metadata = request.metadata.clone();
        let within = match metadata.get("context") {
            Some(Value::String(_)) if request.context.is_none() => metadata.remove("context"),
            _ => None,
        };
        let context = request.context.as_deref().or(within.as_ref().and_then(Value::as_str));
        let claims = claims(metadata, agent, at, confidence)?;
        Ok(Self {
            entity_type: kind,
            value,
            normalised,
            context: context.map(checked_context).transpose()?.flatten(),
            confidence,
            claims,
            settles: request.settle,
            agent: agent.clone(),
            at,
        })
    }
}

/// A name that an agent gives an entity of this type, and its normalised form.
///
/// # Errors
/// `invalid` for a text that cannot name an entity of this type, or that gives orders; `too_large`
/// for a long one.
pub fn checked_value(kind: EntityType, value: &str) -> Result<(String, String)> {
    let value = input::line("value", value, limits::ENTITY_VALUE_CHARS)?;
    gives_no_orders("value", &value)?;
    let value = secrets::redact(&value).text.into_owned();
    let normalised = value::normalise(kind, &value);
    if normalised.is_empty() {
        return Err(Error::invalid("value", format!("{value:?} cannot name a {kind}"))
            .hint("Give the name by which other agents would know it."));
    }
    Ok((value, normalised))
}

/// Trims a description; `None` if it is empty.
fn checked_context(text: &str) -> Result<Option<String>> {
    let text = secrets::redact(text.trim()).text.into_owned();
    input::refuse_control_characters("context", &text)?;
    gives_no_orders("context", &text)?;
    let chars = text.chars().count();
    if chars > limits::ENTITY_CONTEXT_CHARS {
        let limit = limits::ENTITY_CONTEXT_CHARS;
        return Err(Error::too_large("context", chars, limit, "characters")
            .hint("State the essential, and save the whole text as a memory."));
    }
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Refuses texts that would be quarantined: every agent sees an entity, and no person reviews it
/// first.
fn gives_no_orders(field: &str, text: &str) -> Result<()> {
    let Some(reason) = injection::reasons(text).into_iter().next() else { return Ok(()) };
    Err(Error::invalid(field, reason.sentence()).hint(
        "Describe the entity, or save the text as a memory: a person can review and release that.",
    ))
}

fn claims(
    metadata: Map<String, Value>,
    agent: &Agent,
    at: Timestamp,
    confidence: f64,
) -> Result<BTreeMap<String, AttributeClaim>> {
    if metadata.len() > limits::ENTITY_ATTRIBUTES {
        let limit = limits::ENTITY_ATTRIBUTES;
        return Err(Error::too_large("metadata", metadata.len(), limit, "attributes"));
    }
    let mut claims = BTreeMap::new();
    for (name, value) in metadata {
        let field = format!("metadata.{name}");
        let name = input::line(&field, &name, limits::TOPIC_CHARS)?;
        let written = value.to_string();
        if written.len() > limits::ENTITY_ATTRIBUTE_BYTES {
            let limit = limits::ENTITY_ATTRIBUTE_BYTES;
            return Err(Error::too_large(&field, written.len(), limit, "bytes"));
        }
        // JSON writes control characters as escapes, so only strings can contain them.
        let value = match value {
            Value::String(text) => {
                input::refuse_control_characters(&field, &text)?;
                gives_no_orders(&field, &text)?;
                let named = format!("{name}: {text}");
                let clean = secrets::redact(&named).text;
                Value::String(clean.strip_prefix(&format!("{name}: ")).unwrap_or(&clean).to_owned())
            }
            other => {
                gives_no_orders(&field, &written)?;
                serde_json::from_str(&secrets::redact(&written).text).unwrap_or(other)
            }
        };
        let claim = AttributeClaim { value, agent: agent.clone(), at, confidence, memory: None };
        claims.insert(name, claim);
    }
    Ok(claims)
}

#[cfg(test)]
mod tests;
