//! Opening the file: refusing a damaged or newer one, creating a missing one.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use rusqlite::Connection;

use super::connection::{reading_connection, schema_version};
use super::file::{refused_store, sibling_path, unusable_file};
use super::mark;
use super::migrate::{SCHEMA_VERSION, is_sealed, migrate};
use crate::base::error::{Error, Result};
use crate::store::StoreLoss;

/// How every SQLite file begins (file format, section 1.3).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The inspection of the file of a store.
struct StoreInspection {
    /// A connection for reading, if the store is up to date.
    ready: Option<Connection>,
    /// The version of its schema; 0 if there is no store.
    version: i64,
    /// What the store has lost.
    loss: Option<StoreLoss>,
}

/// A connection for reading to a file that is intact and up to date, and has lost nothing.
pub(super) fn open_prepared(path: &Path) -> Result<Connection> {
    let StoreInspection { ready, loss, .. } = inspect(path)?;
    match loss {
        Some(loss) => Err(loss.error()),
        None => ready.map_or_else(|| open_migrated(path), Ok),
    }
}

/// As [`open_prepared`], for a process that may end at any time: a store of an older version is refused.
pub(super) fn open_without_upgrade(path: &Path) -> Result<Connection> {
    let StoreInspection { ready, loss, version } = inspect(path)?;
    match (loss, ready) {
        (Some(loss), _) => Err(loss.error()),
        (None, Some(ready)) => Ok(ready),
        (None, None) if (1..SCHEMA_VERSION).contains(&version) => Err(refused_store(
            path,
            "is of an older version of Commonbook",
            "Run any command, such as `commonbook doctor`: it brings the store to this version.",
        )),
        // There is none, or another process is about to end its migration: this waits for it.
        (None, None) => open_migrated(path),
    }
}

/// As [`open_prepared`], whatever the store has lost.
pub(super) fn open_despite_loss(path: &Path) -> Result<Connection> {
    inspect(path)?.ready.map_or_else(|| open_migrated(path), Ok)
}

/// The loss of the store according to the mark beside it.
pub(super) fn loss(path: &Path) -> Result<Option<StoreLoss>> {
    Ok(inspect(path)?.loss)
}

fn open_migrated(path: &Path) -> Result<Connection> {
    migrate(path)?;
    reading_connection(path)
}

/// Inspects the file and the mark beside it, and changes neither.
fn inspect(path: &Path) -> Result<StoreInspection> {
    // The mark is read first: everything that it names was in the store before.
    let mark = mark::read(path)?;
    let mut connection = None;
    if has_store_file(path)? {
        let found = reading_connection(path)?;
        let version = schema_version(&found, path)?;
        if version > SCHEMA_VERSION {
            return Err(refused_store(
                path,
                &format!(
                    "was written by a newer Commonbook (its schema is {version}, and this one knows {SCHEMA_VERSION})"
                ),
                "Use the newer commonbook. The file is unchanged.",
            ));
        }
        connection = (version > 0).then_some((found, version));
    }
    let loss = match (&mark, &connection) {
        (None, _) => None,
        (Some(mark), None) => Some(mark.loss_of_all(path)),
        (Some(mark), Some((found, _))) => mark.loss(path, found)?,
    };
    let version = connection.as_ref().map_or(0, |(_, version)| *version);
    let ready = match connection {
        Some((found, SCHEMA_VERSION)) if is_sealed(&found)? => Some(found),
        _ => None,
    };
    Ok(StoreInspection { ready, version, loss })
}

/// Whether a file exists that is not empty and looks like an intact SQLite file.
pub(super) fn has_store_file(path: &Path) -> Result<bool> {
    let mut header = Vec::new();
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(unusable_file(path, error)),
        Ok(file) => file,
    };
    (&file).take(100).read_to_end(&mut header).map_err(|error| unusable_file(path, error))?;
    if header.is_empty() {
        return Ok(false);
    }
    if header.len() < 100 || !header.starts_with(MAGIC) {
        return Err(damaged_store(path));
    }
    // Header, log, length, in this order: another process that copies its log back writes the
    // header first, then the other pages, and removes the log last. So a header that is ahead of
    // the pages has a log beside it, and where the log is gone, the pages are there.
    let logged = fs::metadata(sibling_path(path, "-wal")).is_ok_and(|log| log.len() > 0);
    let length = file.metadata().map_err(|error| unusable_file(path, error))?.len();
    let number = |at: usize| {
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        u64::from(u32::from_be_bytes(bytes))
    };
    let page_size = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 65_536,
        size => size,
    };
    // The page count is valid if it was written with the last change (section 1.3.7).
    let pages_known = number(24) == number(92);
    let too_short = pages_known && !logged && number(28) * page_size > length;
    if too_short { Err(damaged_store(path)) } else { Ok(true) }
}

fn damaged_store(path: &Path) -> Error {
    refused_store(
        path,
        "is damaged or not a Commonbook store",
        "Restore it from a copy, or name another home folder. The file is unchanged.",
    )
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rusqlite::StatementStatus;

    use super::super::connection::writing_connection;
    use super::*;

    #[test]
    fn a_statement_is_prepared_once_whatever_is_bound_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        open_prepared(&path).unwrap();
        let sql = "SELECT name FROM workspace WHERE sequence = ?1 AND name = ?2 LIMIT ?3";
        for connection in [reading_connection(&path).unwrap(), writing_connection(&path).unwrap()] {
            for (number, limit) in [(1, 5), (7, 6), (0, 7)] {
                let mut statement = connection.prepare_cached(sql).unwrap();
                let bound = (number, format!("w{number}"), limit);
                assert_eq!(statement.query(bound).unwrap().next().unwrap().map(drop), None);
                assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
            }
        }
    }

    /// The last one who closes a file copies its log back and removes it, while the next one looks.
    #[test]
    fn a_file_that_grows_while_it_is_looked_at_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("growing.db");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let looking: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        while !done.load(Ordering::Relaxed) {
                            has_store_file(&path).unwrap();
                        }
                    })
                })
                .collect();
            for _ in 0..800 {
                let connection = Connection::open(&path).unwrap();
                connection.pragma_update(None, "journal_mode", "wal").unwrap();
                let grow =
                    "CREATE TABLE IF NOT EXISTS t (x); INSERT INTO t VALUES (zeroblob(40000))";
                connection.execute_batch(grow).unwrap();
            }
            done.store(true, Ordering::Relaxed);
            assert!(looking.into_iter().all(|thread| thread.join().is_ok()));
        });
    }
}
