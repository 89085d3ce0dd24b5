//! Joining two entities, and undoing it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MergeStrategy, add_alias, add_claim, merged_context, prevails};
use crate::base::error::{Error, Result};
use crate::base::id::EntityId;
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::entity::{Entity, EntityAttribute, EntityName, EntityStatement};

/// Two joined entities, with what is needed to undo the merge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntityMerge {
    /// The entity that stays, with the statements of both.
    pub target: Entity,
    /// The entity that leads to it from now on.
    pub source: Entity,
    /// The entity that stays, before the merge.
    pub target_before: Entity,
    /// The other entity, before the merge.
    pub source_before: Entity,
}

/// The versions of two entities that a caller has read, if given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntityVersions {
    /// The version of the source, which is merged into the target.
    pub source: Option<u64>,
    /// The version of the target, which stays.
    pub target: Option<u64>,
}

impl EntityMerge {
    /// Both entities as they were before the merge, target first, with the statements made since,
    /// oldest first. Statements under one of the source's names go to the source.
    ///
    /// The version of an entity with later statements increases, so that it is not mistaken for the
    /// merged one.
    ///
    /// # Errors
    /// `conflict` if the source does not lead to the target any more, or the target was merged into
    /// another entity.
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
            let message = format!("{} has been merged into {into} since", target_now.id);
            return Err(
                Error::conflict(message).hint("Undo that merge first with `unmerge_entities`.")
            );
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

/// The error for undoing a merge that does not exist.
#[must_use]
pub fn not_merged(id: EntityId) -> Error {
    Error::conflict(format!("{id} is not merged into another entity"))
        .hint("It was unmerged already, or never merged. Read it with `get_entity`.")
}

/// Checks that two entities can be merged at the versions that the caller has read.
///
/// # Errors
/// `invalid` for an entity with itself and for different types; `conflict` for an entity that has
/// changed since or is merged already.
pub fn check_merge(source: &Entity, target: &Entity, versions: EntityVersions) -> Result<()> {
    if source.id == target.id {
        return Err(Error::invalid("target", "source and target are the same entity")
            .hint("Name the entity that stays as the target, and the other as the source."));
    }
    if source.entity_type != target.entity_type {
        let (source_type, target_type) = (source.entity_type, target.entity_type);
        return Err(Error::invalid(
            "target",
            format!("a {source_type} cannot be merged into a {target_type}"),
        )
        .hint("Relate them with `add_relation` instead, such as relates_to."));
    }
    if source.session != target.session {
        return Err(Error::invalid("target", "source and target belong to different sessions")
            .hint("Merge entities of one session, or of the whole workspace."));
    }
    // In the order of ids, so that merges in both directions return the same error.
    let mut both = [(source, versions.source), (target, versions.target)];
    both.sort_by_key(|(entity, _)| entity.id);
    for (entity, read) in both {
        if let Some(into) = entity.merged_into {
            return Err(Error::conflict(format!("{} is already merged into {into}", entity.id))
                .hint(format!("Merge {into} instead, or undo the merge of {} first.", entity.id)));
        }
        check_version(entity, read)?;
    }
    Ok(())
}

/// Joins two entities. `manual` is queued by the caller and joins like `merge_context` here.
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
    Ok(join(source, target, strategy, agent, at))
}

/// Gives an entity another name or type: everything that is known of it goes to the entity of that
/// name, and its old name leads there. A rename counts as no merge.
#[must_use]
pub fn rename_entity(
    entity: &Entity,
    name: &EntityName,
    agent: &Agent,
    at: Timestamp,
) -> EntityMerge {
    let mut named = Entity::from_mention(name, entity.confidence, agent, at);
    named.first_seen = entity.first_seen;
    let mut joined = join(entity, &named, MergeStrategy::MergeContext, agent, at);
    joined.target.merge_count = entity.merge_count;
    joined.target.version = entity.version + 1;
    if entity.version == 0 {
        // What the caller counted are memories, not statements.
        joined.target.occurrences = 0;
    }
    joined
}

/// Checks that an entity is at the version that the caller has read, if given.
///
/// # Errors
/// `conflict` if it has changed since.
pub fn check_version(entity: &Entity, read: Option<u64>) -> Result<()> {
    match read.filter(|read| *read != entity.version) {
        None => Ok(()),
        Some(read) => {
            let (id, now) = (entity.id, entity.version);
            Err(Error::conflict(format!("{id} is at version {now}, not {read}"))
                .hint("Read it again, and repeat the call if it still is what you mean."))
        }
    }
}

fn join(
    source: &Entity,
    target: &Entity,
    strategy: MergeStrategy,
    agent: &Agent,
    at: Timestamp,
) -> EntityMerge {
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
    EntityMerge {
        target: whole,
        source: led,
        target_before: target.clone(),
        source_before: source.clone(),
    }
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
    // `newest_wins` compares the times of the statements, not the two entities.
    let strategy = match strategy {
        MergeStrategy::NewestWins if !newest => MergeStrategy::HighestConfidence,
        other => other,
    };
    for claim in added.held_claims().chain(added.conflicts.iter().cloned()) {
        add_claim(attribute, &claim, strategy);
    }
}
