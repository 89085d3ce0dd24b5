//! Signing in: by a link that the command line makes, or by a token. A cookie, sealed by the key of the
//! home, says who signed in.
//!
//! Without tokens a person proves to be the one with access to the home: only there is the key that
//! seals the link. With tokens, the cookie holds the id of the token, which is checked at each request.

use std::collections::HashMap;
use std::path::Path as FilePath;
use std::sync::{Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use commonbook::Commonbook;
use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::{HomeKey, hex};
use commonbook::base::id::{Id, RandomIds, RequestKind, TokenId};
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::workspace::Workspace;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{DashboardDoor, FormRequest, layout, page_response, read_form};
use crate::call::run_blocking;
use crate::config::Config;
use crate::connections::PeerAddress;
use crate::gate::UNKNOWN_PEER;
use crate::http_error::RequestId;

/// The path below which every page lies.
pub(crate) const DASHBOARD_PATH: &str = "/dashboard";

/// The name of the cookie.
const COOKIE: &str = "commonbook_dashboard";

/// How long a link can be opened.
const LINK_LIFETIME: SignedDuration = SignedDuration::from_mins(5);

/// How long a browser stays signed in.
const COOKIE_LIFETIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// What the key of the home seals, each for its own purpose.
const LINK_PURPOSE: &str = "dashboard link";
const COOKIE_PURPOSE: &str = "dashboard cookie";
const FORM_PURPOSE: &str = "dashboard form";

/// The content of a link: one browser can open it once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SignInLink {
    nonce: String,
    until: Timestamp,
}

impl SignInLink {
    /// The path of a new link to the first page of this workspace.
    ///
    /// # Errors
    /// `unavailable` if the key of the home cannot be read or created.
    pub(crate) fn new_path(home: &FilePath, workspace: &Workspace) -> Result<String> {
        let key = HomeKey::open(home)?;
        let now = SystemClock.now();
        let nonce = Id::<RequestKind>::new(&RandomIds::default(), now).to_string();
        let link = Self { nonce, until: now + LINK_LIFETIME };
        let content = serde_json::to_string(&link).unwrap_or_default();
        let code = key.seal(LINK_PURPOSE, &content);
        Ok(format!("{DASHBOARD_PATH}/sign-in?code={code}&workspace={workspace}"))
    }
}

/// Who signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SignInCookie {
    /// The token; without one it is the person with access to the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<TokenId>,
    until: Timestamp,
}

/// The key of the home, and the links that were opened.
pub(super) struct SignIn {
    key: HomeKey,
    exposed: bool,
    /// The links that were opened, until they expire.
    opened: Mutex<HashMap<String, Timestamp>>,
}

impl SignIn {
    /// With the key of this home.
    ///
    /// # Errors
    /// `unavailable` if the key cannot be read or created.
    pub(super) fn open(config: &Config, exposed: bool) -> Result<Self> {
        let key = match &config.home {
            Some(home) => HomeKey::open(home)?,
            None => HomeKey::random()?,
        };
        Ok(Self { key, exposed, opened: Mutex::default() })
    }

    /// The token of every form of this browser: only its own pages know it.
    pub(super) fn form_token(&self, headers: &HeaderMap) -> String {
        let cookie = cookie_text(headers).unwrap_or_default();
        hex(&self.key.sign(&format!("{FORM_PURPOSE}\n{cookie}")))
    }

    fn cookie(&self, headers: &HeaderMap) -> Option<SignInCookie> {
        let content = self.key.unseal(COOKIE_PURPOSE, cookie_text(headers)?)?;
        let cookie: SignInCookie = serde_json::from_str(&content).ok()?;
        (cookie.until > SystemClock.now()).then_some(cookie)
    }

    /// Opens a link.
    ///
    /// # Errors
    /// `unauthenticated` if it is not a link of this home, has expired, or was opened before.
    fn open_link(&self, code: &str) -> Result<()> {
        let refused =
            |reason: &str| Error::new(ErrorKind::Unauthenticated, reason).hint(NEW_LINK_HINT);
        let content = self.key.unseal(LINK_PURPOSE, code);
        let link = content.and_then(|content| serde_json::from_str::<SignInLink>(&content).ok());
        let link = link.ok_or_else(|| refused("this is not a link of this home"))?;
        let now = SystemClock.now();
        if link.until <= now {
            return Err(refused("the link has expired"));
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|_, until| *until > now);
        match opened.insert(link.nonce, link.until) {
            None => Ok(()),
            Some(_) => Err(refused("the link was opened before")),
        }
    }

    /// The response that signs a browser in and leads it to a page.
    fn welcome(&self, token: Option<TokenId>, target: &str, request: &HeaderMap) -> Response {
        let cookie = SignInCookie { token, until: SystemClock.now() + COOKIE_LIFETIME };
        let content = serde_json::to_string(&cookie).unwrap_or_default();
        let sealed = self.key.seal(COOKIE_PURPOSE, &content);
        let encrypted = request.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        let secure = if encrypted { "; Secure" } else { "" };
        let seconds = COOKIE_LIFETIME.as_secs();
        let cookie = format!(
            "{COOKIE}={sealed}; Path={DASHBOARD_PATH}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
        );
        redirect_with_cookie(target, &cookie)
    }
}

const NEW_LINK_HINT: &str = "Run `commonbook dashboard` for a new link.";

fn redirect_with_cookie(target: &str, cookie: &str) -> Response {
    let mut response = Redirect::to(target).into_response();
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    super::add_page_headers(response.headers_mut());
    response
}

/// The text of our cookie.
fn cookie_text(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = pairs.flat_map(|line| line.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
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
            let workspace = form.value("workspace").map(super::request::path_segment);
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
    if let Err(error) = super::act::check_origin(&form.parts.headers) {
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

/// Signs out.
pub(super) async fn out(
    State(door): State<DashboardDoor>,
    id: RequestId,
    request: Request,
) -> Response {
    let form = match read_form(&door, request).await {
        Ok(form) => form,
        Err(error) => return door.error_page(&error, &id),
    };
    match super::act::check_form(&door, &form) {
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

/// A path of the dashboard; `None` for any other text, which could lead away from it.
pub(super) fn own_path(text: &str) -> Option<&str> {
    let is_own = text == DASHBOARD_PATH
        || text.strip_prefix(DASHBOARD_PATH).is_some_and(|rest| rest.starts_with(['/', '?']));
    Some(text).filter(|_| is_own && !text.contains(['\\', '\r', '\n']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign_in() -> SignIn {
        SignIn { key: HomeKey::random().unwrap(), exposed: false, opened: Mutex::default() }
    }

    #[test]
    fn a_link_opens_once_before_it_expires() {
        let sign_in = sign_in();
        let code = |until: Timestamp| {
            let link = SignInLink { nonce: "n".to_owned(), until };
            sign_in.key.seal(LINK_PURPOSE, &serde_json::to_string(&link).unwrap())
        };
        let now = SystemClock.now();
        let (valid, late) = (code(now + LINK_LIFETIME), code(now - LINK_LIFETIME));
        assert!(sign_in.open_link(&late).unwrap_err().message.contains("expired"));
        assert!(sign_in.open_link(&valid).is_ok());
        assert!(sign_in.open_link(&valid).unwrap_err().message.contains("before"));
        let cookie =
            sign_in.key.seal(COOKIE_PURPOSE, r#"{"nonce":"m","until":"2999-01-01T00:00:00Z"}"#);
        assert!(sign_in.open_link(&cookie).is_err(), "a cookie is no link");
    }

    #[test]
    fn a_cookie_names_who_signed_in_until_it_expires() {
        let sign_in = sign_in();
        let headers = |until: &str| {
            let sealed = sign_in.key.seal(COOKIE_PURPOSE, &format!(r#"{{"until":"{until}"}}"#));
            let line = format!("theme=dark; {COOKIE}={sealed}");
            HeaderMap::from_iter([(header::COOKIE, HeaderValue::try_from(line).unwrap())])
        };
        assert!(sign_in.cookie(&headers("2999-01-01T00:00:00Z")).is_some());
        assert!(sign_in.cookie(&headers("2020-01-01T00:00:00Z")).is_none());
        assert!(sign_in.cookie(&HeaderMap::new()).is_none());
        assert_ne!(
            sign_in.form_token(&headers("2999-01-01T00:00:00Z")),
            sign_in.form_token(&headers("2998-01-01T00:00:00Z")),
            "each browser has forms of its own"
        );
    }

    #[test]
    fn only_a_path_of_the_dashboard_is_a_target() {
        for own in ["/dashboard", "/dashboard/w/default/now", "/dashboard?x=1"] {
            assert_eq!(own_path(own), Some(own));
        }
        for other in [
            "",
            "/",
            "//evil.example",
            "/dashboardevil",
            "https://evil.example/dashboard",
            "/dashboard/\\evil",
        ] {
            assert_eq!(own_path(other), None, "{other}");
        }
    }
}
