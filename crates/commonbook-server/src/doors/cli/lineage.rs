//! How people read what has changed under a write, and what waits for its owner because of that.

use commonbook::model::lineage::{OutdatedItem, OutdatedReview, StaleMemory};
use commonbook::model::memory::MemoryChangeKind;
use serde_json::Value;

use super::layout::{minute, one_line, print_record, short, show, show_page};
use crate::calls::output::{print_line, print_note};

/// Warns of what a write rests on and has changed.
pub(super) fn print_stale(stale: &[StaleMemory]) {
    for change in stale {
        let by = change.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        let other = match (change.change, change.successor) {
            (_, None) => String::new(),
            (MemoryChangeKind::Contradicted, Some(other)) => format!(" in {}", short(&other)),
            (_, Some(heir)) => format!(", {} holds now", short(&heir)),
        };
        let text = change.text.as_deref().map(|text| format!(": {}", one_line(text)));
        print_note(&format!(
            "stale: {} was {}{by} since you received it{other}{}",
            short(&change.memory),
            change.change,
            text.unwrap_or_default()
        ));
    }
}

pub(super) fn list(response: &Value) {
    show_page(response, "Nothing waits for your review", |items: &[OutdatedItem]| {
        for item in items {
            let memory = item.memory.as_ref().map(short).unwrap_or_default();
            let path: Vec<String> = item.path.iter().map(short).collect();
            let facts = [
                short(&item.id),
                format!("{memory} was {} by {}", item.change, item.by),
                path.join(" → "),
                minute(item.at),
            ];
            print_record(&one_line(item.text.as_deref().unwrap_or_default()), &facts);
        }
        print_note("`commonbook outdated acknowledge ID` says that an item still holds");
    });
}

pub(super) fn show_acknowledged(response: &Value) {
    show(response, |review: &OutdatedReview| {
        print_line(&format!("{} holds", short(&review.id)));
    });
}
