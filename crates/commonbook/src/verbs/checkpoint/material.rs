//! What a session holds for the agent that resumes it: memories, entities, handoffs, cases.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::case::CaseKey;
use crate::model::checkpoint::{CasePosition, OpenHandoff};
use crate::model::collaboration::{EdgeFilter, HandoffEdge};
use crate::model::handoff::{HandoffFilter, HandoffSide, HandoffStatus};
use crate::model::memory::{ListOrder, Memory};
use crate::model::search::{MemoryFilter, MemoryRef};
use crate::model::session::Session;
use crate::prompt::item::{EntitySummary, MemorySummary};
use crate::prompt::resume::ResumeMaterial;
use crate::store::Transaction;
use crate::verbs::ops::find_visible::mentioned_items;

/// What a session holds, as far as the caller sees, up to a position in the journal.
pub(super) fn resume_material(
    tx: &dyn Transaction,
    caller: &Caller,
    sight: &Sight,
    session: &Session,
    until: Option<u64>,
) -> Result<ResumeMaterial> {
    let filter = MemoryFilter { session: Some(session.id.to_string()), ..MemoryFilter::default() };
    let most = u32::try_from(limits::RESUME_MEMORIES).unwrap_or(u32::MAX);
    let beyond = until.map(|until| until + 1);
    let found = tx.memories(sight, &filter, ListOrder::Newest, beyond, most)?;
    let memories = found.into_iter().map(|(_, memory)| memory);
    let usable = memories.filter(Memory::is_usable);
    let usable: Vec<Memory> = usable.collect();
    let mut cases = Vec::new();
    if let Some(key) = &session.case
        && let Some(case) = tx.case(&session.workspace, key)?
    {
        cases.push(CasePosition {
            key: case.key.to_string(),
            title: case.title,
            context_version: case.version,
            read: read_position(tx, caller, key)?.min(case.version),
        });
    }
    let entities = mentioned_entities(tx, sight, session, &usable)?;
    let places: Vec<MemoryRef> =
        usable.iter().map(|memory| (memory.workspace.clone(), memory.id)).collect();
    let marks = tx.contradiction_marks(sight, &places)?;
    let summaries = usable.into_iter().map(MemorySummary::from);
    let memories = summaries.map(|summary| summary.with_contradictions(&marks)).collect();
    let (handoffs, handoffs_left) = open_handoffs(tx, caller, session)?;
    let history = history(tx, caller, session)?;
    Ok(ResumeMaterial { memories, entities, handoffs, handoffs_left, history, cases })
}

/// The entities that these memories mention, those of the newest memories first.
fn mentioned_entities(
    tx: &dyn Transaction,
    sight: &Sight,
    session: &Session,
    memories: &[Memory],
) -> Result<Vec<EntitySummary>> {
    let places: BTreeMap<MemoryId, usize> =
        memories.iter().enumerate().map(|(place, memory)| (memory.id, place)).collect();
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let place = |id: MemoryId| places.get(&id).copied().unwrap_or(memories.len());
    let mut mentions = tx.entities_mentioned_in(sight, &session.workspace, &ids)?;
    mentions.sort_by_key(|mention| place(mention.memory));
    let mut summaries =
        mentioned_items(tx, &session.workspace, &mentions, |id| memories.get(place(id)))?;
    let latest = mentions.iter().filter_map(|mention| summaries.remove(&mention.entity));
    Ok(latest.take(limits::RESUME_ENTITIES).collect())
}

/// The open handoffs between other agents and the caller or the session's agent, oldest first, and
/// the number of further open ones.
fn open_handoffs(
    tx: &dyn Transaction,
    caller: &Caller,
    session: &Session,
) -> Result<(Vec<OpenHandoff>, usize)> {
    let sight = Sight::writing(caller)?;
    let status: Vec<HandoffStatus> =
        HandoffStatus::ALL.iter().copied().filter(|status| status.is_open()).collect();
    let own = HandoffFilter {
        side: HandoffSide::Either,
        status,
        oldest_first: true,
        ..HandoffFilter::default()
    };
    let with = Some(session.agent.clone());
    let of_session = HandoffFilter { side: HandoffSide::All, with, ..own.clone() };
    let filters = if session.agent == caller.agent { vec![own] } else { vec![own, of_session] };
    let (mut found, mut left) = (Vec::new(), 0);
    for filter in &filters {
        let tasks = tx.tasks(&sight, filter, limits::RESUME_HANDOFFS)?;
        let all = usize::try_from(tx.handoff_count(&sight, filter)?).unwrap_or(usize::MAX);
        left += all.saturating_sub(tasks.len());
        found.extend(tasks.into_iter().map(|(_, handoff)| handoff));
    }
    let mut seen = BTreeSet::new();
    found.retain(|handoff: &OpenHandoff| seen.insert(handoff.id));
    Ok((found, left))
}

/// The handoffs of a session and its case, newest first.
fn history(tx: &dyn Transaction, caller: &Caller, session: &Session) -> Result<Vec<HandoffEdge>> {
    let sight = Sight::writing(caller)?;
    let case = session.case.as_ref().map(ToString::to_string);
    let filter = EdgeFilter { work: Some((session.id.to_string(), case)), ..EdgeFilter::default() };
    let mut edges = tx.edges(&sight, &filter, limits::PAGE_MAX)?;
    edges.reverse();
    Ok(edges)
}

fn read_position(tx: &dyn Transaction, caller: &Caller, key: &CaseKey) -> Result<u64> {
    tx.cursor(&caller.workspace, &caller.agent, Some(key))
}
