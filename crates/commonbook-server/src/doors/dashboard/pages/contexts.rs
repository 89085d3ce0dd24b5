//! Contexts: what each agent received and when, the candidates, and why some were left out.

use std::collections::BTreeMap;

use commonbook::base::error::{Error, Result};
use commonbook::base::limits;
use commonbook::base::page::Page;
use commonbook::model::handoff::HandoffReceipt;
use commonbook::model::memory::Memory;
use commonbook::prompt::context::choose::{
    CandidateReceipt, ContextOrigin, ContextSource, OmissionReason,
};
use commonbook::prompt::context::{ContextExplanation, ContextSummary};
use commonbook::verbs::names;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::super::parts::{
    agent, chip, empty_list, form_fields, handle, linked_text, next_page, time,
};
use super::super::plots::share;
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::calls::output::count_text;
use crate::calls::words::{memory_glance, transfer};

/// The parameter of the context that stands beside the first.
const OTHER_PARAMETER: &str = "other";

/// Lists the contexts, newest first, day by day.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let mut fields = Map::from_iter([("limit".to_owned(), json!(50))]);
    for name in ["owner", "session", "since", "cursor"] {
        if let Some(value) = request.value(name) {
            fields.insert(name.to_owned(), json!(value));
        }
    }
    let page: Page<ContextSummary> =
        request.call(names::LIST_CONTEXTS, Value::Object(fields.clone()))?;
    let days = page.items.chunk_by(|one, next| {
        one.at.strftime("%F").to_string() == next.at.strftime("%F").to_string()
    });
    let most = page.items.iter().map(|context| context.tokens).max().unwrap_or_default();
    let main = html! {
        h1 { "Contexts" }
        p class="muted" { "What agents received: contexts, briefings, handoffs and resumed sessions. Only the items that you may read are counted." }
        form class="filters" action=(request.path("contexts")) method="get" {
            label { "Agent" input type="text" name="owner" value=(request.value("owner").unwrap_or_default()); }
            label { "Session" input type="text" name="session" value=(request.value("session").unwrap_or_default()); }
            label { "Since" input type="text" name="since" value=(request.value("since").unwrap_or_default()) placeholder="7d, yesterday, 2026-11-01"; }
            button type="submit" { "Show" }
        }
        section id="contexts" data-live="context.built agent.memory.loaded handoff.accepted session.resumed" aria-label="Contexts" {
            @if page.items.is_empty() {
                (empty_list("No agent has received a context.", "An agent receives one from get_context, from its hooks, or with: commonbook context \"fix the payment retries\""))
            }
            @for day in days {
                h2 { (day.first().map(|context| context.at.strftime("%A, %F").to_string()).unwrap_or_default()) }
                ol class="rows" {
                    @for context in day {
                        li class="row" id=(context.id) {
                            a class="row-main" href=(request.item_path("contexts", &context.id.to_string())) {
                                (context.agent) " received " (count_text(context.items, "item", "items")) ", " (count_text(context.tokens, "token", "tokens"))
                            }
                            (share(context.tokens, most))
                            div class="row-facts" {
                                code { (handle(&context.id)) } (time(context.at)) (chip(context.origin.name(), "type"))
                                span { (context.bytes) " bytes" }
                                @if let Some(session) = &context.session { a href=(request.path_with("contexts", &[("session", session)])) { "its session" } }
                            }
                        }
                    }
                }
            }
            (next_page(request, page.next.as_ref()))
        }
    };
    let same = vec![SameCall::new(names::LIST_CONTEXTS, Value::Object(fields), &["contexts"])];
    Ok(PageContent { title: "Contexts".to_owned(), main, same })
}

/// Shows one context, or two side by side.
pub(super) fn show_context(request: &PageRequest, item: &str) -> Result<PageContent> {
    let (context, replay_error) = explain(request, item)?;
    let other = request.value(OTHER_PARAMETER);
    let other = other
        .map(|id| {
            request.call::<ContextExplanation>(names::EXPLAIN_CONTEXT, json!({"context": id}))
        })
        .transpose()?;
    let id = context.id.to_string();
    let main = html! {
        p class="path" { a href=(request.path("contexts")) { "Contexts" } " / " code { (handle(&context.id)) } }
        h1 { "Context of " (context.agent) }
        form class="filters" action=(request.own_path()) method="get" {
            label { "Beside it" input type="text" name=(OTHER_PARAMETER) value=(request.value(OTHER_PARAMETER).unwrap_or_default()) placeholder="id of another context"; }
            button type="submit" { "Compare" }
            a href=(request.here_with(&[("replay", Some("true"))])) { "Build it again and compare" }
            a href=(request.path(&format!("download/{id}"))) download=(format!("context-{}.json", handle(&context.id))) { "Download as JSON" }
        }
        @if let Some(error) = &replay_error { p class="error" { "It cannot be built again: " (error.message) } }
        @match &other {
            Some(other) => {
                (differences(request, &context, other))
                div class="sides" { div { (receipt(request, &context)) } div { (receipt(request, other)) } }
            }
            None => { (receipt(request, &context)) }
        }
    };
    let same =
        vec![SameCall::new(names::EXPLAIN_CONTEXT, json!({"context": id}), &["explain", &id])];
    Ok(PageContent { title: format!("Context {}", handle(&context.id)), main, same })
}

/// The context, built again if the URL asks for that. Only its agent may build it again.
fn explain(request: &PageRequest, item: &str) -> Result<(ContextExplanation, Option<Error>)> {
    if request.value("replay").is_some() {
        match request.call(names::EXPLAIN_CONTEXT, json!({"context": item, "replay": true})) {
            Ok(context) => return Ok((context, None)),
            Err(error) => {
                let context = request.call(names::EXPLAIN_CONTEXT, json!({"context": item}))?;
                return Ok((context, Some(error)));
            }
        }
    }
    Ok((request.call(names::EXPLAIN_CONTEXT, json!({"context": item}))?, None))
}

fn receipt(request: &PageRequest, context: &ContextExplanation) -> Markup {
    let receipt = &context.receipt;
    let told: Vec<_> = receipt.included().collect();
    let diagnostics = &receipt.diagnostics;
    let is_named = |candidate: &&CandidateReceipt| candidate.headline && !candidate.taken;
    let named: Vec<_> = receipt.candidates.iter().filter(is_named).collect();
    let used = u64::try_from(receipt.tokens).unwrap_or(u64::MAX);
    let budget = u64::try_from(receipt.tokens_max()).unwrap_or(u64::MAX);
    html! {
        p { strong { "Task: " } (linked_text(request, &receipt.query)) }
        p { (agent(request, &context.agent)) " received " (count_text(diagnostics.injected_count as u64, "item", "items")) " in full and "
            (count_text(diagnostics.headline_count as u64, "headline", "headlines")) " of "
            (count_text(receipt.candidates.len() as u64, "candidate", "candidates")) ", " (time(context.at)) ", by " (origin_words(receipt.origin)) ": "
            (used) " of " (budget) " tokens." (share(used, budget)) }
        @if let Some(replay) = &context.replay {
            p class="notice" { "Built again: " @if replay.same { (chip("the same bytes", "good")) } @else { (chip("different", "bad")) } }
            @for difference in &replay.differences { p { (difference) } }
        }
        section aria-label="What it received" {
            h2 { "What " (context.agent) " received" }
            p class="muted" { "Each item in the order of the text, in its words of then: those in full, and headlines that say all of theirs." }
            @if told.is_empty() { p class="muted" { "Nothing in full." } }
            @for candidate in &told { (told_item(request, context, candidate)) }
        }
        @if !named.is_empty() {
            section aria-label="Headlines" {
                h2 { "Named by the first words" }
                (candidate_rows(request, context, &named))
            }
        }
        (left_out(request, context))
        details class="figures" id={ "figures-" (handle(&context.id)) } { summary { "All figures" } (figures(request, context)) }
        @if can_add_standing(request) {
            form id=(STANDING_FORM) method="post" action=(request.act_path(names::ADD_STANDING)) {
                (form_fields(request, &request.here_with(&[])))
                input type="hidden" name="role" value=(context.agent.role());
            }
        }
    }
}

/// The form that adds an item to the standing memory of the agent's role; its id.
const STANDING_FORM: &str = "always";

/// Whether the page offers the form: one receipt has one role.
fn can_add_standing(request: &PageRequest) -> bool {
    request.value(OTHER_PARAMETER).is_none()
}

/// What told an agent something, in words.
const fn origin_words(origin: ContextOrigin) -> &'static str {
    match origin {
        ContextOrigin::Context => "a call of get_context",
        ContextOrigin::Delegation => "the hook that delegates work",
        ContextOrigin::Briefing => "a briefing",
        ContextOrigin::Handoff => "a handoff that it accepted",
        ContextOrigin::Resume => "a session that it resumed",
    }
}

/// Why an item was a candidate, in words.
const fn source_words(source: ContextSource) -> &'static str {
    match source {
        ContextSource::Retraction => "it had received it, and it was retracted",
        ContextSource::Handoff => "a handoff waited for it",
        ContextSource::Result => "a handoff of its own had ended",
        ContextSource::Standing => "its standing memory",
        ContextSource::Profile => "about its user",
        ContextSource::TaskContext => "the state of its task",
        ContextSource::Session => "from the session that it went on with",
        ContextSource::Important => "one of the most important memories",
        ContextSource::Entry => "an unread entry of its case",
        ContextSource::Contradiction => "part of a contradiction that was new to it",
        ContextSource::Relevant => "found by the task",
        ContextSource::News => "new from another agent",
    }
}

/// Why a candidate was left out, in words.
const fn omission_words(reason: OmissionReason) -> &'static str {
    match reason {
        OmissionReason::Disabled => "Contexts are off for this agent",
        OmissionReason::Quarantine => "Quarantined: it waits for a person's review",
        OmissionReason::Superseded => "A newer one replaced it",
        OmissionReason::Duplicate => "Another item says the same",
        OmissionReason::Repeated => "The session had heard it, and it is unchanged",
        OmissionReason::Threshold => "It does not fit the task well enough",
        OmissionReason::Maximum => "The maximum number of memories was reached before it",
        OmissionReason::Budget => "No room in the budget of tokens",
    }
}

/// The words of a candidate as they were when the context was made.
struct CandidateText {
    headline: String,
    text: String,
    /// Whether it is a memory that other agents receive too.
    is_memory: bool,
}

/// The text of a candidate; `None` if it has no page, or none any more.
fn candidate_text(
    request: &PageRequest,
    context: &ContextExplanation,
    id: &str,
) -> Option<CandidateText> {
    match page_of(id)? {
        "memories" => {
            let then = json!({"id": id, "at": context.at});
            let memory: Memory = request.call(names::MEMORY_AT, then).ok()?;
            let is_memory = memory.case.is_none() && !memory.is_quarantined();
            let text = if memory.is_quarantined() { String::new() } else { memory.text.clone() };
            Some(CandidateText { headline: memory_glance(&memory), text, is_memory })
        }
        _ => {
            let receipt: HandoffReceipt =
                request.call(names::GET_HANDOFF, json!({"handoff": id})).ok()?;
            let handoff = receipt.handoff;
            let text = [Some(handoff.task.clone()), handoff.context.clone()];
            let text = text.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
            Some(CandidateText { headline: transfer(&handoff), text, is_memory: false })
        }
    }
}

/// An item in full, with why it was in the text and what to do about it.
fn told_item(
    request: &PageRequest,
    context: &ContextExplanation,
    candidate: &CandidateReceipt,
) -> Markup {
    let known = candidate_text(request, context, &candidate.id);
    html! {
        article class="card told" {
            @match &known {
                Some(known) => { p class="text" { (linked_text(request, &known.text)) } }
                None => { p class="muted" { (unknown_text(request, candidate)) } }
            }
            div class="row-facts" {
                (candidate_facts(request, candidate))
                @if let Some(known) = known.filter(|known| known.is_memory) {
                    // The text of another agent becomes a rule only where the person reads all of it.
                    @if can_add_standing(request) && known.text.chars().count() <= limits::STANDING_ITEM_CHARS {
                        button type="submit" form=(STANDING_FORM) name="text" value=(known.text)
                            title={ "Adds it to the standing memory of " (context.agent.role()) } { "Always tell this to " (context.agent.role()) }
                    }
                    a href=(request.path_with("review", &[("retract", &candidate.id)])) { "Never again: retract it…" }
                }
            }
        }
    }
}

/// What a candidate without a text is.
fn unknown_text(request: &PageRequest, candidate: &CandidateReceipt) -> Markup {
    html! {
        @match candidate.source {
            ContextSource::Standing => { "The standing memory " a href=(request.path("standing")) { code { (candidate.id) } } }
            _ => { "It cannot be read any more: " (item_link(request, &candidate.id)) }
        }
    }
}

fn candidate_facts(request: &PageRequest, candidate: &CandidateReceipt) -> Markup {
    html! {
        (item_link(request, &candidate.id)) span { "by " (candidate.author) } (chip(&candidate.memory_type, "type"))
        span { (source_words(candidate.source)) }
        @if let Some(score) = candidate.score.filter(|score| *score >= 0.01) { span { "relevance " (format!("{score:.2}")) } }
        @if candidate.taken && candidate.headline { (chip("headline", "quiet")) }
        @if let Some(tokens) = candidate.tokens { span { (count_text(tokens as u64, "token", "tokens")) } }
        @if let Some(instead) = &candidate.instead { span { "instead: " (item_link(request, instead)) } }
        @if let Some(with) = &candidate.with { span { "shown with " (item_link(request, with)) } }
        @if !candidate.contradictions.is_empty() { (chip("contradicted", "bad")) }
    }
}

/// Candidates by their first lines.
fn candidate_rows(
    request: &PageRequest,
    context: &ContextExplanation,
    candidates: &[&CandidateReceipt],
) -> Markup {
    html! {
        ul class="rows" {
            @for candidate in candidates {
                li class="row" {
                    @match (candidate_text(request, context, &candidate.id), page_of(&candidate.id)) {
                        (Some(known), Some(page)) => { a class="row-main" href=(request.item_path(page, &candidate.id)) { (known.headline) } }
                        _ => { div class="row-main" { (unknown_text(request, candidate)) } }
                    }
                    div class="row-facts" { (candidate_facts(request, candidate)) }
                }
            }
        }
    }
}

/// What was left out, by its reason.
fn left_out(request: &PageRequest, context: &ContextExplanation) -> Markup {
    let candidates = &context.receipt.candidates;
    let mut groups: Vec<(OmissionReason, Vec<&CandidateReceipt>)> = Vec::new();
    for candidate in candidates.iter().filter(|candidate| !candidate.headline) {
        let Some(reason) = candidate.left_out else { continue };
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, group)) => group.push(candidate),
            None => groups.push((reason, vec![candidate])),
        }
    }
    html! {
        @if !groups.is_empty() {
            section aria-label="Left out" {
                h2 { "Left out" }
                @for (reason, group) in &groups {
                    h3 { (omission_words(*reason)) " (" (group.len()) ")" }
                    (candidate_rows(request, context, group))
                }
            }
        }
    }
}

/// The figures of a receipt, and those of each candidate as a table.
fn figures(request: &PageRequest, context: &ContextExplanation) -> Markup {
    let receipt = &context.receipt;
    let number = |value: Option<usize>| value.map(|value| value.to_string()).unwrap_or_default();
    html! {
        dl class="facts" {
            dt { "Journal" } dd { "after event " (context.sequence) ", in " (context.milliseconds) " ms" }
            @if let Some(session) = &receipt.session { dt { "Session" } dd { code { (session) } } }
            dt { "In full" } dd { "from relevance " (receipt.threshold) }
            @if receipt.standing_left_out > 0 { dt { "Standing memory" } dd { (receipt.standing_left_out) " items left out: raise the budget" } }
            @if receipt.handoffs_left > 0 { dt { "Handoffs" } dd { (receipt.handoffs_left) " more wait" } }
            @if let Some(file) = &context.standing { dt { "Standing file" } dd { code { (file.file) } ", " (file.bytes) " bytes" } }
        }
        div class="scroll" { table {
            thead { tr { th { "Item" } th { "Kind" } th { "Source" } th { "Author" } th class="number" { "Relevance" } th class="number" { "Tokens" } th class="number" { "Bytes" } th { "Outcome" } } }
            tbody {
                @for candidate in &receipt.candidates {
                    tr {
                        td { (item_link(request, &candidate.id)) }
                        td { (candidate.memory_type) } td { (candidate.source.name()) } td { (candidate.author) }
                        td class="number" { (candidate.score.map(|score| format!("{score:.2}")).unwrap_or_default()) }
                        td class="number" { (number(candidate.tokens)) }
                        td class="number" { (number(candidate.bytes)) }
                        td { (outcome_words(candidate)) }
                    }
                }
            }
        } }
    }
}

fn outcome_words(candidate: &CandidateReceipt) -> &'static str {
    match candidate {
        CandidateReceipt { taken: true, .. } => "in full",
        CandidateReceipt { headline: true, .. } => "headline",
        CandidateReceipt { left_out, .. } => left_out.map_or("", omission_words),
    }
}

/// The page that an item of a context has.
fn page_of(id: &str) -> Option<&'static str> {
    match id.split_once('_')?.0 {
        "mem" => Some("memories"),
        "hnd" => Some("handoffs"),
        _ => None,
    }
}

/// An item of a context, which leads to its page if it has one.
fn item_link(request: &PageRequest, id: &str) -> Markup {
    html! {
        @match page_of(id) {
            Some(page) => { a href=(request.item_path(page, id)) { code { (handle(&id)) } } }
            None => { code { (id) } }
        }
    }
}

/// Which items only one of two contexts told.
fn differences(
    request: &PageRequest,
    one: &ContextExplanation,
    other: &ContextExplanation,
) -> Markup {
    let told = |context: &ContextExplanation| {
        let included = context.receipt.included();
        included.map(|item| (item.id.clone(), item.revision)).collect::<BTreeMap<_, _>>()
    };
    let (first, second) = (told(one), told(other));
    let only = |items: &BTreeMap<String, Option<u64>>, others: &BTreeMap<String, Option<u64>>| {
        let only = items.iter().filter(|(id, revision)| others.get(*id) != Some(*revision));
        only.map(|(id, _)| id.clone()).collect::<Vec<_>>()
    };
    let both = first.iter().filter(|(id, revision)| second.get(*id) == Some(*revision)).count();
    html! {
        p class="notice" {
            (both) " items are in both. "
            "Only the first: " @for id in only(&first, &second) { (item_link(request, &id)) " " }
            "Only the second: " @for id in only(&second, &first) { (item_link(request, &id)) " " }
        }
    }
}
