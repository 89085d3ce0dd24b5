//! The gate before every HTTP request: checks its origin and its token.

mod origin;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::token::TokenScope;
use serde_json::json;

use crate::calls::call::run_blocking;
use crate::http::caller::VerifiedToken;
use crate::http::connections::PeerAddress;
use crate::http::http_error::{RequestId, error_response};
use crate::http::rate::WrongTokens;

pub(crate) use origin::AllowedHosts;
use origin::authority;

/// The metadata for a client that needs a token (RFC 9728); the same for `/mcp`.
pub(crate) const RESOURCE_METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// The path below which every page of the dashboard lies.
pub(crate) const DASHBOARD_PATH: &str = "/dashboard";

/// Paths that show no stored data and need no token.
const PUBLIC_PATHS: [&str; 5] = ["/", "/health", "/openapi.json", "/docs", "/docs/scalar.js"];

/// Decides which requests pass.
#[derive(Clone)]
pub(crate) struct RequestGate {
    pub(crate) book: Commonbook,
    /// The host names of the server.
    pub(crate) hosts: Arc<AllowedHosts>,
    /// The number of wrong tokens that each address has sent recently.
    pub(crate) wrong_tokens: Arc<WrongTokens>,
}

/// Passes a request on, or refuses it with the reason.
pub(crate) async fn admit_request(
    State(gate): State<RequestGate>,
    id: RequestId,
    mut request: Request,
    next: Next,
) -> Response {
    let credential = gate.hosts.check(&request).and_then(|()| request_credential(&request));
    let admitted = match credential {
        Ok(RequestCredential::Nothing) => Ok(VerifiedToken(None)),
        Ok(RequestCredential::Token(token)) => {
            let peer =
                request.extensions().get::<PeerAddress>().map_or(UNKNOWN_PEER, |peer| peer.0);
            gate.verify_token(token, peer).await
        }
        Err(error) => Err(error),
    };
    match admitted {
        Ok(_) if !origin::is_json(&request) => {
            let mut response = refusal_response(&origin::not_json_error(), &id, &request);
            *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            response
        }
        Ok(admitted) => {
            request.extensions_mut().insert(admitted);
            next.run(request).await
        }
        Err(error) => refusal_response(&error, &id, &request),
    }
}

/// The peer of a request without a connection, as in tests.
pub(crate) const UNKNOWN_PEER: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

impl RequestGate {
    /// Finds the holder of a token. A wrong token counts against the address that sent it.
    pub(crate) async fn verify_token(
        self,
        token: Option<String>,
        peer: IpAddr,
    ) -> Result<VerifiedToken> {
        let Self { book, hosts, wrong_tokens } = self;
        let exposed = hosts.is_exposed();
        let has_token = token.is_some();
        let admitted = run_blocking(move || book.admit(token.as_deref(), exposed)).await;
        if has_token
            && let Err(error) = &admitted
            && error.kind == ErrorKind::Unauthenticated
        {
            wrong_tokens.count(peer)?;
        }
        admitted.map(VerifiedToken)
    }
}

/// Checks an admitted request again: its token may have been revoked.
///
/// # Errors
/// As [`Commonbook::admit`].
pub(crate) fn is_still_admitted(book: &Commonbook, headers: &HeaderMap) -> Result<()> {
    book.admit(bearer_token(headers)?.as_deref(), false).map(drop)
}

fn refusal_response(error: &Error, id: &RequestId, request: &Request) -> Response {
    let host = authority(request.headers(), request.uri()).map(|host| host.to_string());
    let mut response = error_response(error, id);
    if error.kind == ErrorKind::Unauthenticated {
        let url = format!("http://{}{RESOURCE_METADATA_PATH}", host.unwrap_or_default());
        let challenge = format!("Bearer resource_metadata=\"{url}\"");
        if let Ok(challenge) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
    }
    response
}

/// The credential of a request.
enum RequestCredential {
    /// None needed: the path is public.
    Nothing,
    /// The token, if the request has one.
    Token(Option<String>),
}

fn request_credential(request: &Request) -> Result<RequestCredential> {
    let path = request.uri().path();
    // The pages know who signed in by their own cookie.
    let is_page = path == DASHBOARD_PATH || path.starts_with(&format!("{DASHBOARD_PATH}/"));
    if is_page || PUBLIC_PATHS.contains(&path) || path.starts_with(RESOURCE_METADATA_PATH) {
        return Ok(RequestCredential::Nothing);
    }
    bearer_token(request.headers()).map(RequestCredential::Token)
}

/// Describes the token that a caller needs; `not_found` if none is needed.
pub(crate) async fn protected_resource(
    State(gate): State<RequestGate>,
    id: RequestId,
    request: Request,
) -> Response {
    let host = authority(request.headers(), request.uri()).map(|host| host.to_string());
    let (book, exposed) = (gate.book, gate.hosts.is_exposed());
    match run_blocking(move || book.admit(None, exposed)).await {
        Ok(_) => error_response(&Error::not_found("this server requires no token"), &id),
        Err(error) if error.kind != ErrorKind::Unauthenticated => error_response(&error, &id),
        Err(_) => axum::Json(json!({
            "resource": format!("http://{}/mcp", host.unwrap_or_default()),
            "resource_name": "Commonbook",
            "bearer_methods_supported": ["header"],
            "scopes_supported": TokenScope::ALL,
        }))
        .into_response(),
    }
}

/// The token of a request.
fn bearer_token(headers: &HeaderMap) -> Result<Option<String>> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(first), second) = (values.next(), values.next()) else { return Ok(None) };
    let text = first.to_str().ok().filter(|_| second.is_none());
    let token = text
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match token {
        Some((_, token)) => Ok(Some(token.trim().to_owned())),
        None => Err(Error::new(
            ErrorKind::Unauthenticated,
            "the Authorization header is not a bearer token",
        )
        .hint("Send one header `Authorization: Bearer TOKEN`.")),
    }
}
