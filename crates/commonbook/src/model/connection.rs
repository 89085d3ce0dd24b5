//! The sessions of one connection: what its calls work in although they name none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::workspace::Workspace;

/// The caller of a session: one connection can change its workspace and its user.
type SessionParty = (Workspace, Agent, Option<String>);

/// The session of a caller on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionSession {
    /// Its id.
    pub id: String,
    /// Who began it, if the connection did without being told: it ends with the connection.
    pub begun_by: Option<Caller>,
}

/// The sessions of one connection, by caller. All copies share one state.
#[derive(Debug, Clone, Default)]
pub struct ConnectionSessions(Arc<Mutex<BTreeMap<SessionParty, ConnectionSession>>>);

/// The locked state of a connection: parallel calls wait for the one that begins a session.
pub struct LockedSessions<'c>(MutexGuard<'c, BTreeMap<SessionParty, ConnectionSession>>);

impl ConnectionSessions {
    /// Locks the state.
    #[must_use]
    pub fn lock(&self) -> LockedSessions<'_> {
        LockedSessions(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The id of the caller's session.
    #[must_use]
    pub fn current(&self, caller: &Caller) -> Option<String> {
        self.lock().of(caller).map(|session| session.id.clone())
    }

    /// The sessions that the connection began without being told.
    #[must_use]
    pub fn begun(&self) -> Vec<(Caller, String)> {
        let begun = |session: &ConnectionSession| {
            session.begun_by.clone().map(|caller| (caller, session.id.clone()))
        };
        self.lock().0.values().filter_map(begun).collect()
    }
}

impl LockedSessions<'_> {
    /// The session of a caller.
    #[must_use]
    pub fn of(&self, caller: &Caller) -> Option<&ConnectionSession> {
        self.0.get(&party(caller))
    }

    /// Sets the session of a caller.
    pub fn set(&mut self, caller: &Caller, session: ConnectionSession) {
        self.0.insert(party(caller), session);
    }

    /// Forgets the session of a caller.
    pub fn forget(&mut self, caller: &Caller) {
        self.0.remove(&party(caller));
    }
}

fn party(caller: &Caller) -> SessionParty {
    (caller.workspace.clone(), caller.agent.clone(), caller.user.clone())
}

/// A connection does not distinguish two callers.
impl PartialEq for ConnectionSessions {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ConnectionSessions {}
