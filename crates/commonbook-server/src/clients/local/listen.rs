//! Listens on the socket and answers requests until the server stops.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use commonbook::base::cancellation::Cancellation;
use commonbook::base::error::{ErrorKind, Result};
use commonbook::base::file_lock::FileLock;
use commonbook::base::{input, limits};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::wire::{RpcResponse, ServerGreeting, socket_path};
use super::{HookTiming, RpcHandler, RpcRequest};
use crate::calls::call::{cancel_on_disconnect, run_blocking};
use crate::calls::traces::RequestTrace;
use crate::calls::verb;
use crate::clients::sandbox;
use crate::settings::config::Config;

/// The time limit for a client to send its request, and to read the response.
const RPC_CLIENT_TIMEOUT: Duration = Duration::from_secs(limits::REQUEST_SECONDS);

/// The socket of this home with its handler.
pub(crate) struct RpcListener {
    listener: UnixListener,
    kept: SocketFile,
    greeting: Arc<[u8]>,
    carry_out: Arc<RpcHandler>,
}

/// The socket's file; dropping it removes the file, if it is still ours.
struct SocketFile {
    path: PathBuf,
    made: (u64, u64),
    /// Held while this server lives, so that another one does not replace its socket.
    _lock: FileLock,
}

impl RpcListener {
    /// Listens on the socket of this home. If that fails, or another server listens already, logs it at
    /// `debug`; then every command opens the store itself.
    pub(crate) fn open(config: &Config, carry_out: Arc<RpcHandler>) -> Option<Self> {
        match Self::bind_to_home(config, carry_out) {
            Ok(listener) => Some(listener),
            Err(error) => {
                tracing::debug!(%error, "cannot listen on the socket: commands open the store themselves");
                None
            }
        }
    }

    fn bind_to_home(config: &Config, carry_out: Arc<RpcHandler>) -> io::Result<Self> {
        let unknown = || io::Error::other("the path of this program or its store is unknown");
        let (place, greeting) =
            socket_path(config).zip(ServerGreeting::of(config)).ok_or_else(unknown)?;
        let greeting = serde_json::to_string(&greeting)? + "\n";
        let (listener, kept) = bind_socket(&place)?;
        Ok(Self { listener, kept, greeting: greeting.into_bytes().into(), carry_out })
    }

    /// Answers requests until the server stops; then finishes the running ones.
    pub(crate) async fn serve(self, stopping: CancellationToken) {
        let Self { listener, kept, greeting, carry_out } = self;
        let mut clients = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = stopping.cancelled() => break,
                Some(_) = clients.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((client, _)) => {
                    let (greeting, carry_out) = (Arc::clone(&greeting), Arc::clone(&carry_out));
                    let stopping = stopping.clone();
                    clients.spawn(async move {
                        let served = serve_client(client, &greeting, carry_out, &stopping).await;
                        if let Err(error) = served {
                            tracing::debug!(%error, "a request on the socket failed");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection on the socket");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
        // Remove the name first, so that new commands open the store themselves.
        drop(kept);
        drop(listener);
        while clients.join_next().await.is_some() {}
    }
}

/// Greets one client, reads its request and answers it. Does not answer an invalid request.
async fn serve_client(
    mut client: UnixStream,
    greeting: &[u8],
    carry_out: Arc<RpcHandler>,
    stopping: &CancellationToken,
) -> io::Result<()> {
    let line = tokio::select! {
        () = stopping.cancelled() => return Ok(()),
        line = timeout(RPC_CLIENT_TIMEOUT, read_rpc_request(&mut client, greeting)) => line??,
    };
    let cancellation = Cancellation::default();
    let trace = RequestTrace::begin_on_socket();
    let carried_out = {
        let (cancellation, trace) = (cancellation.clone(), trace.clone());
        run_blocking(move || {
            let _inside = trace.as_ref().map(RequestTrace::enter);
            execute_request_line(&line, &cancellation, &*carry_out)
        })
    };
    let carried_out = run_while_connected(&mut client, &cancellation, carried_out).await;
    if let Some(trace) = trace {
        trace.end_on_socket();
    }
    let response = match carried_out {
        Ok(Some(response)) => response,
        Ok(None) => return Ok(()),
        Err(error) => {
            let cause = error.cause.as_ref().map(tracing::field::display);
            match error.kind {
                ErrorKind::Internal => tracing::error!(%error, cause, "failed"),
                ErrorKind::Unavailable => tracing::warn!(%error, cause, "failed"),
                _ => tracing::debug!(%error, cause, "refused"),
            }
            RpcResponse::Error(error.body(None).error)
        }
    };
    let mut line = serde_json::to_vec(&response)?;
    line.push(b'\n');
    timeout(RPC_CLIENT_TIMEOUT, client.write_all(&line)).await?
}

/// Waits for some work, and cancels it if the client disconnects. The client sends nothing more, so a
/// read completes only then.
async fn run_while_connected<T>(
    client: &mut UnixStream,
    cancellation: &Cancellation,
    work: impl Future<Output = T>,
) -> T {
    cancel_on_disconnect(client.read_u8(), cancellation, work).await
}

/// Greets, and reads the line of the request.
async fn read_rpc_request(client: &mut UnixStream, greeting: &[u8]) -> io::Result<Vec<u8>> {
    client.write_all(greeting).await?;
    let mut line = Vec::new();
    let mut bounded = BufReader::new(client).take(limits::BODY_BYTES as u64);
    bounded.read_until(b'\n', &mut line).await?;
    Ok(line)
}

/// The response of the verb; `None` if the line is incomplete, too long, names no verb, or is the report
/// of a hook.
fn execute_request_line(
    line: &[u8],
    cancellation: &Cancellation,
    carry_out: &RpcHandler,
) -> Result<Option<RpcResponse>> {
    let whole = line.strip_suffix(b"\n").unwrap_or_default();
    input::check_value_count(whole)?;
    match serde_json::from_slice::<RpcRequest>(whole) {
        Ok(request) if is_beyond_sandbox(&request) => Ok(Some(RpcResponse::Declined)),
        Ok(mut request) => {
            request.caller.cancellation = cancellation.clone();
            let answer =
                carry_out(request).transpose().map_err(sandbox::refusal::explain_refusal)?;
            Ok(answer.map(RpcResponse::Answer))
        }
        Err(error) => {
            match serde_json::from_slice::<HookTiming>(whole) {
                Ok(report) => report.record(),
                Err(_) => tracing::debug!(%error, "a request on the socket is not valid"),
            }
            Ok(None)
        }
    }
}

/// Whether a verb needs the standing memory of a project outside the sandbox.
fn is_beyond_sandbox(request: &RpcRequest) -> bool {
    verb::find(&request.verb).is_some_and(|verb| {
        let creates = verb.is_on_files && verb.writes();
        verb.uses_project && !sandbox::reaches_project(&request.caller, creates)
    })
}

/// Creates the socket. Replaces the socket of a killed server, but not that of a running one.
fn bind_socket(place: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let home = place.parent().unwrap_or(place);
    let lock = lock_file(&home.join("server.lock"))?;
    if fs::symlink_metadata(place).is_ok_and(|found| !found.file_type().is_socket()) {
        return Err(io::Error::other(
            "the path of the socket is another file, which was not changed",
        ));
    }
    // The socket is created in a private folder, and renamed after its mode is set. The name of that
    // folder is short, because the path of a socket can have at most 107 bytes.
    let folder = tempfile::Builder::new()
        .prefix(".s")
        .rand_bytes(6)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(home)?;
    let made = folder.path().join("s");
    let listener = UnixListener::bind(&made)?;
    fs::set_permissions(&made, Permissions::from_mode(0o600))?;
    let kept = SocketFile { path: place.to_owned(), made: inode(&made)?, _lock: lock };
    fs::rename(&made, place)?;
    Ok((listener, kept))
}

/// The lock of a running server.
fn lock_file(path: &Path) -> io::Result<FileLock> {
    let lock = FileLock::take(path)?;
    lock.ok_or_else(|| io::Error::other("another server listens there"))
}

fn inode(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if inode(&self.path).is_ok_and(|found| found == self.made) {
            // If this fails, the next server replaces the socket.
            drop(fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_that_ends_cancels_its_request() {
        let (client, mut ours) = UnixStream::pair().unwrap();
        let cancellation = Cancellation::default();
        let wanted = cancellation.clone();
        let work = run_blocking(move || {
            while !wanted.is_cancelled() {
                std::thread::yield_now();
            }
            Ok("ended")
        });
        drop(client);
        let ended = run_while_connected(&mut ours, &cancellation, work).await;
        assert_eq!(ended.ok(), Some("ended"));
    }
}
