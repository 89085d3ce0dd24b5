//! Memories: searched exactly as agents do it, with why each matched; and one memory with its history.

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::contradiction::Contradiction;
use commonbook::model::handoff::Handoff;
use commonbook::model::knowledge::{AgentKnowledge, KnownMemory};
use commonbook::model::memory::{
    Memory, MemoryDifference, MemoryRevision, RevisionHistory, state_differences,
};
use commonbook::model::search::{SearchHit, SearchResponse};
use commonbook::verbs::names;
use maud::{Markup, PreEscaped, html};
use serde_json::{Map, Value, json};

use super::super::parts::{
    act_button, agent, bulk_form, chip, choice, choice_in_words, empty_list, form_fields, handle,
    linked_text, memory_marks, memory_row, next_page, pick, time,
};
use super::super::request::{PageContent, PageRequest, SameCall};
use super::super::word_diff::word_diff;
use crate::calls::words::memory_glance;

/// Memories on one page of the list.
const LISTED_MEMORIES: u32 = 50;

/// The parameters of the URL that narrow both a search and a list.
const FILTERS: [&str; 6] = ["owner", "memory_type", "topic", "importance", "trust", "session"];

/// Those that narrow what changed.
const CHANGE_FILTERS: [&str; 4] = ["owner", "memory_type", "topic", "cursor"];

/// Shows what a search finds, what changed since a time, or all memories, newest first.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let mut fields = Map::new();
    for name in FILTERS {
        if let Some(value) = request.value(name) {
            fields.insert(name.to_owned(), json!(value));
        }
    }
    if let Some(cursor) = request.value("cursor") {
        fields.insert("cursor".to_owned(), json!(cursor));
    }
    let query = request.value("q");
    let (list, same) = match (query, request.value("since")) {
        (Some(query), _) => search(request, query, fields)?,
        (None, Some(since)) => changes(request, since, fields)?,
        (None, None) => list(request, fields)?,
    };
    let main = html! {
        h1 { "Memories" }
        (filter_form(request))
        details class="new" {
            summary { "Save a memory" }
            form method="post" action=(request.act_path(names::SAVE_MEMORY)) class="stack" {
                (form_fields(request, &request.path("memories/{id}")))
                label { "Text" textarea name="text" required rows="3" {} }
                label { "Topics, separated by commas" input type="text" name="topics"; }
                (choice("importance", "Importance", &["normal", "low", "high", "critical"], None))
                button type="submit" { "Save" }
            }
        }
        (list)
    };
    Ok(PageContent { title: "Memories".to_owned(), main, same: vec![same] })
}

fn filter_form(request: &PageRequest) -> Markup {
    html! {
        form class="filters" action=(request.path("memories")) method="get" {
            label { "Question or words" input type="search" name="q" value=(request.value("q").unwrap_or_default()) placeholder="as an agent would ask"; }
            label { "Author" input type="text" name="owner" value=(request.value("owner").unwrap_or_default()); }
            label { "Type" input type="text" name="memory_type" value=(request.value("memory_type").unwrap_or_default()) list="types"; }
            label { "Topic" input type="text" name="topic" value=(request.value("topic").unwrap_or_default()); }
            (choice("importance", "Importance at least", &["", "low", "normal", "high", "critical"], request.value("importance")))
            (choice("trust", "Trust", &["", "normal", "untrusted", "quarantined"], request.value("trust")))
            @if request.value("q").is_none() {
                (choice_in_words("sort", "Sorted by", &["", "found", "told", "used", "access_count"], &sort_words, request.value("sort")))
            }
            label { "Changed since" input type="text" name="since" value=(request.value("since").unwrap_or_default()) placeholder="yesterday, 7d, 2026-11-01"; }
            datalist id="types" {
                @for kind in ["semantic", "episodic", "procedural", "decision", "learning", "profile", "task_context"] {
                    option value=(kind) {}
                }
            }
            button type="submit" { "Show" }
            @if !request.query().is_empty() { a class="quiet" href=(request.own_path()) { "Clear" } }
        }
    }
}

/// An order of the list, in words.
fn sort_words(sort: &str) -> String {
    let words = match sort {
        "" => "newest first",
        "found" => "found most often",
        "told" => "told most often",
        "used" => "used most often",
        _ => "found, told and used most often",
    };
    words.to_owned()
}

/// What changed since a time: each memory as it is now, with the words that differ.
fn changes(
    request: &PageRequest,
    since: &str,
    mut fields: Map<String, Value>,
) -> Result<(Markup, SameCall)> {
    fields.retain(|name, _| CHANGE_FILTERS.contains(&name.as_str()));
    fields.insert("since".to_owned(), json!(since));
    fields.insert("limit".to_owned(), json!(LISTED_MEMORIES));
    let page: Page<MemoryDifference> =
        request.call(names::DIFF_MEMORIES, Value::Object(fields.clone()))?;
    let line = |change: &MemoryDifference| {
        let (chip_text, kind, words) = match &change.before {
            None => ("new", "good", None),
            Some(before) => {
                let words = (before.text != change.after.text)
                    .then(|| word_diff(&before.text, &change.after.text));
                ("changed", "warn", words)
            }
        };
        let states = change.before.iter().flat_map(|then| state_differences(then, &change.after));
        let states: Vec<String> = states.collect();
        html! {
            (chip(chip_text, kind))
            @for state in &states { (chip(state, "quiet")) }
            @if let Some(words) = words { p class="line" { (words) } }
        }
    };
    let list = html! {
        p { "What is new or has changed since " (since) ". " a href=(request.here_with(&[("since", None), ("cursor", None)])) { "Show all memories" } }
        section id="list" data-live="memory.*" aria-label="Changed memories" {
            @if page.items.is_empty() {
                (empty_list("Nothing changed since then.", "Choose an earlier time, or fewer filters."))
            } @else {
                ol class="rows" { @for change in &page.items { (memory_row(request, &change.after, &line(change))) } }
            }
            (next_page(request, page.next.as_ref()))
        }
    };
    let same =
        SameCall::new(names::DIFF_MEMORIES, Value::Object(fields), &["diff", "--since", since]);
    Ok((list, same))
}

fn search(
    request: &PageRequest,
    query: &str,
    mut fields: Map<String, Value>,
) -> Result<(Markup, SameCall)> {
    fields.insert("query".to_owned(), json!(query));
    fields.insert("k".to_owned(), json!(20));
    let found: SearchResponse =
        request.call(names::SEARCH_MEMORY, Value::Object(fields.clone()))?;
    let list = html! {
        section id="hits" aria-label="Hits" {
            p class="muted" {
                (found.total) " match, the best first"
                @if let Some(notice) = &found.notice { "; " (notice) }
            }
            @if found.hits.is_empty() {
                (empty_list("No memory matches.", "Use fewer words or filters, or another word for the same."))
            } @else {
                ol class="rows" { @for hit in &found.hits { (memory_row(request, &hit.memory, &match_facts(hit))) } }
                (next_page(request, found.next.as_ref()))
            }
        }
    };
    Ok((
        list,
        SameCall::new(names::SEARCH_MEMORY, Value::Object(fields), &["search", query, "-k", "20"]),
    ))
}

/// Why a hit matched, and the parts of its score.
fn match_facts(hit: &SearchHit) -> Markup {
    let reasons = serde_json::to_value(&hit.matched).unwrap_or_default();
    let reasons = reasons.as_array().cloned().unwrap_or_default();
    let parts = serde_json::to_value(hit.parts).unwrap_or_default();
    let parts = parts.as_object().cloned().unwrap_or_default();
    html! {
        @for reason in &reasons { (chip(reason.as_str().unwrap_or_default(), "match")) }
        details class="score" {
            summary { "score " (format!("{:.2}", hit.score)) ", relevance " (format!("{:.2}", hit.relevance)) }
            dl class="facts" {
                @for (name, value) in &parts {
                    dt { (name.replace('_', " ")) } dd { (value.as_f64().map_or_else(|| value.to_string(), |number| format!("{number:.3}"))) }
                }
            }
        }
        @for mark in &hit.contradictions { (chip(&format!("contradicted by {}", mark.owner), "bad")) }
    }
}

fn list(request: &PageRequest, mut fields: Map<String, Value>) -> Result<(Markup, SameCall)> {
    fields.insert("limit".to_owned(), json!(LISTED_MEMORIES));
    if let Some(sort) = request.value("sort") {
        fields.insert("sort".to_owned(), json!(sort));
    }
    if request.value("deleted").is_some() {
        fields.insert("deleted".to_owned(), json!(true));
    }
    let page: Page<Memory> = request.call(names::LIST_MEMORIES, Value::Object(fields.clone()))?;
    let can_act = request.value("deleted").is_none();
    let list = html! {
        p {
            @if request.value("deleted").is_some() {
                a href=(request.here_with(&[("deleted", None), ("cursor", None)])) { "Show current memories" }
            } @else {
                a href=(request.here_with(&[("deleted", Some("true")), ("cursor", None)])) { "Show deleted memories" }
            }
        }
        section id="list" data-live="memory.*" aria-label="Memories" {
            @if page.items.is_empty() {
                (empty_list("There are no memories here.", "Save one above, or with: commonbook save The staging database is reset every Sunday"))
            } @else {
                ol class="rows" {
                    @for memory in &page.items {
                        (memory_row(request, memory, &html! { (usage(memory)) @if can_act && !memory.is_quarantined() { (pick("id", &memory.id, &memory_glance(memory))) } }))
                    }
                }
                (next_page(request, page.next.as_ref()))
            }
        }
        @if can_act && !page.items.is_empty() { (selected_acts(request)) }
    };
    Ok((
        list,
        SameCall::new(names::LIST_MEMORIES, Value::Object(fields), &["list", "--limit", "50"]),
    ))
}

/// The buttons for the selected memories: what is of others can be retracted, not deleted. `Enter` in the
/// reason presses the first one.
fn selected_acts(request: &PageRequest) -> Markup {
    let buttons = html! {
        label { "Why they are wrong" input type="text" name="reason"; }
        button type="submit" class="danger" formaction=(request.act_path(names::RETRACT_MEMORY)) { "Retract" }
        button type="submit" formaction=(request.act_path(names::DELETE_MEMORY)) { "Delete" }
    };
    bulk_form(request, &buttons)
}

/// How often a memory reached readers.
fn usage(memory: &Memory) -> Markup {
    html! {
        @if let Some(usage) = &memory.usage {
            span class="muted" { "found " (usage.found) ", told " (usage.told) ", used " (usage.used) }
        }
    }
}

/// Shows one memory with its history, provenance, readers and contradictions.
pub(super) fn show_memory(request: &PageRequest, item: &str) -> Result<PageContent> {
    let memory: Memory = request.call(names::GET_MEMORY, json!({"id": item}))?;
    let id = memory.id.to_string();
    let history: RevisionHistory = request.call(names::MEMORY_HISTORY, json!({"id": id}))?;
    // Those found so far: the page waits for no comparison, and shows a new one as it is found.
    let found = json!({"memory": id, "limit": 20, "wait": false});
    let contradictions: Page<Contradiction> = request.call(names::DETECT_CONTRADICTIONS, found)?;
    let handoffs: Page<Handoff> =
        request.call(names::LIST_HANDOFFS, json!({"memory": id, "limit": 20}))?;
    let readers: Page<KnownMemory> =
        request.call(names::WHO_KNOWS, json!({"memory": id, "limit": 100}))?;
    let back = request.own_path();
    let main = html! {
        p class="path" { a href=(request.path("memories")) { "Memories" } " / " code { (handle(&memory.id)) } }
        article id="memory" data-live="memory.*" {
            h1 { (memory.title.clone().unwrap_or_else(|| "Memory".to_owned())) }
            @if memory.is_opaque() {
                p { (memory.text.len()) " bytes that a program keeps." }
            } @else {
                p class="text" { (linked_text(request, &memory.text)) }
            }
            @if let Some(summary) = &memory.summary { p { strong { "Summary: " } (summary) } }
            p { (chip(memory.memory_type.as_str(), "type")) (memory_marks(&memory))
                @for topic in &memory.topics { a class="chip topic" href=(request.path_with("memories", &[("topic", topic)])) { (topic) } } }
            (facts(request, &memory))
        }
        (contradiction_list(request, &contradictions.items))
        (forms(request, &memory, &back))
        section id="why" aria-label="Who sees it" {
            h2 { "Who sees it" }
            (sight_form(request, &id)?)
        }
        section aria-label="Who received it" {
            h2 { "Who received it" }
            (reader_list(request, readers.items.first().map_or(&[][..], |known| &known.agents), &handoffs.items))
        }
        section aria-label="History" {
            h2 { "History" }
            (revisions(request, &history.items))
        }
    };
    let same = vec![
        SameCall::new(names::GET_MEMORY, json!({"id": id}), &["show", &id]),
        SameCall::new(names::MEMORY_HISTORY, json!({"id": id}), &["history", &id]),
    ];
    Ok(PageContent { title: format!("Memory {}", handle(&memory.id)), main, same })
}

fn facts(request: &PageRequest, memory: &Memory) -> Markup {
    let source = &memory.source;
    html! {
        dl class="facts" {
            dt { "Author" } dd { (agent(request, &memory.owner)) }
            @if let Some(path) = &memory.path { dt { "Path" } dd { code { (path) } } }
            dt { "Saved" } dd { (time(memory.recorded_at)) " through " (source.how.name())
                @if let Some(client) = &source.client { ", " (client) }
                @if let Some(device) = &source.device { ", on " (device) } }
            @if memory.revision > 1 { dt { "Changed" } dd { (time(memory.revised_at)) " by " (agent(request, &memory.revised_by)) ", revision " (memory.revision) } }
            @if let Some(session) = &memory.session { dt { "Session" } dd { code { (session) } } }
            @if let Some(case) = &memory.case {
                dt { "Case" } dd { a href=(request.item_path("cases", case.as_str())) { (case) } @if let Some(position) = memory.position { ", entry " (position) } }
            }
            @if let Some(from) = memory.valid_from { dt { "Holds from" } dd { (time(from)) } }
            @if let Some(until) = memory.valid_until { dt { "Holds until" } dd { (time(until)) } }
            @if let Some(newer) = &memory.superseded_by {
                dt { "Superseded by" } dd { a href=(request.item_path("memories", &newer.to_string())) { code { (handle(newer)) } } }
            }
            @if let Some(retraction) = &memory.retraction { dt { "Retracted" } dd { (retraction.reason) ", by " (agent(request, &retraction.by)) " " (time(retraction.at)) } }
            @if !memory.redacted.is_empty() { dt { "Secrets removed" } dd { (memory.redacted.join(", ")) } }
            @if let Some(usage) = &memory.usage { dt { "Usage" } dd { "found " (usage.found) ", told " (usage.told) ", used " (usage.used) @if let Some(at) = usage.last_told_at { ", last told " (time(at)) } } }
            dt { "Id" } dd { code { (memory.id) } }
        }
    }
}

fn contradiction_list(request: &PageRequest, found: &[Contradiction]) -> Markup {
    html! {
        section id="contradictions" data-live="contradiction.*" aria-label="Contradictions" {
            @if !found.is_empty() {
                h2 { "Contradictions" }
                ul class="plain" {
                    @for one in found {
                        li { a href=(request.item_path("contradictions", &one.id.to_string())) { (one.reason) } " " (chip(one.status.name(), "type")) }
                    }
                }
            }
        }
    }
}

/// What the reader may do with the memory; the verbs decide whether it may.
fn forms(request: &PageRequest, memory: &Memory, back: &str) -> Markup {
    let id = memory.id.to_string();
    let revision = memory.revision.to_string();
    html! {
        section aria-label="Change it" class="acts" {
            h2 { "Change it" }
            @if memory.deleted_at.is_some() || memory.superseded_by.is_some() || memory.archived_at.is_some() {
                (act_button(request, names::RESTORE_MEMORY, "Restore", &[("id", &id)], back))
            }
            @if memory.deleted_at.is_none() && memory.case.is_none() {
              @if !memory.is_opaque() {
                details {
                    summary { "Edit" }
                    form method="post" action=(request.act_path(names::UPDATE_MEMORY)) class="stack" {
                        (form_fields(request, back))
                        input type="hidden" name="id" value=(id);
                        input type="hidden" name="expected_revision" value=(revision);
                        label { "Title" input type="text" name="title" value=(memory.title.clone().unwrap_or_default()); }
                        label { "Text" textarea name="text" rows="5" required { (PreEscaped("\n")) (memory.text) } }
                        (choice("importance", "Importance", &["low", "normal", "high", "critical"], Some(memory.importance.name())))
                        button type="submit" { "Save the change" }
                    }
                }
                details {
                    summary { "Supersede" }
                    form method="post" action=(request.act_path(names::SAVE_MEMORY)) class="stack" {
                        (form_fields(request, &request.path("memories/{id}")))
                        input type="hidden" name="supersedes" value=(id);
                        label { "The newer text" textarea name="text" rows="5" required { (PreEscaped("\n")) (memory.text) } }
                        button type="submit" { "Save the newer one" }
                    }
                }
              }
                (act_button(request, names::DELETE_MEMORY, "Delete", &[("id", &id), ("expected_revision", &revision)], back))
            }
            p { a href=(request.path_with("review", &[("retract", &id)])) { "Retract it…" } " or " a href=(request.path_with("review", &[("forget", &id)])) { "forget it…" } }
        }
    }
}

/// Asks why an agent can or cannot see the memory, and answers.
fn sight_form(request: &PageRequest, id: &str) -> Result<Markup> {
    let named = request.value("agent");
    let answer: Option<Value> = named
        .map(|name| {
            request.call(
                names::EXPLAIN_SIGHT,
                json!({"id": id, "reader": name, "for_user": request.value("user")}),
            )
        })
        .transpose()?;
    Ok(html! {
        form class="filters" action={ (request.own_path()) "#why" } method="get" {
            label { "Why can this agent (not) see it?" input type="text" name="agent" required value=(named.unwrap_or_default()) placeholder="codex"; }
            label { "working for the user" input type="text" name="user" value=(request.value("user").unwrap_or_default()) placeholder="nobody"; }
            button type="submit" { "Ask" }
        }
        @if let Some(answer) = &answer {
            p class="notice" role="status" { (answer["reason"].as_str().unwrap_or_default()) }
        }
    })
}

fn reader_list(request: &PageRequest, readers: &[AgentKnowledge], handoffs: &[Handoff]) -> Markup {
    html! {
        @if readers.is_empty() && handoffs.is_empty() {
            p class="muted" { "No agent received it yet." }
        }
        ul class="plain" {
            @for known in readers {
                li { (agent(request, &known.agent)) " " (chip(known.state.name(), "type"))
                    @if let Some(at) = known.at { " " (time(at)) }
                    @if let Some(context) = &known.context { " " a href=(request.item_path("contexts", &context.to_string())) { "by this context" } } }
            }
            @for handoff in handoffs {
                li { a href=(request.item_path("handoffs", &handoff.id.to_string())) { "handed over: " (handoff.from) " → " (handoff.to) } }
            }
        }
    }
}

fn revisions(request: &PageRequest, history: &[MemoryRevision]) -> Markup {
    html! {
        ol class="history" reversed {
            @for (place, revision) in history.iter().enumerate().rev() {
                li {
                    p { "Revision " (revision.revision) " by " (agent(request, &revision.agent)) " " (time(revision.at)) }
                    @match &revision.purged {
                        Some(purge) => { p { (agent(request, &purge.by)) " purged its content " (time(purge.at)) } }
                        None => p class="text" {
                            @match place.checked_sub(1).and_then(|before| history.get(before)) {
                                Some(before) if before.purged.is_none() => { (word_diff(&before.memory.text, &revision.memory.text)) }
                                _ => { (revision.memory.text) }
                            }
                        }
                    }
                }
            }
        }
    }
}
