//! Restoring the lines of an export that are no memories: each row once, with its event.
//!
//! What is here already stays as it is. Every check comes before the first change, so that a refused line
//! leaves nothing behind.

use commonbook_text::injection;
use jiff::Timestamp;
use serde_json::Value;

use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, SessionId};
use crate::base::{input, limits};
use crate::model::access::Audience;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::case::{Case, CaseProposal, ProposalStatus};
use crate::model::checkpoint::Checkpoint;
use crate::model::contradiction::ContradictionRecord;
use crate::model::entity::{EntityName, EntityReview};
use crate::model::event::{EventKind, NewEvent};
use crate::model::export::{
    CaseMark, CheckpointState, EntityState, ExportRecord, HandoffState, ProposalState,
    ReceiptState, RelationState, ReviewState,
};
use crate::model::handoff::{Handoff, HandoffStatus};
use crate::model::import::restored_memory;
use crate::model::memory::{Memory, SaveOutcome, Sharing};
use crate::model::session::Session;
use crate::model::workspace::Workspace;
use crate::prompt::context::ContextRecord;
use crate::prompt::handoff::{HandoffPackage, PackResult};
use crate::prompt::item::PromptItem;
use crate::store::{StoredId, Tx};
use crate::verbs::case::{announce_proposal, restore_case};
use crate::verbs::entity::keep::delete;
use crate::verbs::entity::name_keys;
use crate::verbs::handoff::status_event;
use crate::verbs::ops::find_visible::{append_entity_event, deleted_error};
use crate::verbs::receipt::record_context;
use crate::verbs::session::record_session;

/// Restores a record; returns whether anything changed.
pub(super) fn restore_record(
    tx: &mut Tx<'_>,
    record: &ExportRecord,
    now: Timestamp,
) -> Result<SaveOutcome> {
    let changed = match record {
        // A file is written outside of the transaction, an edit by `write_edit`.
        ExportRecord::Export(_) | ExportRecord::Standing(_) | ExportRecord::Edit(_) => false,
        ExportRecord::Agent(state) => tx.restore_agent(&state.workspace, &state.record())?,
        ExportRecord::Case(case) => add_case(tx, case, now)?,
        ExportRecord::Session(session) => add_session(tx, session, now)?,
        ExportRecord::Revisions(revisions) => add_revisions(tx, revisions)?,
        ExportRecord::Entity(state) => add_entity(tx, state, now)?,
        ExportRecord::Review(state) => add_review(tx, state, now)?,
        ExportRecord::Relation(state) => add_relation(tx, state, now)?,
        ExportRecord::Contradiction(record) => add_contradiction(tx, record, now)?,
        ExportRecord::Handoff(state) => add_handoff(tx, state, now)?,
        ExportRecord::HandoffOrder(order) => {
            tx.restore_handoff_order(&order.workspace, &order.handoffs)?
        }
        ExportRecord::Checkpoint(state) => add_checkpoint(tx, state, now)?,
        ExportRecord::ReadMark(mark) => add_read_mark(tx, mark)?,
        ExportRecord::Proposal(state) => add_proposal(tx, state, now)?,
        ExportRecord::Receipt(state) => add_receipt(tx, state)?,
    };
    Ok(if changed { SaveOutcome::Created } else { SaveOutcome::Repeated })
}

/// Refuses a record with a text that gives orders to agents: no person reviews it before they read it.
///
/// # Errors
/// `invalid` with the text's beginning.
pub(super) fn check_written_text(record: &ExportRecord) -> Result<()> {
    let mut waiting = vec![record.written_text()];
    while let Some(value) = waiting.pop() {
        match value {
            // An id, a name or a status is one word.
            Value::String(text) if text.contains(char::is_whitespace) => {
                if let Some(reason) = injection::reasons(&text).first() {
                    let shown: String = text.chars().take(limits::EXCERPT_CHARS).collect();
                    return Err(Error::invalid("value", reason.sentence())
                        .hint(format!("Take this out of the line, and import it again: {shown}")));
                }
            }
            Value::Array(values) => waiting.extend(values),
            Value::Object(fields) => waiting.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    Ok(())
}

fn add_case(tx: &mut Tx<'_>, case: &Case, now: Timestamp) -> Result<bool> {
    if let Some(here) = tx.case(&case.workspace, &case.key)? {
        // An earlier release kept the names of a file.
        let opened = |case: &Case| (case.opened_by.name_in_file(), case.opened_at);
        if opened(&here) == opened(case) {
            return Ok(false);
        }
        let message = format!(
            "another case {} exists, opened by {} at {}",
            case.key, here.opened_by, here.opened_at
        );
        return Err(Error::conflict(message)
            .with_field("key")
            .hint("Its entries are imported only at positions that are free here."));
    }
    input::in_range("version", case.version, 0..=limits::CASE_POSITION)?;
    restore_case(tx, case, now)?;
    Ok(true)
}

fn add_session(tx: &mut Tx<'_>, session: &Session, now: Timestamp) -> Result<bool> {
    if tx.is_stored(&session.workspace, StoredId::Session(session.id))? {
        return Ok(false);
    }
    let owner = AgentName { agent: session.agent.clone(), device: session.device.clone() };
    let importer = Caller::new(Some(owner), session.workspace.clone(), EntryPoint::Import);
    record_session(tx, session, &importer, now)?;
    tx.replace_session(session)?;
    Ok(true)
}

fn add_revisions(tx: &mut Tx<'_>, revisions: &[Memory]) -> Result<bool> {
    let mut checked = Vec::with_capacity(revisions.len());
    for earlier in revisions {
        if tx.memory_position(&earlier.workspace, earlier.id)?.is_none() {
            return Err(missing("id", &format!("memory {}", earlier.id)));
        }
        checked.push(restored_memory(earlier.clone(), &earlier.workspace)?);
    }
    let mut changed = false;
    for earlier in &checked {
        changed |= tx.restore_revision(earlier)?;
    }
    Ok(changed)
}

fn add_entity(tx: &mut Tx<'_>, state: &EntityState, now: Timestamp) -> Result<bool> {
    let EntityState { entity, names, redirects, statements, merges } = state;
    let workspace = &entity.workspace;
    if let Some(here) = tx.entity(workspace, entity.id)? {
        if here == *entity {
            return Ok(false);
        }
        let message = format!("{} exists with other statements", entity.id);
        return Err(Error::conflict(message)
            .with_field("entity")
            .hint("State what is missing with `resolve_entity`."));
    }
    if let Some(gone) = tx.deleted_entity(workspace, entity.id)? {
        return if gone == *entity { Ok(false) } else { Err(deleted_error(&gone)) };
    }
    let (session, entity_type) = (entity.session.as_deref(), entity.entity_type);
    let own = EntityName::of(workspace, session, entity_type, &entity.value);
    if own.as_ref().map(|name| name.id) != Some(entity.id) {
        return Err(Error::invalid("entity.id", "the id does not follow from the entity's name")
            .hint("Import an unchanged line of an export."));
    }
    tx.put_entity(entity)?;
    let further =
        names.iter().filter_map(|value| EntityName::of(workspace, session, entity_type, value));
    for name in own.into_iter().chain(further) {
        tx.put_name(&name, true)?;
        tx.file_name(&name, &name_keys(&name))?;
    }
    for name in redirects {
        tx.redirect_name(workspace, *name, entity.id)?;
    }
    for statement in statements {
        tx.add_statement(workspace, entity.id, statement)?;
    }
    for merge in merges {
        tx.put_merge(workspace, merge)?;
    }
    if let Some(deletion) = &entity.deleted {
        delete(tx, entity, deletion.clone())?;
        return Ok(true);
    }
    append_entity_event(tx, EventKind::EntityCreated, entity, &entity.last_agent, now, &[])?;
    Ok(true)
}

fn add_review(tx: &mut Tx<'_>, state: &ReviewState, now: Timestamp) -> Result<bool> {
    let ReviewState { workspace, review } = state;
    if tx.review(workspace, review.id)?.is_some() {
        return Ok(false);
    }
    let EntityReview { entity, agent, .. } = review;
    let sharing = Sharing::shared_if(tx.entity(workspace, *entity)?.is_some());
    tx.put_review(workspace, review)?;
    let (kind, id) = (EventKind::EntityQueued, entity.to_string());
    tx.append_event(&NewEvent::for_subject(kind, workspace, id, agent, now, sharing))?;
    Ok(true)
}

fn add_relation(tx: &mut Tx<'_>, state: &RelationState, now: Timestamp) -> Result<bool> {
    let RelationState { relation, audience } = state;
    let workspace = &relation.workspace;
    let (in_workspace, is_common) = match audience {
        Audience::Workspace(of) => (of, true),
        Audience::Visibility(visibility) => (&visibility.workspace, false),
    };
    if in_workspace != workspace {
        return Err(Error::invalid("audience", "belongs to another workspace than the relation")
            .hint("Import an unchanged line of an export."));
    }
    if tx.is_stored(workspace, StoredId::Relation(relation.id))? {
        return Ok(false);
    }
    let (from, to) = (relation.from, relation.to);
    if let Some(here) = tx.relation(workspace, from, to, &relation.relation_type, audience)? {
        let message = format!("the same two are related already, by {}", here.id);
        return Err(Error::conflict(message).with_field("relation"));
    }
    tx.put_relation(relation, audience)?;
    let (kind, id) = (EventKind::RelationAdded, relation.id.to_string());
    let sharing = Sharing::shared_if(is_common);
    tx.append_event(&NewEvent::for_subject(kind, workspace, id, &relation.author, now, sharing))?;
    Ok(true)
}

fn add_contradiction(
    tx: &mut Tx<'_>,
    record: &ContradictionRecord,
    now: Timestamp,
) -> Result<bool> {
    let workspace = &record.workspace;
    if tx.is_stored(workspace, StoredId::Contradiction(record.id))? {
        return Ok(false);
    }
    let sequence = tx.journal_end(workspace)? + 1;
    if !tx.put_contradiction(record, sequence)? {
        return Err(missing("memories", "one of the memories, at the revision of the decision,"));
    }
    let (kind, agent) = match &record.resolved {
        Some(resolved) => (EventKind::ContradictionResolved, resolved.resolved_by.clone()),
        None => (EventKind::ContradictionFound, Agent::system()),
    };
    // A reader of both memories sees the event.
    let (id, sharing) = (record.id.to_string(), Sharing::Shared);
    tx.append_event(&NewEvent::for_subject(kind, workspace, id, &agent, now, sharing))?;
    Ok(true)
}

fn add_handoff(tx: &mut Tx<'_>, state: &HandoffState, now: Timestamp) -> Result<bool> {
    let HandoffState { handoff, package, memories, revisions, left_out } = state;
    if tx.is_stored(&handoff.workspace, StoredId::Handoff(handoff.id))? {
        return Ok(false);
    }
    let package: HandoffPackage = input::from_value(package.clone())?;
    let mut package = HandoffPackage { revisions: revisions.clone(), ..package };
    for item in memories {
        let item: PromptItem = input::from_value(item.clone())?;
        let id: MemoryId = item.id.parse()?;
        package.memories.insert(id, item);
    }
    if handoff.from.is_of_file() {
        package = package.as_of_file();
    }
    let event = tx.append_event(&handoff.event(EventKind::HandoffCreated, &handoff.from, now))?;
    let (left_out, packed) = (left_out.clone(), handoff.clone());
    let packed = PackResult {
        handoff: packed,
        package,
        left_out,
        along: Vec::new(),
        behind: Vec::new(),
        hint: None,
    };
    tx.insert_handoff(&packed, event)?;
    if handoff.accepted_at.is_some() {
        let accepted = Handoff { status: HandoffStatus::Accepted, ..handoff.clone() };
        let event =
            tx.append_event(&handoff.event(EventKind::HandoffAccepted, &handoff.to, now))?;
        tx.step_handoff(&accepted, event)?;
    }
    if !handoff.status.is_open() {
        let agent = match handoff.status {
            HandoffStatus::Expired => Agent::system(),
            HandoffStatus::Withdrawn => handoff.from.clone(),
            _ => handoff.to.clone(),
        };
        let event = tx.append_event(&handoff.event(status_event(handoff.status), &agent, now))?;
        tx.step_handoff(handoff, event)?;
    }
    Ok(true)
}

fn add_checkpoint(tx: &mut Tx<'_>, state: &CheckpointState, now: Timestamp) -> Result<bool> {
    let CheckpointState { checkpoint, after } = state;
    let (workspace, number) = (&checkpoint.workspace, checkpoint.sequence);
    if tx.is_stored(workspace, StoredId::Checkpoint(checkpoint.id))? {
        return Ok(false);
    }
    let session: SessionId = checkpoint.session.parse()?;
    if !tx.is_stored(workspace, StoredId::Session(session))? {
        return Err(missing("session", &format!("session {session}")));
    }
    if let Some(other) = tx.checkpoint_numbered(workspace, &checkpoint.session, number)? {
        let message = format!("the session has another checkpoint {number}, {other}");
        return Err(Error::conflict(message).with_field("sequence"));
    }
    let position = position_of(tx, workspace, *after)?;
    tx.put_checkpoint(&Checkpoint { position, ..checkpoint.clone() })?;
    tx.note_checkpoint_number(checkpoint)?;
    // The session may be for a user: its agent sees the event.
    let (kind, id) = (EventKind::CheckpointCreated, checkpoint.id.to_string());
    let (agent, sharing) = (&checkpoint.agent, Sharing::Private);
    tx.append_event(&NewEvent::for_subject(kind, workspace, id, agent, now, sharing))?;
    Ok(true)
}

fn add_read_mark(tx: &mut Tx<'_>, mark: &CaseMark) -> Result<bool> {
    let CaseMark { workspace, agent, case, position, at } = mark;
    let Some(here) = tx.case(workspace, case)? else {
        return Err(missing("case", &format!("case {case}")));
    };
    let position = (*position).min(here.version);
    if tx.cursor(workspace, agent, Some(case))? >= position {
        return Ok(false);
    }
    tx.put_cursor(workspace, agent, Some(case), position, *at)?;
    Ok(true)
}

fn add_proposal(tx: &mut Tx<'_>, state: &ProposalState, now: Timestamp) -> Result<bool> {
    let ProposalState { workspace, proposal } = state;
    let Some(case) = tx.case(workspace, &proposal.key)? else {
        return Err(missing("key", &format!("case {}", proposal.key)));
    };
    let here = tx.proposals(workspace, &proposal.key)?;
    let is_open = proposal.status == ProposalStatus::Open;
    // A case has one open proposal; what is here stays.
    let is_taken = |other: &CaseProposal| {
        other.number == proposal.number || (is_open && other.status == ProposalStatus::Open)
    };
    if here.iter().any(is_taken) {
        return Ok(false);
    }
    tx.put_proposal(workspace, proposal)?;
    if is_open {
        announce_proposal(tx, &Agent::system(), &case, proposal.number, now)?;
    }
    Ok(true)
}

fn add_receipt(tx: &mut Tx<'_>, state: &ReceiptState) -> Result<bool> {
    if tx.is_stored(&state.workspace, StoredId::Context(state.id))? {
        return Ok(false);
    }
    let record = ContextRecord {
        id: state.id,
        workspace: state.workspace.clone(),
        agent: state.agent.clone(),
        at: state.at,
        sequence: position_of(tx, &state.workspace, state.after)?,
        milliseconds: state.milliseconds,
        sha256: state.sha256.clone(),
        nonce: state.nonce.clone(),
        standing: state.standing.clone().map(input::from_value).transpose()?,
        is_bound: false,
        receipt: input::from_value(state.receipt.clone())?,
    };
    record_context(tx, &record)?;
    Ok(true)
}

/// The position of a memory in the journal of this home; the beginning if it is not here.
fn position_of(tx: &Tx<'_>, workspace: &Workspace, memory: Option<MemoryId>) -> Result<u64> {
    let position = memory.map(|id| tx.memory_position(workspace, id)).transpose()?.flatten();
    Ok(position.unwrap_or_default())
}

/// The error for what a line refers to and this home does not have.
fn missing(field: &str, what: &str) -> Error {
    Error::invalid(field, format!("{what} is not here; expected it in an earlier line"))
        .hint("Import the whole export.")
}
