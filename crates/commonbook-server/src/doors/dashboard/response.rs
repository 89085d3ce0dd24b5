//! The responses of the pages: their headers, and their tags.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use axum::response::Response;
use commonbook::base::hash::sha256;

/// What a page may load and where its forms lead: this server alone.
const CONTENT_POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A page as a response; without its body if the browser already has these bytes.
pub(super) fn page_response(
    html: String,
    status: StatusCode,
    request: Option<&HeaderMap>,
) -> Response {
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
pub(super) fn add_page_headers(headers: &mut HeaderMap) {
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
