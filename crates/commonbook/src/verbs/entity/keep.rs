//! Renaming, deleting and restoring an entity.

use std::sync::Arc;

use jiff::Timestamp;

use super::join::{keep_merge, split_entities};
use super::name_keys;
use crate::base::error::{Error, Result};
use crate::model::access::{Audience, Sight};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::entity::merging::{self, check_version};
use crate::model::entity::{
    DeleteEntity, DeleteEntityResult, Entity, EntityDeletion, EntityName, EntityRef, OwnTypes,
    RenameEntity, RenameEntityResult, RestoreEntity, check_type, checked_value,
};
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::Sharing;
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::ops::find_visible::{
    append_entity_event, deleted_by_ref, deleted_error, deleted_in_sight, find_visible_entity,
    no_such_entity, resolve_ref, workspace_of_sight,
};
use crate::verbs::ops::write_once::WriteScope;

impl Commonbook {
    /// Renames an entity, or changes its type. The old name leads to the new one.
    ///
    /// # Errors
    /// `invalid` without a name and a type, and for a name that an entity cannot have; `conflict` if
    /// the name belongs to another entity or to a deleted one, or if the entity has changed since it
    /// was read; `not_found` if it is out of sight.
    pub fn rename_entity(
        &self,
        caller: &Caller,
        request: &RenameEntity,
    ) -> Result<RenameEntityResult> {
        if request.value.is_none() && request.entity_type.is_none() {
            return Err(Error::invalid("value", "neither a new name nor a new type is given")
                .hint("Give the new name in `value`, or the new type in `type`."));
        }
        if let Some(kind) = request.entity_type {
            check_type(&self.entity_rules.own_types, "type", kind)?;
        }
        self.follow_mentions(caller)?;
        let (wanted, rules) = (request.clone(), Arc::clone(&self.entity_rules));
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let entity = read_entity(tx, &sight, &rules.own_types, &wanted.entity, wanted.version)?;
            let kind = wanted.entity_type.unwrap_or(entity.entity_type);
            let value = wanted.value.as_ref().unwrap_or(&entity.value);
            let (value, _) = checked_value(kind, value)?;
            let session = entity.session.as_deref();
            let name = EntityName::of(workspace_of_sight(&sight)?, session, kind, &value);
            let name = name.ok_or_else(|| no_such_entity(&value))?;
            let renamed = rename(tx, &sight, &entity, &name, &caller.agent, now)?;
            Ok(RenameEntityResult { entity: renamed, source: entity.id })
        })?;
        Ok(once.answer)
    }

    /// Deletes an entity with its mentions and relations. No later memory brings it back.
    ///
    /// # Errors
    /// `conflict` if the entity has changed since it was read; `not_found` if it is out of sight.
    pub fn delete_entity(
        &self,
        caller: &Caller,
        request: &DeleteEntity,
    ) -> Result<DeleteEntityResult> {
        self.follow_mentions(caller)?;
        let (wanted, rules) = (request.clone(), Arc::clone(&self.entity_rules));
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let entity = read_entity(tx, &sight, &rules.own_types, &wanted.entity, wanted.version)?;
            let mentioned_by = tx.mentioning_agents(&sight, entity.id)?;
            let memories = mentioned_by.iter().map(|audience| audience.memories).sum();
            let mut audiences = tx.entity_audiences(&sight, entity.id)?;
            if audiences.iter().any(|audience| matches!(audience, Audience::Workspace(_))) {
                audiences.clear();
            }
            let deletion = EntityDeletion { agent: caller.agent.clone(), at: now, audiences };
            delete(tx, &entity, deletion)?;
            Ok(DeleteEntityResult { entity, memories })
        })?;
        Ok(once.answer)
    }

    /// Restores a deleted entity with its statements and relations. Its mentions are found again.
    ///
    /// # Errors
    /// `not_found` if no such entity was deleted in sight.
    pub fn restore_entity(&self, caller: &Caller, request: &RestoreEntity) -> Result<Entity> {
        self.follow_mentions(caller)?;
        let (wanted, rules) = (request.clone(), Arc::clone(&self.entity_rules));
        let (now, revision) = (self.clock.now(), self.mention_rules());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let gone = deleted_by_ref(tx, &sight, &rules.own_types, &wanted.entity)?;
            let gone = gone.ok_or_else(|| {
                Error::not_found(format!("no entity {} was deleted", wanted.entity))
                    .hint("List deleted entities with `list_entities` and `deleted`.")
            })?;
            restore(tx, &gone, revision, &caller.agent, now)
        })?;
        Ok(once.answer)
    }
}

/// The entity in sight that a request names, at the version that its caller has read.
fn read_entity(
    tx: &Tx<'_>,
    sight: &Sight,
    own: &OwnTypes,
    wanted: &EntityRef,
    version: Option<u64>,
) -> Result<Entity> {
    let id = resolve_ref(tx, sight, own, wanted)?;
    let entity = find_visible_entity(tx, sight, id)?;
    check_version(&entity, version)?;
    Ok(entity)
}

/// Gives an entity in sight this name.
fn rename(
    tx: &mut Tx<'_>,
    sight: &Sight,
    entity: &Entity,
    name: &EntityName,
    agent: &Agent,
    at: Timestamp,
) -> Result<Entity> {
    let workspace = &name.workspace;
    if name.id == entity.id {
        return respell(tx, entity, name, agent, at);
    }
    let shown = format!("{}:{}", name.entity_type, name.value);
    for id in name.ids() {
        let root = tx.root(workspace, id)?;
        if root != entity.id && tx.sees_entity(sight, root)? {
            return Err(Error::conflict(format!("{shown} exists already as {root}"))
                .with_field("value")
                .hint("If both are the same thing, merge them with `merge_entities`."));
        }
        if let Some(gone) = deleted_in_sight(tx, sight, id)? {
            return Err(deleted_error(&gone).with_field("value"));
        }
    }
    let root = tx.root(workspace, name.id)?;
    if let Some(earlier) = tx.entity(workspace, name.id)?.filter(|_| root == entity.id) {
        let last = tx.last_merge(workspace, entity.id)?;
        let back = last.filter(|last| last.joined.source.id == name.id);
        let is_rename = back.is_some_and(|last| last.joined.target_before.version == 0);
        if is_rename && tx.statement_count(workspace, entity.id)? == 0 {
            return Ok(split_entities(tx, &earlier, agent, at)?.source);
        }
        return Err(Error::conflict(format!("{shown} was merged or renamed into {}", entity.id))
            .with_field("value")
            .hint(format!("Undo that with `unmerge_entities` and the source {}.", name.id)));
    }
    // An entity out of sight that this name redirects to must not show here.
    tx.redirect_name(workspace, name.id, name.id)?;
    let joined = merging::rename_entity(entity, name, agent, at);
    let renamed = keep_merge(tx, joined, None)?;
    let changed: Vec<&str> = [
        ("value", renamed.value != entity.value),
        ("type", renamed.entity_type != entity.entity_type),
    ]
    .into_iter()
    .filter_map(|(field, differs)| differs.then_some(field))
    .collect();
    append_entity_event(tx, EventKind::EntityRenamed, &renamed, agent, at, &changed)?;
    Ok(renamed)
}

/// Spells the name of an entity anew.
fn respell(
    tx: &mut Tx<'_>,
    entity: &Entity,
    name: &EntityName,
    agent: &Agent,
    at: Timestamp,
) -> Result<Entity> {
    if entity.value == name.value {
        return Ok(entity.clone());
    }
    let spelt = Entity {
        value: name.value.clone(),
        version: entity.version + 1,
        // What the caller counted are memories, not statements.
        occurrences: if entity.version == 0 { 0 } else { entity.occurrences },
        last_agent: agent.clone(),
        last_seen: entity.last_seen.max(at),
        ..entity.clone()
    };
    tx.put_entity(&spelt)?;
    tx.put_name(name, true)?;
    tx.file_name(name, &name_keys(name))?;
    append_entity_event(tx, EventKind::EntityRenamed, &spelt, agent, at, &["value"])?;
    Ok(spelt)
}

/// Deletes an entity: its statements, names and relations stay in the store, out of everybody's
/// sight, until it is restored.
pub(in crate::verbs) fn delete(
    tx: &mut Tx<'_>,
    entity: &Entity,
    deletion: EntityDeletion,
) -> Result<()> {
    let (workspace, for_everybody) = (&entity.workspace, deletion.audiences.is_empty());
    tx.drop_mentions(workspace, entity.id, &deletion.audiences)?;
    if for_everybody {
        // Other spellings lead here still, and so do not bring it back.
        tx.put_name(&entity.name(), true)?;
    }
    let (agent, at) = (deletion.agent.clone(), deletion.at);
    tx.put_entity(&Entity { deleted: Some(deletion), ..entity.clone() })?;
    let (kind, id) = (EventKind::EntityDeleted, entity.id.to_string());
    let sharing = Sharing::shared_if(for_everybody);
    tx.append_event(&NewEvent::for_subject(kind, workspace, id, &agent, at, sharing)).map(drop)
}

/// Restores a deleted entity, and lets all memories of its workspace be read again.
pub(in crate::verbs) fn restore(
    tx: &mut Tx<'_>,
    gone: &Entity,
    rules: u32,
    agent: &Agent,
    at: Timestamp,
) -> Result<Entity> {
    let workspace = &gone.workspace;
    let entity = Entity { deleted: None, ..gone.clone() };
    match entity.version {
        0 => tx.drop_entity(workspace, entity.id)?,
        _ => tx.put_entity(&entity)?,
    }
    let deletion = gone.deleted.as_ref();
    let for_everybody = deletion.is_some_and(|deletion| deletion.audiences.is_empty());
    let (kind, id) = (EventKind::EntityRestored, entity.id.to_string());
    let sharing = Sharing::shared_if(for_everybody);
    tx.append_event(&NewEvent::for_subject(kind, workspace, id, agent, at, sharing))?;
    tx.set_mentions_position(workspace, rules, 0)?;
    Ok(entity)
}
