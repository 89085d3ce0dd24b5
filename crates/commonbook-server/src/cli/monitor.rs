//! `monitor`: follows the journal at the command line, a line for each event, until it is told to end.
//!
//! It reads the store itself, whether a server runs or not: what a server writes is heard of like
//! what any other process writes.

use std::pin::pin;

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::base::{input, limits};
use commonbook::model::caller::Caller;
use commonbook::model::event::{Event, EventFilter, FollowEvents};
use commonbook::model::memory::GetMemory;
use tokio_util::sync::CancellationToken;

use super::show::memory_glance;
use crate::call::run_blocking;
use crate::output;
use crate::watch::watch_journals;

/// Follows the journal of the workspace: a line for each event as it happens, until Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct MonitorCommand {
    /// Begin after this sequence; at the present end of the journal by default
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<String>,
    /// Only events of these kinds: memory.saved, or 'memory.*' for all that begin so
    #[arg(long, value_name = "KIND")]
    events: Vec<String>,
    /// Only what is about one of these topics
    #[arg(long = "topic", value_name = "TOPIC")]
    topics: Vec<String>,
    /// Only what is about things that matter at least so much
    #[arg(long, value_name = "IMPORTANCE")]
    importance: Option<String>,
    /// Only what others did
    #[arg(long)]
    exclude_self: bool,
}

/// What was read of the journal.
struct MonitorPage {
    lines: Vec<String>,
    through: u64,
    more: bool,
}

impl MonitorCommand {
    /// Prints each event that the caller may see, until `stop` or until nobody reads any more.
    ///
    /// # Errors
    /// `invalid` for a filter that is none; `unavailable` when the store cannot be read or the
    /// output not be written.
    pub(crate) async fn run(
        self,
        book: Commonbook,
        caller: Caller,
        as_json: bool,
        stop: impl Future<Output = ()>,
    ) -> Result<()> {
        let asked = self.follow_request()?;
        let filter = asked.filter(&caller)?;
        let (book, watch) = watch_journals(book, CancellationToken::new());
        let mut grown = watch.of(&caller.workspace).await?;
        let mut stop = pin!(stop);
        let mut place = asked.after;
        loop {
            grown.mark_unchanged();
            let begins = place.is_none();
            let (book, who, filter) = (book.clone(), caller.clone(), filter.clone());
            let read =
                run_blocking(move || read_monitor_page(&book, &who, &filter, place, as_json));
            let read = tokio::select! { () = &mut stop => return Ok(()), read = read => read? };
            place = Some(read.through);
            if begins {
                output::print_note(&format!("following {}; Ctrl-C ends it", caller.workspace));
            }
            if !output::print_lines(&read.lines)? {
                return Ok(());
            }
            if !read.more {
                tokio::select! { () = &mut stop => return Ok(()), _ = grown.changed() => {} }
            }
        }
    }

    /// The request, made of the flags as REST makes it of a query string.
    fn follow_request(&self) -> Result<FollowEvents> {
        let one = |name: &str, value: &Option<String>| {
            value.iter().map(|value| (name.to_owned(), value.clone())).collect::<Vec<_>>()
        };
        let each = |name: &str, values: &[String]| {
            values.iter().map(|value| (name.to_owned(), value.clone())).collect::<Vec<_>>()
        };
        let mut pairs = one("after", &self.after);
        pairs.extend(one("importance", &self.importance));
        pairs.extend(each("events", &self.events));
        pairs.extend(each("topics", &self.topics));
        if self.exclude_self {
            pairs.push(("exclude_self".to_owned(), String::new()));
        }
        input::from_pairs(pairs)
    }
}

fn read_monitor_page(
    book: &Commonbook,
    caller: &Caller,
    filter: &EventFilter,
    place: Option<u64>,
    as_json: bool,
) -> Result<MonitorPage> {
    let followed = book.follow_events(caller, filter, place, limits::PAGE_MAX)?;
    let line = |event: &Event| match as_json {
        true => serde_json::to_string(event).unwrap_or_default(),
        false => event_line(book, caller, event),
    };
    let lines = followed.items.iter().map(line).collect();
    Ok(MonitorPage { lines, through: followed.through, more: followed.more })
}

/// An event as people read it, with the beginning of its memory as that is now, where it is in sight.
fn event_line(book: &Commonbook, caller: &Caller, event: &Event) -> String {
    let subject = event.subject.parse().ok();
    let memory = subject.and_then(|id| book.get_memory(caller, &GetMemory { id, at: None }).ok());
    let about = memory.as_ref().map(memory_glance).unwrap_or_default();
    let changed = match event.changed.is_empty() {
        true => String::new(),
        false => format!(" ({})", event.changed.join(", ")),
    };
    let line = format!(
        "{}  {:>5}  {:<18}  {}  {}{changed}  {about}",
        event.at.strftime("%F %T"),
        event.sequence,
        event.kind.name(),
        event.actor,
        event.subject,
    );
    line.trim_end().to_owned()
}
