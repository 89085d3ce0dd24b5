//! Merging: combines what is known about an entity with a new statement.
//!
//! No strategy discards a claim: conflicting claims about an attribute all stay with their sources,
//! and the strategy only chooses the one that holds.

mod join;

pub use commonbook_text::sentences::join_sentences;
pub use join::{
    EntityMerge, EntityVersions, check_merge, check_version, merge_entities, not_merged,
    rename_entity,
};

use std::collections::BTreeMap;

use super::{AttributeClaim, Entity, EntityAttribute, EntitySighting};
use crate::base::limits;
use crate::model::agent::Agent;
use commonbook_text::entities::value;
use commonbook_text::string_enum;

string_enum! {
    /// How a new statement is combined with what is known.
    MergeStrategy {
        /// Joins both descriptions sentence by sentence; of conflicting attributes, the more
        /// certain holds.
        MergeContext = "merge_context",
        /// The newest statement holds.
        NewestWins = "newest_wins",
        /// The more certain statement holds; at equal confidence, the known one.
        HighestConfidence = "highest_confidence",
        /// Nothing changes until an agent decides.
        Manual = "manual",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for MergeStrategy {
    fn default() -> Self {
        Self::MergeContext
    }
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeOutcome {
    /// The statement was new: the entity with it, at the next version.
    Changed(Entity),
    /// The statement was known: the entity, seen once more.
    Seen(Entity),
    /// An agent has to decide; the entity is unchanged.
    Review,
}

/// Merges a statement into an entity.
///
/// If its description, confidence, attributes or names change, its version and its merge count
/// increase. The last agent, time and number of statements are updated in any case.
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
    add_claims(&mut merged.attributes, seen, strategy);
    add_alias(&mut merged, &seen.value);
    let changed = without_agreement(&merged) != without_agreement(entity);
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

/// The entity without the agents that agree: who repeats a claim says nothing new.
fn without_agreement(entity: &Entity) -> Entity {
    let mut entity = entity.clone();
    entity.attributes.values_mut().for_each(|attribute| attribute.agreed.clear());
    entity
}

/// Whether the new statement replaces what is known.
fn prevails(strategy: MergeStrategy, earlier: f64, stated: f64) -> bool {
    match strategy {
        MergeStrategy::NewestWins => true,
        MergeStrategy::HighestConfidence => stated > earlier,
        MergeStrategy::MergeContext | MergeStrategy::Manual => false,
    }
}

/// The description that holds. A statement without one never removes it.
fn merged_context(
    strategy: MergeStrategy,
    wins: bool,
    earlier: Option<&str>,
    stated: Option<&str>,
) -> Option<String> {
    match (strategy, earlier, stated) {
        (MergeStrategy::MergeContext, Some(earlier), Some(stated)) => {
            Some(join_sentences(earlier, stated, limits::ENTITY_CONTEXT_CHARS))
        }
        (_, _, Some(stated)) if wins => Some(stated.to_owned()),
        (_, earlier, stated) => earlier.or(stated).map(str::to_owned),
    }
}

/// Adds claims about attributes. Ignores new attributes beyond the limit, so that one writer cannot
/// crowd out others.
fn add_claims(
    attributes: &mut BTreeMap<String, EntityAttribute>,
    seen: &EntitySighting,
    strategy: MergeStrategy,
) {
    for (name, claim) in &seen.claims {
        let full = attributes.len() >= limits::ENTITY_ATTRIBUTES;
        match attributes.get_mut(name) {
            Some(attribute) if seen.settles => settle(attribute, claim),
            Some(attribute) => add_claim(attribute, claim, strategy),
            None if full => {}
            None => {
                attributes.insert(name.clone(), EntityAttribute::of(claim.clone()));
            }
        }
    }
}

/// Adds one claim: it agrees with the one that holds, replaces it, or is a conflict. An agent has
/// one claim: a changed one replaces its earlier one, a repeated one is not a second source.
fn add_claim(attribute: &mut EntityAttribute, claim: &AttributeClaim, strategy: MergeStrategy) {
    attribute.conflicts.retain(|conflict| conflict.agent != claim.agent);
    if attribute.held.value == claim.value {
        attribute.held.confidence = attribute.held.confidence.max(claim.confidence);
        add_agreed(attribute, &claim.agent);
        return;
    }
    attribute.agreed.retain(|agent| *agent != claim.agent);
    let own = attribute.held.agent == claim.agent;
    let wins = own
        || match strategy {
            MergeStrategy::MergeContext => claim.confidence >= attribute.held.confidence,
            _ => prevails(strategy, attribute.held.confidence, claim.confidence),
        };
    if wins {
        let before = std::mem::replace(attribute, EntityAttribute::of(claim.clone()));
        // An agent that changes its mind has no claim of before.
        let held = before.held_claims().skip(usize::from(own));
        let others = before.conflicts.iter().cloned().chain(held);
        let (same, differing): (Vec<_>, Vec<_>) =
            others.partition(|other| other.value == claim.value);
        same.iter().for_each(|other| add_agreed(attribute, &other.agent));
        attribute.conflicts = differing;
    } else {
        attribute.conflicts.push(claim.clone());
    }
    attribute.conflicts.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    attribute.conflicts.truncate(limits::ENTITY_CLAIMS);
}

/// Lets a claim hold without conflicts; the agents that claim the same agree.
fn settle(attribute: &mut EntityAttribute, claim: &AttributeClaim) {
    let before = std::mem::replace(attribute, EntityAttribute::of(claim.clone()));
    let claims = before.held_claims().chain(before.conflicts.iter().cloned());
    let same = claims.filter(|other| other.value == claim.value);
    same.for_each(|other| add_agreed(attribute, &other.agent));
}

/// Adds an agent that claims the value that holds, unless the list is full.
fn add_agreed(attribute: &mut EntityAttribute, agent: &Agent) {
    let is_known = attribute.held.agent == *agent || attribute.agreed.contains(agent);
    if !is_known && attribute.agreed.len() < limits::ENTITY_CLAIMS {
        attribute.agreed.push(agent.clone());
    }
}

/// Adds a new name, unless the list is full.
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
