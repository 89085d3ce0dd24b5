//! MCP over streamable HTTP, both eras of the protocol on one endpoint.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::request::Parts;
use axum::middleware::from_fn_with_state;
use commonbook::base::error::Result;
use commonbook::base::limits;
use commonbook::model::caller::{Caller, EntryPoint};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::ownership::{self, SessionOwnership};
use crate::caller::{HttpCallerSource, resolve_http_caller};
use crate::config::Config;

/// The service behind `/mcp`, which makes a door for each connection. `stopping` ends its streams. A session is its
/// caller's alone.
pub(crate) fn service<D: ServerHandler>(
    door: impl Fn() -> D + Send + Sync + 'static,
    stopping: CancellationToken,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stopping)
        // Host and Origin were looked at before, for every door alike.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(limits::BODY_BYTES);
    let mut sessions = LocalSessionManager::default();
    // An agent is often silent for longer than the library's five minutes, and yet listens.
    sessions.session_config.keep_alive = Some(Duration::from_secs(limits::SESSION_HOURS * 60 * 60));
    let sessions = Arc::new(sessions);
    let ownership = SessionOwnership::of(Arc::clone(&sessions));
    let service = StreamableHttpService::new(move || Ok(door()), sessions, config);
    Router::new()
        .fallback_service(service)
        .layer(from_fn_with_state(ownership, ownership::check_session_owner))
}

/// The caller behind one message: what its own HTTP request says, and the client's name.
pub(super) fn caller(
    parts: &Parts,
    client: Option<(String, String)>,
    config: &Config,
) -> Result<Caller> {
    resolve_http_caller(HttpCallerSource { parts, client, door: EntryPoint::Mcp }, config)
        .map(|(caller, _)| caller)
}
