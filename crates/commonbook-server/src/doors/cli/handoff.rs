//! How people read handoffs and the graph of who hands work to whom.

use std::borrow::Cow;

use commonbook::base::page::Page;
use commonbook::model::collaboration::{CollaborationOverview, CreateHandoffResult};
use commonbook::model::handoff::choose::MemoryExclusion;
use commonbook::model::handoff::{
    AcceptHandoffResult, ChainLink, Handoff, HandoffCycle, HandoffReceipt, HandoffStatus,
    HandoffStepResult, PassedNote,
};
use commonbook::model::memory::MemoryChange;
use commonbook::verbs::names;
use commonbook_text::headline::headline;
use serde_json::{Value, json};

use super::flag_name;
use super::layout::{
    minute, print_facts, print_next_page, print_record, print_table, second, short, show,
};
use super::lineage::print_stale;
use super::lookup::ViewLookup;
use crate::calls::hint::{HintDoor, translate};
use crate::calls::output::{count_text, print_line, print_note};
use crate::calls::words::{beginning, transfer};

pub(super) fn show_new_handoff(response: &Value) {
    show(response, |created: &CreateHandoffResult| {
        match created.dry_run {
            true => {
                print_note("This is a dry run: nothing was handed over");
                print_line(&transfer(&created.handoff));
            }
            false => print_handoff(&created.handoff),
        }
        print_stale(&created.stale);
        print_line(&package_line(&created.handoff));
        print_notes("goes along", &created.along, created.handoff.memories.len());
        print_notes("stays behind", &created.behind, created.behind.len());
        if let Some(warning) = &created.warning {
            print_note(warning);
        }
        if let Some(hint) = &created.hint {
            let hint = with_flags(hint);
            let door = HintDoor::CommandLine("commonbook handoff create");
            print_note(&translate(&hint, door));
        }
    });
}

/// Fields of `create_handoff` that hints name.
const HINTED_FIELDS: [&str; 6] =
    ["memories", "budget", "context", "decisions_made", "next_steps", "active_files"];

/// A hint with the flag of each field that it names: the library names fields.
fn with_flags(hint: &str) -> String {
    let parts = hint.split('`').map(|part| match part {
        "memories" => "--memory ID".to_owned(),
        field if HINTED_FIELDS.contains(&field) => format!("--{}", flag_name(field)),
        "task" => "TASK".to_owned(),
        part => part.to_owned(),
    });
    let hint = parts.collect::<Vec<_>>().join("`");
    hint.replace("in `--memory ID`", "with `--memory ID`")
}

fn print_handoff(handoff: &Handoff) {
    let Handoff { id, status, kind, depth, created_at, expires_at, .. } = handoff;
    let chain = if *depth > 1 { format!("number {depth} of its chain") } else { String::new() };
    let position = handoff.position.map(|place| format!("number {place} in the queue"));
    let waits =
        (*status == HandoffStatus::Pending).then(|| format!("expires {}", minute(*expires_at)));
    let facts = [
        short(id),
        status.to_string(),
        kind.to_string(),
        minute(*created_at),
        waits.unwrap_or_default(),
        chain,
        position.unwrap_or_default(),
    ];
    print_record(&transfer(handoff), &facts);
}

fn package_line(handoff: &Handoff) -> String {
    let Handoff { memories, entities, tokens, .. } = handoff;
    let headlines = memories.iter().filter(|memory| memory.headline).count();
    let in_full = count_text((memories.len() - headlines) as u64, "memory", "memories");
    let headlines = count_text(headlines as u64, "headline", "headlines");
    let entities = count_text(entities.len() as u64, "entity", "entities");
    format!("It carries {in_full} in full, {headlines} and {entities}, {tokens} tokens in all")
}

pub(super) fn show_handoff_step(response: &Value) {
    show(response, |step: &HandoffStepResult| {
        print_handoff(&step.handoff);
        print_stale(&step.stale);
    });
}

pub(super) fn show_accepted_handoff(response: &Value) {
    show(response, |accepted: &AcceptHandoffResult| {
        print_line(&with_next_command(&accepted.text));
    });
}

/// The text of a handoff with the command of its next step, which is the last line inside the fence: what
/// was recorded stands before it, in quotes.
fn with_next_command(text: &str) -> String {
    let mut lines: Vec<Cow<'_, str>> = text.lines().map(Cow::Borrowed).collect();
    let next_step = lines.len().checked_sub(2).and_then(|index| lines.get_mut(index));
    if let Some(line) = next_step.filter(|line| !line.starts_with('>')) {
        *line = translate(line, HintDoor::CommandLine("commonbook handoff accept")).into();
    }
    lines.join("\n")
}

/// Characters of a result that a line tells.
const RESULT_CHARS: usize = 300;

/// Says on standard error how handoffs of the caller have ended.
pub(super) fn print_ended(ended: &[Handoff]) {
    for handoff in ended {
        let Handoff { id, to, task, status, note, .. } = handoff;
        let (id, result) =
            (short(id), beginning(note.as_deref().unwrap_or_default(), RESULT_CHARS));
        let result = if result.is_empty() { result } else { format!(": {result}") };
        print_note(&format!("{to} {status} your handoff {id}, {}{result}", headline(task)));
        if result.ends_with('…') {
            print_note(&format!("`commonbook handoff show {id}` tells the whole result"));
        }
    }
}

pub(super) fn receipt(response: &Value) {
    show(response, |receipt: &HandoffReceipt| {
        let handoff = &receipt.handoff;
        print_handoff(handoff);
        print_facts(&[
            ("id", handoff.id.to_string()),
            ("task", handoff.task.clone()),
            ("role", handoff.role.as_ref().map(ToString::to_string).unwrap_or_default()),
            ("cycle", handoff.cycle.as_ref().map(HandoffCycle::cycle_text).unwrap_or_default()),
            ("accepted", handoff.accepted_at.map(second).unwrap_or_default()),
            ("ended", handoff.ended_at.map(second).unwrap_or_default()),
            ("note", handoff.note.clone().unwrap_or_default()),
        ]);
        print_line(&package_line(handoff));
        print_passed(handoff);
        print_left_out(&receipt.left_out);
        print_changed(&receipt.changed);
        let earlier: Vec<_> = receipt.earlier.iter().map(earlier_row).collect();
        if !earlier.is_empty() {
            print_table(&["earlier", "from", "to", "task", "result"], earlier);
        }
    });
}

/// An earlier handoff of the chain as a row.
fn earlier_row(link: &ChainLink) -> Vec<String> {
    let note = link.note.as_deref().unwrap_or_default();
    vec![
        short(&link.handoff),
        link.from.to_string(),
        link.to.to_string(),
        headline(&link.task),
        headline(note),
    ]
}

/// Memories of which these are the first, with the words by which a reader recognises them.
fn print_notes(heading: &str, notes: &[PassedNote], count: usize) {
    if notes.is_empty() {
        return;
    }
    let rows: Vec<_> = notes
        .iter()
        .map(|note| {
            let told = if note.headline { "headline" } else { "" };
            vec![short(&note.id), note.author.to_string(), told.to_owned(), note.says.clone()]
        })
        .collect();
    print_table(&[heading, "author", "", "says"], rows);
    if count > notes.len() {
        print_line(&format!("… and {} more", count - notes.len()));
    }
}

/// The memories that go along.
fn print_passed(handoff: &Handoff) {
    let passed = handoff.memories.iter().map(|memory| {
        let (id, author) = (short(&memory.id), memory.author.to_string());
        let told = if memory.headline { "headline" } else { "in full" };
        vec![id, author, memory.why.to_string(), format!("{:.2}", memory.score), told.to_owned()]
    });
    let passed: Vec<_> = passed.collect();
    if !passed.is_empty() {
        print_table(&["memory", "author", "why", "score", "told"], passed);
    }
}

/// The memories that stay, and why.
fn print_left_out(left_out: &[MemoryExclusion]) {
    let left_out = left_out.iter().map(|memory| {
        let (id, reason) = (short(&memory.id), memory.reason.to_string());
        vec![id, format!("{:.2}", memory.score), reason]
    });
    let left_out: Vec<_> = left_out.collect();
    if !left_out.is_empty() {
        print_table(&["left out", "score", "reason"], left_out);
    }
}

/// The memories that are not as they were when the handoff was created.
fn print_changed(changed: &[MemoryChange]) {
    let changed = changed.iter().map(|memory| {
        let by = memory.by.as_ref().map(short).unwrap_or_default();
        vec![short(&memory.id), memory.change.to_string(), by]
    });
    let changed: Vec<_> = changed.collect();
    if !changed.is_empty() {
        print_table(&["changed since", "how", "by"], changed);
    }
}

pub(super) fn list(response: &Value, lookup: &ViewLookup<'_>) {
    show(response, |page: &Page<Handoff>| {
        if page.items.is_empty() {
            lookup.print_empty_with(
                "No handoffs",
                "`commonbook handoff create AGENT TASK` hands work over",
            );
            let all = json!({"side": "all", "limit": 1});
            let all: Option<Page<Handoff>> = lookup.get(names::LIST_HANDOFFS, all);
            if all.is_some_and(|all| !all.items.is_empty()) {
                print_note("`--side all` lists the handoffs between all agents");
            }
        }
        page.items.iter().for_each(print_handoff);
        print_next_page("--cursor", page.next.as_ref());
    });
}

pub(super) fn graph(response: &Value) {
    show(response, |graph: &CollaborationOverview| match graph.statistics.count {
        0 => print_line("No handoffs"),
        _ => print_line(graph.drawing.trim_end()),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_names_a_command_and_recorded_text_stays() {
        let text = "<b>\n> Call complete_handoff now\nCall complete_handoff when it is done.\n</b>";
        let expected = "<b>\n> Call complete_handoff now\nCall `commonbook handoff complete` when it is \
                        done.\n</b>";
        assert_eq!(with_next_command(text), expected);
        let quoted = "<b>\n> Call complete_handoff now\n</b>";
        assert_eq!(with_next_command(quoted), quoted);
    }
}
