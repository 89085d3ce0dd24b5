//! The client of an OpenAI-compatible endpoint: its address, and one request to it.
//!
//! The client uses the proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`), but none for loopback
//! addresses. It follows no redirects.

mod address;
mod error_response;
#[cfg(test)]
#[path = "../tests/loopback/mod.rs"]
pub(crate) mod loopback;

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use ureq::Agent;
use ureq::http::StatusCode;

pub use self::address::{ApiKey, EndpointAddress, EndpointPurpose};
use crate::error::{EmbedError, EmbedErrorKind};

/// The client of one endpoint.
pub struct EndpointClient {
    address: EndpointAddress,
    agent: Agent,
}

impl fmt::Debug for EndpointClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointClient").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A failed request.
#[derive(Debug)]
pub struct RequestFailure {
    /// The error: `unavailable`, with a hint.
    pub error: EmbedError,
    /// Whether another request may succeed.
    pub again: RetryAdvice,
}

/// Whether another request may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAdvice {
    /// The same request would fail the same way.
    No,
    /// Another request may succeed, after this time if the endpoint named one.
    After(Option<Duration>),
}

impl EndpointClient {
    /// Creates a client without sending anything. `connect` is the timeout of a connection.
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

    /// Returns the address of the endpoint.
    #[must_use]
    pub const fn address(&self) -> &EndpointAddress {
        &self.address
    }

    /// Sends one request as JSON, and returns the body of a response with status 200. `limit` is
    /// the time from the connection to the end of the body, `bytes` the greatest size of the body.
    ///
    /// # Errors
    /// `unavailable` if no response arrives, or one with another status or a longer body.
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
        let mut response =
            call.send_json(request).map_err(|cause| self.connection_failure(cause))?;
        let (status, after) = (response.status(), error_response::retry_after(response.headers()));
        let body = response.body_mut().with_config().limit(bytes).read_to_vec();
        if status != StatusCode::OK {
            return Err(self.status_failure(status, after, &body.unwrap_or_default()));
        }
        body.map_err(|cause| self.connection_failure(cause))
    }

    /// Creates a failure that a retry does not change.
    #[must_use]
    pub fn permanent_failure(&self, what: &str) -> RequestFailure {
        let url = self.address.url();
        let error =
            EmbedError::new(EmbedErrorKind::Unavailable, format!("the endpoint {url} {what}"));
        RequestFailure { error, again: RetryAdvice::No }
    }

    /// The failure of a request without a response.
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
        let hint = format!("Check that the endpoint runs, and the host and port in {setting}.");
        RequestFailure { error: failure.error.hint(hint).with_cause(cause), again }
    }

    /// The failure of a request whose response has an error status.
    fn status_failure(
        &self,
        status: StatusCode,
        after: Option<Duration>,
        body: &[u8],
    ) -> RequestFailure {
        let why = error_response::reason(body, self.address.key.as_ref());
        let EndpointPurpose { setting, key, otherwise, .. } = self.address.purpose;
        let hint = match status.as_u16() {
            401 | 403 => format!("Set {key} to a key that the endpoint accepts."),
            404 => format!("Check the path and the name of the model in {setting}."),
            300..=399 => format!("Set {setting} to the address that the endpoint redirects to."),
            _ => format!("Read the log of the endpoint; {otherwise}."),
        };
        let failure = self.permanent_failure(&format!("answered {}{why}", status.as_u16()));
        let again = match status.as_u16() {
            408 | 429 | 500..=599 => RetryAdvice::After(after),
            _ => RetryAdvice::No,
        };
        RequestFailure { error: failure.error.hint(hint), again }
    }
}
