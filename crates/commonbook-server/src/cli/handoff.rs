//! Handoffs and who hands work to whom, as people read them.

use commonbook::base::page::Page;
use commonbook::model::collaboration::{CollaborationOverview, CreateHandoffResult};
use commonbook::model::handoff::{AcceptHandoffResult, Handoff, HandoffReceipt, HandoffStepResult};
use serde_json::Value;

use super::show::{show, table};
use crate::output::{count_text, print_line, print_note};

pub(super) fn show_new_handoff(answer: &Value) {
    show(answer, |created: &CreateHandoffResult| {
        print_line(&handoff_line(&created.handoff));
        package_summary(&created.handoff);
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

fn package_summary(handoff: &Handoff) {
    let Handoff { memories, entities, tokens, .. } = handoff;
    let memories = count_text(memories.len() as u64, "memory", "memories");
    let entities = count_text(entities.len() as u64, "entity", "entities");
    print_line(&format!("Along: {memories}, {entities}; {tokens} tokens in all"));
}

pub(super) fn show_handoff_step(answer: &Value) {
    show(answer, |stepped: &HandoffStepResult| print_line(&handoff_line(&stepped.handoff)));
}

pub(super) fn show_accepted_handoff(answer: &Value) {
    show(answer, |accepted: &AcceptHandoffResult| print_line(&accepted.text));
}

pub(super) fn receipt(answer: &Value) {
    show(answer, |receipt: &HandoffReceipt| {
        let handoff = &receipt.handoff;
        print_line(&handoff_line(handoff));
        print_line(&format!("Task: {}", handoff.task));
        let times = [
            ("made", Some(handoff.created_at)),
            ("accepted", handoff.accepted_at),
            ("ended", handoff.ended_at),
        ];
        for (what, at) in times {
            if let Some(at) = at {
                print_line(&format!("{what} {}", at.strftime("%F %H:%M:%S UTC")));
            }
        }
        if let Some(note) = &handoff.note {
            print_line(&format!("Note: {note}"));
        }
        package_summary(handoff);
        let passed = handoff.memories.iter().map(|memory| {
            let (id, author) = (memory.id.to_string(), memory.author.to_string());
            vec![id, author, memory.why.to_string(), format!("{:.2}", memory.score)]
        });
        let passed: Vec<_> = passed.collect();
        if !passed.is_empty() {
            print_line(&table(&["memory", "author", "why", "score"], passed.into_iter()));
        }
        let left_out = receipt.left_out.iter();
        let left_out = left_out.map(|left| {
            vec![left.id.to_string(), left.reason.to_string(), format!("{:.2}", left.score)]
        });
        let left_out: Vec<_> = left_out.collect();
        if !left_out.is_empty() {
            print_line(&table(&["left out", "reason", "score"], left_out.into_iter()));
        }
    });
}

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Handoff>| {
        if page.items.is_empty() {
            print_line("No handoffs here");
            return;
        }
        let rows = page.items.iter().map(|handoff| {
            vec![
                handoff.id.to_string(),
                handoff.from.to_string(),
                handoff.to.to_string(),
                handoff.status.to_string(),
                handoff.created_at.strftime("%F %H:%M").to_string(),
                handoff.task.lines().next().unwrap_or_default().to_owned(),
            ]
        });
        print_line(&table(&["id", "from", "to", "status", "made", "task"], rows));
    });
}

pub(super) fn graph(answer: &Value) {
    show(answer, |graph: &CollaborationOverview| match graph.statistics.count {
        0 => print_line("No handoffs here"),
        _ => print_line(graph.drawing.trim_end()),
    });
}
