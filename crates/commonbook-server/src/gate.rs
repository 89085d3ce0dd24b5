//! What stands before every request over HTTP: where it comes from, and which token it shows.

mod origin;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::token::Scope;
use serde_json::json;

use crate::call::blocking;
use crate::caller::Admitted;
use crate::connections::Peer;
use crate::rate::WrongTokens;
use crate::rest::{RequestId, failure};

pub(crate) use origin::Hosts;
use origin::authority;

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
    /// The names that the server is called by.
    pub(crate) hosts: Arc<Hosts>,
    /// How many wrong tokens each address has sent lately.
    pub(crate) wrong_tokens: Arc<WrongTokens>,
}

/// Lets a request in, or answers why not.
pub(crate) async fn keep(
    State(gate): State<Gate>,
    id: RequestId,
    mut request: Request,
    next: Next,
) -> Response {
    let shown = gate.hosts.check(&request).and_then(|()| shown(&request));
    let admitted = match shown {
        Ok(Shown::Nothing) => Ok(Admitted(None)),
        Ok(Shown::Token(token)) => {
            let peer = request.extensions().get::<Peer>().map_or(UNKNOWN, |peer| peer.0);
            gate.admitted(token, peer).await
        }
        Err(error) => Err(error),
    };
    match admitted {
        Ok(_) if !origin::is_json(&request) => {
            let mut response = refused(&origin::no_json(), &id, request).await;
            *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            response
        }
        Ok(admitted) => {
            request.extensions_mut().insert(admitted);
            next.run(request).await
        }
        Err(error) => refused(&error, &id, request).await,
    }
}

/// The peer of a request that came over no connection of ours.
const UNKNOWN: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

impl Gate {
    /// Finds the holder of a token. A wrong token counts against the address that sent it.
    async fn admitted(self, token: Option<String>, peer: IpAddr) -> Result<Admitted> {
        let Self { book, hosts, wrong_tokens } = self;
        let exposed = hosts.exposed();
        let shows = token.is_some();
        let admitted = blocking(move || book.admit(token.as_deref(), exposed)).await;
        if shows
            && let Err(error) = &admitted
            && error.kind == ErrorKind::Unauthenticated
        {
            wrong_tokens.count(peer)?;
        }
        admitted.map(Admitted)
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
    let (book, exposed) = (gate.book, gate.hosts.exposed());
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

/// Reads a refused request to its end, so that the next one on its connection is understood;
/// answers whether it did.
async fn is_read(request: Request) -> bool {
    let body = axum::body::to_bytes(request.into_body(), REFUSED_BYTES);
    let patience = Duration::from_secs(limits::REQUEST_SECONDS);
    tokio::time::timeout(patience, body).await.is_ok_and(|body| body.is_ok())
}
