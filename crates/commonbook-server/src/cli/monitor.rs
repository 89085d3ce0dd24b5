//! `monitor`: follows the journal on the command line, one line for each event, until Ctrl-C.
//!
//! It reads the store itself, whether a server runs or not: it sees the writes of a server as it
//! sees those of any other process. If the memories are at a URL, it reads the stream of that server.

use std::pin::pin;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::{input, limits};
use commonbook::model::caller::Caller;
use commonbook::model::event::{Event, EventFilter, FollowEvents};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::describe::event_words;
use super::layout::{second, short};
use super::lookup::{VerbCall, ViewLookup};
use crate::call::run_blocking;
use crate::remote::rest::COMMAND_TIMEOUT;
use crate::remote::{RemoteEvents, RestClient, ServerAddress};
use crate::watch::watch_journals;
use crate::{output, verb};

/// Follows the journal of the workspace: prints one line for each event until Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct MonitorCommand {
    /// Sequence to start after; the end of the journal by default
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<String>,
    /// Kind of event to show: memory.saved, or 'memory.*' for all kinds with this prefix; repeatable
    #[arg(long = "event", alias = "events", value_name = "KIND")]
    events: Vec<String>,
    /// Topic of the events to show; repeatable
    #[arg(long = "topic", value_name = "TOPIC")]
    topics: Vec<String>,
    /// Lowest importance to show: low, normal, high or critical
    #[arg(long, value_name = "IMPORTANCE")]
    importance: Option<String>,
    /// Hide your own events
    #[arg(long)]
    exclude_self: bool,
}

/// A page of the journal as printed lines.
struct MonitorPage {
    lines: Vec<String>,
    through: u64,
    more: bool,
}

impl MonitorCommand {
    /// Prints each event that the caller may see, until `stop` or until the reader closes the pipe.
    ///
    /// # Errors
    /// `invalid` if a filter is not valid; `unavailable` if the store cannot be read or the output
    /// cannot be written.
    pub(crate) async fn run(
        self,
        book: Commonbook,
        caller: Caller,
        as_json: bool,
        stop: impl Future<Output = ()>,
    ) -> Result<()> {
        let request = self.follow_request()?;
        let filter = request.filter(&caller)?;
        let (book, watch) = watch_journals(book, CancellationToken::new());
        let mut grown = watch.of(&caller.workspace).await?;
        let mut stop = pin!(stop);
        let mut offset = request.after;
        loop {
            grown.mark_unchanged();
            let is_first = offset.is_none();
            let (book, reader, filter) = (book.clone(), caller.clone(), filter.clone());
            let page =
                run_blocking(move || read_monitor_page(&book, &reader, &filter, offset, as_json));
            let page = tokio::select! { () = &mut stop => return Ok(()), page = page => page? };
            offset = Some(page.through);
            if is_first {
                output::print_note(&format!("following {}; Ctrl-C stops", caller.workspace));
            }
            if !output::print_lines(&page.lines)? {
                return Ok(());
            }
            if !page.more {
                tokio::select! { () = &mut stop => return Ok(()), _ = grown.changed() => {} }
            }
        }
    }

    /// Prints each event of a server, as [`Self::run`] does, also after a loss of the connection.
    ///
    /// # Errors
    /// The error of the server; `unavailable` if it does not answer at first, or if the output cannot
    /// be written.
    pub(crate) async fn run_at_server(
        self,
        address: ServerAddress,
        caller: Caller,
        as_json: bool,
        stop: impl Future<Output = ()>,
    ) -> Result<()> {
        let (sender, ended) = tokio::sync::oneshot::channel();
        // The thread ends with the program: a read cannot be interrupted.
        std::thread::spawn(move || {
            drop(sender.send(self.print_events(address, &caller, as_json)));
        });
        tokio::select! {
            () = stop => Ok(()),
            ended = ended => ended.unwrap_or_else(|_| {
                Err(Error::new(ErrorKind::Internal, "the monitor has ended"))
            }),
        }
    }

    fn print_events(&self, address: ServerAddress, caller: &Caller, as_json: bool) -> Result<()> {
        let server = RestClient::new(address.clone(), COMMAND_TIMEOUT);
        let call = |caller: &Caller, verb: &str, request: Value| {
            server.call_named(verb, caller, request).ok()
        };
        let mut events = RemoteEvents::open(address, caller, &self.query())?;
        output::print_note(&format!("following {}; Ctrl-C stops", caller.workspace));
        loop {
            let json = events.next_event(|error| {
                output::print_note(&format!("{error}; connecting again"));
            })?;
            let event = serde_json::from_str::<Event>(&json).ok().filter(|_| !as_json);
            let line = event.map_or(json, |event| event_line(&event, caller, &call));
            if !output::print_lines(&[line])? {
                return Ok(());
            }
        }
    }

    /// The request.
    fn follow_request(&self) -> Result<FollowEvents> {
        input::from_pairs(self.query())
    }

    /// The flags as REST reads them from a query string.
    fn query(&self) -> Vec<(String, String)> {
        let pairs = |name: &str, values: &[String]| {
            values.iter().map(|value| (name.to_owned(), value.clone())).collect::<Vec<_>>()
        };
        let mut pairs = [
            pairs("after", self.after.as_slice()),
            pairs("importance", self.importance.as_slice()),
            pairs("events", &self.events),
            pairs("topics", &self.topics),
        ]
        .concat();
        if self.exclude_self {
            pairs.push(("exclude_self".to_owned(), "true".to_owned()));
        }
        pairs
    }
}

fn read_monitor_page(
    book: &Commonbook,
    caller: &Caller,
    filter: &EventFilter,
    offset: Option<u64>,
    as_json: bool,
) -> Result<MonitorPage> {
    let followed = book.follow_events(caller, filter, offset, limits::PAGE_MAX)?;
    let call = |caller: &Caller, verb: &str, request: Value| {
        verb::find(verb)?.call.run(book, caller, request).ok()
    };
    let line = |event: &Event| match as_json {
        true => serde_json::to_string(event).unwrap_or_default(),
        false => event_line(event, caller, &call),
    };
    let lines = followed.items.iter().map(line).collect();
    Ok(MonitorPage { lines, through: followed.through, more: followed.more })
}

/// An event on one line, in words.
fn event_line(event: &Event, caller: &Caller, call: &VerbCall<'_>) -> String {
    let lookup = ViewLookup { caller, request: &Map::new(), call, config: None };
    format!(
        "{}  {:>5}  {}  ({} {})",
        second(event.at),
        event.sequence,
        event_words(event, None, &lookup),
        event.kind.name(),
        short(&event.subject),
    )
}
