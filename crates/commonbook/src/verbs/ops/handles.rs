//! Handles: the ends of ids, by which agents name the things that a text for them shows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;

use serde_json::Value;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::{
    EntityId, HandoffId, MemoryId, SessionId, handle, handle_of_length, parse_handle,
};
use crate::base::input::{HandleField, handle_fields};
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::session::unknown_session;
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::entity::review::sees_review;
use crate::verbs::token::administers;

/// The beginning of every id of a session.
const SESSION_PREFIX: &str = "ses_";

/// Ids with the same ending that are compared, and listed if a handle fits several.
pub(in crate::verbs) const SAME_ENDING_MAX: u32 = 20;

impl Commonbook {
    /// Replaces every handle in a request by the whole id, looked up among what the caller sees.
    /// `schema` is the schema of the request.
    ///
    /// # Errors
    /// With the field: `not_found` if the caller sees no id with this ending or no such session,
    /// `conflict` with the ids if it sees several, `invalid` if the handle is too short for a deletion.
    pub fn resolve_handles(
        &self,
        caller: &Caller,
        schema: &Value,
        request: &mut Value,
    ) -> Result<()> {
        // A search of the whole home also reads sessions of other workspaces.
        let is_home_wide = request["scope"] == "home";
        if let Some(Value::String(session)) = request.get_mut("session")
            && schema["properties"]["session"].is_object()
            && !(is_home_wide && SessionId::parse(session).is_some())
            && let Some(id) = self.find_named_session(caller, session)?
        {
            *session = id;
        }
        let handles = handle_fields(schema, request);
        if handles.is_empty() {
            return Ok(());
        }
        let sight =
            Sight::reading(caller).or_else(|_| Sight::consulting(caller))?.with_earlier(caller);
        let sight = sight.with_opaque();
        let ids = self.store.read(|tx| {
            let ids = handles.iter().map(|handle| resolve(tx, caller, &sight, handle));
            ids.collect::<Result<Vec<String>>>()
        })?;
        for (handle, id) in handles.into_iter().zip(ids) {
            *handle.value = Value::String(id);
        }
        Ok(())
    }

    /// The caller with the whole id of its session, where a handle or the client's own id names it.
    ///
    /// # Errors
    /// `not_found` if the caller names a session by `ses_…`, and it sees none of that name, `conflict`
    /// if it sees several with this ending.
    pub fn in_known_session<'c>(&self, caller: &'c Caller) -> Result<Cow<'c, Caller>> {
        let Some(session) = &caller.session else { return Ok(Cow::Borrowed(caller)) };
        let own = caller.connection.as_ref().and_then(|connection| connection.current(caller));
        if own.as_ref() == Some(session) {
            return Ok(Cow::Borrowed(caller));
        }
        let id = self.find_session(caller, session)?;
        Ok(match id.filter(|id| id != session) {
            None => Cow::Borrowed(caller),
            Some(id) => Cow::Owned(Caller { session: Some(id), ..caller.clone() }),
        })
    }

    /// As [`Self::find_session`]; also the session of another home whose memories were imported.
    fn find_named_session(&self, caller: &Caller, name: &str) -> Result<Option<String>> {
        match self.find_session(caller, name) {
            Err(error) if error.kind == ErrorKind::NotFound => {
                let sight = Sight::reading(caller)?;
                let count = self.store.read(|tx| tx.session_memory_count(&sight, name))?;
                if count > 0 { Ok(None) } else { Err(error) }
            }
            found => found,
        }
    }

    /// The id of the session that this name stands for: its id, the client's own id of it, or the end of
    /// its id. `None` for a text under which no session was begun.
    fn find_session(&self, caller: &Caller, name: &str) -> Result<Option<String>> {
        let Ok(sight) = Sight::reading(caller).or_else(|_| Sight::consulting(caller)) else {
            return Ok(None);
        };
        let (name, id) = (name.trim(), SessionId::parse(name));
        self.store.read(|tx| {
            if let Some(id) = id {
                let found = tx.session(&sight, id)?;
                return found
                    .map(|found| Some(found.id.to_string()))
                    .ok_or_else(|| unknown_session(name));
            }
            let own = tx.own_session(&caller.workspace, &caller.agent, name)?;
            if let Some(own) = own.filter(|own| sight.can_see(&own.session_visibility())) {
                return Ok(Some(own.id.to_string()));
            }
            let ending = parse_handle(name);
            let ids = ending.map(|ending| ids_ending(tx, caller, &sight, SESSION_PREFIX, &ending));
            match ids.transpose()?.unwrap_or_default().as_slice() {
                [id] => Ok(Some(id.clone())),
                // A text of this form is meant as an id of ours.
                [] if name.starts_with(SESSION_PREFIX) => Err(unknown_session(name)),
                [] => Ok(None),
                ids => Err(Error::conflict(format!("{} sessions end in {name}", ids.len()))
                    .with_field("session")
                    .hint(format!("Use one of them whole: {}.", ids.join(", ")))),
            }
        })
    }
}

fn resolve(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    handle: &HandleField<'_>,
) -> Result<String> {
    let HandleField { field, prefix, letters_min, ending, .. } = handle;
    if ending.len() < *letters_min {
        let reason = format!(
            "{ending:?} is too short to delete by; expected an id, or its last {letters_min} letters"
        );
        return Err(Error::invalid(field, reason));
    }
    let ids = ids_ending(tx, caller, sight, prefix, ending)?;
    only_id(&ids, ending, prefix).map_err(|error| error.with_field(field))
}

/// The one id with this ending.
fn only_id(ids: &[String], ending: &str, prefix: &str) -> Result<String> {
    match ids {
        [id] => Ok(id.clone()),
        [] => Err(Error::not_found(format!("no id that you see ends in {ending}"))
            .hint(id_source(prefix))),
        _ => Err(Error::conflict(format!("{} ids end in {ending}", ids.len()))
            .hint(format!("Use one of these ids: {}.", ids.join(", ")))),
    }
}

/// The id of the memory that a text names: a whole id, in sight or not, or the end of one in sight.
///
/// # Errors
/// `not_found` if no memory in sight has this ending, `conflict` with the ids if several have it.
pub(in crate::verbs) fn find_memory_id(tx: &Tx<'_>, sight: &Sight, name: &str) -> Result<MemoryId> {
    if let Some(id) = MemoryId::parse(name) {
        return Ok(id);
    }
    let ending = parse_handle(name).unwrap_or_default();
    let ids = texts(tx.memory_ids_ending(sight, &ending, SAME_ENDING_MAX)?);
    let id = only_id(&ids, &ending, "mem_")?;
    MemoryId::parse(&id).ok_or_else(|| Error::not_found(format!("no memory {id} exists")))
}

/// Where the reader finds ids of a kind.
fn id_source(prefix: &str) -> &'static str {
    match prefix {
        "mem_" => "Use an id from `search_memory`.",
        "hnd_" => "Use an id from `list_handoffs`.",
        "ent_" => "Use an id from `list_entities`.",
        "ses_" => "Use an id from `list_sessions`.",
        "chk_" => "Use an id from `list_checkpoints`.",
        "con_" => "Use an id from `detect_contradictions`.",
        "tok_" => "Use an id from `list_tokens`.",
        "act_" => "Use the id with which the operation answered.",
        "rev_" => "Use an id from `list_reviews`.",
        "ctx_" => "Use an id from `list_contexts`.",
        _ => "Use the whole id.",
    }
}

/// The ids of one kind with this ending of what the caller sees, and of what it may undo or manage.
fn ids_ending(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    prefix: &str,
    ending: &str,
) -> Result<Vec<String>> {
    let ends = |id: &String| id.ends_with(ending);
    match prefix {
        "mem_" => {
            let seen = tx.memory_ids_ending(sight, ending, SAME_ENDING_MAX)?;
            // What waits for a reviewer has its handle in the list of it.
            match Sight::reviewing(caller) {
                Ok(waiting) if seen.is_empty() => {
                    Ok(texts(tx.memory_ids_ending(&waiting, ending, SAME_ENDING_MAX)?))
                }
                _ => Ok(texts(seen)),
            }
        }
        "hnd_" => Ok(texts(tx.handoff_ids_ending(sight, ending, SAME_ENDING_MAX)?)),
        "ent_" => Ok(texts(tx.entity_ids_ending(sight, ending, SAME_ENDING_MAX)?)),
        "ses_" => Ok(texts(tx.session_ids_ending(sight, ending, SAME_ENDING_MAX)?)),
        "chk_" => Ok(texts(tx.checkpoint_ids_ending(sight, ending, SAME_ENDING_MAX)?)),
        "con_" => Ok(texts(tx.contradiction_ids_ending(sight, ending, SAME_ENDING_MAX)?)),
        "tok_" => {
            let tokens = tx.tokens()?.into_iter();
            let tokens = tokens.filter(|token| sight.is_person && administers(caller, token));
            Ok(texts(tokens.map(|token| token.id)).into_iter().filter(ends).collect())
        }
        "whk_" => {
            let webhooks = tx.webhooks()?.into_iter();
            let managed = webhooks.filter(|webhook| webhook.is_managed_by(caller));
            Ok(texts(managed.map(|webhook| webhook.id)).into_iter().filter(ends).collect())
        }
        "act_" => {
            let (home, agent) = (&caller.workspace, &caller.agent);
            Ok(texts(tx.operation_ids_ending(home, agent, ending, SAME_ENDING_MAX)?))
        }
        "rev_" => {
            let reviews = tx.reviews(&caller.workspace, None, u32::MAX)?.into_iter();
            let there = Sight { workspaces: vec![caller.workspace.clone()], ..sight.clone() };
            let mut seen = Vec::new();
            for review in reviews.filter(|review| ends(&review.id.to_string())) {
                if sees_review(tx, &there, &review)? {
                    seen.push(review.id);
                }
            }
            Ok(texts(seen))
        }
        "ctx_" => Ok(texts(tx.context_ids_ending(sight, ending, SAME_ENDING_MAX)?)),
        _ => Ok(Vec::new()),
    }
}

fn texts(ids: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    ids.into_iter().map(|id| id.to_string()).collect()
}

/// The handles that need more letters than usual because the reader sees another object of the same
/// kind with the same ending, by id.
pub(in crate::verbs) fn longer_handles(
    tx: &Tx<'_>,
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
