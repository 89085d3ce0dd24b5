//! Handles: the short endings of ids by which agents name what they read.

use std::collections::HashMap;

use crate::base::error::{Error, Result};
use crate::base::id::{Id, IdKind, IdOrHandle, MemoryId, MemoryKind, handle, handle_of_length};
use crate::model::access::Sight;
use crate::store::Transaction;

/// Ids with the same ending that are compared, and shown where a handle fits several.
const SAME_ENDING_MAX: u32 = 20;

/// The handles of these memories that need more than six letters, because the
/// reader sees another memory with the same ending; by id.
pub(in crate::verbs) fn memory_handles(
    tx: &dyn Transaction,
    sight: &Sight,
    ids: impl IntoIterator<Item = MemoryId>,
) -> Result<HashMap<String, String>> {
    let mut handles = HashMap::new();
    for id in ids {
        let text = id.to_string();
        let alike = tx.memory_ids_ending(sight, handle(&text), SAME_ENDING_MAX)?;
        let longest = alike.iter().filter(|other| **other != id);
        let longest = longest.map(|other| common_ending(&text, &other.to_string())).max();
        if let Some(longest) = longest {
            handles.insert(text.clone(), handle_of_length(&text, longest + 1).to_owned());
        }
    }
    Ok(handles)
}

/// Letters that two ids have in common at their ends.
fn common_ending(id: &str, other: &str) -> usize {
    id.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count()
}

/// The memory that a caller names by its id or by a handle, of those in sight.
///
/// # Errors
/// `not_found` where no memory in sight has this ending, `conflict` with the ids where several have.
pub(in crate::verbs) fn resolve_memory(
    tx: &dyn Transaction,
    sight: &Sight,
    named: &IdOrHandle<MemoryKind>,
) -> Result<MemoryId> {
    match named {
        IdOrHandle::Id(id) => Ok(*id),
        IdOrHandle::Handle(ending) => {
            choose_one(ending, &tx.memory_ids_ending(sight, ending, SAME_ENDING_MAX)?)
        }
    }
}

/// The one id of those with this ending.
pub(in crate::verbs) fn choose_one<K: IdKind>(ending: &str, ids: &[Id<K>]) -> Result<Id<K>> {
    match ids {
        [id] => Ok(*id),
        [] => Err(Error::not_found(format!(
            "no {} in your sight has an id that ends in {ending}",
            K::NOUN
        ))
        .with_field("id")),
        _ => {
            let shown: Vec<String> = ids.iter().map(ToString::to_string).collect();
            Err(Error::conflict(format!("{} {} ids end in {ending}", ids.len(), K::NOUN))
                .with_field("id")
                .hint(format!("Name one of them whole: {}.", shown.join(", "))))
        }
    }
}
