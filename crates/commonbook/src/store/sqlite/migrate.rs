//! Bringing a file to the present schema: the scripts that it lacks, with their records, in one transaction.

use std::fs;
use std::path::Path;

use refinery::Target;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::connection::{configure_writer, register_functions, schema_version};
use super::file::{sibling_path, unusable_file};
use super::mark::MarkFile;
use super::{chain, digest};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::file_lock::FileLock;
use crate::base::file_system::{make_private, private_folder};
use crate::model::standing::TOLD_ENDING;

mod scripts {
    refinery::embed_migrations!("src/store/sqlite/migrations");
}

#[cfg(test)]
mod tests;

/// The schema's version: that of the last script. Reading it from the scripts would double the time of
/// opening.
pub(super) const SCHEMA_VERSION: i64 = 46;

/// The schemas with versions of standing memory files whose programs knew no agreements.
const BEFORE_AGREEMENTS: std::ops::RangeInclusive<i64> = 22..=43;

/// The newest version of each project's file: its folder, its role and the SHA-256 of its text.
const TOLD_TEXTS: &str = "SELECT project, role, sha256 FROM standing_version v WHERE project <> '' AND version = \
    (SELECT max(version) FROM standing_version w WHERE w.project = v.project AND w.role = v.role) ORDER BY 1, 2";

/// What a script changes of the schema: the names of tables with their columns, of indexes and of triggers.
/// Statements are not compared: versions of the engine write the same ones differently.
const SCHEMA_NAMES: &str = "SELECT t.type || ' ' || t.name || ' ' || coalesce(c.name, t.tbl_name) \
    FROM sqlite_schema t LEFT JOIN pragma_table_info(t.name) c ON t.type = 'table' \
    WHERE t.name NOT LIKE 'sqlite_%' AND t.name <> 'refinery_schema_history' ORDER BY 1";

/// Migrates the file to the present schema, one process at a time; creates it if it is missing. A process
/// that is killed meanwhile leaves the file as it was.
///
/// # Errors
/// `unavailable` if the file cannot be written or is not what the scripts expect; it stays unchanged then.
pub(super) fn migrate(path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        private_folder(folder).map_err(|error| unusable_file(folder, error))?;
    }
    let lock_path = sibling_path(path, ".lock");
    let _lock = FileLock::wait(&lock_path).map_err(|error| unusable_file(&lock_path, error))?;
    migrate_connection(&mut connection_to(path)?, path)
}

/// A connection to the file that can change its schema; creates the file if it is missing.
fn connection_to(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    make_private(path).map_err(|error| unusable_file(path, error))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    configure_writer(&connection)?;
    register_functions(&connection)?;
    Ok(connection)
}

fn migrate_connection(connection: &mut Connection, path: &Path) -> Result<()> {
    record_half_recorded_script(connection, path)?;
    note_told_texts(connection, path)?;
    run_scripts(connection, Target::Latest)?;
    seal(connection)?;
    // Without a mark a loss of the store would go unnoticed.
    if let Err(error) = MarkFile::open(path, connection) {
        tracing::warn!(%error, "the mark beside the store cannot be written");
    }
    Ok(())
}

/// Writes beside a file of before agreements which texts of projects' standing memory files it has: agents
/// received them without one, and may still. Times prove nothing here, since those of versions can be those of
/// files; what stands in the file before its first script of now does.
fn note_told_texts(connection: &Connection, path: &Path) -> Result<()> {
    if !BEFORE_AGREEMENTS.contains(&schema_version(connection, path)?) {
        return Ok(());
    }
    let mut statement = connection.prepare(TOLD_TEXTS)?;
    let texts = statement.query_map([], |row| <(String, String, String)>::try_from(row))?;
    let texts = texts.collect::<rusqlite::Result<Vec<_>>>()?;
    if texts.is_empty() {
        return Ok(());
    }
    let list = serde_json::to_vec(&texts).map_err(std::io::Error::from);
    let target = sibling_path(path, TOLD_ENDING);
    let staged = sibling_path(&target, ".new");
    let written = list
        .and_then(|list| fs::write(&staged, list))
        .and_then(|()| make_private(&staged))
        .and_then(|()| fs::rename(&staged, &target));
    if let Err(error) = written {
        tracing::warn!(%error, "the standing memory of projects waits for an agreement, although agents received it before");
    }
    Ok(())
}

/// Whether every row and event has been sealed since the last migration.
pub(super) fn is_sealed(connection: &Connection) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM home WHERE sealed = ?1)";
    Ok(connection.query_row(sql, [SCHEMA_VERSION], |row| row.get(0))?)
}

/// Runs the scripts up to a version that the file lacks.
fn run_scripts(connection: &mut Connection, target: Target) -> Result<()> {
    let runner = scripts::migrations::runner().set_grouped(true).set_target(target);
    runner.run(connection).map(drop).map_err(|error| {
        Error::new(ErrorKind::Unavailable, "the store could not be migrated")
            .hint("Nothing was changed; run `commonbook doctor`.")
            .with_cause(error)
    })
}

/// Records the script that ran without its record: until November 2026 these were two transactions, and a
/// process that was killed between them left a file that no migration could go on with.
fn record_half_recorded_script(connection: &mut Connection, path: &Path) -> Result<()> {
    let recorded = schema_version(connection, path)?;
    let names = schema_names(connection)?;
    let scripts = scripts::migrations::runner();
    let versions = scripts.get_migrations().iter().map(refinery::Migration::version);
    let next = versions.filter(|version| i64::from(*version) > recorded).min();
    let Some(next) = next.filter(|_| !names.is_empty()) else { return Ok(()) };
    let mut example = Connection::open_in_memory()?;
    register_functions(&example)?;
    run_scripts(&mut example, Target::Version(next))?;
    if schema_names(&example)? == names {
        tracing::warn!(
            version = next,
            "the store has a script that it has no record of; recording it"
        );
        run_scripts(connection, Target::FakeVersion(next))?;
    }
    Ok(())
}

fn schema_names(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(SCHEMA_NAMES)?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Gives digests and hashes to the rows and events that have none, once after each migration.
fn seal(connection: &mut Connection) -> Result<()> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !is_sealed(&tx)? {
        digest::fill_digests(&tx)?;
        chain::fill_hashes(&tx)?;
        tx.execute("UPDATE home SET sealed = ?1", [SCHEMA_VERSION])?;
    }
    Ok(tx.commit()?)
}
