//! REST: the verbs as routes under `/v1`, in one table that also is the OpenAPI document.

mod examples;
mod openapi;
mod revision;
mod route;
mod stream;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use commonbook::Commonbook;
use serde_json::{Value, json};

use crate::body::BodyBudget;
use crate::call::{Call, blocking};
use crate::config::Config;
use crate::rate::Rates;
use route::{Route, delete, patch, post};

use route::Door;
pub(crate) use route::{RequestId, failure};
pub(crate) use stream::Streams;

/// Every route, in the order of the documentation.
fn routes() -> Vec<Route> {
    [of_memories(), of_contradictions(), of_work(), of_handoffs()].into_iter().flatten().collect()
}

/// The routes of memories, and of what is known of them.
fn of_memories() -> Vec<Route> {
    let read = |path, name, call| route::get(path, name, call);
    vec![
        post("/v1/memories", "save_memory", Call::of(Commonbook::save_memory))
            .answering(StatusCode::CREATED)
            .telling_revision("/memory")
            .or_list("memories", Call::of(Commonbook::save_memories)),
        read("/v1/memories", "list_memories", Call::of(Commonbook::list_memories)),
        read("/v1/memories/search", "search_memory", Call::of(Commonbook::search_memory)),
        read("/v1/memories/{id}", "get_memory", Call::of(Commonbook::get_memory))
            .telling_revision(""),
        patch("/v1/memories/{id}", "update_memory", Call::of(Commonbook::update_memory))
            .telling_revision(""),
        delete("/v1/memories/{id}", "delete_memory", Call::of(Commonbook::delete_memory))
            .telling_revision(""),
        read("/v1/memories/{id}/history", "memory_history", Call::of(Commonbook::memory_history)),
        post("/v1/memories/{id}/restore", "restore_memory", Call::of(Commonbook::restore_memory))
            .telling_revision(""),
        post("/v1/memories/{id}/purge", "purge_memory", Call::of(Commonbook::purge_memory)),
        post("/v1/memories/{id}/release", "release_memory", Call::of(Commonbook::release_memory))
            .telling_revision(""),
        post("/v1/memories/{id}/appeal", "appeal_memory", Call::of(Commonbook::appeal_memory))
            .telling_revision(""),
        post("/v1/context", "get_context", Call::of(Commonbook::get_context)),
        read("/v1/contexts/{context}", "explain_context", Call::of(Commonbook::explain_context)),
        post("/v1/learnings", "learn", Call::of(Commonbook::learn)),
        read("/v1/quarantine", "list_quarantined", Call::of(Commonbook::list_quarantined)),
        post("/v1/memories/adopt", "adopt_memories", Call::of(Commonbook::adopt_memories)),
        post("/v1/memories/purge", "purge_since", Call::of(Commonbook::purge_since)),
        post("/v1/acts/{act_id}/undo", "undo_act", Call::of(Commonbook::undo_act)),
        post("/v1/entities/resolve", "resolve_entity", Call::of(Commonbook::resolve_entity)),
        read("/v1/entities/find", "find_entity", Call::of(Commonbook::find_entity)),
        read("/v1/entities", "list_entities", Call::of(Commonbook::list_entities)),
        post("/v1/entities/merge", "merge_entities", Call::of(Commonbook::merge_entities)),
        read("/v1/entities/reviews", "list_reviews", Call::of(Commonbook::list_reviews)),
        post(
            "/v1/entities/reviews/{review_id}",
            "decide_review",
            Call::of(Commonbook::decide_review),
        ),
        read("/v1/entities/{entity}", "get_entity", Call::of(Commonbook::get_entity)),
        read(
            "/v1/entities/{entity}/mentions",
            "entity_mentions",
            Call::of(Commonbook::entity_mentions),
        ),
        post(
            "/v1/entities/{source}/unmerge",
            "unmerge_entities",
            Call::of(Commonbook::unmerge_entities),
        ),
        post("/v1/relations", "add_relation", Call::of(Commonbook::add_relation)),
        read("/v1/graph", "graph_query", Call::of(Commonbook::graph_query)),
        read("/v1/users", "list_users", Call::of(Commonbook::list_users)),
        read("/v1/stats", "get_memory_stats", Call::of(Commonbook::get_memory_stats)),
        read("/v1/agents", "list_agents", Call::of(Commonbook::list_agents)),
        read("/v1/agents/{name}", "get_agent", Call::of(Commonbook::get_agent)),
        read("/v1/events", "list_events", Call::of(Commonbook::list_events)),
    ]
}

/// The routes of memories that contradict each other.
fn of_contradictions() -> Vec<Route> {
    let read = |path, name, call| route::get(path, name, call);
    vec![
        read(
            "/v1/contradictions",
            "detect_contradictions",
            Call::of(Commonbook::detect_contradictions),
        ),
        read(
            "/v1/contradictions/{contradiction}",
            "get_contradiction",
            Call::of(Commonbook::get_contradiction),
        ),
        post(
            "/v1/contradictions/{contradiction}/resolve",
            "resolve_contradiction",
            Call::of(Commonbook::resolve_contradiction),
        ),
    ]
}

/// The routes of what agents work on together.
fn of_work() -> Vec<Route> {
    let read = |path, name, call| route::get(path, name, call);
    vec![
        read("/v1/changes", "changes_since", Call::of(Commonbook::changes_since)),
        post("/v1/changes/mark", "mark_read", Call::of(Commonbook::mark_read)),
        post("/v1/sessions", "start_session", Call::of(Commonbook::start_session)),
        read("/v1/sessions", "list_sessions", Call::of(Commonbook::list_sessions)),
        read("/v1/sessions/{session}", "get_session", Call::of(Commonbook::get_session)),
        post("/v1/sessions/{session}/touch", "touch_session", Call::of(Commonbook::touch_session)),
        post("/v1/sessions/{session}/end", "end_session", Call::of(Commonbook::end_session)),
        post(
            "/v1/sessions/{session}/resume",
            "resume_session",
            Call::of(Commonbook::resume_session),
        ),
        post("/v1/checkpoints", "create_checkpoint", Call::of(Commonbook::create_checkpoint)),
        read("/v1/checkpoints", "list_checkpoints", Call::of(Commonbook::list_checkpoints)),
        read(
            "/v1/checkpoints/{checkpoint}",
            "get_checkpoint",
            Call::of(Commonbook::get_checkpoint),
        ),
        post(
            "/v1/checkpoints/summarise",
            "checkpoint_and_summarise",
            Call::of(Commonbook::checkpoint_and_summarise),
        ),
        post("/v1/cases", "open_case", Call::of(Commonbook::open_case)),
        read("/v1/cases", "list_cases", Call::of(Commonbook::list_cases)),
        read("/v1/cases/{key}", "get_case", Call::of(Commonbook::get_case)),
        post("/v1/cases/{key}/entries", "append_entries", Call::of(Commonbook::append_entries))
            .or_list("entries", Call::of(Commonbook::append_entries)),
        read("/v1/cases/{key}/entries", "read_case", Call::of(Commonbook::read_case)),
        read("/v1/cases/{key}/context", "get_case_context", Call::of(Commonbook::get_case_context)),
        post("/v1/cases/{key}/digest", "digest_case", Call::of(Commonbook::digest_case)),
        post("/v1/cases/{key}/close", "close_case", Call::of(Commonbook::close_case)),
        post("/v1/cases/{key}/archive", "archive_case", Call::of(Commonbook::archive_case)),
        post("/v1/cases/{key}/reopen", "reopen_case", Call::of(Commonbook::reopen_case)),
    ]
}

/// The routes of work that is handed over.
fn of_handoffs() -> Vec<Route> {
    let read = |path, name, call| route::get(path, name, call);
    vec![
        post("/v1/handoffs", "create_handoff", Call::of(Commonbook::create_handoff))
            .answering(StatusCode::CREATED),
        read("/v1/handoffs", "list_handoffs", Call::of(Commonbook::list_handoffs)),
        read("/v1/handoffs/{handoff}", "get_handoff", Call::of(Commonbook::get_handoff)),
        post(
            "/v1/handoffs/{handoff}/accept",
            "accept_handoff",
            Call::of(Commonbook::accept_handoff),
        ),
        post(
            "/v1/handoffs/{handoff}/complete",
            "complete_handoff",
            Call::of(Commonbook::complete_handoff),
        ),
        post(
            "/v1/handoffs/{handoff}/reject",
            "reject_handoff",
            Call::of(Commonbook::reject_handoff),
        ),
        post(
            "/v1/handoffs/{handoff}/withdraw",
            "withdraw_handoff",
            Call::of(Commonbook::withdraw_handoff),
        ),
        read("/v1/collaborations", "get_collaborations", Call::of(Commonbook::get_collaborations)),
    ]
}

/// The OpenAPI document of every route.
pub(crate) fn openapi() -> Value {
    openapi::document(&routes())
}

/// The router of everything but `/mcp`.
pub(crate) fn router(
    book: Commonbook,
    config: Arc<Config>,
    streams: Streams,
    (rates, bodies): (Arc<Rates>, BodyBudget),
) -> Router {
    let document = Arc::new(openapi());
    let mut router = Router::new();
    for route in routes() {
        router = router.merge(route.mounted());
    }
    router
        .route(
            "/events/stream",
            get(move |State(door), id, request| streams.serve(door, id, request)),
        )
        .route("/health", get(health))
        .route("/openapi.json", get(move || async move { axum::Json((*document).clone()) }))
        .route("/docs", get(docs))
        .route("/docs/scalar.js", get(scalar))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .with_state(Door { book, config, rates, bodies })
}

async fn health(State(door): State<Door>, id: RequestId) -> axum::response::Response {
    let answers = move || door.book.store().read(|tx| tx.workspaces().map(drop));
    match blocking(answers).await {
        Ok(()) => axum::Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}))
            .into_response(),
        Err(error) => failure(&error, &id),
    }
}

async fn docs() -> Html<String> {
    // Nothing of the page's own makers: it is to work without a network, and to stay on this machine.
    let settings = json!({
        "url": "/openapi.json", "telemetry": false, "withDefaultFonts": false,
        "showDeveloperTools": "never", "agent": {"disabled": true}, "mcp": {"disabled": true},
    });
    Html(scalar_api_reference::scalar_html(&settings, Some("/docs/scalar.js")))
}

async fn scalar() -> impl IntoResponse {
    let script = scalar_api_reference::get_asset("scalar.js").unwrap_or_default();
    ([(header::CONTENT_TYPE, "text/javascript")], script)
}

async fn unknown(id: RequestId, uri: axum::http::Uri) -> axum::response::Response {
    let error = commonbook::base::error::Error::not_found(format!("there is no {}", uri.path()))
        .hint("/openapi.json and /docs tell every path.");
    failure(&error, &id)
}

async fn wrong_method(
    id: RequestId,
    method: axum::http::Method,
    uri: axum::http::Uri,
) -> axum::response::Response {
    let error = commonbook::base::error::Error::new(
        commonbook::base::error::ErrorKind::Invalid,
        format!("{} does not take {method}", uri.path()),
    )
    .hint("/openapi.json and /docs tell every path and its methods.");
    let mut response = failure(&error, &id);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}
