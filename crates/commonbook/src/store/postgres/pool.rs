//! The connections to the server: opened when needed, used by one transaction at a time.

use std::error::Error as StdError;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::address::DatabaseAddress;
use super::engine::{PostgresSession, TransactionPurpose, server_error};
use super::{schema, unusable_server};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;
use crate::model::event::JournalHistory;

/// Connections of one process at most.
const CONNECTIONS_MAX: usize = 16;

/// Idle connections that stay open.
const IDLE_CONNECTIONS_MAX: usize = 8;

/// The connections of one process to one database.
pub(super) struct ConnectionPool {
    address: DatabaseAddress,
    state: Mutex<PoolState>,
    freed: Condvar,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<PostgresSession>,
    in_use: usize,
    newest_history: Option<JournalHistory>,
}

impl ConnectionPool {
    /// A pool for this address; it opens nothing yet.
    pub(super) fn new(address: DatabaseAddress) -> Self {
        Self { address, state: Mutex::default(), freed: Condvar::new() }
    }

    /// The address of the server.
    pub(super) fn address(&self) -> &DatabaseAddress {
        &self.address
    }

    /// Runs `act` on a connection outside of any transaction.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut PostgresSession) -> Result<T>) -> Result<T> {
        let (slot, idle) = self.take()?;
        let mut session = match idle {
            Some(idle) => idle,
            None => self.connect()?,
        };
        let result = act(&mut session);
        slot.give_back(session);
        result
    }

    /// Runs `act` on a connection with a transaction for this purpose; `act` ends it. A connection that
    /// was closed while it was idle is replaced: nothing was sent on it.
    pub(super) fn with_begun<T>(
        &self,
        purpose: TransactionPurpose,
        act: impl FnOnce(&mut PostgresSession) -> Result<T>,
    ) -> Result<T> {
        loop {
            let (slot, idle) = self.take()?;
            let was_idle = idle.is_some();
            let mut session = match idle {
                Some(idle) => idle,
                None => self.connect()?,
            };
            match session.begin(purpose) {
                Err(_) if was_idle => {}
                Err(error) => return Err(error.into()),
                Ok(()) => {
                    let result = match schema::check_version(session.schema_version()) {
                        Ok(()) => act(&mut session),
                        Err(error) => session.end("ROLLBACK").map_err(Error::from).and(Err(error)),
                    };
                    slot.give_back(session);
                    return result;
                }
            }
        }
    }

    /// A place for a connection, and an idle one if there is any. Waits if all are in use.
    fn take(&self) -> Result<(SessionSlot<'_>, Option<PostgresSession>)> {
        let wait = Duration::from_secs(limits::WRITE_WAIT_SECONDS);
        let is_full = |state: &mut PoolState| state.in_use >= CONNECTIONS_MAX;
        let waited = self.freed.wait_timeout_while(self.state(), wait, is_full);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            let message = format!("all {CONNECTIONS_MAX} connections to PostgreSQL are in use");
            return Err(Error::new(ErrorKind::Unavailable, message)
                .hint("Nothing was written. Try again in a moment."));
        }
        state.in_use += 1;
        Ok((SessionSlot(self), state.idle.pop()))
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self) -> Result<PostgresSession> {
        let is_warned = Arc::new(AtomicBool::new(false));
        let client = self.address.connect_noting(Arc::clone(&is_warned));
        let client = client.map_err(|error| {
            let mut error = match error.code() {
                Some(_) => server_error(error),
                None => unreachable_server(error),
            };
            error.message = format!("{} ({})", error.message, self.address.place());
            error
        })?;
        let session = PostgresSession::start(client, self.address.is_pooled(), is_warned)?;
        self.check_history(session.fixed_history())?;
        Ok(session)
    }

    /// Refuses a server of an earlier history than one that this process has used: it was replaced by
    /// a standby and came back. A later history is noted.
    fn check_history(&self, history: Option<&JournalHistory>) -> Result<()> {
        let Some(history) = history.filter(|history| !history.is_only()) else { return Ok(()) };
        let newest = &mut self.state().newest_history;
        match newest {
            Some(newest) if history < newest => Err(unusable_server(
                "this PostgreSQL server was replaced by a standby and runs again: its data is old",
            )
            .hint("Stop it, or make it a standby of the new server.")),
            newest => {
                *newest = Some(history.clone());
                Ok(())
            }
        }
    }
}

/// The error of a server to which no connection can be opened, with the reasons below it.
fn unreachable_server(error: postgres::Error) -> Error {
    let mut message = "PostgreSQL cannot be reached".to_owned();
    let mut reason: Option<&dyn StdError> = Some(&error);
    while let Some(found) = reason {
        message = format!("{message}: {found}");
        reason = found.source();
    }
    let (is_of_stranger, is_expired) =
        (message.contains("UnknownIssuer"), message.contains("xpired"));
    let unreachable = unusable_server(message).with_cause(error);
    if is_of_stranger {
        let hint = "Name the file with the certificate of its authority: `authorities` in the section \
                    `database` of config.json.";
        return unreachable.hint(hint);
    }
    match is_expired {
        true => unreachable.hint("Give the server a certificate that is valid now."),
        false => unreachable,
    }
}

/// The place of a connection in use; dropping it makes room for another.
struct SessionSlot<'p>(&'p ConnectionPool);

impl SessionSlot<'_> {
    /// Returns the connection to the pool, unless it is closed or in a transaction.
    fn give_back(self, session: PostgresSession) {
        let mut state = self.0.state();
        if session.is_usable() && state.idle.len() < IDLE_CONNECTIONS_MAX {
            state.idle.push(session);
        }
    }
}

impl Drop for SessionSlot<'_> {
    fn drop(&mut self) {
        self.0.state().in_use -= 1;
        self.0.freed.notify_one();
    }
}
