//! Names of entities, and the ids derived from them.

use std::fmt;
use std::str::FromStr;

use schemars::generate::Contract;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::EntityType;
use crate::base::error::{Error, Result};
use crate::base::id::EntityId;
use crate::base::input::line;
use crate::base::{input, limits};
use crate::model::workspace::Workspace;
use commonbook_text::entities::{value, vocabulary};

/// A name of an entity, as mentions and the registry store it.
///
/// Its id is derived from the workspace, the session, the type and the normalised name. The same
/// name always gets the same id, so an id reveals nothing about other agents' private memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityName {
    /// The id of the entity with this name, unless it was merged.
    pub id: EntityId,
    /// The workspace.
    pub workspace: Workspace,
    /// The session to which it is limited.
    pub session: Option<String>,
    /// The type of the entity.
    pub entity_type: EntityType,
    /// The name as written.
    pub value: String,
    /// The normalised name.
    pub normalised: String,
}

impl EntityName {
    /// The name of an entity of this type. Returns `None` if the text cannot be one.
    #[must_use]
    pub fn of(
        workspace: &Workspace,
        session: Option<&str>,
        entity_type: EntityType,
        value: &str,
    ) -> Option<Self> {
        let normalised = value::normalise(entity_type, value);
        (!normalised.is_empty()).then(|| Self {
            id: id(workspace, session, entity_type, &normalised),
            workspace: workspace.clone(),
            session: session.map(str::to_owned),
            entity_type,
            value: value.to_owned(),
            normalised,
        })
    }

    /// The ids of this name and of all names with the same meaning; its own first.
    #[must_use]
    pub fn ids(&self) -> Vec<EntityId> {
        let (workspace, session) = (&self.workspace, self.session.as_deref());
        let names = vocabulary::names(self.entity_type, &self.normalised);
        let others =
            names.iter().skip(1).map(|name| id(workspace, session, self.entity_type, name));
        std::iter::once(self.id).chain(others).collect()
    }
}

fn id(
    workspace: &Workspace,
    session: Option<&str>,
    entity_type: EntityType,
    normalised: &str,
) -> EntityId {
    // No part contains a line break, so different lists of parts never join to the same text.
    let parts = [workspace.as_str(), session.unwrap_or_default(), entity_type.name(), normalised];
    EntityId::from_name(&parts.join("\n"))
}

/// An entity by type and name, as in `tool:TypeScript` or an object with `type` and `value`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct EntityLabel {
    /// Its type.
    #[serde(rename = "type")]
    pub entity_type: EntityType,
    /// Its name.
    pub value: String,
}

/// An entity by type and name.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "EntityLabel")]
#[serde(deny_unknown_fields)]
struct LabelParts {
    /// Its type.
    #[serde(rename = "type")]
    entity_type: EntityType,
    /// Its name.
    #[schemars(length(min = 1, max = limits::ENTITY_VALUE_CHARS))]
    value: String,
}

impl EntityLabel {
    /// Whether both name the same entity.
    #[must_use]
    pub fn names_same(&self, other: &Self) -> bool {
        let normalised = |named: &Self| value::normalise(named.entity_type, &named.value);
        self.entity_type == other.entity_type && normalised(self) == normalised(other)
    }

    /// A checked label.
    ///
    /// # Errors
    /// `invalid` for a value that cannot name an entity of its type, `too_large` for a long name.
    pub fn of(entity_type: EntityType, value: &str) -> Result<Self> {
        let value = line("value", value, limits::ENTITY_VALUE_CHARS)?;
        if value::normalise(entity_type, &value).is_empty() {
            return Err(Error::invalid("value", format!("{value:?} cannot name a {entity_type}"))
                .hint("Give the name by which other agents would know it."));
        }
        Ok(Self { entity_type, value })
    }
}

impl FromStr for EntityLabel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let shown = || text.chars().take(40).collect::<String>();
        let Some((kind, name)) = text.split_once(':') else {
            return Err(Error::invalid("entity", format!("{:?} has no type", shown()))
                .hint("Write the type before the name, as in tool:TypeScript."));
        };
        Self::of(kind.trim().parse()?, name)
    }
}

impl TryFrom<Value> for EntityLabel {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self> {
        match value {
            Value::String(text) => text.parse(),
            other => {
                let parts: LabelParts = input::from_value(other)?;
                Self::of(parts.entity_type, &parts.value)
            }
        }
    }
}

impl JsonSchema for EntityLabel {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "named_entity".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let parts = generator.subschema_for::<LabelParts>();
        if *generator.contract() == Contract::Serialize {
            return parts;
        }
        let text = "^[a-z][a-z0-9_-]{0,23}:";
        json_schema!({"anyOf": [{"type": "string", "pattern": text}, parts]})
    }
}

impl fmt::Display for EntityLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.entity_type, self.value)
    }
}

/// An entity: its id, or its type and any of its names, as in `tool:TypeScript`. The name alone is
/// enough if only one type has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("type" = "string", "minLength" = 1))]
pub enum EntityRef {
    /// By id.
    Id(EntityId),
    /// By type and name.
    Named(EntityLabel),
    /// By name.
    Called(String),
}

impl FromStr for EntityRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = line("entity", text, limits::ENTITY_VALUE_CHARS + 32)?;
        if text.starts_with("ent_") && text.len() == 30 {
            return text.parse().map(Self::Id);
        }
        let typed = text.split_once(':').filter(|(kind, _)| EntityType::built_in(kind).is_some());
        match typed {
            Some(_) => text.parse().map(Self::Named),
            None => Ok(Self::Called(text)),
        }
    }
}

impl TryFrom<String> for EntityRef {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<EntityRef> for String {
    fn from(reference: EntityRef) -> Self {
        reference.to_string()
    }
}

impl fmt::Display for EntityRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Named(named) => named.fmt(f),
            Self::Called(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(session: Option<&str>, kind: EntityType, value: &str) -> EntityName {
        EntityName::of(&Workspace::fallback(), session, kind, value).expect("a name")
    }

    #[test]
    fn equal_names_have_equal_ids_and_others_differ() {
        let plain = name(None, EntityType::Tool, "TypeScript");
        assert_eq!(plain.id, name(None, EntityType::Tool, "typescript").id);
        assert!(plain.ids().contains(&name(None, EntityType::Tool, "TS").id));
        for other in [
            name(Some("s1"), EntityType::Tool, "TypeScript"),
            name(None, EntityType::Concept, "TypeScript"),
            name(None, EntityType::Tool, "TypeScript 5"),
        ] {
            assert_ne!(plain.id, other.id, "{other:?}");
        }
    }

    #[test]
    fn a_thing_is_named_as_text_or_as_an_object() {
        let parsed = |value| input::from_value::<EntityLabel>(value);
        let meant = EntityLabel { entity_type: EntityType::Tool, value: "a:b".to_owned() };
        assert_eq!(parsed("tool:a:b".into()).ok(), Some(meant.clone()));
        let object = serde_json::json!({"type": "tool", "value": "a:b"});
        assert_eq!(parsed(object.clone()).ok(), Some(meant.clone()));
        assert_eq!(serde_json::to_value(&meant).ok(), Some(object));
        for bad in ["TypeScript", "Gadget:x", "tool:", "tool:...", "function:()"] {
            assert!(parsed(bad.into()).is_err(), "{bad}");
        }
        assert!(parsed(serde_json::json!({"type": "tool"})).is_err());
    }

    #[test]
    fn a_reference_is_an_id_a_type_with_name_or_a_name() {
        let id = EntityId::from_name("x");
        let meant = |text: &str| text.parse::<EntityRef>().ok();
        assert_eq!(meant(&id.to_string()), Some(EntityRef::Id(id)));
        assert!(matches!(meant("tool:TypeScript"), Some(EntityRef::Named(_))));
        assert_eq!(meant("std::fs"), Some(EntityRef::Called("std::fs".to_owned())));
        assert_eq!(meant(""), None);
        assert_eq!(meant("tool:..."), None);
    }
}
