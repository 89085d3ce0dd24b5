//! Finding an entity in a sight, and who sees its events.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{EntityId, MemoryId, parse_handle};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::entity::{
    Entity, EntityName, EntityRef, EntityReview, EntityType, MentionLink, OwnTypes, check_type,
    with_own_type,
};
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::{Memory, Sharing};
use crate::model::workspace::Workspace;
use crate::prompt::item::EntitySummary;
use crate::store::Tx;
use crate::verbs::ops::handles::SAME_ENDING_MAX;

/// The workspace in which a sight finds entities.
pub(in crate::verbs) fn workspace_of_sight(sight: &Sight) -> Result<&Workspace> {
    sight.workspaces.first().ok_or_else(|| Error::not_found("the workspace"))
}

/// An entity in sight: as it was stated, or as memories mention it.
pub(in crate::verbs) fn find_visible_entity(
    tx: &Tx<'_>,
    sight: &Sight,
    id: EntityId,
) -> Result<Entity> {
    if let Some(entity) = tx.entity(workspace_of_sight(sight)?, id)? {
        return Ok(entity);
    }
    let Some((name, confidence)) = tx.usual_name(sight, id)? else {
        return Err(no_such_entity(&id.to_string()));
    };
    let by = tx.mentioning_agents(sight, id)?;
    let last = by.iter().max_by_key(|audience| audience.last_seen);
    let last = last.ok_or_else(|| no_such_entity(&id.to_string()))?;
    let first_seen = by.iter().map(|audience| audience.first_seen).min().unwrap_or(last.first_seen);
    let entity = Entity::from_mention(&name, confidence, &last.agent, last.last_seen);
    let occurrences = by.iter().map(|audience| audience.memories).sum();
    Ok(Entity { first_seen, occurrences, ..entity })
}

/// The entity in sight that the reference names.
///
/// # Errors
/// `not_found` if no such entity is in sight, `conflict` if several types have an entity of this
/// name, `invalid` for a type that nothing knows.
pub(in crate::verbs) fn resolve_ref(
    tx: &Tx<'_>,
    sight: &Sight,
    own: &OwnTypes,
    reference: &EntityRef,
) -> Result<EntityId> {
    let reference = &with_own_type(own, reference);
    let workspace = workspace_of_sight(sight)?;
    let called = |kind: EntityType, value: &str| -> Result<Option<EntityId>> {
        let name = EntityName::of(workspace, None, kind, value);
        for id in name.iter().flat_map(EntityName::ids) {
            let root = tx.root(workspace, id)?;
            if tx.sees_entity(sight, root)? {
                return Ok(Some(root));
            }
        }
        Ok(None)
    };
    let found = match reference {
        EntityRef::Id(id) => {
            let root = tx.root(workspace, *id)?;
            tx.sees_entity(sight, root)?.then_some(root)
        }
        EntityRef::Named(named) => {
            check_type(own, "entity", named.entity_type)?;
            called(named.entity_type, &named.value)?
        }
        EntityRef::Called(value) => {
            let mut found: Vec<(EntityType, EntityId)> = Vec::new();
            for kind in EntityType::ALL.iter().copied().chain(own.types()) {
                found.extend(called(kind, value)?.map(|id| (kind, id)));
            }
            if found.len() > 1 {
                let kinds: Vec<_> =
                    found.iter().map(|(kind, _)| format!("{kind}:{value}")).collect();
                return Err(Error::conflict(format!("several entities are called {value:?}"))
                    .with_field("entity")
                    .hint(format!("Say which one: {}.", kinds.join(", "))));
            }
            match found.first() {
                Some((_, id)) => Some(*id),
                None => entity_of_handle(tx, sight, value)?,
            }
        }
    };
    if let Some(id) = found {
        return Ok(id);
    }
    match deleted_by_ref(tx, sight, own, reference)? {
        Some(gone) => Err(Error { kind: ErrorKind::NotFound, ..deleted_error(&gone) }),
        None => Err(no_such_entity(&reference.to_string())),
    }
}

/// The deleted entity behind a name, if its deletion is in sight.
pub(in crate::verbs) fn deleted_in_sight(
    tx: &Tx<'_>,
    sight: &Sight,
    name: EntityId,
) -> Result<Option<Entity>> {
    let workspace = workspace_of_sight(sight)?;
    let gone = tx.deleted_entity(workspace, tx.root(workspace, name)?)?;
    Ok(gone.filter(|entity| sees_deletion(sight, entity)))
}

/// Whether a deleted entity was deleted for everybody, or for an audience of the caller.
pub(in crate::verbs) fn sees_deletion(sight: &Sight, gone: &Entity) -> bool {
    gone.deleted.as_ref().is_some_and(|deletion| {
        deletion.audiences.is_empty()
            || deletion.audiences.iter().any(|audience| sight.belongs_to(audience))
    })
}

/// The deleted entity in sight that the reference names.
///
/// # Errors
/// `invalid` for a type that nothing knows.
pub(in crate::verbs) fn deleted_by_ref(
    tx: &Tx<'_>,
    sight: &Sight,
    own: &OwnTypes,
    reference: &EntityRef,
) -> Result<Option<Entity>> {
    let workspace = workspace_of_sight(sight)?;
    let (kinds, value): (Vec<EntityType>, &str) = match &with_own_type(own, reference) {
        EntityRef::Id(id) => return deleted_in_sight(tx, sight, *id),
        EntityRef::Named(named) => {
            check_type(own, "entity", named.entity_type)?;
            (vec![named.entity_type], &named.value.clone())
        }
        EntityRef::Called(value) => {
            (EntityType::ALL.iter().copied().chain(own.types()).collect(), &value.clone())
        }
    };
    for kind in kinds {
        let name = EntityName::of(workspace, None, kind, value);
        for id in name.iter().flat_map(EntityName::ids) {
            if let Some(gone) = deleted_in_sight(tx, sight, id)? {
                return Ok(Some(gone));
            }
        }
    }
    Ok(None)
}

/// The error for an entity that was deleted.
pub(in crate::verbs) fn deleted_error(gone: &Entity) -> Error {
    let Entity { id, entity_type, value, deleted, .. } = gone;
    let by = deleted.as_ref().map(|deletion| format!(" by {}", deletion.agent));
    let message = format!("{entity_type}:{value} was deleted{}", by.unwrap_or_default());
    Error::conflict(message).hint(format!("Restore {id} with `restore_entity` first."))
}

/// The entity that a text shows by this handle.
fn entity_of_handle(tx: &Tx<'_>, sight: &Sight, text: &str) -> Result<Option<EntityId>> {
    let Some(ending) = parse_handle(text) else { return Ok(None) };
    let found = tx.entity_ids_ending(sight, &ending, SAME_ENDING_MAX)?;
    if found.len() > 1 {
        let ids: Vec<String> = found.iter().map(ToString::to_string).collect();
        return Err(Error::conflict(format!(
            "{} entities have ids that end in {ending}",
            ids.len()
        ))
        .with_field("entity")
        .hint(format!("Use one of them whole: {}.", ids.join(", "))));
    }
    Ok(found.first().copied())
}

/// The error for an entity that is not in sight.
pub(in crate::verbs) fn no_such_entity(what: &str) -> Error {
    let shown: String = what.chars().take(80).collect();
    Error::not_found(format!("no entity {shown:?} exists"))
        .hint("List entities by the beginning of the name, or create it with resolve_entity.")
}

/// Appends an event about an entity. Everybody sees the event of a statement, because everybody can
/// read the statement; other events only their actor sees.
pub(in crate::verbs) fn append_entity_event(
    tx: &mut Tx<'_>,
    kind: EventKind,
    entity: &Entity,
    agent: &Agent,
    at: Timestamp,
    changed: &[&str],
) -> Result<()> {
    let stated = tx.entity(&entity.workspace, entity.id)?.is_some();
    let sharing = Sharing::shared_if(stated);
    let id = entity.id.to_string();
    let event = NewEvent::for_subject(kind, &entity.workspace, id, agent, at, sharing);
    tx.append_event(&event.with_changed_fields(changed))?;
    Ok(())
}

/// Queues a review, with its event.
pub(in crate::verbs) fn queue_review(
    tx: &mut Tx<'_>,
    entity: &Entity,
    review: &EntityReview,
) -> Result<()> {
    tx.put_review(&entity.workspace, review)?;
    append_entity_event(tx, EventKind::EntityQueued, entity, &review.agent, review.at, &[])
}

/// Summaries of the entities that these memories mention: the statement about each, else the name
/// in the first memory that mentions it. `by` returns a memory for its owner and its time.
pub(in crate::verbs) fn mentioned_items<'m>(
    tx: &Tx<'_>,
    workspace: &Workspace,
    mentions: &[MentionLink],
    by: impl Fn(MemoryId) -> Option<&'m Memory>,
) -> Result<BTreeMap<EntityId, EntitySummary>> {
    let mut summaries: BTreeMap<EntityId, EntitySummary> = BTreeMap::new();
    for MentionLink { memory, entity, entity_type, value } in mentions {
        let Some(memory) = by(*memory).filter(|_| !summaries.contains_key(entity)) else {
            continue;
        };
        summaries.insert(
            *entity,
            EntitySummary {
                id: *entity,
                kind: entity_type.to_string(),
                value: value.clone(),
                context: None,
                attributes: Vec::new(),
                agent: memory.owner.clone(),
                at: memory.valid_from.unwrap_or(memory.recorded_at),
            },
        );
    }
    let ids: Vec<EntityId> = summaries.keys().copied().collect();
    for entity in tx.stated_entities(workspace, &ids)? {
        summaries.insert(entity.id, entity.into());
    }
    Ok(summaries)
}
