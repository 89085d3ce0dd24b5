//! Consolidation: planning it, running it under a lease, and taking it back.
//!
//! A run reads the memories of one owner in batches, plans, and changes a batch in one transaction
//! each, which expects the lease. A run that dies leaves whole batches; the next one plans anew and
//! continues its operation, so that one undo takes all of it back.

mod entities;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Commonbook;
use super::memory::{MemoryChange, keep_memory};
use super::usage::add_usage;
use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, OperationId};
use crate::base::limits;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::agent::AgentName;
use crate::model::bulk::{BulkItem, BulkKind, BulkOperation, UndoOperation};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::case::NewEntry;
use crate::model::case::digest::{DigestMaterial, DigestSource, propose_entries};
use crate::model::consolidation::duplicate::merged_memory;
use crate::model::consolidation::plan::{
    ConsolidationPlan, ConsolidationPlanner, PlanStep, PlannedMemory, is_as_planned,
};
use crate::model::consolidation::{
    ConsolidateMemory, ConsolidationAction, ConsolidationLease, ConsolidationMode,
    ConsolidationOutcome, ConsolidationResult, ConsolidationSettings, Suggestion,
};
use crate::model::entity::merging::{EntityVersions, MergeStrategy};
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::{ListOrder, Memory, MemoryType, Sharing};
use crate::model::search::{MemoryFilter, MemoryRef};
use crate::model::session::{Session, SessionFilter, SessionStatus};
use crate::model::token::TokenScope;
use crate::store::Tx;
use crate::verbs::entity::join::{MergeAuthor, join_entities};
use entities::entity_as_planned;

/// Memories that one step reads or changes; other writers get their turn in between.
const CONSOLIDATION_BATCH_MAX: usize = 200;

/// Days after its end at which a session gets a summary.
const SUMMARISED_AFTER_DAYS: i64 = 7;

/// Sentences of the summary of a session.
const SUMMARY_SENTENCES_MAX: usize = 3;

/// Memories of a session that its summary is made of.
const SUMMARY_MEMORIES_MAX: u32 = 100;

/// Suggestions that are shown.
const SUGGESTIONS_MAX: usize = 20;

/// The fields that a merge changes in the memory that stays.
const MERGED_FIELDS: &[&str] =
    &["summary", "topics", "entities", "importance", "trust", "metadata"];

/// The field that changes when a memory is archived.
const ARCHIVED_FIELDS: &[&str] = &["archived_at"];

/// How far a consolidation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsolidationProgress {
    /// What it does: `reading`, `comparing` or `changing`.
    pub work: &'static str,
    /// The part done.
    pub done: u64,
    /// All of it; 0 if unknown.
    pub total: u64,
}

/// Who hears how far a consolidation has come.
pub type ConsolidationObserver = Arc<dyn Fn(ConsolidationProgress) + Send + Sync>;

impl Commonbook {
    /// The same Commonbook, consolidating by itself as these settings say.
    #[must_use]
    pub fn with_consolidation(self, consolidation: ConsolidationSettings) -> Self {
        Self { consolidation, ..self }
    }

    /// The same Commonbook, telling this observer how far its consolidations have come.
    #[must_use]
    pub fn with_consolidation_observer(self, observer: ConsolidationObserver) -> Self {
        Self { consolidation_observer: Some(observer), ..self }
    }

    /// Consolidates the memories of the caller, or previews, reverses or suggests it.
    ///
    /// # Errors
    /// `invalid` with the field; `forbidden` if `force` is set and the caller is no administrator;
    /// `conflict` if another plan is due than the one that the request names, or if another run took
    /// over; of a reversal those of [`Self::undo_operation`].
    pub fn consolidate_memory(
        &self,
        caller: &Caller,
        request: &ConsolidateMemory,
    ) -> Result<ConsolidationResult> {
        let (mode, shown) = request.read()?;
        if request.force {
            access::require_scope(caller, TokenScope::Admin)?;
        }
        let job = ConsolidationJob {
            book: self,
            caller,
            sight: Sight::writing_at_home(caller)?,
            force: request.force,
            begun: self.clock.now(),
            shown,
        };
        match mode {
            ConsolidationMode::Suggest => job.suggest(),
            ConsolidationMode::Preview => job.preview(),
            ConsolidationMode::Undo(operation) => job.undo(operation),
            ConsolidationMode::Run(expected) => job.run(expected.as_deref()),
        }
    }

    /// Consolidates each workspace that is due by the settings, for each of its agents. Any process
    /// may run this at any time.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read or written.
    pub fn consolidate_due_workspaces(&self) -> Result<()> {
        let now = self.clock.now();
        let Some(since) = self.consolidation.due_before(now) else { return Ok(()) };
        for workspace in self.store.read(|tx| tx.consolidations_due(since, now))? {
            for agent in self.store.read(|tx| tx.agent_names(&workspace))? {
                if agent.is_anonymous() {
                    continue;
                }
                let name = AgentName { agent, device: None };
                let caller = Caller::new(Some(name), workspace.clone(), EntryPoint::Digest);
                if let Err(error) = self.consolidate_memory(&caller, &ConsolidateMemory::default())
                {
                    tracing::warn!(%workspace, agent = %caller.agent, %error, "a consolidation failed");
                }
            }
        }
        Ok(())
    }
}

/// One call of the verb.
struct ConsolidationJob<'j> {
    book: &'j Commonbook,
    caller: &'j Caller,
    sight: Sight,
    force: bool,
    begun: Timestamp,
    shown: usize,
}

impl ConsolidationJob<'_> {
    fn preview(&self) -> Result<ConsolidationResult> {
        let plan = self.plan(None)?;
        let mut result = self.describe(&plan, ConsolidationOutcome::Planned);
        for item in plan.steps.iter().flat_map(PlanStep::items) {
            result.count(item.action);
        }
        Ok(self.timed(result))
    }

    fn run(&self, expected: Option<&str>) -> Result<ConsolidationResult> {
        self.book.policy.may_write(self.caller)?;
        let Some(lease) = self.lease()? else {
            let (now, workspace) = (self.book.clock.now(), &self.caller.workspace);
            let holder = self.book.store.read(|tx| tx.lease_holder(workspace, now))?;
            // It may have been given back meanwhile.
            let reason = holder
                .map_or_else(|| "already running".to_owned(), |holder| holder.skip_reason(now));
            let skipped = ConsolidationResult::of(ConsolidationOutcome::Skipped);
            return Ok(ConsolidationResult { reason: Some(reason), ..skipped });
        };
        let done = self.run_leased(&lease, expected);
        if done.is_err() {
            // The error matters more; a lease that is not given back expires.
            let (lease, now) = (lease, self.book.clock.now());
            drop(self.book.store.write(move |tx| tx.renew_consolidation(&lease, now)));
        }
        done
    }

    fn run_leased(
        &self,
        lease: &ConsolidationLease,
        expected: Option<&str>,
    ) -> Result<ConsolidationResult> {
        let book = self.book;
        // What the followers derive is as complete as the memories.
        book.follow_mentions(self.caller)?;
        book.follow_contradictions(self.caller)?;
        let plan = self.plan(Some(lease))?;
        if let Some(expected) = expected.filter(|expected| **expected != *plan.digest()) {
            let reason = format!("plan {expected} is no longer due; plan {} is", plan.digest());
            return Err(Error::conflict(reason).hint("Preview it again with `dry_run`."));
        }
        let mut result = self.describe(&plan, ConsolidationOutcome::Completed);
        let total: usize = plan.steps.iter().map(PlanStep::size).sum();
        let mut changed = 0;
        for batch in plan.batches(CONSOLIDATION_BATCH_MAX) {
            for action in self.change(lease, batch)? {
                result.count(action);
            }
            changed += batch.iter().map(PlanStep::size).sum::<usize>();
            self.tell("changing", changed, total);
        }
        result.contradictions = book.store.read(|tx| tx.contradiction_count(&self.sight))?;
        // An earlier run that died may have done it all.
        let done = book.store.read(|tx| tx.bulk_operation(&lease.workspace, lease.operation))?;
        result.operation = done.map(|done| done.id);
        let result = self.timed(result);
        self.finish(lease, &result)?;
        Ok(result)
    }

    /// Ends the run, with its event.
    fn finish(&self, lease: &ConsolidationLease, result: &ConsolidationResult) -> Result<()> {
        let now = self.book.clock.now();
        let (subject, workspace) = (lease.operation.to_string(), &lease.workspace);
        // The figures count private memories too.
        let sharing = Sharing::Private;
        let kind = EventKind::ConsolidationCompleted;
        let event =
            NewEvent::for_subject(kind, workspace, subject, &self.caller.agent, now, sharing)
                .with_details(&[
                    ("merged", json!(result.merged)),
                    ("archived", json!(result.archived)),
                    ("pruned", json!(result.pruned)),
                    ("seconds", json!(result.seconds)),
                ]);
        let lease = lease.clone();
        self.book.write_as(self.caller, now, move |tx, _| {
            if !tx.finish_consolidation(&lease, now)? {
                return Err(lost_lease());
            }
            tx.append_event(&event).map(drop)
        })
    }

    fn undo(&self, operation: OperationId) -> Result<ConsolidationResult> {
        let request = UndoOperation { operation_id: Some(operation), ..UndoOperation::default() };
        let undone = self.book.undo_operation(self.caller, &request)?;
        let result = ConsolidationResult {
            operation: Some(operation),
            restored: undone.memories,
            ..ConsolidationResult::of(ConsolidationOutcome::Undone)
        };
        Ok(self.timed(result))
    }

    fn suggest(&self) -> Result<ConsolidationResult> {
        let mut found: Vec<(u64, Suggestion)> = Vec::new();
        self.read_memories(None, |memory| {
            found.extend(Suggestion::of(memory));
            if found.len() > 2 * CONSOLIDATION_BATCH_MAX {
                keep_heaviest(&mut found);
            }
        })?;
        keep_heaviest(&mut found);
        let result = ConsolidationResult {
            suggestions: found.into_iter().map(|(_, suggestion)| suggestion).collect(),
            ..ConsolidationResult::of(ConsolidationOutcome::Suggested)
        };
        Ok(self.timed(result))
    }

    fn describe(
        &self,
        plan: &ConsolidationPlan,
        outcome: ConsolidationOutcome,
    ) -> ConsolidationResult {
        ConsolidationResult {
            plan: Some(plan.digest()),
            items: plan.steps.iter().flat_map(PlanStep::items).take(self.shown).collect(),
            ..ConsolidationResult::of(outcome)
        }
    }

    fn timed(&self, result: ConsolidationResult) -> ConsolidationResult {
        let took = self.book.clock.now().duration_since(self.begun).as_secs();
        ConsolidationResult { seconds: u64::try_from(took).unwrap_or(0), ..result }
    }

    fn tell(&self, work: &'static str, done: usize, total: usize) {
        if let Some(observer) = &self.book.consolidation_observer {
            observer(ConsolidationProgress { work, done: done as u64, total: total as u64 });
        }
    }

    /// The lease of the workspace; `None` if another run holds it.
    fn lease(&self) -> Result<Option<ConsolidationLease>> {
        let now = self.book.clock.now();
        let wanted = ConsolidationLease {
            workspace: self.caller.workspace.clone(),
            token: 0,
            agent: self.caller.agent.clone(),
            operation: OperationId::new(&*self.book.ids, now),
        };
        let until = lease_end(now);
        self.book.store.write(move |tx| tx.lease_consolidation(&wanted, now, until))
    }

    /// Extends the lease while the plan is made.
    fn renew(&self, lease: &ConsolidationLease) -> Result<()> {
        let (lease, until) = (lease.clone(), lease_end(self.book.clock.now()));
        match self.book.store.write(move |tx| tx.renew_consolidation(&lease, until))? {
            true => Ok(()),
            false => Err(lost_lease()),
        }
    }

    /// Whether this call may change the memory.
    fn is_in_scope(&self, memory: &Memory) -> bool {
        self.force || memory.owner == self.caller.agent
    }

    /// Reads the memories in scope in batches, each with its usage.
    fn read_memories(
        &self,
        lease: Option<&ConsolidationLease>,
        mut read: impl FnMut(&Memory),
    ) -> Result<()> {
        let owner = (!self.force).then(|| self.caller.agent.to_string());
        let filter = MemoryFilter { owner, ..MemoryFilter::default() };
        let (mut from, mut count, mut renewed) = (None, 0, self.book.clock.now());
        loop {
            let page = self.book.store.read(|tx| {
                let batch = u32::try_from(CONSOLIDATION_BATCH_MAX).unwrap_or(u32::MAX);
                let mut page = tx.memories(&self.sight, &filter, ListOrder::Oldest, from, batch)?;
                add_usage(tx, &self.sight, page.iter_mut().map(|(_, memory)| &mut **memory))?;
                Ok(page)
            })?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            from = Some(*last);
            page.iter()
                .map(|(_, memory)| memory)
                .filter(|memory| self.is_in_scope(memory))
                .for_each(|memory| read(memory));
            count += page.len();
            self.tell("reading", count, 0);
            renewed = self.renew_in_time(lease, renewed)?;
        }
    }

    /// Extends the lease if a third of it is over.
    fn renew_in_time(
        &self,
        lease: Option<&ConsolidationLease>,
        renewed: Timestamp,
    ) -> Result<Timestamp> {
        let now = self.book.clock.now();
        let third = limits::CONSOLIDATION_LEASE_SECONDS / 3;
        if let Some(lease) = lease
            && now.duration_since(renewed).as_secs() >= i64::try_from(third).unwrap_or(i64::MAX)
        {
            self.renew(lease)?;
            return Ok(now);
        }
        Ok(renewed)
    }

    fn plan(&self, lease: Option<&ConsolidationLease>) -> Result<ConsolidationPlan> {
        let mut planner = ConsolidationPlanner::new(self.begun, self.force);
        self.read_memories(lease, |memory| planner.add(memory))?;
        let workspace = &self.caller.workspace;
        planner.add_repeated(self.book.store.read(|tx| tx.repeated_pairs(workspace))?);
        let blocks = planner.take_blocks();
        let mut renewed = self.book.clock.now();
        for (index, block) in blocks.iter().enumerate() {
            let mut different = Vec::new();
            for part in block.chunks(CONSOLIDATION_BATCH_MAX) {
                let wanted: Vec<MemoryRef> =
                    part.iter().map(|id| (workspace.clone(), *id)).collect();
                let memories = self.book.store.read(|tx| tx.memories_of(&self.sight, &wanted))?;
                planner.compare(memories, &mut different);
            }
            self.tell("comparing", index + 1, blocks.len());
            renewed = self.renew_in_time(lease, renewed)?;
        }
        self.plan_entities(&mut planner)?;
        self.plan_summaries(&mut planner)?;
        Ok(planner.finish())
    }

    /// Plans summaries of the caller's old sessions that lack one, of the agents' own sentences.
    fn plan_summaries(&self, planner: &mut ConsolidationPlanner) -> Result<()> {
        let days = SignedDuration::from_hours(24 * SUMMARISED_AFTER_DAYS);
        let before = self.begun.checked_sub(days).unwrap_or(Timestamp::MIN);
        let filter = SessionFilter {
            owner: Some(self.caller.agent.to_string()),
            status: Some(SessionStatus::Completed),
            unsummarised: true,
            ..SessionFilter::default()
        };
        let mut from = None;
        loop {
            let page = self
                .book
                .store
                .read(|tx| tx.sessions(&self.sight, &filter, from, limits::PAGE_MAX))?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            from = Some(*last);
            for (_, session) in page {
                let is_old = session.ended_at.is_some_and(|ended| ended <= before);
                if is_old && let Some(summary) = self.summary_of(&session)? {
                    let session = session.id;
                    planner.add_step(PlanStep::Summarise { session, summary });
                }
            }
        }
    }

    /// The best sentences of what was saved in a session; `None` if nothing in it is worth telling.
    fn summary_of(&self, session: &Session) -> Result<Option<String>> {
        let filter = MemoryFilter {
            session: Some(session.id.to_string()),
            owner: Some(session.agent.to_string()),
            ..MemoryFilter::default()
        };
        let saved = self.book.store.read(|tx| {
            tx.memories(&self.sight, &filter, ListOrder::Oldest, None, SUMMARY_MEMORIES_MAX)
        })?;
        let shared = saved.into_iter().map(|(_, memory)| memory).filter(|memory| {
            memory.is_usable()
                && memory.sharing == Sharing::Shared
                && memory.user_id == session.user_id
        });
        let sources: Vec<DigestSource> = shared.map(DigestSource::from).collect();
        let material = DigestMaterial { memories: &sources, known: &[], contradictions: &[] };
        let mut summary = String::new();
        for proposal in propose_entries(material, SUMMARY_SENTENCES_MAX) {
            let sentence = proposal.summary.trim_end_matches(['.', ' ']);
            let chars = summary.chars().count() + sentence.chars().count() + 2;
            if chars <= limits::SUMMARY_CHARS {
                summary += if summary.is_empty() { "" } else { " " };
                summary += sentence;
                summary.push('.');
            }
        }
        Ok(Some(summary).filter(|summary| !summary.is_empty()))
    }

    /// Runs a batch of steps in one transaction that expects the lease; returns what changed. A
    /// memory that changed since the plan was made stays as it is.
    fn change(
        &self,
        lease: &ConsolidationLease,
        batch: &[PlanStep],
    ) -> Result<Vec<ConsolidationAction>> {
        let now = self.book.clock.now();
        let operation = BulkOperation {
            id: lease.operation,
            workspace: lease.workspace.clone(),
            kind: BulkKind::Consolidated,
            agent: self.caller.agent.clone(),
            at: now,
        };
        let steps: Vec<(PlanStep, MemoryId)> =
            batch.iter().map(|step| (step.clone(), MemoryId::new(&*self.book.ids, now))).collect();
        let (lease, sight) = (lease.clone(), self.sight.clone());
        self.book.write_as(self.caller, now, move |tx, caller| {
            if !tx.renew_consolidation(&lease, lease_end(now))? {
                return Err(lost_lease());
            }
            tx.put_bulk_operation(&operation)?;
            let scope = BatchScope { caller, sight: &sight, operation: &operation, now };
            let mut done = Vec::new();
            for (step, id) in &steps {
                scope.run(tx, step, *id, &mut done)?;
            }
            Ok(done)
        })
    }
}

/// What the steps of a batch share.
struct BatchScope<'b> {
    caller: &'b Caller,
    sight: &'b Sight,
    operation: &'b BulkOperation,
    now: Timestamp,
}

impl BatchScope<'_> {
    fn run(
        &self,
        tx: &mut Tx<'_>,
        step: &PlanStep,
        id: MemoryId,
        done: &mut Vec<ConsolidationAction>,
    ) -> Result<()> {
        match step {
            PlanStep::Archive { memory, cause } => {
                let Some(before) = self.as_planned(tx, *memory)? else { return Ok(()) };
                let after = before.with(|after| after.archived_at = Some(self.now));
                self.write(tx, EventKind::MemoryUpdated, ARCHIVED_FIELDS, &before, after)?;
                done.push(cause.action());
            }
            PlanStep::Merge { kept, merged } => {
                let Some(before) = self.as_planned(tx, *kept)? else { return Ok(()) };
                let mut others = Vec::with_capacity(merged.len());
                for gone in merged {
                    others.extend(self.as_planned(tx, gone.memory)?);
                }
                others.retain(|other| other.is_current());
                if !before.is_current() || others.is_empty() {
                    return Ok(());
                }
                let after = StoredMemory::of(merged_memory(&before, &others));
                self.write(tx, EventKind::MemoryUpdated, MERGED_FIELDS, &before, after)?;
                for other in &others {
                    let after = other.with(|after| {
                        after.superseded_by = Some(before.id);
                        after.archived_at = Some(self.now);
                    });
                    self.write(tx, EventKind::MemorySuperseded, &[], other, after)?;
                    done.push(ConsolidationAction::Merge);
                }
            }
            PlanStep::Join { source, target, .. } => {
                let found = |planned| entity_as_planned(&*tx, self.sight, planned);
                let (Some(source), Some(target)) = (found(*source)?, found(*target)?) else {
                    return Ok(());
                };
                let (agent, at) = (&self.caller.agent, self.now);
                let author = MergeAuthor { agent, at, operation: Some(self.operation.id) };
                let versions = EntityVersions::default();
                join_entities(tx, &source, &target, versions, MergeStrategy::default(), author)?;
                done.push(ConsolidationAction::Join);
            }
            PlanStep::Summarise { session, summary } => {
                let Some(before) = tx.session(self.sight, *session)? else { return Ok(()) };
                if before.summary.is_some() || before.status != SessionStatus::Completed {
                    return Ok(());
                }
                let memory = self.sum_up(tx, &before, id, summary)?;
                tx.replace_session(&Session { summary: Some(memory.id), ..before })?;
                self.note(tx, &memory)?;
                done.push(ConsolidationAction::Summarise);
            }
        }
        Ok(())
    }

    /// Saves the summary of a session as a memory of its agent, also if the session has a case: an
    /// entry could not be taken back.
    fn sum_up(
        &self,
        tx: &mut Tx<'_>,
        session: &Session,
        id: MemoryId,
        summary: &str,
    ) -> Result<Memory> {
        let caller = Caller { session: Some(session.id.to_string()), ..self.caller.clone() };
        let entry = NewEntry { summary: summary.to_owned(), ..NewEntry::default() };
        let memory = entry.memory(&caller, None, id, self.now)?;
        let memory_type = MemoryType::episodic();
        keep_memory(tx, &Memory { memory_type, ..memory }, self.now)
    }

    /// The memory, if it is as the plan read it.
    fn as_planned(&self, tx: &Tx<'_>, planned: PlannedMemory) -> Result<Option<StoredMemory>> {
        let found = tx.memory(self.sight, planned.id)?;
        Ok(found.filter(|memory| is_as_planned(memory, planned)))
    }

    fn write(
        &self,
        tx: &mut Tx<'_>,
        kind: EventKind,
        fields: &[&'static str],
        before: &StoredMemory,
        after: StoredMemory,
    ) -> Result<()> {
        let change = MemoryChange { kind, fields, caller: self.caller, now: self.now };
        let after = change.write(tx, before, after)?;
        self.note(tx, &after)
    }

    /// Notes a changed or new memory in the operation, by which it is taken back.
    fn note(&self, tx: &mut Tx<'_>, after: &Memory) -> Result<()> {
        let (memory, owner, revision) = (after.id, after.owner.clone(), after.revision);
        tx.add_bulk_item(self.operation, &BulkItem { memory, owner, revision })
    }
}

/// Takes back what a consolidation did to a memory that has not changed since: a memory that it made
/// is removed, another is as it was, with its revision and history.
pub(super) fn take_back(
    tx: &mut Tx<'_>,
    caller: &Caller,
    memory: &Memory,
    now: Timestamp,
) -> Result<()> {
    let event = |kind| NewEvent::of(kind, memory, &caller.agent, now);
    if memory.revision == 1 {
        if let Some(id) = memory.session.as_deref().and_then(|id| id.parse().ok())
            && let Some(session) = tx.session(&Sight::of_owner(memory), id)?
            && session.summary == Some(memory.id)
        {
            tx.replace_session(&Session { summary: None, ..session })?;
        }
        tx.purge_memory(memory)?;
        return tx.append_event(&event(EventKind::MemoryPurged)).map(drop);
    }
    let earlier = tx.earlier_revisions(&Sight::of_owner(memory), memory.id)?;
    let Some(before) = earlier.last().filter(|before| before.revision + 1 == memory.revision)
    else {
        return Err(Error::conflict(format!("memory {} has lost its history", memory.id)));
    };
    tx.revert_memory(before)?;
    let event = NewEvent::of(EventKind::MemoryRestored, before, &caller.agent, now);
    tx.append_event(&event).map(drop)
}

/// Keeps the suggestions with the most weight.
fn keep_heaviest(found: &mut Vec<(u64, Suggestion)>) {
    found.sort_by(|(a, first), (b, second)| b.cmp(a).then(first.memory.cmp(&second.memory)));
    found.truncate(SUGGESTIONS_MAX);
}

/// When a lease that is taken or renewed now expires.
fn lease_end(now: Timestamp) -> Timestamp {
    let seconds = i64::try_from(limits::CONSOLIDATION_LEASE_SECONDS).unwrap_or(i64::MAX);
    now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

fn lost_lease() -> Error {
    Error::conflict("another consolidation of this workspace took over")
        .hint("Call `consolidate_memory` again when it is done.")
}
