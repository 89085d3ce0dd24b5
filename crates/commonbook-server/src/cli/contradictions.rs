//! Contradictions as people read them.

use commonbook::base::page::Page;
use commonbook::model::contradiction::{Contradiction, ContradictionSide};
use serde_json::Value;

use super::show::{show, table};
use crate::output::{print_line, print_note};

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Contradiction>| {
        if page.items.is_empty() {
            print_line("Nothing contradicts anything");
            return;
        }
        let rows = page.items.iter().flat_map(|found| {
            let [older, newer] = &found.memories;
            let (id, kind) = (found.id.to_string(), found.kind.to_string());
            let first = vec![id, kind, older.owner.to_string(), side_line(older)];
            let second =
                vec![String::new(), percent(found), newer.owner.to_string(), side_line(newer)];
            [first, second]
        });
        print_line(&table(&["contradiction", "kind", "agent", "says"], rows));
        print_note(
            "commonbook contradictions show ID; resolve ID keep_both --context \"…\", or keep_newer",
        );
        if let Some(next) = &page.next {
            print_note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn show_contradiction(answer: &Value) {
    show(answer, |found: &Contradiction| {
        print_line(&format!("{}: {}, {}, {}", found.id, found.status, found.kind, percent(found)));
        print_line(&format!("{}.", found.reason));
        for side in &found.memories {
            print_line(&format!("{} by {}, {}", side.id, side.owner, side.at.strftime("%F %H:%M")));
            print_line(&format!("  {}", side_line(side)));
        }
        if let Some(resolved) = &found.resolved {
            let (by, at) = (&resolved.resolved_by, resolved.resolved_at.strftime("%F %H:%M"));
            print_line(&format!("{by} resolved it with {}, {at}", resolved.resolution));
            if let Some(context) = &resolved.context {
                print_line(&format!("Both hold: {context}"));
            }
            if let Some(kept) = resolved.kept {
                print_line(&format!("What stands: {kept}"));
            }
        }
    });
}

/// What a memory says, in one line.
fn side_line(side: &ContradictionSide) -> String {
    let text = side.text.split_whitespace().collect::<Vec<_>>().join(" ");
    match &side.title {
        Some(title) => format!("{title}: {text}"),
        None => text,
    }
}

fn percent(found: &Contradiction) -> String {
    format!("{:.0} % sure", found.confidence * 100.0)
}
