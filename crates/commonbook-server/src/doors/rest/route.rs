//! One route: a method and a path that call one verb.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, REQUEST_SHAPE_HINT, Result};
use commonbook::base::input;
use commonbook::model::caller::{Caller, EntryPoint as Way};
use serde_json::{Map, Value};

use crate::calls::call::{JsonVerb, run_cancellable};
use crate::calls::hint::{HintDoor, translate};
use crate::calls::traces::RequestTrace;
use crate::calls::verb::{self, ListBody, Verb, VerbExamples, VerbRoute};
use crate::http::body::{BodyBudget, WholeBody};
use crate::http::caller::{HttpCallerSource, header_text as text_of, resolve_http_caller};
use crate::http::http_error::{RequestId, error_response};
use crate::http::rate::AgentRateLimits;
use crate::settings::config::Config;

use super::revision;

/// What every route needs.
#[derive(Clone)]
pub(crate) struct RestDoor {
    pub(crate) book: Commonbook,
    pub(crate) config: Arc<Config>,
    pub(crate) rates: Arc<AgentRateLimits>,
    pub(crate) bodies: BodyBudget,
}

/// The header that names the workspace of a request, and of its response.
const WORKSPACE_HEADER: &str = "x-commonbook-workspace";

/// The field that makes a reading verb mark its response as read.
const MARK_FIELD: &str = "mark";

/// The field of requests and responses of a call that writes nothing.
pub(super) const DRY_RUN_FIELD: &str = "dry_run";

/// A method and a path that call one verb.
#[derive(Clone)]
pub(crate) struct RestRoute {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) name: &'static str,
    pub(super) call: JsonVerb,
    pub(super) status: StatusCode,
    /// The verb that a body with a JSON list calls, and the field of its request for the list.
    pub(super) list: Option<(&'static str, JsonVerb)>,
    /// The JSON pointer to the memory whose revision is the `ETag` of the response.
    pub(super) memory: Option<&'static str>,
    pub(super) examples: VerbExamples,
}

impl RestRoute {
    /// A route of one verb.
    pub(super) fn new(
        name: &'static str,
        method: Method,
        path: &'static str,
        call: JsonVerb,
    ) -> Self {
        let examples = VerbExamples::default();
        Self {
            method,
            path,
            name,
            call,
            status: StatusCode::OK,
            list: None,
            memory: None,
            examples,
        }
    }

    /// The route of a verb of the registry, if it has one.
    pub(super) fn of(verb: &Verb) -> Option<Self> {
        let VerbRoute { method, path } = verb.route.clone()?;
        let found = |list: ListBody| Some((list.field, verb::find(list.verb)?.call.clone()));
        Some(Self {
            status: if verb.creates { StatusCode::CREATED } else { StatusCode::OK },
            list: verb.list_body.and_then(found),
            memory: verb.memory_pointer,
            examples: verb.examples,
            ..Self::new(verb.name, method, path, verb.call.clone())
        })
    }

    /// Whether the route reads `If-Match`: the verb can expect a revision.
    pub(super) fn supports_if_match(&self) -> bool {
        self.call.fields().any(|(name, _)| name == revision::EXPECTED_REVISION_FIELD)
    }

    /// Whether the route reads `If-None-Match`: the client may already have the response.
    pub(super) fn supports_if_none_match(&self) -> bool {
        self.method == Method::GET && self.memory.is_some()
    }

    /// Whether the fields of the request come in a body instead of the query.
    pub(super) fn has_body(&self) -> bool {
        self.method == Method::POST || self.method == Method::PATCH
    }

    /// Whether the route accepts this field of the verb's request: a GET accepts none that changes data.
    pub(super) fn takes_field(&self, field: &str) -> bool {
        self.method != Method::GET || field != MARK_FIELD
    }

    /// Whether this field of the request is part of the path.
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
                Err(error) => error_response(&route.in_parameters(error), &id),
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
        // Read before any refusal, so that the connection can serve further requests.
        let body = if self.has_body() { body } else { Body::empty() };
        let WholeBody { bytes, share: _share } = door.bodies.read(body).await?;
        let http = HttpCallerSource { parts: &parts, client: None, door: Way::Rest };
        let (caller, mut pairs) = resolve_http_caller(http, &door.config)?;
        pairs.extend(path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        let mut call = self.call.clone();
        let mut fields = Map::new();
        if self.has_body() {
            match (input::json(if bytes.is_empty() { b"{}" } else { &bytes })?, &self.list) {
                (request @ Value::Object(_), Some((field, list)))
                    if list.is_list(&request, field) =>
                {
                    fields.insert((*field).to_owned(), request[*field].clone());
                    call = list.clone();
                }
                (Value::Object(object), _) => fields = object,
                (items @ Value::Array(_), Some((field, list))) => {
                    fields.insert((*field).to_owned(), items);
                    call = list.clone();
                }
                _ => {
                    return Err(Error::new(ErrorKind::Invalid, "the body is not a JSON object")
                        .hint(REQUEST_SHAPE_HINT));
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
        let headers = [("idempotency_key", key), (revision::EXPECTED_REVISION_FIELD, expected)];
        let headers = headers.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?)));
        for (name, value) in
            call.parse_pairs(pairs).into_iter().chain(call.parse_pairs(headers.collect()))
        {
            if fields.get(&name).is_some_and(|field| !field.is_null() && *field != value) {
                return Err(Error::invalid(&name, "the request has two different values for it")
                    .hint("Send it once: in the body, the query or a header."));
            }
            fields.insert(name, value);
        }
        if self.method == Method::GET {
            self.check_marks_nothing(&mut fields)?;
        }
        let workspace = HeaderValue::from_bytes(caller.workspace.as_str().as_bytes());
        let trace = parts.extensions.get::<RequestTrace>().cloned();
        let run = move |caller: &Caller| {
            let _inside = trace.as_ref().map(RequestTrace::enter);
            call.run(&door.book, caller, fields.into())
        };
        let response = run_cancellable(caller, run).await?;
        let mut response = self.build_response(&with_translated_hint(response), &parts);
        if let Ok(workspace) = workspace {
            response.headers_mut().insert(WORKSPACE_HEADER, workspace);
        }
        Ok(response)
    }

    /// The error with the names of the query's parameters: a search calls its query `q`.
    fn in_parameters(&self, error: Error) -> Error {
        let message = match error.missing_field().filter(|_| !self.has_body()) {
            Some("query") => "missing parameter `q`".to_owned(),
            Some(missing) => format!("missing parameter `{missing}`"),
            None => return error,
        };
        Error { message, ..error }
    }

    /// Refuses a GET that would mark something as read: any web page can make a browser send it.
    fn check_marks_nothing(&self, fields: &mut Map<String, Value>) -> Result<()> {
        match fields.remove(MARK_FIELD) {
            None | Some(Value::Bool(false)) => Ok(()),
            Some(_) => Err(Error::invalid(
                MARK_FIELD,
                format!("a GET of {} cannot mark anything as read", self.path),
            )
            .hint("Remove `mark`, and send the position to `POST /v1/changes/mark`.")),
        }
    }

    /// The HTTP response with its headers; without a body if the client already has this revision.
    fn build_response(&self, response: &Value, request: &Parts) -> Response {
        let memory = self.memory.and_then(|pointer| response.pointer(pointer));
        let revision = memory.and_then(|memory| memory["revision"].as_u64());
        let is_known = |revision| revision::matches_if_none_match(&request.headers, revision);
        let mut response = match revision {
            Some(revision) if self.supports_if_none_match() && is_known(revision) => {
                StatusCode::NOT_MODIFIED.into_response()
            }
            // A dry run has created nothing.
            _ if response[DRY_RUN_FIELD] == true => axum::Json(response).into_response(),
            _ => (self.status, axum::Json(response)).into_response(),
        };
        let headers = response.headers_mut();
        // A client may cache the response, and revalidates it before use.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static(revision::VARY_HEADERS));
        if let Some(tag) = revision.and_then(revision::revision_etag) {
            headers.insert(header::ETAG, tag);
        }
        if self.status == StatusCode::CREATED
            && let Some(id) = memory.and_then(|memory| memory["id"].as_str())
            && let Ok(location) = HeaderValue::try_from(format!("{}/{id}", self.path))
        {
            headers.insert(header::LOCATION, location);
        }
        response
    }
}

/// The response with its hint in the language of this door.
fn with_translated_hint(mut response: Value) -> Value {
    if let Some(Value::String(hint)) = response.get_mut("hint") {
        *hint = translate(hint, HintDoor::Rest);
    }
    response
}

#[cfg(test)]
mod tests;
