//! The frame of every page: the head, the navigation, the notice of what was done, and the foot.

use commonbook::base::error::{Error, Result};
use commonbook::model::event::ResumeToken;
use maud::{DOCTYPE, Markup, html};

use super::parts::{form_fields, verb_words};
use super::request::{DONE_PARAMETER, DashboardPage, PageContent, PageRequest, path_in};
use super::{assets, same};
use crate::http::http_error::RequestId;

/// Workspaces in the menu of each page at most.
const MENU_WORKSPACES_MAX: usize = 50;

/// A whole page, made from the journal as of this position or a later one.
///
/// # Errors
/// `internal` if the page has no caller.
pub(super) fn page(
    request: &PageRequest,
    content: &PageContent,
    position: &ResumeToken,
    pages: &[DashboardPage],
) -> Result<Markup> {
    let caller = request.caller()?;
    let workspace = caller.workspace.as_str();
    let done = request.value(DONE_PARAMETER);
    let body = html! {
        a class="skip" href="#main" { "Skip to the content" }
        header class="top" {
            a class="brand" href=(request.path("now")) { "Commonbook" }
            (workspace_menu(request)?)
            form class="find" action=(request.path("memories")) method="get" role="search" {
                input type="search" name="q" value=(request.value("q").unwrap_or_default()) placeholder="Search memories"
                    aria-label="Search memories" autocomplete="off";
            }
            div class="top-end" {
                button type="button" id="palette-button" hidden aria-haspopup="dialog" { "Go to… " kbd { "Ctrl K" } }
                button type="button" id="theme-button" hidden aria-label="Change the colours" { "◐" }
                span id="live-state" class="live-state" role="status" hidden {}
                form method="post" action="/dashboard/sign-out" {
                    (form_fields(request, "/dashboard/sign-in"))
                    span class="who" title="You act under this name" { (caller.agent) }
                    button type="submit" class="quiet" { "Sign out" }
                }
            }
        }
        div class="columns" {
            nav class="pages" aria-label="Pages" {
                @for page in pages.iter().filter(|page| !page.key.is_empty()) {
                    @if page.begins_group { hr; }
                    a href=(request.path(page.path)) aria-current=[(page.path == request.page.path).then_some("page")]
                        data-key=(page.key) {
                        (page.title) kbd { (page.key) }
                    }
                }
            }
            main id="main" tabindex="-1" data-position=(position) {
                @if let Some(done) = done {
                    p class="notice" role="status" { (verb_words(done)) }
                }
                (content.main)
                (same::section(request, &content.same)?)
            }
        }
        p id="arrived" class="unseen" role="status" {}
        dialog id="palette" aria-label="Go to a page or a thing" {
            input type="search" id="palette-input" placeholder="Page, memory, entity, case, workspace…" autocomplete="off"
                role="combobox" aria-expanded="true" aria-controls="palette-list" aria-label="Go to";
            ul id="palette-list" role="listbox" aria-label="Results" {}
        }
        (keys_dialog(pages))
    };
    let stream = request.path("stream");
    let find = request.path("find");
    Ok(document(
        &format!("{} · {workspace} · Commonbook", content.title),
        request.theme,
        &[("data-stream", &stream), ("data-find", &find)],
        &body,
    ))
}

/// The dialog with all keys.
fn keys_dialog(pages: &[DashboardPage]) -> Markup {
    html! {
        dialog id="keys" aria-label="Keys" {
            h2 { "Keys" }
            dl class="facts" {
                dt { kbd { "Ctrl K" } } dd { "go to a page or a thing" }
                dt { kbd { "/" } } dd { "search memories" }
                dt { kbd { "j" } " " kbd { "k" } } dd { "next and previous row" }
                dt { kbd { "Enter" } } dd { "open the row" }
                dt { kbd { "x" } } dd { "select the row, where rows can be selected" }
                dt { kbd { "t" } } dd { "change the colours" }
                @for page in pages.iter().filter(|page| !page.key.is_empty()) {
                    dt { kbd { "g" } " " kbd { (page.key) } } dd { "go to " (page.title) }
                }
                dt { kbd { "?" } } dd { "these keys" }
                dt { kbd { "Esc" } } dd { "close" }
            }
            form method="dialog" { button { "Close" } }
        }
    }
}

/// The menu of the workspaces that the caller may look at: the caller's own and the first ones, and the way
/// to all others.
fn workspace_menu(request: &PageRequest) -> Result<Markup> {
    let own = &request.caller()?.workspace;
    let all = request.workspaces()?;
    let others: Vec<_> = all.iter().filter(|workspace| *workspace != own).collect();
    let shown = &others[..others.len().min(MENU_WORKSPACES_MAX - 1)];
    let hidden = others.len() - shown.len();
    Ok(html! {
        details class="menu" {
            summary title="Workspace" { (own) }
            ul {
                @for workspace in [&own].into_iter().chain(shown) {
                    li {
                        a href=(path_in(workspace, request.page.path)) aria-current=[(*workspace == own).then_some("true")] {
                            (workspace)
                        }
                    }
                }
                @if hidden > 0 {
                    li { a href=(request.path("find")) { "Find one of " (hidden) " more…" } }
                }
            }
        }
    })
}

/// The page of an error.
pub(super) fn error(error: &Error, id: &RequestId, home: &str) -> Markup {
    let body = html! {
        main id="main" class="alone" {
            h1 { "This did not work" }
            p class="error" role="alert" { (error.message) }
            @if let Some(hint) = &error.hint { p { (hint) } }
            p { a href=(home) { "Back to the dashboard" } }
            @if !id.0.is_empty() { p class="muted" { "Request " code { (id.0) } } }
        }
    };
    document("Error · Commonbook", None, &[], &body)
}

/// The page for signing in.
pub(super) fn sign_in(error: Option<&Error>, target: &str, needs_token: bool) -> Markup {
    let body = html! {
        main id="main" class="alone" {
            h1 { "Commonbook" }
            @if let Some(error) = error {
                p class="error" role="alert" { (error.message) }
            }
            @if needs_token {
                p { "Sign in with a token. One with the scope " code { "admin" } " may settle the matters of other agents; "
                    "create it with " code { "commonbook token create NAME --scope admin --scope read --scope write" } "." }
                form method="post" action="/dashboard/sign-in" class="stack" {
                    input type="hidden" name="to" value=(target);
                    label { "Token" input type="password" name="token" required autocomplete="off"; }
                    button type="submit" { "Sign in" }
                }
            } @else {
                p { "Run this on the machine of the server; it prints and opens a link that signs you in:" }
                pre { code { "commonbook dashboard" } }
            }
        }
    };
    document("Sign in · Commonbook", None, &[], &body)
}

/// The page with the secret of a new token.
pub(super) fn secret(secret: &str, back: &str) -> Markup {
    let body = html! {
        main id="main" class="alone" {
            h1 { "The new token" }
            p { "It is shown this once. Send it as " code { "Authorization: Bearer …" } ", or set " code { "COMMONBOOK_TOKEN" } "." }
            pre { code { (secret) } }
            p { a href=(back) { "Back" } }
        }
    };
    document("New token · Commonbook", None, &[], &body)
}

fn document(title: &str, theme: Option<&str>, data: &[(&str, &str)], body: &Markup) -> Markup {
    let value = |name: &str| data.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" type="image/svg+xml" href=(assets::path("icon.svg"));
                link rel="stylesheet" href=(assets::path("style.css"));
                script type="module" src=(assets::path("main.js")) {}
            }
            body data-stream=[value("data-stream")] data-find=[value("data-find")]
                data-worker=(assets::path("stream-worker.js")) { (body) }
        }
    }
}
