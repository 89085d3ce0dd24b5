//! Merging two entities, and undoing a merge.

use std::sync::Arc;

use jiff::Timestamp;

use super::name_keys;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{EntityId, OperationId, ReviewId};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::bulk::BulkOperation;
use crate::model::caller::Caller;
use crate::model::entity::merging::{self, EntityMerge, EntityVersions, MergeStrategy, not_merged};
use crate::model::entity::{
    Entity, EntityName, EntityRef, EntityReview, MergeEntities, MergeEntitiesResult, MergeRecord,
    OwnTypes, ReviewProposal, UnmergeEntities, UnmergeEntitiesResult, with_own_type,
};
use crate::model::event::EventKind;
use crate::store::Tx;
use crate::verbs::Commonbook;

use crate::verbs::ops::find_visible::{
    append_entity_event, deleted_error, find_visible_entity, queue_review, resolve_ref,
    workspace_of_sight,
};
use crate::verbs::ops::write_once::WriteScope;

impl Commonbook {
    /// Merges an entity into another of its type.
    ///
    /// # Errors
    /// `invalid` if both are the same entity, or differ in type or session; `conflict` if one
    /// changed since it was read or is merged already; `not_found` if one is out of sight.
    pub fn merge_entities(
        &self,
        caller: &Caller,
        request: &MergeEntities,
    ) -> Result<MergeEntitiesResult> {
        self.follow_mentions(caller)?;
        let (wanted, rules) = (request.clone(), Arc::clone(&self.entity_rules));
        let now = self.clock.now();
        let review = ReviewId::new(&*self.ids, now);
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let source = resolve_exact(tx, &sight, &rules.own_types, &wanted.source)
                .map_err(|e| e.with_field("source"))?;
            let target = resolve_exact(tx, &sight, &rules.own_types, &wanted.target)
                .map_err(|e| e.with_field("target"))?;
            let versions =
                EntityVersions { source: wanted.source_version, target: wanted.target_version };
            let strategy = wanted.strategy.unwrap_or(rules.strategy);
            if strategy == MergeStrategy::Manual {
                merging::check_merge(&source, &target, versions)?;
                let (agent, at, entity) = (caller.agent.clone(), now, target.id);
                let wanted = ReviewProposal::Merged(source.id);
                queue_review(tx, &target, &EntityReview { id: review, agent, at, entity, wanted })?;
                return Ok(MergeEntitiesResult {
                    entity: target,
                    source: source.id,
                    review: Some(review),
                });
            }
            let author = MergeAuthor { agent: &caller.agent, at: now, operation: None };
            let entity = join_entities(tx, &source, &target, versions, strategy, author)?;
            Ok(MergeEntitiesResult { entity, source: source.id, review: None })
        })?;
        Ok(once.answer)
    }

    /// Undoes a merge.
    ///
    /// # Errors
    /// `conflict` if the merge was undone before, or if a later merge into the same entity was not
    /// undone yet; `not_found` if an entity is out of sight.
    pub fn unmerge_entities(
        &self,
        caller: &Caller,
        request: &UnmergeEntities,
    ) -> Result<UnmergeEntitiesResult> {
        self.follow_mentions(caller)?;
        let (wanted, rules) = (request.clone(), Arc::clone(&self.entity_rules));
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let source = resolve_exact(tx, &sight, &rules.own_types, &wanted.source)
                .map_err(|e| e.with_field("source"))?;
            split_entities(tx, &source, &caller.agent, now)
        })?;
        Ok(once.answer)
    }
}

/// The named entity itself, even if it was merged into another.
pub(super) fn resolve_exact(
    tx: &Tx<'_>,
    sight: &Sight,
    own: &OwnTypes,
    wanted: &EntityRef,
) -> Result<Entity> {
    let (workspace, wanted) = (workspace_of_sight(sight)?, &with_own_type(own, wanted));
    let id = match wanted {
        EntityRef::Id(id) => Some(*id),
        EntityRef::Named(named) => {
            let name = EntityName::of(workspace, None, named.entity_type, &named.value);
            name.map(|name| name.id)
        }
        EntityRef::Called(_) => None,
    };
    let led = id.map(|id| tx.entity(workspace, id)).transpose()?.flatten();
    match led.filter(|entity| entity.merged_into.is_some()) {
        Some(entity) => Ok(entity),
        None => find_visible_entity(tx, sight, resolve_ref(tx, sight, own, wanted)?),
    }
}

/// Who merges two entities, and when.
#[derive(Clone, Copy)]
pub(in crate::verbs) struct MergeAuthor<'m> {
    pub(in crate::verbs) agent: &'m Agent,
    pub(in crate::verbs) at: Timestamp,
    /// The consolidation that does it.
    pub(in crate::verbs) operation: Option<OperationId>,
}

/// Merges two entities into one.
pub(in crate::verbs) fn join_entities(
    tx: &mut Tx<'_>,
    source: &Entity,
    target: &Entity,
    versions: EntityVersions,
    strategy: MergeStrategy,
    MergeAuthor { agent, at, operation }: MergeAuthor<'_>,
) -> Result<Entity> {
    let joined = merging::merge_entities(source, target, versions, strategy, agent, at)?;
    let entity = keep_merge(tx, joined, operation)?;
    append_entity_event(tx, EventKind::EntityMerged, &entity, agent, at, &["merge_count"])?;
    Ok(entity)
}

/// Stores a merge, so that the names of its source lead to its target, and it can be undone.
pub(super) fn keep_merge(
    tx: &mut Tx<'_>,
    joined: EntityMerge,
    operation: Option<OperationId>,
) -> Result<Entity> {
    let (source, target) = (&joined.source, &joined.target);
    let workspace = &target.workspace;
    let names = tx.names_leading_to(workspace, source.id)?;
    for name in names.iter().chain([&source.id]) {
        tx.redirect_name(workspace, *name, target.id)?;
    }
    let mut filed: Vec<EntityId> = Vec::new();
    for entity in [&joined.target, &joined.source] {
        tx.put_entity(entity)?;
        tx.put_name(&entity.name(), true)?;
        if tx.file_name(&entity.name(), &name_keys(&entity.name()))? {
            filed.push(entity.id);
        }
    }
    let statements = tx.statement_count(workspace, target.id)?;
    let entity = joined.target.clone();
    let record = MergeRecord { joined, names, statements, filed, operation };
    tx.put_merge(&entity.workspace, &record)?;
    Ok(entity)
}

/// Undoes the merges of a consolidation; returns how many. One that went on into another entity stays.
pub(in crate::verbs) fn undo_merges(
    tx: &mut Tx<'_>,
    operation: &BulkOperation,
    agent: &Agent,
    at: Timestamp,
) -> Result<u64> {
    let mut undone = 0;
    for id in tx.merges_of(&operation.workspace, operation.id)? {
        let Some(source) = tx.entity(&operation.workspace, id)? else { continue };
        match split_entities(tx, &source, agent, at) {
            Ok(_) => undone += 1,
            // It is refused before anything changes.
            Err(error) if error.kind == ErrorKind::Conflict => {}
            Err(error) => return Err(error),
        }
    }
    Ok(undone)
}

/// Splits a merged entity into two again.
pub(in crate::verbs) fn split_entities(
    tx: &mut Tx<'_>,
    source: &Entity,
    agent: &Agent,
    at: Timestamp,
) -> Result<UnmergeEntitiesResult> {
    let workspace = &source.workspace;
    let Some(into) = source.merged_into else { return Err(not_merged(source.id)) };
    if let Some(gone) = tx.deleted_entity(workspace, into)? {
        return Err(deleted_error(&gone));
    }
    let target = tx.entity(workspace, into)?.ok_or_else(|| not_merged(source.id))?;
    if let Some(further) = target.merged_into {
        let message = format!("{into} was merged into {further} since");
        return Err(Error::conflict(message).hint(format!("Unmerge {into} first.")));
    }
    let kept = tx.last_merge(workspace, into)?.ok_or_else(|| not_merged(source.id))?;
    let last = kept.joined.source.id;
    if last != source.id {
        let message = format!("{last} was merged into {into} after {}", source.id);
        return Err(Error::conflict(message).hint(format!("Unmerge {last} first.")));
    }
    let since = tx.statements(workspace, into, kept.statements)?;
    let (target_back, source_back) =
        kept.joined.undo_merge(&target, source, &since, &kept.names)?;
    for name in &kept.names {
        tx.redirect_name(workspace, *name, source.id)?;
    }
    tx.redirect_name(workspace, source.id, source.id)?;
    for name in &kept.filed {
        tx.unfile_name(workspace, *name)?;
    }
    append_entity_event(tx, EventKind::EntityUnmerged, &target, agent, at, &[])?;
    for entity in [&target_back, &source_back] {
        match entity.version {
            0 => tx.drop_entity(workspace, entity.id)?,
            _ => {
                tx.put_entity(entity)?;
                tx.file_name(&entity.name(), &name_keys(&entity.name()))?;
            }
        }
    }
    tx.drop_statements(workspace, into, kept.statements)?;
    for statement in &since {
        let of_source = statement.name == source.id || kept.names.contains(&statement.name);
        tx.add_statement(workspace, if of_source { source.id } else { into }, statement)?;
    }
    tx.drop_merge(workspace, into)?;
    Ok(UnmergeEntitiesResult { source: source_back, target: target_back })
}
