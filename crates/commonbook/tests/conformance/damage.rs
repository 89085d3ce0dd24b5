//! Silent damage and loss: changes behind the store's back are found and named, and a store that
//! has lost data does not open as new.

use std::fs;
use std::path::{Path, PathBuf};

use commonbook::base::error::ErrorKind;
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::Memory;
use commonbook::store::Store;
use commonbook::store::sqlite::SqliteStore;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::{Fresh, Sqlite, keep, memory, now, replace, with_texts};

pub(crate) fn file(home: &Sqlite) -> PathBuf {
    home.folder().join("home/commonbook.db")
}

fn mark(home: &Sqlite) -> PathBuf {
    home.folder().join("home/commonbook.db.mark")
}

/// A home whose store was closed, with everything in its one file.
pub(crate) fn closed(texts: &[&str]) -> Sqlite {
    let home = Sqlite::new();
    let store = home.open();
    with_texts(&*store, texts);
    store.scrub().unwrap();
    home
}

fn raw(home: &Sqlite) -> Connection {
    Connection::open(file(home)).unwrap()
}

fn findings(home: &Sqlite) -> Vec<String> {
    SqliteStore::open(&file(home)).unwrap().check_rows().unwrap()
}

fn refused(home: &Sqlite, reason: &str) {
    let error = SqliteStore::open(&file(home)).err().expect(reason);
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains(reason), "{}", error.message);
    let hint = error.hint.unwrap();
    assert!(hint.contains("backup") && hint.contains("doctor --accept-loss"), "{hint}");
}

const TEXTS: [&str; 3] =
    ["The staging cluster runs PostgreSQL 16", "Deploys happen on Tuesdays", "Use cargo nextest"];

#[test]
fn untouched_rows_and_events_have_no_findings() {
    let home = closed(&TEXTS);
    assert_eq!(findings(&home), Vec::<String>::new());
}

#[test]
fn a_memory_that_changed_in_the_file_is_named() {
    let home = closed(&TEXTS);
    let changed: String = raw(&home)
        .query_row(
            "UPDATE memory SET text = replace(text, '16', '17') WHERE sequence = 1 RETURNING id",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let found = findings(&home);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("memory") && found[0].contains(&changed), "{found:?}");
}

#[test]
fn a_memory_restored_to_an_earlier_row_is_named() {
    let home = closed(&TEXTS);
    let store = home.open();
    let sight = commonbook::model::access::Sight::of(&crate::caller("ann", "x"));
    let id = raw(&home)
        .query_row("SELECT id FROM memory WHERE sequence = 2", [], |row| row.get::<_, String>(0))
        .unwrap();
    raw(&home)
        .execute_batch("CREATE TABLE earlier AS SELECT * FROM memory WHERE sequence = 2")
        .unwrap();
    let before = store.read(|tx| tx.memory(&sight, id.parse().unwrap())).unwrap().unwrap();
    let text = "Deploys happen on Mondays".into();
    let after = Memory { text, revision: 2, ..Memory::clone(&before) };
    store
        .write(move |tx| {
            tx.append_event(&NewEvent::of(EventKind::MemoryUpdated, &after, &after.owner, now()))?;
            replace(tx, &before, &after)
        })
        .unwrap();
    assert_eq!(findings(&home), Vec::<String>::new());
    let back = "UPDATE memory SET (text, revision, digest) = \
                (SELECT text, revision, digest FROM earlier) WHERE sequence = 2";
    raw(&home).execute_batch(back).unwrap();
    let found = findings(&home);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(&id) && found[0].contains("event 4"), "{found:?}");
}

#[test]
fn the_first_event_that_changed_in_the_file_is_named() {
    let home = closed(&TEXTS);
    raw(&home).execute_batch("UPDATE event SET actor = 'mallory' WHERE sequence >= 2").unwrap();
    let found = findings(&home);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("event 2 of workspace 'x' was changed"), "{found:?}");
}

#[test]
fn rows_deleted_from_the_file_are_named() {
    let home = closed(&TEXTS);
    raw(&home).execute_batch("DELETE FROM memory WHERE sequence = 3").unwrap();
    let found = findings(&home);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("is missing, but event 3 names it"), "{found:?}");
    raw(&home).execute_batch("DELETE FROM event WHERE sequence = 2").unwrap();
    assert!(findings(&home)[0].contains("event 2 of workspace 'x' is missing"));
}

#[test]
fn a_purge_erases_the_topics_and_keeps_the_chain_valid() {
    let home = Sqlite::new();
    let store = home.open();
    let ids = commonbook::base::id::RandomIds::default();
    let given = Memory {
        topics: vec!["payroll".into(), "acquisition".into()],
        ..memory(&ids, "ann", "x", "The acquisition of Initech closes in March")
    };
    let purged = given.clone();
    store.write(move |tx| keep(tx, &given)).unwrap();
    with_texts(&*store, &TEXTS);
    store
        .write(move |tx| {
            let event = NewEvent::of(EventKind::MemoryPurged, &purged, &purged.owner, now());
            tx.append_event(&event)?;
            tx.purge_memory(&purged)
        })
        .unwrap();
    store.scrub().unwrap();
    assert_eq!(findings(&home), Vec::<String>::new());
    let (topics, salt): (String, Option<Vec<u8>>) = raw(&home)
        .query_row("SELECT topics, topics_salt FROM event WHERE sequence = 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!((topics.as_str(), salt), ("[]", None), "nothing is left to guess the topics by");
}

/// A row in each table with digests, as raw SQL; the values do not matter.
fn a_row_in_each_table(connection: &Connection) {
    let tables: Vec<String> = connection
        .prepare(
            "SELECT t.name FROM sqlite_schema t, pragma_table_info(t.name) c \
             WHERE t.type = 'table' AND c.name = 'digest'",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for table in tables {
        let full: bool = connection
            .query_row(&format!("SELECT EXISTS (SELECT 1 FROM {table})"), [], |row| row.get(0))
            .unwrap();
        if full {
            continue;
        }
        let columns: Vec<(String, String)> = connection
            .prepare(&format!(
                "SELECT name, type FROM pragma_table_info('{table}') WHERE name <> 'digest'"
            ))
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let values: Vec<&str> =
            columns.iter().map(|(_, kind)| if kind == "TEXT" { "'some'" } else { "1" }).collect();
        let sql =
            format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "));
        connection.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    // As after a migration: the next opening fills in the digests.
    connection.execute_batch("UPDATE home SET sealed = 0").unwrap();
}

#[test]
fn a_changed_byte_in_any_column_of_any_table_is_found() {
    let home = closed(&TEXTS);
    a_row_in_each_table(&raw(&home));
    assert_eq!(findings(&home), Vec::<String>::new());
    raw(&home).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let whole = fs::read(file(&home)).unwrap();
    let columns: Vec<(String, String, String)> = raw(&home)
        .prepare(
            "SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c \
             WHERE t.type = 'table' AND (t.name IN ('event', 'workspace') \
                 OR EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'digest'))",
        )
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(columns.len() > 150, "{} columns", columns.len());
    let mut missed = Vec::new();
    // The mark would refuse some of these before the check.
    fs::remove_file(mark(&home)).unwrap();
    for (table, column, kind) in columns {
        let connection = raw(&home);
        let value: Value = connection
            .query_row(&format!("SELECT {column} FROM {table} LIMIT 1"), [], |row| row.get(0))
            .unwrap();
        let changed = match value {
            Value::Null if kind == "TEXT" => Value::Text("mallory".into()),
            Value::Null if kind == "BLOB" => Value::Blob(vec![1; 16]),
            Value::Null => Value::Integer(1),
            Value::Integer(number) => Value::Integer(number ^ 4),
            Value::Real(number) => Value::Real(number + 0.25),
            Value::Text(mut text) => {
                text.push('!');
                Value::Text(text)
            }
            Value::Blob(mut bytes) => {
                bytes[0] ^= 1;
                Value::Blob(bytes)
            }
        };
        let key: String = connection
            .query_row(
                "SELECT group_concat(name) FROM pragma_table_info(?1) WHERE pk > 0",
                [&table],
                |row| row.get(0),
            )
            .unwrap();
        let sql = format!(
            "PRAGMA ignore_check_constraints = on; \
             UPDATE {table} SET {column} = ?1 WHERE ({key}) = (SELECT {key} FROM {table} LIMIT 1)"
        );
        let (pragma, update) = sql.split_once("; ").unwrap();
        connection.execute_batch(pragma).unwrap();
        connection.execute(update, [changed]).unwrap();
        connection.close().unwrap();
        let name = if table == "workspace" { "workspace" } else { &table };
        let found = findings(&home);
        if !found.iter().any(|finding| finding.contains(name)) {
            missed.push(format!("{table}.{column}: {found:?}"));
        }
        let connection = raw(&home);
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        connection.close().unwrap();
        fs::write(file(&home), &whole).unwrap();
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn an_emptied_or_missing_store_is_not_created_again() {
    let home = closed(&TEXTS);
    let whole = fs::read(file(&home)).unwrap();
    fs::write(file(&home), b"").unwrap();
    refused(&home, "is empty, but held a store before");
    assert_eq!(fs::read(file(&home)).unwrap(), b"", "the file was left as it is");
    fs::remove_file(file(&home)).unwrap();
    refused(&home, "is empty, but held a store before");
    assert!(!file(&home).exists(), "nothing was made");
    Connection::open(file(&home)).unwrap().execute_batch("PRAGMA user_version = 1").unwrap();
    refused(&home, "is empty, but held a store before");
    fs::write(file(&home), &whole).unwrap();
    assert_eq!(findings(&home), Vec::<String>::new());
}

#[test]
fn a_torn_mark_still_shows_that_a_store_existed() {
    let home = closed(&TEXTS);
    fs::write(mark(&home), b"comm").unwrap();
    assert_eq!(findings(&home), Vec::<String>::new(), "a torn record is ignored");
    fs::remove_file(file(&home)).unwrap();
    refused(&home, "is empty, but held a store before");
}

#[test]
fn another_store_in_its_place_is_refused() {
    let (home, other) = (closed(&TEXTS), closed(&TEXTS));
    fs::copy(file(&other), file(&home)).unwrap();
    refused(&home, "is another store than the one that was here");
}

fn copy(from: &Path, to: &Path, names: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for name in names {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

#[test]
fn a_lost_log_is_reported_with_its_events() {
    let home = closed(&TEXTS);
    let store = home.open();
    let ids = commonbook::base::id::RandomIds::default();
    for text in ["Rotate the signing key", "The runbook moved"] {
        let given = memory(&ids, "ann", "x", text);
        store.write(move |tx| keep(tx, &given)).unwrap();
    }
    let from = home.folder().join("home");
    let crashed = Sqlite::new();
    let to = crashed.folder().join("home");
    copy(&from, &to, &["commonbook.db", "commonbook.db-wal", "commonbook.db.mark"]);
    assert_eq!(findings(&crashed), Vec::<String>::new(), "the log is there, and all with it");
    let crashed = Sqlite::new();
    let to = crashed.folder().join("home");
    copy(&from, &to, &["commonbook.db", "commonbook.db.mark"]);
    refused(&crashed, "has lost events 4 to 5 of workspace 'x'");
}

#[test]
fn a_mark_behind_the_store_is_normal_and_raised_by_the_next_write() {
    let home = closed(&TEXTS);
    let behind = fs::read(mark(&home)).unwrap();
    let more = |text: &str| {
        let given = memory(&commonbook::base::id::RandomIds::default(), "ann", "x", text);
        home.open().write(move |tx| keep(tx, &given)).unwrap();
    };
    more("Rotate the signing key");
    fs::write(mark(&home), &behind).unwrap();
    assert_eq!(findings(&home), Vec::<String>::new());
    more("The runbook moved");
    let text = String::from_utf8(fs::read(mark(&home)).unwrap()).unwrap();
    assert!(text.lines().any(|line| line.starts_with("x 5 ")), "{text}");
}

#[test]
fn an_accepted_loss_is_not_reported_again() {
    let home = closed(&TEXTS);
    fs::remove_file(file(&home)).unwrap();
    let loss = SqliteStore::loss(&file(&home)).unwrap().unwrap();
    assert_eq!(loss.journals[0].describe(), "events 1 to 3 of workspace 'x'");
    let store = SqliteStore::open_despite_loss(&file(&home)).unwrap();
    store.reset_mark().unwrap();
    drop(store);
    assert_eq!(SqliteStore::loss(&file(&home)).unwrap(), None);
    assert_eq!(findings(&home), Vec::<String>::new());
    with_texts(&*home.open(), &TEXTS);
    assert_eq!(findings(&home), Vec::<String>::new());
}

/// Events appended by processes of an older version after a newer one has upgraded the file.
#[test]
fn events_without_a_hash_get_one_with_the_next_event() {
    let home = closed(&TEXTS);
    let older = "UPDATE event SET hash = zeroblob(32), subject_hash = NULL WHERE sequence > 1";
    raw(&home).execute_batch(older).unwrap();
    fs::remove_file(mark(&home)).unwrap();
    assert!(findings(&home)[0].contains("event 2 of workspace 'x' has no hash"));
    let given = memory(&commonbook::base::id::RandomIds::default(), "ann", "x", "Rotate the key");
    home.open().write(move |tx| keep(tx, &given)).unwrap();
    assert_eq!(findings(&home), Vec::<String>::new());
}
