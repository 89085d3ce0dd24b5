//! Asking the server of this home, if there is one.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use commonbook::base::limits;

use super::wire::{Greeting, Told, place};
use super::{Asked, Reply};
use crate::config::Config;

/// How long a server may take to greet: one that is stopped, or overrun, is done without.
const GREETING: Duration = Duration::from_secs(2);

/// How long it may take to answer: a write waits for its turn there as it would here.
const ANSWER: Duration = Duration::from_secs(limits::WRITE_WAIT_SECONDS + limits::REQUEST_SECONDS);

/// Bytes of a greeting; what says more is no server of ours.
const GREETING_BYTES: u64 = 1024;

/// A server of this program, with this home's store open, that has greeted.
pub(crate) struct Server(BufReader<UnixStream>);

impl Server {
    /// The server of this home, if one answers.
    pub(crate) fn near(config: &Config) -> Option<Self> {
        let place = place(config).filter(|place| place.exists())?;
        let ours = Greeting::of(config)?;
        match greeted(place) {
            Ok((server, theirs)) if theirs == ours => Some(server),
            Ok(_) => {
                tracing::debug!("the server is another build, or has another store open");
                None
            }
            Err(error) => {
                tracing::debug!(%error, "no server answers on the socket");
                None
            }
        }
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(mut self, asked: &Asked) -> Reply {
        match self.exchange(asked) {
            Ok(Told::Answer(answer)) => Reply::Answer(Ok(answer)),
            Ok(Told::Error(error)) => Reply::Answer(Err(error.into())),
            Ok(Told::Declined) => Reply::Declined,
            Err(error) => {
                tracing::debug!(%error, "the server did not answer");
                Reply::Lost
            }
        }
    }

    fn exchange(&mut self, asked: &Asked) -> io::Result<Told> {
        let mut line = serde_json::to_vec(asked)?;
        line.push(b'\n');
        if line.len() > limits::BODY_BYTES {
            return Err(io::Error::other("the request is too long for a line"));
        }
        let stream = self.0.get_mut();
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(&line)?;
        // A history may be longer than any request: what the verb answers is taken whole.
        line.clear();
        self.0.read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }
}

fn greeted(place: PathBuf) -> io::Result<(Server, Greeting)> {
    let stream = connected(place)?;
    stream.set_read_timeout(Some(GREETING))?;
    stream.set_write_timeout(Some(ANSWER))?;
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    lines.by_ref().take(GREETING_BYTES).read_until(b'\n', &mut line)?;
    let greeting = serde_json::from_slice(&line)?;
    Ok((Server(lines), greeting))
}

/// Connects on a thread of its own: a socket whose queue is full lets one wait without end.
fn connected(place: PathBuf) -> io::Result<UnixStream> {
    let (tell, told) = mpsc::sync_channel(1);
    std::thread::Builder::new().spawn(move || {
        // Nobody waits any more: then this process is about to end.
        drop(tell.send(UnixStream::connect(place)));
    })?;
    told.recv_timeout(GREETING).map_err(io::Error::other)?
}
