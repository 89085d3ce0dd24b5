//! MCP over streamable HTTP, with and without sessions on one endpoint.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::request::Parts;
use axum::middleware::{from_fn, from_fn_with_state};
use commonbook::base::error::Result;
use commonbook::base::limits;
use commonbook::model::caller::{Caller, EntryPoint};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::exchange::exchange_messages;
use super::ownership::{self, SessionOwnership};
use crate::calls::verb::TOOLS_HEADER;
use crate::calls::verb::ToolSelection;
use crate::http::caller::{HttpCallerSource, header_text, resolve_http_caller};
use crate::settings::config::Config;

/// The service of `/mcp`, which makes a door for each connection. `stopping` ends its streams. Only
/// the caller that opened a session can use it.
pub(crate) fn service<D: ServerHandler>(
    door: impl Fn() -> D + Send + Sync + 'static,
    stopping: CancellationToken,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stopping)
        // The gate has checked Host and Origin for every door.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(limits::BODY_BYTES);
    let mut sessions = LocalSessionManager::default();
    // An agent can be silent for longer than the library's five minutes.
    sessions.session_config.keep_alive = Some(Duration::from_secs(limits::SESSION_HOURS * 60 * 60));
    let sessions = Arc::new(sessions);
    let ownership = SessionOwnership::of(Arc::clone(&sessions));
    let service = StreamableHttpService::new(move || Ok(door()), sessions, config);
    Router::new()
        .fallback_service(service)
        .layer(from_fn_with_state(ownership, ownership::check_session_owner))
        .layer(from_fn(exchange_messages))
}

/// The caller of one message, from its HTTP request and the name of the client.
pub(super) fn caller(
    parts: &Parts,
    client: Option<(String, String)>,
    config: &Config,
) -> Result<Caller> {
    resolve_http_caller(HttpCallerSource { parts, client, door: EntryPoint::Mcp }, config)
        .map(|(caller, _)| caller)
}

/// The tools that the headers of a message select.
///
/// # Errors
/// `invalid` for the name of no tool.
pub(super) fn selected_tools(parts: &Parts) -> Result<Option<ToolSelection>> {
    header_text(&parts.headers, TOOLS_HEADER)?.map(|text| text.parse()).transpose()
}
