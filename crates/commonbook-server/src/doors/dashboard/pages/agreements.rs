//! Agreements: the standing memory files that came with projects, which agents receive after the person
//! has read and agreed to them.

use commonbook::base::error::Result;
use commonbook::model::access;
use commonbook::model::standing::{AgreedFile, StandingAgreement};
use commonbook::verbs::names;
use commonbook_text::sanitize;
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::{act_button, chip, empty_list};
use super::super::request::{CHANGED_PARAMETER, PageContent, PageRequest, SameCall};

/// Shows what waits.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let waiting: Result<StandingAgreement> = match access::is_person(request.caller()?) {
        true => request.call(names::AGREE_STANDING, json!({"dry_run": true})),
        false => Ok(StandingAgreement::default()),
    };
    let main = html! {
        h1 { "Agreements" }
        p class="muted" { "A project may bring standing memory for the agents that work in it, written by anybody. Agents receive it after you have read it and agreed, as the project's data and never as your rule; once a file changes, its new text waits here again." }
        @if request.value(CHANGED_PARAMETER).is_some() {
            p class="error" role="alert" { "Nothing was agreed to: the file has changed since the page showed it, or is agreed to. This is what waits now." }
        }
        @match &waiting {
            Err(error) => { p class="error" { (error.message) } }
            Ok(waiting) if waiting.items.is_empty() => {
                (empty_list("Nothing waits.", "A text waits here once an agent has started in its project. In the project's folder: commonbook memory agree"))
            }
            Ok(waiting) => { @for file in &waiting.items { (waiting_file(request, file)) } }
        }
    };
    // The command works in the folder of a project.
    let same = vec![SameCall::new(names::AGREE_STANDING, json!({}), &[])];
    Ok(PageContent { title: "Agreements".to_owned(), main, same })
}

/// A text that waits, as agents would read it, with the button that agrees to exactly this text.
fn waiting_file(request: &PageRequest, waiting: &AgreedFile) -> Markup {
    let AgreedFile { role, file, text, sha256, added, removed } = waiting;
    let fields = [("file", file.as_str()), ("sha256", sha256)];
    html! {
        section aria-label=(file) {
            h2 { (sanitize::head_word(role, usize::MAX)) " " (chip("waits", "warn")) }
            p class="muted" { code { (file) } }
            @if !added.is_empty() || !removed.is_empty() {
                h3 { "Changed since you agreed last" }
                @for line in removed { p { del { (sanitize::quote_lines(line, usize::MAX)) } } }
                @for line in added { p { ins { (sanitize::quote_lines(line, usize::MAX)) } } }
            }
            h3 { "The whole text" }
            pre { (sanitize::quote_lines(text, usize::MAX)) }
            (act_button(request, names::AGREE_STANDING, "Agree to this text", &fields, &request.own_path()))
        }
    }
}
