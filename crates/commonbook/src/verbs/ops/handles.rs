//! Handles: the ends of ids, by which agents name the things that a text for them shows.

use std::collections::HashMap;
use std::str::FromStr;

use serde_json::Value;

use crate::base::error::{Error, Result};
use crate::base::id::{EntityId, HandoffId, MemoryId, handle, handle_of_length};
use crate::base::input::{HandleField, handle_fields};
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::store::Transaction;
use crate::verbs::Commonbook;

/// Ids with the same ending that are compared, and listed if a handle fits several.
pub(in crate::verbs) const SAME_ENDING_MAX: u32 = 20;

impl Commonbook {
    /// Replaces every handle in a request by the whole id, looked up among what the caller sees.
    /// `schema` is the schema of the request.
    ///
    /// # Errors
    /// With the field: `not_found` if the caller sees no id with this ending, `conflict` with the
    /// ids if it sees several, `invalid` if the handle is too short for a deletion.
    pub fn resolve_handles(
        &self,
        caller: &Caller,
        schema: &Value,
        request: &mut Value,
    ) -> Result<()> {
        let handles = handle_fields(schema, request);
        if handles.is_empty() {
            return Ok(());
        }
        let sight = Sight::reading(caller).or_else(|_| Sight::consulting(caller))?;
        let ids = self.store.read(|tx| {
            let ids = handles.iter().map(|handle| resolve(tx, &sight, handle));
            ids.collect::<Result<Vec<String>>>()
        })?;
        for (handle, id) in handles.into_iter().zip(ids) {
            *handle.value = Value::String(id);
        }
        Ok(())
    }
}

fn resolve(tx: &dyn Transaction, sight: &Sight, handle: &HandleField<'_>) -> Result<String> {
    let HandleField { field, prefix, letters_min, ending, .. } = handle;
    if ending.len() < *letters_min {
        let reason = format!(
            "{ending:?} is too short to delete by; expected the id, or its last {letters_min} \
             letters or more"
        );
        return Err(Error::invalid(field, reason));
    }
    let ids = ids_ending(tx, sight, prefix, ending)?;
    match ids.as_slice() {
        [id] => Ok(id.clone()),
        [] => Err(Error::not_found(format!("no id that you see ends in {ending}"))
            .with_field(field)
            .hint("Use the whole id from search or list.")),
        _ => Err(Error::conflict(format!("{} ids end in {ending}", ids.len()))
            .with_field(field)
            .hint(format!("Use one of these ids: {}.", ids.join(", ")))),
    }
}

/// The ids of one kind in sight with this ending.
fn ids_ending(
    tx: &dyn Transaction,
    sight: &Sight,
    prefix: &str,
    ending: &str,
) -> Result<Vec<String>> {
    let text = |ids: Vec<_>| ids.iter().map(ToString::to_string).collect();
    match prefix {
        "mem_" => tx.memory_ids_ending(sight, ending, SAME_ENDING_MAX).map(text),
        "hnd_" => {
            let ids = tx.handoff_ids_ending(sight, ending, SAME_ENDING_MAX)?;
            Ok(ids.iter().map(ToString::to_string).collect())
        }
        "ent_" => {
            let ids = tx.entity_ids_ending(sight, ending, SAME_ENDING_MAX)?;
            Ok(ids.iter().map(ToString::to_string).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// The handles that need more letters than usual because the reader sees another object of the same
/// kind with the same ending, by id.
pub(in crate::verbs) fn longer_handles(
    tx: &dyn Transaction,
    sight: &Sight,
    ids: &[String],
) -> Result<HashMap<String, String>> {
    let mut alike = Vec::new();
    alike.extend(tx.memory_ids_alike(sight, &parse_ids(ids))?.iter().map(MemoryId::to_string));
    alike.extend(tx.handoff_ids_alike(sight, &parse_ids(ids))?.iter().map(HandoffId::to_string));
    alike.extend(tx.entity_ids_alike(sight, &parse_ids(ids))?.iter().map(EntityId::to_string));
    let longer = |id: &String| {
        let same_kind = alike.iter().filter(|other| *other != id && kind(other) == kind(id));
        let common = same_kind.map(|other| common_ending(id, other)).max()?;
        let longer = handle_of_length(id, common + 1);
        (longer.len() > handle(id).len()).then(|| (id.clone(), longer.to_owned()))
    };
    Ok(ids.iter().filter_map(longer).collect())
}

/// Those of the ids that are of this kind.
fn parse_ids<I: FromStr>(ids: &[String]) -> Vec<I> {
    ids.iter().filter_map(|id| id.parse().ok()).collect()
}

/// The prefix of an id.
fn kind(id: &str) -> Option<&str> {
    id.split_once('_').map(|(kind, _)| kind)
}

/// The number of letters that two ids share at their ends.
fn common_ending(id: &str, other: &str) -> usize {
    id.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count()
}
