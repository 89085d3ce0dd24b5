//! Standing memory: the files of roles, edited item by item beside what an agent of the role receives.

use commonbook::base::error::Result;
use commonbook::model::standing::{StandingHistory, StandingList, StandingPage, StandingPreview};
use commonbook::verbs::names;
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::{act_button, chip, empty_list, form_fields, time};
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::calls::output::count_text;

/// Lists the files.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let list: StandingList = request.call(names::LIST_STANDING, json!({}))?;
    let main = html! {
        h1 { "Standing memory" }
        p class="muted" { "What each agent of a role receives always, before anything that fits its task. These are the files of the home; those of a project belong to its folder." }
        @if list.items.is_empty() {
            (empty_list("There is no standing memory yet.", "Begin a file below, or with: commonbook memory init engineer"))
        } @else {
            ul class="rows" {
                @for file in &list.items {
                    li class="row" {
                        a class="row-main" href=(request.item_path("standing", &file.info.role)) { (file.info.role) }
                        div class="row-facts" {
                            span { (count_text(file.info.items as u64, "item", "items")) ", " (file.info.bytes) " bytes, version " (file.info.version) }
                            (time(file.info.at)) (chip(file.info.location.name(), "type"))
                            @for over in &file.over { (chip(over, "warn")) }
                        }
                    }
                }
            }
        }
        h2 { "Begin a file" }
        form method="post" action=(request.act_path(names::INIT_STANDING)) class="filters" {
            (form_fields(request, &request.path("standing")))
            label { "Role" input type="text" name="roles" required placeholder="engineer"; }
            button type="submit" { "Begin" }
        }
    };
    let same = vec![SameCall::new(names::LIST_STANDING, json!({}), &["memory", "status"])];
    Ok(PageContent { title: "Standing memory".to_owned(), main, same })
}

/// Shows the file of one role, with its history and what an agent receives.
pub(super) fn show_role(request: &PageRequest, role: &str) -> Result<PageContent> {
    let page: StandingPage = request.call(names::READ_STANDING, json!({"role": role}))?;
    let history: StandingHistory = request.call(names::STANDING_HISTORY, json!({"role": role}))?;
    let back = request.own_path();
    let main = html! {
        p class="path" { a href=(request.path("standing")) { "Standing memory" } " / " (page.info.role) }
        h1 { (page.info.role) }
        p class="muted" { code { (page.info.file) } ", " (page.info.bytes) " bytes, version " (page.info.version) ", changed " (time(page.info.at)) }
        div class="sides" {
            section aria-label="The file" {
                h2 { "The file" }
                pre { (page.text) }
                form method="post" action=(request.act_path(names::ADD_STANDING)) class="stack" {
                    (form_fields(request, &back))
                    input type="hidden" name="role" value=(page.info.role);
                    label { "Add an item" input type="text" name="text" value=(request.value("added").unwrap_or_default()) required data-preview="added"; }
                    button type="submit" { "Add" }
                }
                form method="post" action=(request.act_path(names::REMOVE_STANDING)) class="stack" {
                    (form_fields(request, &back))
                    input type="hidden" name="role" value=(page.info.role);
                    label { "Remove the item with these words" input type="text" name="text" required; }
                    button type="submit" { "Remove" }
                }
                (act_button(request, names::CLEAN_STANDING, "Remove repeated items", &[("role", &page.info.role)], &back))
            }
            section id="preview" data-live="memory.*" aria-label="What an agent receives" {
                h2 { "What an agent of this role receives" }
                (preview(request, &page.info.role))
            }
        }
        h2 { "History" }
        ol class="history" {
            @for version in &history.items {
                li {
                    p { "Version " (version.version) " " (time(version.at)) " " (version.action.name())
                        @if let Some(by) = &version.by { " by " (by) } @else { " by an editor" } }
                    @for line in &version.removed { p { del { (line) } } }
                    @for line in &version.added { p { ins { (line) } } }
                    @if version.version != page.info.version {
                        (act_button(request, names::RESTORE_STANDING, "Restore this version", &[("role", &page.info.role), ("version", &version.version.to_string())], &back))
                    }
                }
            }
        }
    };
    let same = vec![
        SameCall::new(names::READ_STANDING, json!({"role": role}), &["memory", "show", role]),
        SameCall::new(names::STANDING_HISTORY, json!({"role": role}), &["memory", "history", role]),
    ];
    Ok(PageContent { title: format!("Standing memory of {role}"), main, same })
}

/// What an agent of this role receives, also with an item that is not added yet.
fn preview(request: &PageRequest, role: &str) -> Markup {
    let added = request.value("added");
    let preview: Result<StandingPreview> =
        request.call(names::PREVIEW_STANDING, json!({"role": role, "added": added}));
    html! {
        @match preview {
            Ok(preview) if preview.text.is_empty() => { p class="muted" { "Nothing: the file has no items." } }
            Ok(preview) => {
                p class="muted" {
                    (preview.tokens) " of " (preview.budget) " tokens"
                    @if preview.left_out > 0 { "; " (preview.left_out) " items left out" }
                    @if added.is_some() { "; with the item that is not added yet" }
                }
                pre { (preview.text) }
            }
            Err(error) => { p class="error" { (error.message) } }
        }
    }
}
