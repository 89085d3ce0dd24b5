//! The settings of entities: the own types of a home, which names it equates, and how it joins statements.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{EntityLabel, EntityRef, EntityType, MergeStrategy, OwnTypes};
use crate::base::error::{Error, Result};
use commonbook_text::entities::OwnTypeRules;
use commonbook_text::entities::likeness::LIKENESS_MIN;

/// The section `entities` of config.json.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EntitySettings {
    /// Own types by name, each with the names, prefixes and suffixes by which texts mention its
    /// entities; none by default.
    #[schemars(with = "BTreeMap<String, OwnTypeSchema>")]
    pub types: BTreeMap<String, OwnTypeRules>,
    /// The least likeness of two names of one entity, 0.5 to 1; at 1 only equal names are the same.
    #[schemars(range(min = 0.5, max = 1.0))]
    #[serde(alias = "similarityThreshold")]
    pub threshold: f64,
    /// How a statement is joined with what is known, if its author does not say so.
    #[serde(alias = "mergeStrategy")]
    pub merge_strategy: MergeStrategy,
}

/// How texts mention the entities of an own type.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "`OwnTypeRules`, for the schema")]
struct OwnTypeSchema {
    /// Names, found in any letter case; none by default.
    names: Option<Vec<String>>,
    /// Words begin so, with something behind it; none by default.
    prefixes: Option<Vec<String>>,
    /// Words end so, with something before it; none by default.
    suffixes: Option<Vec<String>>,
}

impl Default for EntitySettings {
    fn default() -> Self {
        let EntityRules { threshold, strategy, .. } = EntityRules::default();
        Self { types: BTreeMap::new(), threshold, merge_strategy: strategy }
    }
}

impl EntitySettings {
    /// The rules that these settings name.
    ///
    /// # Errors
    /// `invalid` with the field of the first rule that cannot be used.
    pub fn check(&self) -> Result<EntityRules> {
        if !THRESHOLDS.contains(&self.threshold) {
            let [least, most] = [THRESHOLDS.start(), THRESHOLDS.end()];
            let reason = format!("{} is no number from {least} to {most}", self.threshold);
            return Err(Error::invalid("threshold", reason));
        }
        let own_types = OwnTypes::of(&self.types).map_err(|error| {
            let below = if error.field.is_empty() { "" } else { "." };
            Error::invalid(&format!("types{below}{}", error.field), error.reason)
        })?;
        let (threshold, strategy) = (self.threshold, self.merge_strategy);
        Ok(EntityRules { own_types, threshold, strategy })
    }
}

/// Below half of their letters two names have nothing in common.
const THRESHOLDS: RangeInclusive<f64> = 0.5..=1.0;

/// The rules by which a home finds entities and joins what is said of them.
#[derive(Debug, Clone)]
pub struct EntityRules {
    /// Its own types.
    pub own_types: OwnTypes,
    /// The least likeness of two names of one entity.
    pub threshold: f64,
    /// The strategy of a statement that names none.
    pub strategy: MergeStrategy,
}

impl Default for EntityRules {
    fn default() -> Self {
        let (own_types, strategy) = (OwnTypes::default(), MergeStrategy::default());
        Self { own_types, threshold: LIKENESS_MIN, strategy }
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
