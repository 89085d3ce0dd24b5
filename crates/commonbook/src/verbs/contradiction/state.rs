//! Saying of one's own memory what it is to another: that both cannot hold, or that they say the same.
//!
//! A statement is recorded with who makes it, and changes no memory: a contradiction is resolved, and a
//! repetition merged, by those who may do that.

use jiff::SignedDuration;

use super::contradiction_event;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::contradiction::{
    ContradictionFinding, ContradictionRecord, RepeatedPair, id_of, may_contradict, ordered_by_time,
};
use crate::model::event::EventKind;
use crate::model::memory::{Memory, NoteStatements};
use crate::store::Tx;
use crate::verbs::memory::live_memory;
use crate::verbs::ops::write_once::WriteScope;

/// The time in which the unanswered statements of one agent are counted.
const STATEMENT_PERIOD: SignedDuration = SignedDuration::from_hours(24);

/// Records what the caller says of a memory that it has just written. Of one in quarantine nothing is
/// recorded: its readers are none.
///
/// # Errors
/// With the field: `not_found` if the other memory is not in sight, `invalid` if the two cannot be
/// compared, `rate_limited` if too many statements of this agent are unanswered.
pub(in crate::verbs) fn record_statements(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    memory: &Memory,
    said: &NoteStatements,
) -> Result<()> {
    if memory.is_quarantined() {
        return Ok(());
    }
    for (place, id) in said.contradicts.iter().enumerate() {
        state_contradiction(tx, scope, memory, *id)
            .map_err(|error| in_list("contradicts", place, error))?;
    }
    for (place, id) in said.repeats.iter().enumerate() {
        state_repetition(tx, scope, memory, *id)
            .map_err(|error| in_list("repeats", place, error))?;
    }
    Ok(())
}

/// The error of one id in a list, with the place of the id.
fn in_list(field: &str, place: usize, error: Error) -> Error {
    let path = format!("{field}[{place}]");
    Error { message: format!("{path}: {}", error.message), ..error }.with_field(&path)
}

fn state_contradiction(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    memory: &Memory,
    id: MemoryId,
) -> Result<()> {
    let other = live_memory(tx, &read_sight(scope)?, id)?;
    if !may_contradict(memory, &other) {
        return Err(incomparable(id));
    }
    let (older, newer) = ordered_by_time(memory, &other);
    let found = ContradictionFinding::of_statement(&scope.caller.agent, older, newer);
    put_statement(tx, scope, older, newer, found).map(drop)
}

/// Records a stated contradiction of two memories, older first; returns whether it is new.
///
/// # Errors
/// `rate_limited` if too many statements of this agent are unanswered.
pub(super) fn put_statement(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    older: &Memory,
    newer: &Memory,
    found: ContradictionFinding,
) -> Result<bool> {
    let WriteScope { caller, now, .. } = scope;
    let workspace = &older.workspace;
    let compared = [(older.id, older.revision), (newer.id, newer.revision)];
    let id = id_of(older.id, newer.id);
    let known = tx.contradictions_of(newer)?.into_iter().find(|(kept, _)| kept.id == id);
    if known.is_some_and(|(kept, _)| {
        let is_decided = kept.resolved.is_some() && !kept.is_outdated(older, newer);
        is_decided || kept.resolved.is_none() && kept.memories == compared
    }) {
        return Ok(false);
    }
    let since = now.checked_sub(STATEMENT_PERIOD).unwrap_or(now);
    let limit = limits::STATEMENTS_A_DAY;
    let stated = tx.statements_of(workspace, &caller.agent, limit)?;
    let unanswered = stated.iter().filter(|kept| kept.found_at >= since).count();
    if unanswered >= limit as usize {
        let message = format!(
            "{} contradictions that {} stated within a day are open",
            unanswered, caller.agent
        );
        return Err(Error::new(ErrorKind::RateLimited, message)
            .hint("Resolve some with `resolve_contradiction`, or leave it out."));
    }
    let kept = ContradictionRecord::new(older, newer, found, now);
    let kind = EventKind::ContradictionFound;
    let event = contradiction_event(kind, older, newer, &caller.agent, now);
    let place = tx.journal_end(workspace)? + 1;
    if tx.put_contradiction(&kept, place)? {
        tx.append_event(&event)?;
    }
    Ok(true)
}

fn state_repetition(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    memory: &Memory,
    id: MemoryId,
) -> Result<()> {
    let other = live_memory(tx, &read_sight(scope)?, id)?;
    if other.id == memory.id || other.workspace != memory.workspace || !other.is_usable() {
        return Err(incomparable(id));
    }
    tx.put_repeated(&memory.workspace, &RepeatedPair::of(memory, &other, &scope.caller.agent))
}

/// The sight of a caller that says something of what it has read.
pub(super) fn read_sight(scope: WriteScope<'_>) -> Result<Sight> {
    Sight::reading(scope.caller).or_else(|_| Sight::consulting(scope.caller))
}

/// The error about a memory that the saved one cannot be compared with.
pub(super) fn incomparable(id: MemoryId) -> Error {
    let reason = format!("memory {id} is not current, or is about another user, time or workspace");
    Error::new(ErrorKind::Invalid, reason)
        .hint("Name another memory that is current in this workspace, or leave it out.")
}
