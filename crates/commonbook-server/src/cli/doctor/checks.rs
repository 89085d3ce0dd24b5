//! What `doctor` looks at besides the store: the server, the ports, the model, hooks and clients.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, Result};
use serde::Serialize;

use crate::config::{Config, HOOK_LOG};
use crate::local::RpcClient;
use crate::modes::OpenPath;
use crate::output::count_text;
use crate::sandbox::SandboxState;
use crate::serve::DEFAULT_ADDRESS;
use crate::setup::install::installation_state;
use crate::setup::ledger::SetupLedger;
use crate::{atomic, follow, modes, process, sandbox};

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct HealthCheck {
    /// What.
    pub(super) what: &'static str,
    /// What was found.
    pub(super) found: String,
    /// How to mend it; nothing where nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mend: Option<String>,
}

impl HealthCheck {
    fn healthy(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, found: found.into(), mend: None }
    }

    fn faulty(what: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what, found: found.into(), mend: Some(mend.into()) }
    }

    fn of(what: &'static str, error: Error) -> Self {
        let mend = error.hint.unwrap_or_else(|| "See docs/operating.md.".to_owned());
        Self::faulty(what, error.message, mend)
    }
}

/// All of them, in the order in which they are told. `commands` is how many commands of the user's
/// own the hooks run.
pub(super) fn run_checks(config: &Config, commands: Result<usize>) -> Vec<HealthCheck> {
    let server = RpcClient::connect_to_home(config).is_some();
    let mut checks = vec![check_server(server), check_port(server), check_model(config)];
    checks.extend(check_process());
    checks.extend(check_sandbox(config));
    if let Ok(home) = config.home() {
        checks.extend(check_modes(home));
        checks.extend(check_hooks(home, commands));
        checks.extend(check_clients(home, config));
    }
    checks
}

fn check_server(runs: bool) -> HealthCheck {
    HealthCheck::healthy(
        "server",
        match runs {
            true => "one answers on the socket of this home",
            false => {
                "none runs on this home: commands, hooks and clients open the store themselves"
            }
        },
    )
}

fn check_port(server: bool) -> HealthCheck {
    match TcpListener::bind(DEFAULT_ADDRESS) {
        Ok(_) => HealthCheck::healthy("port", format!("{DEFAULT_ADDRESS} is free")),
        Err(_) if server => HealthCheck::healthy("port", format!("{DEFAULT_ADDRESS} is in use")),
        // Another home's server may be there, which is well.
        Err(_) => HealthCheck::healthy(
            "port",
            format!(
                "{DEFAULT_ADDRESS} is in use by something else: give a server of this home a --port"
            ),
        ),
    }
}

fn check_model(config: &Config) -> HealthCheck {
    match follow::embedder(config) {
        Ok(Some(model)) => HealthCheck::healthy("model", model.spec().model.clone()),
        Ok(None) => HealthCheck::healthy("model", "off: memories are found by their words alone"),
        Err(error) => HealthCheck::of("model", error),
    }
}

/// Whether the memory of a process of ours could be read from outside.
fn check_process() -> Option<HealthCheck> {
    let told = "no core file holds the memory of a commonbook process";
    match process::leaves_core_files()? {
        false => Some(HealthCheck::healthy("process", told)),
        true => Some(HealthCheck::faulty(
            "process",
            "the system writes core files of this program, with what agents keep in them",
            "Run `ulimit -c 0` before `commonbook`.",
        )),
    }
}

/// Which files a server may use, and those of the home that lead beyond them.
fn check_sandbox(config: &Config) -> Vec<HealthCheck> {
    let sandbox = match sandbox::sandbox_state(config) {
        Ok(SandboxState::On(sandbox)) => sandbox,
        Ok(SandboxState::Off) => {
            return vec![HealthCheck::healthy("sandbox", "off: COMMONBOOK_SANDBOX says so")];
        }
        Ok(SandboxState::Unsupported) => {
            let told = "none: this system has no Landlock, which Linux has in full since 5.19";
            return vec![HealthCheck::healthy("sandbox", told)];
        }
        Ok(SandboxState::Refused(error)) | Err(error) => {
            return vec![HealthCheck::of("sandbox", error)];
        }
    };
    let list = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut told = format!("`serve` writes only beneath {}", list(&sandbox.writes));
    if !sandbox.reads.is_empty() {
        told += &format!("; besides the system it reads {}", list(&sandbox.reads));
    }
    let mut checks = vec![HealthCheck::healthy("sandbox", told)];
    checks.extend(sandbox.missing.iter().map(|folder| {
        let found = format!("config.json names {}, which is not there", folder.display());
        HealthCheck::faulty("sandbox", found, "Make the folder, or take it out of `folders`.")
    }));
    checks.extend(sandbox.escaping_links().into_iter().map(|(link, target)| {
        let found =
            format!("{} leads to {}, which `serve` is refused", link.display(), target.display());
        HealthCheck::faulty(
            "sandbox",
            found,
            "Name the folder that it leads to under `folders` in config.json.",
        )
    }));
    checks
}

/// Closes the files of the home that other users can reach, and says which they were.
fn check_modes(home: &Path) -> Vec<HealthCheck> {
    let mut checks = Vec::new();
    let (mut closed, mut first) = (0_u64, None);
    for open in modes::open_to_others(home) {
        match modes::close(&open) {
            Ok(()) => {
                closed += 1;
                first.get_or_insert(open);
            }
            Err(error) => checks.push(HealthCheck::faulty(
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
        let files = count_text(closed, "path of the home", "paths of the home");
        checks.push(HealthCheck::healthy(
            "modes",
            format!("closed {files} to other users, {} (mode {mode:04o}) first", path.display()),
        ));
    } else if checks.is_empty() && home.exists() {
        checks.push(HealthCheck::healthy("modes", "no other user can reach the files of the home"));
    }
    checks
}

/// The user's own commands, and what hooks told last.
fn check_hooks(home: &Path, commands: Result<usize>) -> Vec<HealthCheck> {
    let mut checks = Vec::new();
    match commands {
        Ok(0) => {}
        Ok(count) => {
            checks.push(HealthCheck::healthy("hooks", format!("{count} commands of yours")));
        }
        Err(error) => checks.push(HealthCheck::of("hooks", error)),
    }
    let log = home.join(HOOK_LOG);
    if let Ok(Some(text)) = atomic::read(&log)
        && let Some(last) = text.lines().last()
    {
        checks.push(HealthCheck::healthy("hook log", format!("{}: {last}", log.display())));
    }
    checks
}

fn check_clients(home: &Path, config: &Config) -> Vec<HealthCheck> {
    let ledger = match SetupLedger::read(home) {
        Ok(ledger) => ledger,
        Err(error) => return vec![HealthCheck::of("clients", error)],
    };
    if ledger.clients.is_empty() {
        let told = "none is set up; `commonbook setup CLIENT` connects one";
        return vec![HealthCheck::healthy("clients", told)];
    }
    let of = |installed| match installation_state(installed, config) {
        Ok(told) => HealthCheck::healthy("client", told),
        Err(error) => HealthCheck::of("client", error),
    };
    ledger.clients.iter().map(of).collect()
}
