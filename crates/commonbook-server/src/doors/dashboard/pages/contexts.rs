//! Contexts: what each agent received and when, the candidates, and why some were left out.

use std::collections::BTreeMap;

use commonbook::base::error::{Error, Result};
use commonbook::base::page::Page;
use commonbook::prompt::context::choose::CandidateReceipt;
use commonbook::prompt::context::{ContextExplanation, ContextSummary};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::super::parts::{agent, chip, empty_list, handle, next_page, time};
use super::super::plots::share;
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::calls::output::count_text;

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
        request.call("list_contexts", Value::Object(fields.clone()))?;
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
                                (context.agent) ": " (count_text(context.items, "item", "items")) ", " (count_text(context.tokens, "token", "tokens"))
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
    let same = vec![SameCall::new("list_contexts", Value::Object(fields), &["contexts"])];
    Ok(PageContent { title: "Contexts".to_owned(), main, same })
}

/// Shows one context, or two side by side.
pub(super) fn show_context(request: &PageRequest, item: &str) -> Result<PageContent> {
    let (context, replay_error) = explain(request, item)?;
    let other = request.value(OTHER_PARAMETER);
    let other = other
        .map(|id| request.call::<ContextExplanation>("explain_context", json!({"context": id})))
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
    let same = vec![SameCall::new("explain_context", json!({"context": id}), &["explain", &id])];
    Ok(PageContent { title: format!("Context {}", handle(&context.id)), main, same })
}

/// The context, built again if the URL asks for that. Only its agent may build it again.
fn explain(request: &PageRequest, item: &str) -> Result<(ContextExplanation, Option<Error>)> {
    if request.value("replay").is_some() {
        match request.call("explain_context", json!({"context": item, "replay": true})) {
            Ok(context) => return Ok((context, None)),
            Err(error) => {
                let context = request.call("explain_context", json!({"context": item}))?;
                return Ok((context, Some(error)));
            }
        }
    }
    Ok((request.call("explain_context", json!({"context": item}))?, None))
}

fn receipt(request: &PageRequest, context: &ContextExplanation) -> Markup {
    let receipt = &context.receipt;
    let taken: usize = receipt.included().count();
    let used = u64::try_from(receipt.tokens).unwrap_or(u64::MAX);
    let budget = u64::try_from(receipt.tokens_max()).unwrap_or(u64::MAX);
    html! {
        p { strong { "Task: " } (receipt.query) }
        dl class="facts" {
            dt { "Agent" } dd { (agent(request, &context.agent)) }
            dt { "When" } dd { (time(context.at)) ", after event " (context.sequence) ", in " (context.milliseconds) " ms" }
            dt { "Origin" } dd { (receipt.origin.name()) @if let Some(session) = &receipt.session { ", session " code { (session) } } }
            dt { "Budget" } dd { (used) " of " (budget) " tokens" (share(used, budget)) }
            dt { "Items" } dd { (taken) " in full and " (receipt.diagnostics.headline_count) " as headlines of " (receipt.candidates.len()) " candidates; in full from relevance " (receipt.threshold) }
            @if receipt.standing_left_out > 0 { dt { "Standing memory" } dd { (receipt.standing_left_out) " items left out: raise the budget" } }
            @if receipt.handoffs_left > 0 { dt { "Handoffs" } dd { (receipt.handoffs_left) " more wait" } }
            @if let Some(file) = &context.standing { dt { "Standing file" } dd { code { (file.file) } ", " (file.bytes) " bytes" } }
            @if let Some(replay) = &context.replay {
                dt { "Built again" } dd {
                    @if replay.same { (chip("the same bytes", "good")) } @else { (chip("different", "bad")) }
                    @for difference in &replay.differences { p { (difference) } }
                }
            }
        }
        (candidate_table(request, "Told", receipt.candidates.iter().filter(|candidate| candidate.taken)))
        (candidate_table(request, "Headlines", receipt.candidates.iter().filter(|candidate| candidate.headline)))
        (candidate_table(request, "Left out", receipt.candidates.iter().filter(|candidate| candidate.left_out.is_some())))
    }
}

fn candidate_table<'c>(
    request: &PageRequest,
    title: &str,
    candidates: impl Iterator<Item = &'c CandidateReceipt>,
) -> Markup {
    let candidates: Vec<_> = candidates.collect();
    let number = |value: Option<usize>| value.map(|value| value.to_string()).unwrap_or_default();
    html! {
        h2 { (title) " (" (candidates.len()) ")" }
        @if !candidates.is_empty() {
            div class="scroll" { table {
                thead { tr { th { "Item" } th { "Source" } th { "Author" } th class="number" { "Relevance" } th class="number" { "Tokens" } th class="number" { "Bytes" } th { "Why" } } }
                tbody {
                    @for candidate in &candidates {
                        tr {
                            td { (item_link(request, &candidate.id)) " " (chip(&candidate.memory_type, "type")) }
                            td { (candidate.source.name()) }
                            td { (candidate.author) }
                            td class="number" { (candidate.score.map(|score| format!("{score:.2}")).unwrap_or_default()) }
                            td class="number" { (number(candidate.tokens)) }
                            td class="number" { (number(candidate.bytes)) }
                            td {
                                @if let Some(reason) = candidate.left_out { (reason.name().replace('_', " ")) }
                                @if let Some(instead) = &candidate.instead { " instead: " (item_link(request, instead)) }
                                @if let Some(with) = &candidate.with { "shown with " (item_link(request, with)) }
                                @if !candidate.contradictions.is_empty() { " " (chip("contradicted", "bad")) }
                            }
                        }
                    }
                }
            } }
        }
    }
}

/// An item of a context, which leads to its page if it has one.
fn item_link(request: &PageRequest, id: &str) -> Markup {
    let page = match id.split('_').next() {
        Some("mem") => Some("memories"),
        Some("hnd" | "hof" | "handoff") => Some("handoffs"),
        _ => None,
    };
    html! {
        @match page {
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
