//! Handoffs: who hands work to whom, the chains of it, and one handoff with the package that goes along.

use std::collections::{BTreeMap, BTreeSet};

use commonbook::base::error::Result;
use commonbook::base::id::MemoryId;
use commonbook::base::page::Page;
use commonbook::model::agent::Agent;
use commonbook::model::collaboration::{
    AgentPair, CollaborationOverview, CreateHandoffResult, HandoffChain, HandoffEdge,
    HandoffStatistics,
};
use commonbook::model::handoff::choose::MemoryExclusion;
use commonbook::model::handoff::{Handoff, HandoffReceipt, HandoffStatus};
use commonbook::model::memory::{Memory, MemoryChange};
use commonbook::verbs::names;
use commonbook_text::headline::headline;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::super::graphs::{self, DrawnEdge, DrawnNode};
use super::super::parts::{
    agent, chip, choice, empty_list, form_fields, handle, linked_text, next_page, tile, time,
};
use super::super::request::{LINES_SUFFIX, PageContent, PageRequest, SameCall, items_on_lines};
use crate::calls::output::count_text;
use crate::calls::words::memory_glance;

/// Handoffs on one page of the list.
const LISTED_HANDOFFS: u32 = 30;
/// Chains that the page shows.
const SHOWN_CHAINS: usize = 12;
/// Agents and pairs of agents in the graph, those with the most handoffs: more are hard to read, and slow to lay out.
const DRAWN_AGENTS_MAX: usize = 24;
const DRAWN_PAIRS_MAX: usize = 40;
/// Left out memories whose text is shown.
const SHOWN_EXCLUSIONS: usize = 20;
/// Periods that the reader can choose, in days; the first is the usual one.
const PERIODS: [(&str, &str); 4] =
    [("30", "30 days"), ("7", "7 days"), ("1", "1 day"), ("all", "all time")];

/// The fields of the form for a new handoff: texts, lists with an item on each line, and ids that
/// commas separate.
const DRAFT_TEXTS: [&str; 6] = ["to", "task", "context", "case", "kind", "expires_hours"];
const DRAFT_LISTS: [&str; 3] = ["decisions_made", "next_steps", "active_files"];
const DRAFT_IDS: &str = "memories";

/// Shows the graph, the chains and the list.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let collaborations = collaboration_fields(request);
    let overview: CollaborationOverview =
        request.call(names::GET_COLLABORATIONS, Value::Object(collaborations.clone()))?;
    let mut list = Map::from_iter([
        ("side".to_owned(), json!("all")),
        ("limit".to_owned(), json!(LISTED_HANDOFFS)),
    ]);
    if let Some(status) = request.value("status") {
        list.insert("status".to_owned(), json!([status]));
    }
    for (name, field) in [("agent", "with"), ("cursor", "cursor"), ("chain", "chain")] {
        if let Some(value) = request.value(name) {
            list.insert(field.to_owned(), json!(value));
        }
    }
    let page: Page<Handoff> = request.call(names::LIST_HANDOFFS, Value::Object(list.clone()))?;
    let main = html! {
        h1 { "Handoffs" }
        (filter_form(request))
        (create_form(request)?)
        section id="graph" data-live="handoff.*" aria-label="Who hands to whom" {
            h2 { "Who hands to whom" }
            (tiles(request, &overview.statistics))
            (pair_graph(request, &overview))
        }
        div class="split" {
            section id="list" data-live="handoff.*" aria-label="Handoffs" {
                h2 { "Handoffs" }
                @if page.items.is_empty() {
                    (empty_list("There are no handoffs here.", "Choose another status, or hand over: commonbook handoff create codex Write the tests"))
                } @else {
                    ol class="rows" { @for handoff in &page.items { (handoff_row(request, handoff)) } }
                    (next_page(request, page.next.as_ref()))
                }
            }
            section id="chains" data-live="handoff.*" aria-label="Chains" {
                h2 { "Chains" }
                (chain_list(request, &overview.chains))
            }
        }
    };
    let mut list_command = vec!["handoff", "list", "--side", "all"];
    if let Some(status) = request.value("status") {
        list_command.extend(["--status", status]);
    }
    let same = vec![
        SameCall::new(
            names::GET_COLLABORATIONS,
            Value::Object(collaborations),
            &["handoff", "graph"],
        ),
        SameCall::new(names::LIST_HANDOFFS, Value::Object(list), &list_command),
    ];
    Ok(PageContent { title: "Handoffs".to_owned(), main, same })
}

fn collaboration_fields(request: &PageRequest) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(name) = request.value("agent") {
        fields.insert("agent_name".to_owned(), json!(name));
    }
    if let Some(chain) = request.value("chain") {
        fields.insert("chain".to_owned(), json!(chain));
    }
    if let Some(since) = period_start(request) {
        fields.insert("since".to_owned(), json!(since));
    }
    fields
}

/// The beginning of the period that the URL names, at a full hour so that the page stays the same for a while.
fn period_start(request: &PageRequest) -> Option<Timestamp> {
    if request.value("chain").is_some() {
        return None;
    }
    let days: i64 = request.value("period").unwrap_or(PERIODS[0].0).parse().ok()?;
    let start =
        request.now.checked_sub(SignedDuration::from_hours(days.clamp(1, 3_650) * 24)).ok()?;
    Timestamp::from_second(start.as_second() - start.as_second().rem_euclid(3_600)).ok()
}

fn filter_form(request: &PageRequest) -> Markup {
    let mut statuses = vec![""];
    statuses.extend(HandoffStatus::ALL.iter().map(|status| status.name()));
    let period = request.value("period").unwrap_or(PERIODS[0].0);
    html! {
        form class="filters" action=(request.path("handoffs")) method="get" {
            label { "Agent" input type="text" name="agent" value=(request.value("agent").unwrap_or_default()) placeholder="any"; }
            label { "Graph and chains of the last"
                select name="period" {
                    @for (value, name) in PERIODS { option value=(value) selected[value == period] { (name) } }
                }
            }
            (choice("status", "Status in the list", &statuses, request.value("status")))
            @if let Some(chain) = request.value("chain") { input type="hidden" name="chain" value=(chain); }
            button type="submit" { "Show" }
            @if !request.query().is_empty() { a class="quiet" href=(request.own_path()) { "Clear" } }
        }
    }
}

fn tiles(request: &PageRequest, statistics: &HandoffStatistics) -> Markup {
    let of = |status: HandoffStatus| statistics.by_status.get(&status).copied().unwrap_or_default();
    let with_status = |status: HandoffStatus| {
        request.here_with(&[("status", Some(status.name())), ("cursor", None)])
    };
    html! {
        div class="tiles" {
            (tile(&statistics.count, "handoffs", &request.here_with(&[("status", None), ("cursor", None)])))
            (tile(&of(HandoffStatus::Pending), "wait", &with_status(HandoffStatus::Pending)))
            (tile(&of(HandoffStatus::Accepted), "at work", &with_status(HandoffStatus::Accepted)))
            (tile(&statistics.cycles, "closed a cycle", &format!("{}#chains", request.here_with(&[]))))
            (tile(&statistics.rounds, "further rounds", &format!("{}#chains", request.here_with(&[]))))
            @if statistics.refusals > 0 { (tile(&statistics.refusals, "refused for a cycle or depth", &format!("{}#chains", request.here_with(&[])))) }
        }
        @if statistics.to_accept.count > 0 {
            p class="muted" {
                "Accepted after " (duration_text(statistics.to_accept.p50_seconds)) " (median), " (duration_text(statistics.to_accept.p95_seconds)) " (95 %)"
                @if statistics.to_complete.count > 0 { "; completed " (duration_text(statistics.to_complete.p50_seconds)) " after that (median)" }
                ". The longest chain has " (statistics.deepest) "."
            }
        }
    }
}

/// A duration as people say it.
fn duration_text(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1_000.0),
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7_200.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        seconds => format!("{:.1} days", seconds / 86_400.0),
    }
}

/// The pairs of agents that hand over along a cycle.
fn cycle_pairs(chains: &[HandoffChain]) -> BTreeSet<(&Agent, &Agent)> {
    let edges = chains.iter().flat_map(|chain| &chain.handoffs);
    let cycles = edges.filter_map(|edge| edge.cycle.as_ref());
    cycles
        .flat_map(|cycle| cycle.path.windows(2))
        .filter_map(|pair| Some((pair.first()?, pair.last()?)))
        .collect()
}

fn pair_graph(request: &PageRequest, overview: &CollaborationOverview) -> Markup {
    let cycles = cycle_pairs(&overview.chains);
    let pairs = &overview.statistics.pairs;
    if pairs.is_empty() {
        return empty_list(
            "No agent has handed over in this period.",
            "Choose a longer period, or hand over: commonbook handoff create codex Write the tests",
        );
    }
    let mut numbers: BTreeMap<&Agent, usize> = BTreeMap::new();
    let mut agents = Vec::new();
    let mut edges = Vec::new();
    let mut left_out = 0;
    for pair in pairs {
        let new = [&pair.from, &pair.to].iter().filter(|name| !numbers.contains_key(*name)).count();
        if agents.len() + new > DRAWN_AGENTS_MAX || edges.len() >= DRAWN_PAIRS_MAX {
            left_out += 1;
            continue;
        }
        let mut number = |name| {
            *numbers.entry(name).or_insert_with(|| {
                agents.push(name);
                agents.len() - 1
            })
        };
        let (from, to) = (number(&pair.from), number(&pair.to));
        let is_cycle = cycles.contains(&(&pair.from, &pair.to));
        edges.push(DrawnEdge {
            from,
            to,
            label: pair_label(pair),
            class: if is_cycle { "cycle" } else { "" },
        });
    }
    let chosen = request.value("agent");
    let nodes: Vec<DrawnNode> = agents
        .iter()
        .map(|name| DrawnNode {
            label: name.to_string(),
            kind: "agent".to_owned(),
            path: request.item_path("agents", name.as_str()),
            class: if chosen == Some(name.as_str()) { "chosen" } else { "" },
            steps: 0,
        })
        .collect();
    let title = format!(
        "{} between {}",
        count_text(overview.statistics.count, "handoff", "handoffs"),
        count_text(overview.statistics.agents, "agent", "agents")
    );
    html! {
        (graphs::layered(&title, &nodes, &edges))
        p class="muted" {
            (title) "; a line has its number of handoffs, and how many of them are open. "
            @if !cycles.is_empty() { span class="key-cycle" { "Red lines are part of a cycle." } }
            @if left_out > 0 { " " (count_text(left_out, "pair", "pairs")) " of agents with fewer handoffs are only in the table." }
        }
        details {
            summary { "The same as a table" }
            div class="scroll" { table {
                thead { tr { th { "From" } th { "To" } th class="number" { "Handoffs" } th class="number" { "Open" } th class="number" { "Completed" }
                    th class="number" { "Refused or expired" } th class="number" { "Accepted after" } th { "Cycle" } } }
                tbody { @for pair in pairs { (pair_row(request, pair, cycles.contains(&(&pair.from, &pair.to)))) } }
            } }
        }
    }
}

fn status_count(pair: &AgentPair, statuses: &[HandoffStatus]) -> u64 {
    statuses.iter().filter_map(|status| pair.by_status.get(status)).sum()
}

fn open_count(pair: &AgentPair) -> u64 {
    status_count(pair, &[HandoffStatus::Pending, HandoffStatus::Accepted])
}

fn pair_label(pair: &AgentPair) -> String {
    match open_count(pair) {
        0 => pair.count.to_string(),
        open => format!("{} ({open} open)", pair.count),
    }
}

fn pair_row(request: &PageRequest, pair: &AgentPair, is_cycle: bool) -> Markup {
    use HandoffStatus::{Completed, Expired, Rejected, Withdrawn};
    html! {
        tr {
            td { (agent(request, &pair.from)) } td { (agent(request, &pair.to)) } td class="number" { (pair.count) }
            td class="number" { (open_count(pair)) } td class="number" { (status_count(pair, &[Completed])) }
            td class="number" { (status_count(pair, &[Rejected, Withdrawn, Expired])) }
            td class="number" { @if pair.to_accept.count > 0 { (duration_text(pair.to_accept.p50_seconds)) } @else { "–" } }
            td { @if is_cycle { (chip("in a cycle", "bad")) } }
        }
    }
}

fn chain_list(request: &PageRequest, chains: &[HandoffChain]) -> Markup {
    // What goes through several hands comes before single handoffs, the newest first.
    let mut shown: Vec<&HandoffChain> = chains.iter().rev().collect();
    shown.sort_by_key(|chain| chain.handoffs.len() < 2);
    html! {
        @if chains.is_empty() { p class="muted" { "There are no chains." } }
        @for chain in shown.into_iter().take(SHOWN_CHAINS) { (chain_card(request, chain)) }
        @if chains.len() > SHOWN_CHAINS { p class="muted" { (chains.len() - SHOWN_CHAINS) " more chains are not shown; choose an agent or a period." } }
    }
}

fn chain_card(request: &PageRequest, chain: &HandoffChain) -> Markup {
    let cycles = chain.handoffs.iter().filter_map(|edge| edge.cycle.as_ref());
    let rounds = cycles.clone().filter(|cycle| cycle.again).count() as u64;
    let is_idle = cycles.clone().any(|cycle| cycle.idle);
    let chain_id = chain.chain.to_string();
    html! {
        div class="card" {
            ol class="steps" {
                @for (place, edge) in chain.handoffs.iter().enumerate() {
                    @let follows = place.checked_sub(1).and_then(|before| chain.handoffs.get(before)).is_some_and(|before| before.to == edge.from);
                    li { (chain_step(request, edge, follows)) }
                }
            }
            div class="row-facts" {
                a href=(request.here_with(&[("chain", Some(&chain_id)), ("cursor", None)])) { "chain " (handle(&chain.chain)) }
                span { (count_text(chain.handoffs.len() as u64, "handoff", "handoffs")) ", depth " (chain.depth) }
                @if chain.open > 0 { (chip(&format!("{} open", chain.open), "good")) }
                @if cycles.count() > 0 { (chip("cycle", "bad")) }
                @if rounds > 0 { (chip(&count_text(rounds, "further round", "further rounds"), "warn")) }
                @if is_idle { (chip("a round without new memories", "bad")) }
            }
        }
    }
}

fn chain_step(request: &PageRequest, edge: &HandoffEdge, follows: bool) -> Markup {
    html! {
        a href=(request.item_path("handoffs", &edge.handoff.to_string())) {
            @if !follows { (edge.from) " " } "→ " (edge.to)
        }
        " " (status_chip(edge.status))
        @if let Some(cycle) = &edge.cycle {
            " " span class="chip bad" title=(cycle.cycle_text()) { @if cycle.again { "again a cycle" } @else { "closes a cycle" } }
        }
    }
}

fn status_chip(status: HandoffStatus) -> Markup {
    let class = match status {
        HandoffStatus::Pending => "warn",
        HandoffStatus::Accepted => "accent",
        HandoffStatus::Completed => "good",
        HandoffStatus::Rejected | HandoffStatus::Withdrawn | HandoffStatus::Expired => "quiet",
    };
    chip(status.name(), class)
}

fn handoff_row(request: &PageRequest, handoff: &Handoff) -> Markup {
    html! {
        li class="row" id=(handoff.id) {
            a class="row-main" href=(request.item_path("handoffs", &handoff.id.to_string())) { (headline(&handoff.task)) }
            div class="row-facts" {
                code { (handle(&handoff.id)) }
                span { (agent(request, &handoff.from)) " → " (agent(request, &handoff.to)) }
                (status_chip(handoff.status))
                (time(handoff.created_at))
                @if handoff.depth > 1 { span { "number " (handoff.depth) " of its chain" } }
                @if let Some(case) = &handoff.case { a href=(request.item_path("cases", case)) { (case) } }
                span { (count_text(handoff.memories.len() as u64, "memory", "memories")) @if handoff.tokens > 0 { ", " (handoff.tokens) " tokens" } }
                @if handoff.cycle.is_some() { (chip("cycle", "bad")) }
            }
        }
    }
}

/// The form for a new handoff. It first shows what would go along; the handoff itself needs a second step.
fn create_form(request: &PageRequest) -> Result<Markup> {
    let text = |name: &str| request.value(name).unwrap_or_default();
    let is_preview = request.value("preview").is_some();
    let preview = if is_preview { Some(preview(request)?) } else { None };
    let form = html! {
        form method="get" action={ (request.path("handoffs")) "#new" } class="stack" {
            input type="hidden" name="preview" value="true";
            div class="filters" {
                label { "To this agent or role" input type="text" name="to" required value=(text("to")) placeholder="codex"; }
                label { "Case, if any" input type="text" name="case" value=(text("case")); }
                (choice("kind", "Kind", &["sequential", "parallel", "fork", "join"], request.value("kind")))
                label { "Expires after hours" input type="number" name="expires_hours" min="1" value=(text("expires_hours")) placeholder="24"; }
            }
            label { "Task" textarea name="task" required rows="2" { "\n" (text("task")) } }
            label { "What the agent has to know about the work so far" textarea name="context" rows="3" { "\n" (text("context")) } }
            label { "Decisions made, one a line" textarea name="decisions_made" rows="2" { "\n" (text("decisions_made")) } }
            label { "Next steps, one a line" textarea name="next_steps" rows="2" { "\n" (text("next_steps")) } }
            label { "Files, one a line" textarea name="active_files" rows="2" { "\n" (text("active_files")) } }
            label { "Memories that must go along: their ids or handles, separated by commas" input type="text" name="memories" value=(text("memories")); }
            button type="submit" { "Preview what goes along" }
        }
    };
    Ok(html! {
        details class="new" id="new" open[is_preview] {
            summary { "Hand over" }
            @if let Some(preview) = &preview { (preview) }
            (form)
        }
    })
}

/// What the handoff in the URL would be, and the button that creates it.
fn preview(request: &PageRequest) -> Result<Markup> {
    let mut fields = json!({"dry_run": true});
    for name in DRAFT_TEXTS {
        // A browser ends lines with \r\n; the form that hands over sends them as \n too.
        if let Some(value) = request.value(name).map(|value| value.replace("\r\n", "\n")) {
            let number = value.parse::<u32>().ok().filter(|_| name == "expires_hours");
            fields[name] = number.map_or_else(|| json!(value), |number| json!(number));
        }
    }
    for name in DRAFT_LISTS {
        if let Some(value) = request.value(name) {
            fields[name] = json!(items_on_lines(value).collect::<Vec<_>>());
        }
    }
    if let Some(ids) = request.value(DRAFT_IDS) {
        let ids: Vec<&str> = ids.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
        fields[DRAFT_IDS] = json!(ids);
    }
    let would: CreateHandoffResult = match request.call(names::CREATE_HANDOFF, fields) {
        Ok(would) => would,
        Err(error) => {
            return Ok(
                html! { p class="error" role="alert" { (error.message) @if let Some(hint) = &error.hint { " " (hint) } } },
            );
        }
    };
    let drafted = DRAFT_TEXTS.iter().chain([&DRAFT_IDS]).map(|name| (*name, (*name).to_owned()));
    let lists = DRAFT_LISTS.iter().map(|name| (*name, format!("{name}{LINES_SUFFIX}")));
    let drafted =
        drafted.chain(lists).filter_map(|(name, field)| Some((field, request.value(name)?)));
    Ok(html! {
        div class="card" role="status" {
            h2 { "This would go from " (would.handoff.from) " to " (would.handoff.to) }
            @if let Some(warning) = &would.warning { p class="error" { (warning) } }
            @if let Some(hint) = &would.hint { p class="muted" { (hint) } }
            @for stale in &would.stale { p class="error" { (stale.sentence()) } }
            (package(request, &would.handoff, &would.left_out, 0))
            form method="post" action=(request.act_path(names::CREATE_HANDOFF)) {
                (form_fields(request, &request.path("handoffs/{id}")))
                @for (name, value) in drafted { input type="hidden" name=(name) value=(value); }
                button type="submit" { "Hand over" }
            }
        }
    })
}

/// Shows one handoff: the work, the package, the chain, and what its reader can do.
pub(super) fn show_handoff(request: &PageRequest, item: &str) -> Result<PageContent> {
    let receipt: HandoffReceipt = request.call(names::GET_HANDOFF, json!({"handoff": item}))?;
    let handoff = &receipt.handoff;
    let id = handoff.id.to_string();
    let chain: Page<Handoff> = request
        .call(names::LIST_HANDOFFS, json!({"chain": handoff.chain, "side": "all", "limit": 50}))?;
    let back = request.own_path();
    let main = html! {
        p class="path" { a href=(request.path("handoffs")) { "Handoffs" } " / " code { (handle(&handoff.id)) } }
        div id="handoff" data-live="handoff.*" {
            h1 { (agent(request, &handoff.from)) " → " (agent(request, &handoff.to)) " " (status_chip(handoff.status)) }
            @if let Some(cycle) = &handoff.cycle { p class="error" { (cycle.cycle_text()) } }
            p class="text" { (linked_text(request, &handoff.task)) }
            @if let Some(context) = &handoff.context { h2 { "Context" } p class="text" { (linked_text(request, context)) } }
            (lines("Decisions made", &handoff.decisions_made))
            (lines("Next steps", &handoff.next_steps))
            (lines("Files", &handoff.active_files))
            @if let Some(note) = &handoff.note {
                h2 { @if handoff.status == HandoffStatus::Completed { "Result" } @else { "Reason" } }
                p class="text" { (linked_text(request, note)) }
            }
            (facts(request, handoff))
        }
        section id="acts" class="acts" data-live="handoff.*" aria-label="What to do" {
            (acts(request, handoff, &back))
        }
        section id="changed" data-live="memory.* handoff.*" aria-label="Changed since" { (changed(request, &receipt.changed)) }
        section id="package" aria-label="Package" {
            h2 { "What goes along" }
            (package(request, handoff, &receipt.left_out, receipt.left_out_count))
        }
        section id="chain" data-live="handoff.*" aria-label="Chain" {
            h2 { "Its chain" }
            (chain_steps(request, handoff, &chain.items))
        }
    };
    let same = vec![
        SameCall::new(names::GET_HANDOFF, json!({"handoff": id}), &["handoff", "show", &id]),
        SameCall::new(names::ACCEPT_HANDOFF, json!({"handoff": id}), &["handoff", "accept", &id]),
    ];
    Ok(PageContent { title: format!("Handoff {}", handle(&handoff.id)), main, same })
}

fn lines(title: &str, items: &[String]) -> Markup {
    html! {
        @if !items.is_empty() {
            h2 { (title) }
            ul { @for item in items { li class="line" { (item) } } }
        }
    }
}

fn facts(request: &PageRequest, handoff: &Handoff) -> Markup {
    html! {
        dl class="facts" {
            dt { "Created" } dd { (time(handoff.created_at)) ", " (handoff.kind.name()) }
            @if let Some(at) = handoff.accepted_at { dt { "Accepted" } dd { (time(at)) } }
            @match handoff.ended_at {
                Some(at) => { dt { "Ended" } dd { (time(at)) } }
                None if handoff.status == HandoffStatus::Pending => { dt { "Expires" } dd { (time(handoff.expires_at)) } }
                None => {}
            }
            @if let Some(role) = &handoff.role { dt { "For the role" } dd { (role) } }
            @if let Some(user) = &handoff.user_id { dt { "For the user" } dd { (user) } }
            @if let Some(case) = &handoff.case { dt { "Case" } dd { a href=(request.item_path("cases", case)) { (case) } } }
            @if let Some(session) = &handoff.session { dt { "Session" } dd { code { (session) } } }
            dt { "Id" } dd { code { (handoff.id) } }
        }
    }
}

/// The steps that the status leaves open; the verbs decide whether the reader may take them.
fn acts(request: &PageRequest, handoff: &Handoff, back: &str) -> Markup {
    let id = handoff.id.to_string();
    let is_pending = handoff.status == HandoffStatus::Pending;
    if !handoff.status.is_open() {
        return html! {};
    }
    let step = |verb: &str, label: &str, field: Option<(&str, &str, bool)>| {
        html! {
            form method="post" action=(request.act_path(verb)) class="stack" {
                (form_fields(request, back))
                input type="hidden" name="handoff" value=(id);
                @if let Some((name, words, is_required)) = field {
                    label { (words) textarea name=(name) rows="2" required[is_required] {} }
                }
                button type="submit" { (label) }
            }
        }
    };
    let reader = request.caller().ok().map(|caller| &caller.agent);
    let is_target = reader.is_some_and(|reader| handoff.to == *reader || handoff.has_role(reader));
    html! {
        h2 { "What to do" }
        p class="muted" {
            @if is_pending { "Only " (handoff.to) " may accept or reject it, and only " (handoff.from) " may withdraw it." }
            @else { "Only " (handoff.to) " may complete or reject it." }
        }
        @if is_pending {
            details open[is_target] { summary { "Accept" } (step(names::ACCEPT_HANDOFF, "Accept", None)) }
            details { summary { "Withdraw" } (step(names::WITHDRAW_HANDOFF, "Withdraw", Some(("reason", "Why, if you like", false)))) }
        } @else {
            details open[is_target] { summary { "Complete" } (step(names::COMPLETE_HANDOFF, "Complete", Some(("result", "The result", false)))) }
        }
        details { summary { "Reject" } (step(names::REJECT_HANDOFF, "Reject", Some(("reason", "Why", true)))) }
    }
}

fn changed(request: &PageRequest, changes: &[MemoryChange]) -> Markup {
    html! {
        @if !changes.is_empty() {
            h2 { "Changed since it was handed over" }
            ul class="plain" {
                @for change in changes {
                    li { a href=(request.item_path("memories", &change.id.to_string())) { code { (handle(&change.id)) } } " of " (agent(request, &change.owner)) " "
                        (chip(change.change.name(), "warn"))
                        @if let Some(newer) = &change.by { " by " a href=(request.item_path("memories", &newer.to_string())) { code { (handle(newer)) } } } }
                }
            }
        }
    }
}

/// The memories and entities of a handoff, and what was left out.
fn package(
    request: &PageRequest,
    handoff: &Handoff,
    left_out: &[MemoryExclusion],
    left_out_count: u32,
) -> Markup {
    let said = |id: &MemoryId| {
        // As it was handed over; and to show it here is no use of the memory.
        let then = json!({"id": id, "at": handoff.created_at});
        let memory: Option<Memory> = request.call(names::MEMORY_AT, then).ok();
        memory.map(|memory| memory_glance(&memory))
    };
    let path = |id: &MemoryId| request.item_path("memories", &id.to_string());
    html! {
        p { (count_text(handoff.memories.len() as u64, "memory", "memories")) ", " (count_text(handoff.entities.len() as u64, "entity", "entities"))
            @if handoff.tokens > 0 { "; " (handoff.tokens) " tokens in all" } }
        @if !handoff.memories.is_empty() {
            ol class="rows" {
                @for memory in &handoff.memories {
                    li class="row" {
                        a class="row-main" href=(path(&memory.id)) { (said(&memory.id).unwrap_or_else(|| "You cannot see this memory any more.".to_owned())) }
                        div class="row-facts" {
                            code { (handle(&memory.id)) } (agent(request, &memory.author)) (chip(memory.why.name(), "match"))
                            span { "score " (format!("{:.2}", memory.score)) } span { (memory.tokens) " tokens" }
                            @if memory.headline { (chip("headline", "quiet")) }
                            @if memory.private { (chip("private", "quiet")) }
                        }
                    }
                }
            }
        }
        @if !handoff.entities.is_empty() {
            p { "Entities: " @for entity in &handoff.entities {
                a class="chip topic" href=(request.item_path("entities", &entity.id.to_string())) title={ (entity.tokens) " tokens" } { (entity.kind) ":" (entity.value) } " " } }
        }
        @if left_out_count > 0 { p class="muted" { (count_text(u64::from(left_out_count), "memory", "memories")) " more would have fitted the task; there was no room." } }
        @if !left_out.is_empty() {
            details {
                summary { "Left out: " (left_out.len()) }
                ul class="plain" {
                    @for memory in left_out.iter().take(SHOWN_EXCLUSIONS) {
                        li { a href=(path(&memory.id)) { (said(&memory.id).unwrap_or_else(|| handle(&memory.id))) } " "
                            (chip(&memory.reason.to_string(), "warn")) " " span class="muted" { "score " (format!("{:.2}", memory.score)) } }
                    }
                }
                @if left_out.len() > SHOWN_EXCLUSIONS { p class="muted" { (left_out.len() - SHOWN_EXCLUSIONS) " more." } }
            }
        }
    }
}

fn chain_steps(request: &PageRequest, handoff: &Handoff, chain: &[Handoff]) -> Markup {
    let mut chain: Vec<&Handoff> = chain.iter().collect();
    chain.sort_by_key(|link| (link.depth, link.created_at));
    html! {
        ol class="rows" {
            @for link in chain {
                li class={ "row" @if link.id == handoff.id { " current" } } {
                    a class="row-main" href=(request.item_path("handoffs", &link.id.to_string())) aria-current=[(link.id == handoff.id).then_some("true")] {
                        span class="muted" { (link.depth) ". " } (link.from) " → " (link.to) ": " (headline(&link.task))
                    }
                    div class="row-facts" {
                        (status_chip(link.status)) (time(link.created_at))
                        @if link.cycle.is_some() { (chip("closes a cycle", "bad")) }
                        @if let Some(note) = &link.note { span { (headline(note)) } }
                    }
                }
            }
        }
    }
}
