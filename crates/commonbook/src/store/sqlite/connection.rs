//! Connections to the file: for reading or for writing, with our own functions.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use super::digest;
use super::file::{refused_store, sibling_path};
use crate::base::error::Result;
use crate::base::limits;

/// Statements that a connection keeps prepared.
const PREPARED_STATEMENTS_MAX: usize = 96;

/// KiB of pages in the cache of the one writing connection. A verb that writes reads first:
/// resuming a session reads some thousand pages of a large store.
const WRITER_CACHE_KIB: i64 = 16 * 1024;

/// Pages of the write-ahead log after which it is copied back: 16 MiB.
const CHECKPOINT_PAGES: u32 = 4096;

/// The schema's version of a file; 0 if it has none yet.
pub(super) fn schema_version(connection: &Connection, path: &Path) -> Result<i64> {
    let (migrations, tables): (i64, i64) = connection.query_row(
        "SELECT count(*) FILTER (WHERE name = 'refinery_schema_history'), count(*) FROM sqlite_schema",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    match (migrations, tables) {
        (0, 0) => Ok(0),
        (0, _) => Err(refused_store(
            path,
            "is a database of another program",
            "Name another home folder. The file is unchanged.",
        )),
        _ => Ok(connection.query_row(
            "SELECT coalesce(max(version), 0) FROM refinery_schema_history",
            [],
            |row| row.get(0),
        )?),
    }
}

/// A connection that reads, and cannot write.
pub(super) fn reading_connection(path: &Path) -> Result<Connection> {
    let connection = read_only(Connection::open_with_flags(path, READ_ONLY)?)?;
    match connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0)) {
        Err(error) if is_unwritable(&error) && !has_log(path) => unchanging_connection(path),
        #[cfg(unix)]
        Err(error) if is_unwritable(&error) && !sibling_path(path, "-shm").exists() => {
            left_log_connection(path)
        }
        // Other errors are those of the first statement, too.
        _ => Ok(connection),
    }
}

const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// A connection to a file in a folder that this process cannot write to, such as a read-only mount or the home
/// of another user. The engine cannot create the log and its index there, and without a log there is nothing
/// to read but the file: this opens it as one that nobody changes.
fn unchanging_connection(path: &Path) -> Result<Connection> {
    let path = path.to_str().ok_or_else(|| {
        refused_store(path, "has a name that is not UTF-8", "Give its folder another name.")
    })?;
    let escaped = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let address = format!("file:{escaped}?immutable=1");
    read_only(Connection::open_with_flags(address, READ_ONLY | OpenFlags::SQLITE_OPEN_URI)?)
}

/// As [`unchanging_connection`], to a file with a log whose index is gone: no process uses it, and the last one
/// ended without copying the log back. The engine makes the index in its own memory, without a lock, for
/// which it would have to write.
#[cfg(unix)]
fn left_log_connection(path: &Path) -> Result<Connection> {
    let connection = Connection::open_with_flags_and_vfs(path, READ_ONLY, c"unix-none")?;
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    read_only(connection)
}

fn read_only(connection: Connection) -> Result<Connection> {
    configure_connection(&connection)?;
    register_functions(&connection)?;
    Ok(connection)
}

/// Whether an error says that the files of the log cannot be created.
fn is_unwritable(error: &rusqlite::Error) -> bool {
    let codes = [ErrorCode::ReadOnly, ErrorCode::CannotOpen];
    error.sqlite_error_code().is_some_and(|code| codes.contains(&code))
}

fn has_log(path: &Path) -> bool {
    log_bytes(path) > 0
}

/// The size of the write-ahead log of this store.
pub(super) fn log_bytes(path: &Path) -> u64 {
    fs::metadata(sibling_path(path, "-wal")).map_or(0, |log| log.len())
}

/// Settings of every connection, reading or writing.
fn configure_connection(connection: &Connection) -> Result<()> {
    connection.busy_timeout(Duration::from_secs(limits::WRITE_WAIT_SECONDS))?;
    connection.set_prepared_statement_cache_capacity(PREPARED_STATEMENTS_MAX);
    // Temporary files would lie in a folder that all users share, outside the sandbox.
    connection.pragma_update(None, "temp_store", "memory")?;
    // A plan must depend on the statement alone. Otherwise the engine considers bound values and
    // prepares a statement with `LIMIT ?` or `column = ?` again for each call.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Registers our own functions. A write may need any that a read needs.
pub(super) fn register_functions(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    // The engine's own `lower` handles ASCII only.
    connection.create_scalar_function("commonbook_lower", 1, flags, |args| {
        Ok(args.get::<String>(0)?.to_lowercase())
    })?;
    digest::register_digest(connection)
}

/// A connection that writes rows: its engine gives each a digest.
pub(super) fn writing_connection(path: &Path) -> Result<Connection> {
    let connection = log_connection(path)?;
    register_functions(&connection)?;
    Ok(connection)
}

/// A connection that may write to the file but writes no row.
pub(super) fn log_connection(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // The engine opens a file that may only be read for reading.
    if connection.is_readonly(MAIN_DB)? {
        let read_only = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY);
        return Err(rusqlite::Error::SqliteFailure(read_only, None).into());
    }
    configure_writer(&connection)?;
    Ok(connection)
}

pub(super) fn configure_writer(connection: &Connection) -> Result<()> {
    configure_connection(connection)?;
    // Answered means on disk: every commit is synced.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    // Purged data is overwritten, not only unlinked.
    connection.pragma_update(None, "secure_delete", "on")?;
    Ok(())
}
