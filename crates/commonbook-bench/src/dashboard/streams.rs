//! Many event streams of the pages at once: the time until each has an event, and the server's memory.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_server::child::step_error;
use commonbook_server::output::print_line;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::super::events::{open_streams, read_stream};
use super::super::machine::process_bytes;
use super::super::synthetic::MAIN_WORKSPACE;
use super::super::timed_step::TimedStep;
use super::SignedIn;

/// Memories that are saved, one after the other, while the streams are open.
const STREAMED_EVENTS: usize = 50;

/// The pause before each save.
const SAVE_PAUSE: Duration = Duration::from_millis(100);

/// Opens this number of streams of a signed-in browser, saves, and prints when each stream had each event.
///
/// # Errors
/// The error of the failing step, also if a stream misses an event.
pub(super) fn measure(browser: &SignedIn<'_>, streams: usize) -> Result<()> {
    let server = browser.server;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| step_error("the streams cannot be read", error))?;
    let address: SocketAddr = server
        .url()
        .trim_start_matches("http://")
        .parse()
        .map_err(|error| step_error("the address of the server is not valid", error))?;
    let megabytes = || {
        let bytes = process_bytes(server.process_id(), "VmRSS:").unwrap_or_default();
        bytes as f64 / 1e6
    };
    let before = megabytes();
    let after = journal_end(browser)?;
    let request = |_| {
        format!(
            "GET /dashboard/w/{MAIN_WORKSPACE}/stream HTTP/1.1\r\nHost: {address}\r\nCookie: {}\r\n\r\n",
            browser.cookie
        )
    };
    let connections = runtime.block_on(open_streams(address, streams, request))?;
    let open = megabytes();
    let (commits, logs) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| save_slowly(browser));
        let logs = runtime.block_on(async {
            let (mut readers, mut logs) = (JoinSet::new(), Vec::new());
            for connection in connections {
                readers.spawn(read_stream(connection, after, STREAMED_EVENTS));
            }
            while let Some(log) = readers.join_next().await {
                logs.push(log.map_err(|error| step_error("a reader panicked", error))??);
            }
            Ok::<_, Error>(logs)
        });
        let panicked = |_| Err(Error::new(ErrorKind::Internal, "the writer panicked"));
        Ok::<_, Error>((writer.join().unwrap_or_else(panicked)?, logs?))
    })?;
    let millis = |commit: &Instant, received: &Instant| {
        super::super::millis(received.saturating_duration_since(*commit))
    };
    let each: Vec<Vec<f64>> = logs
        .iter()
        .map(|log| commits.iter().zip(&log.times).map(|(commit, at)| millis(commit, at)).collect())
        .collect();
    let last = (0..commits.len())
        .map(|event| each.iter().filter_map(|times| times.get(event).copied()).fold(0.0, f64::max));
    let last = last.collect();
    print_line(&format!(
        "\n{streams} streams of the pages; {STREAMED_EVENTS} memories saved, from the response of each"
    ));
    TimedStep::print_head();
    TimedStep::of("each stream has the event", each.concat()).print();
    TimedStep::of("the last stream has it", last).print();
    print_line(&format!(
        "the server has {before:.0} MB before, {open:.0} MB with the streams open, {:.0} MB at the end",
        megabytes()
    ));
    Ok(())
}

/// The sequence of the last event: that of a memory which is saved for it, since others may hide theirs.
fn journal_end(browser: &SignedIn<'_>) -> Result<usize> {
    let server = browser.server;
    let body = json!({"text": "Before the streams of the bench are opened"});
    server.call("POST", "/v1/memories", "streamer", MAIN_WORKSPACE, &body)?;
    let mut end = 0;
    loop {
        let path = format!("/v1/events?after={end}&limit=100");
        let (_, page) = server.call("GET", &path, "streamer", MAIN_WORKSPACE, &Value::Null)?;
        let last = page["items"].as_array().and_then(|items| items.last()?["sequence"].as_u64());
        match last.and_then(|last| usize::try_from(last).ok()) {
            Some(last) => end = last,
            None => return Ok(end),
        }
    }
}

/// Saves one memory after the other; returns the time of each response.
#[expect(clippy::disallowed_methods, reason = "the bench keeps a rate")]
fn save_slowly(browser: &SignedIn<'_>) -> Result<Vec<Instant>> {
    let mut commits = Vec::with_capacity(STREAMED_EVENTS);
    for number in 0..STREAMED_EVENTS {
        std::thread::sleep(SAVE_PAUSE);
        let body = json!({"text": format!("Stream event {number} of the bench")});
        let (status, answer) =
            browser.server.call("POST", "/v1/memories", "streamer", MAIN_WORKSPACE, &body)?;
        commits.push(Instant::now());
        if status != 201 {
            return Err(Error::new(ErrorKind::Unavailable, format!("{status}: {answer}")));
        }
    }
    Ok(commits)
}
