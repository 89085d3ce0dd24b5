//! The server: REST and MCP over HTTP on one address, until a signal stops it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Extensions, HeaderMap, StatusCode, Version, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use commonbook::Commonbook;
use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::id::{Id, RequestKind};
use commonbook::base::{input, limits};
use commonbook::model::webhook::delivery::RetrySchedule;
use commonbook::model::workspace::Workspace;
use jiff::SignedDuration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tracing::Instrument;

use crate::background::backups;
use crate::background::follow;
use crate::background::health;
use crate::background::sizes;
use crate::background::webhook;
use crate::calls::call::run_blocking;
use crate::calls::metrics::{self, server_metrics};
use crate::calls::output;
use crate::calls::traces::{CollectorUrl, RequestTrace, TraceExport};
use crate::calls::verb::ToolSelection;
use crate::clients::local::RpcListener;
use crate::doors::cli;
use crate::doors::dashboard::{self, DashboardDoor};
use crate::doors::hook;
use crate::doors::mcp::{self, McpDoor};
use crate::doors::rest;
use crate::http::body::{BodyBudget, WholeBody, drain_unread_body};
use crate::http::connections;
use crate::http::gate::{self, AllowedHosts, RequestGate};
use crate::http::http_error::RequestId;
use crate::http::http_error::error_response;
use crate::http::rate::{AgentRateLimits, RateSetting};
use crate::http::stream::EventStreams;
use crate::http::watch;
use crate::settings::config::Config;
use crate::settings::config::DEFAULT_ADDRESS;
use crate::system::process::stop_signal;
use crate::system::serving::{ServerEntry, ServerId};

/// Serves REST under /v1, MCP under /mcp and API documentation under /docs, on one address.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeCommand {
    /// Address to listen on; if other machines can reach it, every caller needs a token
    #[arg(long, default_value = DEFAULT_ADDRESS)]
    pub(crate) bind: SocketAddr,
    /// Port to listen on instead; 0 selects a free port
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// MCP tools to offer: core, team, full, or names of tools, separated by commas
    #[arg(long, default_value_t)]
    pub(crate) tools: ToolSelection,
    /// Refuse writes from callers without a name
    #[arg(long)]
    pub(crate) production: bool,
    /// Maximum number of open event streams
    #[arg(long, value_name = "NUMBER", default_value_t = limits::STREAMS)]
    pub(crate) streams: usize,
    /// Longest delay after the first failed delivery to a webhook, for tests
    #[arg(long, value_name = "MILLISECONDS", hide = true)]
    pub(crate) webhook_delay: Option<u32>,
    /// Collector to send OpenTelemetry traces to, over OTLP/HTTP: http://127.0.0.1:4318; a span for
    /// each request and verb, without names or text
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<CollectorUrl>,
}

impl ServeCommand {
    /// Serves until a signal stops it; then finishes the running requests.
    ///
    /// # Errors
    /// `unavailable` if it cannot listen on the address, or if the store is damaged.
    pub(crate) async fn run(self, book: Commonbook, config: Arc<Config>) -> Result<()> {
        let workspace = config.workspace.as_deref().map(str::parse::<Workspace>).transpose()?;
        let workspace = workspace.unwrap_or_else(Workspace::fallback);
        let mut policy = config.policy()?;
        policy.anonymous_writes &= !self.production;
        let book = book.with_policy(policy).with_webhook_retries(self.webhook_retries());
        let mut address = self.bind;
        address.set_port(self.port.unwrap_or(address.port()));
        if let Some(note) = config.past_section_note() {
            tracing::warn!("{note}");
        }
        let rate = RateSetting::of(config.rate.as_deref(), address.ip().is_loopback())?;
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Error::new(ErrorKind::Unavailable, format!("cannot listen on {address}: {error}"))
                .hint("Stop the program that uses this address, or choose another one with --bind or --port.")
                .with_cause(error)
        })?;
        let address = listener.local_addr().unwrap_or(address);
        let hosts = AllowedHosts::new(address, config.hosts.as_deref())?;
        metrics::begin(&book)?;
        let _traces = self.otlp.as_ref().map(TraceExport::begin).transpose()?;
        let stopping = shutdown_token();
        let (book, watch) = watch::watch_journals(book, stopping.clone());
        let streams =
            EventStreams::new(book.clone(), watch.clone(), self.streams, stopping.clone());
        begin_background_work(&book, &config, &stopping)?;
        let door = McpDoor::new(book.clone(), Arc::clone(&config), self.tools, watch);
        let gate = RequestGate {
            book: book.clone(),
            hosts: Arc::new(hosts),
            wrong_tokens: Arc::default(),
        };
        if gate.hosts.is_exposed() {
            tracing::info!(
                "other machines can reach this address: every caller needs a token (commonbook token create)"
            );
        }
        let connections_max = limits::CONNECTIONS.saturating_add(self.streams);
        let rates = AgentRateLimits::new(rate);
        let id = ServerId::random();
        let router = router(gate, Arc::clone(&config), door, streams, rates, &stopping)?
            .layer(Extension(id.clone()));
        // Only now can nothing else keep the server from serving.
        let local = RpcListener::open(&config, cli::rpc_handler(book.clone(), &config));
        let _entry = config.home.as_deref().map(|home| ServerEntry::write(home, address, id));
        output::announce(&format!(
            "Commonbook listens on http://{address}\nRequests that name no workspace use `{workspace}`."
        ));
        let server = HttpServer { router, connections_max, stopping };
        tokio::select! {
            () = serve_until_stopped(listener, local, server) => {}
            error = wait_for_damage(book.clone()) => return Err(error),
        }
        run_blocking(move || {
            follow::leave_store(&book);
            Ok(())
        })
        .await
    }
}

impl ServeCommand {
    /// When failed deliveries to webhooks are tried again.
    fn webhook_retries(&self) -> RetrySchedule {
        let schedule = RetrySchedule::default();
        match self.webhook_delay {
            None => schedule,
            Some(delay) => {
                RetrySchedule { first_delay: SignedDuration::from_millis(delay.into()), ..schedule }
            }
        }
    }
}

/// Begins what a server does beside its answers, until it stops.
///
/// # Errors
/// `invalid` for a wrong schedule of backups, `unavailable` if no home is known.
fn begin_background_work(
    book: &Commonbook,
    config: &Arc<Config>,
    stopping: &CancellationToken,
) -> Result<()> {
    let stop = || stopping.clone();
    tokio::spawn(sweep_hourly(book.clone()));
    tokio::spawn(sizes::measure_in_background(book.clone()));
    tokio::spawn(follow::follow_in_background(book.clone(), Arc::clone(config), stop()));
    tokio::spawn(follow::consolidate_in_background(book.clone(), stop()));
    if let Some(schedule) = config.backup_schedule()? {
        let (home, store) = (config.home()?.to_owned(), config.store_file()?);
        tokio::spawn(backups::back_up_in_background(schedule, home, store, stop()));
    }
    let home = config.home()?.to_owned();
    tokio::spawn(webhook::deliver_in_background(book.clone(), home, stop()));
    tokio::spawn(hook::drain_spool_in_background(Arc::clone(config), book.clone(), stop()));
    Ok(())
}

/// The router with its limit of connections, and the token that ends its streams.
struct HttpServer {
    router: Router,
    /// Maximum number of open connections.
    connections_max: usize,
    stopping: CancellationToken,
}

fn router(
    gate: RequestGate,
    config: Arc<Config>,
    door: McpDoor,
    streams: EventStreams,
    rates: AgentRateLimits,
    stopping: &CancellationToken,
) -> Result<Router> {
    let (rates, bodies) = (Arc::new(rates), BodyBudget::default());
    let door = door.with_rates(Arc::clone(&rates));
    #[cfg(test)]
    let door = mcp::FixtureDoor::wrap_door(door);
    let mcp = mcp::service(move || door.for_connection(), stopping.clone())
        .layer(from_fn_with_state(bodies.clone(), read_whole_body));
    let resource = get(gate::protected_resource).with_state(gate.clone());
    let pages = DashboardDoor::new(
        Arc::clone(&config),
        gate.clone(),
        streams.clone(),
        Arc::clone(&rates),
        bodies.clone(),
    )?;
    let router = rest::router(gate.book.clone(), config, streams, rates, bodies)
        .nest_service("/mcp", mcp)
        .merge(dashboard::router(pages))
        .route(gate::RESOURCE_METADATA_PATH, resource.clone())
        .route(&format!("{}/mcp", gate::RESOURCE_METADATA_PATH), resource)
        .layer(compression())
        .layer(from_fn_with_state(gate, gate::admit_request))
        .layer(from_fn_with_state(
            Arc::new(commonbook::base::id::RandomIds::default()),
            log_request,
        ))
        .layer(from_fn(drain_unread_body));
    Ok(router)
}

/// Compresses long responses for clients that accept it; except event streams, whose events must
/// arrive at once, and responses with a strong ETag, which stands for the exact bytes.
fn compression() -> CompressionLayer<impl Predicate> {
    let untagged = |_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions| {
        !headers.contains_key(header::ETAG)
    };
    let long = SizeAbove::new(limits::COMPRESSED_BYTES);
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(long.and(NotForContentType::SSE).and(untagged))
}

/// Reads the whole body of a request before its handler runs, within the limits of all requests.
async fn read_whole_body(
    State(bodies): State<BodyBudget>,
    id: RequestId,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let read = bodies.read(body).await;
    let bounded = read.and_then(|body| input::check_value_count(&body.bytes).map(|()| body));
    match bounded {
        Ok(WholeBody { bytes, share: _share }) => {
            next.run(Request::from_parts(parts, bytes.into())).await
        }
        Err(error) => error_response(&error, &id),
    }
}

async fn serve_until_stopped(
    listener: TcpListener,
    local: Option<RpcListener>,
    server: HttpServer,
) {
    let HttpServer { router, connections_max, stopping } = server;
    let http = connections::serve(listener, router, connections_max, stopping.clone());
    let commands = async {
        if let Some(local) = local {
            local.serve(stopping.clone()).await;
        }
    };
    let serving = async { tokio::join!(http, commands) };
    let too_late = async {
        stopping.cancelled().await;
        tokio::time::sleep(Duration::from_secs(limits::SHUTDOWN_SECONDS)).await;
    };
    tokio::select! {
        _ = serving => {}
        () = too_late => tracing::warn!("closing connections that are still open"),
    }
}

/// The token that Ctrl-C or SIGTERM cancels, from now on.
fn shutdown_token() -> CancellationToken {
    let (stopping, signal) = (CancellationToken::new(), stop_signal());
    let cancelled = stopping.clone();
    tokio::spawn(async move {
        signal.await;
        tracing::info!("stopping: finishing the running requests");
        cancelled.cancel();
    });
    stopping
}

/// Checks the store while the server runs, and returns the damage: writes to a damaged store would be
/// lost. Never returns if the store is intact, or in a database: its server watches over its pages, and
/// `doctor` reads them all.
async fn wait_for_damage(book: Commonbook) -> Error {
    let findings = run_blocking(move || match book.store().server() {
        Ok(None) => book.store().check().map(Some),
        Ok(Some(_)) | Err(_) => Ok(None),
    });
    match findings.await {
        Ok(None) => std::future::pending().await,
        Ok(Some(findings)) if findings.is_empty() => {
            health::note_intact_store(SystemClock.now());
            std::future::pending().await
        }
        Ok(Some(findings)) => Error::new(
            ErrorKind::Unavailable,
            format!("the store is damaged: {}", findings.join("; ")),
        )
        .hint("Run `commonbook doctor`, then restore the file from a backup."),
        Err(error) => error,
    }
}

/// Removes expired data, now and every hour.
pub(crate) async fn sweep_hourly(book: Commonbook) {
    let mut hours = tokio::time::interval(Duration::from_secs(60 * 60));
    loop {
        hours.tick().await;
        let book = book.clone();
        match tokio::task::spawn_blocking(move || book.sweep()).await {
            Ok(Ok(swept)) => tracing::debug!(purged = swept.purged, "swept"),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the sweep failed; the next one runs in an hour");
            }
            Err(panic) => tracing::error!(%panic, "the sweep panicked"),
        }
    }
}

/// Gives each request an id, for its response and the log. Never logs the content of a request.
async fn log_request(
    State(ids): State<Arc<commonbook::base::id::RandomIds>>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = Id::<RequestKind>::new(&*ids, SystemClock.now()).to_string();
    let span =
        tracing::info_span!("request", id, method = %request.method(), path = request.uri().path());
    request.extensions_mut().insert(RequestId(id.clone()));
    let trace = RequestTrace::begin(
        request.method(),
        request.extensions().get::<MatchedPath>(),
        request.headers(),
    );
    if let Some(trace) = &trace {
        request.extensions_mut().insert(trace.clone());
    }
    let mut response = next.run(request).instrument(span.clone()).await;
    if let Some(trace) = trace {
        trace.end(response.status());
    }
    if let Some(metrics) = server_metrics() {
        metrics.note_response(response.status());
    }
    span.in_scope(|| tracing::debug!(status = response.status().as_u16(), "answered"));
    if let Ok(id) = id.parse() {
        response.headers_mut().insert("x-request-id", id);
    }
    response
}
