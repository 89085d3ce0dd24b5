//! Opening the file: refusing a damaged or newer one, creating a missing one.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::file::{refused_store, sibling_path, unusable_file};
use super::mark::{self, MarkFile};
use super::{chain, digest};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;
use crate::base::private_folder::private_folder;
use crate::store::StoreLoss;

mod migrations {
    refinery::embed_migrations!("src/store/sqlite/migrations");
}

/// How every SQLite file begins (file format, section 1.3).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Statements that a connection keeps prepared.
const PREPARED_STATEMENTS_MAX: usize = 96;

/// KiB of pages in the cache of the one writing connection. A verb that writes reads first:
/// resuming a session reads some thousand pages of a large store.
const WRITER_CACHE_KIB: i64 = 16 * 1024;

/// Pages of the write-ahead log after which it is copied back: 16 MiB.
const CHECKPOINT_PAGES: u32 = 4096;

/// The schema's version: that of the last migration. Reading it from the migrations would double
/// the time of opening.
pub(super) const SCHEMA_VERSION: i64 = 43;

/// The inspection of the file of a store.
struct StoreInspection {
    /// A connection for reading, if the store is up to date.
    ready: Option<Connection>,
    /// What the store has lost.
    loss: Option<StoreLoss>,
}

/// A connection for reading to a file that is intact and up to date, and has lost nothing.
pub(super) fn open_prepared(path: &Path) -> Result<Connection> {
    let StoreInspection { ready, loss } = inspect(path)?;
    match loss {
        Some(loss) => Err(loss.error()),
        None => ready.map_or_else(|| open_migrated(path), Ok),
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
    let ready = match connection {
        Some((found, SCHEMA_VERSION)) if is_sealed(&found)? => Some(found),
        _ => None,
    };
    Ok(StoreInspection { ready, loss })
}

/// Whether every row and event has been sealed since the last migration.
fn is_sealed(connection: &Connection) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM home WHERE sealed = ?1)";
    Ok(connection.query_row(sql, [SCHEMA_VERSION], |row| row.get(0))?)
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

/// Migrates the schema to the present version, one process at a time.
fn migrate(path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        private_folder(folder).map_err(|error| unusable_file(folder, error))?;
    }
    let lock_path = sibling_path(path, ".lock");
    let lock = File::create(&lock_path).map_err(|error| unusable_file(&lock_path, error))?;
    lock.lock().map_err(|error| unusable_file(&lock_path, error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    private_file(path).map_err(|error| unusable_file(path, error))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    configure_writer(&connection)?;
    register_functions(&connection)?;
    // All scripts and their records in one transaction: whoever is killed meanwhile has changed nothing.
    migrations::migrations::runner().set_grouped(true).run(&mut connection).map_err(|error| {
        Error::new(ErrorKind::Unavailable, "the store could not be migrated")
            .hint("Nothing was changed; run `commonbook doctor`.")
            .with_cause(error)
    })?;
    seal(&mut connection)?;
    // Without a mark a loss of the store would go unnoticed.
    if let Err(error) = MarkFile::open(path, &connection) {
        tracing::warn!(%error, "the mark beside the store cannot be written");
    }
    Ok(())
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
fn register_functions(connection: &Connection) -> Result<()> {
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

fn configure_writer(connection: &Connection) -> Result<()> {
    configure_connection(connection)?;
    // Answered means on disk: every commit is synced.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    // Purged data is overwritten, not only unlinked.
    connection.pragma_update(None, "secure_delete", "on")?;
    Ok(())
}

fn damaged_store(path: &Path) -> Error {
    refused_store(
        path,
        "is damaged or not a Commonbook store",
        "Restore it from a copy, or name another home folder. The file is unchanged.",
    )
}

#[cfg(unix)]
fn private_file(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn private_file(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rusqlite::StatementStatus;

    use super::super::engine::SqliteEngine;
    use super::*;
    use crate::store::CaseRows;
    use crate::store::sql::SqlTransaction;

    #[test]
    fn the_newest_version_is_that_of_the_last_migration() {
        let runner = migrations::migrations::runner();
        let versions =
            runner.get_migrations().iter().map(|migration| i64::from(migration.version()));
        assert_eq!(versions.max(), Some(SCHEMA_VERSION));
    }

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

    /// A file as the schema of this version has it.
    fn of_version(path: &Path, version: i32) -> Connection {
        let mut connection = Connection::open(path).unwrap();
        let target = refinery::Target::Version(version);
        migrations::migrations::runner().set_target(target).run(&mut connection).unwrap();
        connection
    }

    #[test]
    fn handoffs_and_mentions_outlive_the_tables_that_they_were_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let rows = "INSERT INTO handoff (workspace, id, sequence, accepted, from_agent, to_agent, \
                user_id, session, case_key, task, said, kind, status, follows, chain, depth, entities, \
                tokens, note, created_at, expires_at, accepted_at, accepted_in, ended_at, version, \
                package, left_out) VALUES ('w', 'h', 1, 2, 'a', 'b', 'u', 's', 'c', 'task', 'said', \
                'kind', 'accepted', 'follows', 'chain', 3, 'entities', 4, 'note', 5, 6, 7, 'in', 8, \
                9, 'package', 'left');
            INSERT INTO handoff_memory VALUES ('w', 'h', 1, 'w', 'm', 'passed', 1, 'told');
            INSERT INTO mention VALUES ('w', 'n', 1, 'value', 0.5, 2, 3);
            INSERT INTO memory (workspace, id, sequence, owner, memory_type, text, topics, importance, \
                sharing, source, trust, metadata, recorded_at, revised_at, revised_by, revision) \
                VALUES ('w', 'm', 1, 'a', 'semantic', 'text', '[]', 1, 'shared', '{}', 'normal', \
                '{}', 1, 1, 'a', 1)";
        let all = |connection: &Connection| -> Vec<String> {
            let json = |table, columns| {
                let sql = format!("SELECT json_array({columns}) FROM {table}");
                connection.query_row(&sql, [], |row| row.get::<_, String>(0)).unwrap()
            };
            let handoff = "workspace, id, sequence, from_agent, to_agent, user_id, session, \
                case_key, task, said, kind, status, follows, chain, depth, entities, tokens, note, \
                created_at, expires_at, accepted_at, accepted_in, ended_at, version, package, left_out";
            let memory = "workspace, handoff, place, origin, memory, passed, private, told";
            let mention = "workspace, name, sequence, value, confidence, count, place";
            vec![json("handoff", handoff), json("handoff_memory", memory), json("mention", mention)]
        };
        let before = of_version(&path, 13);
        before.execute_batch(rows).unwrap();
        let kept = all(&before);
        before.close().unwrap();
        assert_eq!(all(&open_prepared(&path).unwrap()), kept);
        assert_eq!(kept[1], r#"["w","h",1,"w","m","passed",1,"told"]"#);
        let sql = "SELECT role IS NULL AND cycle IS NULL AND to_agent = 'b' FROM handoff";
        let now = open_prepared(&path).unwrap();
        assert!(now.query_row(sql, [], |row| row.get::<_, bool>(0)).unwrap());
    }

    #[test]
    fn work_goes_on_from_handoffs_of_before_chains_held() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let before = of_version(&path, 28);
        register_functions(&before).unwrap();
        let handoff = |id: &str, sequence: u32, accepted: &str, status: &str| {
            format!(
                "INSERT INTO handoff (workspace, id, sequence, accepted, from_agent, to_agent, task, \
                 said, kind, status, follows, chain, depth, entities, tokens, created_at, expires_at, \
                 version, package, left_out) VALUES ('w', '{id}', {sequence}, {accepted}, 'a', 'b', \
                 't', '{{}}', 'sequential', '{status}', '[]', '{id}', 1, '[]', 1, 1, 1, 1, '{{}}', '[]');"
            )
        };
        let event = |sequence: u32, kind: &str, subject: &str| {
            format!(
                "INSERT INTO event (workspace, sequence, at, kind, actor, subject, owner, sharing, \
                 topics, importance, changed) VALUES ('w', {sequence}, 1, '{kind}', 'b', \
                 '{subject}', 'a', 'shared', '[]', 1, '[]');"
            )
        };
        let rows = [
            "INSERT INTO workspace (name, sequence) VALUES ('w', 6);".to_owned(),
            handoff("done", 1, "3", "completed"),
            handoff("open", 2, "4", "accepted"),
            handoff("waiting", 6, "NULL", "pending"),
            event(5, "handoff.completed", "done"),
        ];
        before.execute_batch(&rows.concat()).unwrap();
        digest::fill_digests(&before).unwrap();
        chain::fill_hashes(&before).unwrap();
        before.close().unwrap();
        let after = open_prepared(&path).unwrap();
        assert_eq!(digest::check(&after).unwrap(), Vec::<String>::new());
        let sql = "SELECT group_concat(id || ' ' || moved) FROM (SELECT id, moved FROM handoff \
                   WHERE moved IS NOT NULL AND result_told_at IS NULL ORDER BY moved)";
        let order: String = after.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(order, "open 4,done 5");
    }

    #[test]
    fn events_of_before_keep_their_hashes_beside_those_with_an_origin() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let before = of_version(&path, 39);
        register_functions(&before).unwrap();
        let rows = "INSERT INTO workspace (name, sequence) VALUES ('w', 2);
            INSERT INTO event (workspace, sequence, at, kind, actor, subject, owner, sharing, topics, \
                importance, changed) VALUES \
                ('w', 1, 1, 'agent.seen', 'a', 's', 'a', 'shared', '[\"tea\"]', 1, '[]'), \
                ('w', 2, 2, 'agent.seen', 'b', 's', 'a', 'shared', '[]', 1, '[]')";
        before.execute_batch(rows).unwrap();
        chain::fill_hashes(&before).unwrap();
        let hashes = |connection: &Connection| {
            [1, 2].map(|sequence| chain::hash_at(connection, "w", sequence).unwrap().unwrap())
        };
        let kept = hashes(&before);
        before.close().unwrap();
        let after = open_prepared(&path).unwrap();
        assert_eq!(hashes(&after), kept);
        assert_eq!(chain::check(&after).unwrap(), Vec::<String>::new());
        // What an event says of its origin is covered.
        let writing = writing_connection(&path).unwrap();
        writing.execute("UPDATE event SET device = 'jarvis' WHERE sequence = 2", []).unwrap();
        assert_eq!(chain::check(&writing).unwrap(), ["event 2 of workspace 'w' was changed"]);
    }

    #[test]
    fn memories_of_before_are_not_archived_and_keep_their_digests() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let before = of_version(&path, 34);
        register_functions(&before).unwrap();
        let rows = "INSERT INTO memory (workspace, id, sequence, owner, memory_type, text, topics, \
                importance, sharing, source, trust, metadata, recorded_at, revised_at, revised_by, \
                revision, audience) VALUES ('w', 'm', 1, 'a', 'semantic', 'text', '[]', 1, 'shared', \
                '{}', 'normal', '{}', 1, 1, 'a', 1, 1)";
        before.execute_batch(rows).unwrap();
        digest::fill_digests(&before).unwrap();
        before.close().unwrap();
        let after = open_prepared(&path).unwrap();
        assert_eq!(digest::check(&after).unwrap(), Vec::<String>::new());
        let sql =
            "SELECT archived_at IS NULL AND (SELECT count(*) FROM consolidation) = 0 FROM memory";
        assert!(after.query_row(sql, [], |row| row.get::<_, bool>(0)).unwrap());
    }

    /// Memories of Ann and of Bob, private, shared, about a user and quarantined, that all mention `n`.
    const OLD_ROWS: &str = "\
        INSERT INTO workspace VALUES ('w', 5), ('empty', 1);
        INSERT INTO memory (workspace, id, sequence, owner, user_id, memory_type, text, topics, \
            importance, sharing, source, trust, metadata, recorded_at, revised_at, revised_by, revision) \
        SELECT 'w', 'mem_' || (value ->> 0), j.key + 1, value ->> 1, value ->> 2, 'semantic', 'text', \
            '[]', 1, value ->> 3, '{}', value ->> 4, '{}', 1, 1, 'a', 1 \
        FROM json_each('[[\"all\", \"ann\", null, \"shared\", \"normal\"], \
            [\"alltoo\", \"bob\", null, \"shared\", \"trusted\"], \
            [\"own\", \"ann\", null, \"private\", \"normal\"], \
            [\"user\", \"bob\", \"u\", \"shared\", \"normal\"], \
            [\"held\", \"bob\", null, \"shared\", \"quarantined\"]]') j;
        INSERT INTO mention SELECT 'w', 'ent_n', sequence, 'value ' || sequence, 0.5, 1, 1 FROM memory;
        INSERT INTO mention VALUES ('w', 'ent_own', 3, 'own', 0.5, 1, 1);
        INSERT INTO entity_name VALUES ('w', 'ent_n', NULL, 'tool', 'value 1', 'n', 0, 1), \
            ('w', 'ent_own', NULL, 'tool', 'own', 'own', 0, 0), \
            ('empty', 'ent_said', NULL, 'tool', 'said', 'said', 1, 1);
        INSERT INTO entity_key VALUES ('w', 'k', 'ent_n'), ('w', 'k', 'ent_own');
        INSERT INTO relation (workspace, id, origin, target, relation_type, strength, recorded_at, relation) \
        SELECT 'w', value ->> 0, value ->> 1, value ->> 2, 'uses', 1, 1, '{\"author\":\"ann\"}' \
        FROM json_each('[[\"r1\", \"mem_all\", \"mem_alltoo\"], [\"r2\", \"mem_all\", \"mem_own\"], \
            [\"r3\", \"ent_n\", \"ent_own\"], [\"r4\", \"mem_user\", \"mem_own\"]]')";

    #[test]
    fn older_files_get_their_audiences() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let before = of_version(&path, 14);
        before.execute_batch(OLD_ROWS).unwrap();
        before.close().unwrap();
        let now = open_prepared(&path).unwrap();
        let rows = |sql: &str| -> Vec<String> {
            let of = "ifnull(nullif(a.owner, ''), 'all') || ifnull(' of ' || a.user_id, '') || ' ' \
                || a.sharing || iif(a.quarantined, ' held', '')";
            let sql = sql.replace("OF", of);
            let mut statement = now.prepare(&sql).unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            rows.collect::<rusqlite::Result<_>>().unwrap()
        };
        let sql = "SELECT m.id || ': ' || OF FROM memory m JOIN audience a ON a.number = m.audience \
             ORDER BY m.sequence";
        let memories = [
            "all: all shared",
            "alltoo: all shared",
            "own: ann private",
            "user: bob of u shared",
            "held: bob shared held",
        ];
        assert_eq!(rows(sql), memories.map(|memory| format!("mem_{memory}")));
        let sql = "SELECT e.value || ': ' || OF FROM entity_name e JOIN audience a \
             ON a.number = e.audience WHERE e.id = 'ent_n' ORDER BY e.value";
        assert_eq!(
            rows(sql),
            [
                "value 1: all shared",
                "value 3: ann private",
                "value 4: bob of u shared",
                "value 5: bob shared held"
            ]
        );
        let sql = "SELECT a.workspace || ' ' || e.value FROM entity_name e JOIN audience a \
             ON a.number = e.audience WHERE e.stated";
        assert_eq!(rows(sql), ["empty said"]);
        assert_eq!(rows("SELECT name FROM entity_key"), ["ent_n"], "all may know it");
        let sql = "SELECT r.id || ': ' || OF FROM relation r JOIN audience a \
             ON a.number = r.audience ORDER BY r.id";
        let relations = ["r1: all shared", "r2: ann private", "r3: ann private", "r4: ann private"];
        assert_eq!(rows(sql), relations);
    }

    /// A row in each table, as raw SQL; what stands in it does not matter.
    fn a_row_in_each_table(connection: &Connection) {
        let tables = "SELECT name, group_concat(column), group_concat(value) FROM (\
                SELECT t.name, c.name AS column, iif(c.type = 'TEXT', '''some''', '1') AS value \
                FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' \
                AND t.name NOT IN ('home', 'refinery_schema_history') \
                AND c.type <> 'BLOB') GROUP BY name";
        let mut statement = connection.prepare(tables).unwrap();
        let rows = statement
            .query_map([], |row| {
                let (table, columns, values): (String, String, String) = row.try_into()?;
                Ok(format!("INSERT INTO {table} ({columns}) VALUES ({values})"))
            })
            .unwrap();
        for sql in rows.map(Result::unwrap) {
            connection.execute_batch(&sql).unwrap();
        }
    }

    #[test]
    fn rows_and_events_from_before_digests_get_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let before = of_version(&path, 14);
        before.execute_batch(OLD_ROWS).unwrap();
        let event = "UPDATE workspace SET sequence = (name = 'w'); \
            INSERT INTO event (workspace, sequence, at, kind, actor, subject, owner, sharing, topics, \
                importance, changed) VALUES \
                ('w', 1, 1, 'memory.saved', 'ann', 'mem_all', 'ann', 'shared', '[\"berths\"]', 1, '[]')";
        before.execute_batch(event).unwrap();
        before.close().unwrap();
        let connection = open_prepared(&path).unwrap();
        assert_eq!(digest::check(&connection).unwrap(), Vec::<String>::new());
        assert_eq!(chain::check(&connection).unwrap(), Vec::<String>::new());
        let sealed = "SELECT count(*) FROM event WHERE hash <> zeroblob(32) AND topics_salt <> ''";
        let count: i64 = connection.query_row(sealed, [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
    }

    /// Receipts and read marks of before say who knows what.
    #[test]
    fn what_agents_were_told_before_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let before = of_version(&path, 14);
        before.execute_batch(OLD_ROWS).unwrap();
        let rows = r#"
            UPDATE memory SET case_key = 'k', position = 1, revised_at = 50, revision = 3
                WHERE id = 'mem_alltoo';
            INSERT INTO cursor VALUES ('w', 'ann', 'k', 1, 40), ('w', 'ann', '', 9, 40);
            INSERT INTO context (workspace, id, agent, at, sequence, milliseconds, sha256, nonce, receipt)
                VALUES ('w', 'ctx_1', 'bob', 30, 1, 1, '', '', '{"origin": "briefing", "candidates": [
                    {"id": "mem_all", "taken": true, "revision": 1}, {"id": "mem_own", "taken": false},
                    {"id": "mem_alltoo", "taken": true}, {"id": "hnd_x", "taken": true}],
                    "diagnostics": {"resolved_user_id": "u"}}');"#;
        before.execute_batch(rows).unwrap();
        before.close().unwrap();
        let now = open_prepared(&path).unwrap();
        let sql = "SELECT memory || ' ' || agent || ' ' || revision || ' ' || user_id || ' ' || at || ' ' \
            || origin || ' ' || ifnull(context, '-') FROM knowledge ORDER BY memory, agent";
        let mut statement = now.prepare(sql).unwrap();
        let known = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let known: Vec<String> = known.collect::<rusqlite::Result<_>>().unwrap();
        let expected = [
            "mem_all bob 1 u 30 briefing ctx_1",
            "mem_alltoo ann 3  40 case -",
            "mem_alltoo bob 2 u 30 briefing ctx_1",
        ];
        assert_eq!(known, expected);
        assert_eq!(digest::check(&now).unwrap(), Vec::<String>::new());
    }

    /// Whatever a later migration does to a row that has a digest, it has the right one afterwards.
    #[test]
    fn digests_outlive_every_later_migration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let before = of_version(&path, 16);
        register_functions(&before).unwrap();
        a_row_in_each_table(&before);
        // An event without topics is one whose topics were erased.
        before.execute_batch("UPDATE event SET topics = '[]'").unwrap();
        digest::fill_digests(&before).unwrap();
        chain::fill_hashes(&before).unwrap();
        assert_eq!(digest::check(&before).unwrap(), Vec::<String>::new());
        assert_eq!(chain::check(&before).unwrap(), Vec::<String>::new());
        before.close().unwrap();
        let after = open_prepared(&path).unwrap();
        assert_eq!(digest::check(&after).unwrap(), Vec::<String>::new());
        assert_eq!(chain::check(&after).unwrap(), Vec::<String>::new());
    }

    /// A case of before has no labels and no lead, and its journal is not digested again.
    #[test]
    fn cases_from_before_branches_are_read_and_not_digested_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        let before = of_version(&path, 28);
        let rows = "INSERT INTO workspace (name, sequence) VALUES ('w', 7); \
            INSERT INTO case_log (workspace, key, sequence, title, status, version, opened_by, \
                opened_at, changed_at) VALUES ('w', 'k', 1, 'K', 'open', 3, 'ann', 1, 2)";
        before.execute_batch(rows).unwrap();
        before.close().unwrap();
        let now = open_prepared(&path).unwrap();
        let engine = SqliteEngine::new(&now);
        let (workspace, key) = ("w".parse().unwrap(), "k".parse().unwrap());
        let case = SqlTransaction::new(&engine).case(&workspace, &key).unwrap().unwrap();
        assert_eq!((case.revision, case.version, case.branched_at()), (1, 3, 0));
        assert_eq!((case.labels, case.lead, case.branch), (Vec::new(), None, None));
        let follower = "SELECT sequence FROM follower WHERE name = 'digests' AND workspace = 'w'";
        assert_eq!(now.query_row(follower, [], |row| row.get::<_, i64>(0)).unwrap(), 7);
        assert_eq!(digest::check(&now).unwrap(), Vec::<String>::new());
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
