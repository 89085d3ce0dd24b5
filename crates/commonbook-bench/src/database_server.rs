//! A PostgreSQL server of the bench's own, with its programs.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_server::child::step_error;

/// Where Debian has the programs of PostgreSQL 15.
pub(super) const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

/// A user that runs the server if the bench runs as root, which PostgreSQL refuses: `nobody`.
const SERVER_USER: u32 = 65_534;

/// How the server differs from its defaults: a socket alone, and the number of a process before each line of the log.
const SETTINGS: [&str; 4] = [
    "listen_addresses=",
    "max_connections=200",
    "log_line_prefix=%p ",
    "dynamic_shared_memory_type=mmap",
];

/// How long the server may take to start.
const START_TIME_MAX: Duration = Duration::from_secs(30);

/// How often `pgbench` tries a transaction that the server could not put in order.
const TRIES_MAX: u32 = 1_000;

/// A running server; dropping it ends it.
pub(super) struct BenchServer {
    programs: PathBuf,
    folder: PathBuf,
    child: Child,
}

impl BenchServer {
    /// Makes a server in this folder, and starts it.
    ///
    /// # Errors
    /// `unavailable` if a program is missing or fails.
    pub(super) fn start(programs: &Path, within: &Path) -> Result<Self> {
        let failed = |error| step_error("the folder of the server cannot be made", error);
        let (programs, folder) = (programs.to_owned(), within.join("postgres"));
        fs::create_dir(&folder).map_err(failed)?;
        if is_root() {
            chown(&folder, Some(SERVER_USER), Some(SERVER_USER)).map_err(failed)?;
            // The user of the server passes through it.
            fs::set_permissions(within, fs::Permissions::from_mode(0o711)).map_err(failed)?;
        }
        let data = folder.join("data");
        run(program(&programs, &folder, "initdb")
            .args(["--username=bench", "--auth=trust", "--encoding=UTF8", "--locale=C"])
            .arg("--pgdata")
            .arg(&data))?;
        let log = File::create(folder.join("log")).map_err(failed)?;
        let child = program(&programs, &folder, "postgres")
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(&folder)
            .args(SETTINGS.map(|setting| format!("-c{setting}")))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| step_error("PostgreSQL did not start", error))?;
        let server = Self { programs, folder, child };
        server.await_ready()?;
        Ok(server)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "no event says that the server accepts connections"
    )]
    fn await_ready(&self) -> Result<()> {
        let deadline = Instant::now() + START_TIME_MAX;
        while self.command("postgres", "SELECT 1").is_err() {
            if Instant::now() > deadline {
                let message = "PostgreSQL accepts no connections";
                return Err(Error::new(ErrorKind::Unavailable, message));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Its version.
    pub(super) fn version(&self) -> Result<String> {
        self.command("postgres", "SHOW server_version")
    }

    /// The address of a database.
    pub(super) fn address(&self, database: &str) -> String {
        format!("host={} user=bench dbname={database}", self.folder.display())
    }

    /// Creates a database; returns its address.
    pub(super) fn create(&self, database: &str) -> Result<String> {
        self.command("postgres", &format!("CREATE DATABASE {database}"))?;
        Ok(self.address(database))
    }

    /// Runs SQL; returns what it prints.
    pub(super) fn command(&self, database: &str, sql: &str) -> Result<String> {
        let mut psql = program(&self.programs, &self.folder, "psql");
        psql.args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-U", "bench", "-d", database, "-c", sql]);
        psql.arg("-h").arg(&self.folder);
        run(&mut psql).map(|text| text.trim().to_owned())
    }

    /// Runs an act while the server writes down every statement; returns what it wrote meanwhile.
    pub(super) fn log_of<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<(T, String)> {
        let read = || {
            fs::read_to_string(self.folder.join("log"))
                .map_err(|error| step_error("the log of the server cannot be read", error))
        };
        self.command("postgres", "ALTER ROLE bench SET log_statement = 'all'")?;
        let before = read()?.len();
        let answer = act();
        self.command("postgres", "ALTER ROLE bench RESET log_statement")?;
        let log = read()?;
        Ok((answer?, log.get(before..).unwrap_or_default().to_owned()))
    }

    /// Runs a script with `pgbench`; returns the transactions a second.
    pub(super) fn pgbench(
        &self,
        address: &str,
        script: &str,
        clients: usize,
        each: usize,
    ) -> Result<f64> {
        let path = self.folder.join("save.sql");
        fs::write(&path, script).map_err(|error| step_error("no script for pgbench", error))?;
        let mut pgbench = program(&self.programs, &self.folder, "pgbench");
        let threads = clients.min(std::thread::available_parallelism().map_or(1, usize::from));
        pgbench.args(["--no-vacuum", "--protocol=prepared", "--client", &clients.to_string()]);
        pgbench.args(["--jobs", &threads.to_string(), "--transactions", &each.to_string()]);
        pgbench.arg(format!("--max-tries={TRIES_MAX}")).arg("--file").arg(&path).arg(address);
        let report = run(&mut pgbench)?;
        let rate = report.lines().find_map(|line| line.strip_prefix("tps = "));
        let rate = rate.and_then(|rate| rate.split_whitespace().next()?.parse().ok());
        rate.ok_or_else(|| program_error("pgbench printed no rate", report.as_bytes()))
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        // Killing a process that has ended fails, which is fine. Its children end with it.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// A program of PostgreSQL, run by the user of the server.
fn program(programs: &Path, folder: &Path, name: &str) -> Command {
    let mut command = Command::new(programs.join(name));
    command.current_dir(folder);
    if is_root() {
        command.uid(SERVER_USER).gid(SERVER_USER);
    }
    command
}

/// Runs a program to its end; returns what it prints.
fn run(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| step_error(&format!("{name} did not start"), error))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(program_error(&format!("{name} failed"), &output.stderr)),
    }
}

/// The error of a program that failed.
fn program_error(what: &str, output: &[u8]) -> Error {
    let text = String::from_utf8_lossy(output);
    step_error(what, std::io::Error::other(text.trim().to_owned()))
}
