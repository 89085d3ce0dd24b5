//! How people read checkpoints and resumed sessions.

use commonbook::model::checkpoint::{Checkpoint, ResumeSessionResult, SummariseResult};
use serde_json::Value;

use super::layout::{minute, print_table, short, show, show_page_or};
use super::lookup::ViewLookup;
use super::show::print_quarantine_hint;
use crate::calls::output::{print_line, print_note};

pub(super) fn show_new_checkpoint(response: &Value) {
    show(response, |checkpoint: &Checkpoint| print_line(&checkpoint_line(checkpoint)));
}

pub(super) fn show_deleted_checkpoint(response: &Value) {
    show(response, |checkpoint: &Checkpoint| {
        print_line(&format!("Deleted {}", checkpoint_line(checkpoint)));
    });
}

fn checkpoint_line(checkpoint: &Checkpoint) -> String {
    let Checkpoint { id, sequence, session, kind, .. } = checkpoint;
    format!("{}: {kind} checkpoint {sequence} of {}", short(id), short(session))
}

pub(super) fn show_summarised_checkpoint(response: &Value) {
    show(response, |summarised: &SummariseResult| {
        print_line(&format!("Saved the summary as {}", short(&summarised.summary)));
        print_line(&checkpoint_line(&summarised.checkpoint));
        print_quarantine_hint(summarised.hint.as_deref());
    });
}

pub(super) fn list(response: &Value, lookup: &ViewLookup<'_>) {
    let columns = ["id", "number", "kind", "created", "title"];
    let row = |checkpoint: &Checkpoint| {
        vec![
            short(&checkpoint.id),
            checkpoint.sequence.to_string(),
            checkpoint.kind.to_string(),
            minute(checkpoint.created_at),
            checkpoint.title.clone().unwrap_or_default(),
        ]
    };
    let empty = || {
        let next = "`commonbook checkpoint` creates one in a session";
        lookup.print_empty_with("No checkpoints", next);
    };
    show_page_or(response, empty, |items: &[Checkpoint]| {
        print_table(&columns, items.iter().map(row));
    });
}

pub(super) fn show_resumed_session(response: &Value) {
    show(response, |resumed: &ResumeSessionResult| {
        print_line(&resumed.text);
        print_note(&format!(
            "you now work in session {0}: type `commonbook session use {0}` once, or add \
             `--session {0}` to each command",
            short(&resumed.session.id)
        ));
    });
}
