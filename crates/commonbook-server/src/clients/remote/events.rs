//! The event stream of a server, read again after each loss of the connection.

use std::io::{BufRead, BufReader, Lines, Read};
use std::time::Duration;

use commonbook::base::error::{ErrorKind, Result};
use commonbook::model::caller::Caller;
use commonbook::model::event::RESYNC_EVENT;
use ureq::Body;

use super::address::ServerAddress;
use super::http::HttpClient;
use crate::calls::words::LOST_EVENTS_NOTE;

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

    /// The next event, as JSON. `note` hears of a connection that broke, before it is opened again, and
    /// of events that may be lost.
    ///
    /// # Errors
    /// The error with which the server refuses a new connection.
    pub(crate) fn next_event(&mut self, note: impl Fn(String)) -> Result<String> {
        let (mut id, mut is_resync, mut is_reported) = (None, false, false);
        loop {
            let Some(Ok(line)) = self.lines.next() else {
                let mut error = self.client.ended("the event stream ended");
                loop {
                    if !std::mem::replace(&mut is_reported, true) {
                        note(format!("{error}; connecting again"));
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
            match line.split_once(": ") {
                Some(("id", new)) => id = Some(new.to_owned()),
                Some(("event", name)) => is_resync = name == RESYNC_EVENT,
                // A notice such as `lagged` has no id: its events follow.
                Some(("data", data)) => match id.take() {
                    Some(new) if is_resync => {
                        self.last = Some(new);
                        note(LOST_EVENTS_NOTE.to_owned());
                    }
                    Some(new) => {
                        self.last = Some(new);
                        return Ok(data.to_owned());
                    }
                    None => {}
                },
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
