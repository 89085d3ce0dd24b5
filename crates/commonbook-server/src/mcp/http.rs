//! MCP over streamable HTTP, both eras of the protocol on one endpoint.

use std::sync::Arc;

use axum::http::request::Parts;
use commonbook::caller::{Caller, Door};
use commonbook::error::Result;
use commonbook::limits;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::McpDoor;
use crate::caller::{Http, from_http};
use crate::config::Config;

/// The service behind `/mcp`. `stopping` ends its streams.
pub(crate) fn service(
    door: McpDoor,
    stopping: CancellationToken,
) -> StreamableHttpService<McpDoor, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stopping)
        // Host and Origin were looked at before, for every door alike.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(limits::BODY_BYTES);
    StreamableHttpService::new(move || Ok(door.clone()), Arc::default(), config)
}

/// The caller behind one message: what its own HTTP request says, and the client's name.
pub(super) fn caller(
    parts: &Parts,
    client: Option<(String, String)>,
    config: &Config,
) -> Result<Caller> {
    from_http(Http { parts, client, door: Door::Mcp }, config).map(|(caller, _)| caller)
}
