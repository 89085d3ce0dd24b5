//! The current session of each agent at the command line: `COMMONBOOK_SESSION`, else what
//! `session use` keeps in the home.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};
use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::model::caller::Caller;
use commonbook::model::session::SessionDetails;
use serde_json::{Value, json};

use super::layout::short;
use crate::atomic::{self, StagedFile};
use crate::config::Config;
use crate::output::{print_json, print_line};
use crate::verb;

/// The file in the home, a JSON object of sessions by workspace and agent.
const SESSIONS_FILE: &str = "sessions.json";

/// The command `session use`.
pub(super) fn command() -> Command {
    Command::new("use")
        .about("Shows or chooses the session in which your next commands work")
        .arg(Arg::new("id").value_name("SESSION").help("Id of the session, or its last letters"))
        .arg(
            Arg::new("none")
                .long("none")
                .action(ArgAction::SetTrue)
                .conflicts_with("id")
                .help("Work in no session"),
        )
}

/// Shows or chooses the current session.
///
/// # Errors
/// `not_found` for a session that the caller does not see; `unavailable` if the home cannot be
/// read or written.
pub(super) fn run(
    matches: &ArgMatches,
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
) -> Result<()> {
    let caller = super::resolve_cli_caller(matches, config)?;
    if let Some(name) = matches.get_one::<String>("id") {
        let verb = verb::find("get_session").expect("the registry has get_session");
        let request = json!({"session": name});
        let response = match super::call_server(config, &caller, verb.name, request.clone()) {
            Some(response) => response,
            None => verb.call.run(&open()?, &caller, request)?,
        };
        let details: SessionDetails = commonbook::base::input::from_value(response)?;
        keep(config, &caller, Some(details.session.id.to_string()))?;
    }
    if matches.get_flag("none") {
        keep(config, &caller, None)?;
    }
    let current = of_caller(config, &caller)?;
    match &current {
        _ if matches.get_flag("json") => print_json(&json!({"session": current})),
        Some(id) => print_line(&format!("{} works in session {}", caller.agent, short(id))),
        None => print_line(&format!("{} works in no session", caller.agent)),
    }
    Ok(())
}

/// The current session of a caller.
///
/// # Errors
/// `unavailable` if the file cannot be read.
pub(super) fn of_caller(config: &Config, caller: &Caller) -> Result<Option<String>> {
    if config.session.is_some() {
        return Ok(config.session.clone());
    }
    Ok(read(config)?.remove(&key(caller)))
}

/// Forgets the current session of a caller if it is this one, which has ended.
///
/// # Errors
/// `unavailable` if the file cannot be read or written.
pub(super) fn forget(config: &Config, caller: &Caller, ended: &Value) -> Result<()> {
    match read(config)?.get(&key(caller)) {
        Some(current) if ended == current => keep(config, caller, None),
        _ => Ok(()),
    }
}

fn keep(config: &Config, caller: &Caller, session: Option<String>) -> Result<()> {
    let mut sessions = read(config)?;
    match session {
        Some(session) => sessions.insert(key(caller), session),
        None => sessions.remove(&key(caller)),
    };
    let path = sessions_path(config)?;
    StagedFile::write(&path, &format!("{:#}\n", json!(sessions)))?.replace_target()
}

fn read(config: &Config) -> Result<BTreeMap<String, String>> {
    let text = atomic::read(&sessions_path(config)?)?;
    // A damaged file names no session.
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn sessions_path(config: &Config) -> Result<PathBuf> {
    Ok(config.home()?.join(SESSIONS_FILE))
}

fn key(caller: &Caller) -> String {
    format!("{} {}", caller.workspace, caller.agent)
}
