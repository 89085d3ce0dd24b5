//! The checks of `doctor` besides the store: server, ports, model, sandbox, hooks and clients.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use commonbook::base::error::{ErrorKind, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::workspace::Workspace;
use commonbook::verbs::names;
use commonbook::verbs::project_notices;
use serde_json::Map;

use super::HookState;
use crate::background::follow;
use crate::background::health::{self, HealthCheck};
use crate::calls::output::count_text;
use crate::calls::verb;
use crate::clients::local::RpcClient;
use crate::clients::remote::{RestClient, ServerAddress};
use crate::clients::setup::clients::SetupClient;
use crate::clients::setup::install::{check_in_project, installation_state};
use crate::clients::setup::ledger::SetupLedger;
use crate::clients::setup::plugin::clients_with_plugin;
use crate::clients::setup::trust::untrusted_hooks;
use crate::settings::config::DEFAULT_ADDRESS;
use crate::settings::config::{Config, HOOK_LOG};
use crate::settings::project;
use crate::settings::project::map::planned_workspace;
use crate::system::modes::OpenPath;
use crate::system::{atomic, modes};

/// The time limit of a server at a URL.
const REACH_TIMEOUT: Duration = Duration::from_secs(3);

/// Runs all checks, in the order of the report.
pub(super) fn run_checks(config: &Config, hooks: HookState) -> Vec<HealthCheck> {
    let server = RpcClient::connect_to_home(config).is_some();
    let mut checks = vec![check_server(server)];
    checks.extend(health::check_server_settings(config).filter(|_| server));
    let model = follow::embedder(config).map(|model| Some(model?.spec().model.clone()));
    checks.extend([check_port(server), health::check_model(model)]);
    checks.extend(health::check_settings(config));
    checks.push(check_project(config));
    checks.extend(check_project_standing(config));
    checks.extend(health::check_handoffs(config));
    checks.extend(health::check_process());
    checks.extend(health::check_sandbox(config));
    if let Ok(home) = config.home() {
        checks.extend(check_key(home));
        checks.extend(check_modes(home));
        checks.extend(check_hooks(home, hooks));
        checks.extend(check_clients(home, config));
        checks.extend(check_destinations(home, config));
    }
    checks
}

/// Reports the workspace of the project, or what switches Commonbook off in it.
fn check_project(config: &Config) -> HealthCheck {
    match project::read_switch(config) {
        Err(off) if off.kind == ErrorKind::Forbidden => {
            return HealthCheck::healthy("project", off.message);
        }
        Err(error) => return HealthCheck::from_error("project", error),
        Ok(()) => {}
    }
    HealthCheck::healthy(
        "project",
        match (&config.workspace, config.found_project()) {
            (Some(name), _) => format!("COMMONBOOK_WORKSPACE names workspace {name}"),
            (None, None) => {
                format!("no folder of a project here: workspace {}", Workspace::fallback())
            }
            (None, Some(here)) => {
                match planned_workspace(config.home.as_deref(), &here, &config.remote_settings()) {
                    Ok(workspace) => format!("{} uses workspace {workspace}", here.identity),
                    Err(error) => return HealthCheck::from_error("project", error),
                }
            }
        },
    )
}

/// Reports a key of the home that cannot be used.
fn check_key(home: &Path) -> Option<HealthCheck> {
    HomeKey::read(home).err().map(|error| HealthCheck::from_error("key", error))
}

fn check_server(runs: bool) -> HealthCheck {
    HealthCheck::healthy(
        "server",
        match runs {
            true => "a server of this home answers on the socket",
            false => "no server runs on this home: each process opens the store itself",
        },
    )
}

fn check_port(server: bool) -> HealthCheck {
    match TcpListener::bind(DEFAULT_ADDRESS) {
        Ok(_) => HealthCheck::healthy("port", format!("{DEFAULT_ADDRESS} is free")),
        Err(_) if server => HealthCheck::healthy("port", format!("{DEFAULT_ADDRESS} is in use")),
        // It may be the server of another home, which is fine.
        Err(_) => HealthCheck::healthy(
            "port",
            format!(
                "another program uses {DEFAULT_ADDRESS}: start the server of this home with --port"
            ),
        ),
    }
}

/// Closes the files of the home that other users can reach, and reports them.
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
                format!(
                    "Run `chmod {:04o} {}` as the owner of the file.",
                    open.private,
                    open.path.display()
                ),
            )),
        }
    }
    if let Some(OpenPath { path, mode, private }) = first {
        let more = match closed - 1 {
            0 => String::new(),
            more => format!(" and {}", count_text(more, "more path", "more paths")),
        };
        checks.push(HealthCheck::healthy(
            "modes",
            format!(
                "repaired: other users could reach {}{more} (mode {mode:04o}, now {private:04o})",
                path.display()
            ),
        ));
    } else if checks.is_empty() && home.exists() {
        checks.push(HealthCheck::healthy("modes", "no other user can reach the files of the home"));
    }
    checks
}

/// Reports the number of user commands, what hooks could not write, and the last line of the hook log.
fn check_hooks(home: &Path, hooks: HookState) -> Vec<HealthCheck> {
    let mut checks = Vec::new();
    let HookState { commands, waiting, loss } = hooks;
    match commands {
        Ok(0) => {}
        Ok(count) => {
            let found = count_text(count as u64, "user command", "user commands");
            checks.push(HealthCheck::healthy("hooks", found + " in hooks.json"));
        }
        Err(error) => checks.push(HealthCheck::from_error("hooks", error)),
    }
    if waiting > 0 {
        let found = count_text(waiting as u64, "hook event waits", "hook events wait");
        let found = format!("{found} to be written, until a process can write to the store");
        checks.push(HealthCheck::healthy("hooks", found));
    }
    checks.extend(loss.map(|loss| HealthCheck::healthy("hooks", loss)));
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
        Err(error) => return vec![HealthCheck::from_error("clients", error)],
    };
    let plugins = clients_with_plugin(config);
    if ledger.clients.is_empty() && plugins.is_empty() {
        let found = "none is set up; `commonbook setup CLIENT` connects one";
        return vec![HealthCheck::healthy("clients", found)];
    }
    let check = |installed| match installation_state(installed, config) {
        Ok(found) => HealthCheck::healthy("client", found),
        Err(error) => HealthCheck::from_error("client", error),
    };
    let mut checks: Vec<HealthCheck> = ledger.clients.iter().map(check).collect();
    for installed in
        ledger.clients.iter().filter(|installed| installed.client == SetupClient::Codex)
    {
        checks.extend(check_codex_trust(&installed.root, config));
    }
    checks.extend(plugins.into_iter().map(|client| check_plugin(client, &ledger)));
    checks
}

/// Reports the plugin of a client. What `setup` has written beside it does the same once more.
fn check_plugin(client: SetupClient, ledger: &SetupLedger) -> HealthCheck {
    let name = client.name();
    match ledger.clients.iter().any(|installed| installed.client == client) {
        false => HealthCheck::healthy("client", format!("{name} has the plugin")),
        true => HealthCheck::faulty(
            "client",
            format!("{name} has the plugin and is set up too: each hook runs twice"),
            format!("Remove the plugin, or run `commonbook setup {name} --undo`."),
        ),
    }
}

/// Checks that Codex runs the hooks that were set up.
fn check_codex_trust(root: &Path, config: &Config) -> Option<HealthCheck> {
    let user = config.user_home.clone().unwrap_or_default();
    let of_user = |path: &str| config.client_path(path).unwrap_or_else(|| user.join(path));
    let hooks = match root == user {
        true => of_user(".codex/hooks.json"),
        false => root.join(".codex/hooks.json"),
    };
    let checked = if root == user { Ok(()) } else { check_in_project(root, &hooks) };
    match checked.and_then(|()| untrusted_hooks(&hooks, &of_user(".codex/config.toml"))) {
        Ok(0) => None,
        Ok(count) => {
            let count = count_text(count as u64, "hook", "hooks");
            let found = format!("codex skips {count} of {}: they are not trusted", hooks.display());
            Some(HealthCheck::faulty("client", found, "Start Codex and trust them in /hooks."))
        }
        Err(error) => Some(HealthCheck::from_error("client", error)),
    }
}

/// Reports the standing memory files of the project that wait for a person's agreement.
fn check_project_standing(config: &Config) -> Vec<HealthCheck> {
    let Ok(home) = config.home() else { return Vec::new() };
    let Ok(workspace) = config.nearest_workspace() else { return Vec::new() };
    let workspace = workspace.map_or_else(Workspace::fallback, |near| near.name);
    let caller = Caller::new(None, workspace, EntryPoint::Cli).in_project(config.project());
    match project_notices(&caller, home) {
        Ok(notices) => {
            let checks = notices.into_iter();
            checks.map(|notice| HealthCheck::healthy("standing memory", notice)).collect()
        }
        Err(error) => vec![HealthCheck::from_error("standing memory", error)],
    }
}

/// Reports where the command line and each client read and write memories, and whether a server there
/// answers.
fn check_destinations(home: &Path, config: &Config) -> Vec<HealthCheck> {
    let clients = SetupLedger::read(home).unwrap_or_default().clients;
    let names: BTreeSet<&str> = clients.iter().map(|installed| installed.client.name()).collect();
    let users = std::iter::once(None).chain(names.into_iter().map(Some));
    let mut reached: BTreeMap<String, Result<()>> = BTreeMap::new();
    let check = |client: Option<&str>| {
        let name = client.unwrap_or("the command line");
        match ServerAddress::of(config, client) {
            Ok(None) => HealthCheck::healthy("memories", format!("{name}: {}", home.display())),
            Ok(Some(address)) => {
                let url = address.url.clone();
                let answer =
                    reached.entry(url.clone()).or_insert_with(|| reach(address, config)).clone();
                match answer {
                    Ok(()) => HealthCheck::healthy("memories", format!("{name}: {url}")),
                    Err(error) => {
                        let hint = match error.kind {
                            // The hint of an unreachable server leads here.
                            ErrorKind::Unavailable => None,
                            _ => error.hint.as_deref(),
                        };
                        let repair = hint.unwrap_or("Start the server, or undo the setup.");
                        let found = format!("{name}: {}", error.message);
                        HealthCheck::faulty("memories", found, repair)
                    }
                }
            }
            Err(error) => HealthCheck::from_error("memories", error),
        }
    };
    users.map(check).collect()
}

/// Reads from the server at this address.
pub(in crate::doors::cli) fn reach(address: ServerAddress, config: &Config) -> Result<()> {
    let name = address.agent.as_ref().or(config.agent.as_ref());
    let name = name.map(|name| name.parse()).transpose()?;
    let workspace = config.nearest_workspace()?.map_or_else(Workspace::fallback, |near| near.name);
    let caller = Caller::new(name, workspace, EntryPoint::Cli);
    let server = RestClient::new(address, REACH_TIMEOUT);
    match verb::find(names::GET_MEMORY_STATS) {
        Some(verb) => server.call(verb, &caller, Map::new()).map(drop),
        None => Ok(()),
    }
}
