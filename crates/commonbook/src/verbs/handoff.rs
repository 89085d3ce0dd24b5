//! Handing work over, accepting it, and ending it.

mod offers;
mod text;

use jiff::Timestamp;
use serde_json::json;

use super::Commonbook;
use super::memory::keep_memory;
use super::receipt::{TextDelivery, record_delivery};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{HandoffId, MemoryId};
use crate::base::limits;
use crate::base::page::{Page, PageCursor, PageSize};
use crate::model::access::Sight;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::collaboration::{
    CollaborationGraph, CreateHandoffResult, EdgeFilter, HandoffEdge, HandoffWarnings,
};
use crate::model::event::EventKind;
use crate::model::handoff::{
    AcceptHandoff, AcceptHandoffResult, CompleteHandoff, CreateHandoff, GetHandoff, Handoff,
    HandoffCycle, HandoffDraft, HandoffReceipt, HandoffStatus, HandoffStep, HandoffStepResult,
    HandoffTarget, ListHandoffs, RejectHandoff, StepAttempt, WithdrawHandoff, check_other_agent,
};
use crate::model::lineage::{BasisClaim, DerivedId};
use crate::model::memory::{Memory, MemoryType, SaveMemory, Sharing, UsageKind};
use crate::model::search::MemoryRef;
use crate::prompt::context::ContextOrigin;
use crate::prompt::handoff::{HandoffText, PackResult, pack};
use crate::prompt::item::PromptItem;
use crate::prompt::lists::handoff_list_text;
use crate::store::Tx;
use crate::verbs::ops::basis::FoundBasis;
use crate::verbs::ops::handles::longer_handles;
use crate::verbs::ops::write_once::WriteScope;
use crate::verbs::ops::write_request::WriteRequest;
use text::{earlier_links, handoff_text, present_memories};

/// Handoffs that one transaction of a sweep expires at most.
const HANDOFF_EXPIRY_MAX: u32 = 100;

/// Earlier handoffs with which a new one of the same round is compared.
const ROUND_HANDOFFS_MAX: usize = 40;

impl Commonbook {
    /// Hands the caller's work over to another agent, with the memories and entities that belong to
    /// it: found by a search for the task, saved during the work, or received by an earlier
    /// handoff.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field; `not_found` if a named memory is not in sight;
    /// `forbidden` if handing over is switched off; `conflict` if the handoff would close a cycle in
    /// which nothing was written, or make its chain too long.
    pub fn create_handoff(
        &self,
        caller: &Caller,
        request: &CreateHandoff,
    ) -> Result<CreateHandoffResult> {
        self.policy.may_write(caller)?;
        self.collaboration.may_hand_over()?;
        let session = caller.session.as_deref();
        let draft = request.check(&caller.agent, session, self.collaboration.handoff)?;
        let claim = BasisClaim::parse(&request.based_on, request.require_current)?;
        let text = request.written_text();
        let now = self.clock.now();
        // Neither searched nor packed again, and a preview keeps no answer.
        if !request.dry_run
            && let Some(answer) = self.answered_before(caller, now, request)?
        {
            return Ok(answer);
        }
        let target = self.handoff_target(caller, &draft.to)?;
        let draft = HandoffDraft { to: target.to, role: target.role, ..draft };
        let draft = self.with_session_case(caller, draft)?;
        let id = HandoffId::new(&*self.ids, now);
        let fence = self.fence(caller)?;
        let (handoff, offers) = self.offers(caller, id, &draft, now)?;
        let packed = pack(handoff, &offers, &draft.settings, &fence);
        if request.dry_run {
            return self.preview_handoff(caller, packed, target.warning);
        }
        let (rules, unknown) = (self.collaboration.rules, target.warning);
        let handoff = packed.handoff.clone();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let found = find_cycle(tx, scope.sight, &packed.handoff)?;
            let relay = relay_length(tx, scope.sight, &packed.handoff)?;
            let warnings = rules.judge(found.cycle.clone(), relay)?;
            let warning = joined([warnings.warning_text(), unknown.clone()]);
            let mut packed = packed.clone();
            packed.handoff.cycle = found.cycle;
            let basis = FoundBasis::find(tx, scope, &claim, &text)?;
            keep_handoff(tx, scope, &packed)?;
            let derived = DerivedId::Handoff(packed.handoff.id);
            let stale = basis.record(tx, &scope.caller.workspace, [derived], scope.now)?;
            let HandoffWarnings { cycle, deep: _ } = warnings;
            let PackResult { handoff, along, behind, hint, .. } = packed;
            let result = CreateHandoffResult::of(handoff, warning);
            Ok(CreateHandoffResult { cycle, hint, along, behind, stale, ..result })
        });
        if once.as_ref().is_err_and(|error| error.kind == ErrorKind::Conflict) {
            self.record_refusal(caller, handoff, now)?;
        }
        let once = once?;
        if !once.repeated {
            self.note_named_memories(caller, &request.memories)?;
        }
        Ok(once.answer)
    }

    /// The target that the caller means by a name.
    fn handoff_target(&self, caller: &Caller, name: &Agent) -> Result<HandoffTarget> {
        let known = self.store.read(|tx| tx.agent_names(&caller.workspace))?;
        let target = HandoffTarget::resolve(name, &caller.agent, &known);
        check_other_agent(&target.to, &caller.agent).map(|()| target)
    }

    /// What a handoff would be, without writing anything.
    fn preview_handoff(
        &self,
        caller: &Caller,
        packed: PackResult,
        unknown: Option<String>,
    ) -> Result<CreateHandoffResult> {
        let sight = Sight::writing(caller)?;
        let PackResult { handoff, left_out, along, behind, hint, .. } = packed;
        let (found, relay) = self.store.read(|tx| {
            Ok((find_cycle(tx, &sight, &handoff)?, relay_length(tx, &sight, &handoff)?))
        })?;
        let cycle = found.cycle;
        let judged = match self.collaboration.rules.judge(cycle.clone(), relay) {
            Ok(warnings) => warnings.warning_text(),
            Err(error) => Some(format!("this would be refused: {}", error.message)),
        };
        let warning = joined([judged, unknown]);
        let handoff = Handoff { cycle: cycle.clone(), ..handoff };
        let preview = CreateHandoffResult::of(handoff, warning);
        Ok(CreateHandoffResult { cycle, hint, along, behind, dry_run: true, left_out, ..preview })
    }

    /// Appends the event of a handoff that the rules refuse. The write that was refused has left
    /// nothing, so this one judges again.
    fn record_refusal(&self, caller: &Caller, handoff: Handoff, now: Timestamp) -> Result<()> {
        let sight = Sight::writing(caller)?;
        let rules = self.collaboration.rules;
        self.write_as(caller, now, move |tx, caller| {
            let FoundCycle { cycle, earlier } = find_cycle(tx, &sight, &handoff)?;
            let relay = relay_length(tx, &sight, &handoff)?;
            let Err(refusal) = rules.judge(cycle.clone(), relay) else { return Ok(()) };
            let earlier = earlier.or_else(|| handoff.follows.first().copied());
            let earlier = earlier.map(|id| tx.handoff(&sight, id)).transpose()?.flatten();
            let Some(earlier) = earlier else { return Ok(()) };
            let event = earlier.event(EventKind::HandoffRefused, &caller.agent, now);
            let mut details = vec![("reason", json!(refusal.message))];
            details.extend(cycle.map(|cycle| ("cycle", json!(cycle))));
            tx.append_event(&event.with_details(&details)).map(drop)
        })
    }

    /// Notes that a handoff names these memories.
    fn note_named_memories(&self, caller: &Caller, named: &[MemoryId]) -> Result<()> {
        if named.is_empty() {
            return Ok(());
        }
        let sight = Sight::consulting(caller)?;
        let places = sight.workspaces.iter();
        let places = places.flat_map(|place| named.iter().map(|id| (place.clone(), *id)));
        let places: Vec<MemoryRef> = places.collect();
        // The handoff exists, whether or not its memories can be counted.
        if let Ok(found) = self.store.read(|tx| tx.memories_of(&sight, &places)) {
            let found = found.iter().map(|memory| (&memory.workspace, memory.id));
            self.note_usage(caller, UsageKind::Used, found);
        }
        Ok(())
    }

    /// Accepts a handoff to the caller and returns everything that the caller needs for it.
    /// Accepting it again returns the same.
    ///
    /// # Errors
    /// `not_found` if the handoff is not in sight; `forbidden` if it is for another agent;
    /// `conflict` if it has ended otherwise.
    pub fn accept_handoff(
        &self,
        caller: &Caller,
        request: &AcceptHandoff,
    ) -> Result<AcceptHandoffResult> {
        let (id, now) = (request.handoff, self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let waited = visible_handoff(tx, scope.sight, id)?.status == HandoffStatus::Pending;
            let handoff = take_step(tx, scope, id, HandoffStep::Accept, None)?;
            let HandoffText { text, items } = handoff_text(tx, scope.caller, &handoff)?;
            // To accept it again tells nothing new.
            if waited {
                let own = PromptItem::new(
                    handoff.id,
                    "handoff",
                    &handoff.from,
                    handoff.created_at,
                    handoff.task.clone(),
                );
                let told = TextDelivery {
                    origin: ContextOrigin::Handoff,
                    task: &handoff.task,
                    text: &text,
                    session: scope.caller.session.clone(),
                    budget: handoff.tokens as usize,
                    items: [own].into_iter().chain(items).collect(),
                };
                record_delivery(tx, scope, told)?;
            }
            Ok(AcceptHandoffResult { handoff, text })
        })?;
        Ok(once.answer)
    }

    /// Completes a handoff that the caller accepted.
    ///
    /// # Errors
    /// As [`Self::accept_handoff`]; `invalid` and `too_large` with the result.
    pub fn complete_handoff(
        &self,
        caller: &Caller,
        request: &CompleteHandoff,
    ) -> Result<HandoffStepResult> {
        let (id, note) = (request.handoff, request.note()?);
        let claim = BasisClaim::parse(&request.based_on, request.require_current)?;
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let before = visible_handoff(tx, scope.sight, id)?;
            if before.status == HandoffStatus::Completed {
                let handoff = take_step(tx, scope, id, HandoffStep::Complete, note.as_deref())?;
                return Ok(HandoffStepResult { handoff, stale: Vec::new() });
            }
            let text = [before.task.as_str(), note.as_deref().unwrap_or_default()].join("\n");
            let basis = FoundBasis::find(tx, scope, &claim, &text)?;
            let handoff = take_step(tx, scope, id, HandoffStep::Complete, note.as_deref())?;
            let stale =
                basis.record(tx, &handoff.workspace, [DerivedId::Handoff(id)], scope.now)?;
            Ok(HandoffStepResult { handoff, stale })
        })?;
        Ok(once.answer)
    }

    /// Rejects a handoff to the caller.
    ///
    /// # Errors
    /// As [`Self::accept_handoff`]; `invalid` and `too_large` with the reason.
    pub fn reject_handoff(
        &self,
        caller: &Caller,
        request: &RejectHandoff,
    ) -> Result<HandoffStepResult> {
        let note = Some(request.reason.clone());
        self.run_handoff_step(caller, request, request.handoff, HandoffStep::Reject, note)
    }

    /// Withdraws a handoff of the caller that is not accepted yet.
    ///
    /// # Errors
    /// `not_found` if the handoff is not in sight; `forbidden` if it is another agent's; `conflict`
    /// if it was accepted; `invalid` and `too_large` with the reason.
    pub fn withdraw_handoff(
        &self,
        caller: &Caller,
        request: &WithdrawHandoff,
    ) -> Result<HandoffStepResult> {
        let note = request.reason.clone();
        self.run_handoff_step(caller, request, request.handoff, HandoffStep::Withdraw, note)
    }

    fn run_handoff_step(
        &self,
        caller: &Caller,
        request: &impl WriteRequest,
        id: HandoffId,
        step: HandoffStep,
        note: Option<String>,
    ) -> Result<HandoffStepResult> {
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let handoff = take_step(tx, scope, id, step, note.as_deref())?;
            Ok(HandoffStepResult { handoff, stale: Vec::new() })
        })?;
        Ok(once.answer)
    }

    /// One handoff with its receipt.
    ///
    /// # Errors
    /// `not_found` if the handoff is not in sight.
    pub fn get_handoff(&self, caller: &Caller, request: &GetHandoff) -> Result<HandoffReceipt> {
        let sight = Sight::reading(caller)?;
        self.store.read(|tx| {
            let handoff = visible_handoff(tx, &sight, request.handoff)?.redacted_for(&caller.agent);
            let left_out = match handoff.from == caller.agent {
                true => tx.left_out(&sight, handoff.id)?,
                false => Vec::new(),
            };
            let earlier = earlier_links(tx, &sight, &handoff)?;
            if !handoff.is_between(&caller.agent) {
                let (left_out_count, changed) = (0, Vec::new());
                return Ok(HandoffReceipt { handoff, left_out, left_out_count, earlier, changed });
            }
            let package = tx.package(&handoff)?;
            let changed = present_memories(tx, &sight, &handoff, &package)?.into_iter();
            Ok(HandoffReceipt {
                left_out,
                left_out_count: package.left_out_count,
                earlier,
                changed: changed.map(|present| present.change).collect(),
                handoff,
            })
        })
    }

    /// Handoffs of the caller's workspace in its sight: its queue, oldest first, or a list, newest
    /// first.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range, or if the cursor or an agent's name is malformed.
    pub fn list_handoffs(&self, caller: &Caller, request: &ListHandoffs) -> Result<Page<Handoff>> {
        let sight = Sight::reading(caller)?;
        let size = PageSize::of(request.limit)?;
        let from = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        let filter = request.filter()?;
        let rows = self.store.read(|tx| {
            let mut rows = tx.handoffs(&sight, &filter, from, size.rows())?;
            if filter.oldest_first {
                let queue = tx.handoff_queue(&sight)?;
                for (sequence, handoff) in &mut rows {
                    let place = queue.binary_search(sequence);
                    handoff.position = place.ok().map(|place| place as u64 + 1);
                }
            }
            Ok(rows)
        })?;
        Ok(size.page_by_position(rows).map(|handoff| handoff.redacted_for(&caller.agent)))
    }

    /// A page of handoffs as text for an agent: headlines.
    ///
    /// # Errors
    /// `unavailable` if the store or the secret of the fence cannot be read.
    pub fn handoff_list_text(&self, caller: &Caller, page: &Page<Handoff>) -> Result<String> {
        let ids: Vec<String> = page.items.iter().map(|handoff| handoff.id.to_string()).collect();
        let sight = Sight::reading(caller)?;
        let longer = self.store.read(|tx| longer_handles(tx, &sight, &ids))?;
        Ok(handoff_list_text(page, &longer, &self.fence(caller)?, self.clock.now()))
    }

    /// Expires the handoffs that were not accepted by the confirmed time. The text of each becomes
    /// an ordinary memory.
    pub(super) fn expire_handoffs(&self, sure: Timestamp, now: Timestamp) -> Result<()> {
        loop {
            let ids: Vec<MemoryId> =
                (0..HANDOFF_EXPIRY_MAX).map(|_| MemoryId::new(&*self.ids, now)).collect();
            let ended = self.store.write(move |tx| {
                let overdue = tx.overdue_handoffs(sure, HANDOFF_EXPIRY_MAX)?;
                for (handoff, id) in overdue.iter().zip(&ids) {
                    expire_handoff(tx, handoff, *id, now)?;
                }
                Ok(overdue.len())
            })?;
            if ended < HANDOFF_EXPIRY_MAX as usize {
                return Ok(());
            }
        }
    }
}

/// The handoff with this id in sight.
fn visible_handoff(tx: &Tx<'_>, sight: &Sight, id: HandoffId) -> Result<Handoff> {
    tx.handoff(sight, id)?.ok_or_else(|| {
        Error::not_found(format!("no handoff {id} exists")).hint("Use an id from list_handoffs.")
    })
}

/// Applies one step to a handoff, with its event. If the step was applied before, the handoff
/// returns unchanged.
fn take_step(
    tx: &mut Tx<'_>,
    WriteScope { caller, sight, now, .. }: WriteScope<'_>,
    id: HandoffId,
    step: HandoffStep,
    note: Option<&str>,
) -> Result<Handoff> {
    let before = visible_handoff(tx, sight, id)?;
    let session = caller.session.as_deref();
    let target_seen = tx.last_seen(&before.workspace, &before.to)?;
    let taken = StepAttempt { step, by: &caller.agent, session, note, at: now, target_seen };
    let Some(mut after) = before.apply_step(taken)? else { return Ok(before) };
    let kind = status_event(after.status);
    let sequence = tx.append_event(&after.event(kind, &caller.agent, now))?;
    // Only now it is known which agent with the role has it.
    if after.role.is_some() && step == HandoffStep::Accept && after.cycle.is_none() {
        after.cycle = find_cycle(tx, sight, &after)?.cycle;
        append_cycle(tx, &after, &caller.agent, now)?;
    }
    tx.step_handoff(&after, sequence)?;
    match after.role {
        // The one that accepts it also sees the private memories in it.
        Some(_) => visible_handoff(tx, sight, id),
        None => Ok(after),
    }
}

/// Stores a new handoff, with its events.
fn keep_handoff(
    tx: &mut Tx<'_>,
    WriteScope { caller, now, .. }: WriteScope<'_>,
    packed: &PackResult,
) -> Result<()> {
    let handoff = &packed.handoff;
    let created = handoff.event(EventKind::HandoffCreated, &caller.agent, now);
    let sequence = tx.append_event(&created)?;
    tx.insert_handoff(packed, sequence)?;
    append_cycle(tx, handoff, &caller.agent, now)
}

/// Appends the event of the cycle that a handoff closes, if it closes one.
fn append_cycle(tx: &mut Tx<'_>, handoff: &Handoff, actor: &Agent, now: Timestamp) -> Result<()> {
    let Some(cycle) = &handoff.cycle else { return Ok(()) };
    let event = handoff.event(EventKind::HandoffCycleFound, actor, now);
    tx.append_event(&event.with_details(&[("cycle", json!(cycle))])).map(drop)
}

/// These warnings in one text.
fn joined<const N: usize>(warnings: [Option<String>; N]) -> Option<String> {
    let warnings: Vec<String> = warnings.into_iter().flatten().collect();
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

pub(super) const fn status_event(status: HandoffStatus) -> EventKind {
    match status {
        HandoffStatus::Pending => EventKind::HandoffCreated,
        HandoffStatus::Accepted => EventKind::HandoffAccepted,
        HandoffStatus::Completed => EventKind::HandoffCompleted,
        HandoffStatus::Rejected => EventKind::HandoffRejected,
        HandoffStatus::Withdrawn => EventKind::HandoffWithdrawn,
        HandoffStatus::Expired => EventKind::HandoffExpired,
    }
}

/// Expires a handoff, and saves its text as a memory.
fn expire_handoff(tx: &mut Tx<'_>, handoff: &Handoff, id: MemoryId, now: Timestamp) -> Result<()> {
    let system = Agent::system();
    let target_seen = tx.last_seen(&handoff.workspace, &handoff.to)?;
    let step = HandoffStep::Expire;
    let taken = StepAttempt { step, by: &system, session: None, note: None, at: now, target_seen };
    let Some(after) = handoff.apply_step(taken)? else { return Ok(()) };
    let from = AgentName { agent: handoff.from.clone(), device: None };
    let source = Caller {
        session: handoff.session.clone(),
        user: handoff.user_id.clone(),
        ..Caller::new(Some(from), handoff.workspace.clone(), EntryPoint::Handoff)
    };
    let request = SaveMemory {
        text: handoff.expired_text(),
        title: Some(handoff.task.chars().take(limits::TITLE_CHARS).collect()),
        memory_type: Some(MemoryType::handoff()),
        sharing: Some(Sharing::Shared),
        ..SaveMemory::default()
    };
    let mut memory: Memory = request.memory(&source, Sharing::Shared, id, now)?;
    if handoff.from.is_of_file() {
        memory.distrust();
    }
    keep_memory(tx, &memory, now)?;
    let sequence = tx.append_event(&after.event(EventKind::HandoffExpired, &system, now))?;
    tx.step_handoff(&after, sequence)
}

/// How many agents in a row have handed this work on without completing it, with this handoff.
fn relay_length(tx: &Tx<'_>, sight: &Sight, handoff: &Handoff) -> Result<u32> {
    let mut open: Vec<u32> = Vec::new();
    for link in earlier_links(tx, sight, handoff)? {
        if !link.is_brought && link.status.is_open() {
            open.push(link.depth);
        }
    }
    open.sort_unstable();
    open.dedup();
    Ok(1 + u32::try_from(open.len()).unwrap_or(u32::MAX))
}

/// The cycle that a handoff closes, and the earlier handoff of the same work.
#[derive(Default)]
struct FoundCycle {
    cycle: Option<HandoffCycle>,
    earlier: Option<HandoffId>,
}

/// Finds the cycle that a handoff closes, and whether its agents have written anything in the round.
fn find_cycle(tx: &Tx<'_>, sight: &Sight, handoff: &Handoff) -> Result<FoundCycle> {
    let edges = cycle_edges(tx, sight, handoff)?;
    let graph = CollaborationGraph::of_edges(&edges);
    let Some(mut cycle) = graph.cycle_of(handoff) else { return Ok(FoundCycle::default()) };
    if cycle.again {
        let closing = cycle.closing_handoffs(&edges);
        cycle.idle = !tx.has_written_since(sight, &cycle.path, &closing)?
            && handoff.only_repeats(&round_handoffs(tx, sight, &cycle, &edges)?);
    }
    let earlier = cycle.earlier_handoff(&edges);
    Ok(FoundCycle { cycle: Some(cycle), earlier })
}

/// The newest handoffs between the agents of a cycle.
fn round_handoffs(
    tx: &Tx<'_>,
    sight: &Sight,
    cycle: &HandoffCycle,
    edges: &[HandoffEdge],
) -> Result<Vec<Handoff>> {
    let on_cycle =
        |edge: &&HandoffEdge| cycle.path.contains(&edge.from) && cycle.path.contains(&edge.to);
    let mut ids: Vec<HandoffId> = edges.iter().filter(on_cycle).map(|edge| edge.handoff).collect();
    ids.sort_unstable();
    ids.dedup();
    let newest = ids.into_iter().rev().take(ROUND_HANDOFFS_MAX);
    newest.filter_map(|id| tx.handoff(sight, id).transpose()).collect()
}

/// The handoffs that decide whether this one closes a cycle: those of its chain and its case. Two agents may hand each
/// other different work any number of times.
fn cycle_edges(tx: &Tx<'_>, sight: &Sight, handoff: &Handoff) -> Result<Vec<HandoffEdge>> {
    let most = limits::COLLABORATIONS;
    let of_chain = EdgeFilter { chain: Some(handoff.chain), ..EdgeFilter::default() };
    let mut edges = tx.edges(sight, &of_chain, most)?;
    if let Some(case) = &handoff.case {
        let of_case = EdgeFilter { case: Some(case.clone()), ..EdgeFilter::default() };
        edges.extend(tx.edges(sight, &of_case, most)?);
    }
    edges.retain(|edge| edge.handoff != handoff.id);
    Ok(edges)
}
