//! MCP over standard input and output, for a client that starts the program in a project's folder.

mod batch;
mod underway;

use std::sync::Arc;
use std::time::Duration;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt};
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use batch::PendingBatches;
use underway::PendingRequests;

use crate::calls::rpc::{self, ClientMessages};

/// Bytes in the pipe between the standard streams and the MCP library.
const PIPE_BYTES: usize = 64 * 1024;

/// Responses that wait for the client to read them.
const QUEUED_ANSWERS_MAX: usize = 64;

/// Bytes of the end of a line that is over the limit.
const LINE_END_BYTES: usize = 1024;

/// The requests of one client.
#[derive(Debug, Default)]
struct ClientRequests {
    underway: PendingRequests,
    batches: PendingBatches,
}

/// Serves one client until it closes its end or `stop` completes; then finishes the running requests.
///
/// # Errors
/// `unavailable` if the client breaks the protocol or a stream fails.
pub(crate) async fn serve(
    door: impl ServerHandler,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let (from_protocol, to_protocol) = tokio::io::split(ours);
    let (answers, written) = channel(QUEUED_ANSWERS_MAX);
    let requests = Arc::new(ClientRequests::default());
    let (stopped, stopping) = tokio::sync::oneshot::channel::<()>();
    tokio::spawn(read(to_protocol, answers.clone(), Arc::clone(&requests), async {
        stop.await;
        drop(stopped);
    }));
    let forwarding = tokio::spawn(forward(BufReader::new(from_protocol), answers, requests));
    let writing = tokio::spawn(write(written));
    let too_late = async {
        drop(stopping.await);
        tokio::time::sleep(Duration::from_secs(limits::SHUTDOWN_SECONDS)).await;
    };
    tokio::select! {
        served = run(door, theirs) => served?,
        () = too_late => return Ok(()),
    }
    // Write every response before the end.
    drop(forwarding.await);
    drop(writing.await);
    Ok(())
}

async fn run(door: impl ServerHandler, stream: DuplexStream) -> Result<()> {
    match door.serve(tokio::io::split(stream)).await {
        Ok(running) => running.waiting().await.map(drop).map_err(|error| stdio_error(&error)),
        // A client may disconnect before it initialises.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(stdio_error(&error)),
    }
}

fn stdio_error(error: &dyn std::error::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the connection to the client failed: {error}"))
}

/// Passes the client's lines on until it closes its end or `stop` completes; then closes our end.
async fn read(
    mut to_protocol: impl AsyncWrite + Unpin,
    answers: Sender<Vec<u8>>,
    requests: Arc<ClientRequests>,
    stop: impl Future<Output = ()>,
) {
    tokio::select! {
        () = pass_lines(&mut to_protocol, &answers, &requests) => {}
        () = stop => {}
    }
    // Without this the MCP library would wait for ever: the other half of the pipe is still open.
    drop(to_protocol.shutdown().await);
}

/// Passes the client's messages on, and answers what is none: the MCP library would drop it silently.
async fn pass_lines(
    to_protocol: &mut (impl AsyncWrite + Unpin),
    answers: &Sender<Vec<u8>>,
    requests: &ClientRequests,
) {
    let mut input = BufReader::new(tokio::io::stdin());
    let (mut line, mut has_batches) = (Vec::new(), false);
    loop {
        line.clear();
        let mut bounded = (&mut input).take(limits::BODY_BYTES as u64 + 1);
        match bounded.read_until(b'\n', &mut line).await {
            Err(_) | Ok(0) => return,
            Ok(_) => {}
        }
        let read = if line.len() > limits::BODY_BYTES {
            let Ok(end) = skip_line(&mut input).await else { return };
            line.extend_from_slice(&end);
            let error = Error::too_large("line", line.len(), limits::BODY_BYTES, "bytes");
            Err(vec![rpc::unreadable(&line, &error)])
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            rpc::read(&line, has_batches)
        };
        let (messages, refusals) = match read {
            Ok(ClientMessages::One(message)) => {
                if let Some(version) = rpc::version_of_begin(&message) {
                    has_batches = version == rpc::BATCH_VERSION;
                }
                (vec![message], Vec::new())
            }
            Ok(ClientMessages::Batch(messages)) => requests.batches.begin(messages),
            Err(refusals) => (Vec::new(), refusals),
        };
        for refusal in refusals {
            if answers.send(line_of(&refusal)).await.is_err() {
                return;
            }
        }
        for message in messages {
            let cancelled = requests.underway.begin(&message, line.len()).await;
            if let Some(batch) = cancelled.and_then(|id| requests.batches.cancel(&id))
                && answers.send(line_of(&batch)).await.is_err()
            {
                return;
            }
            if to_protocol.write_all(&line_of(&message)).await.is_err() {
                return;
            }
        }
    }
}

/// A message as a line.
fn line_of(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

/// Skips to the end of a line that is over the limit, and returns that end: many clients write the id of a
/// request there.
async fn skip_line(input: &mut (impl AsyncBufReadExt + Unpin)) -> std::io::Result<Vec<u8>> {
    let mut end = Vec::new();
    loop {
        let found = input.fill_buf().await?;
        let (used, ended) = match found.iter().position(|byte| *byte == b'\n') {
            Some(index) => (index + 1, true),
            None => (found.len(), found.is_empty()),
        };
        end.extend_from_slice(&found[..used]);
        end.drain(..end.len().saturating_sub(LINE_END_BYTES));
        input.consume(used);
        if ended {
            return Ok(end);
        }
    }
}

/// Passes the responses of the MCP library on, in whole lines.
async fn forward(
    mut from_protocol: impl AsyncBufReadExt + Unpin,
    answers: Sender<Vec<u8>>,
    requests: Arc<ClientRequests>,
) {
    loop {
        let mut line = Vec::new();
        match from_protocol.read_until(b'\n', &mut line).await {
            Err(_) | Ok(0) => return,
            Ok(_) => {
                requests.underway.note_answer_line(&line);
                if let Some(line) = requests.batches.pass(line)
                    && answers.send(line).await.is_err()
                {
                    return;
                }
            }
        }
    }
}

async fn write(mut lines: Receiver<Vec<u8>>) {
    let mut output = tokio::io::stdout();
    while let Some(line) = lines.recv().await {
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}
