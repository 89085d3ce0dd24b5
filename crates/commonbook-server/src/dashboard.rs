//! The dashboard: pages of the server for people. A page calls verbs of the registry, and writes their
//! responses as HTML.

mod act;
mod assets;
mod command;
mod graphs;
mod layout;
mod pages;
mod parts;
mod plots;
mod request;
mod same;
mod sign_in;
mod word_diff;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use commonbook::Commonbook;
use commonbook::base::error::{Error, Result};
use commonbook::base::hash::sha256;
use commonbook::model::caller::Caller;
use maud::Markup;

use crate::body::BodyBudget;
use crate::call::run_cancellable;
use crate::caller::header_text;
use crate::config::Config;
use crate::gate::RequestGate;
use crate::hint::{HintDoor, for_door};
use crate::http_error::{RequestId, log_error, status_of_kind};
use crate::rate::AgentRateLimits;
use crate::stream::{EventStreams, LAST_EVENT_HEADER};

use pages::{DashboardPage, PAGES};
use request::PageRequest;
use sign_in::SignIn;

pub(crate) use command::DashboardCommand;
pub(crate) use sign_in::DASHBOARD_PATH;

/// What a page may load and where its forms lead: this server alone.
const CONTENT_POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What the pages need.
#[derive(Clone)]
pub(crate) struct DashboardDoor {
    pub(crate) book: Commonbook,
    pub(crate) config: Arc<Config>,
    pub(crate) gate: RequestGate,
    pub(crate) streams: EventStreams,
    pub(crate) rates: Arc<AgentRateLimits>,
    pub(crate) bodies: BodyBudget,
    sign_in: Arc<SignIn>,
}

impl DashboardDoor {
    /// The pages of this home.
    ///
    /// # Errors
    /// `unavailable` if the key of the home cannot be read.
    pub(crate) fn new(
        config: Arc<Config>,
        gate: RequestGate,
        streams: EventStreams,
        rates: Arc<AgentRateLimits>,
        bodies: BodyBudget,
    ) -> Result<Self> {
        let sign_in = Arc::new(SignIn::open(&config, gate.hosts.is_exposed())?);
        Ok(Self { book: gate.book.clone(), config, gate, streams, rates, bodies, sign_in })
    }
}

/// The router of every page.
pub(crate) fn router(door: DashboardDoor) -> Router {
    Router::new()
        .route("/dashboard", get(open_home))
        .route("/dashboard/assets/{file}", get(assets::serve))
        .route("/dashboard/sign-in", get(sign_in::show).post(sign_in::by_token))
        .route("/dashboard/sign-out", post(sign_in::out))
        .route("/dashboard/w/{workspace}", get(open_workspace))
        .route("/dashboard/w/{workspace}/stream", get(stream))
        .route("/dashboard/w/{workspace}/do/{verb}", post(act::act))
        .route("/dashboard/w/{workspace}/download/{context}", get(download))
        .route("/dashboard/w/{workspace}/{page}", get(show_page))
        .route("/dashboard/w/{workspace}/{page}/{item}", get(show_item))
        .route("/dashboard/{*path}", get(unknown_page))
        .with_state(door)
}

/// The main part of a page, and what stands around it.
struct PageContent {
    /// The title of the page, and of the browser's tab.
    title: String,
    main: Markup,
    /// How to do the same through other doors.
    same: Vec<same::SameCall>,
}

/// Leads to the first page of the workspace that the server was started in.
async fn open_home(State(door): State<DashboardDoor>) -> Redirect {
    Redirect::to(&format!("/dashboard/w/{}/now", door.default_workspace()))
}

async fn open_workspace(Path(workspace): Path<String>) -> Redirect {
    Redirect::to(&format!("/dashboard/w/{}/now", request::path_segment(&workspace)))
}

async fn show_page(
    State(door): State<DashboardDoor>,
    Path((workspace, page)): Path<(String, String)>,
    id: RequestId,
    request: Request,
) -> Response {
    serve_page(door, workspace, page, None, id, request).await
}

async fn show_item(
    State(door): State<DashboardDoor>,
    Path((workspace, page, item)): Path<(String, String, String)>,
    id: RequestId,
    request: Request,
) -> Response {
    serve_page(door, workspace, page, Some(item), id, request).await
}

async fn serve_page(
    door: DashboardDoor,
    workspace: String,
    page: String,
    item: Option<String>,
    id: RequestId,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let caller = match door.signed_in_caller(&parts, &workspace).await {
        Ok(caller) => caller,
        Err(error) => return sign_in::refusal(&door, &error, &parts.uri),
    };
    let Some(page) = PAGES.iter().find(|known| known.path == page) else {
        return door.error_page(&Error::not_found(format!("there is no page {page:?}")), &id);
    };
    let shown = door.render(caller, page, item, &parts).await;
    match shown {
        Ok(markup) => page_response(markup.into_string(), StatusCode::OK, Some(&parts.headers)),
        Err(error) => door.error_page(&error, &id),
    }
}

impl DashboardDoor {
    fn default_workspace(&self) -> String {
        let workspace = self.config.workspace.clone();
        request::path_segment(&workspace.unwrap_or_else(|| "default".to_owned()))
    }

    /// Renders a page on a blocking thread.
    async fn render(
        &self,
        caller: Caller,
        page: &'static DashboardPage,
        item: Option<String>,
        parts: &axum::http::request::Parts,
    ) -> Result<Markup> {
        self.rates.admit(&caller, false)?;
        let csrf = self.sign_in.form_token(&parts.headers);
        let request = PageRequest::new(self.book.clone(), &self.config, page, item, parts, csrf)?;
        run_cancellable(caller, move |caller| {
            let request = request.for_caller(caller);
            let content = request.content()?;
            layout::page(&request, &content)
        })
        .await
    }

    /// The page of an error, with its hint.
    fn error_page(&self, error: &Error, id: &RequestId) -> Response {
        log_error(error, id);
        let error = for_door(error, HintDoor::CommandLine("commonbook"));
        let status = status_of_kind(error.kind);
        let home = format!("/dashboard/w/{}/now", self.default_workspace());
        page_response(layout::error(&error, id, &home).into_string(), status, None)
    }
}

/// A page as a response; without its body if the browser already has these bytes.
fn page_response(html: String, status: StatusCode, request: Option<&HeaderMap>) -> Response {
    let tag = format!("\"{}\"", &sha256(&html)[..32]);
    let known = request.and_then(|headers| headers.get(header::IF_NONE_MATCH));
    let mut response = match known.is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => (status, axum::response::Html(html)).into_response(),
    };
    let headers = response.headers_mut();
    add_page_headers(headers);
    if status == StatusCode::OK
        && let Ok(tag) = HeaderValue::try_from(tag)
    {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// The headers of every response of the dashboard.
fn add_page_headers(headers: &mut HeaderMap) {
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::VARY, "cookie"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The events of a workspace, for the pages that show it: their scripts read the page again.
async fn stream(
    State(door): State<DashboardDoor>,
    Path(workspace): Path<String>,
    id: RequestId,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let opened = async {
        let caller = door.signed_in_caller(&parts, &workspace).await?;
        let last = header_text(&parts.headers, LAST_EVENT_HEADER)?;
        door.streams.clone().open(caller, Vec::new(), last).await
    };
    opened.await.unwrap_or_else(|error| door.error_page(&error, &id))
}

/// The receipt of a context as a file.
async fn download(
    State(door): State<DashboardDoor>,
    Path((workspace, context)): Path<(String, String)>,
    id: RequestId,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let read = async {
        let caller = door.signed_in_caller(&parts, &workspace).await?;
        let book = door.book.clone();
        run_cancellable(caller, move |caller| pages::read_receipt(&book, caller, &context)).await
    };
    match read.await {
        Ok(receipt) => {
            let mut response = axum::Json(receipt).into_response();
            add_page_headers(response.headers_mut());
            response
        }
        Err(error) => door.error_page(&error, &id),
    }
}

async fn unknown_page(
    State(door): State<DashboardDoor>,
    id: RequestId,
    uri: axum::http::Uri,
) -> Response {
    let error = Error::not_found(format!("no page has the path {}", uri.path()));
    door.error_page(&error, &id)
}

/// The form that a request sent, as pairs.
async fn read_form(door: &DashboardDoor, request: Request) -> Result<FormRequest> {
    let (parts, body) = request.into_parts();
    let body = door.bodies.read(body).await?;
    let pairs = form_urlencoded::parse(&body.bytes).into_owned().collect();
    Ok(FormRequest { parts, pairs })
}

/// A form that a page sent.
struct FormRequest {
    parts: axum::http::request::Parts,
    pairs: Vec<(String, String)>,
}

impl FormRequest {
    /// The value of a field.
    fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}
