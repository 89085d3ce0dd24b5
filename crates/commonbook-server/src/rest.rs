//! REST: the verbs as routes under `/v1`, in one table that also makes the OpenAPI document.

mod examples;
mod openapi;
mod revision;
mod route;
mod stream;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use commonbook::Commonbook;
use serde_json::{Value, json};

use crate::body::BodyBudget;
use crate::call::{JsonVerb, run_blocking};
use crate::config::Config;
use crate::rate::AgentRateLimits;
use route::{RestRoute, delete, patch, post};

use route::RestDoor;
pub(crate) use route::{RequestId, error_response};
pub(crate) use stream::EventStreams;

/// Every route, in the order of the documentation.
fn routes() -> Vec<RestRoute> {
    [memory_routes(), contradiction_routes(), collaboration_routes(), handoff_routes()]
        .into_iter()
        .flatten()
        .collect()
}

/// The routes of memories, entities, agents and the journal.
#[expect(clippy::too_many_lines, reason = "a table of routes")]
fn memory_routes() -> Vec<RestRoute> {
    let read = |path, name, call| route::get(path, name, call);
    vec![
        post("/v1/memories", "save_memory", JsonVerb::of(Commonbook::save_memory))
            .with_status_code(StatusCode::CREATED)
            .with_revision("/memory")
            .with_list_verb("memories", JsonVerb::of(Commonbook::save_memories)),
        read("/v1/memories", "list_memories", JsonVerb::of(Commonbook::list_memories)),
        read("/v1/memories/search", "search_memory", JsonVerb::of(Commonbook::search_memory)),
        read("/v1/memories/{id}", "get_memory", JsonVerb::of(Commonbook::get_memory))
            .with_revision(""),
        patch("/v1/memories/{id}", "update_memory", JsonVerb::of(Commonbook::update_memory))
            .with_revision(""),
        delete("/v1/memories/{id}", "delete_memory", JsonVerb::of(Commonbook::delete_memory))
            .with_revision(""),
        read(
            "/v1/memories/{id}/history",
            "memory_history",
            JsonVerb::of(Commonbook::memory_history),
        ),
        post(
            "/v1/memories/{id}/restore",
            "restore_memory",
            JsonVerb::of(Commonbook::restore_memory),
        )
        .with_revision(""),
        post("/v1/memories/{id}/purge", "purge_memory", JsonVerb::of(Commonbook::purge_memory)),
        post(
            "/v1/memories/{id}/release",
            "release_memory",
            JsonVerb::of(Commonbook::release_memory),
        )
        .with_revision(""),
        post("/v1/memories/{id}/appeal", "appeal_memory", JsonVerb::of(Commonbook::appeal_memory))
            .with_revision(""),
        post("/v1/context", "get_context", JsonVerb::of(Commonbook::get_context)),
        read(
            "/v1/contexts/{context}",
            "explain_context",
            JsonVerb::of(Commonbook::explain_context),
        ),
        post("/v1/learnings", "learn", JsonVerb::of(Commonbook::learn)),
        read("/v1/quarantine", "list_quarantined", JsonVerb::of(Commonbook::list_quarantined)),
        post("/v1/memories/adopt", "adopt_memories", JsonVerb::of(Commonbook::adopt_memories)),
        post("/v1/memories/purge", "purge_since", JsonVerb::of(Commonbook::purge_since)),
        post("/v1/acts/{act_id}/undo", "undo_act", JsonVerb::of(Commonbook::undo_act)),
        post("/v1/entities/resolve", "resolve_entity", JsonVerb::of(Commonbook::resolve_entity)),
        read("/v1/entities/find", "find_entity", JsonVerb::of(Commonbook::find_entity)),
        read("/v1/entities", "list_entities", JsonVerb::of(Commonbook::list_entities)),
        post("/v1/entities/merge", "merge_entities", JsonVerb::of(Commonbook::merge_entities)),
        read("/v1/entities/reviews", "list_reviews", JsonVerb::of(Commonbook::list_reviews)),
        post(
            "/v1/entities/reviews/{review_id}",
            "decide_review",
            JsonVerb::of(Commonbook::decide_review),
        ),
        read("/v1/entities/{entity}", "get_entity", JsonVerb::of(Commonbook::get_entity)),
        read(
            "/v1/entities/{entity}/mentions",
            "entity_mentions",
            JsonVerb::of(Commonbook::entity_mentions),
        ),
        post(
            "/v1/entities/{source}/unmerge",
            "unmerge_entities",
            JsonVerb::of(Commonbook::unmerge_entities),
        ),
        post("/v1/relations", "add_relation", JsonVerb::of(Commonbook::add_relation)),
        read("/v1/graph", "graph_query", JsonVerb::of(Commonbook::graph_query)),
        read("/v1/users", "list_users", JsonVerb::of(Commonbook::list_users)),
        read("/v1/stats", "get_memory_stats", JsonVerb::of(Commonbook::get_memory_stats)),
        read("/v1/agents", "list_agents", JsonVerb::of(Commonbook::list_agents)),
        read("/v1/agents/{name}", "get_agent", JsonVerb::of(Commonbook::get_agent)),
        read("/v1/events", "list_events", JsonVerb::of(Commonbook::list_events)),
    ]
}

/// The routes of contradictions.
fn contradiction_routes() -> Vec<RestRoute> {
    let read = |path, name, call| route::get(path, name, call);
    vec![
        read(
            "/v1/contradictions",
            "detect_contradictions",
            JsonVerb::of(Commonbook::detect_contradictions),
        ),
        read(
            "/v1/contradictions/{contradiction}",
            "get_contradiction",
            JsonVerb::of(Commonbook::get_contradiction),
        ),
        post(
            "/v1/contradictions/{contradiction}/resolve",
            "resolve_contradiction",
            JsonVerb::of(Commonbook::resolve_contradiction),
        ),
    ]
}

/// The routes of sessions, checkpoints and cases.
fn collaboration_routes() -> Vec<RestRoute> {
    let read = |path, name, call| route::get(path, name, call);
    vec![
        read("/v1/changes", "changes_since", JsonVerb::of(Commonbook::changes_since)),
        post("/v1/changes/mark", "mark_read", JsonVerb::of(Commonbook::mark_read)),
        post("/v1/sessions", "start_session", JsonVerb::of(Commonbook::start_session)),
        read("/v1/sessions", "list_sessions", JsonVerb::of(Commonbook::list_sessions)),
        read("/v1/sessions/{session}", "get_session", JsonVerb::of(Commonbook::get_session)),
        post(
            "/v1/sessions/{session}/touch",
            "touch_session",
            JsonVerb::of(Commonbook::touch_session),
        ),
        post("/v1/sessions/{session}/end", "end_session", JsonVerb::of(Commonbook::end_session)),
        post(
            "/v1/sessions/{session}/resume",
            "resume_session",
            JsonVerb::of(Commonbook::resume_session),
        ),
        post("/v1/checkpoints", "create_checkpoint", JsonVerb::of(Commonbook::create_checkpoint)),
        read("/v1/checkpoints", "list_checkpoints", JsonVerb::of(Commonbook::list_checkpoints)),
        read(
            "/v1/checkpoints/{checkpoint}",
            "get_checkpoint",
            JsonVerb::of(Commonbook::get_checkpoint),
        ),
        post(
            "/v1/checkpoints/summarise",
            "checkpoint_and_summarise",
            JsonVerb::of(Commonbook::checkpoint_and_summarise),
        ),
        post("/v1/cases", "open_case", JsonVerb::of(Commonbook::open_case)),
        read("/v1/cases", "list_cases", JsonVerb::of(Commonbook::list_cases)),
        read("/v1/cases/{key}", "get_case", JsonVerb::of(Commonbook::get_case)),
        post("/v1/cases/{key}/entries", "append_entries", JsonVerb::of(Commonbook::append_entries))
            .with_list_verb("entries", JsonVerb::of(Commonbook::append_entries)),
        read("/v1/cases/{key}/entries", "read_case", JsonVerb::of(Commonbook::read_case)),
        read(
            "/v1/cases/{key}/context",
            "get_case_context",
            JsonVerb::of(Commonbook::get_case_context),
        ),
        post("/v1/cases/{key}/digest", "digest_case", JsonVerb::of(Commonbook::digest_case)),
        post("/v1/cases/{key}/close", "close_case", JsonVerb::of(Commonbook::close_case)),
        post("/v1/cases/{key}/archive", "archive_case", JsonVerb::of(Commonbook::archive_case)),
        post("/v1/cases/{key}/reopen", "reopen_case", JsonVerb::of(Commonbook::reopen_case)),
    ]
}

/// The routes of handoffs.
fn handoff_routes() -> Vec<RestRoute> {
    let read = |path, name, call| route::get(path, name, call);
    vec![
        post("/v1/handoffs", "create_handoff", JsonVerb::of(Commonbook::create_handoff))
            .with_status_code(StatusCode::CREATED),
        read("/v1/handoffs", "list_handoffs", JsonVerb::of(Commonbook::list_handoffs)),
        read("/v1/handoffs/{handoff}", "get_handoff", JsonVerb::of(Commonbook::get_handoff)),
        post(
            "/v1/handoffs/{handoff}/accept",
            "accept_handoff",
            JsonVerb::of(Commonbook::accept_handoff),
        ),
        post(
            "/v1/handoffs/{handoff}/complete",
            "complete_handoff",
            JsonVerb::of(Commonbook::complete_handoff),
        ),
        post(
            "/v1/handoffs/{handoff}/reject",
            "reject_handoff",
            JsonVerb::of(Commonbook::reject_handoff),
        ),
        post(
            "/v1/handoffs/{handoff}/withdraw",
            "withdraw_handoff",
            JsonVerb::of(Commonbook::withdraw_handoff),
        ),
        read(
            "/v1/collaborations",
            "get_collaborations",
            JsonVerb::of(Commonbook::get_collaborations),
        ),
    ]
}

/// The method and the path of each verb that has a route.
pub(crate) fn verb_routes() -> BTreeMap<&'static str, String> {
    routes().iter().map(|route| (route.name, format!("{} {}", route.method, route.path))).collect()
}

/// The OpenAPI document of every route.
pub(crate) fn openapi() -> Value {
    openapi::document(&routes())
}

/// The router of all paths except `/mcp`.
pub(crate) fn router(
    book: Commonbook,
    config: Arc<Config>,
    streams: EventStreams,
    rates: Arc<AgentRateLimits>,
    bodies: BodyBudget,
) -> Router {
    let document = Arc::new(openapi());
    let mut router = Router::new();
    for route in routes() {
        router = router.merge(route.into_router());
    }
    router
        .route(
            "/events/stream",
            get(move |State(door), id, request| streams.serve(door, id, request)),
        )
        .route("/health", get(health))
        .route("/openapi.json", get(move || async move { axum::Json((*document).clone()) }))
        .route("/docs", get(docs_page))
        .route("/docs/scalar.js", get(docs_script))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .with_state(RestDoor { book, config, rates, bodies })
}

async fn health(State(door): State<RestDoor>, id: RequestId) -> axum::response::Response {
    let read_store = move || door.book.store().read(|tx| tx.workspaces().map(drop));
    match run_blocking(read_store).await {
        Ok(()) => axum::Json(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}))
            .into_response(),
        Err(error) => error_response(&error, &id),
    }
}

async fn docs_page() -> Html<String> {
    // The page loads nothing from the network and sends nothing from this machine.
    let settings = json!({
        "url": "/openapi.json", "telemetry": false, "withDefaultFonts": false,
        "showDeveloperTools": "never", "agent": {"disabled": true}, "mcp": {"disabled": true},
    });
    Html(scalar_api_reference::scalar_html(&settings, Some("/docs/scalar.js")))
}

async fn docs_script() -> impl IntoResponse {
    let script = scalar_api_reference::get_asset("scalar.js").unwrap_or_default();
    ([(header::CONTENT_TYPE, "text/javascript")], script)
}

async fn unknown_path(id: RequestId, uri: axum::http::Uri) -> axum::response::Response {
    let error =
        commonbook::base::error::Error::not_found(format!("no route has the path {}", uri.path()))
            .hint("`GET /openapi.json` describes every route.");
    error_response(&error, &id)
}

async fn wrong_method(
    id: RequestId,
    method: axum::http::Method,
    uri: axum::http::Uri,
) -> axum::response::Response {
    let error = commonbook::base::error::Error::new(
        commonbook::base::error::ErrorKind::Invalid,
        format!("{} does not accept the method {method}", uri.path()),
    )
    .hint("`GET /openapi.json` describes every route and its methods.");
    let mut response = error_response(&error, &id);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}
