//! What stands before every request over HTTP: where it comes from, and which token it shows.

use std::net::IpAddr;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use commonbook::Commonbook;
use commonbook::error::{Error, ErrorKind, Result};
use commonbook::limits;
use commonbook::token::Scope;
use serde_json::json;

use crate::call::blocking;
use crate::caller::Admitted;
use crate::rest::{RequestId, failure};

/// Where a client that is refused reads what is asked of it (RFC 9728); that of `/mcp` is the same.
pub(crate) const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// Paths that tell nothing of what is kept, and take no token.
const OPEN: [&str; 4] = ["/health", "/openapi.json", "/docs", "/docs/scalar.js"];

/// Bytes of a refused request that are read all the same.
const REFUSED_BYTES: usize = 64 * 1024;

/// What decides who comes in.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) book: Commonbook,
    /// Whether other machines can reach the server.
    pub(crate) exposed: bool,
}

/// Lets a request in, or answers why not.
pub(crate) async fn keep(
    State(gate): State<Gate>,
    id: RequestId,
    mut request: Request,
    next: Next,
) -> Response {
    let shown = gate.comes_from(&request).and_then(|()| shown(&request));
    let admitted = match shown {
        Ok(Shown::Nothing) => Ok(Admitted(None)),
        Ok(Shown::Token(token)) => {
            blocking(move || gate.book.admit(token.as_deref(), gate.exposed)).await.map(Admitted)
        }
        Err(error) => Err(error),
    };
    match admitted {
        Ok(admitted) => {
            request.extensions_mut().insert(admitted);
            next.run(request).await
        }
        Err(error) => refused(&error, &id, request).await,
    }
}

/// Whether a request that was let in once would be let in now: its token may have been revoked.
///
/// # Errors
/// As [`Commonbook::admit`].
pub(crate) fn holds_still(book: &Commonbook, headers: &HeaderMap) -> Result<()> {
    book.admit(bearer(headers)?.as_deref(), false).map(drop)
}

async fn refused(error: &Error, id: &RequestId, request: Request) -> Response {
    let host = authority(request.headers(), request.uri()).map(|host| host.to_string());
    let mut response = failure(error, id);
    if error.kind == ErrorKind::Unauthenticated {
        let place = format!("http://{}{RESOURCE}", host.unwrap_or_default());
        let challenge = format!("Bearer resource_metadata=\"{place}\"");
        if let Ok(challenge) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
    }
    if !is_read(request).await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

impl Gate {
    /// Refuses what a web page of elsewhere sends: a foreign Origin; or, where only this machine
    /// can call, a Host that is not this machine (DNS rebinding).
    fn comes_from(&self, request: &Request) -> Result<()> {
        let headers = request.headers();
        let host = authority(headers, request.uri());
        if headers.contains_key(header::HOST) && host.is_none() {
            return Err(foreign("the Host cannot be read"));
        }
        let named = host.as_ref().map(|host| host.host().to_owned());
        if let Some(name) = named.as_ref().filter(|name| !self.exposed && !is_this_machine(name)) {
            return Err(foreign(format!("Host {name} is not this machine")));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
        let Some(origin) = origin.and_then(|uri| uri.authority().cloned()) else {
            return Err(foreign("the Origin is not this machine"));
        };
        // A page of this very server is at home, under whatever name it is reached.
        if is_this_machine(origin.host()) || self.exposed && host.as_ref() == Some(&origin) {
            return Ok(());
        }
        Err(foreign(format!("Origin {} is not this machine", origin.host())))
    }
}

/// What a request has to show.
enum Shown {
    /// Nothing: what it asks for is open to all.
    Nothing,
    /// A token, where it has one.
    Token(Option<String>),
}

fn shown(request: &Request) -> Result<Shown> {
    let path = request.uri().path();
    if OPEN.contains(&path) || path.starts_with(RESOURCE) {
        return Ok(Shown::Nothing);
    }
    bearer(request.headers()).map(Shown::Token)
}

/// What is asked of who calls, where a token is asked for; not found where none is.
pub(crate) async fn resource(
    State(gate): State<Gate>,
    id: RequestId,
    request: Request,
) -> Response {
    let host = authority(request.headers(), request.uri()).map(|host| host.to_string());
    let Gate { book, exposed } = gate;
    match blocking(move || book.admit(None, exposed)).await {
        Ok(_) => failure(&Error::not_found("no token is asked for here"), &id),
        Err(error) if error.kind != ErrorKind::Unauthenticated => failure(&error, &id),
        Err(_) => axum::Json(json!({
            "resource": format!("http://{}/mcp", host.unwrap_or_default()),
            "resource_name": "Commonbook",
            "bearer_methods_supported": ["header"],
            "scopes_supported": Scope::ALL,
        }))
        .into_response(),
    }
}

/// The token that a request shows.
fn bearer(headers: &HeaderMap) -> Result<Option<String>> {
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(first), another) = (shown.next(), shown.next()) else { return Ok(None) };
    let text = first.to_str().ok().filter(|_| another.is_none());
    let token = text
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match token {
        Some((_, token)) => Ok(Some(token.trim().to_owned())),
        None => Err(Error::new(ErrorKind::Unauthenticated, "this Authorization is no token")
            .hint("Send one header, `Authorization: Bearer TOKEN`.")),
    }
}

fn foreign(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::Forbidden, reason)
        .hint("Call http://127.0.0.1 from a program, or from a page of this machine.")
}

/// Reads a refused request to its end, so that the next one on its connection is understood;
/// answers whether it did.
async fn is_read(request: Request) -> bool {
    let body = axum::body::to_bytes(request.into_body(), REFUSED_BYTES);
    let patience = Duration::from_secs(limits::REQUEST_SECONDS);
    tokio::time::timeout(patience, body).await.is_ok_and(|body| body.is_ok())
}

fn authority(headers: &HeaderMap, uri: &Uri) -> Option<axum::http::uri::Authority> {
    let named = |name: HeaderName| headers.get(name)?.to_str().ok()?.parse().ok();
    match headers.contains_key(header::HOST) {
        true => named(header::HOST),
        false => uri.authority().cloned(),
    }
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
