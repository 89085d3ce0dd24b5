//! MCP over standard input and output, for a client that starts the program in a project's folder.

mod underway;

use std::sync::Arc;
use std::time::Duration;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use underway::PendingRequests;

/// Bytes in the pipe between the standard streams and the MCP library.
const PIPE_BYTES: usize = 64 * 1024;

/// Responses that wait for the client to read them.
const QUEUED_ANSWERS_MAX: usize = 64;

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
    let underway = Arc::new(PendingRequests::default());
    let (stopped, stopping) = tokio::sync::oneshot::channel::<()>();
    tokio::spawn(read(to_protocol, answers.clone(), Arc::clone(&underway), async {
        stop.await;
        drop(stopped);
    }));
    let forwarding = tokio::spawn(forward(BufReader::new(from_protocol), answers, underway));
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
    underway: Arc<PendingRequests>,
    stop: impl Future<Output = ()>,
) {
    tokio::select! {
        () = pass_lines(&mut to_protocol, &answers, &underway) => {}
        () = stop => {}
    }
    // Without this the MCP library would wait for ever: the other half of the pipe is still open.
    drop(to_protocol.shutdown().await);
}

/// Passes the client's lines on, and answers lines that are not JSON with an error as JSON-RPC (section
/// 5.1) requires: the MCP library would drop them silently.
async fn pass_lines(
    to_protocol: &mut (impl AsyncWrite + Unpin),
    answers: &Sender<Vec<u8>>,
    underway: &PendingRequests,
) {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut input).take(limits::BODY_BYTES as u64 + 1);
        match bounded.read_until(b'\n', &mut line).await {
            Err(_) | Ok(0) => return,
            Ok(_) => {}
        }
        let refusal = if line.len() > limits::BODY_BYTES {
            if skip_line(&mut input).await.is_err() {
                return;
            }
            Some(Error::too_large("line", line.len(), limits::BODY_BYTES, "bytes"))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            commonbook::base::input::json(&line).err()
        };
        match refusal {
            Some(error) => {
                let answer = serde_json::json!({
                    "jsonrpc": "2.0",
                    "id": null,
                    "error": {
                        "code": rmcp::model::ErrorCode::PARSE_ERROR.0,
                        "message": error.message,
                        "data": error.body(None),
                    },
                });
                if answers.send(format!("{answer}\n").into_bytes()).await.is_err() {
                    return;
                }
            }
            None => {
                underway.begin(&line).await;
                if to_protocol.write_all(&line).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Skips to the end of a line that is over the limit.
async fn skip_line(input: &mut (impl AsyncBufReadExt + Unpin)) -> std::io::Result<()> {
    loop {
        let found = input.fill_buf().await?;
        let (used, ended) = match found.iter().position(|byte| *byte == b'\n') {
            Some(index) => (index + 1, true),
            None => (found.len(), found.is_empty()),
        };
        input.consume(used);
        if ended {
            return Ok(());
        }
    }
}

/// Passes the responses of the MCP library on, in whole lines.
async fn forward(
    mut from_protocol: impl AsyncBufReadExt + Unpin,
    answers: Sender<Vec<u8>>,
    underway: Arc<PendingRequests>,
) {
    loop {
        let mut line = Vec::new();
        match from_protocol.read_until(b'\n', &mut line).await {
            Err(_) | Ok(0) => return,
            Ok(_) => {
                underway.note_answer_line(&line);
                if answers.send(line).await.is_err() {
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
