//! Starting, continuing, ending and showing sessions.

use jiff::{SignedDuration, Timestamp};

use super::Commonbook;
use super::case;
use super::memory::keep_memory;
use super::ops::heirs::show_all;
use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, SessionId};
use crate::base::limits;
use crate::base::page::{Page, PageCursor, PageSize};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::{Caller, session_id};
use crate::model::case::{CaseStatus, NewEntry};
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::{ListOrder, Memory, MemoryType};
use crate::model::search::MemoryFilter;
use crate::model::session::{
    EndSession, EndSessionResult, GetSession, ListSessions, Session, SessionDetails, SessionFilter,
    SessionName, SessionOutcome, SessionStatus, StartSession, StartSessionResult, TouchSession,
    unknown_session,
};
use crate::store::Tx;
use crate::verbs::ops::write_once::WriteScope;

/// Sessions that one transaction of a sweep ends at most.
const SESSION_SWEEP_MAX: u32 = 100;

impl Commonbook {
    /// Starts a session of the caller, or continues the one that it started under the same
    /// `client_session`.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field; `not_found` if the case does not exist.
    pub fn start_session(
        &self,
        caller: &Caller,
        request: &StartSession,
    ) -> Result<StartSessionResult> {
        let own = request.client_session.as_deref();
        let own = own.map(|own| session_id("client_session", own)).transpose()?;
        let now = self.clock.now();
        let id = SessionId::new(&*self.ids, now);
        let key = request.case.clone();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            if let Some(key) = &key {
                case::find_case(tx, caller, key)?;
            }
            let found = match &own {
                Some(own) => tx.own_session(&caller.workspace, &caller.agent, own)?,
                None => None,
            };
            // A session for another user is not this user's.
            if let Some(before) = found.filter(|found| found.user_id == caller.user) {
                let (mut session, resumed) = before.with_touch(now);
                session.case = key.clone().or(session.case);
                session.client = caller.client.clone().or(session.client);
                tx.replace_session(&session)?;
                if let Some(kind) = resumed {
                    tx.append_event(&session_event(kind, &session, &caller.agent, now))?;
                }
                return Ok(started(session, SessionOutcome::Found, key.is_some()));
            }
            let session = Session {
                case: key.clone(),
                client_session: own.clone(),
                ..Session::of(caller, id, now)
            };
            record_session(tx, &session, caller, now)?;
            Ok(started(session, SessionOutcome::Started, key.is_some()))
        })?;
        Ok(once.answer)
    }

    /// Marks a session of the caller as active or paused.
    ///
    /// # Errors
    /// `not_found` if no such session is in sight; `forbidden` (`ownership_mismatch`) if it is
    /// another agent's.
    pub fn touch_session(&self, caller: &Caller, request: &TouchSession) -> Result<Session> {
        let (name, pause) = (SessionName::read(&request.session)?, request.pause);
        let now = self.clock.now();
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let before = resolve_session_name(tx, sight, caller, &name)?;
            before.may_change(caller)?;
            let (session, resumed) = before.with_touch(now);
            let (session, kind) = match (pause, before.status) {
                (true, SessionStatus::Paused) => (before, None),
                (true, _) => {
                    let status = SessionStatus::Paused;
                    (Session { status, ..session }, Some(EventKind::SessionPaused))
                }
                (false, _) => (session, resumed),
            };
            tx.replace_session(&session)?;
            if let Some(kind) = kind {
                tx.append_event(&session_event(kind, &session, &caller.agent, now))?;
            }
            Ok(session)
        })?;
        Ok(once.answer)
    }

    /// Ends a session of the caller. A summary becomes an entry of its case, or a memory if it has
    /// no case or the case is not open.
    ///
    /// # Errors
    /// As [`Self::touch_session`]; `invalid` if no session is named, `invalid` and `too_large` with
    /// the summary; `conflict` if the session has ended, unless the call brings the summary that it lacks.
    pub fn end_session(&self, caller: &Caller, request: &EndSession) -> Result<EndSessionResult> {
        let name = self.session_name(caller, request.session.as_deref())?;
        let now = self.clock.now();
        let id = MemoryId::new(&*self.ids, now);
        let summary = request.summary.clone();
        if let Some(summary) = &summary {
            // Reports a bad summary before anything is read.
            new_entry(summary).memory(caller, None, id, now)?;
        }
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let before = resolve_session_name(tx, sight, caller, &name)?;
            before.may_change(caller)?;
            let is_late = before.status == SessionStatus::Completed;
            // An agent that is asked for its digest gives it after the end.
            if is_late && (summary.is_none() || before.summary.is_some()) {
                return Err(Error::conflict(format!("session {} has ended", before.id))
                    .hint("Start it again under the same client_session, or resume it."));
            }
            let mut session = if is_late { before } else { before.with_end(now) };
            let hint = match &summary {
                Some(summary) => {
                    let memory = sum_up(tx, caller, &session, id, summary, now)?;
                    session.summary = Some(memory.entry_id);
                    memory.hint
                }
                None => missing_digest(tx, sight, &session)?,
            };
            match is_late {
                true => tx.replace_session(&session)?,
                false => close_session(tx, &session, &caller.agent, now)?,
            }
            Ok(EndSessionResult { session, hint })
        })?;
        Ok(once.answer)
    }

    /// One session with what was saved in it, as far as the caller sees.
    ///
    /// # Errors
    /// `not_found` if no such session is in sight.
    pub fn get_session(&self, caller: &Caller, request: &GetSession) -> Result<SessionDetails> {
        let (name, sight) = (SessionName::read(&request.session)?, Sight::reading_at_home(caller)?);
        self.store.read(|tx| {
            let session = resolve_session_name(tx, &sight, caller, &name)?;
            let filter =
                MemoryFilter { session: Some(session.id.to_string()), ..MemoryFilter::default() };
            let newest =
                tx.memories(&sight, &filter, ListOrder::Newest, None, limits::PAGE_DEFAULT)?;
            Ok(SessionDetails {
                memory_count: tx.session_memory_count(&sight, &session.id.to_string())?,
                session: session.for_agent(&caller.agent),
                memories: show_all(
                    tx,
                    &sight,
                    newest.into_iter().map(|(_, memory)| memory).collect(),
                )?,
            })
        })
    }

    /// The sessions in the caller's workspace that it sees, last started first.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range, the cursor is malformed, or the owner's name is
    /// invalid.
    pub fn list_sessions(&self, caller: &Caller, request: &ListSessions) -> Result<Page<Session>> {
        let sight = Sight::reading_at_home(caller)?;
        let size = PageSize::of(request.limit)?;
        let from = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        let filter = SessionFilter {
            owner: MemoryFilter::owner(request.owner.as_deref())?,
            status: request.status,
            case: request.case.clone(),
            unsummarised: request.unsummarised,
            written: false,
        };
        let rows = self.store.read(|tx| tx.sessions(&sight, &filter, from, size.rows()))?;
        Ok(size.page_by_position(rows).map(|session| session.for_agent(&caller.agent)))
    }

    /// The session that a request names; if it names none, the session that the caller works in.
    pub(super) fn session_name(&self, caller: &Caller, name: Option<&str>) -> Result<SessionName> {
        match name.or(caller.session.as_deref()) {
            Some(name) => SessionName::read(name),
            None => Err(Error::invalid("session", "no session is named and you work in none")
                .hint("Name a session from list_sessions, or start one with start_session.")),
        }
    }

    /// Ends the sessions in which nothing was written for a day.
    pub(super) fn end_idle_sessions(&self, sure: Timestamp, now: Timestamp) -> Result<()> {
        let hours = SignedDuration::from_hours(limits::SESSION_IDLE_HOURS);
        let before = sure.checked_sub(hours).unwrap_or(Timestamp::MIN);
        loop {
            let ended = self.store.write(move |tx| {
                let idle = tx.idle_sessions(before, SESSION_SWEEP_MAX)?;
                for session in &idle {
                    close_session(tx, &session.with_end(now), &Agent::system(), now)?;
                }
                Ok(idle.len())
            })?;
            if ended < SESSION_SWEEP_MAX as usize {
                return Ok(());
            }
        }
    }
}

/// The answer to the start of a session; an agent that joins a case hears what it is to leave there.
fn started(session: Session, outcome: SessionOutcome, joins_case: bool) -> StartSessionResult {
    let hint = session.digest_hint().filter(|_| joins_case);
    StartSessionResult { session, outcome, hint }
}

/// What the agent of an ended session is asked for: its digest, if it saved anything on an open case.
fn missing_digest(tx: &Tx<'_>, sight: &Sight, session: &Session) -> Result<Option<String>> {
    let Some(key) = &session.case else { return Ok(None) };
    let case = tx.case(&session.workspace, key)?;
    let is_open = case.is_some_and(|case| case.status == CaseStatus::Open);
    let has_saved = is_open && tx.session_memory_count(sight, &session.id.to_string())? > 0;
    Ok(session.missing_digest_hint().filter(|_| has_saved))
}

/// Stores a new session, with its event.
pub(super) fn record_session(
    tx: &mut Tx<'_>,
    session: &Session,
    caller: &Caller,
    now: Timestamp,
) -> Result<()> {
    let event = session_event(EventKind::SessionStarted, session, &session.agent, now);
    let sequence = tx.append_event(&event)?;
    tx.insert_session(session, caller, sequence)
}

/// An event of a session.
pub(super) fn session_event(
    kind: EventKind,
    session: &Session,
    actor: &Agent,
    now: Timestamp,
) -> NewEvent {
    let (id, sharing) = (session.id.to_string(), session.event_sharing());
    let event = NewEvent::for_subject(kind, &session.workspace, id, actor, now, sharing);
    NewEvent { owner: session.agent.clone(), ..event }
}

/// Stores the end of a session, with its events: one more if it lacks a summary.
fn close_session(tx: &mut Tx<'_>, session: &Session, actor: &Agent, now: Timestamp) -> Result<()> {
    tx.replace_session(session)?;
    tx.append_event(&session_event(EventKind::SessionEnded, session, actor, now))?;
    if tx.owes_summary(session)? {
        tx.append_event(&session_event(EventKind::SessionUnsummarised, session, actor, now))?;
    }
    Ok(())
}

/// The session of this name in sight; a `client_session` is looked up among the caller's own.
pub(super) fn resolve_session_name(
    tx: &Tx<'_>,
    sight: &Sight,
    caller: &Caller,
    name: &SessionName,
) -> Result<Session> {
    let at_home = Sight { workspaces: vec![caller.workspace.clone()], ..sight.clone() };
    let found = match name {
        SessionName::Id(id) => tx.session(&at_home, *id)?,
        SessionName::Own(own) => tx
            .own_session(&caller.workspace, &caller.agent, own)?
            .filter(|session| at_home.can_see(&session.session_visibility())),
    };
    found.ok_or_else(|| match name {
        SessionName::Id(id) => unknown_session(&id.to_string()),
        SessionName::Own(own) => unknown_session(own),
    })
}

fn new_entry(summary: &str) -> NewEntry {
    NewEntry { summary: summary.to_owned(), ..NewEntry::default() }
}

/// The stored summary of a session.
pub(super) struct SummaryEntry {
    /// Its memory.
    pub(super) entry_id: MemoryId,
    /// What its author should do now if others cannot read it.
    pub(super) hint: Option<String>,
}

/// Stores the summary of a session: as an entry of its case if that takes entries, else as a
/// memory.
pub(super) fn sum_up(
    tx: &mut Tx<'_>,
    caller: &Caller,
    session: &Session,
    id: MemoryId,
    summary: &str,
    now: Timestamp,
) -> Result<SummaryEntry> {
    let caller = Caller { session: Some(session.id.to_string()), ..caller.clone() };
    let mut status_hint = None;
    if let Some(key) = &session.case {
        let case = case::find_case(tx, &caller, key)?;
        // A case that was closed meanwhile does not lose what the session found.
        if case.status == CaseStatus::Open {
            let memory = new_entry(summary).memory(&caller, Some(key), id, now)?;
            let supersedes = match memory.is_quarantined() {
                true => Vec::new(),
                false => case::digested_of_session(tx, &caller, &case, session)?,
            };
            let appended = case::append_one(tx, &caller, case, memory, supersedes, now)?;
            let hint = appended.entries.into_iter().find_map(|placed| placed.hint);
            return Ok(SummaryEntry { entry_id: id, hint });
        }
        status_hint = Some(format!(
            "Case {key} is {}, so the summary is a memory of the session. To have it in the case, \
             reopen the case and append it.",
            case.status
        ));
    }
    let memory = new_entry(summary).memory(&caller, None, id, now)?;
    let memory_type = MemoryType::episodic();
    let memory = keep_memory(tx, &Memory { memory_type, ..memory }, now)?;
    let hint = memory.quarantine_hint(caller.door).or(status_hint);
    Ok(SummaryEntry { entry_id: id, hint })
}
