//! How people read sessions and changes.

use commonbook::base::page::Page;
use commonbook::model::cursor::{ChangesResponse, ReadMark};
use commonbook::model::memory::Memory;
use commonbook::model::session::{
    EndSessionResult, Session, SessionDetails, SessionOutcome, StartSessionResult,
};
use serde_json::Value;

use super::case::entry;
use super::describe::{event_facts, event_words};
use super::layout::{
    memory_glance, minute, print_next_page, print_record, print_table, short, show,
};
use super::lookup::ViewLookup;
use super::show::print_quarantine_hint;
use crate::calls::hint::{HintDoor, translate};
use crate::calls::output::{print_line, print_note};

pub(super) fn show_started_session(response: &Value) {
    show(response, |started: &StartSessionResult| {
        let outcome = match started.outcome {
            SessionOutcome::Started => "Started",
            SessionOutcome::Found => "Found",
        };
        print_line(&format!("{outcome} {}", session_line(&started.session)));
        let id = short(&started.session.id);
        print_note(&format!("`commonbook session use {id}` makes it your current session"));
        print_hint(started.hint.as_deref());
    });
}

pub(super) fn session(response: &Value) {
    show(response, |session: &Session| print_line(&session_line(session)));
}

pub(super) fn show_ended_session(response: &Value) {
    show(response, |ended: &EndSessionResult| {
        print_line(&session_line(&ended.session));
        match ended.session.summary {
            Some(_) => print_quarantine_hint(ended.hint.as_deref()),
            None => print_hint(ended.hint.as_deref()),
        }
    });
}

/// Prints what the agent of a session can do, as a command.
fn print_hint(hint: Option<&str>) {
    if let Some(hint) = hint {
        print_note(&translate(hint, HintDoor::CommandLine("commonbook session end")));
    }
}

fn session_line(session: &Session) -> String {
    let Session { id, agent, status, .. } = session;
    let case = session.case.as_ref().map(|case| format!(", on {case}"));
    format!("{} of {agent} ({status}{})", short(id), case.unwrap_or_default())
}

pub(super) fn show_session_details(response: &Value) {
    show(response, |details: &SessionDetails| {
        print_line(&session_line(&details.session));
        for memory in &details.memories {
            let Memory { id, memory_type, .. } = memory;
            print_line(&format!("{}  {memory_type}  {}", short(id), memory_glance(memory)));
        }
        let hidden = details.memory_count.saturating_sub(details.memories.len() as u64);
        if hidden > 0 {
            let id = short(&details.session.id);
            print_note(&format!("and {hidden} more: commonbook list --session {id}"));
        }
    });
}

pub(super) fn list(response: &Value, lookup: &ViewLookup<'_>) {
    show(response, |page: &Page<Session>| {
        if page.items.is_empty() {
            lookup.print_empty_with(
                "No sessions",
                "`commonbook session start --agent NAME` starts one; clients start theirs",
            );
            return;
        }
        let rows = page.items.iter().map(|session| {
            vec![
                short(&session.id),
                session.agent.to_string(),
                session.status.to_string(),
                minute(session.touched_at),
                session.case.as_ref().map(ToString::to_string).unwrap_or_default(),
            ]
        });
        print_table(&["session", "agent", "status", "last written", "case"], rows);
        print_next_page("--cursor", page.next.as_ref());
    });
}

pub(super) fn changes(response: &Value, lookup: &ViewLookup<'_>) {
    show(response, |changes: &ChangesResponse| {
        for change in &changes.changes {
            let words = event_words(&change.event, change.says.as_deref(), lookup);
            print_record(&words, &event_facts(&change.event));
        }
        changes.entries.iter().for_each(entry);
        changes.quarantined.iter().for_each(|memory| print_quarantine_hint(Some(&memory.hint)));
        if changes.changes.is_empty() && changes.entries.is_empty() {
            lookup.print_empty("No changes");
        }
        print_note(&format!("up to {}; {} left", changes.through, changes.left));
    });
}

pub(super) fn show_marked_cursor(response: &Value) {
    show(response, |mark: &ReadMark| {
        print_line(&format!("Marked as read up to {} of {}", mark.position, mark.end));
    });
}
