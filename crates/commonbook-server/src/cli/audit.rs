//! `audit`: who did what, when and from where, read from the journal page by page.

use std::io::IsTerminal;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::caller::Caller;
use commonbook::model::event::{Event, EventPage, ListEvents};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::describe::{event_words, origin_words};
use super::layout::{second, short};
use super::local_days::in_local_days;
use super::lookup::{VerbCall, ViewLookup};
use crate::output;

/// Shows who did what, when and from where: every event of the workspace's journal that you may see and
/// the filters select, oldest first. On a terminal in words; in a pipe, or with --json, one line of JSON
/// for each event.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditCommand {
    /// Agent whose acts to show, with those of the agents below it; here it does not name you
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Name of the agent you act as [env: COMMONBOOK_AGENT_ID] [default: anonymous]
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
        let in_words = std::io::stdout().is_terminal() && !as_json;
        let look_up =
            |caller: &Caller, verb: &str, request: Value| call(caller, verb, request).ok();
        let mut request = self.request().with_fixed_times(now)?;
        let mut is_empty = true;
        loop {
            let asked = serde_json::to_value(&request).map_err(unreadable_page)?;
            let page = call(caller, "list_events", asked)?;
            let EventPage { items, next, .. } =
                serde_json::from_value(page).map_err(unreadable_page)?;
            let line = |event: &Event| match in_words {
                true => audit_line(event, caller, &look_up),
                false => output::json_line(event),
            };
            let lines: Vec<String> = items.iter().map(line).collect();
            is_empty &= lines.is_empty();
            if !output::print_lines(&lines)? {
                return Ok(());
            }
            match next {
                Some(next) => request.after = next,
                None if is_empty => {
                    output::print_note(&format!("no event in {} fits", caller.workspace));
                    return Ok(());
                }
                None => return Ok(()),
            }
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
