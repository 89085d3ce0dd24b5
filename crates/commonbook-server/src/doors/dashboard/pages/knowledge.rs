//! Who knows what: agents and facts, what each knows as it is, as it was, or not at all.

use std::collections::BTreeMap;

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::knowledge::{AgentKnowledge, KnowledgeState, KnownMemory};
use commonbook::verbs::names;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::super::parts::{agent, chip, choice_in_words, empty_list, handle, next_page};
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::calls::output::count_text;
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
    let page: Page<KnownMemory> = request.call(names::WHO_KNOWS, Value::Object(fields.clone()))?;
    let agents = agents_by_knowledge(&page.items);
    let main = html! {
        h1 { "Who knows what" }
        form class="filters" action=(request.path("knowledge")) method="get" {
            label { "What this agent knows" input type="text" name="owner" value=(request.value("owner").unwrap_or_default()); }
            label { "and this one knows differently" input type="text" name="with" value=(request.value("with").unwrap_or_default()); }
            label { "Facts about the entity" input type="text" name="entity" value=(request.value("entity").unwrap_or_default()) placeholder="tool:PostgreSQL"; }
            label { "Entries of the case" input type="text" name="case" value=(request.value("case").unwrap_or_default()); }
            (choice_in_words("state", "Only facts that an agent", &["", "current", "stale", "never"], &state_filter, request.value("state")))
            label { "As of this many days ago: " output { (days) }
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
    let same = vec![SameCall::new(names::WHO_KNOWS, Value::Object(fields), &["knowledge"])];
    Ok(PageContent { title: "Who knows what".to_owned(), main, same })
}

/// The agents of a page of facts: those that know most of them as they are first, then those that know
/// most at all.
fn agents_by_knowledge(facts: &[KnownMemory]) -> Vec<AgentColumn> {
    let mut agents: BTreeMap<&str, AgentColumn> = BTreeMap::new();
    for known in facts.iter().flat_map(|fact| &fact.agents) {
        let name = known.agent.as_str();
        let column = agents.entry(name).or_insert_with(|| AgentColumn {
            name: name.to_owned(),
            current: 0,
            stale: 0,
        });
        match known.state {
            KnowledgeState::Current => column.current += 1,
            KnowledgeState::Stale => column.stale += 1,
            KnowledgeState::Never => {}
        }
    }
    let mut columns: Vec<_> = agents.into_values().collect();
    columns.sort_by_key(|column| std::cmp::Reverse((column.current, column.stale)));
    columns
}

/// An agent as a column of the table.
struct AgentColumn {
    name: String,
    /// Facts that it knows as they are.
    current: usize,
    /// Facts that it knows as they were.
    stale: usize,
}

/// A state in the filter, behind "Only facts that an agent".
fn state_filter(state: &str) -> String {
    let words = match state.parse() {
        Ok(KnowledgeState::Current) => "knows as they are",
        Ok(KnowledgeState::Stale) => "knows as they were",
        Ok(KnowledgeState::Never) => "has never received",
        Err(_) => "knows or not",
    };
    words.to_owned()
}

fn table(
    request: &PageRequest,
    facts: &[KnownMemory],
    agents: &[AgentColumn],
    at: Timestamp,
) -> Markup {
    let shown = &agents[..agents.len().min(SHOWN_AGENTS_MAX)];
    let more = agents.len() - shown.len();
    html! {
        @if more > 0 { p class="muted" { (more) " further agents know some of it: name one above." } }
        div class="scroll" { table {
            thead { tr { th { "Fact" } @for column in shown { th { (agent(request, &column.name)) br; (column.current) " known" @if column.stale > 0 { ", " (column.stale) " outdated" } } } } }
            tbody {
                @for fact in facts {
                    tr {
                        td class="fact" { a href=(request.item_path("memories", &fact.memory.to_string())) { (beginning(&fact.says, SAID_CHARS_MAX)) }
                            " " span class="muted" { code { (handle(&fact.memory)) } " by " (fact.owner) }
                            @if fact.retraction.is_some() { " " (chip("retracted", "bad")) }
                            @if fact.superseded_by.is_some() { " " (chip("superseded", "quiet")) } }
                        @for column in shown {
                            td { (state(request, fact.agents.iter().find(|one| one.agent.as_str() == column.name), at)) }
                        }
                    }
                }
            }
        } }
    }
}

/// What an agent knows of a fact, in words, and since when.
fn state(request: &PageRequest, known: Option<&AgentKnowledge>, at: Timestamp) -> Markup {
    let Some(known) = known else {
        return html! { span class="muted" title="never received it" { "–" } };
    };
    let (words, kind) = match known.state {
        KnowledgeState::Current => ("knows it", "good"),
        KnowledgeState::Stale => ("knows it as it was", "warn"),
        KnowledgeState::Never => ("never received it", "quiet"),
    };
    let since = known.at.map(|received| at.duration_since(received).as_hours() / 24);
    let title = known.at.map(|received| {
        format!("received {}, by {}", received.strftime("%F %H:%M UTC"), known.origin)
    });
    html! {
        span title=[title] {
            @match &known.context {
                Some(context) => { a href=(request.item_path("contexts", &context.to_string())) { (chip(words, kind)) } }
                None => { (chip(words, kind)) }
            }
            @match since {
                Some(0) => { " " span class="muted" { "today" } }
                Some(days) => { " " span class="muted" { "for " (count_text(u64::try_from(days).unwrap_or_default(), "day", "days")) } }
                None => {}
            }
        }
    }
}
