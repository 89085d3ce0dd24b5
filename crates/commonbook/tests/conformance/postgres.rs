//! The stores in PostgreSQL: a fresh database for each law, and what no other store has.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};

use commonbook::base::error::{ErrorKind, Result};
use commonbook::base::id::RandomIds;
use commonbook::model::access::Sight;
use commonbook::store::postgres::PostgresStore;
use commonbook::store::{Store, TRANSFER_TABLES};
use postgres::{Client, NoTls};

use crate::server::Server;
use crate::{Fresh, Sqlite, caller, journal, keep, memory};

/// A fresh database.
pub(crate) struct Postgres {
    name: String,
    connection: String,
    /// The way of the stores.
    way: String,
}

impl Postgres {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("law_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let server = Server::running();
        Self { connection: server.create(&name), way: server.way_of_store(&name), name }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A second panic would hide the first.
        if !std::thread::panicking() {
            Server::running().remove(&self.name);
        }
    }
}

impl Postgres {
    /// A connection beside those of the stores.
    fn client(&self) -> Client {
        Client::connect(&self.connection, NoTls).unwrap()
    }

    /// Closes all other connections to the database, as a server that starts again does.
    fn close_connections(&self) {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()";
        self.client().batch_execute(sql).unwrap();
    }
}

impl Fresh for Postgres {
    fn open(&self) -> Arc<dyn Store> {
        PostgresStore::open(&self.way, None).unwrap()
    }
}

/// The refusal of a database.
fn refused(connection: &str, kind: ErrorKind, reason: &str) {
    let error = PostgresStore::open(connection, None).err().expect(reason);
    assert_eq!(error.kind, kind);
    assert!(error.message.contains(reason), "{}", error.message);
    assert!(error.hint.is_some());
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn statistics_are_refreshed_when_they_are_asked_for() {
    let fresh = Postgres::new();
    let store = fresh.open();
    save(&*store, "tea").unwrap();
    save(&*store, "milk").unwrap();
    let rows = || {
        let sql = "SELECT reltuples::float8 FROM pg_class WHERE relname = 'memory'";
        fresh.client().query_one(sql, &[]).unwrap().get::<_, f64>(0)
    };
    assert_eq!(rows(), -1.0, "never counted");
    store.refresh_statistics().unwrap();
    assert_eq!(rows(), 2.0);
}

/// Saves a text, and returns how it went.
fn save(store: &dyn Store, text: &str) -> Result<()> {
    let given = memory(&RandomIds::default(), "ann", "x", text);
    store.write(move |tx| keep(tx, &given))
}

fn saved_count(store: &dyn Store) -> u64 {
    let sight = Sight::of(&caller("ann", "x"));
    store.read(|tx| tx.event_count(&sight, &journal("x"))).unwrap()
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn what_cannot_be_used_is_refused() {
    refused("no connection string", ErrorKind::Invalid, "no connection string");
    refused("host=/nowhere user=x", ErrorKind::Unavailable, "cannot be reached");
    let unsafe_server = Server::start("-c fsync=off");
    refused(&unsafe_server.to("postgres"), ErrorKind::Unavailable, "fsync = off");
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn tables_of_a_newer_version_are_refused() {
    let fresh = Postgres::new();
    save(&*fresh.open(), "tea").unwrap();
    fresh.client().batch_execute("UPDATE schema_version SET version = 99").unwrap();
    refused(&fresh.connection, ErrorKind::Unavailable, "version 99");
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn a_node_goes_on_with_the_next_version_and_stops_at_a_later_one() {
    let fresh = Postgres::new();
    let store = fresh.open();
    let set = |newest: i64| {
        let sql = format!(
            "DELETE FROM schema_version WHERE version > {NEWEST}; \
             INSERT INTO schema_version (version) SELECT generate_series({NEWEST} + 1, {newest})"
        );
        fresh.client().batch_execute(&sql).unwrap();
    };
    set(NEWEST + 1);
    save(&*store, "tea").unwrap();
    save(&*fresh.open(), "milk").unwrap();
    set(NEWEST + 2);
    let sight = Sight::of(&caller("ann", "x"));
    let read = store.read(|tx| tx.event_count(&sight, &journal("x")).map(drop));
    for refused in [save(&*store, "sugar"), read] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable);
        let reason = format!("have version {}", NEWEST + 2);
        assert!(error.message.contains(&reason), "{}", error.message);
    }
    set(NEWEST + 1);
    assert_eq!(saved_count(&*store), 2);
}

/// The version of the tables of this program.
const NEWEST: i64 = 5;

/// Puts the tables back to the first version.
fn undo_migrations(fresh: &Postgres) {
    let sql = "DELETE FROM schema_version WHERE version > 1; \
               ALTER TABLE schema_version DROP COLUMN at, DROP COLUMN program; \
               ALTER TABLE claim DROP COLUMN audience; \
               ALTER TABLE judged_pair DROP COLUMN said, DROP COLUMN said_by; \
               ALTER TABLE memory DROP COLUMN path";
    fresh.client().batch_execute(sql).unwrap();
}

fn versions(fresh: &Postgres) -> Vec<i64> {
    let sql = "SELECT version FROM schema_version ORDER BY version";
    fresh.client().query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn one_of_many_processes_migrates_and_all_go_on() {
    let fresh = Postgres::new();
    save(&*fresh.open(), "tea").unwrap();
    undo_migrations(&fresh);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let fresh = &fresh;
            scope.spawn(move || save(&*fresh.open(), &format!("number {number}")).unwrap());
        }
    });
    assert_eq!(saved_count(&*fresh.open()), 9);
    assert_eq!(versions(&fresh), (1..=NEWEST).collect::<Vec<_>>());
    let sql = "SELECT program FROM schema_version WHERE version = 2 AND at IS NOT NULL";
    assert_eq!(names_in(&fresh, sql), BTreeSet::from([env!("CARGO_PKG_VERSION").to_owned()]));
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn a_migration_waits_for_the_transactions_that_run() {
    let fresh = Postgres::new();
    let store = fresh.open();
    undo_migrations(&fresh);
    // As the transaction of a node of the version before.
    let mut node = fresh.client();
    node.batch_execute("BEGIN; LOCK TABLE schema_version IN ACCESS SHARE MODE").unwrap();
    std::thread::scope(|scope| {
        let newer = scope.spawn(|| drop(fresh.open()));
        let waiting = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted \
                       AND relation = 'schema_version'::regclass";
        let mut looker = fresh.client();
        while !looker.query_one(waiting, &[]).unwrap().get::<_, bool>(0) {}
        assert_eq!(node.query("SELECT 1 FROM schema_version", &[]).unwrap().len(), 1);
        node.batch_execute("COMMIT").unwrap();
        newer.join().unwrap();
    });
    assert_eq!(versions(&fresh), (1..=NEWEST).collect::<Vec<_>>());
    save(&*store, "tea").unwrap();
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn many_processes_can_open_a_fresh_database_at_once() {
    let fresh = Postgres::new();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let fresh = &fresh;
            scope.spawn(move || save(&*fresh.open(), &format!("number {number}")).unwrap());
        }
    });
    let store = fresh.open();
    assert_eq!((saved_count(&*store), i64::from(store.schema_version().unwrap())), (8, NEWEST));
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn a_connection_that_was_closed_while_idle_is_replaced() {
    let fresh = Postgres::new();
    let store = fresh.open();
    save(&*store, "tea").unwrap();
    fresh.close_connections();
    save(&*store, "milk").unwrap();
    fresh.close_connections();
    assert_eq!(saved_count(&*store), 2);
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn a_write_whose_connection_is_lost_runs_again_and_at_last_leaves_nothing() {
    let fresh = Arc::new(Postgres::new());
    let store = fresh.open();
    let write = |losses: u32| {
        let (given, server) =
            (memory(&RandomIds::default(), "ann", "x", "tea"), Arc::clone(&fresh));
        let mut runs = 0;
        store.write(move |tx| {
            keep(tx, &given)?;
            runs += 1;
            if runs <= losses {
                server.close_connections();
            }
            tx.journal_end(&given.workspace)
        })
    };
    assert_eq!(write(1).unwrap(), 1);
    assert_eq!(write(u32::MAX).unwrap_err().kind, ErrorKind::Unavailable);
    assert_eq!(saved_count(&*store), 1);
    assert_eq!(write(0).unwrap(), 2);
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn a_journal_with_a_missing_event_is_found_by_the_check() {
    let fresh = Postgres::new();
    let store = fresh.open();
    save(&*store, "tea").unwrap();
    save(&*store, "milk").unwrap();
    assert_eq!(store.check_rows().unwrap(), Vec::<String>::new());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    fresh.client().batch_execute("DELETE FROM event WHERE sequence = 1").unwrap();
    let findings = store.check_rows().unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    store.scrub().unwrap();
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn writes_of_many_workspaces_run_beside_each_other() {
    let fresh = Postgres::new();
    let store = fresh.open();
    // Each write waits inside of its transaction until both are in one.
    let (barrier, second) = (Arc::new(Barrier::new(2)), fresh.open());
    std::thread::scope(|scope| {
        for (store, workspace) in [(&store, "x"), (&second, "y")] {
            let barrier = Arc::clone(&barrier);
            let given = memory(&RandomIds::default(), "ann", workspace, "tea");
            scope.spawn(move || {
                let mut has_waited = false;
                let written = store.write(move |tx| {
                    keep(tx, &given)?;
                    if !std::mem::replace(&mut has_waited, true) {
                        barrier.wait();
                    }
                    Ok(())
                });
                written.unwrap();
            });
        }
    });
    assert_eq!(saved_count(&*store), 1);
}

/// The names that a statement returns in its first column.
fn names_in(fresh: &Postgres, sql: &str) -> BTreeSet<String> {
    fresh.client().query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

/// What only SQLite has: digests, the state of its migrations, and its own tables.
const SQLITE_COLUMNS: [&str; 4] = ["digest", "hash", "topics_hash", "subject_hash"];

/// What only PostgreSQL has.
const POSTGRES_NAMES: [&str; 6] = [
    // Programs of the version before look for claims by it.
    "claim_key",
    "schema_version.version",
    "schema_version.at",
    "schema_version.program",
    "audience_of_nobody",
    "audience_of_user",
];

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn both_engines_have_the_same_tables_columns_and_indexes() {
    let home = Sqlite::new();
    drop(home.open());
    let sqlite = rusqlite::Connection::open(home.folder().join("home/commonbook.db")).unwrap();
    let all = |sql: &str| -> BTreeSet<String> {
        let mut statement = sqlite.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(rusqlite::Result::unwrap).collect()
    };
    let columns =
        all("SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'refinery_%' \
         AND t.name <> 'home'");
    let indexes = all("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL");
    let is_own =
        |name: &String| SQLITE_COLUMNS.iter().any(|column| name.ends_with(&format!(".{column}")));
    let ours: BTreeSet<String> =
        columns.into_iter().filter(|name| !is_own(name)).chain(indexes).collect();
    let fresh = Postgres::new();
    drop(fresh.open());
    let columns = names_in(
        &fresh,
        "SELECT table_name || '.' || column_name \
         FROM information_schema.columns WHERE table_schema = 'public'",
    );
    let indexes = names_in(
        &fresh,
        "SELECT i.indexname::text FROM pg_indexes i \
         WHERE i.schemaname = 'public' AND NOT EXISTS \
             (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)",
    );
    let theirs: BTreeSet<String> = columns
        .into_iter()
        .chain(indexes)
        .filter(|name| !POSTGRES_NAMES.contains(&name.as_str()))
        .collect();
    assert!(ours.len() > 300, "{} names", ours.len());
    assert_eq!(ours.difference(&theirs).collect::<Vec<_>>(), Vec::<&String>::new(), "missing");
    assert_eq!(theirs.difference(&ours).collect::<Vec<_>>(), Vec::<&String>::new(), "unknown");
}

#[test]
#[ignore = "needs a PostgreSQL server: .ci/postgres installs one and runs it"]
fn every_table_is_copied() {
    let fresh = Postgres::new();
    drop(fresh.open());
    let sql = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' \
         AND tablename NOT IN ('schema_version', 'webhook_lease') ORDER BY 1";
    let rows = fresh.client().query(sql, &[]).unwrap();
    let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let mut copied = TRANSFER_TABLES.map(str::to_owned).to_vec();
    copied.sort_unstable();
    assert_eq!(copied, names);
}
