//! The sessions of one connection: what its calls work in although they name none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::id::TokenId;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::workspace::Workspace;

/// The caller of a session: one connection can change its workspace and its user.
type SessionParty = (Workspace, Agent, Option<String>, Option<TokenId>);

/// Callers whose sessions are remembered at most; beyond that all are forgotten.
const PARTIES_MAX: usize = 10_000;

/// The sessions of a caller on a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionSession {
    /// The one that the connection works in by itself.
    pub own: Option<OwnSession>,
    /// The one that its agent has started or resumed; its own waits until that has ended.
    pub chosen: Option<String>,
}

/// The session that a connection works in by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSession {
    /// Its id.
    pub id: String,
    /// Who began it, if the connection did: it ends with the connection.
    pub begun_by: Option<Caller>,
    /// Whether it is stored: it is with its first write.
    pub is_stored: bool,
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

    /// The id of the session that the caller works in.
    #[must_use]
    pub fn current(&self, caller: &Caller) -> Option<String> {
        let session = self.lock().of(caller).clone();
        session.chosen.or_else(|| Some(session.own.filter(|own| own.is_stored)?.id))
    }

    /// The sessions that the connection began, each with its caller.
    #[must_use]
    pub fn begun(&self) -> Vec<(Caller, String)> {
        let own = |session: &ConnectionSession| session.own.clone();
        let begun = self.lock().0.values().filter_map(own).collect::<Vec<_>>().into_iter();
        begun.filter_map(|own| Some((own.begun_by?, own.id))).collect()
    }
}

impl LockedSessions<'_> {
    /// The sessions of a caller.
    pub fn of(&mut self, caller: &Caller) -> &mut ConnectionSession {
        if self.0.len() >= PARTIES_MAX {
            self.0.clear();
        }
        self.0.entry(party(caller)).or_default()
    }

    /// Notes that the caller has ended a session.
    pub fn note_end(&mut self, caller: &Caller, id: &str) {
        let session = self.of(caller);
        session.chosen = session.chosen.take().filter(|chosen| chosen != id);
        session.own = session.own.take().filter(|own| own.id != id);
    }
}

fn party(caller: &Caller) -> SessionParty {
    let Caller { workspace, agent, user, proof, .. } = caller;
    (workspace.clone(), agent.clone(), user.clone(), proof.token())
}

/// A connection does not distinguish two callers.
impl PartialEq for ConnectionSessions {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ConnectionSessions {}
