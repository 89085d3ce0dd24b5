//! How people read standing memory files and their versions.

use commonbook::model::agent::Agent;
use commonbook::model::caller::Caller;
use commonbook::model::standing::{
    AgreedFile, StandingAgreement, StandingEdit, StandingEdits, StandingHistory, StandingList,
    StandingPage, StandingPreview, StandingRoute, StandingSummary, file_of_role,
};
use commonbook::verbs::names;
use serde_json::{Map, Value};

use super::layout::{beginning, minute, print_table, show};
use crate::calls::output::{count_text, print_line, print_note};
use crate::calls::verb::Verb;

/// Characters of a changed line: two lines of a terminal of 80 columns hold a version's head and
/// one change.
const CHANGE_CHARS_MAX: usize = 74;

/// Changed lines that a version shows of each kind.
const CHANGES_SHOWN_MAX: usize = 3;

/// Whether a request is about the files of the caller's project, on this machine.
pub(super) fn stays_here(verb: &Verb, caller: &Caller, request: &Map<String, Value>) -> bool {
    verb.name == names::AGREE_STANDING || verb.is_on_files && is_in_project(caller, request)
}

/// Whether the project of the caller has a file of its own for the role of a request. It comes
/// before the file of a server elsewhere, as in contexts.
fn is_in_project(caller: &Caller, request: &Map<String, Value>) -> bool {
    let role = request.get("role").and_then(Value::as_str).unwrap_or_default();
    let Ok(agent) = Agent::with_any_name(role) else { return false };
    let everywhere = request.get("everywhere").and_then(Value::as_bool).unwrap_or_default();
    let Some(project) = caller.project.as_ref().filter(|_| !everywhere) else { return false };
    let entries = std::fs::read_dir(project.join(".commonbook").join("memories"));
    let names = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let names: Vec<String> = names.collect();
    file_of_role(names.iter().map(String::as_str), agent.role()).is_some()
}

pub(super) fn list(response: &Value) {
    show(response, |list: &StandingList| {
        if list.items.is_empty() {
            return print_line(
                "No standing memory files; `commonbook memory init ROLE` creates one",
            );
        }
        let row = |StandingSummary { info, limits, .. }: &StandingSummary| {
            vec![
                info.role.clone(),
                format!("{} of {}", info.items, limits.items),
                format!("{} of {}", info.bytes, limits.bytes),
                info.version.to_string(),
                info.file.clone(),
            ]
        };
        print_table(&["role", "items", "bytes", "version", "file"], list.items.iter().map(row));
        for StandingSummary { info, over, .. } in &list.items {
            over.iter().for_each(|over| print_note(&format!("warning: {}: {over}", info.role)));
        }
    });
}

pub(super) fn show_preview(response: &Value) {
    show(response, |preview: &StandingPreview| {
        print_line(&preview.text);
        let StandingPreview { tokens, budget, left_out, .. } = preview;
        print_line(&format!("{tokens} of {budget} tokens; {left_out} items left out"));
    });
}

pub(super) fn show_agreement(response: &Value) {
    show(response, |agreement: &StandingAgreement| {
        if agreement.items.is_empty() {
            return print_line("No standing memory file of this project waits for an agreement");
        }
        for AgreedFile { file, text, added, removed, .. } in &agreement.items {
            print_note(&format!("{file}:"));
            print_line(text.trim());
            if !added.is_empty() || !removed.is_empty() {
                print_note("changed since the last agreement:");
                print_changes(added, removed, usize::MAX);
            }
        }
        print_note("Agents receive this as the project's data, until a file changes.");
    });
}

pub(super) fn page(response: &Value) {
    show(response, |page: &StandingPage| {
        let StandingPage { info, text } = page;
        let items = count_text(info.items as u64, "item", "items");
        print_note(&format!("{}, version {}, {items}", info.file, info.version));
        print_line(text.trim_end());
    });
}

pub(super) fn show_edit(response: &Value) {
    show(response, print_edit);
}

pub(super) fn show_edits(response: &Value) {
    show(response, |edits: &StandingEdits| edits.items.iter().for_each(print_edit));
}

fn print_edit(edit: &StandingEdit) {
    let StandingEdit { info, changed, repeats, warnings, .. } = edit;
    match (repeats, changed) {
        (Some(item), _) => print_line(&format!("{} has this already: {item}", info.file)),
        (None, false) => print_line(&format!("{} needs no change", info.file)),
        (None, true) => print_line(&format!("{} has version {} now", info.file, info.version)),
    }
    print_changes(&edit.added, &edit.removed, usize::MAX);
    warnings.iter().for_each(|warning| print_note(&format!("warning: {warning}")));
}

fn print_changes(added: &[String], removed: &[String], shown_max: usize) {
    for (mark, lines) in [('+', added), ('-', removed)] {
        for line in lines.iter().take(shown_max) {
            print_line(&format!("  {mark} {}", beginning(line, CHANGE_CHARS_MAX)));
        }
        if lines.len() > shown_max {
            let more = count_text((lines.len() - shown_max) as u64, "line", "lines");
            print_line(&format!("  {mark} … {more} more"));
        }
    }
}

pub(super) fn history(response: &Value) {
    show(response, |history: &StandingHistory| {
        for version in &history.items {
            let by = version.by.as_ref().map_or("an editor", Agent::as_str);
            let (number, at, action) = (version.version, minute(version.at), version.action);
            print_line(&format!("{number}  {at}  {action} by {by}, {} bytes", version.bytes));
            print_changes(&version.added, &version.removed, CHANGES_SHOWN_MAX);
        }
        let role = &history.role;
        print_note(&format!("`commonbook memory restore {role} VERSION` restores a version"));
    });
}

pub(super) fn show_route(response: &Value) {
    show(response, |route: &StandingRoute| match &route.role {
        Some(role) => {
            let words = route.words.join(", ");
            print_line(&format!("{role} (score {:.2}, by {words})", route.score));
        }
        None => print_line("No role fits this text"),
    });
}
