//! Handing work over, accepting it, and ending it.

mod offers;

use jiff::Timestamp;

use super::Commonbook;
use super::memory::keep_memory;
use super::ops::handles::longer_handles;
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
    HandoffReceipt, HandoffStatus, HandoffStep, HandoffStepResult, ListHandoffs, RejectHandoff,
    StepAttempt, WithdrawHandoff,
};
use crate::model::memory::{Memory, MemoryType, SaveMemory, Sharing, UsageKind};
use crate::model::search::MemoryRef;
use crate::prompt::context::ContextOrigin;
use crate::prompt::handoff::{PackResult, pack};
use crate::prompt::item::PromptItem;
use crate::store::Transaction;
use crate::verbs::ops::write_once::WriteScope;
use crate::verbs::ops::write_request::WriteRequest;
use commonbook_text::fence::Fence;

/// Handoffs that one transaction of a sweep expires at most.
const HANDOFF_EXPIRY_MAX: u32 = 100;

impl Commonbook {
    /// Hands the caller's work over to another agent, with the memories and entities that belong to
    /// it: found by a search for the task, saved during the work, or received by an earlier
    /// handoff.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field; `not_found` if a named memory is not in sight;
    /// `conflict` if the handoff would close a cycle again or make its chain too long.
    pub fn create_handoff(
        &self,
        caller: &Caller,
        request: &CreateHandoff,
    ) -> Result<CreateHandoffResult> {
        self.policy.may_write(caller)?;
        let session = caller.session.as_deref();
        let draft = request.check(&caller.agent, session, self.collaboration.handoff)?;
        let now = self.clock.now();
        let id = HandoffId::new(&*self.ids, now);
        let fence = self.fence(caller)?;
        let (handoff, offers) = self.offers(caller, id, &draft, now)?;
        let packed = pack(handoff, &offers, &draft.settings, &fence);
        let rules = self.collaboration.rules;
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let edges = cycle_edges(tx, sight, &packed.handoff)?;
            let PackResult { handoff, .. } = &packed;
            let graph = CollaborationGraph::of_edges(&edges);
            let warnings = rules.judge(&graph, &handoff.from, &handoff.to, handoff.depth)?;
            let event = |kind| handoff.event(kind, &caller.agent, now);
            let sequence = tx.append_event(&event(EventKind::HandoffCreated))?;
            tx.insert_handoff(&packed, sequence)?;
            if warnings.cycle.is_some() {
                tx.append_event(&event(EventKind::HandoffCycleFound))?;
            }
            let warning = warnings.warning_text();
            let HandoffWarnings { cycle, deep: _ } = warnings;
            Ok(CreateHandoffResult { handoff: handoff.clone(), warning, cycle })
        })?;
        if !once.repeated {
            self.note_named_memories(caller, &request.memories)?;
        }
        Ok(once.answer)
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
        let note = request.result.clone();
        self.run_handoff_step(caller, request, request.handoff, HandoffStep::Complete, note)
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
            Ok(HandoffStepResult { handoff })
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
            Ok(HandoffReceipt { handoff, left_out })
        })
    }

    /// Handoffs of the caller's workspace in its sight, newest first.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range, or if the cursor or an agent's name is malformed.
    pub fn list_handoffs(&self, caller: &Caller, request: &ListHandoffs) -> Result<Page<Handoff>> {
        let sight = Sight::reading(caller)?;
        let size = PageSize::of(request.limit)?;
        let from = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        let filter = request.filter()?;
        let rows = self.store.read(|tx| tx.handoffs(&sight, &filter, from, size.rows()))?;
        Ok(size.page_by_position(rows).map(|handoff| handoff.redacted_for(&caller.agent)))
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

/// The text of a handoff, and the items in it.
struct HandoffText {
    text: String,
    items: Vec<PromptItem>,
}

/// The text of a handoff for the agent that accepts it.
fn handoff_text(tx: &dyn Transaction, caller: &Caller, handoff: &Handoff) -> Result<HandoffText> {
    let mut package = tx.package(handoff)?;
    let sight = Sight::reading(caller)?;
    // The package is of then, and what contradicts its memories of now.
    let memories: Vec<MemoryRef> =
        package.memories.keys().map(|id| (handoff.workspace.clone(), *id)).collect();
    let marks = tx.contradiction_marks(&sight, &memories)?;
    for item in package.memories.values_mut() {
        *item = item.clone().with_contradictions(&marks);
    }
    let mut block = package.block(handoff);
    block.set_handles(&longer_handles(tx, &sight, &block.item_ids())?);
    let fence = Fence::with_nonce(&package.nonce).ok_or_else(|| {
        Error::new(ErrorKind::Internal, "the package has a nonce that no fence can have")
    })?;
    let items = block.items().cloned().collect();
    Ok(HandoffText { text: block.render(&fence, handoff.created_at), items })
}

/// The handoff with this id in sight.
fn visible_handoff(tx: &dyn Transaction, sight: &Sight, id: HandoffId) -> Result<Handoff> {
    tx.handoff(sight, id)?.ok_or_else(|| {
        Error::not_found(format!("no handoff {id} exists")).hint("Use an id from list_handoffs.")
    })
}

/// Applies one step to a handoff, with its event. If the step was applied before, the handoff
/// returns unchanged.
fn take_step(
    tx: &mut dyn Transaction,
    WriteScope { caller, sight, now, .. }: WriteScope<'_>,
    id: HandoffId,
    step: HandoffStep,
    note: Option<&str>,
) -> Result<Handoff> {
    let before = visible_handoff(tx, sight, id)?;
    let session = caller.session.as_deref();
    let taken = StepAttempt { step, by: &caller.agent, session, note, at: now };
    let Some(after) = before.apply_step(taken)? else { return Ok(before) };
    let kind = status_event(after.status);
    let sequence = tx.append_event(&after.event(kind, &caller.agent, now))?;
    tx.step_handoff(&after, sequence)?;
    Ok(after)
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
fn expire_handoff(
    tx: &mut dyn Transaction,
    handoff: &Handoff,
    id: MemoryId,
    now: Timestamp,
) -> Result<()> {
    let system = Agent::system();
    let taken =
        StepAttempt { step: HandoffStep::Expire, by: &system, session: None, note: None, at: now };
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
    let memory: Memory = request.memory(&source, Sharing::Shared, id, now)?;
    keep_memory(tx, &memory, now)?;
    let sequence = tx.append_event(&after.event(EventKind::HandoffExpired, &system, now))?;
    tx.step_handoff(&after, sequence)
}

/// The handoffs that decide whether this one closes a cycle: those of its chain and its case, and
/// all open ones. Whether a cycle was closed before depends only on its own chain and case: two
/// agents may hand each other different work any number of times.
fn cycle_edges(tx: &dyn Transaction, sight: &Sight, handoff: &Handoff) -> Result<Vec<HandoffEdge>> {
    let most = limits::COLLABORATIONS;
    let of_chain = EdgeFilter { chain: Some(handoff.chain), ..EdgeFilter::default() };
    let mut edges = tx.edges(sight, &of_chain, most)?;
    if let Some(case) = &handoff.case {
        let of_case = EdgeFilter { case: Some(case.clone()), ..EdgeFilter::default() };
        edges.extend(tx.edges(sight, &of_case, most)?);
    }
    let open = tx.edges(sight, &EdgeFilter { open: true, ..EdgeFilter::default() }, most)?;
    let other = |edge: &HandoffEdge| !(edge.from == handoff.from && edge.to == handoff.to);
    edges.extend(open.into_iter().filter(other));
    Ok(edges)
}
