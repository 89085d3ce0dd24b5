//! The settings of entities: the own types of a home.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{EntityLabel, EntityRef, EntityType, OwnTypes};
use crate::base::error::{Error, Result};
use commonbook_text::entities::OwnTypeRules;

/// The section `entities` of config.json.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EntitySettings {
    /// Own types by name, each with the names, prefixes and suffixes by which texts mention its
    /// entities.
    pub types: BTreeMap<String, OwnTypeRules>,
}

impl EntitySettings {
    /// The own types that these settings name.
    ///
    /// # Errors
    /// `invalid` with the field of the first rule that cannot be used.
    pub fn check(&self) -> Result<OwnTypes> {
        OwnTypes::of(&self.types).map_err(|error| {
            let below = if error.field.is_empty() { "" } else { "." };
            Error::invalid(&format!("types{below}{}", error.field), error.reason)
        })
    }
}

/// Succeeds if the settings know this type.
///
/// # Errors
/// `invalid` with the known types.
pub fn check_type(own: &OwnTypes, field: &str, entity_type: EntityType) -> Result<()> {
    let is_known = match entity_type {
        EntityType::Own(_) => own.types().any(|known| known == entity_type),
        _ => true,
    };
    if is_known {
        return Ok(());
    }
    let known = EntityType::ALL.iter().copied().chain(own.types());
    let known: Vec<String> = known.map(|kind| format!("`{kind}`")).collect();
    let message = format!("unknown type `{entity_type}`, expected one of {}", known.join(", "));
    Err(Error::invalid(field, message)
        .hint("Choose one of these; the owner of the home can name own types in config.json."))
}

/// Succeeds if the settings know the types of all these entities of a memory.
///
/// # Errors
/// As [`check_type`].
pub fn check_labels(own: &OwnTypes, labels: &[EntityLabel]) -> Result<()> {
    labels.iter().enumerate().try_for_each(|(index, label)| {
        check_type(own, &format!("entities[{index}]"), label.entity_type)
    })
}

/// The reference with its type, if it begins with an own type: `service:orders`.
#[must_use]
pub fn with_own_type(own: &OwnTypes, reference: &EntityRef) -> EntityRef {
    let EntityRef::Called(text) = reference else { return reference.clone() };
    let typed = text.split_once(':').filter(|(kind, _)| own.types().any(|own| own.name() == *kind));
    let label = typed.and_then(|_| text.parse().ok());
    label.map_or_else(|| reference.clone(), EntityRef::Named)
}
