//! What `doctor` looks at besides the store: the server, the ports, the model, hooks and clients.

use std::net::TcpListener;
use std::path::Path;

use commonbook::error::{Error, Result};
use serde::Serialize;

use crate::config::{Config, HOOK_LOG};
use crate::local::Server;
use crate::serve::ADDRESS;
use crate::setup::install::state;
use crate::setup::ledger::Ledger;
use crate::{atomic, follow};

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
    if let Ok(home) = config.home() {
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
