//! A PostgreSQL server for tests: started once for each test process, with a database for each store,
//! and stopped with the process.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use postgres::{Client, NoTls};

/// The folder of the programs to use, such as those of another version.
const PROGRAMS_VARIABLE: &str = "COMMONBOOK_TEST_POSTGRES";

/// The program of PgBouncer, if the stores reach the server through it.
const POOLER_VARIABLE: &str = "COMMONBOOK_TEST_POOLER";

/// A user that runs the server if the tests run as root, which PostgreSQL refuses: `nobody`.
const SERVER_USER: u32 = 65_534;

/// Starts the server, says so, and stops it when its input ends, that is when the tests end. It lives for minutes and
/// has a database for each test, so that visits to each of them and images of pages for a crash would be most of its work.
const UNTIL_TESTS_END: &str = "\"$1/pg_ctl\" -D \"$2/data\" -l \"$2/log\" -w -s start \
    -o \"-k $2 -c listen_addresses='' -c max_connections=200 -c autovacuum=off -c full_page_writes=off \
    -c checkpoint_timeout=1h -c max_wal_size=2GB $3\" && \
    { [ -z \"$4\" ] || \"$4\" -q -d \"$2/pooler.ini\"; } && echo ready; cat >/dev/null; \
    [ -z \"$4\" ] || kill \"$(cat \"$2/pooler.pid\")\"; \"$1/pg_ctl\" -D \"$2/data\" -m immediate -s stop; rm -rf \"$2\"";

pub(crate) struct Server {
    folder: PathBuf,
    /// Its input ends with this process.
    _running: Child,
}

impl Server {
    /// The server of this process.
    pub(crate) fn running() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(|| Self::start(""))
    }

    /// Starts a server with these options.
    pub(crate) fn start(options: &str) -> Self {
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
        if pooler().is_some() {
            fs::write(folder.join("pooler.ini"), pooler_settings(&folder)).unwrap();
        }
        let mut running = command(Path::new("/bin/sh"))
            .args(["-c", UNTIL_TESTS_END, "server"])
            .args([&programs, &folder])
            .arg(options)
            .arg(pooler().unwrap_or_default())
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

    /// Creates an empty database, and returns the way to it.
    pub(crate) fn create(&self, name: &str) -> String {
        self.copy("template1", name)
    }

    /// Creates a database as a copy of a template, which must have no connections, and returns the way to it.
    pub(crate) fn copy(&self, template: &str, name: &str) -> String {
        let mut client = Client::connect(&self.to("postgres"), NoTls).unwrap();
        client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).unwrap();
        self.to(name)
    }

    /// Removes a database, with the connections to it.
    pub(crate) fn remove(&self, name: &str) {
        let mut client = Client::connect(&self.to("postgres"), NoTls).unwrap();
        client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).unwrap();
    }

    /// The way of a store to a database: through the pooler, if there is one.
    pub(crate) fn way_of_store(&self, database: &str) -> String {
        match pooler() {
            Some(_) => format!("{} port=6432 pgbouncer=true", self.to(database)),
            None => self.to(database),
        }
    }

    /// The way to a database.
    pub(crate) fn to(&self, database: &str) -> String {
        format!("host={} user=commonbook dbname={database}", self.folder.display())
    }
}

/// The program of the pooler, if the stores use one.
#[expect(clippy::disallowed_methods, reason = "the tests alone take the pooler from a variable")]
fn pooler() -> Option<PathBuf> {
    std::env::var_os(POOLER_VARIABLE).map(PathBuf::from)
}

/// The settings of a pooler in transaction mode: the next transaction has any of its connections.
fn pooler_settings(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "[databases]\n* = host={folder} user=commonbook\n[pgbouncer]\nlisten_addr =\n\
         listen_port = 6432\nunix_socket_dir = {folder}\nauth_type = any\n\
         pool_mode = transaction\ndefault_pool_size = 8\nmax_client_conn = 1000\n\
         server_idle_timeout = 2\nlogfile = {folder}/pooler.log\npidfile = {folder}/pooler.pid\n"
    )
}

/// The folder with `initdb` and `postgres`: the one that was named, or the newest of Debian.
#[expect(clippy::disallowed_methods, reason = "the tests alone take the server from a variable")]
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
