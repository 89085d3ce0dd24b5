//! Asking the server of this home, if there is one.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use commonbook::base::limits;

use super::wire::{RpcResponse, ServerGreeting, socket_path};
use super::{RpcOutcome, RpcRequest};
use crate::config::Config;

/// How long a server may take to greet: one that is stopped, or overrun, is done without.
const GREETING_TIMEOUT: Duration = Duration::from_secs(2);

/// How long it may take to answer: a write waits for its turn there as it would here.
const RPC_RESPONSE_TIMEOUT: Duration =
    Duration::from_secs(limits::WRITE_WAIT_SECONDS + limits::REQUEST_SECONDS);

/// Bytes of a greeting; what says more is no server of ours.
const GREETING_BYTES_MAX: u64 = 1024;

/// A server of this program, with this home's store open, that has greeted.
pub(crate) struct RpcClient(BufReader<UnixStream>);

impl RpcClient {
    /// The server of this home, if one answers.
    pub(crate) fn connect_to_home(config: &Config) -> Option<Self> {
        let place = socket_path(config).filter(|place| place.exists())?;
        let ours = ServerGreeting::of(config)?;
        match connect_and_greet(place) {
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
    pub(crate) fn send_rpc_request(mut self, asked: &RpcRequest) -> RpcOutcome {
        match self.exchange(asked) {
            Ok(RpcResponse::Answer(answer)) => RpcOutcome::Answer(Ok(answer)),
            Ok(RpcResponse::Error(error)) => RpcOutcome::Answer(Err(error.into())),
            Ok(RpcResponse::Declined) => RpcOutcome::Declined,
            Err(error) => {
                tracing::debug!(%error, "the server did not answer");
                RpcOutcome::Lost
            }
        }
    }

    fn exchange(&mut self, asked: &RpcRequest) -> io::Result<RpcResponse> {
        let mut line = serde_json::to_vec(asked)?;
        line.push(b'\n');
        if line.len() > limits::BODY_BYTES {
            return Err(io::Error::other("the request is too long for a line"));
        }
        let stream = self.0.get_mut();
        stream.set_read_timeout(Some(RPC_RESPONSE_TIMEOUT))?;
        stream.write_all(&line)?;
        // A history may be longer than any request: what the verb answers is taken whole.
        line.clear();
        self.0.read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }
}

fn connect_and_greet(place: PathBuf) -> io::Result<(RpcClient, ServerGreeting)> {
    let stream = connect_socket(place)?;
    stream.set_read_timeout(Some(GREETING_TIMEOUT))?;
    stream.set_write_timeout(Some(RPC_RESPONSE_TIMEOUT))?;
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    lines.by_ref().take(GREETING_BYTES_MAX).read_until(b'\n', &mut line)?;
    let greeting = serde_json::from_slice(&line)?;
    Ok((RpcClient(lines), greeting))
}

/// Connects on a thread of its own: a socket whose queue is full lets one wait without end.
fn connect_socket(place: PathBuf) -> io::Result<UnixStream> {
    let (tell, told) = mpsc::sync_channel(1);
    std::thread::Builder::new().spawn(move || {
        // Nobody waits any more: then this process is about to end.
        drop(tell.send(UnixStream::connect(place)));
    })?;
    told.recv_timeout(GREETING_TIMEOUT).map_err(io::Error::other)?
}
