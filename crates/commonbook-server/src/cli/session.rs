//! How people read sessions and changes.

use commonbook::model::cursor::{ChangesResponse, ReadMark};
use commonbook::model::memory::Memory;
use commonbook::model::session::{
    EndSessionResult, Session, SessionDetails, SessionOutcome, StartSessionResult,
};
use serde_json::Value;

use super::case::entry;
use super::layout::{minute, second, show, show_table_page};
use super::show::{memory_glance, print_quarantine_hint};
use crate::output::{print_line, print_note};

pub(super) fn show_started_session(response: &Value) {
    show(response, |started: &StartSessionResult| {
        let outcome = match started.outcome {
            SessionOutcome::Started => "Started",
            SessionOutcome::Found => "Found",
        };
        print_line(&format!("{outcome} {}", session_line(&started.session)));
    });
}

pub(super) fn session(response: &Value) {
    show(response, |session: &Session| print_line(&session_line(session)));
}

pub(super) fn show_ended_session(response: &Value) {
    show(response, |ended: &EndSessionResult| {
        print_line(&session_line(&ended.session));
        print_quarantine_hint(ended.hint.as_deref());
    });
}

fn session_line(session: &Session) -> String {
    let Session { id, agent, status, .. } = session;
    let case = session.case.as_ref().map(|case| format!(", on {case}"));
    format!("{id} of {agent} ({status}{})", case.unwrap_or_default())
}

pub(super) fn show_session_details(response: &Value) {
    show(response, |details: &SessionDetails| {
        print_line(&session_line(&details.session));
        for memory in &details.memories {
            let Memory { id, memory_type, .. } = memory;
            print_line(&format!("{id}  {memory_type}  {}", memory_glance(memory)));
        }
        let hidden = details.memory_count.saturating_sub(details.memories.len() as u64);
        if hidden > 0 {
            let id = &details.session.id;
            print_note(&format!("and {hidden} more: commonbook list --session {id}"));
        }
    });
}

pub(super) fn list(response: &Value) {
    let columns = ["id", "agent", "status", "started", "last written", "case"];
    show_table_page(response, "No sessions", &columns, |session: &Session| {
        vec![
            session.id.to_string(),
            session.agent.to_string(),
            session.status.to_string(),
            minute(session.started_at),
            minute(session.touched_at),
            session.case.as_ref().map(ToString::to_string).unwrap_or_default(),
        ]
    });
}

pub(super) fn changes(response: &Value) {
    show(response, |changes: &ChangesResponse| {
        for change in &changes.changes {
            let event = &change.event;
            let (at, kind) = (second(event.at), event.kind.name());
            print_line(&format!("{at}  {kind} by {}: {}", event.actor, event.subject));
            if let Some(text) = &change.says {
                print_line(&format!("   {}", text.replace('\n', "\n   ")));
            }
        }
        changes.entries.iter().for_each(entry);
        changes.quarantined.iter().for_each(|memory| print_quarantine_hint(Some(&memory.hint)));
        if changes.changes.is_empty() && changes.entries.is_empty() {
            print_line("No changes");
        }
        print_note(&format!("up to {}; {} left", changes.through, changes.left));
    });
}

pub(super) fn show_marked_cursor(response: &Value) {
    show(response, |mark: &ReadMark| {
        print_line(&format!("Marked as read up to {} of {}", mark.position, mark.end));
    });
}
