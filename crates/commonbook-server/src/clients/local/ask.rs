//! Sends requests to the server of this home, if one runs.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use commonbook::base::limits;

use super::wire::{RpcResponse, ServerGreeting, socket_path};
use super::{HookTiming, RpcOutcome, RpcRequest};
use crate::settings::config::Config;

/// The time limit for a greeting: a stopped or overloaded server is skipped.
const GREETING_TIMEOUT: Duration = Duration::from_secs(2);

/// The time limit for a response: a write waits for its turn in the server as it would here.
const RPC_RESPONSE_TIMEOUT: Duration =
    Duration::from_secs(limits::WRITE_WAIT_SECONDS + limits::REQUEST_SECONDS);

/// Maximum size of a greeting.
const GREETING_BYTES_MAX: u64 = 1024;

/// A connection to a server of this build that has the store of this home open.
pub(crate) struct RpcClient(BufReader<UnixStream>);

impl RpcClient {
    /// Connects to the server of this home, if one responds.
    pub(crate) fn connect_to_home(config: &Config) -> Option<Self> {
        let path = socket_path(config).filter(|path| path.exists())?;
        let ours = ServerGreeting::of(config)?;
        match connect_and_greet(path) {
            Ok((server, theirs)) if theirs == ours => Some(server),
            Ok(_) => {
                tracing::debug!("the server is another build, or has another store open");
                None
            }
            Err(error) => {
                tracing::debug!(%error, "no server responds on the socket");
                None
            }
        }
    }

    /// When the server of this home began to listen.
    pub(crate) fn server_start(config: &Config) -> Option<SystemTime> {
        fs::metadata(socket_path(config)?).and_then(|socket| socket.modified()).ok()
    }

    /// Sends a request, and waits for the response.
    pub(crate) fn send_rpc_request(mut self, request: &RpcRequest) -> RpcOutcome {
        match self.exchange(request) {
            Ok(RpcResponse::Answer(answer)) => RpcOutcome::Answer(Ok(answer)),
            Ok(RpcResponse::Error(error)) => RpcOutcome::Answer(Err(error.into())),
            Ok(RpcResponse::Declined) => RpcOutcome::Declined,
            Err(error) => {
                tracing::debug!(%error, "the server did not respond");
                RpcOutcome::Lost
            }
        }
    }

    /// Sends a report, which the server does not answer.
    pub(crate) fn send_report(mut self, report: &HookTiming) {
        let sent = serde_json::to_vec(report).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.0.get_mut().write_all(&line)
        });
        if let Err(error) = sent {
            tracing::debug!(%error, "the server did not take a report");
        }
    }

    fn exchange(&mut self, request: &RpcRequest) -> io::Result<RpcResponse> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        if line.len() > limits::BODY_BYTES {
            return Err(io::Error::other("the request is over the limit of a line"));
        }
        let stream = self.0.get_mut();
        stream.set_read_timeout(Some(RPC_RESPONSE_TIMEOUT))?;
        stream.write_all(&line)?;
        // A response has no limit: a history can be longer than any request.
        line.clear();
        self.0.read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }
}

fn connect_and_greet(path: PathBuf) -> io::Result<(RpcClient, ServerGreeting)> {
    let stream = connect_socket(path)?;
    stream.set_read_timeout(Some(GREETING_TIMEOUT))?;
    stream.set_write_timeout(Some(RPC_RESPONSE_TIMEOUT))?;
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    lines.by_ref().take(GREETING_BYTES_MAX).read_until(b'\n', &mut line)?;
    let greeting = serde_json::from_slice(&line)?;
    Ok((RpcClient(lines), greeting))
}

/// Connects on a thread of its own: connecting to a socket with a full queue blocks without a limit.
fn connect_socket(path: PathBuf) -> io::Result<UnixStream> {
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::Builder::new().spawn(move || {
        // Sending fails after the time limit, which is fine.
        drop(sender.send(UnixStream::connect(path)));
    })?;
    receiver.recv_timeout(GREETING_TIMEOUT).map_err(io::Error::other)?
}
