//! What an agent received, as a receipt with its events: one home for contexts, briefings, handoffs
//! and resumed sessions.

use serde_json::json;

use crate::base::error::Result;
use crate::base::hash::sha256;
use crate::base::id::{ContextId, MemoryId};
use crate::model::access::{ItemKind, Sight};
use crate::model::caller::Caller;
use crate::model::event::{EventKind, ItemFigures, NewEvent, work_details};
use crate::model::memory::Sharing;
use crate::prompt::briefing::BriefingItem;
use crate::prompt::context::choose::{CandidateReceipt, ContextSource};
use crate::prompt::context::{ContextOrigin, ContextReceipt, ContextRecord, retraction_of};
use crate::prompt::item::PromptItem;
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::ops::forgotten::receipt_without_forgotten;
use crate::verbs::ops::write_once::WriteScope;
use commonbook_text::fence::Fence;
use commonbook_text::tokens;

/// The nonce in the receipt of a text without a fence.
pub(super) const UNUSED_NONCE: &str = "000000000000";

/// A text that tells its reader all of these items: no choice was made for it.
pub(super) struct TextDelivery<'t> {
    pub(super) origin: ContextOrigin,
    /// The task that it belongs to.
    pub(super) task: &'t str,
    pub(super) text: &'t str,
    /// The session of the reader.
    pub(super) session: Option<String>,
    /// The most tokens that it may have.
    pub(super) budget: usize,
    pub(super) items: Vec<PromptItem>,
}

/// Stores the receipt of a text in the write that hands it out, with its event. Memories and
/// handoffs alone are recorded: an entity is only what memories say of it.
pub(super) fn record_delivery(
    tx: &mut Tx<'_>,
    WriteScope { caller, now, ids, .. }: WriteScope<'_>,
    delivery: TextDelivery<'_>,
) -> Result<()> {
    // All anonymous callers share one name, and would see each other's receipts.
    if caller.agent.is_anonymous() {
        return Ok(());
    }
    let receipts = delivery.items.iter().filter_map(|item| {
        let source = match ItemKind::of(&item.id) {
            ItemKind::Memory(_) => ContextSource::Relevant,
            ItemKind::Handoff(_) => ContextSource::Handoff,
            ItemKind::File => return None,
        };
        Some(CandidateReceipt::of_delivery(item, source, now))
    });
    let (task, candidates) = (delivery.task.to_owned(), receipts.collect());
    let count = tokens::count(delivery.text);
    let mut receipt = ContextReceipt::of_delivery(task, candidates, delivery.budget, count);
    receipt.origin = delivery.origin;
    receipt.session = delivery.session;
    receipt.diagnostics.resolved_user_id.clone_from(&caller.user);
    let record = ContextRecord {
        id: ContextId::new(ids, now),
        workspace: caller.workspace.clone(),
        agent: caller.agent.clone(),
        at: now,
        sequence: tx.journal_end(&caller.workspace)?,
        milliseconds: 0,
        sha256: sha256(delivery.text),
        nonce: Fence::nonce_of_block(delivery.text).unwrap_or(UNUSED_NONCE).to_owned(),
        standing: None,
        is_bound: caller.proof.is_bound(),
        receipt,
    };
    record_context(tx, &record)?;
    note_heard(tx, caller, &record)
}

/// Notes for briefings of the same session what a text told, so that none repeats it.
fn note_heard(tx: &mut Tx<'_>, caller: &Caller, record: &ContextRecord) -> Result<()> {
    let told: Vec<&CandidateReceipt> = record.receipt.included().collect();
    let ids: Vec<MemoryId> = told.iter().filter_map(|told| MemoryId::parse(&told.id)).collect();
    let revisions = tx.memories_with_ids(&record.workspace, &ids)?;
    let items = revisions.iter().map(|memory| {
        let id = memory.id.to_string();
        let is_headline = told.iter().any(|told| told.id == id && told.headline);
        BriefingItem::told(&id, memory.revision, is_headline)
    });
    let items: Vec<BriefingItem> = items.collect();
    let reader = Caller { session: record.receipt.session.clone(), ..caller.clone() };
    let sight = Sight::reading(&reader)?;
    Commonbook::note_context_items(tx, &reader, &sight, &items, record.at)
}

/// Stores a receipt with its events.
pub(super) fn record_context(tx: &mut Tx<'_>, record: &ContextRecord) -> Result<()> {
    let record = &receipt_without_forgotten(tx, record)?;
    tx.put_context(record)?;
    tx.note_told(&record.reading())?;
    for memory in record.receipt.included().filter_map(|told| retraction_of(&told.id)) {
        tx.hear_retraction(&record.workspace, &record.agent, memory, record.at)?;
    }
    for event in context_events(record) {
        tx.append_event(&event)?;
    }
    Ok(())
}

/// The events of a context: that it was built, and that standing memory was loaded for it.
fn context_events(record: &ContextRecord) -> Vec<NewEvent> {
    let (agent, at, receipt) = (&record.agent, record.at, &record.receipt);
    let event = |kind, subject: String| {
        let sharing = Sharing::Private;
        NewEvent {
            user_id: record.user_id().map(str::to_owned),
            ..NewEvent::for_subject(kind, &record.workspace, subject, agent, at, sharing)
        }
    };
    let details = |candidates: Vec<&CandidateReceipt>, further: &[_]| {
        let items: Vec<ItemFigures> = candidates.into_iter().map(figures_of).collect();
        work_details(&items, further)
    };
    let built = NewEvent {
        details: details(
            receipt.included().collect(),
            &[
                ("agent_id", json!(agent)),
                ("source", json!(receipt.origin)),
                ("candidate_count", json!(receipt.diagnostics.candidate_count)),
            ],
        ),
        ..event(EventKind::ContextBuilt, record.id.to_string())
    };
    let is_standing = |candidate: &&CandidateReceipt| candidate.source == ContextSource::Standing;
    let standing: Vec<&CandidateReceipt> = receipt.included().filter(is_standing).collect();
    let file = record.standing.as_ref().filter(|_| !standing.is_empty());
    let loaded = file.map(|file| NewEvent {
        details: details(
            standing,
            &[
                ("agent_id", json!(agent)),
                ("source", json!(file.source)),
                ("memory_source", json!(file.source)),
                ("memory_size", json!(file.bytes)),
                ("timestamp", json!(at)),
            ],
        ),
        ..event(EventKind::AgentMemoryLoaded, agent.to_string())
    });
    [Some(built), loaded].into_iter().flatten().collect()
}

fn figures_of(candidate: &CandidateReceipt) -> ItemFigures {
    ItemFigures {
        id: candidate.id.clone(),
        bytes: candidate.bytes.unwrap_or_default() as u64,
        tokens: candidate.tokens.unwrap_or_default() as u64,
    }
}
