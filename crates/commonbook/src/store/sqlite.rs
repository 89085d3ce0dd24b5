//! The store in one SQLite file: durable, shared by several processes, without a server.
//!
//! One thread writes (see `sqlite/writer.rs`). Reads run on a small pool of read-only connections,
//! each in its own transaction, so that a read is a snapshot.

mod access;
mod agent;
mod answer;
pub mod backup;
mod briefing;
mod bulk;
mod case;
mod case_digest;
mod chain;
mod checkpoint;
mod consolidation;
mod context;
mod contradiction;
mod cursor;
mod digest;
mod entity;
mod event;
mod export;
mod file;
mod filter;
mod follower;
mod forgetting;
mod handoff;
mod holder;
mod knowledge;
mod lineage;
mod mark;
mod memory;
mod mention;
mod name;
mod open;
mod relation;
mod row;
mod rows;
mod session;
mod standing;
mod token;
mod usage;
mod webhook;
mod workspace;
mod writer;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rusqlite::ffi::ErrorCode;
use rusqlite::{Connection, Statement, StatementStatus};

use crate::base::error::{Error, ErrorKind, Result};
use crate::model::event::EventOrigin;
use crate::store::{EngineWork, Store, StoreLoss, StoreRead, StoreWrite, WorkRows};
use access::AudienceCache;
use mark::MarkFile;
use writer::StoreWriter;

/// Idle read connections that stay open.
const IDLE_READERS_MAX: usize = 8;

/// The engine's error code if the shared-memory file of the log cannot grow.
const SHM_SIZE_CODE: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// A store in one SQLite file.
pub struct SqliteStore {
    path: PathBuf,
    readers: Mutex<Vec<Connection>>,
    /// The first write starts it: a process that only reads opens nothing for writing.
    writer: OnceLock<StoreWriter>,
    starting: Mutex<()>,
}

impl SqliteStore {
    /// Opens the file, and creates or migrates it if needed.
    ///
    /// # Errors
    /// `unavailable` if the file is damaged, was written by a newer version, or cannot be opened.
    /// The file stays unchanged then.
    pub fn open(path: &Path) -> Result<Arc<Self>> {
        Self::of(path, open::open_prepared(path)?)
    }

    /// Opens the file even if it has lost events, and creates it if it is missing.
    ///
    /// # Errors
    /// As [`Self::open`], except for a loss.
    pub fn open_despite_loss(path: &Path) -> Result<Arc<Self>> {
        Self::of(path, open::open_despite_loss(path)?)
    }

    /// The loss of the store according to the mark beside it; usually none.
    ///
    /// # Errors
    /// As [`Self::open`], except for a loss.
    pub fn loss(path: &Path) -> Result<Option<StoreLoss>> {
        open::loss(path)
    }

    fn of(path: &Path, mut first: Connection) -> Result<Arc<Self>> {
        rows::guard_reads(&mut first)?;
        Ok(Arc::new(Self {
            path: path.to_owned(),
            readers: Mutex::new(vec![first]),
            writer: OnceLock::new(),
            starting: Mutex::new(()),
        }))
    }

    /// Resets the mark beside the store to the store's present state.
    ///
    /// # Errors
    /// `unavailable` if the mark cannot be written.
    pub fn reset_mark(&self) -> Result<()> {
        self.with_reader(|connection| {
            MarkFile::open(&self.path, connection)?.reset(&self.path, connection)
        })
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn writer(&self) -> Result<&StoreWriter> {
        let _one_at_a_time = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = self.writer.get() {
            return Ok(writer);
        }
        let mut connection = open::writing_connection(&self.path)?;
        rows::guard_reads(&mut connection)?;
        let writer = StoreWriter::start(connection, &self.path)?;
        Ok(self.writer.get_or_init(|| writer))
    }

    fn with_reader<T>(&self, act: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let mut connection = open::reading_connection(&self.path)?;
                rows::guard_reads(&mut connection)?;
                connection
            }
        };
        let answer = act(&connection);
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < IDLE_READERS_MAX && connection.is_autocommit() {
            readers.push(connection);
        }
        answer
    }
}

impl Store for SqliteStore {
    fn run_write(&self, write: StoreWrite) -> Result<()> {
        self.writer()?.run(write)
    }

    fn run_read(&self, mut read: StoreRead<'_>) -> Result<()> {
        self.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            read(&SqliteTransaction::new(&snapshot))
        })
    }

    fn check(&self) -> Result<Vec<String>> {
        self.with_reader(|connection| {
            let mut statement = connection.prepare("PRAGMA integrity_check")?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            let findings: Result<Vec<_>, _> = lines.collect();
            Ok(findings?.into_iter().filter(|line| line != "ok").collect())
        })
    }

    fn check_rows(&self) -> Result<Vec<String>> {
        self.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            Ok([digest::check(&snapshot)?, chain::check(&snapshot)?].concat())
        })
    }

    fn disk_bytes(&self) -> Result<u64> {
        let size = |ending: &str| {
            let mut name = self.path.clone().into_os_string();
            name.push(ending);
            std::fs::metadata(name).map_or(0, |file| file.len())
        };
        Ok(["", "-wal", "-shm"].into_iter().map(size).sum())
    }

    fn schema_version(&self) -> Result<u32> {
        let version = self.with_reader(|found| open::schema_version(found, &self.path))?;
        Ok(u32::try_from(version).unwrap_or_default())
    }

    fn queued_writes(&self) -> usize {
        self.writer.get().map_or(0, StoreWriter::queued)
    }

    fn scrub(&self) -> Result<()> {
        let connection = open::log_connection(&self.path)?;
        let busy: i64 =
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        match busy {
            0 => Ok(()),
            _ => Err(Error::new(
                ErrorKind::Unavailable,
                "a reader prevents the write-ahead log from being emptied",
            )),
        }
    }
}

/// The rows of one SQLite file, in a transaction that the caller of this type ends.
pub(crate) struct SqliteTransaction<'c> {
    connection: &'c Connection,
    /// The events appended here: their workspaces and positions.
    appended: Vec<(String, u64)>,
    /// From where the caller of this write called.
    origin: Option<EventOrigin>,
    audiences: RefCell<AudienceCache>,
    work: Cell<EngineWork>,
}

impl<'c> SqliteTransaction<'c> {
    fn new(connection: &'c Connection) -> Self {
        Self {
            connection,
            appended: Vec::new(),
            origin: None,
            audiences: RefCell::default(),
            work: Cell::default(),
        }
    }

    /// Adds the cost of a statement to the cost of the transaction.
    fn count_work(&self, statement: &Statement<'_>) {
        let of = |status| u64::from(statement.reset_status(status).unsigned_abs());
        let cost = EngineWork {
            steps: of(StatementStatus::VmStep),
            scanned_rows: of(StatementStatus::FullscanStep),
            sorts: of(StatementStatus::Sort),
        };
        self.work.set(self.work.get() + cost);
    }
}

impl WorkRows for SqliteTransaction<'_> {
    fn work(&self) -> Option<EngineWork> {
        Some(self.work.get())
    }
}

/// The engine's error in terms of the domain. Nothing was written when it occurs.
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let code = error.sqlite_error_code();
        let (kind, message, hint) = match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
                ErrorKind::Unavailable,
                "another process keeps the store busy".to_owned(),
                Some("Nothing was written. Try again in a moment."),
            ),
            Some(ErrorCode::DiskFull) => return file::disk_full().with_cause(error),
            // The shared-memory file of the log cannot grow.
            _ if error.sqlite_error().is_some_and(|error| error.extended_code == SHM_SIZE_CODE) => {
                return file::disk_full().with_cause(error);
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => (
                ErrorKind::Unavailable,
                format!("the store is damaged: {error}"),
                Some("Run `commonbook doctor`, and restore the file from a copy."),
            ),
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure,
            ) => (
                ErrorKind::Unavailable,
                format!("the store cannot be used: {error}"),
                Some("Check the permissions and disk of the home folder; run `commonbook doctor`."),
            ),
            _ => (
                ErrorKind::Internal,
                "the store failed".to_owned(),
                Some("Nothing was written. Run `commonbook doctor`; the log names the cause."),
            ),
        };
        let mapped = Self::new(kind, message).with_cause(error);
        match hint {
            Some(hint) => mapped.hint(hint),
            None => mapped,
        }
    }
}
