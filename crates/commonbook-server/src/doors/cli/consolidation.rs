//! How people consolidate their memories: a progress bar, and what changed.

use std::sync::Arc;

use commonbook::Commonbook;
use commonbook::model::consolidation::{
    ConsolidationAction, ConsolidationItem, ConsolidationOutcome, ConsolidationResult,
};
use commonbook::verbs::names;
use serde_json::Value;

use super::layout::{short, show};
use crate::background::follow;
use crate::calls::output::{count_text, print_line, print_note};

/// The same Commonbook, with a progress bar if this verb consolidates. A reader that is no terminal
/// sees none.
pub(super) fn with_progress(verb: &str, book: Commonbook) -> Commonbook {
    if verb != names::CONSOLIDATE_MEMORY {
        return book;
    }
    let bar = follow::progress_bar(0, "consolidating");
    book.with_consolidation_observer(Arc::new(move |progress| {
        bar.set_message(progress.work);
        bar.set_length(progress.total.max(progress.done));
        bar.set_position(progress.done);
        if progress.work == "changing" && progress.done == progress.total {
            bar.finish_and_clear();
        }
    }))
}

pub(super) fn show_consolidation(response: &Value) {
    show(response, |result: &ConsolidationResult| {
        result.items.iter().for_each(print_item);
        for suggestion in &result.suggestions {
            let memory = short(&suggestion.memory);
            print_line(&format!("{}  {memory}  {}", suggestion.action, suggestion.reason));
        }
        match result.outcome {
            ConsolidationOutcome::Planned => {
                print_line(&figures(result));
                print_note(&match result.plan.as_deref().filter(|_| !result.items.is_empty()) {
                    None => "there is nothing to consolidate".to_owned(),
                    Some(plan) => format!(
                        "dry run: nothing was changed; `commonbook consolidate --plan {plan}` does it"
                    ),
                });
            }
            ConsolidationOutcome::Completed => {
                print_line(&figures(result));
                if let Some(operation) = &result.operation {
                    let operation = short(operation);
                    print_note(&format!(
                        "`commonbook consolidate --undo {operation}` reverses the change"
                    ));
                }
            }
            ConsolidationOutcome::Skipped => {
                print_line(&format!("Skipped: {}", result.reason.as_deref().unwrap_or_default()));
            }
            ConsolidationOutcome::Undone => {
                let changes = count_text(result.restored, "change", "changes");
                print_line(&format!("Reversed {changes}"));
            }
            ConsolidationOutcome::Suggested if result.suggestions.is_empty() => {
                print_note("no suggestions");
            }
            ConsolidationOutcome::Suggested => {}
        }
    });
}

fn print_item(item: &ConsolidationItem) {
    let ConsolidationItem { action, memory, into, session, reason } = item;
    let subject = memory.map(|id| short(&id)).or(session.map(|id| short(&id)));
    let subject = subject.unwrap_or_default();
    print_line(&match (action, into) {
        (ConsolidationAction::Merge, Some(into)) => {
            format!("{action}  {subject} into {}  {reason}", short(into))
        }
        _ if subject.is_empty() => format!("{action}  {reason}"),
        _ => format!("{action}  {subject}  {reason}"),
    });
}

fn figures(result: &ConsolidationResult) -> String {
    let ConsolidationResult { merged, archived, pruned, summarised, entities, seconds, .. } =
        result;
    let sessions = count_text(*summarised, "session", "sessions");
    let entities = match entities {
        0 => String::new(),
        _ => format!("{} joined, ", count_text(*entities, "entity", "entities")),
    };
    format!(
        "{merged} merged, {archived} archived, {pruned} pruned, {entities}{sessions} summarised \
         in {seconds} s"
    )
}
