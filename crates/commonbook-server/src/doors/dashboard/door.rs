//! What every page needs: the library, the settings, who signed in, and the forms that browsers send.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::workspace::Workspace;
use subtle::ConstantTimeEq;

use super::layout;
use super::request::{FORM_TOKEN_FIELD, path_segment};
use super::response::page_response;
use super::sign_in::{NEW_LINK_HINT, SignIn, SignInCookie};
use crate::calls::call::run_blocking;
use crate::calls::hint::{HintDoor, for_door};
use crate::http::body::BodyBudget;
use crate::http::gate::RequestGate;
use crate::http::http_error::{RequestId, log_error, status_of_kind};
use crate::http::rate::AgentRateLimits;
use crate::http::stream::EventStreams;
use crate::settings::config::Config;

/// The header by which a browser describes the page that sent a request.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What the pages need.
#[derive(Clone)]
pub(crate) struct DashboardDoor {
    pub(crate) book: Commonbook,
    pub(crate) config: Arc<Config>,
    pub(crate) gate: RequestGate,
    pub(crate) streams: EventStreams,
    pub(crate) rates: Arc<AgentRateLimits>,
    pub(crate) bodies: BodyBudget,
    pub(super) sign_in: Arc<SignIn>,
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

impl DashboardDoor {
    /// The workspace that the server was started in, as a part of a path.
    pub(super) fn default_workspace(&self) -> String {
        let workspace = self.config.workspace.clone();
        path_segment(&workspace.unwrap_or_else(|| "default".to_owned()))
    }

    /// The page of an error, with its hint.
    pub(super) fn error_page(&self, error: &Error, id: &RequestId) -> Response {
        log_error(error, id);
        let error = for_door(error, HintDoor::CommandLine("commonbook"));
        let status = status_of_kind(error.kind);
        let home = format!("/dashboard/w/{}/now", self.default_workspace());
        page_response(layout::error(&error, id, &home).into_string(), status, None)
    }
}

impl DashboardDoor {
    /// The caller that signed in, in this workspace.
    ///
    /// # Errors
    /// `unauthenticated` if the browser has not signed in, or its token is not valid any more;
    /// `invalid` for a malformed name of a workspace; `forbidden` for a workspace that the token does not open.
    pub(super) async fn signed_in_caller(&self, parts: &Parts, workspace: &str) -> Result<Caller> {
        let workspace: Workspace = workspace.parse()?;
        let cookie = self.sign_in.cookie(&parts.headers).ok_or_else(|| {
            Error::new(ErrorKind::Unauthenticated, "this browser has not signed in")
                .hint(NEW_LINK_HINT)
        })?;
        let (book, exposed) = (self.book.clone(), self.sign_in.exposed);
        run_blocking(move || caller_of_cookie(&book, &cookie, workspace, exposed)).await
    }
}

fn caller_of_cookie(
    book: &Commonbook,
    cookie: &SignInCookie,
    workspace: Workspace,
    exposed: bool,
) -> Result<Caller> {
    match cookie.token {
        Some(id) => {
            let token = book.valid_token(id)?;
            Caller::from_token(&token, None, Some(workspace), None, EntryPoint::Dashboard)
        }
        None => {
            book.admit(None, exposed)?;
            let person = AgentName { agent: Agent::human(), device: None };
            Ok(Caller::new(Some(person), workspace, EntryPoint::Dashboard))
        }
    }
}

/// The form that a request sent, as pairs.
pub(super) async fn read_form(door: &DashboardDoor, request: Request) -> Result<FormRequest> {
    let (parts, body) = request.into_parts();
    let body = door.bodies.read(body).await?;
    let pairs = form_urlencoded::parse(&body.bytes).into_owned().collect();
    Ok(FormRequest { parts, pairs })
}

/// A form that a page sent.
pub(super) struct FormRequest {
    pub(super) parts: Parts,
    pub(super) pairs: Vec<(String, String)>,
}

impl FormRequest {
    /// The value of a field.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// Checks that a page of this browser sent a form.
///
/// # Errors
/// `forbidden`.
pub(super) fn check_form(door: &DashboardDoor, form: &FormRequest) -> Result<()> {
    check_origin(&form.parts.headers)?;
    let expected = door.sign_in.form_token(&form.parts.headers);
    let sent = form.value(FORM_TOKEN_FIELD).unwrap_or_default();
    match bool::from(expected.as_bytes().ct_eq(sent.as_bytes())) {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Forbidden, "the form does not belong to this browser")
            .hint("Load the page again, and send the form once more.")),
    }
}

/// Checks that the browser says that a page of this server sent the request.
///
/// # Errors
/// `forbidden`.
pub(super) fn check_origin(headers: &HeaderMap) -> Result<()> {
    match headers.get(FETCH_SITE) {
        Some(site) if site == "same-origin" => Ok(()),
        _ => Err(Error::new(
            ErrorKind::Forbidden,
            "the request does not come from a page of the dashboard",
        )
        .hint("Send the form from the page itself, with a current browser.")),
    }
}
