//! Sessions, and what has changed since, as people read them.

use commonbook::base::page::Page;
use commonbook::model::cursor::{ChangesResponse, ReadMark};
use commonbook::model::session::{
    EndSessionResult, Session, SessionDetails, SessionOutcome, StartSessionResult,
};
use serde_json::Value;

use super::case::entry;
use super::show::{memory_glance, print_quarantine_hint, show, table};
use crate::output::{print_line, print_note};

pub(super) fn show_started_session(answer: &Value) {
    show(answer, |started: &StartSessionResult| {
        let outcome = match started.outcome {
            SessionOutcome::Started => "Started",
            SessionOutcome::Found => "Found",
        };
        print_line(&format!("{outcome} {}", session_line(&started.session)));
    });
}

pub(super) fn session(answer: &Value) {
    show(answer, |session: &Session| print_line(&session_line(session)));
}

pub(super) fn show_ended_session(answer: &Value) {
    show(answer, |ended: &EndSessionResult| {
        print_line(&session_line(&ended.session));
        print_quarantine_hint(ended.hint.as_deref());
    });
}

fn session_line(session: &Session) -> String {
    let Session { id, agent, status, .. } = session;
    let case = session.case.as_ref().map(|case| format!(", on {case}"));
    format!("{id} of {agent} ({status}{})", case.unwrap_or_default())
}

pub(super) fn show_session_details(answer: &Value) {
    show(answer, |shown: &SessionDetails| {
        print_line(&session_line(&shown.session));
        for memory in &shown.memories {
            print_line(&format!(
                "{}  {}  {}",
                memory.id,
                memory.memory_type,
                memory_glance(memory)
            ));
        }
        let left = shown.memory_count.saturating_sub(shown.memories.len() as u64);
        if left > 0 {
            print_note(&format!("and {left} more: commonbook list --session {}", shown.session.id));
        }
    });
}

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Session>| {
        if page.items.is_empty() {
            print_line("No sessions here");
            return;
        }
        let rows = page.items.iter().map(|session| {
            vec![
                session.id.to_string(),
                session.agent.to_string(),
                session.status.to_string(),
                session.started_at.strftime("%F %H:%M").to_string(),
                session.touched_at.strftime("%F %H:%M").to_string(),
                session.case.as_ref().map(ToString::to_string).unwrap_or_default(),
            ]
        });
        print_line(&table(&["id", "agent", "status", "started", "last written", "case"], rows));
        if let Some(next) = &page.next {
            print_note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn changes(answer: &Value) {
    show(answer, |told: &ChangesResponse| {
        for change in &told.changes {
            let event = &change.event;
            let at = event.at.strftime("%F %T");
            print_line(&format!(
                "{at}  {} by {}: {}",
                event.kind.name(),
                event.actor,
                event.subject
            ));
            if let Some(says) = &change.says {
                print_line(&format!("   {}", says.replace('\n', "\n   ")));
            }
        }
        told.entries.iter().for_each(entry);
        told.set_apart.iter().for_each(|memory| print_quarantine_hint(Some(&memory.hint)));
        if told.changes.is_empty() && told.entries.is_empty() {
            print_line("Nothing new");
        }
        print_note(&format!("up to {}; {} left", told.through, told.left));
    });
}

pub(super) fn show_marked_cursor(answer: &Value) {
    show(answer, |marked: &ReadMark| {
        print_line(&format!("Read up to {} of {}", marked.position, marked.end));
    });
}
