//! Sessions, and what has changed since, as people read them.

use commonbook::base::page::Page;
use commonbook::model::cursor::{Changes, Marked};
use commonbook::model::session::{
    EndedSession, Session, SessionOutcome, SessionShown, StartedSession,
};
use serde_json::Value;

use super::case::entry;
use super::show::{glance, set_apart, show, table};
use crate::output::{line, note};

pub(super) fn started(answer: &Value) {
    show(answer, |started: &StartedSession| {
        let outcome = match started.outcome {
            SessionOutcome::Started => "Started",
            SessionOutcome::Found => "Found",
        };
        line(&format!("{outcome} {}", told(&started.session)));
    });
}

pub(super) fn session(answer: &Value) {
    show(answer, |session: &Session| line(&told(session)));
}

pub(super) fn ended(answer: &Value) {
    show(answer, |ended: &EndedSession| {
        line(&told(&ended.session));
        set_apart(ended.hint.as_deref());
    });
}

fn told(session: &Session) -> String {
    let Session { id, agent, status, .. } = session;
    let case = session.case.as_ref().map(|case| format!(", on {case}"));
    format!("{id} of {agent} ({status}{})", case.unwrap_or_default())
}

pub(super) fn shown(answer: &Value) {
    show(answer, |shown: &SessionShown| {
        line(&told(&shown.session));
        for memory in &shown.memories {
            line(&format!("{}  {}  {}", memory.id, memory.memory_type, glance(memory)));
        }
        let left = shown.memory_count.saturating_sub(shown.memories.len() as u64);
        if left > 0 {
            note(&format!("and {left} more: commonbook list --session {}", shown.session.id));
        }
    });
}

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Session>| {
        if page.items.is_empty() {
            line("No sessions here");
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
        line(&table(&["id", "agent", "status", "started", "last written", "case"], rows));
        if let Some(next) = &page.next {
            note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn changes(answer: &Value) {
    show(answer, |told: &Changes| {
        for change in &told.changes {
            let event = &change.event;
            let at = event.at.strftime("%F %T");
            line(&format!("{at}  {} by {}: {}", event.kind.name(), event.actor, event.subject));
            if let Some(says) = &change.says {
                line(&format!("   {}", says.replace('\n', "\n   ")));
            }
        }
        told.entries.iter().for_each(entry);
        told.set_apart.iter().for_each(|memory| set_apart(Some(&memory.hint)));
        if told.changes.is_empty() && told.entries.is_empty() {
            line("Nothing new");
        }
        note(&format!("up to {}; {} left", told.through, told.left));
    });
}

pub(super) fn marked(answer: &Value) {
    show(answer, |marked: &Marked| {
        line(&format!("Read up to {} of {}", marked.position, marked.end));
    });
}
