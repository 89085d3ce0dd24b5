//! Agents: what each has saved and when it last called, its devices, and its tokens.

use commonbook::base::error::Result;
use commonbook::base::page::Page;
use commonbook::model::agent::{AgentList, AgentRecord};
use commonbook::model::memory::Memory;
use commonbook::model::session::Session;
use commonbook::model::token::{Token, TokenList};
use commonbook::prompt::context::ContextSummary;
use commonbook::verbs::names;
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::{
    act_button, agent, chip, empty_list, form_fields, handle, memory_row, time,
};
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::calls::output::count_text;

/// Lists the agents, and the tokens for who may see them.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let agents: AgentList = request.call(names::LIST_AGENTS, json!({}))?;
    let tokens: Result<TokenList> = request.call(names::LIST_TOKENS, json!({}));
    let main = html! {
        h1 { "Agents" }
        section id="agents" data-live="agent.seen memory.* session.*" aria-label="Agents" {
            @if agents.items.is_empty() {
                (empty_list("No agent has called in this workspace.", "Connect one: commonbook setup"))
            } @else {
                div class="scroll" { table {
                    thead { tr { th { "Agent" } th class="number" { "Memories" } th { "Last seen" } th { "First seen" } th { "Client" } th { "Device" } } }
                    tbody {
                        @for known in &agents.items {
                            tr {
                                td { (agent(request, &known.agent)) }
                                td class="number" { (known.memory_count) }
                                td { (time(known.last_seen)) }
                                td { (time(known.first_seen)) }
                                td { (known.client.clone().unwrap_or_default()) }
                                td { (known.device.clone().unwrap_or_default()) }
                            }
                        }
                    }
                } }
            }
        }
        section aria-label="Tokens" {
            h2 { "Tokens" }
            @match &tokens {
                Ok(tokens) => { (token_list(request, &tokens.items)) }
                Err(error) => { p class="muted" { (error.message) } }
            }
        }
    };
    let same = vec![
        SameCall::new(names::LIST_AGENTS, json!({}), &["agents"]),
        SameCall::new(names::LIST_TOKENS, json!({}), &["token", "list"]),
    ];
    Ok(PageContent { title: "Agents".to_owned(), main, same })
}

fn token_list(request: &PageRequest, tokens: &[Token]) -> Markup {
    let back = request.path("agents");
    html! {
        @if tokens.is_empty() {
            p { "No token exists: names are a courtesy between the processes of one person, and only this machine can connect. After the first one every caller over HTTP needs a token, these pages too." }
        } @else {
            div class="scroll" { table {
                thead { tr { th { "Token" } th { "Agent" } th { "Permits" } th { "Workspace" } th { "Last used" } th { "Expires" } th { "Revoke" } } }
                tbody {
                    @for token in tokens {
                        tr {
                            td { code { (handle(&token.id)) } }
                            td { (agent(request, &token.agent)) }
                            td { @for scope in &token.scopes { (chip(&scope.to_string(), "type")) " " } }
                            td { (token.workspace.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string)) }
                            td { @if let Some(at) = token.last_used { (time(at)) } @else { "never" } }
                            td { @if let Some(at) = token.expires_at { (time(at)) } @else { "never" } }
                            td {
                                @match token.revoked_at {
                                    Some(at) => { "revoked " (time(at)) }
                                    None => { (act_button(request, names::REVOKE_TOKEN, "Revoke", &[("token_id", &token.id.to_string())], &back)) }
                                }
                            }
                        }
                    }
                }
            } }
        }
        details {
            summary { "Create a token" }
            form method="post" action=(request.act_path(names::CREATE_TOKEN)) class="stack" {
                (form_fields(request, &back))
                label { "Agent" input type="text" name="agent_name" required placeholder="claude-code"; }
                fieldset { legend { "It permits" }
                    @for scope in ["read", "write", "admin", "hook"] {
                        label { span { input type="checkbox" name="scopes" value=(scope) checked[scope == "read" || scope == "write"]; " " (scope) } }
                    }
                }
                label { "Only this workspace" input type="text" name="workspace" placeholder="all"; }
                label { "Expires in" input type="text" name="expires" placeholder="90d"; }
                button type="submit" { "Create" }
            }
        }
    }
}

/// Shows one agent: its memories, sessions and what it received.
pub(super) fn show_agent(request: &PageRequest, name: &str) -> Result<PageContent> {
    let known: Result<AgentRecord> = request.call(names::GET_AGENT, json!({"name": name}));
    let memories: Page<Memory> =
        request.call(names::LIST_MEMORIES, json!({"owner": name, "limit": 20}))?;
    let contexts: Page<ContextSummary> =
        request.call(names::LIST_CONTEXTS, json!({"owner": name, "limit": 20}))?;
    let sessions: Result<Page<Session>> =
        request.call(names::LIST_SESSIONS, json!({"owner": name, "limit": 20}));
    let main = html! {
        p class="path" { a href=(request.path("agents")) { "Agents" } " / " (name) }
        h1 { (name) }
        @match &known {
            Ok(known) => {
                dl class="facts" {
                    dt { "Memories" } dd { (known.memory_count) }
                    dt { "Last seen" } dd { (time(known.last_seen)) }
                    dt { "First seen" } dd { (time(known.first_seen)) }
                    @if let Some(client) = &known.client { dt { "Client" } dd { (client) } }
                    @if let Some(device) = &known.device { dt { "Device" } dd { (device) } }
                }
            }
            Err(error) => { p class="muted" { (error.message) } }
        }
        p { a href=(request.path_with("memories", &[("owner", name)])) { "All its memories" } " · "
            a href=(request.path_with("contexts", &[("owner", name)])) { "All it received" } " · "
            a href=(request.path_with("knowledge", &[("owner", name)])) { "What it knows" } }
        section id="memories" data-live="memory.*" aria-label="Its newest memories" {
            h2 { "Its newest memories" }
            @if memories.items.is_empty() { p class="muted" { "None that you may see." } }
            ol class="rows" { @for memory in &memories.items { (memory_row(request, memory, &html! {})) } }
        }
        section aria-label="What it received" {
            h2 { "What it received" }
            @if contexts.items.is_empty() { p class="muted" { "Nothing yet." } }
            ul class="plain" {
                @for context in &contexts.items {
                    li { a href=(request.item_path("contexts", &context.id.to_string())) { (count_text(context.items, "item", "items")) ", " (context.tokens) " tokens" } " " (chip(context.origin.name(), "type")) " " (time(context.at)) }
                }
            }
        }
        @if let Ok(sessions) = &sessions {
            section aria-label="Its sessions" {
                h2 { "Its sessions" }
                @if sessions.items.is_empty() { p class="muted" { "None that you may see." } }
                ul class="plain" { @for session in &sessions.items { (session_line(request, session)) } }
            }
        }
    };
    let same =
        vec![SameCall::new(names::GET_AGENT, json!({"name": name}), &["agent", "show", name])];
    Ok(PageContent { title: name.to_owned(), main, same })
}

fn session_line(request: &PageRequest, session: &Session) -> Markup {
    let id = session.id.to_string();
    html! {
        li { code { (handle(&id)) } " " (chip(session.status.name(), "type")) " " (time(session.started_at)) " "
            a href=(request.path_with("memories", &[("session", &id)])) { "its memories" } }
    }
}
