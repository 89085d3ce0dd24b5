//! A PostgreSQL server for the laws: started once for each test process, with a database for each
//! law, and stopped with the process.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, OnceLock};

use commonbook::base::error::{ErrorKind, Result};
use commonbook::base::id::RandomIds;
use commonbook::model::access::Sight;
use commonbook::store::Store;
use commonbook::store::postgres::PostgresStore;

use postgres::{Client, NoTls};

use crate::{Fresh, caller, journal, keep, memory};

/// The folder of the programs to use, such as those of another version.
const PROGRAMS_VARIABLE: &str = "COMMONBOOK_TEST_POSTGRES";

/// A user that runs the server if the tests run as root, which PostgreSQL refuses: `nobody`.
const SERVER_USER: u32 = 65_534;

/// Starts the server, says so, and stops it when its input ends, that is when the tests end.
const UNTIL_TESTS_END: &str = "\"$1/pg_ctl\" -D \"$2/data\" -l \"$2/log\" -w -s start \
    -o \"-k $2 -c listen_addresses='' -c max_connections=200 $3\" && echo ready; cat >/dev/null; \
    \"$1/pg_ctl\" -D \"$2/data\" -m immediate -s stop; rm -rf \"$2\"";

/// A fresh database.
pub(crate) struct Postgres {
    connection: String,
}

impl Postgres {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let server = Server::running();
        let name = format!("law_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut client = Client::connect(&server.to("postgres"), NoTls).unwrap();
        client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        Self { connection: server.to(&name) }
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
        PostgresStore::open(&self.connection).unwrap()
    }
}

struct Server {
    folder: PathBuf,
    /// Its input ends with this process.
    _running: Child,
}

impl Server {
    /// The server of this process.
    fn running() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(|| Self::start(""))
    }

    /// Starts a server with these options.
    fn start(options: &str) -> Self {
        let programs = programs();
        let folder = tempfile::Builder::new()
            .prefix("commonbook-postgres-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .unwrap()
            .keep();
        let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
        if is_root {
            chown(&folder, Some(SERVER_USER), Some(SERVER_USER)).unwrap();
        }
        let command = |program: &Path| {
            let mut command = Command::new(program);
            command.current_dir(&folder).stderr(Stdio::inherit());
            if is_root {
                command.uid(SERVER_USER).gid(SERVER_USER);
            }
            command
        };
        // Another order of text than ours if the server knows one: the tables do not depend on it.
        let made = ["--locale-provider=icu --icu-locale=en", ""].iter().any(|order| {
            let status = command(&programs.join("initdb"))
                .args(["--username=commonbook", "--auth=trust", "--encoding=UTF8", "--no-sync"])
                .args(["--locale=C", "--pgdata"])
                .arg(folder.join("data"))
                .args(order.split_whitespace())
                .stdout(Stdio::null())
                .status();
            status.unwrap().success()
        });
        assert!(made, "initdb failed");
        let mut running = command(Path::new("/bin/sh"))
            .args(["-c", UNTIL_TESTS_END, "server"])
            .args([&programs, &folder])
            .arg(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(running.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert_eq!(said.trim(), "ready", "the server did not start:\n{log}");
        Self { folder, _running: running }
    }

    fn to(&self, database: &str) -> String {
        format!("host={} user=commonbook dbname={database}", self.folder.display())
    }
}

/// The folder with `initdb` and `postgres`: the one that was named, or the newest of Debian.
#[expect(clippy::disallowed_methods, reason = "only the tests are told where the server is")]
fn programs() -> PathBuf {
    if let Some(folder) = std::env::var_os(PROGRAMS_VARIABLE) {
        return folder.into();
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |folder: &PathBuf| {
        folder.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()).unwrap_or(0)
    };
    let newest = versions.map(|version| version.path()).max_by_key(number);
    let programs = newest.map(|version| version.join("bin"));
    programs.filter(|folder| folder.join("initdb").is_file()).unwrap_or_else(|| {
        panic!(
            "no PostgreSQL server is installed: `apt-get install postgresql`, or name the folder \
             of `initdb` and `postgres` in {PROGRAMS_VARIABLE}"
        )
    })
}

/// The refusal of a database.
fn refused(connection: &str, kind: ErrorKind, reason: &str) {
    let error = PostgresStore::open(connection).err().expect(reason);
    assert_eq!(error.kind, kind);
    assert!(error.message.contains(reason), "{}", error.message);
    assert!(error.hint.is_some());
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
fn what_cannot_be_used_is_refused() {
    refused("no connection string", ErrorKind::Invalid, "no connection string");
    refused("host=/nowhere user=x", ErrorKind::Unavailable, "cannot be reached");
    refused("host=/nowhere user=x sslmode=require", ErrorKind::Invalid, "TLS");
    let unsafe_server = Server::start("-c fsync=off");
    refused(&unsafe_server.to("postgres"), ErrorKind::Unavailable, "fsync = off");
}

#[test]
fn tables_of_a_newer_version_are_refused() {
    let fresh = Postgres::new();
    save(&*fresh.open(), "tea").unwrap();
    fresh.client().batch_execute("UPDATE schema_version SET version = 99").unwrap();
    refused(&fresh.connection, ErrorKind::Unavailable, "version 99");
}

#[test]
fn many_processes_can_open_a_fresh_database_at_once() {
    let fresh = Postgres::new();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let fresh = &fresh;
            scope.spawn(move || save(&*fresh.open(), &format!("number {number}")).unwrap());
        }
    });
    let store = fresh.open();
    assert_eq!((saved_count(&*store), store.schema_version().unwrap()), (8, 1));
}

#[test]
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
