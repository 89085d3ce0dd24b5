//! Contradictions as people read them.

use commonbook::base::page::Page;
use commonbook::model::contradiction::{Contradiction, Side};
use serde_json::Value;

use super::show::{show, table};
use crate::output::{line, note};

pub(super) fn list(answer: &Value) {
    show(answer, |page: &Page<Contradiction>| {
        if page.items.is_empty() {
            line("Nothing contradicts anything");
            return;
        }
        let rows = page.items.iter().flat_map(|found| {
            let [older, newer] = &found.memories;
            let (id, kind) = (found.id.to_string(), found.kind.to_string());
            let first = vec![id, kind, older.owner.to_string(), said(older)];
            let second = vec![String::new(), percent(found), newer.owner.to_string(), said(newer)];
            [first, second]
        });
        line(&table(&["contradiction", "kind", "agent", "says"], rows));
        note(
            "commonbook contradictions show ID; resolve ID keep_both --context \"…\", or keep_newer",
        );
        if let Some(next) = &page.next {
            note(&format!("more: --cursor {next}"));
        }
    });
}

pub(super) fn one(answer: &Value) {
    show(answer, |found: &Contradiction| {
        line(&format!("{}: {}, {}, {}", found.id, found.status, found.kind, percent(found)));
        line(&format!("{}.", found.reason));
        for side in &found.memories {
            line(&format!("{} by {}, {}", side.id, side.owner, side.at.strftime("%F %H:%M")));
            line(&format!("  {}", said(side)));
        }
        if let Some(resolved) = &found.resolved {
            let (by, at) = (&resolved.resolved_by, resolved.resolved_at.strftime("%F %H:%M"));
            line(&format!("{by} resolved it with {}, {at}", resolved.resolution));
            if let Some(context) = &resolved.context {
                line(&format!("Both hold: {context}"));
            }
            if let Some(kept) = resolved.kept {
                line(&format!("What stands: {kept}"));
            }
        }
    });
}

/// What a memory says, in one line.
fn said(side: &Side) -> String {
    let text = side.text.split_whitespace().collect::<Vec<_>>().join(" ");
    match &side.title {
        Some(title) => format!("{title}: {text}"),
        None => text,
    }
}

fn percent(found: &Contradiction) -> String {
    format!("{:.0} % sure", found.confidence * 100.0)
}
