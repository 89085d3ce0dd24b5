//! Joining two entities that are one thing, and taking them apart again.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MergeStrategy, add_alias, add_claim, merged_context, prevails};
use crate::base::error::{Error, Result};
use crate::base::id::EntityId;
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::entity::{Entity, EntityAttribute, EntityStatement};

/// Two entities that became one, with what it takes to undo it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityMerge {
    /// The one that stays, with what was known of both.
    pub target: Entity,
    /// The one that leads to it from now on.
    pub source: Entity,
    /// The one that stays, as it was.
    pub target_before: Entity,
    /// The other, as it was.
    pub source_before: Entity,
}

/// The versions at which a caller has read two entities, where it says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntityVersions {
    /// That of the entity that is to be merged.
    pub source: Option<u64>,
    /// That of the entity that stays.
    pub target: Option<u64>,
}

impl EntityMerge {
    /// Both entities, target first, as they were before, with what was stated since, oldest first.
    /// What was stated under one of these names of the source's is the source's.
    ///
    /// An entity about which nothing was stated since is equal to what it was. Of another the
    /// version goes on, so that who has read the merged one does not take it for that.
    ///
    /// # Errors
    /// `conflict` when the source does not lead to the target any more, and when the target was
    /// merged into another itself.
    pub fn undo_merge(
        &self,
        target_now: &Entity,
        source_now: &Entity,
        since: &[EntityStatement],
        names: &[EntityId],
    ) -> Result<(Entity, Entity)> {
        if source_now.merged_into != Some(self.target.id) {
            return Err(not_merged(source_now.id));
        }
        if let Some(into) = target_now.merged_into {
            let message = format!("{} was merged into {into} since", target_now.id);
            return Err(Error::conflict(message).hint("Undo that merge first."));
        }
        let (mut target, mut source) = (self.target_before.clone(), self.source_before.clone());
        for statement in since {
            let of_source = names.contains(&statement.name) || statement.name == source.id;
            let stated = if of_source { &mut source } else { &mut target };
            *stated = stated.with_statement(&statement.sighting, statement.strategy);
        }
        if target != self.target_before {
            target.version = target_now.version + 1;
        }
        if source != self.source_before {
            source.version = source_now.version + 1;
        }
        Ok((target, source))
    }
}

/// The answer to who takes back a merge that there is not.
#[must_use]
pub fn not_merged(id: EntityId) -> Error {
    Error::conflict(format!("{id} is merged into nothing"))
        .hint("It was unmerged already, or never merged; read it to see how it stands.")
}

/// Whether two entities may be merged that the caller has read at these versions.
///
/// # Errors
/// `invalid` for an entity with itself and for two types; `conflict` for one that changed since
/// and for one that was merged already.
pub fn check_merge(source: &Entity, target: &Entity, versions: EntityVersions) -> Result<()> {
    if source.id == target.id {
        return Err(Error::invalid("target", "an entity cannot be merged with itself")
            .hint("Name the entity that stays as the target, and the other as the source."));
    }
    if source.entity_type != target.entity_type {
        let (one, other) = (source.entity_type, target.entity_type);
        return Err(Error::invalid("target", format!("a {one} cannot become a {other}"))
            .hint("Link them with a relation instead, such as relates_to."));
    }
    if source.session != target.session {
        return Err(Error::invalid("target", "they are known in different sessions")
            .hint("Merge entities of one session, or of the whole workspace."));
    }
    // In the order of their ids, so that two who merge in both directions hear the same.
    let mut both = [(source, versions.source), (target, versions.target)];
    both.sort_by_key(|(entity, _)| entity.id);
    for (entity, read) in both {
        if let Some(into) = entity.merged_into {
            return Err(Error::conflict(format!("{} is merged into {into} already", entity.id))
                .hint(format!("Merge {into} instead, or unmerge {} first.", entity.id)));
        }
        if let Some(read) = read
            && entity.version != read
        {
            let (id, now) = (entity.id, entity.version);
            return Err(Error::conflict(format!("{id} is at version {now}, and you read {read}"))
                .hint("Read it again, and merge if it still is the same thing."));
        }
    }
    Ok(())
}

/// One entity out of two; `manual` is the caller's to queue and joins like `merge_context` here.
///
/// # Errors
/// As [`check_merge`].
pub fn merge_entities(
    source: &Entity,
    target: &Entity,
    versions: EntityVersions,
    strategy: MergeStrategy,
    agent: &Agent,
    at: Timestamp,
) -> Result<EntityMerge> {
    check_merge(source, target, versions)?;
    let newest = source.last_seen > target.last_seen;
    let wins = match strategy {
        MergeStrategy::NewestWins => newest,
        _ => prevails(strategy, target.confidence, source.confidence),
    };
    let mut whole = target.clone();
    whole.context =
        merged_context(strategy, wins, target.context.as_deref(), source.context.as_deref());
    whole.confidence = match strategy {
        MergeStrategy::NewestWins if newest => source.confidence,
        MergeStrategy::NewestWins => target.confidence,
        _ => target.confidence.max(source.confidence),
    };
    for (name, attribute) in &source.attributes {
        add_attribute(&mut whole, name, attribute, strategy, newest);
    }
    for name in std::iter::once(&source.value).chain(&source.aliases) {
        add_alias(&mut whole, name);
    }
    whole.first_seen = target.first_seen.min(source.first_seen);
    whole.last_seen = target.last_seen.max(source.last_seen).max(at);
    whole.occurrences = target.occurrences.saturating_add(source.occurrences);
    whole.last_agent = agent.clone();
    whole.version += 1;
    whole.merge_count += 1 + source.merge_count;
    let mut led = source.clone();
    led.merged_into = Some(target.id);
    led.version += 1;
    Ok(EntityMerge {
        target: whole,
        source: led,
        target_before: target.clone(),
        source_before: source.clone(),
    })
}

fn add_attribute(
    whole: &mut Entity,
    name: &str,
    added: &EntityAttribute,
    strategy: MergeStrategy,
    newest: bool,
) {
    let full = whole.attributes.len() >= limits::ENTITY_ATTRIBUTES;
    let Some(attribute) = whole.attributes.get_mut(name) else {
        if !full {
            whole.attributes.insert(name.to_owned(), added.clone());
        }
        return;
    };
    // The newest wins by when it was said, not by which of the two it was said of.
    let strategy = match strategy {
        MergeStrategy::NewestWins if !newest => MergeStrategy::HighestConfidence,
        other => other,
    };
    for claim in std::iter::once(&added.held).chain(&added.conflicts) {
        add_claim(attribute, claim, strategy);
    }
}
