//! What a session holds for the agent that resumes it: memories, entities, handoffs, cases.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::access::{Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::case::{Case, CaseEntry, UnreadCount};
use crate::model::checkpoint::{CasePosition, Checkpoint, OpenHandoff, ResumeOptions, memory_at};
use crate::model::collaboration::{EdgeFilter, HandoffEdge};
use crate::model::handoff::{HandoffFilter, HandoffSide, HandoffStatus};
use crate::model::memory::{ListOrder, Memory, MemoryChange, MemoryChangeKind};
use crate::model::search::{MemoryFilter, MemoryRef};
use crate::model::session::Session;
use crate::prompt::briefing::BriefingKey;
use crate::prompt::headlines::HeadlineItem;
use crate::prompt::item::{EntitySummary, MemorySummary};
use crate::prompt::resume::{ForgottenMemory, ResumeMaterial, ResumedEntry};
use crate::store::Tx;
use crate::verbs::case::{count_unread, entries_of};
use crate::verbs::context::news_since;
use crate::verbs::ops::find_visible::mentioned_items;
use crate::verbs::ops::heirs::{show, show_all};

/// Memories of a session, as they stood where it is resumed from.
#[derive(Default)]
struct SessionMemories {
    /// The memories, newest first.
    memories: Vec<Memory>,
    /// Those that were deleted since.
    forgotten: Vec<ForgottenMemory>,
    /// How they have changed since.
    changes: Vec<MemoryChange>,
    /// Older ones that were not read.
    beyond: u64,
    /// The position in the journal at which the newest was saved.
    newest: Option<u64>,
}

/// What a session holds, as far as the caller sees: as it is now, or as it stood at a checkpoint.
pub(super) fn resume_material(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    session: &Session,
    until: Option<&Checkpoint>,
    wanted: &ResumeOptions,
) -> Result<ResumeMaterial> {
    let found = session_memories(tx, sight, session, until, wanted)?;
    let SessionMemories { memories, forgotten, changes, beyond, newest } = found;
    let (mut cases, mut entries) = (Vec::new(), Vec::new());
    // A session that was not begun for a case is of the one to which it appended last.
    let appended_to = || memories.iter().find_map(|memory| memory.case.as_ref());
    if let Some(key) = session.case.as_ref().or_else(appended_to)
        && let Some(case) = tx.case(&session.workspace, key)?
    {
        let UnreadCount { mark, unread, .. } = count_unread(tx, caller, sight, &case)?;
        entries = other_entries(tx, caller, sight, &case, mark)?;
        entries.retain(|found| {
            let origin = found.entry.origin.as_ref();
            let is_told = |memory: &Memory| {
                found.entry.entry_id == Some(memory.id)
                    || origin.is_some_and(|origin| origin.sources.contains(&memory.id))
            };
            let is_later = until.is_some_and(|it| found.entry.at > Some(it.created_at));
            !is_later && !memories.iter().any(is_told)
        });
        cases.push(CasePosition {
            key: case.key.to_string(),
            title: case.title,
            context_version: case.version,
            read: case.version.saturating_sub(unread),
        });
    }
    let mut news = match (until, newest) {
        (None, Some(newest)) => news_since(tx, caller, sight, newest)?,
        (Some(_), _) | (_, None) => Vec::new(),
    };
    let is_entry =
        |memory: &Memory| entries.iter().any(|found| found.entry.entry_id == Some(memory.id));
    let is_of_session = |memory: &Memory| memories.iter().any(|own| own.id == memory.id);
    news.retain(|memory| !is_entry(memory) && !is_of_session(memory));
    let news = news.iter().map(HeadlineItem::of_memory).collect();
    let entities = mentioned_entities(tx, sight, session, &memories, &changes)?;
    let later =
        |entity: &&EntitySummary| until.is_some_and(|checkpoint| entity.at > checkpoint.created_at);
    let entities_later = entities.iter().filter(later).map(|entity| entity.id).collect();
    let places: Vec<MemoryRef> =
        memories.iter().map(|memory| (memory.workspace.clone(), memory.id)).collect();
    let marks = tx.contradiction_marks(sight, &places)?;
    let summaries = memories.iter().map(MemorySummary::of);
    let memories = summaries.map(|summary| summary.with_contradictions(&marks)).collect();
    let OpenHandoffs { handoffs, left, told } = open_handoffs(tx, caller, session, until)?;
    Ok(ResumeMaterial {
        as_of: until.map(|checkpoint| checkpoint.created_at),
        memories,
        memories_beyond: usize::try_from(beyond).unwrap_or(usize::MAX),
        forgotten,
        changes,
        entities,
        entities_later,
        handoffs,
        handoffs_left: left,
        handoffs_told: told,
        history: history(tx, caller, session)?,
        cases,
        entries,
        news,
    })
}

/// The newest entries of a case that can be told, newest first; those of others behind the mark are unread.
fn other_entries(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    case: &Case,
    mark: u64,
) -> Result<Vec<ResumedEntry>> {
    let after = case.version.saturating_sub(limits::RESUME_ENTRIES);
    let found = entries_of(tx, sight, case, after, case.version)?;
    let tellable = found.into_iter().rev().filter(|memory| !memory.is_quarantined());
    let told = show_all(tx, sight, tellable.collect())?.into_iter().map(|memory| {
        let is_of_other = memory.owner != caller.agent;
        let entry = CaseEntry::of(memory, Vec::new());
        ResumedEntry { is_unread: is_of_other && entry.position > mark, entry }
    });
    Ok(told.collect())
}

/// The memories of a session, newest first, as they are now or as they stood at a checkpoint.
fn session_memories(
    tx: &Tx<'_>,
    sight: &Sight,
    session: &Session,
    until: Option<&Checkpoint>,
    wanted: &ResumeOptions,
) -> Result<SessionMemories> {
    let id = session.id.to_string();
    let owner = wanted.agent.as_ref().map(ToString::to_string);
    let filter = MemoryFilter { session: Some(id), owner, ..MemoryFilter::default() };
    let most = u32::try_from(limits::RESUME_MEMORIES).unwrap_or(u32::MAX);
    let beyond = until.map(|checkpoint| checkpoint.position + 1);
    let mut found = tx.memories(sight, &filter, ListOrder::Newest, beyond, most)?;
    let oldest =
        found.last().map(|(position, _)| *position).filter(|_| found.len() >= most as usize);
    let beyond_limit = match oldest {
        Some(oldest) => tx.older_session_memories(sight, &filter, oldest)?,
        None => 0,
    };
    let newest = found.first().map(|(position, _)| *position);
    let Some(checkpoint) = until else {
        let memories = found.into_iter().map(|(_, memory)| memory);
        let memories = memories.filter(|memory| memory.is_usable()).collect();
        let memories = show_all(tx, sight, memories)?;
        return Ok(SessionMemories {
            memories,
            beyond: beyond_limit,
            newest,
            ..SessionMemories::default()
        });
    };
    let deleted = MemoryFilter { deleted: true, ..filter };
    found.extend(tx.memories(sight, &deleted, ListOrder::Newest, beyond, most)?);
    found.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
    let now: Vec<StoredMemory> = found.into_iter().map(|(_, memory)| memory).collect();
    let shown = show_all(tx, sight, now.clone())?;
    let changed: Vec<MemoryId> =
        now.iter().filter(|memory| memory.revision > 1).map(|memory| memory.id).collect();
    let revisions = tx.revisions_after(sight, &session.workspace, &changed, checkpoint.position)?;
    let mut past = SessionMemories { beyond: beyond_limit, ..SessionMemories::default() };
    for (memory, shown) in now.iter().zip(&shown).filter(|(memory, _)| !memory.is_quarantined()) {
        let then = memory_at(memory, &revisions, checkpoint);
        let Some(then) = then.filter(|then| then.is_usable()) else { continue };
        // A heir out of sight does not exist for the reader.
        let change = MemoryChange::between(&then, shown);
        past.changes.extend(change.clone());
        match change {
            Some(MemoryChange { change: MemoryChangeKind::Deleted, .. }) => {
                let (id, author, at) = (then.id, then.owner.clone(), then.recorded_at);
                past.forgotten.push(ForgottenMemory { id, author, at });
            }
            _ => past.memories.push(show(tx, sight, then)?),
        }
    }
    Ok(past)
}

/// The entities that these memories mention, those of the newest memories first. The mentions are of
/// the present texts: of a memory that said something else, only those that it had count.
fn mentioned_entities(
    tx: &Tx<'_>,
    sight: &Sight,
    session: &Session,
    memories: &[Memory],
    changes: &[MemoryChange],
) -> Result<Vec<EntitySummary>> {
    let places: BTreeMap<MemoryId, usize> =
        memories.iter().enumerate().map(|(place, memory)| (memory.id, place)).collect();
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let place = |id: MemoryId| places.get(&id).copied().unwrap_or(memories.len());
    let mut mentions = tx.entities_mentioned_in(sight, &session.workspace, &ids)?;
    let says = |memory: &Memory, value: &str| {
        let title = memory.title.as_deref().unwrap_or_default();
        format!("{title}\n{}", memory.text).to_lowercase().contains(&value.to_lowercase())
    };
    mentions.retain(|mention| {
        let is_changed = changes.iter().any(|change| change.id == mention.memory);
        let memory = memories.get(place(mention.memory));
        !is_changed || memory.is_some_and(|memory| says(memory, &mention.value))
    });
    mentions.sort_by_key(|mention| place(mention.memory));
    let mut summaries =
        mentioned_items(tx, &session.workspace, &mentions, |id| memories.get(place(id)))?;
    let latest = mentions.iter().filter_map(|mention| summaries.remove(&mention.entity));
    Ok(latest.take(limits::RESUME_ENTITIES).collect())
}

/// Open handoffs for an agent that resumes a session.
struct OpenHandoffs {
    handoffs: Vec<OpenHandoff>,
    /// The number of further ones.
    left: usize,
    /// The number of those that a briefing of the session has told.
    told: usize,
}

/// The open handoffs between other agents and the caller or the session's agent, oldest first,
/// without those that a briefing of the caller's session has told.
fn open_handoffs(
    tx: &Tx<'_>,
    caller: &Caller,
    session: &Session,
    until: Option<&Checkpoint>,
) -> Result<OpenHandoffs> {
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
    let count = |filter: &HandoffFilter| -> Result<usize> {
        Ok(usize::try_from(tx.handoff_count(&sight, filter)?).unwrap_or(usize::MAX))
    };
    let mut found = tx.tasks(&sight, &own, limits::RESUME_HANDOFFS)?;
    let mut all = count(&own)?;
    if session.agent != caller.agent {
        let of_session = HandoffFilter { side: HandoffSide::All, with, ..own };
        found.extend(tx.tasks(&sight, &of_session, limits::RESUME_HANDOFFS)?);
        // What the two agents hand to each other is in both.
        let of_both = HandoffFilter { side: HandoffSide::Either, ..of_session.clone() };
        all = (all + count(&of_session)?).saturating_sub(count(&of_both)?);
    }
    let mut seen = BTreeSet::new();
    found.retain(|(_, handoff)| seen.insert(handoff.id));
    let left = all.saturating_sub(found.len());
    let later = |position: u64| until.is_some_and(|checkpoint| position > checkpoint.position);
    let handoffs =
        found.into_iter().map(|(at, handoff)| OpenHandoff { later: later(at), ..handoff });
    let mut handoffs: Vec<OpenHandoff> = handoffs.collect();
    let count = handoffs.len();
    let heard = heard_items(tx, caller, session)?;
    // A briefing tells those that wait, and an accepted one is another state.
    handoffs.retain(|handoff| {
        handoff.status != HandoffStatus::Pending || !heard.contains(&handoff.id.to_string())
    });
    let told = count - handoffs.len();
    Ok(OpenHandoffs { handoffs, left, told })
}

/// The ids of what briefings have told in a session of the caller.
fn heard_items(tx: &Tx<'_>, caller: &Caller, session: &Session) -> Result<BTreeSet<String>> {
    if session.agent != caller.agent || caller.agent.is_anonymous() {
        return Ok(BTreeSet::new());
    }
    let name = session.client_session.clone().unwrap_or_else(|| session.id.to_string());
    let (workspace, agent) = (session.workspace.clone(), session.agent.clone());
    let heard = tx.briefing(&BriefingKey { workspace, agent, session: name })?;
    Ok(heard.items.into_keys().collect())
}

/// The handoffs of a session and its case, newest first.
fn history(tx: &Tx<'_>, caller: &Caller, session: &Session) -> Result<Vec<HandoffEdge>> {
    let sight = Sight::writing(caller)?;
    let case = session.case.as_ref().map(ToString::to_string);
    let filter = EdgeFilter { work: Some((session.id.to_string(), case)), ..EdgeFilter::default() };
    let mut edges = tx.edges(&sight, &filter, limits::PAGE_MAX)?;
    edges.reverse();
    Ok(edges)
}
