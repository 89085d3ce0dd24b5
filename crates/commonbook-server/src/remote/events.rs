//! The event stream of a server, read again after each loss of the connection.

use std::io::{BufRead, BufReader, Lines, Read};
use std::time::Duration;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::Caller;
use ureq::Body;

use super::address::ServerAddress;
use super::http::HttpClient;

/// The path of the stream.
const STREAM_PATH: &str = "/events/stream";

/// Time between two attempts to connect again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// A reader of the journal of a workspace on a server.
pub(crate) struct RemoteEvents {
    client: HttpClient,
    caller: Caller,
    path: String,
    /// The sequence of the last event.
    last: Option<String>,
    lines: Lines<BufReader<Box<dyn Read + Send>>>,
}

impl RemoteEvents {
    /// The events that these query parameters select, from now on.
    ///
    /// # Errors
    /// The error of the server; `unavailable` if it does not answer.
    pub(crate) fn open(
        address: ServerAddress,
        caller: &Caller,
        query: &[(String, String)],
    ) -> Result<Self> {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        let (client, path) = (HttpClient::new(address, None), format!("{STREAM_PATH}?{query}"));
        let lines = connect(&client, caller, &path, None)?;
        Ok(Self { client, caller: caller.clone(), path, last: None, lines })
    }

    /// The next event, as JSON. `lost` hears of a connection that broke, before it is opened again.
    ///
    /// # Errors
    /// The error with which the server refuses a new connection.
    pub(crate) fn next_event(&mut self, lost: impl Fn(&Error)) -> Result<String> {
        let (mut sequence, mut is_event, mut is_reported) = (None, false, false);
        loop {
            let Some(Ok(line)) = self.lines.next() else {
                let mut error = self.client.ended("the event stream ended");
                loop {
                    if !std::mem::replace(&mut is_reported, true) {
                        lost(&error);
                    }
                    wait_to_retry();
                    match connect(&self.client, &self.caller, &self.path, self.last.as_deref()) {
                        Ok(lines) => break self.lines = lines,
                        Err(refused) if refused.kind == ErrorKind::Unavailable => error = refused,
                        Err(refused) => return Err(refused),
                    }
                }
                continue;
            };
            // A notice such as `lagged` has no sequence: its events follow.
            match line.split_once(": ") {
                Some(("id", id)) => (sequence, is_event) = (Some(id.to_owned()), true),
                Some(("data", data)) if is_event => {
                    self.last = sequence;
                    return Ok(data.to_owned());
                }
                _ => {}
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "no event says that a server elsewhere runs again")]
fn wait_to_retry() {
    std::thread::sleep(RETRY_DELAY);
}

fn connect(
    client: &HttpClient,
    caller: &Caller,
    path: &str,
    last: Option<&str>,
) -> Result<Lines<BufReader<Box<dyn Read + Send>>>> {
    let mut request = client.request("GET", path, caller);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let body: Body = client.send(request, String::new())?.into_body();
    let reader: Box<dyn Read + Send> = Box::new(body.into_reader());
    Ok(BufReader::new(reader).lines())
}
