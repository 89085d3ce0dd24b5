//! Now: the work that waits for the person, events as they happen and over time, what each agent received,
//! and the agents at work.

use commonbook::base::error::{Error, Result};
use commonbook::base::page::Page;
use commonbook::model::agent::{AgentList, AgentRecord};
use commonbook::model::event::{Event, EventPage, EventRates, RatePeriod};
use commonbook::model::stats::WorkspaceStats;
use commonbook::prompt::context::ContextSummary;
use commonbook::verbs::names;
use jiff::SignedDuration;
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::{agent, chip, empty_list, time};
use super::super::plots::{self, PlotFrame, Series, TimeMark};
use super::super::request::{PageContent, PageRequest, SameCall};
use super::open_work::open_work;
use crate::calls::output::count_text;
use crate::calls::words::event_words;

/// Events that the page shows.
const SHOWN_EVENTS: u64 = 40;

/// Positions of the journal that the page reads first for its events; each further look reads more.
const EVENT_WINDOW: u64 = 80;

/// By how much each further look at the journal is longer, and how many there are at most: a journal
/// whose newest events are all hidden is not read to its beginning.
const EVENT_WINDOW_FACTOR: u64 = 5;
const EVENT_WINDOWS_MAX: usize = 5;

/// Contexts of the time line.
const TIMED_CONTEXTS_MAX: u64 = 100;

/// Agents at work that the page names.
const SHOWN_AGENTS_MAX: usize = 12;

/// Contexts of the table below it.
const SHOWN_CONTEXTS_MAX: usize = 15;

/// The parameter of the period that the plots show.
const PERIOD_PARAMETER: &str = "period";

/// The kinds of events that the plot tells apart, by the beginnings of their names; all others are
/// together. The number is the colour.
const RATE_GROUPS: [(&str, &[&str], usize); 3] = [
    ("memories", &["memory."], 0),
    ("contexts", &["context.", "agent."], 2),
    ("handoffs and cases", &["handoff.", "case."], 3),
];
const OTHER_COLOUR: usize = 1;

/// How long after its last call an agent counts as at work.
const AT_WORK: SignedDuration = SignedDuration::from_mins(30);

/// Shows what waits for the person, and what happens in the workspace now.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let stats: WorkspaceStats = request.call(names::GET_MEMORY_STATS, json!({}))?;
    let events = newest_events(request, &stats)?;
    let period = period(request)?;
    let rates: EventRates = request.call(names::GET_EVENT_RATES, json!({"period": period}))?;
    let agents: AgentList = request.call(names::LIST_AGENTS, json!({}))?;
    let recent = json!({"since": rates.since, "limit": TIMED_CONTEXTS_MAX});
    let contexts: Page<ContextSummary> = request.call(names::LIST_CONTEXTS, recent)?;
    let main = html! {
        div class="page-head" {
            h1 { "Now" }
            p id="counts" class="counts" data-live="*" {
                a href=(request.path("memories")) { (count_text(stats.memories, "memory", "memories")) } " · "
                a href=(request.path("agents")) { (count_text(agents.items.len() as u64, "agent", "agents")) } " · "
                a href=(request.path_with("memories", &[("since", "yesterday")])) { "what changed since yesterday" } " · "
                a href=(request.path("health")) { "is everything healthy?" }
            }
        }
        div class="split" {
            section id="open" data-live="*" aria-label="Open work" {
                h2 { "What needs you" }
                (open_work(request, &stats, &agents.items)?)
            }
            section id="events" data-live="*" aria-label="Events" {
                h2 { "Events" }
                (event_list(request, &events))
            }
        }
        div class="halves" {
            section id="rates" data-live="*" aria-label="Events over time" {
                div class="section-head" { h2 { "Events over " (period_words(period)) } (period_links(request, period)) }
                (rate_plot(&rates, period))
            }
            section id="contexts" data-live="context.built agent.memory.loaded handoff.*" aria-label="What agents received" {
                h2 { "What agents received" }
                (delegations(request, &contexts, &rates))
            }
        }
        section id="agents" data-live="*" aria-label="Agents at work" {
            h2 { "Agents at work" }
            (agents_at_work(request, &agents.items))
        }
    };
    let after = stats.events.saturating_sub(SHOWN_EVENTS);
    let after_text = after.to_string();
    let same = vec![
        SameCall::new(
            names::LIST_EVENTS,
            json!({"after": after}),
            &["events", "--after", &after_text],
        ),
        SameCall::new(
            names::GET_EVENT_RATES,
            json!({"period": period}),
            &["rates", "--period", period.name()],
        ),
        SameCall::new(names::GET_MEMORY_STATS, json!({}), &["stats"]),
    ];
    Ok(PageContent { title: "Now".to_owned(), main, same })
}

/// The newest events that the reader may see, the newest first.
fn newest_events(request: &PageRequest, stats: &WorkspaceStats) -> Result<Vec<Event>> {
    let (mut window, mut events) = (EVENT_WINDOW, Vec::new());
    for _ in 0..EVENT_WINDOWS_MAX {
        let begin = stats.events.saturating_sub(window);
        events = events_after(request, begin)?;
        if events.len() as u64 >= SHOWN_EVENTS || begin == 0 {
            break;
        }
        window = window.saturating_mul(EVENT_WINDOW_FACTOR);
    }
    events.reverse();
    Ok(events)
}

fn events_after(request: &PageRequest, begin: u64) -> Result<Vec<Event>> {
    let (mut after, mut events) = (begin, Vec::new());
    loop {
        let page: EventPage =
            request.call(names::LIST_EVENTS, json!({"after": after, "limit": 100}))?;
        events.extend(page.items);
        match page.next {
            Some(next) => after = next,
            None => return Ok(events),
        }
    }
}

/// The period that the URL names.
fn period(request: &PageRequest) -> Result<RatePeriod> {
    match request.value(PERIOD_PARAMETER) {
        None => Ok(RatePeriod::Hour),
        Some(name) => name.parse().map_err(|_| {
            Error::invalid(PERIOD_PARAMETER, format!("unknown period {name:?}"))
                .hint("Choose hour, day or week.")
        }),
    }
}

const fn period_words(period: RatePeriod) -> &'static str {
    match period {
        RatePeriod::Hour => "the last hour",
        RatePeriod::Day => "the last 24 hours",
        RatePeriod::Week => "the last 7 days",
    }
}

fn period_links(request: &PageRequest, chosen: RatePeriod) -> Markup {
    let all = [(RatePeriod::Hour, "1 h"), (RatePeriod::Day, "24 h"), (RatePeriod::Week, "7 days")];
    html! {
        nav class="choices" aria-label="Period" {
            @for (period, label) in all {
                a class="chip" href=(request.here_with(&[(PERIOD_PARAMETER, Some(period.name()))]))
                    aria-current=[(period == chosen).then_some("true")] { (label) }
                " "
            }
        }
    }
}

/// The events over time, by what they are about.
fn rate_plot(rates: &EventRates, period: RatePeriod) -> Markup {
    let steps = rates.items.first().map_or(0, |item| item.counts.len());
    let sum = |fits: &dyn Fn(&str) -> bool| {
        let mut values = vec![0; steps];
        for item in rates.items.iter().filter(|item| fits(item.kind.name())) {
            values.iter_mut().zip(&item.counts).for_each(|(value, count)| *value += count);
        }
        values
    };
    let is_of = |kind: &str, beginnings: &[&str]| {
        beginnings.iter().any(|beginning| kind.starts_with(beginning))
    };
    let mut series: Vec<Series> = RATE_GROUPS
        .iter()
        .map(|(name, beginnings, colour)| Series {
            name,
            colour: *colour,
            values: sum(&|kind| is_of(kind, beginnings)),
        })
        .collect();
    let is_other =
        |kind: &str| !RATE_GROUPS.iter().any(|(_, beginnings, _)| is_of(kind, beginnings));
    series.push(Series { name: "other", colour: OTHER_COLOUR, values: sum(&is_other) });
    let (title, times): (_, &[&str]) = match period {
        RatePeriod::Hour => {
            ("Events a minute", &["60 minutes ago", "45", "30", "15 minutes ago", "now"])
        }
        RatePeriod::Day => {
            ("Events in 15 minutes", &["24 hours ago", "18", "12", "6 hours ago", "now"])
        }
        RatePeriod::Week => {
            ("Events in 2 hours", &["7 days ago", "6", "5", "4", "3", "2", "1", "now"])
        }
    };
    let step = i64::try_from(rates.step_seconds).unwrap_or(i64::MAX);
    let step = SignedDuration::from_secs(step);
    let frame = PlotFrame { title, unit: "", since: rates.since, step, times };
    html! {
        (plots::bars(&frame, &series))
        @if let Some(at) = rates.counted_since {
            p class="muted" { "More happened than this counts: it begins at " (time(at)) "." }
        }
        @if !rates.items.is_empty() {
            details {
                summary { "By kind of event" }
                div class="scroll" { table {
                    thead { tr { th { "Event" } th class="number" { "Count" } th class="number" { "Most in a step" } } }
                    tbody {
                        @for item in &rates.items {
                            tr {
                                td { (item.kind.name()) }
                                td class="number" { (item.counts.iter().sum::<u64>()) }
                                td class="number" { (item.counts.iter().max().copied().unwrap_or_default()) }
                            }
                        }
                    }
                } }
            }
        }
    }
}

fn event_list(request: &PageRequest, events: &[Event]) -> Markup {
    let lookup = |verb: &str, fields| request.call::<serde_json::Value>(verb, fields).ok();
    html! {
        @if events.is_empty() {
            (empty_list("Nothing has happened yet.", "Save a memory: commonbook save The staging database is reset every Sunday"))
        } @else {
            ol class="rows dense" {
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
            ul class="in-line" {
                @for known in at_work.iter().take(SHOWN_AGENTS_MAX) {
                    li { (agent(request, &known.agent)) " " (time(known.last_seen)) " "
                        span class="muted" { (count_text(known.memory_count, "memory", "memories")) } }
                }
            }
        }
    }
}

/// The contexts of the period on a time line, and the newest of them as a table.
fn delegations(
    request: &PageRequest,
    contexts: &Page<ContextSummary>,
    rates: &EventRates,
) -> Markup {
    let path = |context: &ContextSummary| request.item_path("contexts", &context.id.to_string());
    let marks = contexts.items.iter().map(|context| TimeMark {
        row: context.agent.to_string(),
        at: context.at,
        size: context.tokens,
        title: format!(
            "{}, {}: {}, {}, {}",
            context.agent,
            context.origin.name(),
            count_text(context.items, "source", "sources"),
            count_text(context.tokens, "token", "tokens"),
            count_text(context.bytes, "byte", "bytes")
        ),
        path: path(context),
    });
    let marks: Vec<TimeMark> = marks.collect();
    html! {
        @if contexts.items.is_empty() {
            p class="muted" { "No agent has received a context in this time. " a href=(request.path("contexts")) { "All contexts" } }
        } @else {
            (plots::time_line("What each agent received", &marks, rates.since, rates.until))
            details { summary { "As a table" } div class="scroll" { table {
                thead { tr { th { "When" } th { "Agent" } th { "How" } th class="number" { "Sources" } th class="number" { "Tokens" } th class="number" { "Bytes" } th { "Receipt" } } }
                tbody {
                    @for context in contexts.items.iter().take(SHOWN_CONTEXTS_MAX) {
                        tr {
                            td { (time(context.at)) } td { (agent(request, &context.agent)) } td { (context.origin.name()) }
                            td class="number" { (context.items) } td class="number" { (context.tokens) } td class="number" { (context.bytes) }
                            td { a href=(path(context)) { "open" } }
                        }
                    }
                }
            } } }
            @if contexts.next.is_some() || contexts.items.len() > SHOWN_CONTEXTS_MAX {
                p { a href=(request.path("contexts")) { "All contexts" } }
            }
        }
    }
}
