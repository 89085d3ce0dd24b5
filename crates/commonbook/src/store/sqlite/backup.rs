//! Backups: a home in one file, written while others write, and read back before it counts.
//!
//! A backup is a copy of the store with two more tables: what it is, and the other files of the home.
//! `VACUUM INTO` copies one snapshot and leaves out free pages, so that nothing removed goes along.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use super::engine::unseen;
use super::file::{refused_store, sibling_path, unusable_file};
use super::{chain, connection, digest, migrate, open};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::file_system::make_private;
use crate::model::standing::TOLD_ENDING;

/// The version of the format of backups.
const BACKUP_FORMAT: i64 = 1;

/// A file of the home beside the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeFile {
    /// Its path below the home, with `/`.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupSummary {
    /// When it was written.
    pub at: Timestamp,
    /// Number of workspaces.
    pub workspaces: u64,
    /// Number of memories, deleted ones too.
    pub memories: u64,
    /// Number of events.
    pub events: u64,
    /// Number of certificates of what was forgotten.
    pub certificates: u64,
    /// Number of tokens that were not revoked.
    pub tokens: u64,
    /// Number of webhooks.
    pub webhooks: u64,
    /// The other files of the home.
    pub files: Vec<String>,
    /// Its size.
    pub bytes: u64,
}

/// Writes a backup of a store and these files to a path where nothing is, and reads it back.
///
/// # Errors
/// `unavailable` if the store cannot be read, the disk is full, or the copy is not equal.
pub fn write_backup(
    store: &Path,
    files: &[HomeFile],
    to: &Path,
    at: Timestamp,
) -> Result<BackupSummary> {
    let source = connection::reading_connection(store)?;
    source.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
    drop(source);
    let copy = writable(to)?;
    copy.pragma_update(None, "journal_mode", "delete")?;
    copy.execute_batch(
        "CREATE TABLE backup (format INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
         CREATE TABLE backup_file (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;",
    )?;
    copy.execute("INSERT INTO backup VALUES (?1, ?2)", (BACKUP_FORMAT, at.as_millisecond()))?;
    for HomeFile { name, bytes } in files {
        copy.execute("INSERT INTO backup_file VALUES (?1, ?2)", (name, bytes))?;
    }
    copy.close().map_err(|(_, error)| error)?;
    let written = fs::File::open(to).and_then(|file| file.sync_all());
    written.map_err(|error| unusable_file(to, error))?;
    read_backup(to).map(|(summary, _)| summary)
}

/// Verifies a backup, and returns what it holds with its files.
///
/// # Errors
/// `unavailable` if it cannot be read, is damaged or is of a newer version; `invalid` if it is no
/// backup.
pub fn read_backup(path: &Path) -> Result<(BackupSummary, Vec<HomeFile>)> {
    let found = fs::metadata(path).map_err(|error| unusable_file(path, error))?;
    let bytes = found.len();
    // A pipe would be waited for.
    if !found.is_file() || !open::has_store_file(path)? {
        return Err(no_backup(path));
    }
    let backup = connection::reading_connection(path)?;
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name IN ('backup', 'backup_file')";
    if backup.query_row(sql, [], |row| row.get::<_, i64>(0))? != 2 {
        return Err(no_backup(path));
    }
    let (format, at): (i64, i64) =
        backup.query_row("SELECT format, at FROM backup", [], |row| row.try_into())?;
    if format > BACKUP_FORMAT
        || connection::schema_version(&backup, path)? > migrate::SCHEMA_VERSION
    {
        return Err(refused_store(
            path,
            "was written by a newer Commonbook",
            "Use the newer commonbook. Nothing was changed.",
        ));
    }
    let mut findings = integrity(&backup)?;
    findings.extend(foreign_code(&backup)?);
    if findings.is_empty() {
        findings.extend(digest::check(&backup)?);
        findings.extend(chain::check(&backup)?);
    }
    if let Some(first) = findings.first() {
        let reason = format!("is damaged: {first}");
        return Err(refused_store(path, &reason, "Use another backup. Nothing was changed."));
    }
    let _unseen = unseen("a backup counts rows, and shows none");
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        backup.query_row(&sql, [], |row| row.get::<_, u64>(0))
    };
    let schema = connection::schema_version(&backup, path)?;
    let mut statement = backup.prepare("SELECT name, bytes FROM backup_file ORDER BY name")?;
    let files =
        statement.query_map([], |row| Ok(HomeFile { name: row.get(0)?, bytes: row.get(1)? }))?;
    let files: Vec<HomeFile> = files.collect::<rusqlite::Result<_>>()?;
    let summary = BackupSummary {
        at: Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH),
        workspaces: count("workspace")?,
        memories: count("memory")?,
        events: count("event")?,
        certificates: if schema >= FORGETTING_SCHEMA { count("certificate")? } else { 0 },
        tokens: match schema >= TOKEN_SCHEMA {
            true => count("token WHERE revoked_at IS NULL")?,
            false => 0,
        },
        webhooks: if schema >= WEBHOOK_SCHEMA { count("webhook")? } else { 0 },
        files: files.iter().map(|file| file.name.clone()).collect(),
        bytes,
    };
    Ok((summary, files))
}

/// The schema since which certificates exist.
const FORGETTING_SCHEMA: i64 = 38;
/// The schema since which tokens exist.
const TOKEN_SCHEMA: i64 = 3;
/// The schema since which webhooks exist.
const WEBHOOK_SCHEMA: i64 = 40;

/// What a store would do by itself, and no store of ours does: a trigger would change what others write.
fn foreign_code(connection: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT type FROM sqlite_schema WHERE type IN ('trigger', 'view') LIMIT 1";
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?;
    let found: Vec<String> = found.collect::<rusqlite::Result<_>>()?;
    Ok(found
        .into_iter()
        .map(|kind| format!("it has a {kind}, which Commonbook never makes"))
        .collect())
}

fn integrity(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Copies a backup beside a store, as a store of its own that can be opened.
///
/// # Errors
/// `unavailable` if it cannot be copied, as on a full disk.
pub fn stage_backup(backup: &Path, store: &Path) -> Result<PathBuf> {
    let staged = sibling_path(store, ".restoring");
    discard_staged(&staged);
    fs::copy(backup, &staged).map_err(|error| {
        discard_staged(&staged);
        unusable_file(&staged, error)
    })?;
    make_private(&staged).map_err(|error| unusable_file(&staged, error))?;
    let copy = writable(&staged)?;
    copy.execute_batch("DROP TABLE backup; DROP TABLE backup_file")?;
    copy.pragma_update(None, "journal_mode", "wal")?;
    copy.close().map_err(|(_, error)| error)?;
    Ok(staged)
}

/// Removes a staged copy that does not become the store.
pub fn discard_staged(staged: &Path) {
    for ending in ["", "-wal", "-shm", ".mark", ".lock", TOLD_ENDING] {
        // What does not exist needs no removal.
        drop(fs::remove_file(sibling_path(staged, ending)));
    }
}

/// Puts a staged copy in the place of a store that nobody has open.
///
/// # Errors
/// `unavailable` if another process has the store open, or if a file cannot be replaced.
pub fn replace_store(staged: &Path, store: &Path) -> Result<()> {
    let copy = writable(staged)?;
    // A page that was filled anew can still hold bytes of the rows that it had.
    copy.execute_batch("VACUUM")?;
    let busy: i64 = copy.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    copy.close().map_err(|(_, error)| error)?;
    if busy != 0 {
        return Err(Error::new(ErrorKind::Unavailable, "the restored copy is in use")
            .hint("Restore again. Nothing was changed."));
    }
    if store.exists() {
        close_store(store)?;
    }
    let replaced = (|| {
        for ending in ["-wal", "-shm", ".mark"] {
            match fs::remove_file(sibling_path(store, ending)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
        fs::rename(staged, store)?;
        fs::File::open(store.parent().unwrap_or(Path::new(".")))?.sync_all()
    })();
    replaced.map_err(|error| unusable_file(store, error))?;
    discard_staged(staged);
    Ok(())
}

/// Copies the log of a store into it. The engine refuses this while another process has it open.
fn close_store(store: &Path) -> Result<()> {
    let Ok(connection) = writable(store) else { return Ok(()) };
    connection.busy_timeout(std::time::Duration::from_millis(500))?;
    match connection.pragma_update(None, "journal_mode", "delete") {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
            Err(Error::new(ErrorKind::Unavailable, "another process has the store open")
                .hint("Stop the server and every client of this home, then restore again.")
                .with_cause(error))
        }
        // A damaged store has nothing to copy back.
        _ => Ok(()),
    }
}

fn writable(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "secure_delete", "on")?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

fn no_backup(path: &Path) -> Error {
    Error::invalid("file", format!("{} is no backup of Commonbook", path.display())).hint(
        "Name a file that `commonbook backup` wrote; an export is read by `commonbook import`.",
    )
}
