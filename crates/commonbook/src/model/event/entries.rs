//! The details of an event that says what was appended to a case: stored as positions, and shown to
//! each reader with the entries that it may see.

use serde_json::{Map, Value, json};

use super::{Event, EventKind};
use crate::base::id::MemoryId;
use crate::model::access::{AppendedEntry, Sight};
use crate::model::memory::Trust;

/// The first and the last position in stored details; `None` if they have none, as those of earlier
/// versions.
pub(crate) fn appended_positions(details: &Map<String, Value>) -> Option<(u64, u64)> {
    Some((details.get("first")?.as_u64()?, details.get("last")?.as_u64()?))
}

/// The event with its entries as this sight sees them. Quarantined text is shown to nobody.
pub(crate) fn with_entries(event: &Event, sight: &Sight, entries: &[AppendedEntry]) -> Event {
    let entry = |entry: &AppendedEntry| {
        let AppendedEntry { id, position, kind, summary, visibility } = entry;
        let visible = visibility.as_ref().is_some_and(|visibility| {
            visibility.trust != Trust::Quarantined && sight.can_see(visibility)
        });
        match visible {
            true => json!({"position": position, "entry_id": id, "kind": kind, "summary": summary}),
            false => json!({"position": position, "withheld": true}),
        }
    };
    let mut details = event.details.clone();
    details.insert("entries".to_owned(), entries.iter().map(entry).collect());
    Event { details, ..event.clone() }
}

/// The entries that an event says its case got, as far as the reader sees them.
pub(crate) fn appended_ids(event: &Event) -> Vec<MemoryId> {
    let entries = event.details.get("entries").filter(|_| event.kind == EventKind::CaseAppended);
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| MemoryId::parse(entry["entry_id"].as_str()?)).collect()
}
