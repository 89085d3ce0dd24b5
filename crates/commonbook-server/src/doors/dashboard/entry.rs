//! The pages for signing in and out.

use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use commonbook::base::error::{Error, ErrorKind};

use super::door::{DashboardDoor, FormRequest, check_form, check_origin, read_form};
use super::layout;
use super::request::{own_path, path_segment};
use super::response::page_response;
use super::sign_in::{COOKIE, redirect_with_cookie};
use crate::calls::call::run_blocking;
use crate::http::connections::PeerAddress;
use crate::http::gate::{DASHBOARD_PATH, UNKNOWN_PEER};
use crate::http::http_error::RequestId;

/// Signs in by a link, or shows how to sign in.
pub(super) async fn show(
    State(door): State<DashboardDoor>,
    id: RequestId,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default();
    let pairs = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let form = FormRequest { parts, pairs };
    let Some(code) = form.value("code") else {
        return sign_in_page(&door, None, form.value("to").unwrap_or_default(), StatusCode::OK);
    };
    let (book, exposed) = (door.book.clone(), door.sign_in.exposed);
    // With tokens a link is not enough: the person signs in by one.
    let admitted = run_blocking(move || book.admit(None, exposed)).await;
    match admitted.and_then(|_| door.sign_in.open_link(code)) {
        Ok(()) => {
            let workspace = form.value("workspace").map(path_segment);
            let workspace = workspace.unwrap_or_else(|| door.default_workspace());
            let target = format!("{DASHBOARD_PATH}/w/{workspace}/now");
            door.sign_in.welcome(None, &target, &form.parts.headers)
        }
        Err(error) if error.kind == ErrorKind::Unauthenticated => {
            sign_in_page(&door, Some(&error), "", StatusCode::UNAUTHORIZED)
        }
        Err(error) => door.error_page(&error, &id),
    }
}

/// Signs in by a token.
pub(super) async fn by_token(
    State(door): State<DashboardDoor>,
    id: RequestId,
    request: Request,
) -> Response {
    let peer = request.extensions().get::<PeerAddress>().map_or(UNKNOWN_PEER, |peer| peer.0);
    let form = match read_form(&door, request).await {
        Ok(form) => form,
        Err(error) => return door.error_page(&error, &id),
    };
    if let Err(error) = check_origin(&form.parts.headers) {
        return door.error_page(&error, &id);
    }
    let token = form.value("token").map(|token| token.trim().to_owned());
    let target = own_path(form.value("to").unwrap_or_default());
    let target = target.unwrap_or(DASHBOARD_PATH).to_owned();
    match door.gate.clone().verify_token(Some(token.unwrap_or_default()), peer).await {
        Ok(verified) => {
            let token = verified.0.map(|token| token.id);
            door.sign_in.welcome(token, &target, &form.parts.headers)
        }
        Err(error) if error.kind == ErrorKind::Unauthenticated => {
            sign_in_page(&door, Some(&error), &target, StatusCode::UNAUTHORIZED)
        }
        Err(error) => door.error_page(&error, &id),
    }
}

/// Signs out: the cookie is worth nothing from now on, in every process of the home.
pub(super) async fn out(
    State(door): State<DashboardDoor>,
    id: RequestId,
    request: Request,
) -> Response {
    let form = match read_form(&door, request).await {
        Ok(form) => form,
        Err(error) => return door.error_page(&error, &id),
    };
    let ended = check_form(&door, &form).and_then(|()| door.sign_in.end(&form.parts.headers));
    match ended {
        Ok(()) => {
            let expired =
                format!("{COOKIE}=; Path={DASHBOARD_PATH}; Max-Age=0; HttpOnly; SameSite=Strict");
            redirect_with_cookie("/dashboard/sign-in", &expired)
        }
        Err(error) => door.error_page(&error, &id),
    }
}

/// The answer to a browser that may not see a page: the page for signing in, or the error.
pub(super) fn refusal(door: &DashboardDoor, error: &Error, uri: &Uri) -> Response {
    if error.kind != ErrorKind::Unauthenticated {
        return door.error_page(error, &RequestId::default());
    }
    let target = uri.path_and_query().map_or("", |path| path.as_str());
    sign_in_page(door, Some(error), target, StatusCode::UNAUTHORIZED)
}

fn sign_in_page(
    door: &DashboardDoor,
    error: Option<&Error>,
    target: &str,
    status: StatusCode,
) -> Response {
    let needs_token = door.book.admit(None, door.sign_in.exposed).is_err();
    let target = own_path(target).unwrap_or(DASHBOARD_PATH);
    page_response(layout::sign_in(error, target, needs_token).into_string(), status, None)
}
