//! How a purge takes back one thing that an agent did: what it finds, what it changes, what stays.

use std::collections::BTreeSet;

use super::trace::{PlannedTrace, PurgeScope, TraceSubject};
use crate::base::error::{ErrorKind, Result};
use crate::base::id::{CheckpointId, ContradictionId, EntityId, HandoffId, MemoryId, SessionId};
use crate::base::key::CaseKey;
use crate::model::access::StoredMemory;
use crate::model::bulk::{BulkItem, PurgeTrace, TraceFate, TraceKind};
use crate::model::case::Case;
use crate::model::checkpoint::Checkpoint;
use crate::model::entity::{Entity, EntityName, EntityReview, EntityStatement, MergeRecord};
use crate::model::event::{EventFilter, EventKind, JournalRange, NewEvent, SubjectName};
use crate::model::graph::Relation;
use crate::model::handoff::{Handoff, HandoffStatus, HandoffStep, StepAttempt};
use crate::model::memory::{Memory, Retraction, changed_fields};
use crate::model::session::Session;
use crate::store::Tx;
use crate::verbs::case::case_event;
use crate::verbs::checkpoint::find_checkpoint;
use crate::verbs::contradiction::reopen::reopen;
use crate::verbs::entity::join::split_entities;
use crate::verbs::entity::keep::restore;
use crate::verbs::memory::MemoryChange;
use crate::verbs::ops::find_visible::append_entity_event;
use crate::verbs::retraction::RETRACTION_FIELDS;
use crate::verbs::session::session_event;
use crate::verbs::undo::earlier_state;

/// The reason of a retraction by a purge.
const PURGE_REASON: &str = "A purge took back what its author did.";

/// What takes a trace back.
pub(super) enum TraceChange {
    Retract(Box<StoredMemory>),
    Restore { present: Box<StoredMemory>, before: Box<StoredMemory> },
    Withdraw { before: Box<Handoff>, after: Box<Handoff> },
    Rename { case: Box<Case>, changed: Vec<&'static str> },
    DropCheckpoint { checkpoint: Box<Checkpoint>, session: Box<Session> },
    RestoreEntity(Box<Entity>),
    Split(EntityId),
    Restate { entity: Box<Entity>, rest: Vec<EntityStatement>, names: Vec<EntityId> },
    DropReview(Box<EntityReview>),
    Reopen(ContradictionId),
    DropRelation(Box<Relation>),
}

/// A trace that the purge takes back.
#[expect(clippy::needless_pass_by_value, reason = "an id is small")]
fn taken_back(
    kind: TraceKind,
    id: impl ToString,
    fate: TraceFate,
    remains: Option<String>,
    change: TraceChange,
) -> PlannedTrace {
    let trace = PurgeTrace { kind, id: id.to_string(), fate, remains };
    PlannedTrace { trace, change: Some(change) }
}

/// A trace that stays.
#[expect(clippy::needless_pass_by_value, reason = "an id is small")]
fn stays(kind: TraceKind, id: impl ToString, why: impl Into<String>) -> PlannedTrace {
    let (id, remains) = (id.to_string(), Some(why.into()));
    PlannedTrace { trace: PurgeTrace { kind, id, fate: TraceFate::Stays, remains }, change: None }
}

impl PurgeScope {
    /// What the purge does with this subject; `None` if the agent left nothing there.
    pub(super) fn plan(&self, tx: &Tx<'_>, subject: &TraceSubject) -> Result<Option<PlannedTrace>> {
        let workspace = &self.caller.workspace;
        match subject {
            TraceSubject::Written(id) => self.plan_written(tx, *id),
            TraceSubject::Digested(id) => self.plan_digested(tx, *id),
            TraceSubject::Derived(id) => self.plan_derived(tx, id),
            TraceSubject::Session(id) => self.plan_session(tx, *id),
            TraceSubject::Checkpoint(id) => self.plan_checkpoint(tx, *id),
            TraceSubject::Handoff(id) => self.plan_handoff(tx, *id),
            TraceSubject::Case(key) => self.plan_case(tx, key),
            TraceSubject::CaseCourse(key) => Ok(Some(stays(
                TraceKind::Case,
                key,
                "it closed, archived, reopened, merged or decided on the case: see its events, and \
                 set the status again",
            ))),
            TraceSubject::Deleted(id) => {
                let own = tx.deleted_entity(workspace, *id)?.filter(|gone| {
                    let by = gone.deleted.as_ref();
                    by.is_some_and(|by| self.selection.is_by(&by.agent, by.at))
                });
                Ok(own.map(|gone| {
                    let change = TraceChange::RestoreEntity(Box::new(gone));
                    taken_back(TraceKind::Entity, id, TraceFate::Restored, None, change)
                }))
            }
            TraceSubject::Unrelated(id) => Ok(Some(stays(
                TraceKind::Relation,
                id,
                "it removed the relation: state it again with `add_relation`",
            ))),
            TraceSubject::Merged(id) => self.plan_merge(tx, *id),
            TraceSubject::Stated(id) => self.plan_statements(tx, *id),
            TraceSubject::Queued(id) => Ok(tx.review(workspace, *id)?.map(|review| {
                let change = TraceChange::DropReview(Box::new(review));
                taken_back(TraceKind::Review, id, TraceFate::Removed, None, change)
            })),
            TraceSubject::Resolved(id) => self.plan_resolution(tx, *id),
            TraceSubject::Related(id) => {
                let found = tx.relation_with_id(workspace, *id)?;
                let own = found.filter(|relation| {
                    self.selection.is_by(&relation.author, relation.recorded_at)
                });
                Ok(own.map(|relation| match relation.count {
                    1 => {
                        let change = TraceChange::DropRelation(Box::new(relation));
                        taken_back(TraceKind::Relation, id, TraceFate::Removed, None, change)
                    }
                    _ => stays(TraceKind::Relation, id, "it was stated more than once"),
                }))
            }
            TraceSubject::Webhook(id) => Ok(Some(stays(
                TraceKind::Webhook,
                id,
                "it goes on sending events: remove it with `delete_webhook`",
            ))),
        }
    }

    /// A memory or an entry that the agent wrote or changed.
    fn plan_written(&self, tx: &Tx<'_>, id: MemoryId) -> Result<Option<PlannedTrace>> {
        let Some(memory) = tx.memory(&self.sight, id)? else { return Ok(None) };
        let is_new = self.selection.is_by(&memory.owner, memory.recorded_at);
        if is_new {
            // The memories themselves go with the operation.
            return Ok(memory.case.is_some().then(|| retraction_of(memory)));
        }
        if is_purged(&memory) {
            return Ok(Some(retraction_of(memory)));
        }
        let kind = if memory.case.is_some() { TraceKind::Entry } else { TraceKind::Memory };
        let is_its = |state: &Memory| self.selection.is_by(&state.revised_by, state.revised_at);
        let earlier = tx.earlier_revisions(&self.sight, id)?;
        let before = earlier.iter().rev().find(|state| !is_its(state));
        if !is_its(&memory) {
            let changed = earlier.iter().any(|state| is_its(state));
            let why = "another agent changed it after this one: compare with `memory_history`";
            return Ok(changed.then(|| stays(kind, id, why)));
        }
        let gone = "it has no earlier revision left: see `memory_history`";
        let Some(before) = before else { return Ok(Some(stays(kind, id, gone))) };
        match earlier_state(tx, &self.caller, &memory, before) {
            Ok(after)
                if after.deleted_at == memory.deleted_at
                    && restored_fields(&memory, &after).is_empty() =>
            {
                return Ok(None);
            }
            Ok(_) => {}
            Err(error) if error.kind == ErrorKind::Unavailable => return Err(error),
            Err(error) => return Ok(Some(stays(kind, id, error.message))),
        }
        let change =
            TraceChange::Restore { present: Box::new(memory), before: Box::new(before.clone()) };
        let remains = Some("its earlier revisions, in `memory_history`".to_owned());
        Ok(Some(taken_back(kind, id, TraceFate::Restored, remains, change)))
    }

    /// An entry that a digest made of the agent's memories.
    fn plan_digested(&self, tx: &Tx<'_>, id: MemoryId) -> Result<Option<PlannedTrace>> {
        let found = tx.memory(&self.sight, id)?;
        let others = found.filter(|memory| {
            memory.deleted_at.is_none()
                && !self.selection.is_by(&memory.owner, memory.recorded_at)
                && (memory.retraction.is_none() || is_purged(memory))
        });
        Ok(others.map(retraction_of))
    }

    /// What another agent made of the agent's memories.
    fn plan_derived(&self, tx: &Tx<'_>, id: &str) -> Result<Option<PlannedTrace>> {
        let why = "another agent made it of a purged memory: review it";
        if let Some(id) = HandoffId::parse(id) {
            return Ok(Some(stays(TraceKind::Handoff, id, why)));
        }
        let Some(id) = MemoryId::parse(id) else { return Ok(None) };
        let found = tx.memory(&self.sight, id)?;
        let others = found.filter(|memory| {
            memory.deleted_at.is_none() && !self.selection.is_by(&memory.owner, memory.recorded_at)
        });
        Ok(others.map(|_| stays(TraceKind::Memory, id, why)))
    }

    /// A session of the agent, for which Commonbook may have written a summary.
    fn plan_session(&self, tx: &Tx<'_>, id: SessionId) -> Result<Option<PlannedTrace>> {
        let session = tx.session(&self.sight, id)?;
        let summary = session.and_then(|session| session.summary);
        let Some(summary) = summary else { return Ok(None) };
        self.plan_digested(tx, summary)
    }

    fn plan_checkpoint(&self, tx: &Tx<'_>, id: CheckpointId) -> Result<Option<PlannedTrace>> {
        let (checkpoint, session) = match find_checkpoint(tx, &self.caller, &self.sight, id) {
            Ok(found) => found,
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let (checkpoint, session) = (Box::new(checkpoint), Box::new(session));
        let change = TraceChange::DropCheckpoint { checkpoint, session };
        Ok(Some(taken_back(TraceKind::Checkpoint, id, TraceFate::Removed, None, change)))
    }

    fn plan_handoff(&self, tx: &Tx<'_>, id: HandoffId) -> Result<Option<PlannedTrace>> {
        let Some(before) = tx.handoff(&self.sight, id)? else { return Ok(None) };
        let kind = TraceKind::Handoff;
        if !self.selection.is_by(&before.from, before.created_at) {
            let why = format!("it is {} by this agent, with what it noted", before.status);
            return Ok(Some(stays(kind, id, why)));
        }
        if before.status != HandoffStatus::Pending {
            let why = format!("it is {}: {} has its text", before.status, before.to);
            return Ok(Some(stays(kind, id, why)));
        }
        let (by, at) = (&before.from, self.operation.at);
        let step = HandoffStep::Withdraw;
        let taken = StepAttempt { step, by, session: None, note: None, at, target_seen: None };
        let Some(after) = before.apply_step(taken)? else { return Ok(None) };
        let remains = Some("its text, in the list of ended handoffs".to_owned());
        let change = TraceChange::Withdraw { before: Box::new(before), after: Box::new(after) };
        Ok(Some(taken_back(kind, id, TraceFate::Withdrawn, remains, change)))
    }

    /// A case that the agent opened or renamed: its title and labels go if the agent gave them last.
    fn plan_case(&self, tx: &Tx<'_>, key: &str) -> Result<Option<PlannedTrace>> {
        let workspace = &self.caller.workspace;
        let case = match key.parse::<CaseKey>() {
            Ok(key) => tx.case(workspace, &key)?,
            Err(_) => None,
        };
        let Some(before) = case else { return Ok(None) };
        let openings = [EventKind::CaseOpened, EventKind::CaseBranched];
        let filter = EventFilter {
            kinds: [&openings[..], &[EventKind::CaseUpdated]].concat(),
            subject: Some(SubjectName { id: key.to_owned(), ending: None }),
            ..EventFilter::default()
        };
        let until = tx.journal_end(workspace)?;
        let range = JournalRange { workspace: workspace.clone(), after: 0, until, filter };
        let events = tx.events(&self.sight, &range, u32::MAX)?;
        let gave = |field: &str| {
            let gives = |kind: EventKind, changed: &[String]| {
                openings.contains(&kind) || changed.iter().any(|name| name == field)
            };
            let last = events.iter().rev().find(|event| gives(event.kind, &event.changed));
            last.is_some_and(|event| self.selection.is_by(&event.actor, event.at))
        };
        let mut after = before.clone();
        if gave("title") {
            key.clone_into(&mut after.title);
        }
        if gave("labels") {
            after.labels.clear();
        }
        if gave("lead") {
            after.lead = None;
        }
        let changed: Vec<&str> = [
            ("title", after.title != before.title),
            ("labels", after.labels != before.labels),
            ("lead", after.lead != before.lead),
        ]
        .into_iter()
        .filter_map(|(field, differs)| differs.then_some(field))
        .collect();
        let opened = self.selection.is_by(&before.opened_by, before.opened_at);
        let remains = opened.then(|| "the case and its key, which nothing renames".to_owned());
        let kind = TraceKind::Case;
        if changed.is_empty() {
            return Ok(remains.map(|why| stays(kind, key, why)));
        }
        after.revision += 1;
        after.changed_at = self.operation.at.max(before.changed_at);
        let change = TraceChange::Rename { case: Box::new(after), changed };
        Ok(Some(taken_back(kind, key, TraceFate::Renamed, remains, change)))
    }

    fn is_its_merge(&self, merge: &MergeRecord) -> bool {
        let Entity { last_agent, last_seen, .. } = &merge.joined.target;
        self.selection.is_by(last_agent, *last_seen)
    }

    fn plan_merge(&self, tx: &Tx<'_>, id: EntityId) -> Result<Option<PlannedTrace>> {
        let workspace = &self.caller.workspace;
        let merge = tx.last_merge(workspace, id)?.filter(|merge| self.is_its_merge(merge));
        let Some(merge) = merge else { return Ok(None) };
        let target = tx.entity(workspace, id)?;
        let (kind, source) = (TraceKind::Entity, merge.joined.source.id);
        if target.is_none_or(|target| target.merged_into.is_some()) {
            let why = "the merged entity was merged on: undo that with `unmerge_entities` first";
            return Ok(Some(stays(kind, source, why)));
        }
        Ok(Some(taken_back(kind, source, TraceFate::Restored, None, TraceChange::Split(id))))
    }

    fn plan_statements(&self, tx: &Tx<'_>, id: EntityId) -> Result<Option<PlannedTrace>> {
        let workspace = &self.caller.workspace;
        let Some(entity) = tx.entity(workspace, id)? else { return Ok(None) };
        let kind = TraceKind::Entity;
        let statements = tx.statements(workspace, id, 0)?.into_iter();
        let (own, rest): (Vec<EntityStatement>, Vec<EntityStatement>) =
            statements.partition(|EntityStatement { sighting, .. }| {
                self.selection.is_by(&sighting.agent, sighting.at)
            });
        if own.is_empty() {
            return Ok(None);
        }
        let joined = tx.last_merge(workspace, id)?.is_some_and(|merge| !self.is_its_merge(&merge));
        if joined || entity.merged_into.is_some() {
            let why = "its statements were merged by another agent: undo that with \
                       `unmerge_entities`, and purge again";
            return Ok(Some(stays(kind, id, why)));
        }
        let kept: BTreeSet<EntityId> = rest.iter().map(|statement| statement.name).collect();
        let names: BTreeSet<EntityId> = own.iter().map(|statement| statement.name).collect();
        let names = names.into_iter().filter(|name| *name != id && !kept.contains(name)).collect();
        let change = TraceChange::Restate { entity: Box::new(entity), rest, names };
        Ok(Some(taken_back(kind, id, TraceFate::Removed, None, change)))
    }

    fn plan_resolution(&self, tx: &Tx<'_>, id: ContradictionId) -> Result<Option<PlannedTrace>> {
        let Some((record, older, newer)) = tx.contradiction(&self.sight, id)? else {
            return Ok(None);
        };
        let kind = TraceKind::Contradiction;
        let Some(resolved) = record.resolved else { return Ok(None) };
        if !self.selection.is_by(&resolved.resolved_by, resolved.resolved_at) {
            return Ok(Some(stays(
                kind,
                id,
                "another agent decided on a purged memory: review it",
            )));
        }
        let moved_on = |memory: &Memory| {
            memory.superseded_by.is_some() && memory.superseded_by != resolved.kept
        };
        if resolved.kept.is_some() && (moved_on(&older) || moved_on(&newer)) {
            return Ok(Some(stays(kind, id, "one of its memories was superseded again since")));
        }
        Ok(Some(taken_back(kind, id, TraceFate::Restored, None, TraceChange::Reopen(id))))
    }

    /// Takes one trace back.
    pub(super) fn apply(&self, tx: &mut Tx<'_>, change: TraceChange) -> Result<()> {
        let (caller, now) = (&self.caller, self.operation.at);
        let agent = &caller.agent;
        match change {
            TraceChange::Retract(memory) if memory.retraction.is_some() => Ok(()),
            TraceChange::Retract(memory) => {
                let (reason, by) = (PURGE_REASON.to_owned(), agent.clone());
                let retraction = Some(Retraction { reason, by, at: now });
                let after = memory.with(|after| after.retraction = retraction);
                let kind = EventKind::MemoryRetracted;
                let change = MemoryChange { kind, fields: RETRACTION_FIELDS, caller, now };
                let revision = change.write(tx, &memory, after)?.revision;
                let (memory, owner) = (memory.id, memory.owner.clone());
                tx.add_bulk_item(&self.operation, &BulkItem { memory, owner, revision })
            }
            TraceChange::Restore { present, before } => {
                let after = earlier_state(&*tx, caller, &present, &before)?;
                let (kind, fields) = match (present.deleted_at, after.deleted_at) {
                    (None, Some(_)) => (EventKind::MemoryDeleted, Vec::new()),
                    (Some(_), None) => (EventKind::MemoryRestored, Vec::new()),
                    _ => (EventKind::MemoryUpdated, restored_fields(&present, &after)),
                };
                let change = MemoryChange { kind, fields: &fields, caller, now };
                change.write(tx, &present, after).map(drop)
            }
            TraceChange::Withdraw { before, after } => {
                let event = before.event(EventKind::HandoffWithdrawn, agent, now);
                let sequence = tx.append_event(&event)?;
                tx.step_handoff(&after, sequence)
            }
            TraceChange::Rename { case, changed } => {
                tx.replace_case(&case)?;
                let event = case_event(EventKind::CaseUpdated, &case, caller, now);
                tx.append_event(&event.with_changed_fields(&changed)).map(drop)
            }
            TraceChange::DropCheckpoint { checkpoint, session } => {
                tx.drop_checkpoint(&checkpoint)?;
                let event = session_event(EventKind::CheckpointDeleted, &session, agent, now);
                let subject = checkpoint.id.to_string();
                tx.append_event(&NewEvent { subject, ..event }).map(drop)
            }
            TraceChange::RestoreEntity(gone) => {
                restore(tx, &gone, self.mention_rules, agent, now).map(drop)
            }
            TraceChange::Split(target) => self.split_merges(tx, target),
            TraceChange::Restate { entity, rest, names } => {
                self.restate(tx, &entity, &rest, &names)
            }
            TraceChange::DropReview(review) => {
                tx.drop_review(&caller.workspace, review.id)?;
                match tx.entity(&caller.workspace, review.entity)? {
                    Some(entity) => {
                        let kind = EventKind::EntityDismissed;
                        append_entity_event(tx, kind, &entity, agent, now, &[])
                    }
                    None => Ok(()),
                }
            }
            TraceChange::Reopen(id) => reopen(tx, caller, &self.sight, id, now).map(drop),
            TraceChange::DropRelation(relation) => tx.drop_relation(&relation),
        }
    }

    /// Undoes the agent's merges into an entity, the newest first.
    fn split_merges(&self, tx: &mut Tx<'_>, target: EntityId) -> Result<()> {
        let workspace = &self.caller.workspace;
        while let Some(merge) = tx.last_merge(workspace, target)? {
            let source = tx.entity(workspace, merge.joined.source.id)?;
            let Some(source) = source.filter(|_| self.is_its_merge(&merge)) else { break };
            split_entities(tx, &source, &self.caller.agent, self.operation.at)?;
        }
        Ok(())
    }

    /// Makes an entity of the statements of others alone, and drops the names that only the agent gave it.
    fn restate(
        &self,
        tx: &mut Tx<'_>,
        entity: &Entity,
        rest: &[EntityStatement],
        names: &[EntityId],
    ) -> Result<()> {
        let (workspace, agent) = (&entity.workspace, &self.caller.agent);
        let (kind, at) = (EventKind::EntityMerged, self.operation.at);
        append_entity_event(tx, kind, entity, agent, at, &["statements"])?;
        tx.drop_statements(workspace, entity.id, 0)?;
        for name in names {
            tx.redirect_name(workspace, *name, *name)?;
            tx.unfile_name(workspace, *name)?;
            tx.drop_entity(workspace, *name)?;
        }
        let Some(first) = rest.first() else {
            tx.unfile_name(workspace, entity.id)?;
            return tx.drop_entity(workspace, entity.id);
        };
        let name = EntityName { value: first.sighting.value.clone(), ..entity.name() };
        let seen = &first.sighting;
        let mut restated = Entity::from_mention(&name, seen.confidence, &seen.agent, seen.at);
        for statement in rest {
            restated = restated.with_statement(&statement.sighting, statement.strategy);
            tx.add_statement(workspace, entity.id, statement)?;
        }
        restated.version = entity.version + 1;
        restated.merge_count = entity.merge_count;
        tx.put_entity(&restated)
    }
}

/// The fields of a memory that it has again as before.
fn restored_fields(present: &Memory, after: &Memory) -> Vec<&'static str> {
    let mut fields = changed_fields(present, after);
    fields.extend((present.superseded_by != after.superseded_by).then_some("superseded_by"));
    fields.extend((present.retraction != after.retraction).then_some("retraction"));
    fields
}

/// Whether a purge retracted it.
fn is_purged(memory: &Memory) -> bool {
    memory.retraction.as_ref().is_some_and(|retraction| retraction.reason == PURGE_REASON)
}

/// The retraction of an entry or summary; its text stays where it is.
fn retraction_of(memory: StoredMemory) -> PlannedTrace {
    let kind = if memory.case.is_some() { TraceKind::Entry } else { TraceKind::Memory };
    let remains = match &memory.case {
        Some(case) => {
            format!("its text, marked as wrong, in case {case}; `forget_memory` removes it")
        }
        None => "its text, marked as wrong; `forget_memory` removes it".to_owned(),
    };
    let id = memory.id;
    let change = TraceChange::Retract(Box::new(memory));
    taken_back(kind, id, TraceFate::Retracted, Some(remains), change)
}
