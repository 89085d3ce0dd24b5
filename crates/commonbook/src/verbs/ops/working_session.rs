//! The session of a call that names none: one rule for every door.
//!
//! A connection has a session of its own: the one that a client's hooks began for the same agent,
//! else a new one. A call without a connection joins the open session of its agent, user, token and
//! workspace in which something was written last. Unnamed callers without a connection work in none:
//! strangers share their name.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::presence;
use super::write_once::WriteScope;
use crate::base::error::{ErrorKind, Result};
use crate::base::id::SessionId;
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::connection::{ConnectionSessions, OwnSession};
use crate::model::session::{EndSession, Session, SessionPool, SessionStatus, SessionUse};
use crate::store::Transaction;
use crate::verbs::Commonbook;
use crate::verbs::session::record_session;

/// A session that was found or begun for a caller.
struct WorkingSession {
    id: String,
    is_new: bool,
}

impl Commonbook {
    /// The caller in the session that its call belongs to, if it names none and the verb uses one.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or written; `invalid` for a new agent whose name
    /// looks like that of a known one.
    pub fn in_working_session<'c>(
        &self,
        caller: &'c Caller,
        usage: SessionUse,
    ) -> Result<Cow<'c, Caller>> {
        // Hooks name the session of their client.
        if usage == SessionUse::Unused || caller.door == EntryPoint::Hook {
            return Ok(Cow::Borrowed(caller));
        }
        let session = match &caller.connection {
            Some(connection) => self.session_on_connection(caller, connection, usage)?,
            None if caller.session.is_some() || caller.agent.is_anonymous() => None,
            None => self.working_session(caller, usage, SessionPool::Own)?.map(|found| found.id),
        };
        Ok(match session {
            Some(id) => Cow::Owned(Caller { session: Some(id), ..caller.clone() }),
            None => Cow::Borrowed(caller),
        })
    }

    /// The session of a call on a connection; `None` if the call names another one.
    fn session_on_connection(
        &self,
        caller: &Caller,
        connection: &ConnectionSessions,
        usage: SessionUse,
    ) -> Result<Option<String>> {
        let mut sessions = connection.lock();
        let session = sessions.of(caller);
        let known = session.own.as_ref().map(|own| own.id.as_str());
        if session.chosen.is_some() || caller.session.as_deref().is_some_and(|id| Some(id) != known)
        {
            return Ok(None);
        }
        if let Some(known) = known {
            if self.is_open(caller, known)? {
                return Ok(Some(known.to_owned()));
            }
            // An idle session has ended while its connection stayed open.
            session.own = None;
        }
        let found = self.working_session(caller, usage, SessionPool::OfClient)?;
        if let Some(WorkingSession { id, is_new }) = &found {
            let owner = Caller { connection: None, session: None, ..caller.clone() };
            session.own = Some(OwnSession { id: id.clone(), begun_by: is_new.then_some(owner) });
        }
        Ok(found.map(|found| found.id))
    }

    /// The open session of a caller in a pool, else a new one if the verb may begin it.
    fn working_session(
        &self,
        caller: &Caller,
        usage: SessionUse,
        pool: SessionPool,
    ) -> Result<Option<WorkingSession>> {
        let now = self.clock.now();
        let found = self.store.read(|tx| find_open(tx, caller, pool, now))?;
        if let Some(found) = found {
            return Ok(Some(WorkingSession { id: found.id.to_string(), is_new: false }));
        }
        let Ok(sight) = Sight::writing(caller) else { return Ok(None) };
        if usage != SessionUse::Begins || self.policy.may_write(caller).is_err() {
            return Ok(None);
        }
        let (caller, id) = (caller.clone(), SessionId::new(&*self.ids, now));
        let (ids, checkpoints) = (Arc::clone(&self.ids), self.checkpoints);
        self.store.write(move |tx| {
            // Another call can have begun one since.
            if let Some(found) = find_open(tx, &caller, pool, now)? {
                return Ok(Some(WorkingSession { id: found.id.to_string(), is_new: false }));
            }
            let scope = WriteScope { caller: &caller, sight: &sight, now, ids: &*ids, checkpoints };
            presence::refuse_lookalike(tx, scope)?;
            presence::note_writer(tx, scope)?;
            record_session(tx, &Session::of(&caller, id, now), &caller, now)?;
            Ok(Some(WorkingSession { id: id.to_string(), is_new: true }))
        })
    }

    /// Whether a session of the caller has not ended.
    fn is_open(&self, caller: &Caller, id: &str) -> Result<bool> {
        let (sight, id) = (Sight::of(caller), SessionId::parse(id));
        let found = self.store.read(|tx| id.map(|id| tx.session(&sight, id)).transpose())?;
        Ok(found.flatten().is_some_and(|session| session.status != SessionStatus::Completed))
    }

    /// Ends the sessions that a connection began without being told.
    ///
    /// # Errors
    /// `unavailable` if the store cannot write.
    pub fn end_connection(&self, connection: &ConnectionSessions) -> Result<()> {
        for (caller, session) in connection.begun() {
            let request = EndSession { session: Some(session), ..EndSession::default() };
            match self.end_session(&caller, &request) {
                // It has ended before.
                Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => {}
                ended => ended.map(drop)?,
            }
        }
        Ok(())
    }
}

fn find_open(
    tx: &dyn Transaction,
    caller: &Caller,
    pool: SessionPool,
    now: Timestamp,
) -> Result<Option<Session>> {
    let hours = SignedDuration::from_hours(limits::SESSION_JOIN_HOURS);
    tx.open_session(caller, pool, now.checked_sub(hours).unwrap_or(Timestamp::MIN))
}
