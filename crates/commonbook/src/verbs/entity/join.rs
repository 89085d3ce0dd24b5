//! Merging two entities, and taking it back.

use jiff::Timestamp;

use super::keys;
use crate::base::error::{Error, Result};
use crate::base::id::{EntityId, ReviewId};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::entity::merging::{self, Strategy, not_merged};
use crate::model::entity::{
    Entity, EntityName, EntityRef, KeptMerge, MergeEntities, Merged, Review, UnmergeEntities,
    Unmerged, Wanted,
};
use crate::model::event::EventKind;
use crate::store::Transaction;
use crate::verbs::Commonbook;

use crate::verbs::find_visible::{home, known, meant, queue, tell};

impl Commonbook {
    /// Merges one entity into another of its type.
    ///
    /// # Errors
    /// `invalid` for an entity with itself, of another type or session; `conflict` for one that
    /// changed since it was read or is merged already; `not_found` for one out of sight.
    pub fn merge_entities(&self, caller: &Caller, request: &MergeEntities) -> Result<Merged> {
        self.follow_mentions(caller)?;
        let (key, wanted) = (request.idempotency_key.as_ref(), request.clone());
        let review = ReviewId::new(&*self.ids, self.clock.now());
        let once =
            self.once(caller, ("merge_entities", request, key), move |tx, caller, now| {
                let sight = Sight::writing_at_home(caller)?;
                let source = exactly(tx, &sight, &wanted.source).map_err(|e| e.at("source"))?;
                let target = exactly(tx, &sight, &wanted.target).map_err(|e| e.at("target"))?;
                let read = (wanted.source_version, wanted.target_version);
                let strategy = wanted.strategy.unwrap_or_default();
                let by = (&caller.agent, now);
                if strategy == Strategy::Manual {
                    merging::check_merge(&source, &target, read)?;
                    let (agent, at, entity) = (caller.agent.clone(), now, target.id);
                    let wanted = Wanted::Merged(source.id);
                    queue(tx, &target, &Review { id: review, agent, at, entity, wanted })?;
                    return Ok(Merged { entity: target, source: source.id, review: Some(review) });
                }
                let entity = join(tx, (&source, &target), read, strategy, by)?;
                Ok(Merged { entity, source: source.id, review: None })
            })?;
        Ok(once.answer)
    }

    /// Takes a merge back.
    ///
    /// # Errors
    /// `conflict` when it was taken back already, or when a later merge into the same entity was
    /// not; `not_found` for an entity out of sight.
    pub fn unmerge_entities(&self, caller: &Caller, request: &UnmergeEntities) -> Result<Unmerged> {
        self.follow_mentions(caller)?;
        let (key, wanted) = (request.idempotency_key.as_ref(), request.clone());
        let once =
            self.once(caller, ("unmerge_entities", request, key), move |tx, caller, now| {
                let sight = Sight::writing_at_home(caller)?;
                let source = exactly(tx, &sight, &wanted.source).map_err(|e| e.at("source"))?;
                part(tx, &source, (&caller.agent, now))
            })?;
        Ok(once.answer)
    }
}

/// The thing that is meant, though it was merged into another.
pub(super) fn exactly(tx: &dyn Transaction, sight: &Sight, wanted: &EntityRef) -> Result<Entity> {
    let workspace = home(sight)?;
    let id = match wanted {
        EntityRef::Id(id) => Some(*id),
        EntityRef::Named(named) => {
            let name = EntityName::of((workspace, None), named.entity_type, &named.value);
            name.map(|name| name.id)
        }
        EntityRef::Called(_) => None,
    };
    let led = id.map(|id| tx.entity(workspace, id)).transpose()?.flatten();
    match led.filter(|entity| entity.merged_into.is_some()) {
        Some(entity) => Ok(entity),
        None => known(tx, sight, meant(tx, sight, wanted)?),
    }
}

/// Makes one entity of two.
pub(super) fn join(
    tx: &mut dyn Transaction,
    (source, target): (&Entity, &Entity),
    read: (Option<u64>, Option<u64>),
    strategy: Strategy,
    by: (&Agent, Timestamp),
) -> Result<Entity> {
    let joined = merging::merge_entities(source, target, read, strategy, by)?;
    let workspace = &target.workspace;
    let names = tx.led_to(workspace, source.id)?;
    for name in names.iter().chain([&source.id]) {
        tx.lead(workspace, *name, target.id)?;
    }
    let mut filed: Vec<EntityId> = Vec::new();
    for entity in [&joined.target, &joined.source] {
        tx.put_entity(entity)?;
        tx.put_name(&entity.name(), true)?;
        if tx.file_name(&entity.name(), &keys(&entity.name()))? {
            filed.push(entity.id);
        }
    }
    let statements = tx.statement_count(workspace, target.id)?;
    let entity = joined.target.clone();
    tx.put_merge(workspace, &KeptMerge { joined, names, statements, filed })?;
    tell(tx, EventKind::EntityMerged, &entity, by, &["merge_count"])?;
    Ok(entity)
}

/// Makes two entities again of what was merged.
fn part(tx: &mut dyn Transaction, source: &Entity, by: (&Agent, Timestamp)) -> Result<Unmerged> {
    let workspace = &source.workspace;
    let Some(into) = source.merged_into else { return Err(not_merged(source.id)) };
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
    let (target_back, source_back) = kept.joined.undone((&target, source), &since, &kept.names)?;
    for name in &kept.names {
        tx.lead(workspace, *name, source.id)?;
    }
    tx.lead(workspace, source.id, source.id)?;
    for name in &kept.filed {
        tx.unfile_name(workspace, *name)?;
    }
    tell(tx, EventKind::EntityUnmerged, &target, by, &[])?;
    for entity in [&target_back, &source_back] {
        match entity.version {
            0 => tx.drop_entity(workspace, entity.id)?,
            _ => {
                tx.put_entity(entity)?;
                tx.file_name(&entity.name(), &keys(&entity.name()))?;
            }
        }
    }
    tx.drop_statements(workspace, into, kept.statements)?;
    for said in &since {
        let of_source = said.name == source.id || kept.names.contains(&said.name);
        tx.add_statement(workspace, if of_source { source.id } else { into }, said)?;
    }
    tx.drop_merge(workspace, into)?;
    Ok(Unmerged { source: source_back, target: target_back })
}
