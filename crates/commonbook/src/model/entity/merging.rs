//! Merging: what becomes of what is known when somebody says something about the same thing.
//!
//! Nothing that was said is lost to the strategy: where two say different things of an attribute,
//! both claims stay with their sources, and the strategy only chooses which one holds.

mod join;

pub use commonbook_text::sentences::join_sentences;
pub use join::{EntityMerge, EntityVersions, check_merge, merge_entities, not_merged};

use std::collections::BTreeMap;

use super::{AttributeClaim, Entity, EntityAttribute, EntitySighting};
use crate::base::limits;
use commonbook_text::entities::value;
use commonbook_text::string_enum;

string_enum! {
    /// How what is known and what is said anew become one.
    MergeStrategy {
        /// Both contexts, sentence by sentence; of contradicting attributes the more certain.
        MergeContext = "merge_context",
        /// What was said last.
        NewestWins = "newest_wins",
        /// What is more certain; what is known, when both are alike.
        HighestConfidence = "highest_confidence",
        /// Nothing changes until somebody has decided.
        Manual = "manual",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for MergeStrategy {
    fn default() -> Self {
        Self::MergeContext
    }
}

/// What came of merging.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeOutcome {
    /// It said something new: the entity with it, one version further.
    Changed(Entity),
    /// It said nothing new: the entity was only seen once more.
    Seen(Entity),
    /// Somebody has to decide; the entity is as it was.
    Review,
}

/// Merges what was said about an entity into it.
///
/// An entity whose context, confidence, attributes or names change is one version further and was
/// merged once more. Who spoke of it last, when and how often is kept even when nothing was new.
#[must_use]
pub fn merge(entity: &Entity, seen: &EntitySighting, strategy: MergeStrategy) -> MergeOutcome {
    if strategy == MergeStrategy::Manual {
        return MergeOutcome::Review;
    }
    let mut merged = entity.clone();
    let wins = prevails(strategy, entity.confidence, seen.confidence);
    merged.context =
        merged_context(strategy, wins, entity.context.as_deref(), seen.context.as_deref());
    merged.confidence = match strategy {
        MergeStrategy::NewestWins => seen.confidence,
        _ => entity.confidence.max(seen.confidence),
    };
    add_claims(&mut merged.attributes, &seen.claims, strategy);
    add_alias(&mut merged, &seen.value);
    let changed = merged != *entity;
    merged.last_agent = seen.agent.clone();
    merged.first_seen = entity.first_seen.min(seen.at);
    merged.last_seen = entity.last_seen.max(seen.at);
    merged.occurrences = entity.occurrences.saturating_add(1);
    if !changed {
        return MergeOutcome::Seen(merged);
    }
    merged.version += 1;
    merged.merge_count += 1;
    MergeOutcome::Changed(merged)
}

/// Whether what is said anew takes the place of what is known.
fn prevails(strategy: MergeStrategy, known: f64, said: f64) -> bool {
    match strategy {
        MergeStrategy::NewestWins => true,
        MergeStrategy::HighestConfidence => said > known,
        MergeStrategy::MergeContext | MergeStrategy::Manual => false,
    }
}

/// The context that holds; nobody loses one to a silence.
fn merged_context(
    strategy: MergeStrategy,
    wins: bool,
    known: Option<&str>,
    said: Option<&str>,
) -> Option<String> {
    match (strategy, known, said) {
        (MergeStrategy::MergeContext, Some(known), Some(said)) => {
            Some(join_sentences(known, said, limits::ENTITY_CONTEXT_CHARS))
        }
        (_, _, Some(said)) if wins => Some(said.to_owned()),
        (_, known, said) => known.or(said).map(str::to_owned),
    }
}

/// Adds what is said about attributes. New ones beyond the limit are left out, so that one writer
/// cannot crowd out another.
fn add_claims(
    attributes: &mut BTreeMap<String, EntityAttribute>,
    said: &BTreeMap<String, AttributeClaim>,
    strategy: MergeStrategy,
) {
    for (name, claim) in said {
        let full = attributes.len() >= limits::ENTITY_ATTRIBUTES;
        match attributes.get_mut(name) {
            Some(attribute) => add_claim(attribute, claim, strategy),
            None if full => {}
            None => {
                let attribute = EntityAttribute { held: claim.clone(), conflicts: Vec::new() };
                attributes.insert(name.clone(), attribute);
            }
        }
    }
}

/// Adds one claim: to what holds, or to what contradicts it. Who says the same again is no second
/// source; who changes their mind takes back what they said.
fn add_claim(attribute: &mut EntityAttribute, claim: &AttributeClaim, strategy: MergeStrategy) {
    if attribute.held.value == claim.value {
        attribute.held.confidence = attribute.held.confidence.max(claim.confidence);
        attribute.conflicts.retain(|other| other.agent != claim.agent);
        return;
    }
    attribute.conflicts.retain(|other| other.agent != claim.agent);
    let own = attribute.held.agent == claim.agent;
    let wins = own
        || match strategy {
            MergeStrategy::MergeContext => claim.confidence >= attribute.held.confidence,
            _ => prevails(strategy, attribute.held.confidence, claim.confidence),
        };
    let loser =
        if wins { std::mem::replace(&mut attribute.held, claim.clone()) } else { claim.clone() };
    if !own {
        let known = attribute
            .conflicts
            .iter()
            .any(|other| other.value == loser.value && other.agent == loser.agent);
        if !known {
            attribute.conflicts.push(loser);
        }
    }
    let held = &attribute.held.value;
    attribute.conflicts.retain(|other| other.value != *held);
    attribute.conflicts.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    attribute.conflicts.truncate(limits::ENTITY_CLAIMS);
}

/// Adds a name by which it was not known, while there is room.
fn add_alias(entity: &mut Entity, name: &str) {
    let normalised = value::normalise(entity.entity_type, name);
    if !normalised.is_empty()
        && !entity.is_called(&normalised)
        && entity.aliases.len() < limits::ENTITY_ALIASES
    {
        entity.aliases.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests;
