//! How people read handoffs and the graph of who hands work to whom.

use commonbook::model::collaboration::{CollaborationOverview, CreateHandoffResult};
use commonbook::model::handoff::{AcceptHandoffResult, Handoff, HandoffReceipt, HandoffStepResult};
use serde_json::Value;

use super::layout::{minute, print_facts, print_table, second, show, show_table_page};
use crate::output::{count_text, print_line, print_note};

pub(super) fn show_new_handoff(response: &Value) {
    show(response, |created: &CreateHandoffResult| {
        print_line(&handoff_line(&created.handoff));
        print_line(&package_line(&created.handoff));
        if let Some(warning) = &created.warning {
            print_note(warning);
        }
    });
}

fn handoff_line(handoff: &Handoff) -> String {
    let Handoff { id, from, to, status, kind, depth, .. } = handoff;
    let chain = if *depth > 1 { format!(", number {depth} of its chain") } else { String::new() };
    format!("{id}: {status}, {kind}, from {from} to {to}{chain}")
}

fn package_line(handoff: &Handoff) -> String {
    let Handoff { memories, entities, tokens, .. } = handoff;
    let memories = count_text(memories.len() as u64, "memory", "memories");
    let entities = count_text(entities.len() as u64, "entity", "entities");
    format!("It carries {memories} and {entities}, {tokens} tokens in all")
}

pub(super) fn show_handoff_step(response: &Value) {
    show(response, |step: &HandoffStepResult| print_line(&handoff_line(&step.handoff)));
}

pub(super) fn show_accepted_handoff(response: &Value) {
    show(response, |accepted: &AcceptHandoffResult| print_line(&accepted.text));
}

pub(super) fn receipt(response: &Value) {
    show(response, |receipt: &HandoffReceipt| {
        let handoff = &receipt.handoff;
        print_line(&handoff_line(handoff));
        print_facts(&[
            ("task", handoff.task.clone()),
            ("created", second(handoff.created_at)),
            ("accepted", handoff.accepted_at.map(second).unwrap_or_default()),
            ("ended", handoff.ended_at.map(second).unwrap_or_default()),
            ("note", handoff.note.clone().unwrap_or_default()),
        ]);
        print_line(&package_line(handoff));
        let passed: Vec<_> = handoff
            .memories
            .iter()
            .map(|memory| {
                let (id, author) = (memory.id.to_string(), memory.author.to_string());
                vec![id, author, memory.why.to_string(), format!("{:.2}", memory.score)]
            })
            .collect();
        if !passed.is_empty() {
            print_table(&["memory", "author", "why", "score"], passed);
        }
        let left_out: Vec<_> = receipt
            .left_out
            .iter()
            .map(|memory| {
                let (id, reason) = (memory.id.to_string(), memory.reason.to_string());
                vec![id, reason, format!("{:.2}", memory.score)]
            })
            .collect();
        if !left_out.is_empty() {
            print_table(&["left out", "reason", "score"], left_out);
        }
    });
}

pub(super) fn list(response: &Value) {
    let columns = ["id", "from", "to", "status", "created", "task"];
    show_table_page(response, "No handoffs", &columns, |handoff: &Handoff| {
        vec![
            handoff.id.to_string(),
            handoff.from.to_string(),
            handoff.to.to_string(),
            handoff.status.to_string(),
            minute(handoff.created_at),
            handoff.task.lines().next().unwrap_or_default().to_owned(),
        ]
    });
}

pub(super) fn graph(response: &Value) {
    show(response, |graph: &CollaborationOverview| match graph.statistics.count {
        0 => print_line("No handoffs"),
        _ => print_line(graph.drawing.trim_end()),
    });
}
