//! The checks of `doctor` besides the store: server, ports, model, sandbox, hooks and clients.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::checkpoint::CheckpointSettings;
use commonbook::model::workspace::Workspace;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::layout::{beginning, minute};
use crate::config::{Config, HOOK_LOG};
use crate::local::RpcClient;
use crate::modes::OpenPath;
use crate::output::count_text;
use crate::project::map::planned_workspace;
use crate::project::{self, Repository};
use crate::remote::{RestClient, ServerAddress};
use crate::sandbox::SandboxState;
use crate::serve::DEFAULT_ADDRESS;
use crate::setup::clients::SetupClient;
use crate::setup::install::installation_state;
use crate::setup::ledger::SetupLedger;
use crate::setup::trust::untrusted_hooks;
use crate::{atomic, follow, modes, process, sandbox, verb};

/// The time limit of a server at a URL.
const REACH_TIMEOUT: Duration = Duration::from_secs(3);

/// The result of one check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct HealthCheck {
    /// The part that was checked.
    pub(super) what: &'static str,
    /// The finding.
    pub(super) found: String,
    /// How to repair it; `None` if nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) repair: Option<String>,
}

impl HealthCheck {
    fn healthy(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, found: found.into(), repair: None }
    }

    fn faulty(what: &'static str, found: impl Into<String>, repair: impl Into<String>) -> Self {
        Self { what, found: found.into(), repair: Some(repair.into()) }
    }

    fn from_error(what: &'static str, error: Error) -> Self {
        let repair = error.hint.unwrap_or_else(|| "See docs/operating.md.".to_owned());
        Self::faulty(what, error.message, repair)
    }
}

/// Runs all checks, in the order of the report. `commands` is the number of user commands that the
/// hooks run.
pub(super) fn run_checks(config: &Config, commands: Result<usize>) -> Vec<HealthCheck> {
    let server = RpcClient::connect_to_home(config).is_some();
    let mut checks = vec![check_server(server)];
    checks.extend(check_server_settings(config).filter(|_| server));
    checks.extend([check_port(server), check_model(config)]);
    if let Some(error) = &config.settings_error {
        checks.push(HealthCheck::from_error("settings", error.clone()));
    }
    checks.extend(check_contexts(config));
    checks.extend(check_checkpoints(config));
    checks.push(check_project(config));
    checks.extend(check_handoffs(config));
    checks.extend(check_process());
    checks.extend(check_sandbox(config));
    if let Ok(home) = config.home() {
        checks.extend(check_modes(home));
        checks.extend(check_hooks(home, commands));
        checks.extend(check_clients(home, config));
        checks.extend(check_destinations(home, config));
    }
    checks
}

/// Reports that the running server read config.json before its last change.
fn check_server_settings(config: &Config) -> Option<HealthCheck> {
    let time = |time: SystemTime| Timestamp::try_from(time).ok();
    let begun = RpcClient::server_start(config).and_then(time)?;
    let changed = fs::metadata(config.settings_path()?).and_then(|file| file.modified()).ok();
    let is_older = changed.and_then(time).is_some_and(|changed| begun < changed);
    let found = format!(
        "the server that runs since {} began before config.json changed, and uses the earlier settings",
        minute(begun)
    );
    let repair = "Restart it: `commonbook serve`, or the client that runs `commonbook mcp`.";
    is_older.then(|| HealthCheck::faulty("server", found, repair))
}

/// Characters of a setting in the report.
const SETTING_CHARS_MAX: usize = 60;

/// Reports the settings of contexts that differ from the defaults.
fn check_contexts(config: &Config) -> Option<HealthCheck> {
    let preferences = serde_json::to_value(config.preferences().ok()?).ok()?;
    let mut settings = Vec::new();
    collect_settings("", &preferences, &mut settings);
    let found = settings.join(", ");
    (!found.is_empty()).then(|| HealthCheck::healthy("contexts", found))
}

/// Adds each value below a setting with its path: `agents.*.budget 900`.
fn collect_settings(path: &str, value: &Value, settings: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect_settings(&path, value, settings);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        value => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            settings.push(format!("{path} {}", beginning(&text, SETTING_CHARS_MAX)));
        }
    }
}

/// Reports the settings of checkpoints that differ from the defaults.
fn check_checkpoints(config: &Config) -> Option<HealthCheck> {
    let settings = config.checkpoints().ok()?;
    let CheckpointSettings { kept, days, minutes, partial_memories, partial_entities } = settings;
    let found = format!(
        "{kept} kept for {days} days, one after {minutes} minutes of activity; a partial resume has \
         {partial_memories} memories and {partial_entities} entities"
    );
    let is_default = settings == CheckpointSettings::default();
    (!is_default).then(|| HealthCheck::healthy("checkpoints", found))
}

/// Reports the workspace of the project, or what switches Commonbook off in it.
fn check_project(config: &Config) -> HealthCheck {
    match project::check_switch(config) {
        Err(off) if off.kind == ErrorKind::Forbidden => {
            return HealthCheck::healthy("project", off.message);
        }
        Err(error) => return HealthCheck::from_error("project", error),
        Ok(()) => {}
    }
    let repository = config.folder.as_deref().and_then(Repository::around);
    HealthCheck::healthy(
        "project",
        match (&config.workspace, repository) {
            (Some(name), _) => format!("COMMONBOOK_WORKSPACE names workspace {name}"),
            (None, None) => {
                format!("no git repository here: workspace {}", Workspace::fallback())
            }
            (None, Some(repository)) => {
                let workspace = planned_workspace(config.home.as_deref(), &repository);
                format!("{} uses workspace {workspace}", repository.identity)
            }
        },
    )
}

/// Reports whether agents can hand work over; an invalid setting is reported as such.
fn check_handoffs(config: &Config) -> Option<HealthCheck> {
    let handoffs = config.collaboration().ok()?.handoffs;
    let found = match handoffs {
        true => "agents can hand work over",
        false => "off: collaboration.handoffs in config.json is false",
    };
    Some(HealthCheck::healthy("handoffs", found))
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

fn check_model(config: &Config) -> HealthCheck {
    match follow::embedder(config) {
        Ok(Some(model)) => HealthCheck::healthy("model", model.spec().model.clone()),
        Ok(None) => HealthCheck::healthy("model", "off: searches compare words only"),
        Err(error) => HealthCheck::from_error("model", error),
    }
}

/// Checks that no core file can hold the memory of a commonbook process.
fn check_process() -> Option<HealthCheck> {
    match process::leaves_core_files()? {
        false => Some(HealthCheck::healthy("process", "commonbook processes leave no core files")),
        true => Some(HealthCheck::faulty(
            "process",
            "commonbook processes leave core files, which can hold the text of memories",
            "Run `ulimit -c 0` before `commonbook`.",
        )),
    }
}

/// Checks which files a server may use, and which links of the home lead out of them.
fn check_sandbox(config: &Config) -> Vec<HealthCheck> {
    let sandbox = match sandbox::sandbox_state(config) {
        Ok(SandboxState::On(sandbox)) => sandbox,
        Ok(SandboxState::Off) => {
            return vec![HealthCheck::healthy("sandbox", "off, because COMMONBOOK_SANDBOX=off")];
        }
        Ok(SandboxState::Unsupported) => {
            let found = "not available: it needs Landlock of Linux 5.19 or newer";
            return vec![HealthCheck::healthy("sandbox", found)];
        }
        Ok(SandboxState::Refused(error)) | Err(error) => {
            return vec![HealthCheck::from_error("sandbox", error)];
        }
    };
    let list = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut found = format!("`commonbook serve` can write only below {}", list(&sandbox.writes));
    if !sandbox.reads.is_empty() {
        found += &format!("; besides system folders it can read {}", list(&sandbox.reads));
    }
    let mut checks = vec![HealthCheck::healthy("sandbox", found)];
    checks.extend(sandbox.missing.iter().map(|folder| {
        let found = format!("{} in `folders` of config.json does not exist", folder.display());
        HealthCheck::faulty("sandbox", found, "Create the folder, or remove it from `folders`.")
    }));
    checks.extend(sandbox.escaping_links().into_iter().map(|(link, target)| {
        let found =
            format!("{} leads to {}, outside the sandbox", link.display(), target.display());
        HealthCheck::faulty(
            "sandbox",
            found,
            "Add the folder of the target to `folders` in config.json.",
        )
    }));
    checks
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

/// Reports the number of user commands, and the last line of the hook log.
fn check_hooks(home: &Path, commands: Result<usize>) -> Vec<HealthCheck> {
    let mut checks = Vec::new();
    match commands {
        Ok(0) => {}
        Ok(count) => {
            let found = count_text(count as u64, "user command", "user commands");
            checks.push(HealthCheck::healthy("hooks", found + " in hooks.json"));
        }
        Err(error) => checks.push(HealthCheck::from_error("hooks", error)),
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
        Err(error) => return vec![HealthCheck::from_error("clients", error)],
    };
    if ledger.clients.is_empty() {
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
    checks
}

/// Checks that Codex runs the hooks that were set up.
fn check_codex_trust(root: &Path, config: &Config) -> Option<HealthCheck> {
    let user = config.user_home.clone().unwrap_or_default();
    let of_user = |path: &str| config.client_path(path).unwrap_or_else(|| user.join(path));
    let hooks = match root == user {
        true => of_user(".codex/hooks.json"),
        false => root.join(".codex/hooks.json"),
    };
    match untrusted_hooks(&hooks, &of_user(".codex/config.toml")) {
        Ok(0) => None,
        Ok(count) => {
            let count = count_text(count as u64, "hook", "hooks");
            let found = format!("codex skips {count} of {}: they are not trusted", hooks.display());
            Some(HealthCheck::faulty("client", found, "Start Codex and trust them in /hooks."))
        }
        Err(error) => Some(HealthCheck::from_error("client", error)),
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
pub(in crate::cli) fn reach(address: ServerAddress, config: &Config) -> Result<()> {
    let name = address.agent.as_ref().or(config.agent.as_ref());
    let name = name.map(|name| name.parse()).transpose()?;
    let workspace = config.nearest_workspace()?.unwrap_or_else(Workspace::fallback);
    let caller = Caller::new(name, workspace, EntryPoint::Cli);
    let server = RestClient::new(address, REACH_TIMEOUT);
    match verb::find("get_memory_stats") {
        Some(verb) => server.call(verb, &caller, Map::new()).map(drop),
        None => Ok(()),
    }
}
