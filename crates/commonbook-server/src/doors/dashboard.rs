//! The dashboard: pages of the server for people. A page calls verbs of the registry, and writes their
//! responses as HTML.

mod act;
mod assets;
mod command;
mod door;
mod entry;
mod graphs;
mod layout;
mod pages;
mod parts;
mod plots;
mod request;
mod response;
mod same;
mod sign_in;
mod word_diff;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use commonbook::base::error::{Error, Result};
use commonbook::model::caller::Caller;
use maud::Markup;

use crate::calls::call::run_cancellable;
use crate::http::caller::header_text;
use crate::http::http_error::RequestId;
use crate::http::stream::LAST_EVENT_HEADER;

use pages::PAGES;
use request::{DashboardPage, PageRequest};
use response::{add_page_headers, page_response};

pub(crate) use command::DashboardCommand;
pub(crate) use door::DashboardDoor;

/// The router of every page.
pub(crate) fn router(door: DashboardDoor) -> Router {
    Router::new()
        .route("/dashboard", get(open_home))
        .route("/dashboard/assets/{version}/{file}", get(assets::serve))
        .route("/dashboard/sign-in", get(entry::show).post(entry::by_token))
        .route("/dashboard/sign-out", post(entry::out))
        .route("/dashboard/w/{workspace}", get(open_workspace))
        .route("/dashboard/w/{workspace}/stream", get(stream))
        .route("/dashboard/w/{workspace}/do/{verb}", post(act::act))
        .route("/dashboard/w/{workspace}/accept-vault", post(act::accept_vault))
        .route("/dashboard/w/{workspace}/download/{context}", get(download))
        .route("/dashboard/w/{workspace}/{page}", get(show_page))
        .route("/dashboard/w/{workspace}/{page}/{item}", get(show_item))
        .route("/dashboard/{*path}", get(unknown_page))
        .with_state(door)
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
        Err(error) => return entry::refusal(&door, &error, &parts.uri),
    };
    let Some(page) = PAGES.iter().find(|known| known.path == page) else {
        return door.error_page(&Error::not_found(format!("there is no page {page:?}")), &id);
    };
    let shown = render(&door, caller, page, item, &parts).await;
    match shown {
        Ok(markup) => page_response(markup.into_string(), StatusCode::OK, Some(&parts.headers)),
        Err(error) => door.error_page(&error, &id),
    }
}

/// Renders a page on a blocking thread.
async fn render(
    door: &DashboardDoor,
    caller: Caller,
    page: &'static DashboardPage,
    item: Option<String>,
    parts: &Parts,
) -> Result<Markup> {
    door.rates.admit(&caller, false)?;
    let csrf = door.sign_in.form_token(&parts.headers);
    let request = PageRequest::new(door.book.clone(), &door.config, page, item, parts, csrf)?;
    run_cancellable(caller, move |caller| {
        let request = request.for_caller(caller);
        let position = request.journal_position()?;
        let content = request.content()?;
        layout::page(&request, &content, &position, PAGES)
    })
    .await
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
