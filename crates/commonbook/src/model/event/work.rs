//! The details of an event that says what an agent received: stored with every item, and shown to each
//! reader with those items alone that it may see.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Event;
use crate::model::access::{Sight, WorkVisibility};

/// The field of the stored details that lists the items. No reader is shown it.
const ITEMS_FIELD: &str = "items";

/// The field that counts all candidates of a context, which its agent alone sees.
const CANDIDATE_COUNT_FIELD: &str = "candidate_count";

/// An item that an agent received, as the details store it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ItemFigures {
    /// Its id.
    pub(crate) id: String,
    /// Bytes of its text.
    pub(crate) bytes: u64,
    /// Tokens of its text, with its head.
    pub(crate) tokens: u64,
}

/// The details that store these items.
pub(crate) fn work_details(items: &[ItemFigures], further: &[(&str, Value)]) -> Map<String, Value> {
    let items = (ITEMS_FIELD.to_owned(), json!(items));
    let further = further.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    further.chain([items]).collect()
}

/// The items in stored details; `None` if they list none, as those of earlier versions.
pub(crate) fn work_items(details: &Map<String, Value>) -> Option<Vec<ItemFigures>> {
    serde_json::from_value(details.get(ITEMS_FIELD)?.clone()).ok()
}

/// The event with the ids and figures of those items that this sight sees.
pub(crate) fn narrowed(event: &Event, sight: &Sight, work: &WorkVisibility) -> Event {
    let items = work_items(&event.details).unwrap_or_default();
    let sees = |item: &&ItemFigures| {
        let known = work.items.iter().find(|known| known.id == item.id);
        known.is_some_and(|known| sight.sees_item(&known.visibility))
    };
    let seen: Vec<&ItemFigures> = items.iter().filter(sees).collect();
    let mut details = event.details.clone();
    details.remove(ITEMS_FIELD);
    if event.actor != sight.agent {
        details.remove(CANDIDATE_COUNT_FIELD);
    }
    insert_figures(&mut details, &seen);
    Event { details, ..event.clone() }
}

/// Details with the ids and figures of all their items.
pub(super) fn unnarrowed(details: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = details.clone();
    if let Some(items) = work_items(details) {
        shown.remove(ITEMS_FIELD);
        insert_figures(&mut shown, &items.iter().collect::<Vec<_>>());
    }
    shown
}

fn insert_figures(details: &mut Map<String, Value>, items: &[&ItemFigures]) {
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    details.insert("ids".to_owned(), json!(ids));
    details.insert("bytes".to_owned(), json!(items.iter().map(|item| item.bytes).sum::<u64>()));
    details.insert("tokens".to_owned(), json!(items.iter().map(|item| item.tokens).sum::<u64>()));
}
