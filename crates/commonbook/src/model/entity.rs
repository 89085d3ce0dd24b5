//! Entities: the things that memories speak about, each under one name for all agents.
//!
//! What two agents say about the same thing comes together under one entity: found by its exact
//! name ([`value`]), by one that is nearly the same ([`commonbook_text::entities::likeness`]), and told apart where a letter
//! makes a difference. [`merging`] joins what was said; [`commonbook_text::entities`] finds entities in a text.

pub mod merging;
mod name;
mod query_names;
mod requests;
mod responses;

pub use commonbook_text::entities::EntityType;
use commonbook_text::entities::value;
pub use name::{EntityLabel, EntityName, EntityRef};
pub use query_names::query_name_ids;
pub use requests::{
    DecideReview, EntityMentions, FindEntity, GetEntity, ListEntities, ListReviews, MergeEntities,
    ResolveEntity, ReviewJudgement, UnmergeEntities,
};
pub use responses::{
    AgentMentions, EntityMention, EntityOutcome, EntityReview, EntityStatement, MentionLink,
    MergeEntitiesResult, MergeRecord, NameMention, ResolveEntityResult, ReviewProposal,
    UnmergeEntitiesResult,
};

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

/// Confidence of what an agent says outright, when it names none.
pub const STATED_CONFIDENCE: f64 = 1.0;

/// What one agent said about an attribute of an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttributeClaim {
    /// What it is said to be.
    pub value: Value,
    /// Who says so.
    pub agent: Agent,
    /// When it was said.
    pub at: Timestamp,
    /// How certain it is, from 0 to 1.
    pub confidence: f64,
    /// The memory that says so, where one does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<MemoryId>,
}

/// An attribute of an entity: what holds, and what others say instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityAttribute {
    /// What holds, with its source.
    #[serde(flatten)]
    pub held: AttributeClaim,
    /// What contradicts it, each with its source; the most certain first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub conflicts: Vec<AttributeClaim>,
}

/// A thing that memories speak about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entity {
    /// Its id. After a merge the old id leads here for ever.
    pub id: EntityId,
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// The session that it is known in alone; the whole workspace's, when there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// Its name, as it was first written, in your sight.
    pub value: String,
    /// Its name as it is compared: entities of a type that are alike here are one.
    pub normalised: String,
    /// Other names that it is known by.
    pub aliases: Vec<String>,
    /// What was said about it, in sentences.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<String>,
    /// How certain it is that there is such a thing, from 0 to 1.
    pub confidence: f64,
    /// What is known about it by name, with sources and conflicts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub attributes: BTreeMap<String, EntityAttribute>,
    /// How often what is stated about it changed: 1 at first, 0 while memories only mention it.
    pub version: u64,
    /// How often something was merged into it.
    pub merge_count: u64,
    /// The agent that stated something about it last, or mentioned it, while nobody has.
    pub last_agent: Agent,
    /// When something was first stated about it.
    pub first_seen: Timestamp,
    /// When something was last stated about it.
    pub last_seen: Timestamp,
    /// How often something was stated about it; memories that mention it are counted on its page.
    pub occurrences: u64,
    /// The entity that it was merged into, if it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merged_into: Option<EntityId>,
}

impl Entity {
    /// A thing as an agent speaks of it for the first time.
    #[must_use]
    pub fn new(name: &EntityName, seen: &EntitySighting) -> Self {
        let held =
            |claim: &AttributeClaim| EntityAttribute { held: claim.clone(), conflicts: Vec::new() };
        Self {
            context: seen.context.clone(),
            attributes: seen.claims.iter().map(|(name, it)| (name.clone(), held(it))).collect(),
            version: 1,
            occurrences: 1,
            ..Self::from_mention(name, seen.confidence, &seen.agent, seen.at)
        }
    }

    /// A thing that memories mention, and nobody has stated anything about.
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
            merged_into: None,
        }
    }

    /// The name that its id follows from.
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

    /// The entity after this was stated about it; the same when it has to wait for a decision. What
    /// memories alone had mentioned so far is called as it is called here.
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

    /// What of it is different in `after`.
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

    /// Whether a normalised name is one of its own.
    #[must_use]
    pub fn is_called(&self, normalised: &str) -> bool {
        let is = |alias: &String| value::normalise(self.entity_type, alias) == normalised;
        self.normalised == normalised || self.aliases.iter().any(is)
    }
}

/// What an agent says about an entity at some time, checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntitySighting {
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// Its name.
    pub value: String,
    /// Its name as it is compared.
    pub normalised: String,
    /// What is said about it, in sentences.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<String>,
    /// How certain it is, from 0 to 1.
    pub confidence: f64,
    /// What is said about its attributes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub claims: BTreeMap<String, AttributeClaim>,
    /// Who says so.
    pub agent: Agent,
    /// When.
    pub at: Timestamp,
}

impl EntitySighting {
    /// What a request says, checked against the limits.
    ///
    /// # Errors
    /// `invalid` for an empty value, for one that names nothing of its type and for a confidence
    /// that is not from 0 to 1; `too_large` for what is over its limit.
    pub fn of(request: &ResolveEntity, agent: &Agent, at: Timestamp) -> Result<Self> {
        let kind = request.entity_type;
        let value = input::line("value", &request.value, limits::ENTITY_VALUE_CHARS)?;
        gives_no_orders("value", &value)?;
        let value = secrets::redact(&value).text.into_owned();
        let normalised = value::normalise(kind, &value);
        if normalised.is_empty() {
            return Err(Error::invalid("value", format!("{value:?} does not name a {kind}"))
                .hint("Give the name by which others would know it."));
        }
        let confidence = checked_confidence(request.confidence.unwrap_or(STATED_CONFIDENCE))?;
        let mut metadata = request.metadata.clone();
        let within = match metadata.get("context") {
            Some(Value::String(_)) if request.context.is_none() => metadata.remove("context"),
            _ => None,
        };
        let told = request.context.as_deref().or(within.as_ref().and_then(Value::as_str));
        let claims = claims(metadata, agent, at, confidence)?;
        Ok(Self {
            entity_type: kind,
            value,
            normalised,
            context: told.map(checked_context).transpose()?.flatten(),
            confidence,
            claims,
            agent: agent.clone(),
            at,
        })
    }
}

fn checked_confidence(confidence: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&confidence) {
        return Ok(confidence);
    }
    Err(Error::invalid("confidence", format!("{confidence} is not from 0 to 1")))
}

/// A context without blanks around it; none when nothing is left.
fn checked_context(text: &str) -> Result<Option<String>> {
    let text = secrets::redact(text.trim()).text.into_owned();
    input::refuse_control_characters("context", &text)?;
    gives_no_orders("context", &text)?;
    let chars = text.chars().count();
    if chars > limits::ENTITY_CONTEXT_CHARS {
        let limit = limits::ENTITY_CONTEXT_CHARS;
        return Err(Error::too_large("context", chars, limit, "characters")
            .hint("Say the essential, and save the whole as a memory."));
    }
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Refuses what would have to be quarantined: everybody is told of an entity, and nobody could look
/// at it before.
fn gives_no_orders(field: &str, text: &str) -> Result<()> {
    let Some(reason) = injection::reasons(text).into_iter().next() else { return Ok(()) };
    Err(Error::invalid(field, reason.sentence()).hint(
        "Say what it is, or save the text as a memory: a person can review and release that.",
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
        // JSON writes control characters as escapes; only texts can hold them.
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
