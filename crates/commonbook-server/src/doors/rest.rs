//! REST: the verbs as routes under `/v1`, in one table that also makes the OpenAPI document.

mod components;
mod descriptions;
mod examples;
mod metrics;
mod openapi;
mod revision;
mod route;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect};
use axum::routing::get;
use axum::{Extension, Router};
use commonbook::Commonbook;
use commonbook::model::caller::EntryPoint;
use commonbook::model::workspace::Workspace;
use serde_json::{Value, json};

use crate::calls::call::run_blocking;
use crate::calls::verb;
use crate::http::body::BodyBudget;
use crate::http::caller::{HttpCallerSource, header_text, resolve_http_caller};
use crate::http::http_error::RequestId;
use crate::http::http_error::error_response;
use crate::http::rate::AgentRateLimits;
use crate::http::stream::{EventStreams, LAST_EVENT_HEADER};
use crate::settings::config::Config;
use crate::system::serving::{SERVER_HEADER, ServerId};

use route::{RestDoor, RestRoute};

/// Every route, in the order of the registry.
fn routes() -> Vec<RestRoute> {
    verb::all().iter().filter_map(RestRoute::of).collect()
}

/// The OpenAPI document of every route.
pub(crate) fn openapi() -> Value {
    openapi::document(&routes())
}

/// The type of a body of JSON.
const JSON: (HeaderName, &str) = (header::CONTENT_TYPE, "application/json");

/// The router of all paths except `/mcp`.
pub(crate) fn router(
    book: Commonbook,
    config: Arc<Config>,
    streams: EventStreams,
    rates: Arc<AgentRateLimits>,
    bodies: BodyBudget,
) -> Router {
    let document = Bytes::from(openapi().to_string());
    let mut router = Router::new();
    for route in routes() {
        router = router.merge(route.into_router());
    }
    router
        .route(
            "/events/stream",
            get(move |State(door), id, request| serve_stream(streams, door, id, request)),
        )
        .route("/", get(overview))
        .route("/health", get(health))
        .route("/metrics", get(metrics::serve))
        .route("/openapi.json", get(move || async move { ([JSON], document) }))
        .route("/docs", get(docs_page))
        .route("/docs/scalar.js", get(docs_script))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .with_state(RestDoor { book, config, rates, bodies })
}

/// Answers a request for the event stream.
async fn serve_stream(
    streams: EventStreams,
    door: RestDoor,
    id: RequestId,
    request: Request,
) -> axum::response::Response {
    let (parts, _) = request.into_parts();
    let http = HttpCallerSource { parts: &parts, client: None, door: EntryPoint::Rest };
    let resolved = resolve_http_caller(http, &door.config)
        .and_then(|caller| Ok((caller, header_text(&parts.headers, LAST_EVENT_HEADER)?)));
    let opened = match resolved {
        Ok(((caller, pairs), last)) => streams.open(caller, pairs, last).await,
        Err(error) => Err(error),
    };
    opened.unwrap_or_else(|error| error_response(&error, &id))
}

/// Leads a browser to the dashboard, and any other client to the paths of the server. A link of another
/// site leads to the documentation: the dashboard opens for its own reader alone.
async fn overview(headers: HeaderMap) -> axum::response::Response {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let vary = [(header::VARY, header::ACCEPT.as_str())];
    if accept.is_some_and(|accept| accept.contains("text/html")) {
        let foreign = headers
            .get("sec-fetch-site")
            .is_some_and(|site| site != "none" && site != "same-origin");
        let page = if foreign { "/docs" } else { "/dashboard" };
        return (vary, Redirect::temporary(page)).into_response();
    }
    let paths = json!({
        "name": "Commonbook", "version": env!("CARGO_PKG_VERSION"),
        "dashboard": "/dashboard", "docs": "/docs", "openapi": "/openapi.json", "rest": "/v1",
        "mcp": "/mcp", "health": "/health", "metrics": "/metrics",
    });
    (vary, axum::Json(paths)).into_response()
}

async fn health(
    State(door): State<RestDoor>,
    server: Option<Extension<ServerId>>,
    id: RequestId,
) -> axum::response::Response {
    // One row, however many workspaces there are.
    let read_store =
        move || door.book.store().read(|tx| tx.journal_end(&Workspace::global()).map(drop));
    match run_blocking(read_store).await {
        Ok(()) => {
            let server = server.map(|Extension(ServerId(id))| [(SERVER_HEADER, id)]);
            let health = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")});
            (server, axum::Json(health)).into_response()
        }
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

/// What a browser shows where no page is.
const NO_PAGE: &str = "<!doctype html><html lang=\"en\"><title>Commonbook</title><p>There is no page here.</p>\
     <ul><li><a href=\"/dashboard\">The dashboard</a></li><li><a href=\"/docs\">The REST API</a></li></ul></html>";

async fn unknown_path(
    id: RequestId,
    headers: axum::http::HeaderMap,
    uri: axum::http::Uri,
) -> axum::response::Response {
    let accepted = headers.get(header::ACCEPT).and_then(|types| types.to_str().ok());
    if accepted.is_some_and(|types| types.contains("text/html")) {
        return (StatusCode::NOT_FOUND, Html(NO_PAGE)).into_response();
    }
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
