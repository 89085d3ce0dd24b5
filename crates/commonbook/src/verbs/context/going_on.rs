//! Going on: what a task means that names no matter, such as "Continue where we left off".

use std::collections::HashMap;

use crate::base::error::Result;
use crate::base::id::SessionId;
use crate::model::access::{Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::handoff::{Handoff, HandoffFilter, HandoffSide, HandoffStatus};
use crate::model::memory::{ListOrder, Memory};
use crate::model::search::MemoryFilter;
use crate::model::session::{Session, SessionFilter};
use crate::prompt::briefing::LastSession;
use crate::prompt::news::{NEWEST_MEMORIES_MAX, news_of};
use crate::store::Tx;
use crate::verbs::ops::heirs::show_all;
use commonbook_text::referring::goes_on;

/// Memories of earlier work that are considered: as many as a context can have in full and as headlines.
const EARLIER_MEMORIES_MAX: u32 = 20;

/// Accepted handoffs of the caller that are considered, the newest.
const ACCEPTED_HANDOFFS_MAX: u32 = 20;

/// Unfinished handoffs that one text tells.
const UNFINISHED_HANDOFFS_MAX: usize = 2;

/// The type of what was said, not found out.
const CONVERSATION: &str = "conversation";

/// The work that a task goes on with.
#[derive(Default)]
pub(super) struct EarlierWork {
    /// The memories of the last session and of the caller's present one, newest first.
    pub(super) memories: Vec<Memory>,
    /// What other agents saved since.
    pub(super) news: Vec<Memory>,
}

/// The work that this task goes on with: that of the last session of the caller in which something was
/// saved, else of any agent's; nothing if the task names its own matter. `present` is the caller's session.
pub(super) fn earlier_work(
    tx: &Tx<'_>,
    caller: &Caller,
    present: Option<SessionId>,
    task: &str,
) -> Result<EarlierWork> {
    if !goes_on(task) {
        return Ok(EarlierWork::default());
    }
    let home = Sight::reading_at_home(caller)?;
    let own = last_written_sessions(tx, &home, Some(caller))?;
    let last = last_session(tx, &home, &own, present)?;
    let mut found: Vec<(u64, StoredMemory)> = Vec::new();
    let mut since = None;
    for session in own.iter().filter(|session| Some(session.id) == present).chain(&last) {
        let filter =
            MemoryFilter { session: Some(session.id.to_string()), ..MemoryFilter::default() };
        let saved = tx.memories(&home, &filter, ListOrder::Newest, None, EARLIER_MEMORIES_MAX)?;
        since = saved.first().map(|(position, _)| *position);
        found.extend(saved);
    }
    let tells =
        |memory: &StoredMemory| memory.is_usable() && memory.memory_type.as_str() != CONVERSATION;
    let memories = found.into_iter().map(|(_, memory)| memory).filter(tells);
    let memories = show_all(tx, &home, memories.take(EARLIER_MEMORIES_MAX as usize).collect())?;
    let news = since.map(|since| news_since(tx, caller, &home, since)).transpose()?;
    Ok(EarlierWork { memories, news: news.unwrap_or_default() })
}

/// The session that a session which begins may go on with, for a caller that has heard nothing in it yet.
pub(super) fn session_to_resume(
    tx: &Tx<'_>,
    caller: &Caller,
    present: Option<SessionId>,
) -> Result<Option<LastSession>> {
    let home = Sight::reading_at_home(caller)?;
    let own = last_written_sessions(tx, &home, Some(caller))?;
    let last = last_session(tx, &home, &own, present)?;
    Ok(last.map(|session| {
        let other = (session.agent != caller.agent).then_some(session.agent);
        LastSession { other, begun: session.started_at }
    }))
}

/// The last session but the `present` one: of those of the caller, the `own` ones, else of any agent.
fn last_session(
    tx: &Tx<'_>,
    home: &Sight,
    own: &[Session],
    present: Option<SessionId>,
) -> Result<Option<Session>> {
    let is_earlier = |session: &&Session| Some(session.id) != present;
    match own.iter().find(is_earlier) {
        Some(last) => Ok(Some(last.clone())),
        None => Ok(last_written_sessions(tx, home, None)?.iter().find(is_earlier).cloned()),
    }
}

/// The latest sessions in which something was saved, of this caller or of any agent: two, since one may
/// be the present one.
fn last_written_sessions(
    tx: &Tx<'_>,
    home: &Sight,
    owner: Option<&Caller>,
) -> Result<Vec<Session>> {
    let owner = owner.map(|caller| caller.agent.to_string());
    let filter = SessionFilter { owner, written: true, ..SessionFilter::default() };
    Ok(tx.sessions(home, &filter, None, 2)?.into_iter().map(|(_, session)| session).collect())
}

/// What other agents saved after this position of the journal.
pub(in crate::verbs) fn news_since(
    tx: &Tx<'_>,
    caller: &Caller,
    home: &Sight,
    position: u64,
) -> Result<Vec<Memory>> {
    let filter = MemoryFilter::default();
    let newest = tx.memories(home, &filter, ListOrder::Newest, None, NEWEST_MEMORIES_MAX)?;
    let (places, newest): (Vec<u64>, Vec<StoredMemory>) = newest.into_iter().unzip();
    let newest = show_all(tx, home, newest)?;
    Ok(news_of(places.into_iter().zip(newest).collect(), &caller.agent, position))
}

/// The handoffs that the caller accepted in another session than its `present` one and has not ended, newest first,
/// without those that the session has `heard`.
pub(super) fn unfinished_handoffs(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    present: Option<SessionId>,
    heard: &HashMap<String, u64>,
) -> Result<Vec<Handoff>> {
    if caller.agent.is_anonymous() {
        return Ok(Vec::new());
    }
    let filter = HandoffFilter {
        side: HandoffSide::Received,
        status: vec![HandoffStatus::Accepted],
        ..HandoffFilter::default()
    };
    let accepted = tx.handoffs(sight, &filter, None, ACCEPTED_HANDOFFS_MAX)?;
    let is_unfinished = |handoff: &Handoff| {
        let accepted_in = handoff.accepted_in.as_deref().and_then(SessionId::parse);
        accepted_in != present && !heard.contains_key(&handoff.id.to_string())
    };
    let accepted = accepted.into_iter().map(|(_, handoff)| handoff).filter(is_unfinished);
    Ok(accepted.take(UNFINISHED_HANDOFFS_MAX).collect())
}
