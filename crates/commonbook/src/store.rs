//! The complete contract with a store: what every store holds, and the laws that it keeps.
//!
//! # Laws
//! - **A write is atomic.** A verb is a closure over a [`Tx`]; if it fails or panics, none
//!   of it is stored. `tests/conformance` checks every law below on every store.
//! - **An answered write is durable.** [`Store::run_write`] returns after its commit is on disk.
//! - **A write may run again.** The engine may retry a whole closure; it must have no other effects.
//! - **Writes are serial** in a workspace; its journal's sequences are 1, 2, 3 …
//! - **A read is a snapshot**, and sees every write that was answered before it began.
//! - **Sight is in the query.** Every method that reads memories for a caller takes a [`Sight`](crate::model::access::Sight), and
//!   neither returns nor counts what is out of sight.
//!   ```compile_fail,E0061
//!   # use commonbook::{base::{error::Result, id::MemoryId}, model::access::StoredMemory, store::Tx};
//!   fn read(tx: &Tx<'_>, id: MemoryId) -> Result<Option<StoredMemory>> {
//!       tx.memory(id)
//!   }
//!   ```
//!   A query without a sight does not compile; with one it does:
//!   ```
//!   # use commonbook::{base::{error::Result, id::MemoryId}, model::access::{Sight, StoredMemory}, store::Tx};
//!   fn read(tx: &Tx<'_>, sight: &Sight, id: MemoryId) -> Result<Option<StoredMemory>> {
//!       tx.memory(sight, id)
//!   }
//!   ```
//! - **What is out of sight costs nothing.** A query in a [`Sight`](crate::model::access::Sight) reads the same rows whether or
//!   not others keep something out of that sight; [`Tx::work`] shows it where the engine
//!   counts.

mod figures;
mod loss;
mod notifying;
pub mod postgres;
mod sql;
pub mod sqlite;
mod transfer;
mod work;
mod wrapper;

use std::sync::{Arc, Mutex, PoisonError};

use crate::base::error::{Error, ErrorKind, Result};
use crate::model::caller::Caller;
use crate::model::event::EventOrigin;
use crate::model::workspace::Workspace;

pub use figures::{DeliveryFigures, EventFigures};
pub use loss::{JournalLoss, StoreLoss};
pub(crate) use notifying::NotifyingStore;
pub use sql::{
    CaseActivity, ContradictionFilter, EntityNameFilter, EntryStretch, IdempotencyRecord,
    JournalLag, JournalScope, QuoteCount, QuotingRows, StoredId, StoredRow, SubjectChange,
    TableColumns, Tx, UsageCount, UsageCounts,
};
pub use transfer::{TRANSFER_TABLES, TransferStep, TransferSummary, transfer};
pub use work::EngineWork;
pub use wrapper::StoreWrapper;

/// A write as a store runs it.
pub struct StoreWrite {
    /// The workspace whose journal it changes, if that is known. Writes that name one may share a
    /// transaction with others that wait.
    pub workspace: Option<Workspace>,
    /// Whether it writes what can be derived again, or what nobody misses. The file of a home does not sync
    /// it: a loss of power takes it back, with the position that says that it was done. The thread of a
    /// follower may have a low priority, so it does not run the writes of others.
    pub is_derived: bool,
    /// What it does: inside a transaction, and again if the engine asks for it.
    pub act: Box<WriteAct>,
}

/// What a write does in a transaction.
pub type WriteAct = dyn FnMut(&mut Tx<'_>) -> Result<()> + Send;

/// A read as a store runs it, on a snapshot.
pub type StoreRead<'a> = Box<dyn FnMut(&Tx<'_>) -> Result<()> + 'a>;

/// What a store calls after other processes have written. It must not block.
pub type WriteCallback = dyn Fn() + Send + Sync;

/// A database server that holds the data of a store, and what of it decides whether answered writes
/// last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreServer {
    /// Its version: `15.18`.
    pub version: String,
    /// When it answers a commit: its setting `synchronous_commit`.
    pub commit: String,
    /// The standbys that a commit waits for: its setting `synchronous_standby_names`; empty for none.
    pub standbys: String,
}

impl StoreServer {
    /// Whether a write that was answered is on the server's disk.
    #[must_use]
    pub fn waits_for_disk(&self) -> bool {
        self.commit != "off"
    }

    /// Whether a write that was answered is on a standby too, so that a failover loses none.
    #[must_use]
    pub fn waits_for_standby(&self) -> bool {
        !self.standbys.is_empty() && !matches!(self.commit.as_str(), "off" | "local")
    }
}

/// A store of memories.
pub trait Store: Send + Sync + 'static {
    /// Where the data is, in words and without secrets.
    fn place(&self) -> String;

    /// The server that holds the data, as it is set now; `None` for a file.
    ///
    /// # Errors
    /// `unavailable` if the server cannot be asked.
    fn server(&self) -> Result<Option<StoreServer>>;

    /// Calls `notify` soon after other processes have written, if the store can tell; returns
    /// whether it can. A call can get lost, so that a reader looks by itself as well.
    ///
    /// # Errors
    /// `unavailable` if it can, and this machine starts no thread for it.
    fn watch_others(&self, notify: Arc<WriteCallback>) -> Result<bool>;

    /// Runs a write; returns when it is durable.
    ///
    /// # Errors
    /// The error of the write; `unavailable` if the engine cannot commit, `internal` if the write
    /// panics. Nothing is stored then.
    fn run_write(&self, write: StoreWrite) -> Result<()>;

    /// Runs a read on a snapshot.
    ///
    /// # Errors
    /// The error of the read; `unavailable` if the engine cannot be read.
    fn run_read(&self, read: StoreRead<'_>) -> Result<()>;

    /// Checks the whole store for damage; returns one line per finding.
    ///
    /// # Errors
    /// `unavailable` if the engine cannot be read.
    fn check(&self) -> Result<Vec<String>>;

    /// Recomputes the digest of every row and the hash of every event; returns one line per change
    /// that was not made through the store.
    ///
    /// # Errors
    /// `unavailable` if the engine cannot be read.
    fn check_rows(&self) -> Result<Vec<String>>;

    /// Bytes on disk, of all files together.
    ///
    /// # Errors
    /// `unavailable` if the size cannot be read.
    fn disk_bytes(&self) -> Result<u64>;

    /// The version of the schema of its files.
    ///
    /// # Errors
    /// `unavailable` if the engine cannot be read.
    fn schema_version(&self) -> Result<u32>;

    /// Number of writes of this process that wait for their turn or run.
    fn queued_writes(&self) -> usize;

    /// Refreshes the statistics by which the engine plans its statements, after many rows came at once.
    /// Without it a database reads whole tables until it notices by itself, a minute or so later.
    ///
    /// # Errors
    /// `unavailable` if the engine cannot be read.
    fn refresh_statistics(&self) -> Result<()>;

    /// Removes every trace of purged data from the store's files.
    ///
    /// # Errors
    /// `unavailable` if a reader prevents it; the next call tries again.
    fn scrub(&self) -> Result<()>;

    /// Copies a log of changes that has grown long into the store, at the end of a process that ran long:
    /// the next one need not read it. Waits for nobody: where others read or write, a part stays in the log.
    /// A database keeps its log itself.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be written.
    fn shrink_log(&self) -> Result<()>;
}

impl dyn Store {
    /// Runs a write that changes no journal or those of several workspaces, and returns its result.
    ///
    /// # Errors
    /// As [`Store::run_write`].
    pub fn write<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_and_answer(None, false, act)
    }

    /// Runs a write of figures, such as counts of use, and returns its result. A loss of power may take
    /// back the last ones.
    ///
    /// # Errors
    /// As [`Store::run_write`].
    pub fn write_figures<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_and_answer(None, true, act)
    }

    /// Runs a write of what a follower derives from the journal of this workspace, and returns its
    /// result. A loss of power may take it back, unless it appends events.
    ///
    /// # Errors
    /// As [`Store::run_write`].
    pub fn write_derived<T: Send + 'static>(
        &self,
        workspace: &Workspace,
        act: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_and_answer(Some(workspace), true, act)
    }

    fn write_and_answer<T: Send + 'static>(
        &self,
        workspace: Option<&Workspace>,
        is_derived: bool,
        mut act: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let answer = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&answer);
        let act = Box::new(move |tx: &mut Tx<'_>| {
            let value = act(tx)?;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            Ok(())
        });
        self.run_write(StoreWrite { workspace: workspace.cloned(), is_derived, act })?;
        let value = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        value.ok_or_else(not_run_error)
    }

    /// Runs a write of this caller, whose events say from where it called, and returns its result.
    ///
    /// # Errors
    /// As [`Store::run_write`].
    pub fn write_as<T: Send + 'static>(
        &self,
        caller: &Caller,
        mut act: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let origin = EventOrigin::of(caller);
        self.write_and_answer(Some(&caller.workspace), false, move |tx| {
            tx.set_origin(origin.clone());
            act(tx)
        })
    }

    /// Runs a read and returns its result.
    ///
    /// # Errors
    /// As [`Store::run_read`].
    pub fn read<T>(&self, mut look: impl FnMut(&Tx<'_>) -> Result<T>) -> Result<T> {
        let mut answer = None;
        self.run_read(Box::new(|tx| {
            answer = Some(look(tx)?);
            Ok(())
        }))?;
        answer.ok_or_else(not_run_error)
    }
}

fn not_run_error() -> Error {
    Error::new(ErrorKind::Internal, "the store returned without running the request")
}
