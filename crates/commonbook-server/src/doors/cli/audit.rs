//! `audit`: who did what, when and from where, read from the journals page by page.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::caller::Caller;
use commonbook::model::event::{Event, EventPage, ListEvents};
use commonbook::model::workspace::Workspace;
use commonbook::verbs::names;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::describe::{event_words, origin_words};
use super::layout::{second, short};
use super::local_days::in_local_days;
use super::lookup::{VerbCall, ViewLookup};
use crate::calls::output;

/// Events of a journal that are read at a time.
const AUDIT_EVENTS_MAX: u32 = 1_000;

/// The delay between two looks at a journal that is followed.
const FOLLOW_DELAY: Duration = Duration::from_secs(1);

/// Shows who did what, when and from where: every event of the workspace's journal that you may see and
/// the filters select, oldest first. On a terminal in words; in a pipe, or with --json, one line of JSON
/// for each event.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditCommand {
    /// Agent whose acts to show, with those of the agents below it; here it does not name you
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Name of the agent you act as [env: COMMONBOOK_AGENT_ID] [default: `human` at a terminal]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) own_name: Option<String>,
    /// Time of the first act to show: a time, a date, or an age such as 7d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Time of the last act to show
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Id of what the acts are about, the end of one, or the key of a case
    #[arg(long, value_name = "ID")]
    subject: Option<String>,
    /// Kind of act to show: memory.saved, or 'memory.*' for all kinds with this prefix; repeatable
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<String>,
    /// Sequence of the event to start after
    #[arg(long, value_name = "SEQUENCE", default_value_t = 0)]
    after: u64,
    /// Show the events of every workspace of the home, of private memories too, without topics: for the
    /// person whose home it is
    #[arg(long, conflicts_with_all = ["agent", "own_name", "until", "subject", "kinds", "after"])]
    pub(crate) all_workspaces: bool,
    /// Go on with each new event until you stop the command
    #[arg(long, conflicts_with = "until")]
    follow: bool,
}

impl AuditCommand {
    /// Prints the events of each page that `call` returns for `list_events`.
    ///
    /// # Errors
    /// `invalid` if a filter is not valid; the error of `call`; `unavailable` if the output cannot be
    /// written.
    pub(crate) fn run(
        &self,
        call: impl Fn(&Caller, &str, Value) -> Result<Value>,
        caller: &Caller,
        now: Timestamp,
        as_json: bool,
    ) -> Result<()> {
        let look_up =
            |caller: &Caller, verb: &str, request: Value| call(caller, verb, request).ok();
        let line = |event: &Event| match in_words(as_json) {
            true => audit_line(event, caller, &look_up),
            false => output::json_line(event),
        };
        let mut request = self.request().with_fixed_times(now)?;
        let mut is_empty = true;
        loop {
            let asked = serde_json::to_value(&request).map_err(unreadable_page)?;
            let page = call(caller, names::LIST_EVENTS, asked)?;
            let EventPage { items, next, .. } =
                serde_json::from_value(page).map_err(unreadable_page)?;
            let lines: Vec<String> = items.iter().map(line).collect();
            is_empty &= lines.is_empty();
            if !output::print_lines(&lines)? {
                return Ok(());
            }
            let last = items.last().map_or(request.after, |event| event.sequence);
            match next {
                Some(next) => request.after = next,
                None if self.follow => {
                    request.after = last;
                    wait();
                }
                None if is_empty => {
                    output::print_note(&format!("no event in {} fits", caller.workspace));
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
    }

    /// Prints every event of the home, workspace by workspace, each in the order of its journal.
    ///
    /// # Errors
    /// `invalid` if the time is not valid; `unavailable` if the store cannot be read or the output cannot be
    /// written.
    pub(crate) fn run_all(
        &self,
        book: &Commonbook,
        caller: &Caller,
        now: Timestamp,
        as_json: bool,
    ) -> Result<()> {
        let since = self.request().with_fixed_times(now)?.since;
        let since: Option<Timestamp> = since.and_then(|time| time.parse().ok());
        let line = |event: &Event| match in_words(as_json) {
            true => format!("{}: {}", event.workspace, audit_line(event, caller, &|_, _, _| None)),
            false => output::json_line(event),
        };
        let mut positions: BTreeMap<Workspace, u64> = BTreeMap::new();
        loop {
            for (workspace, end) in book.journal_ends()? {
                // A journal that is shorter than before is that of a store that was restored.
                let position = match positions.entry(workspace.clone()) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(match since {
                        Some(time) => book.position_before(&workspace, time)?,
                        None => 0,
                    }),
                };
                *position = end.min(*position);
                while *position < end {
                    let events = book.audit_events(&workspace, *position, AUDIT_EVENTS_MAX)?;
                    *position = events.last().map_or(end, |event| event.sequence);
                    let lines: Vec<String> = events.iter().map(line).collect();
                    if !output::print_lines(&lines)? {
                        return Ok(());
                    }
                }
            }
            if !self.follow {
                return Ok(());
            }
            wait();
        }
    }

    fn request(&self) -> ListEvents {
        ListEvents {
            after: self.after,
            limit: Some(limits::PAGE_MAX),
            events: self.kinds.clone(),
            actor: self.agent.clone(),
            subject: self.subject.clone(),
            since: self.since.clone().map(|text| in_local_days("since", text)),
            until: self.until.clone().map(|text| in_local_days("until", text)),
            ..ListEvents::default()
        }
    }
}

/// Whether events are shown in words.
fn in_words(as_json: bool) -> bool {
    std::io::stdout().is_terminal() && !as_json
}

/// Waits until the next look at a journal: nobody sends.
fn wait() {
    let (_sender, nothing) = mpsc::channel::<()>();
    let _ = nothing.recv_timeout(FOLLOW_DELAY);
}

/// An event on one line: when, who did what, from where, and what finds it again.
fn audit_line(event: &Event, caller: &Caller, call: &VerbCall<'_>) -> String {
    let lookup = ViewLookup { caller, request: &Map::new(), call, config: None };
    let origin = match origin_words(event) {
        origin if origin.is_empty() => origin,
        origin => format!("; {origin}"),
    };
    format!(
        "{}  {:>5}  {}  ({} {}{origin})",
        second(event.at),
        event.sequence,
        event_words(event, None, &lookup),
        event.kind.name(),
        short(&event.subject),
    )
}

fn unreadable_page(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, "a page of events cannot be read").with_cause(error)
}

#[cfg(test)]
mod tests {
    use commonbook::model::caller::EntryPoint;
    use commonbook::model::workspace::Workspace;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_says_who_did_what_and_from_where() {
        let event: Event = serde_json::from_value(json!({
            "sequence": 7, "workspace": "x", "at": "2026-11-23T12:00:00Z", "kind": "memory.saved",
            "actor": "ann", "device": "jarvis", "client": "editor/2", "door": "mcp",
            "subject": "mem_01m7y9c4dpeqkspxh7a865d434", "importance": "normal",
        }))
        .unwrap();
        let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Cli);
        let line = audit_line(&event, &caller, &|_, _, _| None);
        let expected = "    7  ann saved a memory  (memory.saved a865d434; on jarvis, with editor/2, over mcp)";
        assert!(line.ends_with(expected), "{line}");
        let bare = Event { device: None, client: None, door: None, ..event };
        let line = audit_line(&bare, &caller, &|_, _, _| None);
        assert!(line.ends_with("  ann saved a memory  (memory.saved a865d434)"), "{line}");
    }
}
