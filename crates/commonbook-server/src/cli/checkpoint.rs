//! Checkpoints, and what is resumed from them, as people read them.

use commonbook::base::page::Page;
use commonbook::model::checkpoint::{Checkpoint, ResumedSession, Summarised};
use serde_json::Value;

use super::show::{set_apart, show, table};
use crate::output::{line, note};

pub(super) fn made(answer: &Value) {
    show(answer, |made: &Checkpoint| line(&told(made)));
}

fn told(made: &Checkpoint) -> String {
    let Checkpoint { id, sequence, session, kind, .. } = made;
    format!("{id}: {kind} checkpoint {sequence} of {session}")
}

pub(super) fn summarised(answer: &Value) {
    show(answer, |summarised: &Summarised| {
        line(&format!("Summed up as {}", summarised.summary));
        line(&told(&summarised.checkpoint));
        set_apart(summarised.hint.as_deref());
    });
}

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Checkpoint>| {
        if page.items.is_empty() {
            line("No checkpoints here");
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
        line(&table(&["id", "number", "kind", "made", "title"], rows));
    });
}

pub(super) fn resumed(answer: &Value) {
    show(answer, |resumed: &ResumedSession| {
        line(&resumed.text);
        note(&format!("you work in {} now: send --session with it", resumed.session.id));
    });
}
