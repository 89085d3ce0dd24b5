//! `monitor`: follows the journal until Ctrl-C: in panes on a terminal, else one line for each event.
//!
//! It reads the store itself, whether a server runs or not: it sees the writes of a server as it
//! sees those of any other process. If the memories are at a URL, it reads the stream of that server.

mod draw;
mod panes;
mod state;
mod work;

use std::io::IsTerminal;
use std::pin::pin;
use std::sync::mpsc::{Sender, channel};

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::{input, limits, thread};
use commonbook::model::caller::Caller;
use commonbook::model::event::{
    Event, EventBatch, EventFilter, FollowEvents, JournalHistory, ResumeToken,
};
use commonbook::model::stats::WorkspaceStats;
use commonbook::verbs::names;
use commonbook_text::sanitize::visible_json;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use self::state::{MonitorInput, ShownEvent};
use super::describe::event_words;
use super::layout::{second, short};
use super::lookup::{VerbCall, ViewLookup};
use crate::calls::call::run_blocking;
use crate::calls::words::LOST_EVENTS_NOTE;
use crate::calls::{output, verb};
use crate::clients::remote::rest::COMMAND_TIMEOUT;
use crate::clients::remote::{RemoteEvents, RestClient, ServerAddress};
use crate::http::watch::watch_journals;

/// Events from before that the panes begin with, about.
const EARLIER_EVENTS: u64 = 500;

/// Follows the journal of the workspace until Ctrl-C: on a terminal in panes with the agents at work and
/// the open work beside the events, else one line for each event.
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
    /// Print lines on a terminal too
    #[arg(long)]
    plain: bool,
}

/// Where the memories are that a monitor follows.
#[derive(Clone)]
pub(crate) enum MonitorTarget {
    /// In the home.
    Home(Box<Commonbook>),
    /// On a server.
    Server(ServerAddress),
}

impl MonitorTarget {
    /// Calls a verb there; `None` if it fails.
    fn call(&self, caller: &Caller, verb: &str, request: Value) -> Option<Value> {
        match self {
            Self::Home(book) => verb::find(verb)?.call.run(book, caller, request).ok(),
            Self::Server(address) => {
                let server = RestClient::new(address.clone(), COMMAND_TIMEOUT);
                server.call_named(verb, caller, request).ok()
            }
        }
    }
}

/// Where a monitor shows what it reads.
#[derive(Clone)]
enum MonitorOutput {
    /// On standard output, a line for each event.
    Lines { as_json: bool },
    /// In panes.
    Panes(Sender<MonitorInput>),
}

impl MonitorOutput {
    /// Whether it shows events in words.
    fn is_in_words(&self) -> bool {
        !matches!(self, Self::Lines { as_json: true })
    }

    /// Shows these events; returns `false` if nobody reads them any more.
    fn show(&self, events: Vec<ShownEvent>) -> Result<bool> {
        match self {
            Self::Lines { as_json } => {
                let line = |shown: &ShownEvent| match as_json {
                    true => output::json_line(&shown.event),
                    false => event_line(shown),
                };
                output::print_lines(&events.iter().map(line).collect::<Vec<_>>())
            }
            Self::Panes(inputs) => {
                let mut events =
                    events.into_iter().map(|shown| MonitorInput::Event(Box::new(shown)));
                Ok(events.all(|event| inputs.send(event).is_ok()))
            }
        }
    }

    /// Tells the person something about the connection.
    fn note(&self, text: String) {
        match self {
            Self::Lines { .. } => output::print_note(&text),
            // The panes may have ended.
            Self::Panes(inputs) => drop(inputs.send(MonitorInput::Note(text))),
        }
    }

    /// Says that events are followed from now on.
    fn note_begin(&self, caller: &Caller) {
        if let Self::Lines { .. } = self {
            self.note(format!("following {}; Ctrl-C stops", caller.workspace));
        }
    }
}

/// The next events of the journal, in words if they are shown in words.
struct MonitorPage {
    events: Vec<ShownEvent>,
    through: u64,
    more: bool,
    history: JournalHistory,
    end: u64,
}

impl MonitorCommand {
    /// Shows each event that the caller may see, until `stop`, until the reader closes the pipe, or until
    /// the person quits.
    ///
    /// # Errors
    /// `invalid` if a filter is not valid; `unavailable` if the store cannot be read, the server does not
    /// answer at first, or the output cannot be written; the error of the server.
    pub(crate) async fn run(
        self,
        target: MonitorTarget,
        caller: Caller,
        as_json: bool,
        stop: impl Future<Output = ()>,
    ) -> Result<()> {
        let is_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
        if self.plain || as_json || !is_terminal {
            let lines = MonitorOutput::Lines { as_json };
            return self.follow(target, caller, lines, stop).await;
        }
        // Before the panes take the terminal.
        self.follow_request()?.filter(&caller)?;
        let (inputs, received) = channel();
        let _polling = work::poll_in_background(target.clone(), caller.clone(), inputs.clone())?;
        let (reader, keys, quit) = (caller.clone(), inputs.clone(), inputs.clone());
        let view = run_blocking(move || panes::show(&reader, keys, &received));
        let mut view = pin!(view);
        let followed = self.follow(target, caller, MonitorOutput::Panes(inputs), stop);
        let ended = tokio::select! {
            shown = &mut view => return shown,
            ended = followed => ended,
        };
        // The panes may have ended meanwhile.
        drop(quit.send(MonitorInput::Quit));
        view.await.and(ended)
    }

    async fn follow(
        self,
        target: MonitorTarget,
        caller: Caller,
        output: MonitorOutput,
        stop: impl Future<Output = ()>,
    ) -> Result<()> {
        match target {
            MonitorTarget::Home(book) => self.follow_home(*book, caller, output, stop).await,
            MonitorTarget::Server(address) => {
                let (sender, ended) = tokio::sync::oneshot::channel();
                // The thread ends with the program: a read cannot be interrupted.
                let follow =
                    move || drop(sender.send(self.follow_server(address, &caller, &output)));
                thread::start(follow)?;
                tokio::select! {
                    () = stop => Ok(()),
                    ended = ended => ended.unwrap_or_else(|_| {
                        Err(Error::new(ErrorKind::Internal, "the monitor has ended"))
                    }),
                }
            }
        }
    }

    async fn follow_home(
        self,
        book: Commonbook,
        caller: Caller,
        output: MonitorOutput,
        stop: impl Future<Output = ()>,
    ) -> Result<()> {
        let request = self.follow_request()?;
        let filter = request.filter(&caller)?;
        let (book, watch) = watch_journals(book, CancellationToken::new());
        let mut grown = watch.of(&caller.workspace).await?;
        let mut stop = pin!(stop);
        let earlier = earlier_position(&output, *grown.borrow());
        let mut offset = request.after.or(earlier);
        let mut place = ResumeToken { sequence: offset.unwrap_or_default(), history: None };
        loop {
            grown.mark_unchanged();
            let is_first = offset.is_none();
            let (book, reader, filter) = (book.clone(), caller.clone(), filter.clone());
            let in_words = output.is_in_words();
            let page =
                run_blocking(move || read_monitor_page(&book, &reader, &filter, offset, in_words));
            let page = tokio::select! { () = &mut stop => return Ok(()), page = page => page? };
            offset = Some(page.through);
            if is_first {
                output.note_begin(&caller);
            } else if place.is_lost(&page.history, page.end) {
                output.note(LOST_EVENTS_NOTE.to_owned());
            }
            place = ResumeToken::new(page.through, &page.history);
            if !output.show(page.events)? {
                return Ok(());
            }
            if !page.more {
                tokio::select! { () = &mut stop => return Ok(()), _ = grown.changed() => {} }
            }
        }
    }

    /// Shows each event of a server, as [`Self::follow_home`] does, also after a loss of the connection.
    fn follow_server(
        mut self,
        address: ServerAddress,
        caller: &Caller,
        output: &MonitorOutput,
    ) -> Result<()> {
        let server = RestClient::new(address.clone(), COMMAND_TIMEOUT);
        let call = |caller: &Caller, verb: &str, request: Value| {
            server.call_named(verb, caller, request).ok()
        };
        if self.after.is_none() && matches!(output, MonitorOutput::Panes(_)) {
            let stats = server.call_named(names::GET_MEMORY_STATS, caller, json!({}))?;
            let stats: WorkspaceStats = input::from_value(stats)?;
            self.after = earlier_position(output, stats.events).map(|after| after.to_string());
        }
        let mut events = RemoteEvents::open(address, caller, &self.query())?;
        output.note_begin(caller);
        loop {
            let json = events.next_event(|note| output.note(note))?;
            let is_shown = match serde_json::from_str::<Event>(&json) {
                Ok(event) => {
                    output.show(vec![shown_event(event, output.is_in_words(), caller, &call)])?
                }
                // A server of another version may have kinds that are unknown here.
                Err(_) if matches!(output, MonitorOutput::Lines { .. }) => {
                    output::print_lines(&[visible_json(&json).into_owned()])?
                }
                Err(_) => true,
            };
            if !is_shown {
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

/// The position after which panes begin, in a journal with this end; lines begin at the end.
fn earlier_position(output: &MonitorOutput, end: u64) -> Option<u64> {
    matches!(output, MonitorOutput::Panes(_)).then(|| end.saturating_sub(EARLIER_EVENTS))
}

fn read_monitor_page(
    book: &Commonbook,
    caller: &Caller,
    filter: &EventFilter,
    offset: Option<u64>,
    in_words: bool,
) -> Result<MonitorPage> {
    let followed = book.follow_events(caller, filter, offset, limits::PAGE_MAX)?;
    let call = |caller: &Caller, verb: &str, request: Value| {
        verb::find(verb)?.call.run(book, caller, request).ok()
    };
    let shown = |event| shown_event(event, in_words, caller, &call);
    let events = followed.items.into_iter().map(shown).collect();
    let EventBatch { through, more, history, end, .. } = followed;
    Ok(MonitorPage { events, through, more, history, end })
}

fn shown_event(event: Event, in_words: bool, caller: &Caller, call: &VerbCall<'_>) -> ShownEvent {
    let lookup = ViewLookup { caller, request: &Map::new(), call, config: None };
    let words = if in_words { event_words(&event, None, &lookup) } else { String::new() };
    ShownEvent { event, words }
}

/// An event on one line, in words.
fn event_line(ShownEvent { event, words }: &ShownEvent) -> String {
    format!(
        "{}  {:>5}  {words}  ({} {})",
        second(event.at),
        event.sequence,
        event.kind.name(),
        short(&event.subject),
    )
}
