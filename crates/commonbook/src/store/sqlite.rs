//! The store in one SQLite file: durable, shared by several processes, without a server.
//!
//! One thread writes (see `sqlite/writer.rs`). Reads run on a small pool of read-only connections,
//! each in its own transaction, so that a read is a snapshot.

pub mod backup;
mod chain;
mod connection;
mod digest;
mod engine;
mod file;
mod holder;
mod mark;
mod migrate;
mod open;
mod turn;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::ffi::ErrorCode;

use crate::base::error::{Error, ErrorKind, Result};
use crate::store::sql::Tx;
use crate::store::sql::driver::store_failed;
use crate::store::{Store, StoreLoss, StoreRead, StoreServer, StoreWrite, WriteCallback};
use engine::SqliteEngine;
use mark::MarkFile;
use writer::StoreWriter;

/// Idle read connections that stay open.
const IDLE_READERS_MAX: usize = 8;

/// A log below this size stays: one of 17 MB made a start 2 ms slower (2026-11-30).
const LOG_KEPT_BYTES: u64 = 1024 * 1024;

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

    /// As [`Self::open`], for a process that may end at any time, such as a hook: it upgrades nothing.
    ///
    /// # Errors
    /// As [`Self::open`]; `unavailable` too if the file is of an older version.
    pub fn open_without_upgrade(path: &Path) -> Result<Arc<Self>> {
        Self::of(path, open::open_without_upgrade(path)?)
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
        engine::guard_reads(&mut first)?;
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
        let mut connection = connection::writing_connection(&self.path)?;
        engine::guard_reads(&mut connection)?;
        let writer = StoreWriter::start(connection, &self.path)?;
        Ok(self.writer.get_or_init(|| writer))
    }

    fn with_reader<T>(&self, act: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let mut connection = connection::reading_connection(&self.path)?;
                engine::guard_reads(&mut connection)?;
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
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn server(&self) -> Result<Option<StoreServer>> {
        Ok(None)
    }

    /// A file tells nobody.
    fn watch_others(&self, _: Arc<WriteCallback>) -> Result<bool> {
        Ok(false)
    }

    fn run_write(&self, write: StoreWrite) -> Result<()> {
        self.writer()?.run(write)
    }

    fn run_read(&self, mut read: StoreRead<'_>) -> Result<()> {
        self.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            read(&Tx::new(&SqliteEngine::new(&snapshot)))
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
        let version = self.with_reader(|found| connection::schema_version(found, &self.path))?;
        Ok(u32::try_from(version).unwrap_or_default())
    }

    fn queued_writes(&self) -> usize {
        self.writer.get().map_or(0, StoreWriter::queued)
    }

    /// The statements fix the order of their joins, and need no statistics.
    fn refresh_statistics(&self) -> Result<()> {
        Ok(())
    }

    fn scrub(&self) -> Result<()> {
        let connection = connection::log_connection(&self.path)?;
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

    fn shrink_log(&self) -> Result<()> {
        if connection::log_bytes(&self.path) >= LOG_KEPT_BYTES {
            let connection = connection::log_connection(&self.path)?;
            connection.busy_timeout(Duration::ZERO)?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(())
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
            Some(ErrorCode::ReadOnly) => return Self::unwritable_store().with_cause(error),
            Some(
                ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure,
            ) => (
                ErrorKind::Unavailable,
                format!("the store cannot be used: {error}"),
                Some("Check the permissions and disk of the home folder; run `commonbook doctor`."),
            ),
            _ => return store_failed(error),
        };
        let mapped = Self::new(kind, message).with_cause(error);
        match hint {
            Some(hint) => mapped.hint(hint),
            None => mapped,
        }
    }
}
