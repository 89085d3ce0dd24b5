//! Find: what a few words lead to, of every kind; the palette shows this page's list.

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::agent::AgentList;
use commonbook::model::case::Case;
use commonbook::model::entity::Entity;
use commonbook::model::search::SearchResponse;
use commonbook::model::workspace::Workspace;
use commonbook::verbs::names;
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::empty_list;
use super::super::request::{PageContent, PageRequest, path_in};
use crate::calls::words::memory_glance;

/// Things of one kind that are shown at most.
const FOUND_MAX: usize = 6;

/// Lists the things whose names or texts fit `q`.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let words = request.value("q").unwrap_or_default().trim().to_owned();
    let found = if words.is_empty() { Vec::new() } else { find(request, &words)? };
    let main = html! {
        h1 { "Find" }
        form action=(request.path("find")) method="get" {
            label { "Words" input type="search" name="q" value=(words); }
            button type="submit" { "Find" }
        }
        @if found.is_empty() {
            (empty_list("Nothing was found.", "Use a word of a text, or the beginning of a name."))
        } @else {
            ul class="found" { @for item in &found { (item) } }
        }
    };
    Ok(PageContent { title: "Find".to_owned(), main, same: Vec::new() })
}

fn find(request: &PageRequest, words: &str) -> Result<Vec<Markup>> {
    let row = |path: String, kind: &str, text: &str| {
        html! { li { a href=(path) { span class="kind" { (kind) } " " (text) } } }
    };
    let needle = words.to_lowercase();
    let mut found = Vec::new();
    let hits: SearchResponse =
        request.call(names::SEARCH_MEMORY, json!({"query": words, "k": FOUND_MAX}))?;
    let agents: AgentList = request.call(names::LIST_AGENTS, json!({}))?;
    let agents = agents.items.iter().map(|known| known.agent.to_string());
    for name in agents.filter(|name| name.contains(&needle)).take(FOUND_MAX) {
        found.push(row(request.item_path("agents", &name), "agent", &name));
    }
    let cases: Page<Case> = request.call(names::LIST_CASES, json!({"limit": 100}))?;
    let fits = |case: &&Case| {
        case.key.as_str().contains(&needle) || case.title.to_lowercase().contains(&needle)
    };
    for case in cases.items.iter().filter(fits).take(FOUND_MAX) {
        found.push(row(request.item_path("cases", case.key.as_str()), "case", &case.title));
    }
    let entities: Page<Entity> =
        request.call(names::LIST_ENTITIES, json!({"beginning": words, "limit": FOUND_MAX}))?;
    for entity in &entities.items {
        let name = format!("{}:{}", entity.entity_type, entity.value);
        found.push(row(request.item_path("entities", &entity.id.to_string()), "entity", &name));
    }
    let workspaces = request.workspaces()?;
    let fits = |name: &&Workspace| name.as_str().to_lowercase().contains(&needle);
    for workspace in workspaces.iter().filter(fits).take(FOUND_MAX) {
        found.push(row(path_in(workspace, "now"), "workspace", workspace.as_str()));
    }
    for hit in &hits.hits {
        let path = request.item_path("memories", &hit.memory.id.to_string());
        found.push(row(path, "memory", &memory_glance(&hit.memory)));
    }
    Ok(found)
}
