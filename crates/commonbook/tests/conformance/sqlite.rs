//! The SQLite store only: a file may be damaged, newer, foreign, or opened by several processes at
//! once.

use std::fs;

use commonbook::Commonbook;
use commonbook::base::error::ErrorKind;
use commonbook::model::memory::{Memory, RevisionPurge};
use commonbook::store::Store;
use commonbook::store::sqlite::SqliteStore;
use rusqlite::Connection;

use crate::damage::{closed, file};
use crate::{Fresh, Sqlite, keep, memory, now, replace, with_texts};

fn refused(home: &Sqlite, reason: &str) {
    let before = fs::read(file(home)).unwrap();
    let error = SqliteStore::open(&file(home)).err().expect(reason);
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains(reason), "{}", error.message);
    assert!(error.hint.is_some());
    assert!(fs::read(file(home)).unwrap() == before, "the file was left as it is");
}

#[test]
fn a_file_that_is_not_a_database_is_refused_and_unchanged() {
    let home = closed(&["tea"]);
    fs::write(file(&home), b"This is not a database, however long it may be. ".repeat(300))
        .unwrap();
    refused(&home, "is damaged");
    fs::write(file(&home), b"short").unwrap();
    refused(&home, "is damaged");
}

#[test]
fn a_file_that_only_begins_like_a_database_is_refused_and_unchanged() {
    let home = closed(&["tea"]);
    let mut bytes = fs::read(file(&home)).unwrap();
    bytes[100..].fill(0x55);
    fs::write(file(&home), &bytes).unwrap();
    refused(&home, "is damaged");
}

#[test]
fn a_folder_in_place_of_the_file_is_refused() {
    let home = Sqlite::new();
    fs::create_dir_all(file(&home).join("inside")).unwrap();
    let error = SqliteStore::open(&file(&home)).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(file(&home).join("inside").is_dir());
}

#[test]
fn an_empty_file_becomes_a_store() {
    let home = Sqlite::new();
    fs::create_dir_all(home.folder().join("home")).unwrap();
    fs::write(file(&home), b"").unwrap();
    assert_eq!(with_texts(&*home.open(), &["tea"]).len(), 1);
    assert_eq!(home.open().check().unwrap(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn other_users_of_the_machine_cannot_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let home = Sqlite::new();
    let store = home.open();
    with_texts(&*store, &["tea"]);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.folder().join("home")), 0o700);
    for ending in ["", "-wal", "-shm"] {
        let path = home.folder().join(format!("home/commonbook.db{ending}"));
        assert_eq!(mode(&path), 0o600, "{ending}");
    }
}

#[test]
fn a_truncated_file_is_refused_and_unchanged() {
    let home = closed(&["tea"]);
    let whole = fs::read(file(&home)).unwrap();
    fs::write(file(&home), &whole[..whole.len() / 2]).unwrap();
    refused(&home, "is damaged");
}

#[test]
fn a_database_of_another_program_is_refused_and_unchanged() {
    let home = closed(&["tea"]);
    fs::remove_file(file(&home)).unwrap();
    Connection::open(file(&home)).unwrap().execute_batch("CREATE TABLE other (x)").unwrap();
    refused(&home, "another program");
}

#[test]
fn a_newer_file_is_refused_and_unchanged() {
    let home = closed(&["tea"]);
    let connection = Connection::open(file(&home)).unwrap();
    let newer = "INSERT INTO refinery_schema_history SELECT 99, 'later', applied_on, checksum \
                 FROM refinery_schema_history LIMIT 1";
    connection.execute_batch(newer).unwrap();
    connection.close().unwrap();
    refused(&home, "newer Commonbook (its schema is 99");
}

#[test]
fn damage_in_the_middle_is_found_by_the_check() {
    let long: Vec<String> =
        (0..200).map(|n| format!("memory {n} {}", "word ".repeat(50))).collect();
    let home = closed(&long.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(home.open().check().unwrap(), Vec::<String>::new());
    let mut bytes = fs::read(file(&home)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xAA);
    fs::write(file(&home), bytes).unwrap();
    let findings = SqliteStore::open(&file(&home)).and_then(|store| store.check());
    assert!(findings.is_err() || findings.is_ok_and(|findings| !findings.is_empty()));
}

#[test]
fn many_processes_can_open_a_fresh_home_at_once() {
    let home = Sqlite::new();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let home = &home;
            scope.spawn(move || {
                let ids = commonbook::base::id::RandomIds::default();
                let given = memory(&ids, "ann", "x", &format!("number {number}"));
                home.open().write(move |tx| keep(tx, &given)).unwrap();
            });
        }
    });
    let sight = commonbook::model::access::Sight::of(&crate::caller("ann", "x"));
    assert_eq!(home.open().read(|tx| tx.event_count(&sight, &crate::journal("x"))).unwrap(), 8);
}

#[test]
fn no_database_file_contains_what_was_purged() {
    let home = Sqlite::new();
    let store = home.open();
    let filler: Vec<String> = (0..300).map(|n| format!("memory {n} about the weather")).collect();
    with_texts(&*store, &filler.iter().map(String::as_str).collect::<Vec<_>>());
    let ids = commonbook::base::id::RandomIds::default();
    let mut first = memory(&ids, "ann", "x", "the zanzibarian secret");
    first.topics = vec!["zanzibarian".into()];
    let second = Memory { text: "a zanzibarian whisper".into(), revision: 2, ..first.clone() };
    let (given, after) = (first.clone(), second.clone());
    store.write(move |tx| keep(tx, &given)).unwrap();
    store.write(move |tx| replace(tx, &first, &after)).unwrap();
    assert!(in_a_file(&home, "zanzibarian"));
    store.write(move |tx| tx.purge_memory(&second)).unwrap();
    store.scrub().unwrap();
    for word in ["zanzibarian", "anzibarian", "whisper"] {
        assert!(!in_a_file(&home, word), "{word} is still in a file");
    }
}

#[test]
fn no_database_file_contains_what_a_purged_revision_said() {
    let home = Sqlite::new();
    let store = home.open();
    let ids = commonbook::base::id::RandomIds::default();
    let mut first = memory(&ids, "ann", "x", "the zanzibarian secret");
    first.topics = vec!["zanzibarian".into()];
    let second =
        Memory { text: "a plain word".into(), topics: Vec::new(), revision: 2, ..first.clone() };
    let (given, before) = (first.clone(), first.clone());
    store.write(move |tx| keep(tx, &given)).unwrap();
    store.write(move |tx| replace(tx, &before, &second)).unwrap();
    assert!(in_a_file(&home, "zanzibarian"));
    let purge = RevisionPurge { at: now(), by: first.owner.clone() };
    store.write(move |tx| tx.purge_revision(&first.without_content(), &purge)).unwrap();
    store.scrub().unwrap();
    assert!(!in_a_file(&home, "zanzibarian"), "it is still in a file");
}

#[test]
fn a_process_that_ran_long_leaves_no_long_log() {
    let home = Sqlite::new();
    // As a process has it: behind the wrapper that notes writes.
    let book = Commonbook::new(home.open());
    let store = book.store();
    let log_bytes = || fs::metadata(home.folder().join("home/commonbook.db-wal")).unwrap().len();
    let ids = commonbook::base::id::RandomIds::default();
    let save = |text: &str| {
        let saved = memory(&ids, "ann", "x", text);
        store.write(move |tx| keep(tx, &saved)).unwrap();
    };
    save("a short one");
    let short = log_bytes();
    store.shrink_log().unwrap();
    assert_eq!(log_bytes(), short, "a short log is left to the next commit");
    (0..40).for_each(|number| save(&format!("{number} {}", "the weather is fine. ".repeat(3_000))));
    assert!(log_bytes() > 2_000_000, "{}", log_bytes());
    // Who reads is not waited for, and keeps what it reads.
    let other = home.open();
    other
        .read(|tx| {
            tx.workspaces()?;
            save("one that the reader does not see");
            store.shrink_log()
        })
        .unwrap();
    assert!(log_bytes() > 2_000_000, "{}", log_bytes());
    store.shrink_log().unwrap();
    assert_eq!(log_bytes(), 0);
    save("the next one");
    drop(home.open());
}

fn in_a_file(home: &Sqlite, word: &str) -> bool {
    fs::read_dir(home.folder().join("home")).unwrap().any(|entry| {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    })
}
