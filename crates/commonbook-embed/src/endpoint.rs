//! A model behind an endpoint: `POST /v1/embeddings`, as OpenAI has it and many servers copy it.

mod answer;

use std::str::FromStr;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::{Embedder, ModelSpec, check_vectors, refuse_blank};
use crate::client::{self, EndpointClient, EndpointPurpose, RequestFailure, RetryAdvice};
use crate::error::{EmbedError, EmbedErrorKind, EmbedResult};

/// Texts in one request at the most.
pub const REQUEST_TEXTS_MAX: usize = 64;
/// Bytes of the texts in one request at the most; a longer text goes alone.
pub const REQUEST_BYTES_MAX: usize = 200 * 1024;
/// Bytes of an answer at the most: 64 vectors of 4,096 numbers as JSON are about 6 MB.
const RESPONSE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Numbers of a vector at the most.
pub const DIMENSIONS_MAX: usize = 16 * 1024;

/// What the settings of an embedding endpoint are called.
const EMBEDDING_PURPOSE: EndpointPurpose = EndpointPurpose {
    path: "embeddings",
    field: "embedder",
    setting: "COMMONBOOK_EMBEDDER",
    example: "Write http://HOST:PORT#MODEL into COMMONBOOK_EMBEDDER, and the key, if there is one, \
              into COMMONBOOK_EMBEDDER_KEY.",
    key: "COMMONBOOK_EMBEDDER_KEY",
    otherwise: "saving and searching by words go on",
};

/// Where an endpoint is and what is asked of it. Written `http(s)://HOST[:PORT][/PATH]#MODEL`, with
/// `&dimensions=N` behind when the model can be asked for shorter vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingAddress {
    /// Where it is, with the model and the key.
    pub at: client::EndpointAddress,
    /// How many numbers a vector shall have, where the model has a choice; none for its own number.
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
                let wrong =
                    || EMBEDDING_PURPOSE.address_error("the dimensions are no number up to 16384");
                (model, Some(number.ok_or_else(wrong)?))
            }
            None => (fragment, None),
        };
        Ok(Self { at: client::EndpointAddress::read(base, model, &EMBEDDING_PURPOSE)?, dimensions })
    }
}

/// How long an endpoint is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
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
/// The spec is the model's name with the dimension; the host is no part of it, as the same model
/// may move.
pub struct EndpointEmbedder {
    client: EndpointClient,
    dimensions: Option<usize>,
    spec: ModelSpec,
    patience: RetryPolicy,
    stopped: Mutex<bool>,
    stop: Condvar,
}

impl std::fmt::Debug for EndpointEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { client, spec, patience, .. } = self;
        let mut shown = f.debug_struct("Endpoint");
        shown.field("client", client).field("spec", spec).field("patience", patience);
        shown.finish_non_exhaustive()
    }
}

impl EndpointEmbedder {
    /// An endpoint whose dimension is asked for with one short question, unless the address tells
    /// it.
    ///
    /// # Errors
    /// `unavailable` when it does not answer, or answers nonsense; try again later.
    pub fn connect(address: EmbeddingAddress) -> EmbedResult<Self> {
        Self::connect_with(address, RetryPolicy::default())
    }

    /// The same with other waiting times.
    ///
    /// # Errors
    /// As [`EndpointEmbedder::connect`].
    pub fn connect_with(address: EmbeddingAddress, patience: RetryPolicy) -> EmbedResult<Self> {
        let known = address.dimensions;
        let mut endpoint = Self::with_dimension(address, known.unwrap_or_default(), patience);
        if known.is_none() {
            let vector = endpoint.embed_once(&["dimension"], patience.question);
            let vector = vector.map_err(|failure| failure.error)?.pop().unwrap_or_default();
            if !(1..=DIMENSIONS_MAX).contains(&vector.len()) {
                let found = vector.len();
                return Err(endpoint.response_error(&format!("a vector of {found} numbers")));
            }
            endpoint.spec.dimension = vector.len();
        }
        Ok(endpoint)
    }

    /// An endpoint whose dimension was learnt before; asks nothing.
    #[must_use]
    pub fn with_dimension(
        address: EmbeddingAddress,
        dimension: usize,
        patience: RetryPolicy,
    ) -> Self {
        let revision = "endpoint".to_owned();
        let spec = ModelSpec { model: address.at.model.clone(), revision, dimension };
        let client = EndpointClient::new(address.at, patience.connect);
        let (stopped, stop) = (Mutex::new(false), Condvar::new());
        Self { client, dimensions: address.dimensions, spec, patience, stopped, stop }
    }

    /// One request's worth of texts, tried again when that may help.
    fn embed_with_retries(&self, texts: &[&str]) -> EmbedResult<Vec<Vec<f32>>> {
        let mut pause = self.patience.pause;
        for _ in 1..self.patience.tries {
            let failure = match self.embed_once(texts, self.patience.texts) {
                Ok(vectors) => return Ok(vectors),
                Err(failure) => failure,
            };
            let RetryAdvice::After(asked) = failure.again else { return Err(failure.error) };
            let wait = asked.unwrap_or(pause);
            if wait > self.patience.pause_most || self.wait(wait) {
                return Err(failure.error);
            }
            tracing::debug!(error = %failure.error, "asking the embedding endpoint again");
            pause = pause.saturating_mul(2).min(self.patience.pause_most);
        }
        self.embed_once(texts, self.patience.texts).map_err(|failure| failure.error)
    }

    /// One request.
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
        answer::parse_vectors(&body, texts.len()).map_err(|why| RequestFailure {
            error: self.response_error(&why),
            again: RetryAdvice::No,
        })
    }

    /// Waits, unless the program ends; answers whether it does.
    fn wait(&self, time: Duration) -> bool {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.stop.wait_timeout_while(stopped, time, |stopped| !*stopped);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The program ends.
    fn stopped_failure(&self) -> RequestFailure {
        let failure = self.client.permanent_failure("is not asked any more, as the program ends");
        RequestFailure { error: failure.error.hint("Start it again."), ..failure }
    }

    fn response_error(&self, what: &str) -> EmbedError {
        let found = self.client.permanent_failure(&format!("answered {what}")).error;
        found.hint("Check that the model after the # in COMMONBOOK_EMBEDDER makes embeddings.")
    }

    /// The vectors, checked; a wrong dimension says that the model behind the address changed.
    fn check_vectors(&self, texts: usize, vectors: Vec<Vec<f32>>) -> EmbedResult<Vec<Vec<f32>>> {
        check_vectors(&self.spec, texts, vectors).map_err(|error| {
            error.hint("Has the model behind the endpoint changed? Then start again.")
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
        let vectors =
            self.embed_once(&[text], self.patience.question).map_err(|failed| failed.error)?;
        let vector = self.check_vectors(1, vectors)?.pop();
        vector
            .ok_or_else(|| EmbedError::new(EmbedErrorKind::Internal, "the question got no vector"))
    }

    fn batch(&self) -> usize {
        REQUEST_TEXTS_MAX
    }

    fn chunk_tokens(&self) -> usize {
        256
    }

    fn stop(&self) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.notify_all();
    }
}

/// Texts in groups that fit into one request each, in order.
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

/// What is asked.
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
