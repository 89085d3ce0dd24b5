//! Presence: when agents of the registry were last seen. Reading adds no agent to it, and waits for
//! no write.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxHashMap;

use super::write_once::WriteScope;
use crate::base::error::{Error, Result};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::workspace::Workspace;
use crate::store::Tx;
use crate::verbs::Commonbook;

/// How old an entry may be: one write per read would be too many.
const PRESENCE_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

/// Agents that are remembered at most. Agents beyond that are written on every call.
const PRESENCE_AGENTS_MAX: usize = 10_000;

/// The agents that called.
#[derive(Default)]
pub(in crate::verbs) struct PresenceLog {
    noted: Mutex<PresenceState>,
    /// Held while the registry is updated: a second caller of `register` waits until the update is
    /// done.
    telling: Mutex<()>,
}

impl PresenceLog {
    fn lock_state(&self) -> MutexGuard<'_, PresenceState> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct PresenceState {
    last: FxHashMap<(Workspace, Agent), Timestamp>,
    /// Sightings that the registry does not have yet.
    waiting: Vec<(Caller, Timestamp)>,
}

/// Refuses a caller that is new in its workspace and whose name looks like that of a known agent.
pub(super) fn refuse_lookalike(
    tx: &mut Tx<'_>,
    WriteScope { caller, .. }: WriteScope<'_>,
) -> Result<()> {
    match find_lookalike(tx, caller)? {
        None => Ok(()),
        Some(Lookalike { name, known }) => {
            let message = format!("'{name}' looks like the agent '{known}', which is known here");
            Err(Error::invalid("agent", message)
                .hint(format!("Use a name that differs clearly from '{known}'.")))
        }
    }
}

/// A new name, of a caller or of an agent above it, that a reader takes for that of a known agent.
struct Lookalike {
    name: Agent,
    known: Agent,
}

fn find_lookalike(tx: &Tx<'_>, caller: &Caller) -> Result<Option<Lookalike>> {
    let workspace = &caller.workspace;
    if caller.agent == Agent::system() || tx.last_seen(workspace, &caller.agent)?.is_some() {
        return Ok(None);
    }
    let known = tx.agent_names(workspace)?;
    let names = std::iter::once(caller.agent.clone()).chain(caller.agent.ancestors());
    let mut new = names.filter(|name| !known.contains(name));
    Ok(new.find_map(|name| {
        let known = known.iter().find(|known| name.looks_like(known))?.clone();
        Some(Lookalike { name, known })
    }))
}

/// Records in the registry that the caller writes now.
pub(super) fn note_writer(
    tx: &mut Tx<'_>,
    WriteScope { caller, now, .. }: WriteScope<'_>,
) -> Result<()> {
    // Commonbook itself is no agent of the registry.
    if caller.agent == Agent::system() {
        return Ok(());
    }
    tx.note_agent_seen(caller, now)
}

impl Commonbook {
    /// Runs a write of this caller whose answer is kept under no key, in one transaction. The registry has the
    /// caller from then on, unless its name is shared by many or looks like that of another agent:
    /// what a caller only reads is not refused for that, and its first save is.
    ///
    /// # Errors
    /// The error of `act`; `unavailable` if the store cannot write.
    pub(in crate::verbs) fn write_as<T: Send + 'static>(
        &self,
        caller: &Caller,
        now: Timestamp,
        mut act: impl FnMut(&mut Tx<'_>, &Caller) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let by = caller.clone();
        self.store.write_as(caller, move |tx| {
            let is_agent = by.agent != Agent::system() && !by.agent.is_anonymous();
            if is_agent && find_lookalike(tx, &by)?.is_none() {
                tx.note_agent_seen(&by, now)?;
            }
            act(tx, &by)
        })
    }

    /// Notes that a call of the caller was answered. [`Commonbook::register`] writes this to the
    /// registry if it has the agent: a caller that only reads is not added.
    pub fn note_seen(&self, caller: &Caller) {
        if caller.agent.is_anonymous() {
            return;
        }
        let now = self.clock.now();
        let mut noted = self.contacts.lock_state();
        let key = (caller.workspace.clone(), caller.agent.clone());
        if noted.last.get(&key).is_some_and(|last| now.duration_since(*last) < PRESENCE_INTERVAL) {
            return;
        }
        if noted.last.len() >= PRESENCE_AGENTS_MAX {
            noted.last.clear();
        }
        noted.last.insert(key, now);
        noted.waiting.push((caller.clone(), now));
    }

    /// Writes to the registry which agents called: each agent that it has, at most once a minute.
    ///
    /// # Errors
    /// `unavailable` if the store cannot write; the sightings are dropped then.
    pub fn register(&self) -> Result<()> {
        let _telling = self.contacts.telling.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = std::mem::take(&mut self.contacts.lock_state().waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let news = self.store.read(|tx| {
            let mut news = Vec::new();
            for (caller, at) in &waiting {
                let seen = tx.last_seen(&caller.workspace, &caller.agent)?;
                if seen.is_some_and(|seen| at.duration_since(seen) >= PRESENCE_INTERVAL) {
                    news.push((caller.clone(), *at));
                }
            }
            Ok(news)
        })?;
        if news.is_empty() {
            return Ok(());
        }
        self.store.write_figures(move |tx| {
            news.iter().try_for_each(|(who, at)| tx.note_agent_seen(who, *at))
        })
    }
}
