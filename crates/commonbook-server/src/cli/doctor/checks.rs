//! What `doctor` looks at besides the store: the server, the ports, the model, hooks and clients.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, Result};
use serde::Serialize;

use crate::config::{Config, HOOK_LOG};
use crate::local::Server;
use crate::modes::OpenPath;
use crate::output::counted;
use crate::sandbox::SandboxState;
use crate::serve::ADDRESS;
use crate::setup::install::state;
use crate::setup::ledger::Ledger;
use crate::{atomic, follow, modes, process, sandbox};

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    /// What.
    pub(super) what: &'static str,
    /// What was found.
    pub(super) found: String,
    /// How to mend it; nothing where nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mend: Option<String>,
}

impl Check {
    fn well(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, found: found.into(), mend: None }
    }

    fn wrong(what: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what, found: found.into(), mend: Some(mend.into()) }
    }

    fn of(what: &'static str, error: Error) -> Self {
        let mend = error.hint.unwrap_or_else(|| "See docs/operating.md.".to_owned());
        Self::wrong(what, error.message, mend)
    }
}

/// All of them, in the order in which they are told. `commands` is how many commands of the user's
/// own the hooks run.
pub(super) fn all(config: &Config, commands: Result<usize>) -> Vec<Check> {
    let server = Server::near(config).is_some();
    let mut checks = vec![of_server(server), of_port(server), of_model(config)];
    checks.extend(of_process());
    checks.extend(of_sandbox(config));
    if let Ok(home) = config.home() {
        checks.extend(of_modes(home));
        checks.extend(of_hooks(home, commands));
        checks.extend(of_clients(home, config));
    }
    checks
}

fn of_server(runs: bool) -> Check {
    Check::well(
        "server",
        match runs {
            true => "one answers on the socket of this home",
            false => {
                "none runs on this home: commands, hooks and clients open the store themselves"
            }
        },
    )
}

fn of_port(server: bool) -> Check {
    match TcpListener::bind(ADDRESS) {
        Ok(_) => Check::well("port", format!("{ADDRESS} is free")),
        Err(_) if server => Check::well("port", format!("{ADDRESS} is in use")),
        // Another home's server may be there, which is well.
        Err(_) => Check::well(
            "port",
            format!("{ADDRESS} is in use by something else: give a server of this home a --port"),
        ),
    }
}

fn of_model(config: &Config) -> Check {
    match follow::embedder(config) {
        Ok(Some(model)) => Check::well("model", model.spec().model.clone()),
        Ok(None) => Check::well("model", "off: memories are found by their words alone"),
        Err(error) => Check::of("model", error),
    }
}

/// Whether the memory of a process of ours could be read from outside.
fn of_process() -> Option<Check> {
    let told = "no core file holds the memory of a commonbook process";
    match process::leaves_core_files()? {
        false => Some(Check::well("process", told)),
        true => Some(Check::wrong(
            "process",
            "the system writes core files of this program, with what agents keep in them",
            "Run `ulimit -c 0` before `commonbook`.",
        )),
    }
}

/// Which files a server may use, and those of the home that lead beyond them.
fn of_sandbox(config: &Config) -> Vec<Check> {
    let sandbox = match sandbox::state(config) {
        Ok(SandboxState::On(sandbox)) => sandbox,
        Ok(SandboxState::Off) => {
            return vec![Check::well("sandbox", "off: COMMONBOOK_SANDBOX says so")];
        }
        Ok(SandboxState::Unsupported) => {
            let told = "none: this system has no Landlock, which Linux has in full since 5.19";
            return vec![Check::well("sandbox", told)];
        }
        Ok(SandboxState::Refused(error)) | Err(error) => return vec![Check::of("sandbox", error)],
    };
    let list = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut told = format!("`serve` writes only beneath {}", list(&sandbox.writes));
    if !sandbox.reads.is_empty() {
        told += &format!("; besides the system it reads {}", list(&sandbox.reads));
    }
    let mut checks = vec![Check::well("sandbox", told)];
    checks.extend(sandbox.missing.iter().map(|folder| {
        let found = format!("config.json names {}, which is not there", folder.display());
        Check::wrong("sandbox", found, "Make the folder, or take it out of `folders`.")
    }));
    checks.extend(sandbox.escaping_links().into_iter().map(|(link, target)| {
        let found =
            format!("{} leads to {}, which `serve` is refused", link.display(), target.display());
        Check::wrong(
            "sandbox",
            found,
            "Name the folder that it leads to under `folders` in config.json.",
        )
    }));
    checks
}

/// Closes the files of the home that other users can reach, and says which they were.
fn of_modes(home: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    let (mut closed, mut first) = (0_u64, None);
    for open in modes::open_to_others(home) {
        match modes::close(&open) {
            Ok(()) => {
                closed += 1;
                first.get_or_insert(open);
            }
            Err(error) => checks.push(Check::wrong(
                "modes",
                format!(
                    "other users can reach {} (mode {:04o}): {error}",
                    open.path.display(),
                    open.mode
                ),
                format!("Run `chmod {:04o} {}` as its owner.", open.private, open.path.display()),
            )),
        }
    }
    if let Some(OpenPath { path, mode, .. }) = first {
        let files = counted(closed, "path of the home", "paths of the home");
        checks.push(Check::well(
            "modes",
            format!("closed {files} to other users, {} (mode {mode:04o}) first", path.display()),
        ));
    } else if checks.is_empty() && home.exists() {
        checks.push(Check::well("modes", "no other user can reach the files of the home"));
    }
    checks
}

/// The user's own commands, and what hooks told last.
fn of_hooks(home: &Path, commands: Result<usize>) -> Vec<Check> {
    let mut checks = Vec::new();
    match commands {
        Ok(0) => {}
        Ok(count) => checks.push(Check::well("hooks", format!("{count} commands of yours"))),
        Err(error) => checks.push(Check::of("hooks", error)),
    }
    let log = home.join(HOOK_LOG);
    if let Ok(Some(text)) = atomic::read(&log)
        && let Some(last) = text.lines().last()
    {
        checks.push(Check::well("hook log", format!("{}: {last}", log.display())));
    }
    checks
}

fn of_clients(home: &Path, config: &Config) -> Vec<Check> {
    let ledger = match Ledger::read(home) {
        Ok(ledger) => ledger,
        Err(error) => return vec![Check::of("clients", error)],
    };
    if ledger.clients.is_empty() {
        let told = "none is set up; `commonbook setup CLIENT` connects one";
        return vec![Check::well("clients", told)];
    }
    let of = |installed| match state(installed, config) {
        Ok(told) => Check::well("client", told),
        Err(error) => Check::of("client", error),
    };
    ledger.clients.iter().map(of).collect()
}
