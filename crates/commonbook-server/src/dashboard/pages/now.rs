//! Now: events as they happen, the agents at work, what each received, and the work that waits.

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::agent::{AgentList, AgentRecord};
use commonbook::model::contradiction::Contradiction;
use commonbook::model::event::{Event, EventPage};
use commonbook::model::handoff::Handoff;
use commonbook::model::memory::Memory;
use commonbook::model::stats::WorkspaceStats;
use commonbook::prompt::context::ContextSummary;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::{agent, chip, empty_list, tile, time};
use super::super::plots::{self, Series};
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::output::count_text;
use crate::words::{event_words, transfer};

/// Events that the page shows.
const SHOWN_EVENTS: u64 = 40;

/// Events that the plot counts at most.
const PLOTTED_EVENTS_MAX: u64 = 1_000;

/// Minutes that the plot shows.
const PLOTTED_MINUTES: usize = 60;

/// How long after its last call an agent counts as at work.
const AT_WORK: SignedDuration = SignedDuration::from_mins(30);

/// Shows what happens in the workspace now.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let stats: WorkspaceStats = request.call("get_memory_stats", json!({}))?;
    let events = newest_events(request, stats.events)?;
    let agents: AgentList = request.call("list_agents", json!({}))?;
    let contexts: Page<ContextSummary> = request.call("list_contexts", json!({"limit": 12}))?;
    let handoffs: Page<Handoff> = request
        .call("list_handoffs", json!({"side": "all", "status": ["pending"], "limit": 100}))?;
    let contradictions: Page<Contradiction> =
        request.call("detect_contradictions", json!({"status": "open", "limit": 100}))?;
    let waiting: Option<Page<Memory>> =
        request.call("list_quarantined", json!({"limit": 100})).ok();
    let reviews = waiting.map_or(0, |page| page.items.len());
    let main = html! {
        h1 { "Now" }
        section class="tiles" id="tiles" data-live="*" aria-label="Counts" {
            (tile(&stats.memories, "memories", &request.path("memories")))
            (tile(&agents.items.len(), "agents", &request.path("agents")))
            (tile(&handoffs.items.len(), "handoffs wait", &request.path_with("handoffs", &[("status", "pending")])))
            (tile(&contradictions.items.len(), "contradictions open", &request.path("contradictions")))
            (tile(&reviews, "memories to review", &request.path("review")))
        }
        section id="rates" data-live="*" aria-label="Events over time" {
            h2 { "The last hour" }
            (rates(request, &events))
        }
        div class="split" {
            section id="events" data-live="*" aria-label="Events" {
                h2 { "Events" }
                (event_list(request, &events))
            }
            div {
                section id="agents" data-live="*" aria-label="Agents at work" {
                    h2 { "Agents at work" }
                    (agents_at_work(request, &agents.items))
                }
                section id="contexts" data-live="context.built agent.memory.loaded handoff.*" aria-label="Contexts" {
                    h2 { "What agents received" }
                    (told(request, &contexts.items))
                }
                section id="open" data-live="handoff.* contradiction.* memory.*" aria-label="Open work" {
                    h2 { "Open work" }
                    (open_work(request, &handoffs.items, &contradictions.items, reviews))
                }
            }
        }
    };
    let after = stats.events.saturating_sub(SHOWN_EVENTS).to_string();
    let same = vec![
        SameCall::new(
            "list_events",
            json!({"after": stats.events.saturating_sub(SHOWN_EVENTS)}),
            &["events", "--after", &after],
        ),
        SameCall::new("get_memory_stats", json!({}), &["stats"]),
    ];
    Ok(PageContent { title: "Now".to_owned(), main, same })
}

/// The newest events that the reader may see, the newest first.
fn newest_events(request: &PageRequest, total: u64) -> Result<Vec<Event>> {
    let mut after = total.saturating_sub(PLOTTED_EVENTS_MAX);
    let mut events = Vec::new();
    loop {
        let page: EventPage = request.call("list_events", json!({"after": after, "limit": 100}))?;
        events.extend(page.items);
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    events.reverse();
    Ok(events)
}

fn rates(request: &PageRequest, events: &[Event]) -> Markup {
    let minute_of = |at: Timestamp| {
        let minutes = request.now.duration_since(at).as_secs() / 60;
        usize::try_from(minutes).ok().filter(|minutes| *minutes < PLOTTED_MINUTES)
    };
    let series = |name: &'static str, fits: fn(&Event) -> bool| {
        let mut values = vec![0; PLOTTED_MINUTES];
        for minute in
            events.iter().filter(|event| fits(event)).filter_map(|event| minute_of(event.at))
        {
            values[PLOTTED_MINUTES - 1 - minute] += 1;
        }
        Series { name, values }
    };
    let all = [
        series("memories", |event| event.kind.is_of_memory()),
        series("other", |event| !event.kind.is_of_memory()),
    ];
    plots::bars("Events a minute, over the last hour", &all, "60 minutes ago", "now")
}

fn event_list(request: &PageRequest, events: &[Event]) -> Markup {
    let lookup = |verb: &str, fields| request.call::<serde_json::Value>(verb, fields).ok();
    html! {
        @if events.is_empty() {
            (empty_list("Nothing has happened yet.", "Save a memory: commonbook save The staging database is reset every Sunday"))
        } @else {
            ol class="rows" {
                @for event in events.iter().take(usize::try_from(SHOWN_EVENTS).unwrap_or(usize::MAX)) {
                    li class="row" id={ "event-" (event.sequence) } {
                        a class="row-main" href=(event_path(request, event)) { (event_words(event, None, &lookup)) }
                        div class="row-facts" {
                            (time(event.at)) (chip(event.kind.name(), "type"))
                            span class="muted" { "event " (event.sequence) }
                        }
                    }
                }
            }
        }
    }
}

/// The page of what an event happened to.
pub(super) fn event_path(request: &PageRequest, event: &Event) -> String {
    let subject = event.subject.as_str();
    match event.kind.name().split('.').next() {
        Some("memory") => request.item_path("memories", subject),
        Some("handoff") => request.item_path("handoffs", subject),
        Some("case") => request.item_path("cases", subject),
        Some("entity") => request.item_path("entities", subject),
        Some("contradiction") => request.item_path("contradictions", subject),
        Some("context") => request.item_path("contexts", subject),
        _ => request.item_path("agents", event.actor.as_str()),
    }
}

fn agents_at_work(request: &PageRequest, agents: &[AgentRecord]) -> Markup {
    let is_at_work = |known: &&AgentRecord| request.now.duration_since(known.last_seen) < AT_WORK;
    let mut at_work: Vec<_> = agents.iter().filter(is_at_work).collect();
    at_work.sort_by_key(|known| std::cmp::Reverse(known.last_seen));
    html! {
        @if at_work.is_empty() {
            p class="muted" { "No agent has called in the last 30 minutes." }
        } @else {
            ul class="plain" {
                @for known in at_work.iter().take(12) {
                    li { (agent(request, &known.agent)) " " (time(known.last_seen)) " "
                        span class="muted" { (count_text(known.memory_count, "memory", "memories")) } }
                }
            }
        }
    }
}

fn told(request: &PageRequest, contexts: &[ContextSummary]) -> Markup {
    html! {
        @if contexts.is_empty() {
            p class="muted" { "No agent has received a context yet." }
        } @else {
            ul class="plain" {
                @for context in contexts {
                    li {
                        a href=(request.item_path("contexts", &context.id.to_string())) {
                            (context.agent) ": " (count_text(context.items, "item", "items"))
                        }
                        " " span class="muted" { (context.tokens) " tokens, " (context.bytes) " bytes, " (context.origin.name()) }
                        " " (time(context.at))
                    }
                }
            }
        }
    }
}

fn open_work(
    request: &PageRequest,
    handoffs: &[Handoff],
    contradictions: &[Contradiction],
    reviews: usize,
) -> Markup {
    html! {
        @if handoffs.is_empty() && contradictions.is_empty() && reviews == 0 {
            p class="muted" { "Nothing waits." }
        }
        ul class="plain" {
            @for handoff in handoffs.iter().take(8) {
                li { a href=(request.item_path("handoffs", &handoff.id.to_string())) { (transfer(handoff)) } " " (time(handoff.created_at)) }
            }
            @for found in contradictions.iter().take(8) {
                li { a href=(request.item_path("contradictions", &found.id.to_string())) { (found.reason) } }
            }
            @if reviews > 0 {
                li { a href=(request.path("review")) { (count_text(reviews as u64, "memory", "memories")) " to review" } }
            }
        }
    }
}
