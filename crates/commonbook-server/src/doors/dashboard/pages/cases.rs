//! Cases: the matters that agents work on together, and the log of one with what is proposed for it.

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::case::digest::{DigestResult, EntryProposal};
use commonbook::model::case::{
    Case, CaseEntries, CaseEntry, CaseKey, CaseProposal, CaseStatus, EntryKind, ProposalList,
    UnreadCount, UnreadList,
};
use commonbook::model::handoff::Handoff;
use commonbook::verbs::names;
use commonbook_text::headline::headline;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::super::parts::{
    act_button, agent, chip, choice, empty_list, form_fields, handle, linked_text, next_page,
    origin_chip, time,
};
use super::super::request::{LINES_SUFFIX, PageContent, PageRequest, SameCall};
use crate::calls::output::count_text;
use crate::calls::words::transfer;

/// Cases on one page of the list.
const LISTED_CASES: u32 = 30;
/// Entries on one page of a log.
const LISTED_ENTRIES: u64 = 50;
/// Branches of a case that its page names.
const SHOWN_BRANCHES_MAX: u32 = 100;

/// Shows the cases, last opened first.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let mut fields = Map::new();
    for name in ["status", "label", "cursor"] {
        if let Some(value) = request.value(name) {
            fields.insert(name.to_owned(), json!(value));
        }
    }
    fields.insert("limit".to_owned(), json!(LISTED_CASES));
    let page: Page<Case> = request.call(names::LIST_CASES, Value::Object(fields.clone()))?;
    let main = html! {
        h1 { "Cases" }
        p class="muted" { "A case is the log of one matter that several agents work on. Nobody changes an entry; a later one supersedes it." }
        form class="filters" action=(request.path("cases")) method="get" {
            (choice("status", "Status", &["", "open", "closed", "archived"], request.value("status")))
            label { "Label" input type="text" name="label" value=(request.value("label").unwrap_or_default()); }
            button type="submit" { "Show" }
            @if !request.query().is_empty() { a class="quiet" href=(request.own_path()) { "Clear" } }
        }
        details class="new" {
            summary { "Open a case" }
            form method="post" action=(request.act_path(names::OPEN_CASE)) class="stack" {
                (form_fields(request, &request.path("cases/{id}")))
                label { "Title" input type="text" name="title" required maxlength="200"; }
                label { "Key; made of the title if empty" input type="text" name="key"; }
                button type="submit" { "Open" }
            }
        }
        section id="cases" data-live="case.*" aria-label="Cases" {
            @if page.items.is_empty() {
                (empty_list("There are no cases here.", "Open one above, or with: commonbook case open outage"))
            } @else {
                @let unread = unread_counts(request, &page.items.iter().collect::<Vec<_>>());
                ol class="rows" { @for case in &page.items { (case_row(request, case, &unread)) } }
                (next_page(request, page.next.as_ref()))
            }
        }
    };
    let mut command = vec!["case", "list"];
    for (flag, name) in [("--status", "status"), ("--label", "label")] {
        if let Some(value) = request.value(name) {
            command.extend([flag, value]);
        }
    }
    let same = vec![SameCall::new(names::LIST_CASES, Value::Object(fields), &command)];
    Ok(PageContent { title: "Cases".to_owned(), main, same })
}

fn case_row(request: &PageRequest, case: &Case, unread: &[UnreadCount]) -> Markup {
    let unread = unread.iter().find(|count| count.case == case.key && count.unread > 0);
    html! {
        li class="row" id={ "case-" (case.key) } {
            a class="row-main" href=(request.item_path("cases", case.key.as_str())) { (headline(&case.title)) }
            div class="row-facts" {
                code { (case.key) }
                (status_chip(case.status))
                span { (count_text(case.version, "entry", "entries")) }
                @if let Some(count) = unread { (chip(&format!("{} unread", count.unread), "warn")) }
                span { "opened by " (agent(request, &case.opened_by)) }
                @if let Some(lead) = &case.lead { span { "led by " (agent(request, lead)) } }
                span { "changed " (time(case.changed_at)) }
                @if let Some(branch) = &case.branch { (chip(&format!("branch of {}", branch.of), "quiet")) }
                @for label in &case.labels {
                    a class="chip topic" href=(request.path_with("cases", &[("label", label)])) { (label) }
                }
            }
        }
    }
}

fn status_chip(status: CaseStatus) -> Markup {
    chip(status.name(), if status == CaseStatus::Open { "good" } else { "quiet" })
}

/// What the reader has not read of these cases, if the reader can have marks.
fn unread_counts(request: &PageRequest, cases: &[&Case]) -> Vec<UnreadCount> {
    let keys: Vec<&CaseKey> = cases.iter().map(|case| &case.key).collect();
    let counts: Option<UnreadList> = request.call(names::COUNT_UNREAD, json!({"cases": keys})).ok();
    counts.map(|list| list.items).unwrap_or_default()
}

/// Shows one case with its log.
#[expect(clippy::too_many_lines, reason = "a picture or a page, from top to bottom")]
pub(super) fn show_case(request: &PageRequest, item: &str) -> Result<PageContent> {
    let case: Case = request.call(names::GET_CASE, json!({"key": item}))?;
    let key = case.key.to_string();
    let log = read_log(request, &key)?;
    let mark = unread_counts(request, &[&case]).first().map(|count| count.mark);
    let proposals: Option<ProposalList> =
        request.call(names::LIST_PROPOSALS, json!({"key": key})).ok();
    let proposals = proposals.map(|list| list.items).unwrap_or_default();
    let handoffs: Page<Handoff> =
        request.call(names::LIST_HANDOFFS, json!({"case": key, "side": "all", "limit": 10}))?;
    let branches = branches_of(request, &case)?;
    let back = request.own_path();
    let main = html! {
        p class="path" { a href=(request.path("cases")) { "Cases" } " / " code { (case.key) } }
        div id="case" data-live="case.*" {
            h1 { (case.title) " " (status_chip(case.status)) }
            (facts(request, &case, &branches))
        }
        @if !proposals.is_empty() {
            section aria-label="Proposals" {
                h2 { "Proposed for the log" }
                @for proposal in &proposals { (proposal_card(request, &case, proposal, &back)) }
            }
        }
        section id="log" data-live="case.* memory.*" aria-label="Log" {
            h2 { "Log" }
            (log_filter(request, &back))
            (log_list(request, &case, &log, mark))
        }
        @if case.status == CaseStatus::Open {
            section id="append" aria-label="Append an entry" {
                h2 { "Append an entry" }
                (append_form(request, &key, &back))
            }
        }
        section id="digest" aria-label="Digest" {
            h2 { "Digest" }
            (digest(request, &case, &back))
        }
        @if !handoffs.items.is_empty() {
            section id="handoffs" data-live="handoff.*" aria-label="Handoffs of this case" {
                h2 { "Handoffs" }
                ul class="plain" {
                    @for handoff in &handoffs.items {
                        li { a href=(request.item_path("handoffs", &handoff.id.to_string())) { (transfer(handoff)) } " "
                            (chip(handoff.status.name(), "type")) " " (time(handoff.created_at)) }
                    }
                }
            }
        }
        section class="acts" aria-label="Change the case" {
            h2 { "Change the case" }
            (case_acts(request, &case, &back))
        }
    };
    let same = vec![
        SameCall::new(
            names::READ_CASE,
            json!({"key": key, "after": 0}),
            &["case", "read", &key, "--after", "0"],
        ),
        SameCall::new(
            names::APPEND_ENTRY,
            json!({"key": key, "summary": "The gateway was down from 9 to 10"}),
            &["case", "append", &key, "The gateway was down from 9 to 10"],
        ),
        SameCall::new(
            names::DIGEST_CASE,
            json!({"key": key, "dry_run": true}),
            &["case", "digest", &key, "--dry-run"],
        ),
    ];
    Ok(PageContent { title: format!("Case {key}"), main, same })
}

/// The entries that the URL asks for: the newest ones, or those after a position.
fn read_log(request: &PageRequest, key: &str) -> Result<CaseEntries> {
    let mut fields = json!({"key": key});
    for name in ["kind", "author"] {
        if let Some(value) = request.value(name) {
            fields[name] = json!(value);
        }
    }
    match request.value("after").and_then(|after| after.parse::<u64>().ok()) {
        Some(after) => {
            fields["after"] = json!(after);
            fields["limit"] = json!(LISTED_ENTRIES);
        }
        None => fields["last"] = json!(LISTED_ENTRIES),
    }
    request.call(names::READ_CASE, fields)
}

fn branches_of(request: &PageRequest, case: &Case) -> Result<Vec<Case>> {
    let fields = json!({"key": case.key, "limit": SHOWN_BRANCHES_MAX});
    let branches: Page<Case> = request.call(names::LIST_BRANCHES, fields)?;
    Ok(branches.items)
}

fn facts(request: &PageRequest, case: &Case, branches: &[Case]) -> Markup {
    html! {
        dl class="facts" {
            dt { "Opened" } dd { "by " (agent(request, &case.opened_by)) " " (time(case.opened_at)) }
            dt { "Entries" } dd { (case.version) ", changed " (time(case.changed_at)) }
            dt { "Lead" } dd { @match &case.lead {
                Some(lead) => { (agent(request, lead)) " decides on proposed entries" }
                None => { span class="muted" { "nobody: a digest appends its entries at once" } }
            } }
            @if !case.labels.is_empty() {
                dt { "Labels" } dd {
                    @for label in &case.labels { a class="chip topic" href=(request.path_with("cases", &[("label", label)])) { (label) } " " }
                }
            }
            @if let Some(branch) = &case.branch {
                dt { "Branch" } dd { "of " a href=(request.item_path("cases", branch.of.as_str())) { (branch.of) } ", after its entry " (branch.at)
                    @if let Some(at) = branch.merged_at { ", merged " (time(at)) } @else { ", not merged yet" } }
            }
            @if !branches.is_empty() {
                dt { "Branches" } dd {
                    @for branch in branches {
                        a href=(request.item_path("cases", branch.key.as_str())) { (branch.key) } " "
                        span class="muted" {
                            @match &branch.branch {
                                Some(place) if place.merged_at.is_some() => { "merged" }
                                Some(place) => { (count_text(branch.version.saturating_sub(place.at), "entry", "entries")) " of its own" }
                                None => {}
                            }
                        } " "
                    }
                }
            }
        }
    }
}

fn log_filter(request: &PageRequest, back: &str) -> Markup {
    let mut kinds = vec![""];
    kinds.extend(EntryKind::ALL.iter().map(|kind| kind.name()));
    html! {
        form class="filters" action={ (back) "#log" } method="get" {
            (choice("kind", "Kind", &kinds, request.value("kind")))
            label { "Author" input type="text" name="author" value=(request.value("author").unwrap_or_default()); }
            button type="submit" { "Show" }
            @if request.value("kind").is_some() || request.value("author").is_some() { a class="quiet" href={ (back) "#log" } { "Clear" } }
        }
    }
}

fn log_list(request: &PageRequest, case: &Case, log: &CaseEntries, mark: Option<u64>) -> Markup {
    let first = log.entries.first().map_or(0, |entry| entry.position);
    let last = log.entries.last().map_or(0, |entry| entry.position);
    let is_filtered = request.value("kind").is_some() || request.value("author").is_some();
    let before = first.saturating_sub(LISTED_ENTRIES + 1).to_string();
    let last_text = last.to_string();
    html! {
        @if log.entries.is_empty() {
            (empty_list("There is no entry here.", if is_filtered { "Choose another kind or author." } else { "Append one below." }))
        } @else {
            @if first > 1 && !is_filtered {
                a class="more" href={ (request.here_with(&[("after", Some(&before))])) "#log" } { "Earlier entries" }
            }
            ol class="rows" {
                @for entry in &log.entries { (entry_row(request, case, entry, &log.entries, mark)) }
            }
            @if last < case.version && !is_filtered {
                a class="more" href={ (request.here_with(&[("after", Some(&last_text))])) "#log" } { "Later entries" }
            }
            @if mark.is_some_and(|mark| mark < last) && !is_filtered {
                (act_button(request, names::MARK_READ, "Mark these as read", &[("case", case.key.as_str()), ("position", &last_text)], &request.own_path()))
            }
        }
    }
}

fn entry_row(
    request: &PageRequest,
    case: &Case,
    entry: &CaseEntry,
    others: &[CaseEntry],
    mark: Option<u64>,
) -> Markup {
    let is_own = request.caller().is_ok_and(|caller| entry.agent.as_ref() == Some(&caller.agent));
    let is_new = !is_own && mark.is_some_and(|mark| entry.position > mark);
    let position_of = |id: &commonbook::base::id::MemoryId| {
        let other = others.iter().find(|other| other.entry_id == Some(*id));
        other.map_or_else(|| handle(id), |other| format!("#{}", other.position))
    };
    let memory_path =
        |id: &commonbook::base::id::MemoryId| request.item_path("memories", &id.to_string());
    let Some(id) = &entry.entry_id else {
        return html! {
            li class="row withheld" id={ "entry-" (entry.position) } {
                p class="row-main muted" { "#" (entry.position) " is withheld: it is quarantined, or about a user that you do not work for." }
            }
        };
    };
    let is_past = entry.superseded_by.is_some() || entry.retraction.is_some();
    html! {
        li class={ "row" @if is_past { " past" } } id={ "entry-" (entry.position) } {
            a class="row-main" href=(memory_path(id)) {
                span class="muted" { "#" (entry.position) " " }
                @if is_past { s { (entry.summary.clone().unwrap_or_default()) } } @else { (entry.summary.clone().unwrap_or_default()) }
            }
            div class="row-facts" {
                @if let Some(kind) = entry.kind { (chip(kind.name(), if kind == EntryKind::Note { "type" } else { "accent" })) }
                @if let Some(author) = &entry.agent { (agent(request, author)) }
                @if let Some(origin) = &entry.origin { span class="muted" { "said by " (origin.said_by()) } }
                @if let Some(at) = entry.at { (time(at)) }
                @if is_new { (chip("unread", "warn")) }
                @if let Some(note) = &entry.origin_note { (origin_chip(note)) }
                @if let Some(importance) = entry.importance.filter(|importance| importance.name() != "normal") { (chip(importance.name(), "warn")) }
                @for topic in &entry.topics { a class="chip topic" href=(request.path_with("memories", &[("topic", topic)])) { (topic) } }
                @for older in &entry.supersedes { a href=(memory_path(older)) { "supersedes " (position_of(older)) } }
                @if let Some(newer) = &entry.superseded_by { a href=(memory_path(newer)) { "superseded by " (position_of(newer)) } }
                @if let Some(retraction) = &entry.retraction { (chip(&format!("retracted: {}", retraction.reason), "bad")) }
                @if case.status == CaseStatus::Open && !is_past {
                    a class="quiet" href={ (request.here_with(&[("supersedes", Some(&id.to_string()))])) "#append" } { "Supersede…" }
                }
            }
            @if let Some(text) = &entry.text {
                details { summary { "Full text" } p class="text" { (linked_text(request, text)) } }
            }
        }
    }
}

fn append_form(request: &PageRequest, key: &str, back: &str) -> Markup {
    let kinds: Vec<&str> = EntryKind::ALL.iter().map(|kind| kind.name()).collect();
    let supersedes = request.value("supersedes").unwrap_or_default();
    html! {
        form method="post" action=(request.act_path(names::APPEND_ENTRY)) class="stack" {
            (form_fields(request, back))
            input type="hidden" name="key" value=(key);
            label { "What the other agents have to know, in one or two sentences"
                textarea name="summary" required rows="2" maxlength="512" {} }
            label { "The full text, if there is more" textarea name="text" rows="3" {} }
            div class="filters" {
                (choice("kind", "Kind", &kinds, None))
                (choice("importance", "Importance", &["normal", "low", "high", "critical"], None))
                label { "Topics, separated by commas" input type="text" name="topics"; }
                label { "Supersedes these entries" input type="text" name="supersedes" value=(supersedes) placeholder="none"; }
            }
            button type="submit" { "Append" }
        }
    }
}

fn proposal_card(
    request: &PageRequest,
    case: &Case,
    proposal: &CaseProposal,
    back: &str,
) -> Markup {
    let number = proposal.number.to_string();
    let key = case.key.as_str();
    let decide = |label: &str, decision: &str| {
        let fields = [("key", key), ("number", number.as_str()), ("decision", decision)];
        act_button(request, names::DECIDE_PROPOSAL, label, &fields, back)
    };
    html! {
        div class="card" {
            p { "Proposal " (proposal.number) " of " (time(proposal.at))
                @if let Some(lead) = &case.lead { " waits for " (agent(request, lead)) } }
            (proposed_entries(request, &proposal.entries))
            (decide("Accept and append", "accept")) (decide("Reject", "reject"))
        }
    }
}

fn proposed_entries(request: &PageRequest, entries: &[EntryProposal]) -> Markup {
    html! {
        ol class="plain" {
            @for entry in entries {
                li {
                    (entry.summary) " " (chip(entry.kind.name(), "type"))
                    @for side in &entry.sides { p class="muted" { (side.said_by) ": " (side.text) } }
                    @if let Some(extract) = &entry.extract { p class="muted" { "In their own words: " (extract) } }
                    div class="row-facts" {
                        span { "said by " @for author in &entry.authors { (agent(request, author)) " " } }
                        span { "from " @for source in &entry.sources {
                            a href=(request.item_path("memories", &source.to_string())) { code { (handle(source)) } } " " } }
                        span { "score " (format!("{:.2}", entry.score)) }
                    }
                }
            }
        }
    }
}

/// The facts that a digest would append; it looks for them only when the reader asks.
fn digest(request: &PageRequest, case: &Case, back: &str) -> Markup {
    let key = case.key.as_str();
    let is_wanted = request.value("digest").is_some();
    let preview = html! {
        p { "A digest finds what agents have shared about this case and its log does not say yet." }
        a class="button" href={ (request.here_with(&[("digest", Some("preview"))])) "#digest" } { "Preview a digest" }
    };
    if !is_wanted {
        return preview;
    }
    let found: Result<DigestResult> =
        request.call(names::DIGEST_CASE, json!({"key": key, "dry_run": true}));
    match found {
        Err(error) => {
            html! { p class="error" { (error.message) @if let Some(hint) = &error.hint { " " (hint) } } }
        }
        Ok(found) if found.proposed.is_empty() => empty_list(
            "The log says everything already.",
            "Agents share more by saving memories in a session on this case.",
        ),
        Ok(found) => html! {
            div class="card" {
                p { "A digest would " @if case.lead.is_some() { "propose to the lead" } @else { "append" } ":" }
                @if let Some(notice) = &found.notice { p class="muted" { (notice) } }
                (proposed_entries(request, &found.proposed))
                (act_button(request, names::DIGEST_CASE, if case.lead.is_some() { "Propose these" } else { "Append these" }, &[("key", key)], back))
            }
        },
    }
}

fn case_acts(request: &PageRequest, case: &Case, back: &str) -> Markup {
    let key = case.key.as_str();
    let revision = case.revision.to_string();
    let fields = [("key", key)];
    html! {
        @if case.status == CaseStatus::Open { (act_button(request, names::CLOSE_CASE, "Close", &fields, back)) }
        @else { (act_button(request, names::REOPEN_CASE, "Reopen", &fields, back)) }
        @if case.status != CaseStatus::Archived { (act_button(request, names::ARCHIVE_CASE, "Archive", &fields, back)) }
        @if case.branch.as_ref().is_some_and(|branch| branch.merged_at.is_none()) {
            (act_button(request, names::MERGE_CASE, "Merge into its case", &fields, back))
        }
        @if case.lead.is_some() {
            // A blank name removes the lead; an empty one would not be sent.
            (act_button(request, names::UPDATE_CASE, "Remove the lead", &[("key", key), ("lead", " ")], back))
        }
        details {
            summary { "Edit title, labels and lead" }
            form method="post" action=(request.act_path(names::UPDATE_CASE)) class="stack" {
                (form_fields(request, back))
                input type="hidden" name="key" value=(key);
                input type="hidden" name="expected_revision" value=(revision);
                label { "Title" input type="text" name="title" required maxlength="200" value=(case.title); }
                label { "Labels, one a line" textarea name={ "labels" (LINES_SUFFIX) } rows="2" { "\n" (case.labels.join("\n")) } }
                label { "Lead: the agent that decides on proposed entries"
                    input type="text" name="lead" value=(case.lead.as_ref().map(ToString::to_string).unwrap_or_default()); }
                button type="submit" { "Save the change" }
            }
        }
        @if case.status == CaseStatus::Open {
            details {
                summary { "Branch" }
                form method="post" action=(request.act_path(names::BRANCH_CASE)) class="stack" {
                    (form_fields(request, &request.path("cases/{id}")))
                    input type="hidden" name="key" value=(key);
                    label { "Name; the next number if empty" input type="text" name="name"; }
                    button type="submit" { "Branch off" }
                }
            }
        }
    }
}
