//! The HTTP client under rmcp's client of MCP: a connection for each request.
//!
//! rmcp's own is reqwest, whose features would make the tests compile much of the program a second time.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use axum::body::to_bytes;
use axum::http::request::Builder;
use axum::http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tokio::net::TcpStream;

type ClientResult<T> = Result<T, StreamableHttpError<io::Error>>;

const SESSION_HEADER: &str = "Mcp-Session-Id";

/// A client without state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HttpClient;

/// What every request of the transport has.
struct RequestHead {
    uri: Arc<str>,
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
}

impl RequestHead {
    fn builder(self, method: Method) -> Builder {
        let uri: Uri = self.uri.parse().unwrap();
        let mut builder = Request::builder()
            .method(method)
            .header(header::HOST, uri.authority().unwrap().as_str())
            .header(header::ACCEPT, "text/event-stream, application/json");
        if let Some(session) = self.session {
            builder = builder.header(SESSION_HEADER, &*session);
        }
        if let Some(token) = self.token {
            builder = builder.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        for (name, value) in self.headers {
            builder = builder.header(name, value);
        }
        builder.uri(uri)
    }
}

/// Sends a request; the connection ends with its response. A token that is missing or wrong is an error.
async fn send(request: Request<String>) -> ClientResult<Response<Incoming>> {
    let address = request.uri().authority().unwrap().to_string();
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) =
        handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    // The target of a request to an origin is its path.
    let (mut parts, body) = request.into_parts();
    parts.uri = Uri::from(parts.uri.path_and_query().unwrap().clone());
    let response = sender.send_request(Request::from_parts(parts, body)).await;
    let response = response.map_err(io::Error::other)?;
    match response.headers().get(header::WWW_AUTHENTICATE) {
        Some(challenge) => {
            let challenge = challenge.to_str().map_err(io::Error::other)?.to_owned();
            Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)))
        }
        None => Ok(response),
    }
}

fn events(response: Response<Incoming>) -> BoxStream<'static, Result<Sse, sse_stream::Error>> {
    SseStream::new(response.into_body()).boxed()
}

async fn text(response: Response<Incoming>) -> ClientResult<String> {
    let body = axum::body::Body::new(response.into_body());
    let bytes = to_bytes(body, usize::MAX).await.map_err(io::Error::other)?;
    Ok(String::from_utf8(bytes.to_vec()).map_err(io::Error::other)?)
}

impl StreamableHttpClient for HttpClient {
    type Error = io::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> ClientResult<StreamableHttpPostResponse> {
        let is_in_session = session.is_some();
        let request = RequestHead { uri, session, token, headers }
            .builder(Method::POST)
            .header(header::CONTENT_TYPE, "application/json")
            .body(serde_json::to_string(&message)?)
            .unwrap();
        let response = send(request).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && is_in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let word = |name| response.headers().get(name).map(|value| value.to_str().unwrap());
        let session = word(HeaderName::from_static("mcp-session-id")).map(str::to_owned);
        match word(header::CONTENT_TYPE) {
            Some(kind) if kind.starts_with("text/event-stream") => {
                Ok(StreamableHttpPostResponse::Sse(events(response), session))
            }
            Some(kind) if kind.starts_with("application/json") => {
                let text = text(response).await?;
                Ok(StreamableHttpPostResponse::Json(serde_json::from_str(&text)?, session))
            }
            _ => {
                let text = format!("HTTP {status}: {}", text(response).await?);
                Err(StreamableHttpError::UnexpectedServerResponse(text.into()))
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> ClientResult<()> {
        let head = RequestHead { uri, session: Some(session), token, headers };
        send(head.builder(Method::DELETE).body(String::new()).unwrap()).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> ClientResult<BoxStream<'static, Result<Sse, sse_stream::Error>>> {
        let mut builder = RequestHead { uri, session, token, headers }.builder(Method::GET);
        if let Some(id) = last_event {
            builder = builder.header("Last-Event-Id", id);
        }
        let response = send(builder.body(String::new()).unwrap()).await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if status.is_success() => Ok(events(response)),
            status => {
                let text = format!("HTTP {status}: {}", text(response).await?);
                Err(StreamableHttpError::UnexpectedServerResponse(text.into()))
            }
        }
    }
}
