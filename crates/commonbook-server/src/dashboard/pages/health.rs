//! Health: the store, the index, the model, the streams and the disk of this server.

use commonbook::base::error::Result;
use commonbook::model::access;
use commonbook::model::stats::WorkspaceStats;
use commonbook::model::token::TokenScope;
use indicatif::HumanBytes;
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::{chip, time};
use super::super::request::{PageContent, PageRequest, SameCall};

/// Shows the state of the home to who may see it.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let stats: WorkspaceStats = request.call("get_memory_stats", json!({}))?;
    let may_look = access::require_scope(request.caller()?, TokenScope::Admin).is_ok();
    let main = html! {
        h1 { "Health" }
        section id="health" data-live="*" aria-label="This workspace" {
            h2 { "This workspace" }
            dl class="facts" {
                dt { "Memories" } dd { (stats.memories) ", and " (stats.deleted) " deleted that can be restored" }
                dt { "Events" } dd { (stats.events) }
                dt { "Contradictions open" } dd { (stats.contradictions) }
                dt { "Sessions without a summary" } dd { (stats.unsummarised) }
                dt { "Disk" } dd { (HumanBytes(stats.disk_bytes)) " for all workspaces" }
                @if let Some(bus) = &stats.bus {
                    dt { "Event streams" } dd { (bus.followers) " open; " (bus.delivered) " events sent, " (bus.filtered) " filtered, " (bus.failed) " broken or behind" }
                    @if let Some(event) = &bus.last_event { dt { "Last event" } dd { (event.kind.name()) " " (time(event.at)) } }
                }
            }
            @if !stats.by_type.is_empty() {
                h3 { "Memories by type" }
                dl class="facts" { @for (kind, count) in &stats.by_type { dt { (kind) } dd { (count) } } }
            }
            @if !stats.by_agent.is_empty() {
                h3 { "Memories by agent" }
                dl class="facts" { @for (name, count) in &stats.by_agent { dt { (name) } dd { (count) } } }
            }
        }
        @if may_look { (home(request)?) }
    };
    let same = vec![SameCall::new("get_memory_stats", json!({}), &["stats"])];
    Ok(PageContent { title: "Health".to_owned(), main, same })
}

fn home(request: &PageRequest) -> Result<Markup> {
    let book = request.book();
    let behind = book.index().unwritten_events(book.store())?;
    let damage = book.index().check()?;
    let config = request.config();
    let embedder = config.embedder.as_deref().unwrap_or("bundled");
    Ok(html! {
        section id="home" aria-label="This home" {
            h2 { "This home" }
            dl class="facts" {
                dt { "Folder" } dd { code { (config.home.as_ref().map_or_else(String::new, |home| home.display().to_string())) } }
                dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) }
                dt { "Search index" } dd {
                    @if damage.is_empty() { (chip("intact", "good")) } @else { @for finding in &damage { (chip(finding, "bad")) } }
                    ", " (behind) " events wait to be written; searches find them already"
                }
                dt { "Embedding model" } dd { (embedder) " "
                    @if book.index().lacks_embedder() { (chip("not loaded: searches use words alone", "warn")) } }
            }
            p { "The files, clients, ports and modes of the machine: run " code { "commonbook doctor" } ", with " code { "--deep" } " to verify every row." }
        }
    })
}
