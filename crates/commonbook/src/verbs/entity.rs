//! Finding, stating and reading entities.

mod conflicts;
pub(in crate::verbs) mod join;
pub(in crate::verbs) mod keep;
pub(in crate::verbs) mod review;

use std::sync::Arc;

use jiff::Timestamp;

use conflicts::OpenConflicts;

use super::Commonbook;
use crate::base::error::Result;
use crate::base::id::{EntityId, ReviewId};
use crate::base::page::{Page, PageCursor, PageSize};
use crate::base::{input, limits};
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::entity::merging::MergeStrategy;
use crate::model::entity::{
    Entity, EntityMention, EntityMentions, EntityName, EntityOutcome, EntityReview, EntitySighting,
    EntityStatement, FindEntity, GetEntity, ListEntities, ResolveEntity, ResolveEntityResult,
    ReviewProposal, check_type,
};
use crate::model::event::EventKind;
use crate::model::graph::EntityDetails;
use crate::store::{EntityNameFilter, Tx};
use crate::verbs::ops::find_visible::{
    append_entity_event, deleted_error, deleted_in_sight, find_visible_entity, no_such_entity,
    queue_review, resolve_ref, sees_deletion, workspace_of_sight,
};
use crate::verbs::ops::write_once::WriteScope;
use commonbook_text::entities::likeness::{self, ComparableName};
use commonbook_text::entities::value;

impl Commonbook {
    /// Finds an entity by its name or a similar one and adds the caller's statement about it;
    /// creates the entity if none is in sight.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field; `conflict` if the idempotency key was used for
    /// another request.
    pub fn resolve_entity(
        &self,
        caller: &Caller,
        request: &ResolveEntity,
    ) -> Result<ResolveEntityResult> {
        check_type(&self.entity_rules.own_types, "type", request.entity_type)?;
        self.follow_mentions(caller)?;
        let (statement, rules) = (request.clone(), Arc::clone(&self.entity_rules));
        let now = self.clock.now();
        let review = ReviewId::new(&*self.ids, now);
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let sight = Sight::writing_at_home(caller)?;
            let seen = EntitySighting::of(&statement, &caller.agent, now)?;
            let name = checked_name(&sight, statement.session.as_deref(), &seen)?;
            let strategy = statement.strategy.unwrap_or(rules.strategy);
            if let Some(gone) = deleted_in_sight(tx, &sight, name.id)? {
                return Err(deleted_error(&gone).with_field("value"));
            }
            match find_by_name(tx, &sight, &name, rules.threshold)? {
                None => create_entity(tx, &name, &seen, now),
                Some(id) if strategy == MergeStrategy::Manual => {
                    let entity = find_visible_entity(tx, &sight, id)?;
                    let (agent, at) = (caller.agent.clone(), now);
                    let wanted = ReviewProposal::Stated(Box::new(seen));
                    queue_review(
                        tx,
                        &entity,
                        &EntityReview { id: review, agent, at, entity: id, wanted },
                    )?;
                    Ok(ResolveEntityResult {
                        entity,
                        outcome: EntityOutcome::Queued,
                        review: Some(review),
                    })
                }
                Some(id) => {
                    let existing = find_visible_entity(tx, &sight, id)?;
                    let entity = merge_statement(tx, &existing, &name, &seen, strategy, now)?;
                    Ok(ResolveEntityResult {
                        entity,
                        outcome: EntityOutcome::Matched,
                        review: None,
                    })
                }
            }
        })?;
        Ok(once.answer)
    }

    /// Finds an entity by its name or a similar one. Changes nothing.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field, `not_found` if no such entity is in sight.
    pub fn find_entity(&self, caller: &Caller, request: &FindEntity) -> Result<Entity> {
        check_type(&self.entity_rules.own_types, "type", request.entity_type)?;
        self.follow_mentions(caller)?;
        let sight = Sight::reading_at_home(caller)?;
        let (kind, value) = (request.entity_type, &request.value);
        let value = input::line("value", value, limits::ENTITY_VALUE_CHARS)?;
        let session = request.session.as_deref();
        let session = session.map(|id| input::line("session", id, limits::SESSION_CHARS));
        let session = session.transpose()?;
        let name = EntityName::of(workspace_of_sight(&sight)?, session.as_deref(), kind, &value);
        let name = name.ok_or_else(|| no_such_entity(&value))?;
        let threshold = self.entity_rules.threshold;
        self.store.read(|tx| match find_by_name(tx, &sight, &name, threshold)? {
            Some(id) => find_visible_entity(tx, &sight, id),
            None => Err(no_such_entity(&value)),
        })
    }

    /// The page of an entity: the statements about it, its mentions and its relations.
    ///
    /// # Errors
    /// `not_found` if no such entity is in sight, `conflict` if several entities have this name.
    pub fn get_entity(&self, caller: &Caller, request: &GetEntity) -> Result<EntityDetails> {
        self.follow_mentions(caller)?;
        let (sight, now) = (Sight::reading_at_home(caller)?, self.clock.now());
        self.store.read(|tx| {
            let id = resolve_ref(tx, &sight, &self.entity_rules.own_types, &request.entity)?;
            let workspace = workspace_of_sight(&sight)?;
            let entity = find_visible_entity(tx, &sight, id)?;
            let entity = OpenConflicts::read(tx, &sight)?.counted(entity);
            let mut statements: Vec<EntityStatement> = Vec::new();
            for id in [id].into_iter().chain(tx.names_leading_to(workspace, id)?) {
                statements.extend(tx.statements(workspace, id, 0)?);
            }
            statements.sort_by_key(|statement| std::cmp::Reverse(statement.sighting.at));
            statements.truncate(limits::PAGE_STATEMENTS);
            let mentioned_by = tx.mentioning_agents(&sight, id)?;
            let memories = mentioned_by.iter().map(|audience| audience.memories).sum();
            let related = super::graph::related_entities(tx, &sight, id, now)?;
            Ok(EntityDetails { entity, memories, mentioned_by, statements, related })
        })
    }

    /// The entities in sight, by name.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range or the cursor is malformed.
    pub fn list_entities(&self, caller: &Caller, request: &ListEntities) -> Result<Page<Entity>> {
        if let Some(kind) = request.entity_type {
            check_type(&self.entity_rules.own_types, "type", kind)?;
        }
        self.follow_mentions(caller)?;
        let size = PageSize::of(request.limit)?;
        let after = request.cursor.as_ref().map(PageCursor::id).transpose()?;
        let sight = Sight::reading_at_home(caller)?;
        let line = |field: &str, text: &Option<String>, limit| {
            text.as_deref().map(|line| input::line(field, line, limit)).transpose()
        };
        let beginning = line("beginning", &request.beginning, limits::ENTITY_VALUE_CHARS)?;
        let wanted = EntityNameFilter {
            entity_type: request.entity_type,
            beginning: beginning.as_deref().map(value::fold_beginning),
            session: line("session", &request.session, limits::SESSION_CHARS)?,
            after,
        };
        if request.deleted {
            return self.store.read(|tx| deleted_entities(tx, &sight, &wanted, size));
        }
        self.store.read(|tx| {
            let conflicts = OpenConflicts::read(tx, &sight)?;
            let names = match request.conflicts {
                true => conflicts.names(tx, &sight, wanted.clone(), size.rows())?,
                false => tx.entity_names(&sight, &wanted, size.rows())?,
            };
            let Page { items: names, next } = size.page(names, |name| PageCursor::after(name.id));
            let entity = |name: &EntityName| {
                Ok(conflicts.counted(find_visible_entity(tx, &sight, name.id)?))
            };
            Ok(Page { items: names.iter().map(entity).collect::<Result<_>>()?, next })
        })
    }

    /// The memories in sight that mention an entity, by time.
    ///
    /// # Errors
    /// As [`Self::get_entity`]; `invalid` if the limit is out of range or the cursor is malformed.
    pub fn entity_mentions(
        &self,
        caller: &Caller,
        request: &EntityMentions,
    ) -> Result<Page<EntityMention>> {
        self.follow_mentions(caller)?;
        let size = PageSize::of(request.limit)?;
        let after =
            request.cursor.as_ref().map(PageCursor::position).transpose()?.unwrap_or_default();
        let sight = Sight::reading_at_home(caller)?;
        self.store.read(|tx| {
            let id = resolve_ref(tx, &sight, &self.entity_rules.own_types, &request.entity)?;
            Ok(size.page_by_position(tx.mentions(&sight, id, after, size.rows())?))
        })
    }
}

/// A page of the deleted entities in sight, by id.
fn deleted_entities(
    tx: &Tx<'_>,
    sight: &Sight,
    wanted: &EntityNameFilter,
    size: PageSize,
) -> Result<Page<Entity>> {
    let fits = |entity: &Entity| {
        sees_deletion(sight, entity)
            && wanted.entity_type.is_none_or(|kind| kind == entity.entity_type)
            && wanted.beginning.as_ref().is_none_or(|start| entity.normalised.starts_with(start))
            && (wanted.session.is_none() || wanted.session == entity.session)
    };
    let (mut after, mut found) = (wanted.after, Vec::new());
    loop {
        let some = tx.deleted_entities(workspace_of_sight(sight)?, after, limits::PAGE_MAX)?;
        let done = some.len() < limits::PAGE_MAX as usize;
        after = some.last().map(|entity| entity.id);
        found.extend(some.into_iter().filter(fits));
        if done || found.len() >= size.rows() as usize {
            return Ok(size.page(found, |entity| PageCursor::after(entity.id)));
        }
    }
}

/// The name in a statement, in the caller's workspace.
fn checked_name(sight: &Sight, session: Option<&str>, seen: &EntitySighting) -> Result<EntityName> {
    let session =
        session.map(|id| input::line("session", id, limits::SESSION_CHARS)).transpose()?;
    let workspace = workspace_of_sight(sight)?;
    EntityName::of(workspace, session.as_deref(), seen.entity_type, &seen.value)
        .ok_or_else(|| no_such_entity(&seen.value))
}

/// The entity in sight that has this name or a similar one.
fn find_by_name(
    tx: &Tx<'_>,
    sight: &Sight,
    name: &EntityName,
    threshold: f64,
) -> Result<Option<EntityId>> {
    for id in name.ids() {
        let root = tx.root(&name.workspace, id)?;
        if tx.sees_entity(sight, root)? {
            return Ok(Some(root));
        }
    }
    let written = ComparableName::of(name.entity_type, &name.value);
    let probes = likeness::probes(&written);
    if probes.is_empty() {
        return Ok(None);
    }
    let (mut roots, mut names) = (Vec::new(), Vec::new());
    for filed in tx.filed_names(name, &probes)? {
        let candidate = ComparableName::of(filed.entity_type, &filed.value);
        if likeness::nearly_same(&written, &candidate, threshold).is_none() {
            continue;
        }
        let root = tx.root(&name.workspace, filed.id)?;
        if !roots.contains(&root) && tx.sees_entity(sight, root)? {
            roots.push(root);
            names.push(candidate);
        }
    }
    let nearest = likeness::nearest(&written, names.iter(), threshold);
    Ok(nearest.and_then(|(place, _)| roots.get(place).copied()))
}

/// Creates an entity that is not in sight yet.
fn create_entity(
    tx: &mut Tx<'_>,
    name: &EntityName,
    seen: &EntitySighting,
    now: Timestamp,
) -> Result<ResolveEntityResult> {
    // An entity out of sight that this name redirects to must not show here.
    tx.redirect_name(&name.workspace, name.id, name.id)?;
    let empty = Entity::from_mention(name, seen.confidence, &seen.agent, now);
    let entity = merge_statement(tx, &empty, name, seen, MergeStrategy::default(), now)?;
    Ok(ResolveEntityResult { entity, outcome: EntityOutcome::Created, review: None })
}

/// Adds a statement to an entity, under the name that the statement uses.
fn merge_statement(
    tx: &mut Tx<'_>,
    existing: &Entity,
    name: &EntityName,
    seen: &EntitySighting,
    strategy: MergeStrategy,
    now: Timestamp,
) -> Result<Entity> {
    let entity = existing.with_statement(seen, strategy);
    let workspace = &entity.workspace;
    tx.put_entity(&entity)?;
    tx.put_name(&entity.name(), true)?;
    tx.file_name(&entity.name(), &name_keys(&entity.name()))?;
    if name.id != entity.id {
        tx.put_name(name, true)?;
        for led in tx.names_leading_to(workspace, name.id)?.into_iter().chain([name.id]) {
            tx.redirect_name(workspace, led, entity.id)?;
        }
    }
    let statement = EntityStatement { sighting: seen.clone(), strategy, name: name.id };
    tx.add_statement(workspace, entity.id, &statement)?;
    if existing.version == 0 {
        append_entity_event(tx, EventKind::EntityCreated, &entity, &seen.agent, now, &[])?;
    } else if entity.version != existing.version {
        let changed = existing.differing_fields(&entity);
        append_entity_event(tx, EventKind::EntityMerged, &entity, &seen.agent, now, &changed)?;
    }
    Ok(entity)
}

/// The keys under which similar names find this one.
pub(super) fn name_keys(name: &EntityName) -> Vec<String> {
    likeness::keys(&ComparableName::of(name.entity_type, &name.value))
}
