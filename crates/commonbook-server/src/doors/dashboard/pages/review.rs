//! Review: what waits for a person, and the acts that need a look before: retracting, forgetting and
//! consolidating. Each shows first what would change.

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::consolidation::ConsolidationResult;
use commonbook::model::entity::{EntityReview, ReviewProposal};
use commonbook::model::forgetting::{AlikeMemory, ForgetCertificate, ForgetResult};
use commonbook::model::lineage::OutdatedItem;
use commonbook::model::memory::{Memory, RetractionResult};
use commonbook::verbs::names;
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::{
    act_button, agent, bulk_form, chip, empty_list, form_fields, handle, memory_row, pick, time,
};
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::calls::output::count_text;
use crate::calls::words::memory_glance;

/// Things of one kind on the page.
const SHOWN_ITEMS: u32 = 50;

/// Shows what waits, or the preview of an act that the URL names.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    if let Some(id) = request.value("retract") {
        return retraction(request, id);
    }
    if let Some(id) = request.value("forget") {
        return forgetting(request, id);
    }
    if request.value("consolidate").is_some() {
        return consolidation(request);
    }
    let main = html! {
        h1 { "Review" }
        (quarantine(request))
        (outdated(request)?)
        (entity_reviews(request)?)
        section aria-label="Consolidate" {
            h2 { "Consolidate" }
            p { "Merges memories with the same text and those said to repeat each other, archives what nobody needs. "
                a href=(request.here_with(&[("consolidate", Some("true"))])) { "Show what would change" } }
        }
        (certificates(request)?)
    };
    let same = vec![
        SameCall::new(names::LIST_QUARANTINED, json!({}), &["review"]),
        SameCall::new(names::LIST_OUTDATED, json!({}), &["outdated", "list"]),
        SameCall::new(names::LIST_REVIEWS, json!({}), &["entity", "reviews"]),
    ];
    Ok(PageContent { title: "Review".to_owned(), main, same })
}

fn quarantine(request: &PageRequest) -> Markup {
    let page: Result<Page<Memory>> =
        request.call(names::LIST_QUARANTINED, json!({"limit": SHOWN_ITEMS}));
    let back = request.path("review");
    let has_rows = page.as_ref().is_ok_and(|page| !page.items.is_empty());
    html! {
        section id="quarantine" data-live="memory.*" aria-label="Quarantined memories" {
            h2 { "Quarantined memories" }
            @match page {
                Err(error) => { p class="muted" { (error.message) @if let Some(hint) = &error.hint { " " (hint) } } }
                Ok(page) if page.items.is_empty() => { p class="muted" { "None. A memory that tries to instruct other agents waits here until a person releases it." } }
                Ok(page) => {
                    ol class="rows" {
                        @for memory in &page.items {
                            (memory_row(request, memory, &html! {
                                @for suspicion in memory.reasons() { (chip(suspicion, "bad")) }
                                @if let Some(appeal) = memory.review.as_ref().and_then(|review| review.appeal.as_ref()) { span { "Its author: " (appeal.reason) } }
                                (act_button(request, names::RELEASE_MEMORY, "Release", &[("id", &memory.id.to_string())], &back))
                                (act_button(request, names::DELETE_MEMORY, "Delete", &[("id", &memory.id.to_string())], &back))
                                (pick("id", &memory.id, &memory_glance(memory)))
                            }))
                        }
                    }
                }
            }
        }
        @if has_rows {
            (bulk_form(request, &html! {
                button type="submit" formaction=(request.act_path(names::RELEASE_MEMORY)) { "Release" }
                button type="submit" formaction=(request.act_path(names::DELETE_MEMORY)) { "Delete" }
            }))
        }
    }
}

fn outdated(request: &PageRequest) -> Result<Markup> {
    let page: Page<OutdatedItem> =
        request.call(names::LIST_OUTDATED, json!({"limit": SHOWN_ITEMS}))?;
    let back = request.path("review");
    Ok(html! {
        @if !page.items.is_empty() {
            section aria-label="Derived from what has changed" {
                h2 { "Derived from what has changed" }
                ul class="plain" {
                    @for item in &page.items {
                        li {
                            (item.text.clone().unwrap_or_else(|| item.id.clone())) " "
                            (chip(item.change.name(), "warn")) " by " (agent(request, &item.by)) " " (time(item.at)) " "
                            (act_button(request, names::ACKNOWLEDGE_OUTDATED, "It still holds", &[("id", &item.id)], &back))
                        }
                    }
                }
            }
        }
    })
}

fn entity_reviews(request: &PageRequest) -> Result<Markup> {
    let page: Page<EntityReview> =
        request.call(names::LIST_REVIEWS, json!({"limit": SHOWN_ITEMS}))?;
    let back = request.path("review");
    Ok(html! {
        @if !page.items.is_empty() {
            section aria-label="Entities" {
                h2 { "Statements and merges of entities" }
                ul class="plain" {
                    @for review in &page.items {
                        li {
                            (agent(request, &review.agent)) " wants to "
                            @match &review.wanted {
                                ReviewProposal::Stated(_) => { "add a statement to " }
                                ReviewProposal::Merged(other) => { "merge " a href=(request.item_path("entities", &other.to_string())) { code { (handle(other)) } } " into " }
                            }
                            a href=(request.item_path("entities", &review.entity.to_string())) { code { (handle(&review.entity)) } } " " (time(review.at)) " "
                            (act_button(request, names::DECIDE_REVIEW, "Accept", &[("review_id", &review.id.to_string()), ("judgement", "accept")], &back))
                            (act_button(request, names::DECIDE_REVIEW, "Dismiss", &[("review_id", &review.id.to_string()), ("judgement", "dismiss")], &back))
                        }
                    }
                }
            }
        }
    })
}

fn certificates(request: &PageRequest) -> Result<Markup> {
    let page: Page<ForgetCertificate> =
        request.call(names::LIST_CERTIFICATES, json!({"limit": SHOWN_ITEMS}))?;
    let back = request.path("review");
    Ok(html! {
        @if !page.items.is_empty() {
            section aria-label="Forgotten" {
                h2 { "Forgotten" }
                ul class="plain" {
                    @for certificate in &page.items {
                        li {
                            (count_text(certificate.memories.len() as u64, "memory", "memories")) " by " (agent(request, &certificate.by)) " " (time(certificate.at)) " "
                            @match certificate.finished_at {
                                Some(at) => { (chip("files clean", "good")) " " (time(at)) }
                                None => { (chip("files not clean yet", "warn")) }
                            }
                            details { summary { "Places" } (places(&certificate.places.iter().map(|place| (place.place.clone(), place.found)).collect::<Vec<_>>()))
                                @for copy in &certificate.not_erased { p class="muted" { "Not erased: " (copy) } } }
                            @if certificate.allowed_at.is_none() {
                                (act_button(request, names::ALLOW_FORGOTTEN, "Allow it again", &[("certificate", &certificate.id.to_string())], &back))
                            }
                        }
                    }
                }
            }
        }
    })
}

fn places(places: &[(String, u64)]) -> Markup {
    html! { dl class="facts" { @for (place, found) in places { dt { (place) } dd { (found) } } } }
}

/// What a retraction would reach, as a tree, and the form that does it.
fn retraction(request: &PageRequest, id: &str) -> Result<PageContent> {
    let preview: RetractionResult = request
        .call(names::RETRACT_MEMORY, json!({"id": id, "reason": "preview", "dry_run": true}))?;
    let reached = &preview.blast_radius;
    let memory = &preview.memory;
    let memory_id = memory.id.to_string();
    let main = html! {
        p class="path" { a href=(request.path("review")) { "Review" } " / Retract" }
        h1 { "Retract a memory" }
        p class="text" { (memory.text) }
        p { "It reached " (count_text(reached.agents, "agent", "agents")) ". Each hears once that it was wrong, and why; "
            (count_text(reached.retracted, "memory", "memories")) " would be retracted." }
        ul class="tree" {
            @for node in &reached.nodes {
                li class={ "depth-" (node.depth.min(6)) } {
                    (chip(node.kind.name(), "type")) " "
                    @match node.id.split('_').next() {
                        Some("mem") => { a href=(request.item_path("memories", &node.id)) { code { (handle(&node.id)) } } }
                        _ => { code { (node.id) } }
                    }
                    " " (node.how) @if !node.says.is_empty() { ": " (node.says) } @if let Some(at) = node.at { " " (time(at)) }
                }
            }
        }
        @if reached.left_out > 0 { p class="muted" { (reached.left_out) " more are not shown." } }
        form method="post" action=(request.act_path(names::RETRACT_MEMORY)) class="stack" {
            (form_fields(request, &request.item_path("memories", &memory_id)))
            input type="hidden" name="id" value=(memory_id);
            label { "Why it is wrong, in one sentence" input type="text" name="reason" required; }
            button type="submit" class="danger" { "Retract it" }
            a href=(request.item_path("memories", &memory_id)) { "Leave it" }
        }
    };
    let same = vec![SameCall::new(
        names::RETRACT_MEMORY,
        json!({"id": memory_id, "reason": "…", "dry_run": true}),
        &["retract", &memory_id, "--reason", "…", "--dry-run"],
    )];
    Ok(PageContent { title: "Retract".to_owned(), main, same })
}

/// What a forgetting would remove, and the form that does it. Nothing undoes it.
fn forgetting(request: &PageRequest, id: &str) -> Result<PageContent> {
    let memory: Memory = request.call(names::GET_MEMORY, json!({"id": id}))?;
    let memory_id = memory.id.to_string();
    let preview: ForgetResult =
        request.call(names::FORGET_MEMORY, json!({"id": memory_id, "dry_run": true}))?;
    let main = html! {
        p class="path" { a href=(request.path("review")) { "Review" } " / Forget" }
        h1 { "Forget a memory" }
        p class="text" { (memory.text) }
        p class="error" { "Nothing undoes this: the text goes from every place of this home, and it cannot be saved again." }
        p { (count_text(preview.memories.len() as u64, "memory", "memories")) " would go, and "
            (count_text(preview.redacted.len() as u64, "memory", "memories")) " that quote it would lose the quote:" }
        ul { @for (id, cuts) in &preview.cuts { @for sentence in cuts { li { (id) ": " (sentence) } } } }
        ul { @for copy in &preview.remaining { li { "Stays: " (copy) } } }
        @if !preview.alike.is_empty() { p { "These may say it in other words; read them, and forget or keep each:" } }
        ul {
            @for AlikeMemory { memory, owner, says } in &preview.alike {
                li { a href=(request.item_path("memories", &memory.to_string())) { (says) } " of " (owner) }
            }
        }
        (places(&preview.places.iter().map(|place| (place.place.clone(), place.found)).collect::<Vec<_>>()))
        form method="post" action=(request.act_path(names::FORGET_MEMORY)) class="stack" {
            (form_fields(request, &request.path("review")))
            input type="hidden" name="id" value=(memory_id);
            label { span { input type="checkbox" name="confirm" value="true" required; " I have read what would go" } }
            label { span { input type="checkbox" name="also_quotes" value="true"; " Cut the quotes out of other agents' memories too" } }
            button type="submit" class="danger" { "Forget it for good" }
            a href=(request.item_path("memories", &memory_id)) { "Leave it" }
        }
    };
    let same = vec![SameCall::new(
        names::FORGET_MEMORY,
        json!({"id": memory_id, "dry_run": true}),
        &["forget", &memory_id, "--dry-run"],
    )];
    Ok(PageContent { title: "Forget".to_owned(), main, same })
}

/// What a consolidation would change, and the form that does exactly that.
fn consolidation(request: &PageRequest) -> Result<PageContent> {
    let preview: ConsolidationResult = request.call(
        names::CONSOLIDATE_MEMORY,
        json!({"dry_run": true, "force": request.value("all").is_some()}),
    )?;
    let main = html! {
        p class="path" { a href=(request.path("review")) { "Review" } " / Consolidate" }
        h1 { "Consolidate memories" }
        p {
            @if request.value("all").is_some() {
                "Of all agents. " a href=(request.here_with(&[("all", None)])) { "Only mine" }
            } @else {
                "Your own memories. " a href=(request.here_with(&[("all", Some("true"))])) { "Those of all agents" }
            }
        }
        @if let Some(reason) = &preview.reason { p class="notice" { (reason) } }
        dl class="facts" {
            dt { "Merged" } dd { (preview.merged) }
            dt { "Archived" } dd { (preview.archived) }
            dt { "Pruned" } dd { (preview.pruned) }
            dt { "Sessions summarised" } dd { (preview.summarised) }
            dt { "Entities joined" } dd { (preview.entities) }
        }
        @if preview.items.is_empty() {
            (empty_list("Nothing would change.", "Memories with the same text or said to repeat each other, superseded and expired ones, and those that nobody found for long would appear here."))
        } @else {
            ul class="plain" {
                @for item in &preview.items { li { (summary_of(item)) } }
            }
            form method="post" action=(request.act_path(names::CONSOLIDATE_MEMORY)) class="stack" {
                (form_fields(request, &request.path("review")))
                @if let Some(plan) = &preview.plan { input type="hidden" name="plan" value=(plan); }
                @if request.value("all").is_some() { input type="hidden" name="force" value="true"; }
                button type="submit" { "Do exactly this" }
            }
        }
    };
    let same = vec![SameCall::new(
        names::CONSOLIDATE_MEMORY,
        json!({"dry_run": true}),
        &["consolidate", "--dry-run"],
    )];
    Ok(PageContent { title: "Consolidate".to_owned(), main, same })
}

/// An item of a plan in words: its fields, as REST returns them.
fn summary_of(item: &impl serde::Serialize) -> String {
    let fields = serde_json::to_value(item).unwrap_or_default();
    let fields = fields.as_object().cloned().unwrap_or_default();
    let words = fields.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{} {value}", name.replace('_', " "))
    });
    words.collect::<Vec<_>>().join(", ")
}
