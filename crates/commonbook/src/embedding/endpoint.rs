//! A model behind an endpoint: `POST /v1/embeddings`, as OpenAI has it and many servers copy it.

mod address;
mod answer;

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use ureq::Agent;
use ureq::http::StatusCode;

pub use self::address::{Address, Key};
use super::{Embedder, Spec, checked, refuse_blank};
use crate::error::{Error, ErrorKind, Result};

/// Texts in one request at the most.
pub const REQUEST_TEXTS: usize = 64;
/// Bytes of the texts in one request at the most; a longer text goes alone.
pub const REQUEST_BYTES: usize = 200 * 1024;
/// Bytes of an answer at the most: 64 vectors of 4,096 numbers as JSON are about 6 MB.
const ANSWER_BYTES: u64 = 32 * 1024 * 1024;
/// Numbers of a vector at the most.
pub const DIMENSIONS: usize = 16 * 1024;

/// How long an endpoint is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For one request with texts, from the connection to the end of the answer.
    pub texts: Duration,
    /// For one request with a question; somebody waits for it, so there is no second one.
    pub question: Duration,
    /// How often texts are sent at the most.
    pub tries: u32,
    /// Before the second try; twice as long before the third.
    pub pause: Duration,
    /// Between tries at the most: an endpoint that asks for longer is given up.
    pub pause_most: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            texts: Duration::from_secs(60),
            question: Duration::from_secs(10),
            tries: 3,
            pause: Duration::from_millis(500),
            pause_most: Duration::from_secs(30),
        }
    }
}

/// A model behind an endpoint.
///
/// The spec is the model's name with the dimension; the host is no part of it, as the same model
/// may move. Proxies are those of the environment (`HTTPS_PROXY`, `NO_PROXY`), but none for
/// loopback addresses. Redirects are not followed.
pub struct Endpoint {
    address: Address,
    spec: Spec,
    patience: Patience,
    agent: Agent,
    stopped: Mutex<bool>,
    stop: Condvar,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { address, spec, patience, .. } = self;
        let mut shown = f.debug_struct("Endpoint");
        shown.field("address", address).field("spec", spec).field("patience", patience);
        shown.finish_non_exhaustive()
    }
}

impl Endpoint {
    /// An endpoint whose dimension is asked for with one short question, unless the address tells
    /// it.
    ///
    /// # Errors
    /// `unavailable` when it does not answer, or answers nonsense; try again later.
    pub fn connect(address: Address) -> Result<Self> {
        Self::connect_with(address, Patience::default())
    }

    /// The same with other waiting times.
    ///
    /// # Errors
    /// As [`Endpoint::connect`].
    pub fn connect_with(address: Address, patience: Patience) -> Result<Self> {
        let known = address.dimensions;
        let mut endpoint = Self::known(address, known.unwrap_or_default(), patience);
        if known.is_none() {
            let vector = endpoint.once(&["dimension"], patience.question);
            let vector = vector.map_err(|failure| failure.error)?.pop().unwrap_or_default();
            if !(1..=DIMENSIONS).contains(&vector.len()) {
                let found = vector.len();
                return Err(endpoint.nonsense(&format!("a vector of {found} numbers")));
            }
            endpoint.spec.dimension = vector.len();
        }
        Ok(endpoint)
    }

    /// An endpoint whose dimension was learnt before; asks nothing.
    #[must_use]
    pub fn known(address: Address, dimension: usize, patience: Patience) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(patience.connect))
            .user_agent(concat!("commonbook/", env!("CARGO_PKG_VERSION")));
        let agent = if address.is_loopback() { agent.proxy(None) } else { agent };
        let revision = "endpoint".to_owned();
        let spec = Spec { model: address.model.clone(), revision, dimension };
        let agent = agent.build().new_agent();
        Self { address, spec, patience, agent, stopped: Mutex::new(false), stop: Condvar::new() }
    }

    /// One request's worth of texts, tried again when that may help.
    fn patiently(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut pause = self.patience.pause;
        for _ in 1..self.patience.tries {
            let failure = match self.once(texts, self.patience.texts) {
                Ok(vectors) => return Ok(vectors),
                Err(failure) => failure,
            };
            let Again::After(asked) = failure.again else { return Err(failure.error) };
            let wait = asked.unwrap_or(pause);
            if wait > self.patience.pause_most || self.wait(wait) {
                return Err(failure.error);
            }
            tracing::debug!(error = %failure.error, "asking the embedding endpoint again");
            pause = pause.saturating_mul(2).min(self.patience.pause_most);
        }
        self.once(texts, self.patience.texts).map_err(|failure| failure.error)
    }

    /// One request.
    fn once(&self, texts: &[&str], limit: Duration) -> Result<Vec<Vec<f32>>, Failure> {
        if self.wait(Duration::ZERO) {
            return Err(self.ended());
        }
        let request = Request {
            model: &self.address.model,
            input: texts,
            encoding_format: "float",
            dimensions: self.address.dimensions,
        };
        let call = self.agent.post(self.address.url()).config().timeout_global(Some(limit));
        let mut call = call.build();
        if let Some(key) = &self.address.key {
            call = call.header("Authorization", key.bearer());
        }
        let mut answer = call.send_json(&request).map_err(|cause| self.unreached(cause))?;
        let (status, after) = (answer.status(), answer::retry_after(answer.headers()));
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec();
        if status != StatusCode::OK {
            return Err(self.refused(status, after, &body.unwrap_or_default()));
        }
        let body = body.map_err(|cause| self.unreached(cause))?;
        answer::vectors(&body, texts.len())
            .map_err(|why| Failure { error: self.nonsense(&why), again: Again::No })
    }

    /// Waits, unless the program ends; answers whether it does.
    fn wait(&self, time: Duration) -> bool {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.stop.wait_timeout_while(stopped, time, |stopped| !*stopped);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The program ends.
    fn ended(&self) -> Failure {
        let mut failure = self.final_failure("is not asked any more, as the program ends");
        failure.error = failure.error.hint("Start it again.");
        failure
    }

    /// No answer came.
    fn unreached(&self, cause: ureq::Error) -> Failure {
        let again = match &cause {
            ureq::Error::Timeout(_)
            | ureq::Error::Io(_)
            | ureq::Error::Protocol(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed => Again::After(None),
            _ => Again::No,
        };
        let mut failure = self.final_failure(&format!("cannot be reached: {cause}"));
        failure.error = failure
            .error
            .hint("Check that it runs, and the host and port in COMMONBOOK_EMBEDDER.")
            .because(cause);
        failure.again = again;
        failure
    }

    /// An answer came, and it was no.
    fn refused(&self, status: StatusCode, after: Option<Duration>, body: &[u8]) -> Failure {
        let why = answer::reason(body, self.address.key.as_ref());
        let mut failure = self.final_failure(&format!("answered {}{why}", status.as_u16()));
        let hint = match status.as_u16() {
            401 | 403 => "Set COMMONBOOK_EMBEDDER_KEY to a key that the endpoint takes.",
            404 => "Check the path in COMMONBOOK_EMBEDDER and the name of the model after the #.",
            300..=399 => "Write the address that it redirects to into COMMONBOOK_EMBEDDER.",
            _ => "Look into the log of the endpoint; saving and searching by words go on.",
        };
        failure.error = failure.error.hint(hint);
        if matches!(status.as_u16(), 408 | 429 | 500..=599) {
            failure.again = Again::After(after);
        }
        failure
    }

    fn final_failure(&self, what: &str) -> Failure {
        let url = self.address.url();
        let error = Error::new(ErrorKind::Unavailable, format!("the endpoint {url} {what}"));
        Failure { error, again: Again::No }
    }

    fn nonsense(&self, what: &str) -> Error {
        let found = self.final_failure(&format!("answered {what}")).error;
        found.hint("Check that the model after the # in COMMONBOOK_EMBEDDER makes embeddings.")
    }

    /// The vectors, checked; a wrong dimension says that the model behind the address changed.
    fn checked(&self, texts: usize, vectors: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>> {
        checked(&self.spec, texts, vectors).map_err(|error| {
            error.hint("Has the model behind the endpoint changed? Then start again.")
        })
    }
}

impl Embedder for Endpoint {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        refuse_blank(texts)?;
        let mut vectors = Vec::with_capacity(texts.len());
        for request in requests(texts) {
            vectors.extend(self.checked(request.len(), self.patiently(&request)?)?);
        }
        Ok(vectors)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        refuse_blank(&[text])?;
        let vectors = self.once(&[text], self.patience.question).map_err(|failed| failed.error)?;
        let vector = self.checked(1, vectors)?.pop();
        vector.ok_or_else(|| Error::new(ErrorKind::Internal, "the question got no vector"))
    }

    fn batch(&self) -> usize {
        REQUEST_TEXTS
    }

    fn piece_tokens(&self) -> usize {
        256
    }

    fn stop(&self) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.notify_all();
    }
}

/// Texts in groups that fit into one request each, in order.
fn requests(texts: &[String]) -> Vec<Vec<&str>> {
    let mut requests: Vec<Vec<&str>> = Vec::new();
    let mut bytes = 0;
    for text in texts {
        bytes += text.len();
        match requests.last_mut() {
            Some(last) if last.len() < REQUEST_TEXTS && bytes <= REQUEST_BYTES => last.push(text),
            _ => {
                requests.push(vec![text]);
                bytes = text.len();
            }
        }
    }
    requests
}

/// What is asked.
#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

/// Why a request failed, and whether another may succeed.
struct Failure {
    error: Error,
    again: Again,
}

enum Again {
    /// The same request would fail the same way.
    No,
    /// After this time, if the endpoint named one.
    After(Option<Duration>),
}

#[cfg(test)]
mod tests;
