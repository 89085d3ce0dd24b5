//! Connections to the file: for reading or for writing, with our own functions.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};

use super::digest;
use super::file::refused_store;
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
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    configure_connection(&connection)?;
    register_functions(&connection)?;
    Ok(connection)
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

/// A connection that writes, and gives each row that it writes a digest.
pub(super) fn writing_connection(path: &Path) -> Result<Connection> {
    let connection = log_connection(path)?;
    register_functions(&connection)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    digest::write_digests(&connection)?;
    Ok(connection)
}

/// A connection that may write to the file but writes no row.
pub(super) fn log_connection(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
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
