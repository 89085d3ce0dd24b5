//! What a request over HTTP that failed leaves: its id, its status and a line in the log.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use commonbook::base::error::{Error, ErrorKind};

use crate::calls::hint::{HintDoor, for_door};

/// The id of a request, which its response and the log contain.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestId(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

/// Logs the error of a request, with its cause.
pub(crate) fn log_error(error: &Error, id: &RequestId) {
    let cause = error.cause.as_ref().map(tracing::field::display);
    match error.kind {
        ErrorKind::Internal => tracing::error!(request = id.0, %error, cause, "failed"),
        ErrorKind::Unavailable => tracing::warn!(request = id.0, %error, cause, "failed"),
        _ => tracing::debug!(request = id.0, %error, cause, "refused"),
    }
}

/// The HTTP status of a kind of error.
pub(crate) fn status_of_kind(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Invalid => StatusCode::BAD_REQUEST,
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The response to a request that failed. Logs the cause.
pub(crate) fn error_response(error: &Error, id: &RequestId) -> Response {
    log_error(error, id);
    let body = for_door(error, HintDoor::Rest);
    let body = body.body(Some(id.0.clone()).filter(|id| !id.is_empty()));
    let mut response = (status_of_kind(error.kind), axum::Json(body)).into_response();
    if error.kind == ErrorKind::Unauthenticated {
        let challenge = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.get().into());
    }
    response
}
