//! A model behind an OpenAI-compatible endpoint: `POST /v1/embeddings`.

mod response;

use std::str::FromStr;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::{Embedder, ModelSpec, check_vectors, refuse_blank};
use crate::client::{self, EndpointClient, EndpointPurpose, RequestFailure, RetryAdvice};
use crate::error::{EmbedError, EmbedErrorKind, EmbedResult};

/// Maximum count of texts in one request.
pub const REQUEST_TEXTS_MAX: usize = 64;
/// Maximum bytes of the texts in one request; a longer text is a request of its own.
pub const REQUEST_BYTES_MAX: usize = 200 * 1024;
/// Maximum bytes of a response: 64 vectors of 4,096 numbers as JSON are about 6 MB.
const RESPONSE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Maximum count of numbers in a vector.
pub const DIMENSIONS_MAX: usize = 16 * 1024;

/// The names of the settings of an embedding endpoint.
const EMBEDDING_PURPOSE: EndpointPurpose = EndpointPurpose {
    path: "embeddings",
    field: "embedder",
    setting: "COMMONBOOK_EMBEDDER",
    example: "Set COMMONBOOK_EMBEDDER to http://HOST:PORT#MODEL, and COMMONBOOK_EMBEDDER_KEY to the \
              key if the endpoint needs one.",
    key: "COMMONBOOK_EMBEDDER_KEY",
    otherwise: "saving and searching by words go on",
};

/// The address of an embedding endpoint: `http(s)://HOST[:PORT][/PATH]#MODEL`, followed by
/// `&dimensions=N` if the model should return shorter vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingAddress {
    /// The URL, the model and the key.
    pub at: client::EndpointAddress,
    /// The requested count of numbers in a vector; `None` for the model's default.
    pub dimensions: Option<usize>,
}

impl FromStr for EmbeddingAddress {
    type Err = EmbedError;

    fn from_str(text: &str) -> EmbedResult<Self> {
        let (base, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (model, dimensions) = match fragment.split_once("&dimensions=") {
            Some((model, number)) => {
                let number =
                    number.parse().ok().filter(|number| (1..=DIMENSIONS_MAX).contains(number));
                let wrong = || {
                    EMBEDDING_PURPOSE.address_error("dimensions: expected a number from 1 to 16384")
                };
                (model, Some(number.ok_or_else(wrong)?))
            }
            None => (fragment, None),
        };
        Ok(Self { at: client::EndpointAddress::read(base, model, &EMBEDDING_PURPOSE)?, dimensions })
    }
}

/// The timeouts and retries of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The timeout of a connection.
    pub connect: Duration,
    /// The timeout of a request with texts, from the connection to the end of the response.
    pub texts: Duration,
    /// The timeout of a request with a question; it is not retried, because a caller waits.
    pub question: Duration,
    /// The maximum count of attempts for texts.
    pub tries: u32,
    /// The delay before the second attempt; it doubles with each attempt.
    pub pause: Duration,
    /// The maximum delay between attempts; the call fails if the endpoint asks for a longer one.
    pub pause_most: Duration,
}

impl Default for RetryPolicy {
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
/// The spec is the model's name with the dimension; it does not contain the host, because the same
/// model may move.
pub struct EndpointEmbedder {
    client: EndpointClient,
    dimensions: Option<usize>,
    spec: ModelSpec,
    retry_policy: RetryPolicy,
    stopped: Mutex<bool>,
    stop: Condvar,
}

impl std::fmt::Debug for EndpointEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { client, spec, retry_policy, .. } = self;
        let mut shown = f.debug_struct("Endpoint");
        shown.field("client", client).field("spec", spec).field("retry_policy", retry_policy);
        shown.finish_non_exhaustive()
    }
}

impl EndpointEmbedder {
    /// Connects to an endpoint. Sends one short text to learn the dimension, unless the address
    /// contains it.
    ///
    /// # Errors
    /// `unavailable` if the endpoint does not respond, or sends an invalid response; a later call
    /// may succeed.
    pub fn connect(address: EmbeddingAddress) -> EmbedResult<Self> {
        Self::connect_with(address, RetryPolicy::default())
    }

    /// Connects with other timeouts and retries.
    ///
    /// # Errors
    /// As [`EndpointEmbedder::connect`].
    pub fn connect_with(address: EmbeddingAddress, retry_policy: RetryPolicy) -> EmbedResult<Self> {
        let dimension = address.dimensions;
        let mut endpoint =
            Self::with_dimension(address, dimension.unwrap_or_default(), retry_policy);
        if dimension.is_none() {
            let vector = endpoint.embed_once(&["dimension"], retry_policy.question);
            let vector = vector.map_err(|failure| failure.error)?.pop().unwrap_or_default();
            if !(1..=DIMENSIONS_MAX).contains(&vector.len()) {
                let found = vector.len();
                return Err(endpoint.response_error(&format!("a vector of {found} numbers")));
            }
            endpoint.spec.dimension = vector.len();
        }
        Ok(endpoint)
    }

    /// Creates an embedder for an endpoint of known dimension, without sending anything.
    #[must_use]
    pub fn with_dimension(
        address: EmbeddingAddress,
        dimension: usize,
        retry_policy: RetryPolicy,
    ) -> Self {
        let revision = "endpoint".to_owned();
        let spec = ModelSpec { model: address.at.model.clone(), revision, dimension };
        let client = EndpointClient::new(address.at, retry_policy.connect);
        let (stopped, stop) = (Mutex::new(false), Condvar::new());
        Self { client, dimensions: address.dimensions, spec, retry_policy, stopped, stop }
    }

    /// Embeds the texts of one request, with retries if another attempt may succeed.
    fn embed_with_retries(&self, texts: &[&str]) -> EmbedResult<Vec<Vec<f32>>> {
        let mut pause = self.retry_policy.pause;
        for _ in 1..self.retry_policy.tries {
            let failure = match self.embed_once(texts, self.retry_policy.texts) {
                Ok(vectors) => return Ok(vectors),
                Err(failure) => failure,
            };
            let RetryAdvice::After(delay) = failure.again else { return Err(failure.error) };
            let wait = delay.unwrap_or(pause);
            if wait > self.retry_policy.pause_most || self.wait(wait) {
                return Err(failure.error);
            }
            tracing::debug!(error = %failure.error, "retrying the request to the embedding endpoint");
            pause = pause.saturating_mul(2).min(self.retry_policy.pause_most);
        }
        self.embed_once(texts, self.retry_policy.texts).map_err(|failure| failure.error)
    }

    /// Sends one request.
    fn embed_once(
        &self,
        texts: &[&str],
        limit: Duration,
    ) -> EmbedResult<Vec<Vec<f32>>, RequestFailure> {
        if self.wait(Duration::ZERO) {
            return Err(self.stopped_failure());
        }
        let request = EmbeddingRequest {
            model: &self.client.address().model,
            input: texts,
            encoding_format: "float",
            dimensions: self.dimensions,
        };
        let body = self.client.send_request(&request, limit, RESPONSE_BYTES_MAX)?;
        response::parse_vectors(&body, texts.len()).map_err(|why| RequestFailure {
            error: self.response_error(&why),
            again: RetryAdvice::No,
        })
    }

    /// Waits unless the program ends; returns whether it ends.
    fn wait(&self, time: Duration) -> bool {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.stop.wait_timeout_while(stopped, time, |stopped| !*stopped);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The failure of a request at the end of the program.
    fn stopped_failure(&self) -> RequestFailure {
        let failure = self.client.permanent_failure("gets no more requests: the program ends");
        RequestFailure { error: failure.error.hint("Start the program again."), ..failure }
    }

    fn response_error(&self, what: &str) -> EmbedError {
        let error = self.client.permanent_failure(&format!("answered {what}")).error;
        error.hint("Check that the model after the # in COMMONBOOK_EMBEDDER makes embeddings.")
    }

    /// Checks the vectors; a wrong dimension means that the model behind the address changed.
    fn check_vectors(&self, texts: usize, vectors: Vec<Vec<f32>>) -> EmbedResult<Vec<Vec<f32>>> {
        check_vectors(&self.spec, texts, vectors).map_err(|error| {
            error.hint("If the model behind the endpoint changed, start the program again.")
        })
    }
}

impl Embedder for EndpointEmbedder {
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn embed(&self, texts: &[String]) -> EmbedResult<Vec<Vec<f32>>> {
        refuse_blank(texts)?;
        let mut vectors = Vec::with_capacity(texts.len());
        for request in request_batches(texts) {
            vectors.extend(self.check_vectors(request.len(), self.embed_with_retries(&request)?)?);
        }
        Ok(vectors)
    }

    fn embed_query(&self, text: &str) -> EmbedResult<Vec<f32>> {
        refuse_blank(&[text])?;
        let vectors = self
            .embed_once(&[text], self.retry_policy.question)
            .map_err(|failure| failure.error)?;
        let vector = self.check_vectors(1, vectors)?.pop();
        vector.ok_or_else(|| {
            EmbedError::new(
                EmbedErrorKind::Internal,
                "the endpoint returned no vector for the question",
            )
        })
    }

    fn batch(&self) -> usize {
        REQUEST_TEXTS_MAX
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn chunk_tokens(&self) -> usize {
        256
    }

    fn stop(&self) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.notify_all();
    }
}

/// Groups the texts, in order, so that each group fits into one request.
fn request_batches(texts: &[String]) -> Vec<Vec<&str>> {
    let mut requests: Vec<Vec<&str>> = Vec::new();
    let mut bytes = 0;
    for text in texts {
        bytes += text.len();
        match requests.last_mut() {
            Some(last) if last.len() < REQUEST_TEXTS_MAX && bytes <= REQUEST_BYTES_MAX => {
                last.push(text);
            }
            _ => {
                requests.push(vec![text]);
                bytes = text.len();
            }
        }
    }
    requests
}

/// The body of a request.
#[derive(Serialize)]
struct EmbeddingRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[cfg(test)]
mod tests;
