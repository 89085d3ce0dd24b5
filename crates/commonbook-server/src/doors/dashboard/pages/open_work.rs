//! Open work: what waits for the person, each kind with its number, its first items and one act.

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::agent::AgentRecord;
use commonbook::model::contradiction::Contradiction;
use commonbook::model::handoff::Handoff;
use commonbook::model::memory::Memory;
use commonbook::model::session::Session;
use commonbook::model::stats::WorkspaceStats;
use commonbook::model::webhook::{Webhook, WebhookList};
use commonbook::verbs::names;
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::{act_button, agent, empty_list, time};
use super::super::request::PageRequest;
use crate::calls::output::count_text;
use crate::calls::words::{beginning, memory_glance, transfer, webhook_state};

/// Things of each kind that are counted; one more is shown as "100 or more".
const COUNTED_MAX: usize = 100;

/// Lines of all kinds together, and of one kind at least.
const LINES_MAX: usize = 12;
const KIND_LINES_MIN: usize = 2;

/// Characters of a line.
const LINE_CHARS_MAX: usize = 110;

/// One kind of work that waits.
struct WorkKind {
    /// How many wait, in words.
    heading: String,
    /// The page of all of them.
    path: String,
    /// The first ones.
    lines: Vec<Markup>,
    /// The one thing to do.
    act: Markup,
}

/// What waits for the person, the most urgent kind first.
///
/// # Errors
/// Those of the verbs that list it.
pub(super) fn open_work(
    request: &PageRequest,
    stats: &WorkspaceStats,
    agents: &[AgentRecord],
) -> Result<Markup> {
    let mut kinds = Vec::new();
    kinds.extend(handoffs(request, agents)?);
    kinds.extend(contradictions(request, stats)?);
    kinds.extend(reviews(request));
    kinds.extend(webhooks(request)?);
    kinds.extend(sessions(request, stats));
    let lines = (LINES_MAX / kinds.len().max(1)).max(KIND_LINES_MIN);
    Ok(html! {
        @if kinds.is_empty() {
            (empty_list("Nothing waits for you.", "Handoffs, contradictions, memories to review, failed webhooks and sessions without a summary appear here."))
        }
        @for kind in &kinds {
            div class="work" {
                h3 { a href=(kind.path) { (kind.heading) } } (kind.act)
                ul class="plain" { @for line in kind.lines.iter().take(lines) { li { (line) } } }
            }
        }
    })
}

/// A link that looks like a button.
fn link(path: &str, label: &str) -> Markup {
    html! { a class="button" href=(path) { (label) } }
}

/// The number of things on a page of at most [`COUNTED_MAX`], in words.
fn counted(number: usize, is_more: bool, one: &str, several: &str) -> String {
    match is_more {
        true => format!("{number} or more {several}"),
        false => count_text(number as u64, one, several),
    }
}

/// Handoffs that nobody has accepted, and those whose target went silent.
fn handoffs(request: &PageRequest, agents: &[AgentRecord]) -> Result<Vec<WorkKind>> {
    let list = |status: &str| {
        let fields = json!({"side": "all", "status": [status], "limit": COUNTED_MAX});
        request.call::<Page<Handoff>>(names::LIST_HANDOFFS, fields)
    };
    let (waiting, accepted) = (list("pending")?, list("accepted")?);
    let seen = |handoff: &Handoff| {
        agents.iter().find(|known| known.agent == handoff.to).map(|known| known.last_seen)
    };
    let is_silent = |handoff: &&Handoff| handoff.has_silent_target(seen(handoff), request.now);
    let silent: Vec<&Handoff> = accepted.items.iter().filter(is_silent).collect();
    let line = |handoff: &Handoff| {
        html! {
            a href=(request.item_path("handoffs", &handoff.id.to_string())) { (beginning(&transfer(handoff), LINE_CHARS_MAX)) } " "
            (time(handoff.accepted_at.unwrap_or(handoff.created_at)))
        }
    };
    let kind = |status: &str, heading: String, lines: Vec<Markup>| {
        let path = request.path_with("handoffs", &[("status", status)]);
        WorkKind { heading, act: link(&path, "Who waits for whom"), path, lines }
    };
    let mut kinds = Vec::new();
    if !waiting.items.is_empty() {
        let (number, is_more) = (waiting.items.len(), waiting.next.is_some());
        let heading = counted(number, is_more, "handoff waits", "handoffs wait");
        kinds.push(kind("pending", heading, waiting.items.iter().map(line).collect()));
    }
    if !silent.is_empty() {
        let (number, is_more) = (silent.len(), accepted.next.is_some());
        let heading = counted(number, is_more, "handoff went silent", "handoffs went silent");
        kinds.push(kind("accepted", heading, silent.into_iter().map(line).collect()));
    }
    Ok(kinds)
}

/// Contradictions found so far: the page waits for no comparison, and reads itself again when one is found.
fn contradictions(request: &PageRequest, stats: &WorkspaceStats) -> Result<Option<WorkKind>> {
    if stats.contradictions == 0 {
        return Ok(None);
    }
    let fields = json!({"status": "open", "limit": LINES_MAX, "wait": false});
    let page: Page<Contradiction> = request.call(names::DETECT_CONTRADICTIONS, fields)?;
    let line = |found: &Contradiction| {
        let path = request.item_path("contradictions", &found.id.to_string());
        html! { a href=(path) { (beginning(&found.reason, LINE_CHARS_MAX)) } " " (time(found.found_at)) }
    };
    let path = request.path("contradictions");
    Ok(Some(WorkKind {
        heading: count_text(stats.contradictions, "contradiction", "contradictions") + " to settle",
        lines: page.items.iter().map(line).collect(),
        act: link(&path, "Settle"),
        path,
    }))
}

/// Quarantined memories; none for a reader who may not review.
fn reviews(request: &PageRequest) -> Option<WorkKind> {
    let fields = json!({"limit": COUNTED_MAX});
    let page: Page<Memory> = request.call(names::LIST_QUARANTINED, fields).ok()?;
    let line = |memory: &Memory| {
        html! { (agent(request, &memory.owner)) ": " (beginning(&memory_glance(memory), LINE_CHARS_MAX)) " " (time(memory.recorded_at)) }
    };
    let path = request.path("review");
    let heading = counted(page.items.len(), page.next.is_some(), "memory", "memories");
    (!page.items.is_empty()).then(|| WorkKind {
        heading: heading + " to review",
        lines: page.items.iter().map(line).collect(),
        act: link(&path, "Review"),
        path,
    })
}

/// Webhooks that stopped, fail, or gave events up.
fn webhooks(request: &PageRequest) -> Result<Option<WorkKind>> {
    let list: WebhookList = request.call(names::LIST_WEBHOOKS, json!({}))?;
    let has_failed = |webhook: &&Webhook| {
        let progress = &webhook.progress;
        progress.failing.is_some() || progress.stopped.is_some() || webhook.dead_letters > 0
    };
    let failed: Vec<&Webhook> = list.items.iter().filter(has_failed).collect();
    let (path, back) = (request.path("health") + "#webhooks", request.path("now"));
    let line = |webhook: &&Webhook| {
        let id = webhook.id.to_string();
        html! {
            (beginning(&webhook.url, LINE_CHARS_MAX)) ": " (webhook_state(webhook)) ", "
            (count_text(webhook.dead_letters, "dead letter", "dead letters")) " "
            (act_button(request, names::RETRY_DELIVERY, "Retry", &[("webhook_id", &id)], &back))
        }
    };
    Ok((!failed.is_empty()).then(|| WorkKind {
        heading: count_text(failed.len() as u64, "webhook", "webhooks") + " failed",
        lines: failed.iter().map(line).collect(),
        act: link(&path, "See why"),
        path,
    }))
}

/// Sessions that ended without a summary; a consolidation summarises them.
fn sessions(request: &PageRequest, stats: &WorkspaceStats) -> Option<WorkKind> {
    if stats.unsummarised == 0 {
        return None;
    }
    let fields = json!({"unsummarised": true, "limit": LINES_MAX});
    let page: Page<Session> = request.call(names::LIST_SESSIONS, fields).ok()?;
    let line = |session: &Session| {
        let memories = request.path_with("memories", &[("session", &session.id.to_string())]);
        html! { (agent(request, &session.agent)) ", " a href=(memories) { "its memories" } " " (time(session.touched_at)) }
    };
    let path = request.path_with("review", &[("consolidate", "true"), ("all", "true")]);
    let heading = count_text(stats.unsummarised, "session", "sessions") + " without a summary";
    let act = link(&path, "Summarise");
    Some(WorkKind { heading, lines: page.items.iter().map(line).collect(), act, path })
}
