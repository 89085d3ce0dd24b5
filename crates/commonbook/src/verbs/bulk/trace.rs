//! What an agent did beside saving memories: found in the journal, and taken back by a purge.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::trace_change::TraceChange;
use crate::base::error::Result;
use crate::base::id::{
    CheckpointId, ContradictionId, EntityId, HandoffId, MemoryId, RelationId, ReviewId, SessionId,
    WebhookId,
};
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::bulk::{BulkOperation, BulkSelection, PurgeTrace, TraceFate, TraceKind};
use crate::model::caller::Caller;
use crate::model::case::digest::digest_sources;
use crate::model::event::{Event, EventFilter, EventKind, JournalRange};
use crate::model::lineage::DerivedId;
use crate::model::memory::{ListOrder, Memory};
use crate::model::search::MemoryFilter;
use crate::store::Tx;
use crate::verbs::Commonbook;

/// Events or memories that are read at once.
const TRACE_PAGE: u32 = 2_000;

/// Traces per transaction; other writers get their turn in between.
const TRACE_BATCH_MAX: usize = 100;

/// Something that the agent touched. Decisions and merges come before the memories, statements and
/// relations that they changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TraceSubject {
    /// A contradiction that it resolved.
    Resolved(ContradictionId),
    /// A memory or an entry that it wrote or changed.
    Written(MemoryId),
    /// An entry that a digest made of its memories.
    Digested(MemoryId),
    /// What others derived from its memories.
    Derived(String),
    /// A session that it started or ended.
    Session(SessionId),
    /// A checkpoint that it made.
    Checkpoint(CheckpointId),
    /// A handoff that it created, took or ended.
    Handoff(HandoffId),
    /// A case that it opened or renamed, by key.
    Case(String),
    /// A case on whose course it decided, by key.
    CaseCourse(String),
    /// An entity that it deleted.
    Deleted(EntityId),
    /// An entity into which it merged others.
    Merged(EntityId),
    /// An entity about which it stated something.
    Stated(EntityId),
    /// What it queued.
    Queued(ReviewId),
    /// A relation that it stated.
    Related(RelationId),
    /// A relation that it removed.
    Unrelated(RelationId),
    /// A webhook that it registered.
    Webhook(WebhookId),
}

/// Who purges what.
#[derive(Clone)]
pub(super) struct PurgeScope {
    pub(super) caller: Caller,
    pub(super) sight: Sight,
    /// The revision of the rules that find mentions.
    pub(super) mention_rules: u32,
    pub(super) selection: BulkSelection,
    pub(super) operation: BulkOperation,
}

/// A trace, and what takes it back.
pub(super) struct PlannedTrace {
    pub(super) trace: PurgeTrace,
    pub(super) change: Option<TraceChange>,
}

impl Commonbook {
    /// Takes back what the agents of a selection did beside saving memories, or says what it would do.
    /// Only the memories of the selection stay for the caller.
    pub(super) fn purge_traces(
        &self,
        caller: &Caller,
        selection: &BulkSelection,
        operation: &BulkOperation,
        dry_run: bool,
    ) -> Result<Vec<PurgeTrace>> {
        let scope = PurgeScope {
            caller: caller.clone(),
            sight: Sight::writing_at_home(caller)?,
            mention_rules: self.mention_rules(),
            selection: selection.clone(),
            operation: operation.clone(),
        };
        let (subjects, has_topics) = self.store.read(|tx| scope.subjects(tx))?;
        let subjects: Vec<TraceSubject> = subjects.into_iter().collect();
        let mut traces = Vec::new();
        for batch in subjects.chunks(TRACE_BATCH_MAX) {
            traces.extend(match dry_run {
                true => self.store.read(|tx| scope.preview(tx, batch))?,
                false => {
                    let (scope, batch) = (scope.clone(), batch.to_vec());
                    self.write_as(caller, operation.at, move |tx, _| scope.take_back(tx, &batch))?
                }
            });
        }
        traces.extend(has_topics.then(|| PurgeTrace {
            kind: TraceKind::Journal,
            id: caller.workspace.to_string(),
            fate: TraceFate::Stays,
            remains: Some(
                "its events, with the topics of its memories until those are removed".to_owned(),
            ),
        }));
        Ok(traces)
    }
}

impl PurgeScope {
    fn preview(&self, tx: &Tx<'_>, batch: &[TraceSubject]) -> Result<Vec<PurgeTrace>> {
        let planned = batch.iter().map(|subject| self.plan(tx, subject));
        planned
            .filter_map(|plan| plan.map(|plan| plan.map(|plan| plan.trace)).transpose())
            .collect()
    }

    fn take_back(&self, tx: &mut Tx<'_>, batch: &[TraceSubject]) -> Result<Vec<PurgeTrace>> {
        tx.put_bulk_operation(&self.operation)?;
        let mut traces = Vec::new();
        for subject in batch {
            let Some(PlannedTrace { trace, change }) = self.plan(&*tx, subject)? else { continue };
            if let Some(change) = change {
                self.apply(tx, change)?;
            }
            traces.push(trace);
        }
        Ok(traces)
    }

    /// Everything that the selected agents touched, and whether an event of theirs has topics.
    fn subjects(&self, tx: &Tx<'_>) -> Result<(BTreeSet<TraceSubject>, bool)> {
        let workspace = &self.caller.workspace;
        let (mut found, mut has_topics) = (BTreeSet::new(), false);
        let (since, until) = self.selection.bounds();
        let actor = Some(self.caller.agent.clone());
        let filter = EventFilter { actor, since, until, ..EventFilter::default() };
        let mut range = JournalRange {
            workspace: workspace.clone(),
            after: 0,
            until: tx.journal_end(workspace)?,
            filter,
        };
        loop {
            let events = tx.events(&self.sight, &range, TRACE_PAGE)?;
            let Some(last) = events.last() else { break };
            range.after = last.sequence;
            has_topics |= events.iter().any(|event| !event.topics.is_empty());
            found.extend(events.iter().flat_map(subjects_of));
        }
        self.made_of_memories(tx, &mut found)?;
        // An older memory of the agent may have been spoilt since.
        let written = found.iter().filter_map(|subject| match subject {
            TraceSubject::Written(id) => Some(*id),
            _ => None,
        });
        for id in written.collect::<Vec<MemoryId>>() {
            let changed = tx
                .memory(&self.sight, id)?
                .filter(|memory| self.selection.is_by(&memory.revised_by, memory.revised_at));
            if let Some(memory) = changed.filter(|memory| !self.selection.fits(memory)) {
                self.made_of(tx, &memory, &mut found)?;
            }
        }
        let mut after = None;
        loop {
            let reviews = tx.reviews(workspace, after, TRACE_PAGE)?;
            let Some(last) = reviews.last() else { break };
            after = Some(last.id);
            let own =
                reviews.iter().filter(|review| self.selection.is_by(&review.agent, review.at));
            found.extend(own.map(|review| TraceSubject::Queued(review.id)));
        }
        let webhooks = tx.webhooks()?.into_iter().filter(|webhook| {
            webhook.workspace == *workspace
                && self.selection.is_by(&webhook.agent, webhook.created_at)
        });
        found.extend(webhooks.map(|webhook| TraceSubject::Webhook(webhook.id)));
        Ok((found, has_topics))
    }

    /// What was made of the selected memories.
    fn made_of_memories(&self, tx: &Tx<'_>, found: &mut BTreeSet<TraceSubject>) -> Result<()> {
        let (filter, mut from) = (MemoryFilter::default(), None);
        loop {
            let page = tx.memories(&self.sight, &filter, ListOrder::Oldest, from, TRACE_PAGE)?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            from = Some(*last);
            for (_, memory) in page.iter().filter(|(_, memory)| self.selection.fits(memory)) {
                self.made_of(tx, memory, found)?;
            }
        }
    }

    /// What was made of a memory at the time of the selection.
    fn made_of(
        &self,
        tx: &Tx<'_>,
        memory: &Memory,
        found: &mut BTreeSet<TraceSubject>,
    ) -> Result<()> {
        let most = limits::RADIUS_MEMORIES;
        let entries = tx.digest_entries(&self.sight, memory, most)?.into_iter();
        let (since, _) = self.selection.bounds();
        let is_late = |at: Timestamp| since.is_none_or(|since| at >= since);
        let quoting = entries.filter(|entry| {
            is_late(entry.recorded_at) && digest_sources(entry).contains(&memory.id)
        });
        found.extend(quoting.map(|entry| TraceSubject::Digested(entry.id)));
        let derived = tx.derived_from(&memory.workspace, memory.id, most)?.into_iter();
        let here = derived
            .filter(|basis| basis.workspace == self.caller.workspace && is_late(basis.recorded_at));
        found.extend(here.map(|basis| match basis.derived {
            DerivedId::Memory(_) | DerivedId::Handoff(_) => {
                TraceSubject::Derived(basis.derived.to_string())
            }
            DerivedId::Resolution(id) => TraceSubject::Resolved(id),
        }));
        Ok(())
    }
}

/// What an event touched, if a purge can take that back or must name it.
fn subjects_of(event: &Event) -> Vec<TraceSubject> {
    let id = &event.subject;
    let entity = |id: &str| {
        let id = EntityId::parse(id);
        id.into_iter().flat_map(|id| [TraceSubject::Merged(id), TraceSubject::Stated(id)]).collect()
    };
    let one = |subject: Option<TraceSubject>| subject.into_iter().collect();
    match event.kind {
        EventKind::MemorySaved
        | EventKind::MemoryUpdated
        | EventKind::MemorySuperseded
        | EventKind::MemoryRetracted
        | EventKind::MemoryDeleted
        | EventKind::MemoryRestored
        | EventKind::MemoryReleased
        | EventKind::MemoryAppealed => one(MemoryId::parse(id).map(TraceSubject::Written)),
        EventKind::EntityCreated
        | EventKind::EntityMerged
        | EventKind::EntityRenamed
        | EventKind::EntityRestored
        | EventKind::EntityUnmerged => entity(id),
        EventKind::EntityDeleted => one(EntityId::parse(id).map(TraceSubject::Deleted)),
        EventKind::RelationRemoved => one(RelationId::parse(id).map(TraceSubject::Unrelated)),
        EventKind::RelationAdded => one(RelationId::parse(id).map(TraceSubject::Related)),
        EventKind::ContradictionResolved | EventKind::ContradictionReopened => {
            one(ContradictionId::parse(id).map(TraceSubject::Resolved))
        }
        EventKind::CaseOpened | EventKind::CaseUpdated | EventKind::CaseBranched => {
            vec![TraceSubject::Case(id.clone())]
        }
        EventKind::CaseMerged
        | EventKind::CaseDecided
        | EventKind::CaseClosed
        | EventKind::CaseArchived
        | EventKind::CaseReopened => vec![TraceSubject::CaseCourse(id.clone())],
        EventKind::SessionStarted
        | EventKind::SessionResumed
        | EventKind::SessionPaused
        | EventKind::SessionEnded
        | EventKind::SessionUnsummarised => one(SessionId::parse(id).map(TraceSubject::Session)),
        EventKind::CheckpointCreated => one(CheckpointId::parse(id).map(TraceSubject::Checkpoint)),
        EventKind::HandoffCreated
        | EventKind::HandoffAccepted
        | EventKind::HandoffCompleted
        | EventKind::HandoffRejected
        | EventKind::HandoffWithdrawn => one(HandoffId::parse(id).map(TraceSubject::Handoff)),
        // Gone, told by another event of the same change, or Commonbook's own.
        EventKind::MemoryPurged
        | EventKind::MemoryRevisionPurged
        | EventKind::MemoryForgotten
        | EventKind::MemoryQuarantined
        | EventKind::MemoryOutdated
        | EventKind::EntityQueued
        | EventKind::EntityDismissed
        | EventKind::ContradictionFound
        | EventKind::CaseAppended
        | EventKind::CaseProposed
        | EventKind::CheckpointArchived
        | EventKind::CheckpointDeleted
        | EventKind::HandoffExpired
        | EventKind::HandoffCycleFound
        | EventKind::HandoffRefused
        | EventKind::HandoffOutdated
        | EventKind::ContextBuilt
        | EventKind::AgentMemoryLoaded
        | EventKind::ConsolidationCompleted
        | EventKind::AgentMemoryRetracted
        | EventKind::StoreLossAccepted => Vec::new(),
    }
}
