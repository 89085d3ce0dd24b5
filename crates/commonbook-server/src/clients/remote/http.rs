//! Requests to the server of an address, with the headers of their caller.

use std::time::Duration;

use commonbook::base::error::{Error, ErrorBody, ErrorKind, Result};
use commonbook::model::agent::Agent;
use commonbook::model::caller::Caller;
use ureq::Body;
use ureq::http::{HeaderValue, Request, Response, StatusCode, request};

use super::address::ServerAddress;

/// Time for a connection to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of an error that are read.
const ERROR_BYTES_MAX: u64 = 1 << 20;

/// The client of one server.
pub(super) struct HttpClient {
    pub(super) address: ServerAddress,
    agent: ureq::Agent,
}

impl HttpClient {
    /// A client that waits at most this long for the whole response; `None` is for streams.
    pub(super) fn new(address: ServerAddress, timeout: Option<Duration>) -> Self {
        let connect = timeout.map_or(CONNECT_TIMEOUT, |timeout| timeout.min(CONNECT_TIMEOUT));
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // Memories go to this address and to no other one.
            .max_redirects(0)
            .timeout_connect(Some(connect))
            .timeout_global(timeout)
            .user_agent(concat!("commonbook/", env!("CARGO_PKG_VERSION")));
        let config = if address.is_loopback() { config.proxy(None) } else { config };
        Self { address, agent: config.build().into() }
    }

    /// A request of this caller to a path of the server.
    pub(super) fn request(&self, method: &str, path: &str, caller: &Caller) -> request::Builder {
        let url = format!("{}{path}", self.address.url);
        let mut request = Request::builder().method(method).uri(url);
        let device = |device: &String| format!("{}@{device}", caller.agent);
        let name = caller.device.as_ref().map_or_else(|| caller.agent.to_string(), device);
        let earlier: Vec<String> = caller.earlier.iter().map(ToString::to_string).collect();
        let earlier = earlier.join(",");
        // No caller claims the name of the person.
        let is_unnamed = caller.agent.is_anonymous() || caller.agent == Agent::human();
        let own = [
            ("x-commonbook-agent", Some(name).filter(|_| !is_unnamed)),
            ("x-commonbook-workspace", Some(caller.workspace.to_string())),
            ("x-commonbook-earlier", Some(earlier).filter(|names| !names.is_empty())),
            ("x-commonbook-user", caller.user.clone()),
            ("x-commonbook-session", caller.session.clone()),
            ("x-commonbook-reader", caller.by_command.then(|| "command".to_owned())),
        ];
        for (name, value) in own {
            // A header of the setup takes precedence.
            if let Some(value) = value.filter(|_| !self.address.headers.contains_key(name))
                && let Ok(value) = HeaderValue::from_bytes(value.as_bytes())
            {
                request = request.header(name, value);
            }
        }
        for (name, value) in &self.address.headers {
            request = request.header(name, value);
        }
        request
    }

    /// Sends a request; returns a response of success.
    ///
    /// # Errors
    /// The error of the server; `unavailable` if it does not answer as Commonbook does.
    pub(super) fn send(&self, request: request::Builder, body: String) -> Result<Response<Body>> {
        let mut response = self.run(request, body)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = response.body_mut().with_config().limit(ERROR_BYTES_MAX).read_to_string();
        Err(self.refusal(status, &text.unwrap_or_default()))
    }

    /// Sends a request; returns the response, whatever its status is.
    ///
    /// # Errors
    /// `unavailable` if there is none.
    pub(super) fn run(&self, request: request::Builder, body: String) -> Result<Response<Body>> {
        let request = match body.is_empty() {
            true => request,
            false => request.header("content-type", "application/json"),
        };
        let request = request.body(body);
        let request =
            request.map_err(|error| self.unavailable("the request is not valid", error))?;
        let sent = self.agent.run(request);
        sent.map_err(|error| self.unavailable("the server cannot be reached", error))
    }

    /// The error of a response without success.
    pub(super) fn refusal(&self, status: StatusCode, text: &str) -> Error {
        match serde_json::from_str::<ErrorBody>(text) {
            Ok(body) => body.error.into(),
            Err(_) => {
                let url = &self.address.url;
                let message = format!("{url} answers {status}, not as Commonbook does");
                Error::new(ErrorKind::Unavailable, message).hint("Check the URL of the server.")
            }
        }
    }

    /// The error of a server that ended a response before its end.
    pub(super) fn ended(&self, reason: &str) -> Error {
        let message = format!("{}: {reason}", self.address.url);
        Error::new(ErrorKind::Unavailable, message)
    }

    /// The error of a server that does not answer.
    pub(super) fn unavailable(
        &self,
        reason: &str,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> Error {
        let message = format!("{}: {reason}: {error}", self.address.url);
        Error::new(ErrorKind::Unavailable, message)
            .hint("Check that the server runs. `commonbook doctor` shows which one is in use and why.")
            .with_cause(error)
    }
}
