//! The session of a call that names none: one rule for every door.
//!
//! A connection has a session of its own: the one that a client's hooks began for the same agent,
//! else a new one. A call without a connection joins the open session of its agent, user, token and
//! workspace in which something was written last. Unnamed callers without a connection work in none:
//! strangers share their name. Nor does a person, who chooses a session or works without one.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};

use super::write_once::WriteScope;
use crate::base::error::{Error, ErrorKind, Result, unless_unwritable};
use crate::base::id::SessionId;
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::connection::{ConnectionSessions, OwnSession};
use crate::model::caller::{Caller, EntryPoint, SessionStart};
use crate::model::session::{EndSession, Session, SessionPool, SessionStatus, SessionUse};
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::session::record_session;

/// The message to a call whose session another process has begun.
const BEGUN_MEANWHILE: &str = "another process has just begun the session of this agent";

impl Commonbook {
    /// The caller in the session that its call belongs to, if it names none and the verb uses one. A
    /// new session is stored with the first write in it, so that a refused write leaves no trace.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn in_working_session<'c>(
        &self,
        caller: &'c Caller,
        usage: SessionUse,
    ) -> Result<Cow<'c, Caller>> {
        // Hooks name the session of their client.
        if usage == SessionUse::Unused || caller.door == EntryPoint::Hook {
            return Ok(Cow::Borrowed(caller));
        }
        let own = match &caller.connection {
            Some(connection) => {
                self.own_session(caller, usage, connection, SessionPool::OfClient)?
            }
            None if caller.session.is_some() || caller.agent.is_anonymous() => None,
            None if caller.agent == Agent::human() => None,
            None => self.own_session(caller, usage, &self.beginning, SessionPool::Own)?,
        };
        let Some(own) = own else { return Ok(Cow::Borrowed(caller)) };
        let start = SessionStart { user: caller.user.clone(), shared: caller.connection.is_none() };
        let begins_session = (!own.is_stored).then_some(start);
        Ok(Cow::Owned(Caller { session: Some(own.id), begins_session, ..caller.clone() }))
    }

    /// The caller's own session among these; `None` if the call names another one. Parallel calls
    /// that begin a session begin the same.
    fn own_session(
        &self,
        caller: &Caller,
        usage: SessionUse,
        sessions: &ConnectionSessions,
        pool: SessionPool,
    ) -> Result<Option<OwnSession>> {
        let mut sessions = sessions.lock();
        let session = sessions.of(caller);
        let known = session.own.clone();
        let known_id = known.as_ref().map(|known| known.id.as_str());
        let names_another = |id: &str| Some(id) != known_id;
        if session.chosen.is_some() || caller.session.as_deref().is_some_and(names_another) {
            return Ok(None);
        }
        let sight = Sight::reading(caller).or_else(|_| Sight::consulting(caller));
        let (Ok(sight), now) = (sight, self.clock.now()) else { return Ok(None) };
        let stored = known_id.and_then(SessionId::parse);
        let (stored, open) = self.store.read(|tx| {
            let stored = stored.map(|id| tx.session(&sight, id)).transpose()?.flatten();
            // Calls that stand alone follow what is written last.
            let is_kept = pool == SessionPool::OfClient && stored.as_ref().is_some_and(is_open);
            let open = if is_kept { None } else { find_open(tx, caller, pool, now)? };
            Ok((stored, open))
        })?;
        session.own = match (known, stored, open) {
            (_, _, Some(open)) => {
                Some(OwnSession { id: open.id.to_string(), begun_by: None, is_stored: true })
            }
            (Some(known), Some(stored), None) if is_open(&stored) && pool != SessionPool::Own => {
                Some(OwnSession { is_stored: true, ..known })
            }
            // Begun by a call that has not written yet, or was refused.
            (Some(known), None, None) if !known.is_stored => Some(known),
            _ => None,
        };
        if session.own.is_none() && usage == SessionUse::Begins && self.may_begin(caller) {
            let id = SessionId::new(&*self.ids, now).to_string();
            let owner = Caller { connection: None, session: None, ..caller.clone() };
            session.own = Some(OwnSession { id, begun_by: Some(owner), is_stored: false });
        }
        Ok(session.own.clone().filter(|own| own.is_stored || usage == SessionUse::Begins))
    }

    fn may_begin(&self, caller: &Caller) -> bool {
        Sight::writing(caller).is_ok() && self.policy.may_write(caller).is_ok()
    }

    /// Notes that a call which begins a session was answered: the next calls of its connection work
    /// there.
    pub fn note_session_begun(&self, caller: &Caller) {
        let (Some(connection), Some(_)) = (&caller.connection, &caller.begins_session) else {
            return;
        };
        if let Some(own) = &mut connection.lock().of(caller).own {
            own.is_stored = true;
        }
    }

    /// Ends the sessions that a connection began without being told.
    ///
    /// # Errors
    /// `unavailable` if the store cannot write.
    pub fn end_connection(&self, connection: &ConnectionSessions) -> Result<()> {
        for (caller, session) in connection.begun() {
            let request = EndSession { session: Some(session), ..EndSession::default() };
            match self.end_session(&caller, &request) {
                // It has ended before, or could not begin where the store can only be read.
                Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => {}
                ended => drop(unless_unwritable(ended)?),
            }
        }
        Ok(())
    }
}

/// Whether a call failed because another process began the shared session of its agent first: the
/// same call now joins it.
#[must_use]
pub fn was_begun_meanwhile(error: &Error) -> bool {
    error.kind == ErrorKind::Unavailable && error.message == BEGUN_MEANWHILE
}

/// Stores the session that a caller begins with this write.
///
/// # Errors
/// `unavailable` if another process has begun the session that both share ([`was_begun_meanwhile`]).
pub(in crate::verbs) fn begin_session(
    tx: &mut Tx<'_>,
    caller: &Caller,
    now: Timestamp,
) -> Result<()> {
    let Some(SessionStart { user, shared }) = &caller.begins_session else { return Ok(()) };
    let starter = Caller { user: user.clone(), ..caller.clone() };
    let Some(id) = caller.session.as_deref().and_then(SessionId::parse) else { return Ok(()) };
    // A parallel call has stored it.
    if tx.session(&Sight::writing(&starter)?, id)?.is_some() {
        return Ok(());
    }
    if *shared && find_open(tx, &starter, SessionPool::Own, now)?.is_some() {
        return Err(Error::new(ErrorKind::Unavailable, BEGUN_MEANWHILE)
            .hint("Repeat the call: it joins that session."));
    }
    record_session(tx, &Session::of(&starter, id, now), &starter, now)
}

/// [`begin_session`] as a step of every write.
pub(super) fn begin_with_write(
    tx: &mut Tx<'_>,
    WriteScope { caller, now, .. }: WriteScope<'_>,
) -> Result<()> {
    begin_session(tx, caller, now)
}

fn is_open(session: &Session) -> bool {
    session.status != SessionStatus::Completed
}

fn find_open(
    tx: &Tx<'_>,
    caller: &Caller,
    pool: SessionPool,
    now: Timestamp,
) -> Result<Option<Session>> {
    let hours = SignedDuration::from_hours(limits::SESSION_JOIN_HOURS);
    tx.open_session(caller, pool, now.checked_sub(hours).unwrap_or(Timestamp::MIN))
}
