//! One route: a method and a path that call one verb.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::input;
use commonbook::model::caller::{Caller, EntryPoint as Way};
use serde_json::{Map, Value};

use crate::body::{BodyBudget, WholeBody};
use crate::call::{JsonVerb, run_cancellable};
use crate::caller::{HttpCallerSource, header_text as text_of, resolve_http_caller};
use crate::config::Config;
use crate::rate::AgentRateLimits;

use super::revision;

/// What every route needs.
#[derive(Clone)]
pub(crate) struct RestDoor {
    pub(crate) book: Commonbook,
    pub(crate) config: Arc<Config>,
    pub(crate) rates: Arc<AgentRateLimits>,
    pub(crate) bodies: BodyBudget,
}

/// The field by which a verb that reads also marks what it has told.
const MARK_FIELD: &str = "mark";

/// The id of the present request, as answers and the log have it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestId(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

/// A method and a path that call one verb.
#[derive(Clone)]
pub(crate) struct RestRoute {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) name: &'static str,
    pub(super) call: JsonVerb,
    pub(super) status: StatusCode,
    /// What a body that is a list calls, with the list in this field of its request.
    pub(super) list: Option<(&'static str, JsonVerb)>,
    /// Where in the answer the memory stands whose revision is the answer's `ETag`.
    pub(super) memory: Option<&'static str>,
}

fn route(method: Method, path: &'static str, name: &'static str, call: JsonVerb) -> RestRoute {
    RestRoute { method, path, name, call, status: StatusCode::OK, list: None, memory: None }
}

pub(super) fn get(path: &'static str, name: &'static str, call: JsonVerb) -> RestRoute {
    route(Method::GET, path, name, call)
}

pub(super) fn post(path: &'static str, name: &'static str, call: JsonVerb) -> RestRoute {
    route(Method::POST, path, name, call)
}

pub(super) fn patch(path: &'static str, name: &'static str, call: JsonVerb) -> RestRoute {
    route(Method::PATCH, path, name, call)
}

pub(super) fn delete(path: &'static str, name: &'static str, call: JsonVerb) -> RestRoute {
    route(Method::DELETE, path, name, call)
}

impl RestRoute {
    /// The same route, answering with this status.
    pub(super) fn with_status_code(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same route, where a body that is a list calls another verb with it in `field`.
    pub(super) fn with_list_verb(self, field: &'static str, call: JsonVerb) -> Self {
        Self { list: Some((field, call)), ..self }
    }

    /// The same route, whose answer has a memory at this place (a JSON pointer), and tells its
    /// revision as an `ETag`.
    pub(super) fn with_revision(self, memory: &'static str) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// Whether `If-Match` is heard: the verb can expect a revision.
    pub(super) fn supports_if_match(&self) -> bool {
        self.call.fields().any(|(name, _)| name == revision::EXPECTED_REVISION_FIELD)
    }

    /// Whether `If-None-Match` is heard: the client may have the answer already.
    pub(super) fn supports_if_none_match(&self) -> bool {
        self.method == Method::GET && self.memory.is_some()
    }

    /// Whether the fields of the request come in a body, and not in the query.
    pub(super) fn has_body(&self) -> bool {
        self.method == Method::POST || self.method == Method::PATCH
    }

    /// Whether the route takes this field of the verb's request: what it would change by a GET it does not.
    pub(super) fn takes_field(&self, field: &str) -> bool {
        self.method != Method::GET || field != MARK_FIELD
    }

    /// Whether this field of the request stands in the path.
    pub(super) fn is_path_field(&self, field: &str) -> bool {
        self.path.contains(&format!("{{{field}}}"))
    }

    /// A router that serves this route.
    pub(super) fn into_router(self) -> Router<RestDoor> {
        let filter = MethodFilter::try_from(self.method.clone()).unwrap_or(MethodFilter::GET);
        let path = self.path;
        let route = Arc::new(self);
        let serve = move |State(door): State<RestDoor>,
                          id: RequestId,
                          path: RawPathParams,
                          request: Request| async move {
            match route.serve(door, &path, request).await {
                Ok(answer) => answer,
                Err(error) => error_response(&error, &id),
            }
        };
        Router::new().route(path, on(filter, serve))
    }

    async fn serve(
        &self,
        door: RestDoor,
        path: &RawPathParams,
        request: Request,
    ) -> Result<Response> {
        let (parts, body) = request.into_parts();
        // Before anything is refused: the connection goes on after what was read to its end.
        let body = if self.has_body() { body } else { Body::empty() };
        let WholeBody { bytes, share: _share } = door.bodies.read(body).await?;
        let http = HttpCallerSource { parts: &parts, client: None, door: Way::Rest };
        let (caller, mut pairs) = resolve_http_caller(http, &door.config)?;
        pairs.extend(path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        let mut call = self.call.clone();
        let mut fields = Map::new();
        if self.has_body() {
            match (input::json(if bytes.is_empty() { b"{}" } else { &bytes })?, &self.list) {
                (Value::Object(object), _) => fields = object,
                (items @ Value::Array(_), Some((field, list))) => {
                    fields.insert((*field).to_owned(), items);
                    call = list.clone();
                }
                _ => {
                    return Err(Error::new(ErrorKind::Invalid, "the body is not a JSON object")
                        .hint("Send an object with the fields that /openapi.json tells."));
                }
            }
        }
        drop(bytes);
        door.rates.admit(&caller, self.method != Method::GET)?;
        let keyed = call.takes_key();
        let key = text_of(&parts.headers, "idempotency-key")?.filter(|_| keyed);
        let expected = match self.supports_if_match() {
            true => revision::if_match_revision(&parts.headers)?,
            false => None,
        };
        let said = [("idempotency_key", key), (revision::EXPECTED_REVISION_FIELD, expected)];
        let said = said.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?)));
        for (name, value) in
            call.parse_pairs(pairs).into_iter().chain(call.parse_pairs(said.collect()))
        {
            if fields.get(&name).is_some_and(|given| *given != value) {
                return Err(Error::invalid(&name, "this is said twice, and not alike")
                    .hint("Say it once: in the body, the query or a header."));
            }
            fields.insert(name, value);
        }
        if self.method == Method::GET {
            self.check_marks_nothing(&mut fields)?;
        }
        let run = move |caller: &Caller| call.run(&door.book, caller, fields.into());
        let answer = run_cancellable(caller, run).await?;
        Ok(self.build_response(&answer, &parts))
    }

    /// Refuses a GET that would mark something as read: any page can make a browser send it.
    fn check_marks_nothing(&self, fields: &mut Map<String, Value>) -> Result<()> {
        match fields.remove(MARK_FIELD) {
            None | Some(Value::Bool(false)) => Ok(()),
            Some(_) => Err(Error::invalid(MARK_FIELD, format!("a GET of {} marks nothing", self.path))
                .hint("Leave mark out, and POST how far you have read to /v1/changes/mark: case, position.")),
        }
    }

    /// The answer with what HTTP says beside it; without its body for who has this revision.
    fn build_response(&self, answer: &Value, asked: &Parts) -> Response {
        let memory = self.memory.and_then(|place| answer.pointer(place));
        let revision = memory.and_then(|memory| memory["revision"].as_u64());
        let is_known = |revision| revision::matches_if_none_match(&asked.headers, revision);
        let mut response = match revision {
            Some(revision) if self.supports_if_none_match() && is_known(revision) => {
                StatusCode::NOT_MODIFIED.into_response()
            }
            _ => (self.status, axum::Json(answer)).into_response(),
        };
        let headers = response.headers_mut();
        // It may be kept by who asked, and is asked for again before it is used.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static(revision::VARY_HEADERS));
        if let Some(tag) = revision.and_then(revision::revision_etag) {
            headers.insert(header::ETAG, tag);
        }
        if self.status == StatusCode::CREATED
            && let Some(id) = memory.and_then(|memory| memory["id"].as_str())
            && let Ok(place) = HeaderValue::try_from(format!("{}/{id}", self.path))
        {
            headers.insert(header::LOCATION, place);
        }
        response
    }
}

/// The answer to a request that failed; its cause goes to the log, once, here.
pub(crate) fn error_response(error: &Error, id: &RequestId) -> Response {
    let cause = error.cause.as_ref().map(tracing::field::display);
    match error.kind {
        ErrorKind::Internal => tracing::error!(request = id.0, %error, cause, "failed"),
        ErrorKind::Unavailable => tracing::warn!(request = id.0, %error, cause, "failed"),
        _ => tracing::debug!(request = id.0, %error, cause, "refused"),
    }
    let body = error.body(Some(id.0.clone()).filter(|id| !id.is_empty()));
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

/// The HTTP status of a kind of error.
pub(super) fn status_of_kind(kind: ErrorKind) -> StatusCode {
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

#[cfg(test)]
mod tests;
