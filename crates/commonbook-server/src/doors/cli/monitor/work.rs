//! What the panes show beside the events: agents at work, and work that waits for somebody.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use commonbook::base::error::Result;
use commonbook::base::thread;
use commonbook::model::agent::AgentList;
use commonbook::model::caller::Caller;
use commonbook::model::contradiction::Contradiction;
use commonbook::model::entity::{EntityReview, ReviewProposal};
use commonbook::model::handoff::Handoff;
use commonbook::model::memory::Memory;
use commonbook::verbs::names;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::MonitorTarget;
use super::state::{MonitorInput, WorkRow};

use crate::calls::words::transfer;
use crate::doors::cli::layout::{memory_glance, short};

/// The time between two looks at agents and open work.
const WORK_INTERVAL: Duration = Duration::from_secs(2);

/// Items of each kind of open work that are read.
const WORK_ITEMS_MAX: u32 = 50;

/// Reads agents and open work again and again, until the returned sender is dropped.
///
/// # Errors
/// `unavailable` if the machine has no thread left.
pub(super) fn poll_in_background(
    target: MonitorTarget,
    caller: Caller,
    inputs: Sender<MonitorInput>,
) -> Result<Sender<()>> {
    let (held, dropped) = channel();
    thread::start(move || {
        loop {
            let agents = target.call(&caller, names::LIST_AGENTS, json!({}));
            let agents = agents.and_then(|list| serde_json::from_value::<AgentList>(list).ok());
            let agents = agents.map(|list| MonitorInput::Agents(list.items));
            let work = MonitorInput::Work(read_open_work(&target, &caller));
            if agents.into_iter().chain([work]).any(|input| inputs.send(input).is_err()) {
                return;
            }
            if dropped.recv_timeout(WORK_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    })?;
    Ok(held)
}

/// What waits for somebody: handoffs, contradictions, statements about entities, quarantined memories.
fn read_open_work(target: &MonitorTarget, caller: &Caller) -> Vec<WorkRow> {
    let handoffs = json!({"side": "all", "status": ["pending"], "limit": WORK_ITEMS_MAX});
    let page = json!({"limit": WORK_ITEMS_MAX});
    let mut rows = rows_of(target, caller, names::LIST_HANDOFFS, handoffs, |handoff: &Handoff| {
        ("handoff", short(&handoff.id), transfer(handoff))
    });
    let reason = |found: &Contradiction| ("contradiction", short(&found.id), found.reason.clone());
    rows.extend(rows_of(target, caller, names::DETECT_CONTRADICTIONS, page.clone(), reason));
    rows.extend(rows_of(
        target,
        caller,
        names::LIST_REVIEWS,
        page.clone(),
        |review: &EntityReview| ("review", short(&review.id), review_words(review)),
    ));
    // Only a person sees them.
    rows.extend(rows_of(target, caller, names::LIST_QUARANTINED, page, |memory: &Memory| {
        ("quarantine", short(&memory.id), format!("{}: {}", memory.owner, memory_glance(memory)))
    }));
    rows
}

fn rows_of<T: DeserializeOwned>(
    target: &MonitorTarget,
    caller: &Caller,
    verb: &str,
    request: Value,
    row: impl Fn(&T) -> (&'static str, String, String),
) -> Vec<WorkRow> {
    let response = target.call(caller, verb, request).unwrap_or_default();
    let items = response["items"].as_array().into_iter().flatten();
    let typed = items.filter_map(|item| T::deserialize(item).ok());
    let rows = typed.map(|item| {
        let (kind, handle, words) = row(&item);
        WorkRow { kind, handle, words }
    });
    rows.collect()
}

fn review_words(review: &EntityReview) -> String {
    match &review.wanted {
        ReviewProposal::Stated(sighting) => {
            format!("{} states {}:{}", review.agent, sighting.entity_type, sighting.value)
        }
        ReviewProposal::Merged(source) => {
            format!("{} merges {} into {}", review.agent, short(source), short(&review.entity))
        }
    }
}
