//! Checkpoints, and what is resumed from them, as people read them.

use commonbook::base::page::Page;
use commonbook::model::checkpoint::{Checkpoint, ResumeSessionResult, SummariseResult};
use serde_json::Value;

use super::show::{print_quarantine_hint, show, table};
use crate::output::{print_line, print_note};

pub(super) fn show_new_checkpoint(answer: &Value) {
    show(answer, |made: &Checkpoint| print_line(&checkpoint_line(made)));
}

fn checkpoint_line(made: &Checkpoint) -> String {
    let Checkpoint { id, sequence, session, kind, .. } = made;
    format!("{id}: {kind} checkpoint {sequence} of {session}")
}

pub(super) fn show_summarised_checkpoint(answer: &Value) {
    show(answer, |summarised: &SummariseResult| {
        print_line(&format!("Summed up as {}", summarised.summary));
        print_line(&checkpoint_line(&summarised.checkpoint));
        print_quarantine_hint(summarised.hint.as_deref());
    });
}

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Checkpoint>| {
        if page.items.is_empty() {
            print_line("No checkpoints here");
            return;
        }
        let rows = page.items.iter().map(|made| {
            vec![
                made.id.to_string(),
                made.sequence.to_string(),
                made.kind.to_string(),
                made.created_at.strftime("%F %H:%M").to_string(),
                made.title.clone().unwrap_or_default(),
            ]
        });
        print_line(&table(&["id", "number", "kind", "made", "title"], rows));
    });
}

pub(super) fn show_resumed_session(answer: &Value) {
    show(answer, |resumed: &ResumeSessionResult| {
        print_line(&resumed.text);
        print_note(&format!("you work in {} now: send --session with it", resumed.session.id));
    });
}
