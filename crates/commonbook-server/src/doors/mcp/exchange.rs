//! An exchange over HTTP as clients make it: what they send is read before the MCP library reads it, and
//! each answer comes in a form that the client accepts.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use commonbook::base::error::{Error, ErrorKind};
use serde_json::Value;

use crate::calls::rpc::{self, ClientMessages};

/// The media types of an answer, which the MCP library wants a client to accept.
const MEDIA_TYPES: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The media type of a stream of messages.
const STREAM_TYPE: &str = "text/event-stream";

/// The header with the version of the protocol that client and server agreed on.
const VERSION_HEADER: &str = "mcp-protocol-version";

/// Passes the messages of a request on one by one, and their answers back: as a stream, or as JSON to a
/// client that accepts no stream.
pub(super) async fn exchange_messages(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    // The body is in memory, within the limits of all requests.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match rpc::read(&bytes, has_batches(&parts.headers)) {
        Err(refusals) => {
            // Clients read the error of a request in a response that is no failure of HTTP.
            let is_read = refusals.iter().all(rpc::is_about_parameters);
            let status = if is_read { StatusCode::OK } else { StatusCode::BAD_REQUEST };
            (status, axum::Json(one_or_list(refusals))).into_response()
        }
        Ok(ClientMessages::One(message)) => {
            let takes_stream = accepts(&parts.headers, STREAM_TYPE);
            let listens = message["method"] == rpc::LISTEN_METHOD;
            if takes_stream || !listens {
                parts.headers.insert(header::ACCEPT, MEDIA_TYPES);
            }
            let response = pass(&parts, &message, next).await;
            match takes_stream || listens {
                true => response,
                false => as_json(response, &message).await,
            }
        }
        Ok(ClientMessages::Batch(messages)) => {
            parts.headers.insert(header::ACCEPT, MEDIA_TYPES);
            answer_batch(&parts, messages, next).await
        }
    }
}

/// Whether the protocol of a request has batches: a client of that version sends no header with it.
fn has_batches(headers: &HeaderMap) -> bool {
    headers.get(VERSION_HEADER).is_none_or(|version| version == rpc::BATCH_VERSION)
}

/// Whether a client names a media type among those that it accepts.
fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut names = accepted.flat_map(|value| value.split(','));
    names.any(|name| {
        let (name, weight) = name.split_once(';').unwrap_or((name, ""));
        name.trim().eq_ignore_ascii_case(media_type) && !is_zero_weight(weight)
    })
}

/// Whether a weight such as `q=0` excludes its media type.
fn is_zero_weight(weight: &str) -> bool {
    let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
    weight.is_some_and(|weight| weight <= 0.0)
}

async fn pass(parts: &Parts, message: &Value, next: Next) -> Response {
    let mut own = parts.clone();
    let bytes = Bytes::from(message.to_string());
    own.headers.insert(header::CONTENT_LENGTH, bytes.len().into());
    let response = next.run(Request::from_parts(own, Body::from(bytes))).await;
    let is_json = media_type(&response).is_some_and(|it| it.starts_with("application/json"));
    match rpc::request_id(message) {
        Some(id) if response.status().is_client_error() && !is_json => in_words(response, id).await,
        _ => response,
    }
}

/// A refusal that the MCP library says in words, as an error message to the request.
async fn in_words(response: Response, id: &Value) -> Response {
    let (mut parts, body) = response.into_parts();
    let text = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let error = rpc::http_refusal(id, &String::from_utf8_lossy(&text));
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    (parts.status, parts.headers, axum::Json(error)).into_response()
}

/// The answers to the messages of a batch as one list; none to notifications alone.
async fn answer_batch(parts: &Parts, messages: Vec<Result<Value, Value>>, next: Next) -> Response {
    let mut answers = Vec::new();
    for message in messages {
        let message = match message {
            Ok(message) => message,
            Err(refusal) => {
                answers.push(refusal);
                continue;
            }
        };
        let response = pass(parts, &message, next.clone()).await;
        if let Some(id) = rpc::request_id(&message) {
            answers.push(answer_in(response, id).await.1);
        }
    }
    match answers.is_empty() {
        true => StatusCode::ACCEPTED.into_response(),
        false => axum::Json(answers).into_response(),
    }
}

/// The response to a request as JSON, if it is a stream.
async fn as_json(response: Response, message: &Value) -> Response {
    let Some(id) = rpc::request_id(message) else { return response };
    if media_type(&response).is_none_or(|media_type| !media_type.starts_with(STREAM_TYPE)) {
        return response;
    }
    let (mut headers, answer) = answer_in(response, id).await;
    headers.remove(header::CONTENT_TYPE);
    headers.remove(header::CONTENT_LENGTH);
    (headers, axum::Json(answer)).into_response()
}

/// The answer to a request in its response, which is a message or a stream of them; with its headers.
async fn answer_in(response: Response, id: &Value) -> (HeaderMap, Value) {
    let (parts, body) = response.into_parts();
    // The stream of a request ends with its answer, which is in memory as it is.
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let answers = |message: &Value| {
        message.get("method").is_none()
            && (message.get("id") == Some(id) || message["error"].is_object())
    };
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
    let answer = messages.rfind(answers).unwrap_or_else(|| {
        let error = Error::new(ErrorKind::Unavailable, "the request ended without an answer");
        rpc::error_message(id, rmcp::model::ErrorCode::INTERNAL_ERROR.0, &error)
    });
    (parts.headers, answer)
}

fn media_type(response: &Response) -> Option<&str> {
    response.headers().get(header::CONTENT_TYPE)?.to_str().ok()
}

fn one_or_list(mut messages: Vec<Value>) -> Value {
    match messages.len() {
        1 => messages.pop().unwrap_or_default(),
        _ => Value::Array(messages),
    }
}
