//! Retracting a memory: everything that it reached, and what the agents that received it hear.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::json;

use super::Commonbook;
use super::memory::{MemoryChange, changeable_memory, not_deleted};
use crate::base::error::Result;
use crate::base::id::{MemoryId, OperationId};
use crate::base::limits;
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::bulk::{BulkItem, BulkKind, BulkOperation};
use crate::model::caller::Caller;
use crate::model::case::digest::digest_sources;
use crate::model::cursor::visible_beginning;
use crate::model::event::{EventKind, ItemFigures, NewEvent, work_details};
use crate::model::handoff::{HandoffFilter, HandoffSide, HandoffStatus};
use crate::model::knowledge::KnowledgeRecord;
use crate::model::lineage::DerivedId;
use crate::model::memory::{
    BlastRadius, Memory, RadiusKind, RadiusNode, RetractMemory, Retraction, RetractionNotice,
    RetractionNoticeKind, RetractionResult, Sharing, may_retract,
};
use crate::model::workspace::Workspace;
use crate::store::Tx;
use crate::verbs::ops::heirs::show;
use crate::verbs::ops::write_once::WriteScope;

/// The field that changes when a memory is retracted.
pub(super) const RETRACTION_FIELDS: &[&str] = &["retraction"];

/// A memory that a retraction reached, and what it is to the retracted one.
struct ReachedMemory {
    memory: StoredMemory,
    depth: u32,
    /// Whether a digest made it of retracted memories alone: it is retracted with them.
    is_copy: bool,
}

/// Everything that a memory reached, as the store knows it.
struct Reach {
    /// The memory itself, then those made of it, each after the one that it was made of.
    memories: Vec<ReachedMemory>,
    /// What agents received of the retracted ones.
    told: Vec<KnowledgeRecord>,
}

impl Commonbook {
    /// Retracts a memory: it is left out of searches and contexts, the entries that digests made of
    /// it are too, and each agent that received one of them hears of it in its next context or
    /// briefing. With `dry_run` only shows what it reached.
    ///
    /// # Errors
    /// `not_found`, `forbidden` (`ownership_mismatch`), `conflict` if it is retracted already,
    /// `invalid` and `too_large` for the reason, which a dry run does not need.
    pub fn retract_memory(
        &self,
        caller: &Caller,
        request: &RetractMemory,
    ) -> Result<RetractionResult> {
        let now = self.clock.now();
        let id = request.id;
        self.follow_other_homes(None);
        let files = self.files.texts(caller.project.as_deref());
        if request.dry_run {
            let sight = Sight::writing(caller)?;
            return self.store.read(|tx| {
                let before = retractable_memory(tx, caller, &sight, id)?;
                let reach = reach_of(tx, &sight, &before)?;
                let blast_radius = blast_radius(tx, &sight, caller, &reach, &files)?;
                let memory = show(tx, &sight, before)?;
                Ok(RetractionResult { memory, operation: None, blast_radius })
            });
        }
        let retraction = request.retraction(caller, now)?;
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, ids, .. } = scope;
            let before = retractable_memory(tx, caller, sight, id)?;
            let reach = reach_of(tx, sight, &before)?;
            let blast_radius = blast_radius(tx, sight, caller, &reach, &files)?;
            let operation = BulkOperation {
                id: OperationId::new(ids, now),
                workspace: caller.workspace.clone(),
                kind: BulkKind::Retracted,
                agent: caller.agent.clone(),
                at: now,
            };
            tx.put_bulk_operation(&operation)?;
            let memory = retract_reached(tx, caller, &operation, &retraction, &reach)?;
            notify_reached(tx, &operation, &reach)?;
            let memory = show(tx, sight, memory.unwrap_or(before))?;
            Ok(RetractionResult { memory, operation: Some(operation.id), blast_radius })
        })?;
        Ok(once.answer)
    }
}

/// The memory that this caller may retract.
fn retractable_memory(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    id: MemoryId,
) -> Result<StoredMemory> {
    let memory = not_deleted(changeable_memory(tx, caller, sight, id)?)?;
    may_retract(caller, &memory)?;
    Ok(memory)
}

/// Everything that a memory reached: what was made of it, and who received what goes with it.
fn reach_of(tx: &Tx<'_>, sight: &Sight, memory: &StoredMemory) -> Result<Reach> {
    let mut memories = vec![ReachedMemory { memory: memory.clone(), depth: 0, is_copy: true }];
    let (mut seen, mut copies) = (BTreeSet::from([memory.id]), BTreeSet::from([memory.id]));
    let mut place = 0;
    while place < memories.len() && memories.len() < limits::RADIUS_MEMORIES as usize {
        let ReachedMemory { memory, depth, is_copy } = &memories[place];
        let (memory, depth, is_copy) = (memory.clone(), depth + 1, *is_copy);
        let mut found = Vec::new();
        if is_copy {
            for entry in tx.digest_entries(sight, &memory, limits::RADIUS_MEMORIES)? {
                let sources = digest_sources(&entry);
                if sources.contains(&memory.id) {
                    let is_copy = sources.iter().all(|source| copies.contains(source));
                    found.push(ReachedMemory { memory: entry, depth, is_copy });
                }
            }
        }
        for basis in tx.derived_from(&memory.workspace, memory.id, limits::RADIUS_MEMORIES)? {
            let DerivedId::Memory(id) = basis.derived else { continue };
            let there = [(basis.workspace.clone(), id)];
            let derived = tx.memories_of(sight, &there)?.into_iter();
            let derived = derived.filter(|memory| memory.deleted_at.is_none());
            found.extend(derived.map(|memory| ReachedMemory { memory, depth, is_copy: false }));
        }
        found.retain(|reached| seen.insert(reached.memory.id));
        copies.extend(found.iter().filter(|found| found.is_copy).map(|found| found.memory.id));
        let rest = memories.split_off(place + 1);
        memories.extend(found);
        memories.extend(rest);
        place += 1;
    }
    let mut told = Vec::new();
    for reached in memories.iter().filter(|reached| reached.is_copy) {
        let Memory { workspace, id, .. } = &*reached.memory;
        // A memory of `global` reaches every workspace.
        let only = (*workspace != Workspace::global()).then_some(workspace);
        told.extend(tx.knowledge(only, &[*id], &[])?);
    }
    Ok(Reach { memories, told })
}

/// The tree of what a memory reached, as this caller may see it.
fn blast_radius(
    tx: &Tx<'_>,
    sight: &Sight,
    caller: &Caller,
    reach: &Reach,
    files: &[(String, String)],
) -> Result<BlastRadius> {
    let mut radius = BlastRadius {
        agents: notified_agents(caller, reach).len() as u64,
        retracted: reach.memories.iter().filter(|reached| reached.is_copy).count() as u64 - 1,
        ..BlastRadius::default()
    };
    for ReachedMemory { memory, depth, is_copy } in &reach.memories {
        let how = match (depth, is_copy) {
            (0, _) => "the memory",
            (_, true) => "made of it by a digest, retracted with it",
            (_, false) => "made of it, to review",
        };
        radius.push(RadiusNode {
            depth: *depth,
            kind: RadiusKind::Memory,
            id: memory.id.to_string(),
            at: Some(memory.recorded_at),
            revision: Some(memory.revision),
            how: format!("{how}, by {}", memory.owner),
            says: visible_beginning(memory).unwrap_or_default(),
        });
        let below = RadiusNode {
            depth: depth + 1,
            kind: RadiusKind::Agent,
            id: String::new(),
            at: None,
            revision: None,
            how: String::new(),
            says: String::new(),
        };
        for record in last_told(&reach.told, memory.id) {
            if sight.sees_work(&record.agent, record.user.as_deref()) {
                let (id, at, revision) =
                    (record.agent.to_string(), Some(record.at), Some(record.revision));
                let how = format!("received it by {}", record.origin);
                radius.push(RadiusNode { id, at, revision, how, ..below.clone() });
            }
        }
        let carrying = HandoffFilter {
            side: HandoffSide::All,
            status: HandoffStatus::ALL.to_vec(),
            memory: Some(memory.id),
            ..HandoffFilter::default()
        };
        let most = u32::try_from(limits::RADIUS_NODES).unwrap_or(u32::MAX);
        for (_, handoff) in tx.handoffs(sight, &carrying, None, most)? {
            radius.push(RadiusNode {
                kind: RadiusKind::Handoff,
                id: handoff.id.to_string(),
                at: Some(handoff.created_at),
                how: format!("{}, from {} to {}", handoff.status, handoff.from, handoff.to),
                says: handoff.task.chars().take(limits::PREVIEW_CHARS_MAX).collect(),
                ..below.clone()
            });
        }
        let text = comparable_line(&memory.text);
        for (path, _) in files.iter().filter(|(_, file)| comparable_line(file).contains(&text)) {
            let how = "has its text; remove it by hand".to_owned();
            let (kind, id) = (RadiusKind::Standing, path.clone());
            radius.push(RadiusNode { kind, id, how, ..below.clone() });
        }
    }
    Ok(radius)
}

/// A text with its white space made equal.
fn comparable_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What each agent received last of a memory.
fn last_told(told: &[KnowledgeRecord], memory: MemoryId) -> Vec<&KnowledgeRecord> {
    let mut last: BTreeMap<(&Workspace, &Agent), &KnowledgeRecord> = BTreeMap::new();
    for record in told.iter().filter(|record| record.memory == memory) {
        let known = last.entry((&record.workspace, &record.agent)).or_insert(record);
        if record.at >= known.at {
            *known = record;
        }
    }
    last.into_values().collect()
}

/// The agents that hear of a retraction by this caller.
fn notified_agents(caller: &Caller, reach: &Reach) -> BTreeSet<(Workspace, Agent)> {
    let copies = reach.memories.iter().filter(|reached| reached.is_copy);
    let told = copies.flat_map(|ReachedMemory { memory, .. }| {
        last_told(&reach.told, memory.id).into_iter().filter(|record| still_reads(record, memory))
    });
    let told = told.map(|record| (record.workspace.clone(), record.agent.clone()));
    let owners = reach.memories.iter().map(|reached| {
        let Memory { workspace, owner, .. } = &*reached.memory;
        (workspace.clone(), owner.clone())
    });
    let hears = |agent: &Agent| *agent != caller.agent && !is_nobody(agent);
    told.chain(owners).filter(|(_, agent)| hears(agent)).collect()
}

/// Whether who received a memory may read it now: who may not hears nothing of it.
fn still_reads(record: &KnowledgeRecord, memory: &Memory) -> bool {
    let (agent, user) = (record.agent.clone(), record.user.clone());
    Sight { agent, user, ..Sight::of_owner(memory) }.sees(memory)
}

/// Whether an author is no agent that receives texts.
fn is_nobody(agent: &Agent) -> bool {
    agent.is_anonymous() || agent.is_legacy() || *agent == Agent::system()
}

/// Marks the memory and its copies as retracted, each as an item of the operation. Returns the
/// memory as it is then.
fn retract_reached(
    tx: &mut Tx<'_>,
    caller: &Caller,
    operation: &BulkOperation,
    retraction: &Retraction,
    reach: &Reach,
) -> Result<Option<StoredMemory>> {
    let mut first = None;
    let copies = reach.memories.iter().filter(|reached| reached.is_copy);
    for ReachedMemory { memory: before, .. } in copies {
        if before.retraction.is_some() {
            continue;
        }
        let after = before.with(|after| after.retraction = Some(retraction.clone()));
        let (kind, now) = (EventKind::MemoryRetracted, operation.at);
        let after = MemoryChange { kind, fields: RETRACTION_FIELDS, caller, now }
            .write(tx, before, after)?;
        let (owner, revision) = (before.owner.clone(), after.revision);
        tx.add_bulk_item(operation, &BulkItem { memory: before.id, owner, revision })?;
        first.get_or_insert(after);
    }
    Ok(first)
}

/// Leaves each agent that received a retracted memory, and each author, a notice and an event.
fn notify_reached(tx: &mut Tx<'_>, operation: &BulkOperation, reach: &Reach) -> Result<()> {
    // What was derived is marked for its author, who hears of the mark.
    for ReachedMemory { memory, .. } in reach.memories.iter().filter(|reached| reached.is_copy) {
        let notice = RetractionNotice {
            workspace: memory.workspace.clone(),
            agent: memory.owner.clone(),
            user: None,
            memory: memory.id,
            operation: operation.id,
            kind: RetractionNoticeKind::Own,
            told_at: None,
            actor: operation.agent.clone(),
            at: operation.at,
        };
        for record in last_told(&reach.told, memory.id) {
            if record.agent == memory.owner || !still_reads(record, memory) {
                continue;
            }
            let told = RetractionNotice {
                workspace: record.workspace.clone(),
                agent: record.agent.clone(),
                user: record.user.clone(),
                kind: RetractionNoticeKind::Told,
                told_at: Some(record.at),
                ..notice.clone()
            };
            notify(tx, operation, told)?;
        }
        notify(tx, operation, notice)?;
    }
    Ok(())
}

/// Stores a notice for an agent other than the one that retracted, with an event that it sees.
fn notify(tx: &mut Tx<'_>, operation: &BulkOperation, notice: RetractionNotice) -> Result<()> {
    if notice.agent == operation.agent || is_nobody(&notice.agent) {
        return Ok(());
    }
    tx.put_retraction_notice(&notice)?;
    let item = ItemFigures { id: notice.memory.to_string(), bytes: 0, tokens: 0 };
    let further = [("agent_id", json!(notice.agent)), ("operation", json!(operation.id))];
    let RetractionNotice { workspace, agent, memory, user, .. } = notice;
    let (kind, actor) = (EventKind::AgentMemoryRetracted, &operation.agent);
    let subject = memory.to_string();
    tx.append_event(&NewEvent {
        owner: agent,
        user_id: user,
        details: work_details(&[item], &further),
        ..NewEvent::for_subject(kind, &workspace, subject, actor, operation.at, Sharing::Private)
    })?;
    Ok(())
}

/// Takes the notices of an operation back: those who heard of a retraction hear that the memory holds
/// again.
pub(super) fn take_back(tx: &mut Tx<'_>, operation: &BulkOperation, now: Timestamp) -> Result<()> {
    for heard in tx.take_back_notices(operation.id)? {
        let kind = RetractionNoticeKind::Restored;
        tx.put_retraction_notice(&RetractionNotice { kind, at: now, ..heard })?;
    }
    Ok(())
}

/// The retractions that wait for a caller, each with its memory as the caller sees it.
pub(super) fn waiting_retractions(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    heard_at: Option<Timestamp>,
) -> Result<Vec<(RetractionNotice, Memory)>> {
    if caller.agent.is_anonymous() {
        return Ok(Vec::new());
    }
    let most = limits::RETRACTION_NOTICES;
    let (workspace, user) = (&caller.workspace, caller.user.as_deref());
    let mut found = Vec::new();
    for notice in tx.retraction_notices(workspace, &caller.agent, user, heard_at, most)? {
        // What is hidden from the agent since does not exist for it.
        if let Some(memory) = tx.memory(sight, notice.memory)? {
            found.push((notice, show(tx, sight, memory)?));
        }
    }
    Ok(found)
}
