//! A model behind an endpoint: `POST /v1/embeddings`, as OpenAI has it and many servers copy it.

mod answer;

use std::str::FromStr;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::{Embedder, Spec, checked, refuse_blank};
use crate::client::{self, Again, Client, Failure, Purpose};
use crate::error::{EmbedError, EmbedErrorKind, Result};

/// Texts in one request at the most.
pub const REQUEST_TEXTS: usize = 64;
/// Bytes of the texts in one request at the most; a longer text goes alone.
pub const REQUEST_BYTES: usize = 200 * 1024;
/// Bytes of an answer at the most: 64 vectors of 4,096 numbers as JSON are about 6 MB.
const ANSWER_BYTES: u64 = 32 * 1024 * 1024;
/// Numbers of a vector at the most.
pub const DIMENSIONS: usize = 16 * 1024;

/// What the settings of an embedding endpoint are called.
const PURPOSE: Purpose = Purpose {
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
pub struct Address {
    /// Where it is, with the model and the key.
    pub at: client::Address,
    /// How many numbers a vector shall have, where the model has a choice; none for its own number.
    pub dimensions: Option<usize>,
}

impl FromStr for Address {
    type Err = EmbedError;

    fn from_str(text: &str) -> Result<Self> {
        let (base, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (model, dimensions) = match fragment.split_once("&dimensions=") {
            Some((model, number)) => {
                let number = number.parse().ok().filter(|number| (1..=DIMENSIONS).contains(number));
                let wrong = || PURPOSE.wrong("the dimensions are no number up to 16384");
                (model, Some(number.ok_or_else(wrong)?))
            }
            None => (fragment, None),
        };
        Ok(Self { at: client::Address::read(base, model, &PURPOSE)?, dimensions })
    }
}

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
/// may move.
pub struct Endpoint {
    client: Client,
    dimensions: Option<usize>,
    spec: Spec,
    patience: Patience,
    stopped: Mutex<bool>,
    stop: Condvar,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { client, spec, patience, .. } = self;
        let mut shown = f.debug_struct("Endpoint");
        shown.field("client", client).field("spec", spec).field("patience", patience);
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
        let revision = "endpoint".to_owned();
        let spec = Spec { model: address.at.model.clone(), revision, dimension };
        let client = Client::new(address.at, patience.connect);
        let (stopped, stop) = (Mutex::new(false), Condvar::new());
        Self { client, dimensions: address.dimensions, spec, patience, stopped, stop }
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
            model: &self.client.address().model,
            input: texts,
            encoding_format: "float",
            dimensions: self.dimensions,
        };
        let body = self.client.ask(&request, limit, ANSWER_BYTES)?;
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
        let failure = self.client.failed("is not asked any more, as the program ends");
        Failure { error: failure.error.hint("Start it again."), ..failure }
    }

    fn nonsense(&self, what: &str) -> EmbedError {
        let found = self.client.failed(&format!("answered {what}")).error;
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
        vector
            .ok_or_else(|| EmbedError::new(EmbedErrorKind::Internal, "the question got no vector"))
    }

    fn batch(&self) -> usize {
        REQUEST_TEXTS
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

#[cfg(test)]
mod tests;
