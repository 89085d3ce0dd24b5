//! The traces of a server: a span for each request and for each call of a verb, sent to a collector of
//! OpenTelemetry over OTLP/HTTP.
//!
//! A span has names of the program alone: methods, routes, verbs, doors, statuses, kinds of errors. It
//! has no id, no name and no text of a request. Nothing is recorded unless `serve --otlp` names a
//! collector.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::MatchedPath;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::EntryPoint;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{
    SpanContext, SpanKind, Status, TraceContextExt, TraceState, Tracer, TracerProvider,
};
use opentelemetry::{Context, ContextGuard, KeyValue};
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use crate::calls::metrics::OUTCOME_OK;

/// The path of a collector for traces.
const TRACES_PATH: &str = "/v1/traces";

/// The time that a collector has to answer.
const COLLECTOR_TIMEOUT: Duration = Duration::from_secs(5);

/// The time for the last spans when the server stops.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes of a response that are read.
const RESPONSE_BYTES_MAX: u64 = 1 << 20;

/// The tracer of this process, once it sends traces.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// The URL of a collector.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct CollectorUrl(String);

impl FromStr for CollectorUrl {
    type Err = Error;

    /// Parses the base URL of a collector; `/v1/traces` at its end may be left out.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |reason: &str| {
            Error::invalid("otlp", reason).hint("Write it like `http://127.0.0.1:4318`.")
        };
        let uri: Uri = text.trim().parse().map_err(|_| wrong("the address is not a URL"))?;
        let authority = uri.authority().ok_or_else(|| wrong("the address has no host"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong("the address is neither http nor https"));
        }
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(wrong("the address contains a user, a password or a query"));
        }
        let base = text.trim().trim_end_matches('/');
        let base = base.strip_suffix(TRACES_PATH).unwrap_or(base);
        Ok(Self(base.trim_end_matches('/').to_owned()))
    }
}

impl fmt::Debug for CollectorUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The sending of traces. Dropping it sends the last spans.
pub(crate) struct TraceExport(SdkTracerProvider);

impl TraceExport {
    /// Begins to send traces to this collector. A collector that does not answer delays no request:
    /// spans wait in a bounded queue, and those without room are lost.
    ///
    /// # Errors
    /// `invalid` if the settings of OpenTelemetry in the environment are not valid.
    pub(crate) fn begin(collector: &CollectorUrl) -> Result<Self> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new())
            .with_endpoint(format!("{}{TRACES_PATH}", collector.0))
            .with_timeout(COLLECTOR_TIMEOUT)
            .build();
        let exporter = exporter.map_err(|error| {
            Error::invalid("otlp", format!("traces cannot be sent: {error}"))
                .hint("Check the variables of the environment that begin with OTEL_.")
        })?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        // Without the detectors: they would send the command line's own settings along.
        let resource = Resource::builder_empty()
            .with_service_name("commonbook")
            .with_attribute(version)
            .build();
        let provider =
            SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter);
        let provider = provider.build();
        // A second server in one process would share this tracer.
        drop(TRACER.set(provider.tracer("commonbook")));
        Ok(Self(provider))
    }
}

impl Drop for TraceExport {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(FLUSH_TIMEOUT) {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}

/// Sends spans to the collector, from the exporter's own thread.
#[derive(Debug)]
struct CollectorClient {
    agent: ureq::Agent,
    /// Whether the last spans were lost.
    failed: AtomicBool,
}

impl CollectorClient {
    fn new() -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // Spans go to this address and to no other one.
            .max_redirects(0)
            .timeout_global(Some(COLLECTOR_TIMEOUT))
            .user_agent(concat!("commonbook/", env!("CARGO_PKG_VERSION")));
        Self { agent: config.build().into(), failed: AtomicBool::new(false) }
    }

    fn send(&self, request: Request<Bytes>) -> std::result::Result<Response<Bytes>, ureq::Error> {
        let response = self.agent.run(request.map(|body| body.to_vec()))?;
        let (head, mut body) = response.into_parts();
        let body = body.with_config().limit(RESPONSE_BYTES_MAX).read_to_vec()?;
        Ok(Response::from_parts(head, Bytes::from(body)))
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(
        &self,
        request: Request<Bytes>,
    ) -> std::result::Result<Response<Bytes>, HttpError> {
        let sent = self.send(request);
        let lost = match &sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(response.status().to_string()),
            Err(error) => Some(error.to_string()),
        };
        let before = self.failed.swap(lost.is_some(), Ordering::Relaxed);
        if let Some(reason) = lost.filter(|_| !before) {
            tracing::warn!(reason, "the collector of traces does not accept them; spans are lost");
        }
        Ok(sent?)
    }
}

/// The trace of a request over HTTP, in its extensions: calls of verbs are inside it.
#[derive(Clone)]
pub(crate) struct RequestTrace(Context);

impl RequestTrace {
    /// A request begins; `None` unless traces are sent. It continues the trace that its client names.
    pub(crate) fn begin(
        method: &Method,
        path: Option<&MatchedPath>,
        headers: &HeaderMap,
    ) -> Option<Self> {
        let tracer = TRACER.get()?;
        let method = known_method(method);
        let route = path.map(|path| path.as_str().to_owned());
        let name = route.as_ref().map_or(method.to_owned(), |route| format!("{method} {route}"));
        let route = route.map(|route| KeyValue::new("http.route", route));
        let method = KeyValue::new("http.request.method", method);
        let span = tracer
            .span_builder(name)
            .with_kind(SpanKind::Server)
            .with_attributes([Some(method), route].into_iter().flatten());
        let parent = client_context(headers);
        Some(Self(parent.with_span(span.start_with_context(tracer, &parent))))
    }

    /// A request on the socket of the home begins; `None` unless traces are sent.
    pub(crate) fn begin_on_socket() -> Option<Self> {
        let tracer = TRACER.get()?;
        let span = tracer.span_builder("socket").with_kind(SpanKind::Server);
        let root = Context::new();
        Some(Self(root.with_span(span.start_with_context(tracer, &root))))
    }

    /// The request is answered with this status.
    pub(crate) fn end(&self, status: StatusCode) {
        let span = self.0.span();
        let code = i64::from(status.as_u16());
        span.set_attribute(KeyValue::new("http.response.status_code", code));
        if status.is_server_error() {
            span.set_status(Status::error(""));
        }
        span.end();
    }

    /// The request on the socket is answered.
    pub(crate) fn end_on_socket(&self) {
        self.0.span().end();
    }

    /// Enters the trace in this thread: calls of verbs are inside it until the guard is dropped.
    pub(crate) fn enter(&self) -> ContextGuard {
        self.0.clone().attach()
    }
}

/// The method, if it is one of HTTP's own: a client can send any word.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

/// The trace that a client continues by the header `traceparent`; its `tracestate`, which is any text,
/// is left out.
fn client_context(headers: &HeaderMap) -> Context {
    let sent = TraceContextPropagator::new()
        .extract_with_context(&Context::new(), &HeaderExtractor(headers));
    let sent = sent.span().span_context().clone();
    if !sent.is_valid() {
        return Context::new();
    }
    let (trace, span, flags) = (sent.trace_id(), sent.span_id(), sent.trace_flags());
    let parent = SpanContext::new(trace, span, flags, true, TraceState::NONE);
    Context::new().with_remote_span_context(parent)
}

/// The span of a call of a verb.
pub(crate) struct CallSpan(Context);

/// A call of a verb begins, inside the request of this thread if there is one; `None` unless traces are
/// sent.
pub(crate) fn begin_call(verb: &'static str, door: EntryPoint) -> Option<CallSpan> {
    let tracer = TRACER.get()?;
    let door = KeyValue::new("commonbook.door", door.name());
    let span = tracer.span_builder(verb).with_kind(SpanKind::Internal).with_attributes([door]);
    let request = Context::current();
    Some(CallSpan(request.with_span(span.start_with_context(tracer, &request))))
}

impl CallSpan {
    /// The call has ended with this outcome: `ok`, or the kind of its error.
    pub(crate) fn end(self, outcome: &'static str) {
        let span = self.0.span();
        span.set_attribute(KeyValue::new("commonbook.outcome", outcome));
        if outcome != OUTCOME_OK {
            span.set_attribute(KeyValue::new("error.type", outcome));
            if outcome == ErrorKind::Internal.name() || outcome == ErrorKind::Unavailable.name() {
                span.set_status(Status::error(outcome));
            }
        }
        span.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_has_a_url_without_secrets() {
        let table = [
            ("http://127.0.0.1:4318", Ok("http://127.0.0.1:4318")),
            (" https://traces.example/otlp/ ", Ok("https://traces.example/otlp")),
            ("http://localhost:4318/v1/traces", Ok("http://localhost:4318")),
            ("127.0.0.1:4318", Err("neither http")),
            ("/v1/traces", Err("no host")),
            ("ftp://x", Err("neither http")),
            ("http://me:secret@x", Err("a password")),
            ("a b", Err("not a URL")),
        ];
        for (text, expected) in table {
            match (text.parse::<CollectorUrl>(), expected) {
                (Ok(url), Ok(expected)) => assert_eq!(url.0, expected),
                (Err(error), Err(part)) => {
                    assert!(error.message.contains(part), "{text}: {error}");
                    assert!(!error.message.contains("secret"), "{error}");
                }
                (parsed, _) => panic!("{text}: {parsed:?}"),
            }
        }
    }

    #[test]
    fn a_trace_is_continued_without_the_text_of_its_client() {
        let mut headers = HeaderMap::new();
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        headers.insert("traceparent", parent.parse().unwrap());
        headers.insert("tracestate", "vendor=System-obey".parse().unwrap());
        let context = client_context(&headers);
        let span = context.span().span_context().clone();
        assert_eq!(span.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert!(span.is_remote() && span.trace_state().header().is_empty());
        headers.insert("traceparent", "System: obey".parse().unwrap());
        assert!(!client_context(&headers).span().span_context().is_valid());
        assert_eq!(known_method(&Method::from_bytes(b"OBEY").unwrap()), "_OTHER");
    }
}
