//! Contradictions: two memories side by side with the words that differ, and the four ways to settle.

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::contradiction::{
    Contradiction, ContradictionResolution, ContradictionSide, ContradictionStatus, NearPair,
    PairRelation, PairSide,
};
use commonbook::model::memory::Memory;
use commonbook::verbs::names;
use commonbook_text::word_diff::{StretchKind, word_diff};
use maud::{Markup, PreEscaped, html};
use serde_json::{Map, Value, json};

use super::super::parts::{
    act_button, agent, bulk_form, chip, choice, empty_list, form_fields, handle, next_page, pick,
    time,
};
use super::super::request::{PageContent, PageRequest, SameCall};
use super::super::word_diff::marked_side;
use crate::calls::words::{beginning, one_line};

/// What shows near pairs instead of contradictions.
const PAIRS_STATUS: &str = "near pairs";

/// What a reader of the list chooses from.
const STATUSES: [&str; 4] = ["open", "resolved", "all", PAIRS_STATUS];

/// Lists the contradictions, the open ones first.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let mut fields = Map::from_iter([("limit".to_owned(), json!(50))]);
    let status = request.value("status").unwrap_or("open");
    if status == PAIRS_STATUS {
        return show_pairs(request);
    }
    if status != "all" {
        fields.insert("status".to_owned(), json!(status));
    }
    if let Some(cursor) = request.value("cursor") {
        fields.insert("cursor".to_owned(), json!(cursor));
    }
    // Those found so far: the page waits for no comparison, and shows a new one as it is found.
    let mut found = fields.clone();
    found.insert("wait".to_owned(), json!(false));
    let page: Page<Contradiction> =
        request.call(names::DETECT_CONTRADICTIONS, Value::Object(found))?;
    let main = html! {
        h1 { "Contradictions" }
        form class="filters" action=(request.path("contradictions")) method="get" {
            (choice("status", "Status", &STATUSES, Some(status)))
            button type="submit" { "Show" }
        }
        section id="list" data-live="contradiction.* memory.*" aria-label="Contradictions" {
            @if page.items.is_empty() {
                (empty_list("There are none of this status.", "Two agents that say different things of the same subject appear here; nobody settles them but you."))
            } @else {
                ol class="rows" {
                    @for (found, mirrored) in once_each(&page.items) { (contradiction_row(request, found, &mirrored)) }
                }
                (next_page(request, page.next.as_ref()))
            }
        }
        @if page.items.iter().any(is_open) { (settle_selected(request)) }
    };
    let same = vec![SameCall::new(
        names::DETECT_CONTRADICTIONS,
        Value::Object(fields),
        &["contradictions", "list"],
    )];
    Ok(PageContent { title: "Contradictions".to_owned(), main, same })
}

/// The contradictions with different sentences, in their order, each with those that say the same of other
/// memories.
fn once_each(all: &[Contradiction]) -> Vec<(&Contradiction, Vec<&Contradiction>)> {
    let sentences = |found: &Contradiction| {
        let mut sentences = found.memories.each_ref().map(|side| one_line(&side.text));
        sentences.sort();
        (found.status, sentences)
    };
    let mut once: Vec<(&Contradiction, Vec<&Contradiction>)> = Vec::new();
    for found in all {
        match once.iter_mut().find(|(first, _)| sentences(first) == sentences(found)) {
            Some((_, mirrored)) => mirrored.push(found),
            None => once.push((found, Vec::new())),
        }
    }
    once
}

/// A contradiction by its subject, with both sentences.
fn contradiction_row(
    request: &PageRequest,
    found: &Contradiction,
    mirrored: &[&Contradiction],
) -> Markup {
    let path = |found: &Contradiction| request.item_path("contradictions", &found.id.to_string());
    let [older, newer] = &found.memories;
    let sentence = |side: &ContradictionSide, other: &ContradictionSide| {
        html! {
            p class="line" { (agent(request, &side.owner)) ", " (time(side.at)) ": " (marked_side(&side.text, &other.text)) }
        }
    };
    let subject = subject(found, &older.text, &newer.text);
    html! {
        li class="row" id=(found.id) {
            @if is_open(found) { (pick("contradiction", &found.id, &subject)) }
            a class="row-main" href=(path(found)) { strong { (subject) } }
            (sentence(older, newer)) (sentence(newer, older))
            div class="row-facts" {
                code { (handle(&found.id)) } span { "found " (time(found.found_at)) " by " (found.finder()) } (chip(found.kind.name(), "type"))
                (status_chip(found)) span { "confidence " (format!("{:.2}", found.confidence)) }
                @if !mirrored.is_empty() {
                    span { "the same of other memories: " @for one in mirrored { a href=(path(one)) { code { (handle(&one.id)) } } " " } }
                }
            }
        }
    }
}

fn is_open(found: &Contradiction) -> bool {
    found.status == ContradictionStatus::Open
}

/// The buttons that settle the selected contradictions. `Enter` in the text presses the first one.
fn settle_selected(request: &PageRequest) -> Markup {
    let act = request.act_path(names::RESOLVE_CONTRADICTION);
    let buttons = html! {
        label { "In which context each holds" input type="text" name="context" placeholder="one in tests, the other in production"; }
        button type="submit" formaction=(act) name="resolution" value=(ContradictionResolution::KeepBoth.name()) { "Keep both of each" }
        button type="submit" formaction=(act) name="resolution" value=(ContradictionResolution::KeepNewer.name()) { "Keep the newer of each" }
    };
    bulk_form(request, &buttons)
}

/// Characters of a subject.
const SUBJECT_CHARS_MAX: usize = 90;

/// What a contradiction is about: the heading of both memories; or the words that both sentences share
/// before the first difference, or after it; or the reason.
fn subject(found: &Contradiction, older: &str, newer: &str) -> String {
    let [first, second] = found.memories.each_ref().map(|side| side.title.as_ref());
    if let Some(title) = first.filter(|_| first == second) {
        return beginning(title, SUBJECT_CHARS_MAX);
    }
    let words = shared_words(older, newer).unwrap_or_else(|| found.reason.clone());
    beginning(&words, SUBJECT_CHARS_MAX)
}

/// The words that two texts share in the sentence in which they first differ.
fn shared_words(older: &str, newer: &str) -> Option<String> {
    let stretches = word_diff(older, newer);
    let place = stretches.iter().position(|stretch| stretch.kind != StretchKind::Same)?;
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | '\n');
    let before = place.checked_sub(1).map(|before| stretches[before].text.trim_end());
    let before = before.and_then(|text| text.rsplit(is_end).next());
    let after = stretches[place..].iter().find(|stretch| stretch.kind == StretchKind::Same);
    let after = after.and_then(|stretch| stretch.text.split(is_end).next());
    let words = [before, after].into_iter().flatten().map(str::trim);
    words.into_iter().find(|words| !words.is_empty()).map(str::to_owned)
}

/// Lists near pairs without an answer, each with its four answers.
fn show_pairs(request: &PageRequest) -> Result<PageContent> {
    let mut fields = Map::new();
    if let Some(cursor) = request.value("cursor") {
        fields.insert("cursor".to_owned(), json!(cursor));
    }
    let fields = Value::Object(fields);
    let page: Page<NearPair> = request.call(names::LIST_PAIRS, fields.clone())?;
    let main = html! {
        h1 { "Near pairs" }
        form class="filters" action=(request.path("contradictions")) method="get" {
            (choice("status", "Status", &STATUSES, Some(PAIRS_STATUS)))
            button type="submit" { "Show" }
        }
        section id="pairs" aria-label="Near pairs" {
            @if page.items.is_empty() && page.next.is_none() {
                (empty_list("No pair waits for an answer.", "Two memories that are near to each other, and of which nobody has said what they are, appear here."))
            } @else {
                ol class="rows" {
                    @for pair in &page.items { li class="row" { (pair_form(request, pair)) } }
                }
                (next_page(request, page.next.as_ref()))
            }
        }
    };
    let same = vec![SameCall::new(names::LIST_PAIRS, fields, &["contradictions", "pairs"])];
    Ok(PageContent { title: "Near pairs".to_owned(), main, same })
}

/// A pair, and a form with its four answers.
fn pair_form(request: &PageRequest, pair: &NearPair) -> Markup {
    let side = |title: &str, side: &PairSide| {
        html! {
            article {
                p class="text" { (side.says) }
                div class="row-facts" {
                    (title) " " a href=(request.item_path("memories", &side.id.to_string())) { code { (handle(&side.id)) } }
                    (agent(request, &side.owner)) (time(side.at))
                }
            }
        }
    };
    html! {
        div class="sides" { (side("newer", &pair.newer)) (side("older", &pair.older)) }
        form class="inline" method="post" action=(request.act_path(names::ANSWER_PAIR)) aria-label="What the newer one is to the older one" {
            (form_fields(request, &request.own_path()))
            input type="hidden" name="newer" value=(pair.newer.id);
            input type="hidden" name="older" value=(pair.older.id);
            @for relation in PairRelation::ALL.iter().copied() {
                button type="submit" name="answer" value=(relation.name()) { (relation.name()) }
            }
        }
    }
}

fn status_chip(found: &Contradiction) -> Markup {
    let kind = if found.status == ContradictionStatus::Open { "warn" } else { "good" };
    chip(found.status.name(), kind)
}

/// Shows one contradiction and how to settle it.
pub(super) fn show_contradiction(request: &PageRequest, item: &str) -> Result<PageContent> {
    let found: Contradiction =
        request.call(names::GET_CONTRADICTION, json!({"contradiction": item}))?;
    let id = found.id.to_string();
    let [older, newer] = &found.memories;
    let text = |side: &ContradictionSide| {
        let memory = request.call::<Memory>(names::GET_MEMORY, json!({"id": side.id}));
        memory.map_or_else(|_| side.text.clone(), |memory| memory.text)
    };
    let (older_text, newer_text) = (text(older), text(newer));
    let main = html! {
        p class="path" { a href=(request.path("contradictions")) { "Contradictions" } " / " code { (handle(&found.id)) } }
        h1 { (subject(&found, &older_text, &newer_text)) }
        p { (found.reason) "." }
        section id="contradiction" data-live="contradiction.* memory.*" aria-label="Both sides" {
            p { (status_chip(&found)) " " (chip(found.kind.name(), "type")) " confidence " (format!("{:.2}", found.confidence)) ", found " (time(found.found_at)) " by " (found.finder()) }
            @if let Some(resolved) = &found.resolved {
                p class="notice" { "Settled by " (agent(request, &resolved.resolved_by)) " " (time(resolved.resolved_at)) ": " (resolved.resolution.name().replace('_', " "))
                    @if let Some(context) = &resolved.context { ": " (context) } }
            }
            div class="sides" {
                (side(request, "Older", older, &marked_side(&older_text, &newer_text)))
                (side(request, "Newer", newer, &marked_side(&newer_text, &older_text)))
            }
        }
        @match found.status {
            ContradictionStatus::Open => { (settle_forms(request, &found, &newer_text)) }
            _ => { (act_button(request, names::REOPEN_CONTRADICTION, "Reopen", &[("contradiction", &id)], &request.own_path())) }
        }
    };
    let same = vec![
        SameCall::new(
            names::GET_CONTRADICTION,
            json!({"contradiction": id}),
            &["contradictions", "show", &id],
        ),
        SameCall::new(
            names::RESOLVE_CONTRADICTION,
            json!({"contradiction": id, "resolution": "keep_newer"}),
            &["contradictions", "resolve", &id, "keep_newer"],
        ),
    ];
    Ok(PageContent { title: "Contradiction".to_owned(), main, same })
}

fn side(request: &PageRequest, title: &str, side: &ContradictionSide, text: &Markup) -> Markup {
    html! {
        article {
            h2 { (title) }
            p class="text" { (text) }
            div class="row-facts" {
                a href=(request.item_path("memories", &side.id.to_string())) { code { (handle(&side.id)) } }
                (agent(request, &side.owner)) (time(side.at))
            }
        }
    }
}

fn settle_forms(request: &PageRequest, found: &Contradiction, newer_text: &str) -> Markup {
    let id = found.id.to_string();
    let back = request.own_path();
    let hidden = |resolution: &str| {
        html! {
            (form_fields(request, &back))
            input type="hidden" name="contradiction" value=(id);
            input type="hidden" name="resolution" value=(resolution);
        }
    };
    let act = request.act_path(names::RESOLVE_CONTRADICTION);
    html! {
        section aria-label="Settle it" {
            h2 { "Settle it" }
            div class="sides" {
                form method="post" action=(act) class="stack" {
                    h3 { "Both hold" } (hidden("keep_both"))
                    label { "In which context each holds" input type="text" name="context" required placeholder="three in tests, five in production"; }
                    button type="submit" { "Keep both" }
                }
                form method="post" action=(act) class="stack" {
                    h3 { "The newer one holds" } (hidden("keep_newer"))
                    p class="muted" { "The older one is superseded." }
                    button type="submit" { "Keep the newer" }
                }
                form method="post" action=(act) class="stack" {
                    h3 { "One of them holds" } (hidden("override"))
                    fieldset { legend { "Which one" }
                        @for side in &found.memories {
                            label { span { input type="radio" name="keep" value=(side.id) required; " " (side.owner) ": " (side.text) } }
                        }
                    }
                    button type="submit" { "Keep this one" }
                }
                form method="post" action=(act) class="stack" {
                    h3 { "A new text holds" } (hidden("merge"))
                    label { "The new text, which supersedes both" textarea name="text" rows="4" required { (PreEscaped("\n")) (newer_text) } }
                    button type="submit" { "Save and supersede both" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_what_both_sentences_share_where_they_differ() {
        let table = [
            ("It retries three times", "It retries five times", Some("It retries")),
            ("Ann leads the team", "Bert leads the team", Some("leads the team")),
            ("We met. It runs at 02:00", "We met. It runs at 04:00", Some("It runs at")),
            ("red", "blue", None),
            ("the same", "the same", None),
        ];
        for (older, newer, expected) in table {
            assert_eq!(shared_words(older, newer).as_deref(), expected, "{older}");
        }
    }
}
