//! Who knows what: agents and facts, what each knows as it is, as it was, or not at all.

use std::collections::BTreeSet;

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::knowledge::{AgentKnowledge, KnowledgeState, KnownMemory};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::super::parts::{chip, choice, empty_list, handle, next_page};
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::calls::words::beginning;

/// Agents that the table shows at most.
const SHOWN_AGENTS_MAX: usize = 12;

/// Steps of the slider over time, in days before now.
const SLIDER_DAYS: i64 = 30;

/// Characters of a memory in the table.
const SAID_CHARS_MAX: usize = 90;

/// Shows a table of agents and facts.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let mut fields = Map::from_iter([("limit".to_owned(), json!(50))]);
    for name in ["memory", "entity", "case", "owner", "with", "state", "cursor"] {
        if let Some(value) = request.value(name) {
            fields.insert(name.to_owned(), json!(value));
        }
    }
    let days = request.value("days").and_then(|days| days.parse::<i64>().ok()).unwrap_or_default();
    let days = days.clamp(0, SLIDER_DAYS);
    let at = request.now - SignedDuration::from_hours(24 * days);
    if days > 0 {
        fields.insert("at".to_owned(), json!(at.to_string()));
    }
    let page: Page<KnownMemory> = request.call("who_knows", Value::Object(fields.clone()))?;
    let agents: BTreeSet<String> = page
        .items
        .iter()
        .flat_map(|known| known.agents.iter().map(|one| one.agent.to_string()))
        .collect();
    let main = html! {
        h1 { "Who knows what" }
        form class="filters" action=(request.path("knowledge")) method="get" {
            label { "Agent" input type="text" name="owner" value=(request.value("owner").unwrap_or_default()); }
            label { "What it and this one do not know alike" input type="text" name="with" value=(request.value("with").unwrap_or_default()); }
            label { "Entity" input type="text" name="entity" value=(request.value("entity").unwrap_or_default()) placeholder="tool:PostgreSQL"; }
            label { "Case" input type="text" name="case" value=(request.value("case").unwrap_or_default()); }
            (choice("state", "State", &["", "current", "stale", "never"], request.value("state")))
            label { "As of, days ago: " output { (days) }
                input type="range" name="days" min="0" max=(SLIDER_DAYS) step="1" value=(days); }
            button type="submit" { "Show" }
        }
        p class="muted" { @if days > 0 { "As of " (at.strftime("%F %H:%M UTC")) "." } @else { "As of now." } }
        section id="table" data-live="memory.* context.built handoff.accepted" aria-label="Agents and facts" {
            @if page.items.is_empty() {
                (empty_list("No agent received anything that fits.", "What an agent writes, receives in a context, or reads in a case appears here."))
            } @else {
                (table(request, &page.items, &agents, at))
                (next_page(request, page.next.as_ref()))
            }
        }
    };
    let same = vec![SameCall::new("who_knows", Value::Object(fields), &["knowledge"])];
    Ok(PageContent { title: "Who knows what".to_owned(), main, same })
}

fn table(
    request: &PageRequest,
    facts: &[KnownMemory],
    agents: &BTreeSet<String>,
    at: Timestamp,
) -> Markup {
    let shown: Vec<&String> = agents.iter().take(SHOWN_AGENTS_MAX).collect();
    let more = agents.len() - shown.len();
    html! {
        @if more > 0 { p class="muted" { (more) " further agents know some of it: name one above." } }
        div class="scroll" { table {
            thead { tr { th { "Fact" } @for name in &shown { th { (name) } } } }
            tbody {
                @for fact in facts {
                    tr {
                        td { a href=(request.item_path("memories", &fact.memory.to_string())) { (beginning(&fact.says, SAID_CHARS_MAX)) }
                            " " span class="muted" { code { (handle(&fact.memory)) } " by " (fact.owner) }
                            @if fact.retraction.is_some() { " " (chip("retracted", "bad")) }
                            @if fact.superseded_by.is_some() { " " (chip("superseded", "quiet")) } }
                        @for name in &shown {
                            td { (state(request, fact.agents.iter().find(|one| one.agent.as_str() == name.as_str()), at)) }
                        }
                    }
                }
            }
        } }
    }
}

fn state(request: &PageRequest, known: Option<&AgentKnowledge>, at: Timestamp) -> Markup {
    let Some(known) = known else { return html! { span class="muted" { "–" } } };
    let kind = match known.state {
        KnowledgeState::Current => "good",
        KnowledgeState::Stale => "warn",
        KnowledgeState::Never => "quiet",
    };
    let since = known.at.map(|told| at.duration_since(told).as_hours());
    let title =
        known.at.map(|told| format!("told {}, by {}", told.strftime("%F %H:%M UTC"), known.origin));
    html! {
        span title=[title] {
            @match &known.context {
                Some(context) => { a href=(request.item_path("contexts", &context.to_string())) { (chip(known.state.name(), kind)) } }
                None => { (chip(known.state.name(), kind)) }
            }
            @if let Some(hours) = since { " " span class="muted" { (hours / 24) "d" } }
        }
    }
}
