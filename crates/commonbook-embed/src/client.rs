//! An endpoint that speaks like OpenAI's: where it is, and one request to it.
//!
//! Proxies are those of the environment (`HTTPS_PROXY`, `NO_PROXY`), but none for loopback
//! addresses. Redirects are not followed.

mod address;
mod answer;
#[cfg(any(test, feature = "loopback"))]
pub mod loopback;

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use ureq::Agent;
use ureq::http::StatusCode;

pub use self::address::{ApiKey, EndpointAddress, EndpointPurpose};
use crate::error::{EmbedError, EmbedErrorKind};

/// An endpoint that can be asked.
pub struct EndpointClient {
    address: EndpointAddress,
    agent: Agent,
}

impl fmt::Debug for EndpointClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Why a request failed, and whether another may succeed.
#[derive(Debug)]
pub struct RequestFailure {
    /// Why: `unavailable`, with a hint.
    pub error: EmbedError,
    /// Whether another may succeed.
    pub again: RetryAdvice,
}

/// Whether another request may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAdvice {
    /// The same request would fail the same way.
    No,
    /// After this time, if the endpoint named one.
    After(Option<Duration>),
}

impl EndpointClient {
    /// Asks nothing yet. `connect` is how long a connection is waited for.
    #[must_use]
    pub fn new(address: EndpointAddress, connect: Duration) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(connect))
            .user_agent(concat!("commonbook/", env!("CARGO_PKG_VERSION")));
        let agent = if address.is_loopback() { agent.proxy(None) } else { agent };
        Self { address, agent: agent.build().new_agent() }
    }

    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> &EndpointAddress {
        &self.address
    }

    /// Sends one request as JSON, and answers the body of what comes back with the status 200: of at
    /// most so many bytes, within so long from the connection to its end.
    ///
    /// # Errors
    /// `unavailable` when nothing comes, or something else.
    pub fn send_request(
        &self,
        request: &impl Serialize,
        limit: Duration,
        bytes: u64,
    ) -> Result<Vec<u8>, RequestFailure> {
        let call = self.agent.post(self.address.url()).config().timeout_global(Some(limit));
        let mut call = call.build();
        if let Some(key) = &self.address.key {
            call = call.header("Authorization", key.bearer());
        }
        let mut answer = call.send_json(request).map_err(|cause| self.connection_failure(cause))?;
        let (status, after) = (answer.status(), answer::retry_after(answer.headers()));
        let body = answer.body_mut().with_config().limit(bytes).read_to_vec();
        if status != StatusCode::OK {
            return Err(self.status_failure(status, after, &body.unwrap_or_default()));
        }
        body.map_err(|cause| self.connection_failure(cause))
    }

    /// That asking failed so, for good.
    #[must_use]
    pub fn permanent_failure(&self, what: &str) -> RequestFailure {
        let url = self.address.url();
        let error =
            EmbedError::new(EmbedErrorKind::Unavailable, format!("the endpoint {url} {what}"));
        RequestFailure { error, again: RetryAdvice::No }
    }

    /// No answer came.
    fn connection_failure(&self, cause: ureq::Error) -> RequestFailure {
        let again = match &cause {
            ureq::Error::Timeout(_)
            | ureq::Error::Io(_)
            | ureq::Error::Protocol(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed => RetryAdvice::After(None),
            _ => RetryAdvice::No,
        };
        let setting = self.address.purpose.setting;
        let failure = self.permanent_failure(&format!("cannot be reached: {cause}"));
        let hint = format!("Check that it runs, and the host and port in {setting}.");
        RequestFailure { error: failure.error.hint(hint).with_cause(cause), again }
    }

    /// An answer came, and it was no.
    fn status_failure(
        &self,
        status: StatusCode,
        after: Option<Duration>,
        body: &[u8],
    ) -> RequestFailure {
        let why = answer::reason(body, self.address.key.as_ref());
        let EndpointPurpose { setting, key, otherwise, .. } = self.address.purpose;
        let hint = match status.as_u16() {
            401 | 403 => format!("Set {key} to a key that the endpoint takes."),
            404 => format!("Check the path and the name of the model in {setting}."),
            300..=399 => format!("Write the address that it redirects to into {setting}."),
            _ => format!("Look into the log of the endpoint; {otherwise}."),
        };
        let failure = self.permanent_failure(&format!("answered {}{why}", status.as_u16()));
        let again = match status.as_u16() {
            408 | 429 | 500..=599 => RetryAdvice::After(after),
            _ => RetryAdvice::No,
        };
        RequestFailure { error: failure.error.hint(hint), again }
    }
}
