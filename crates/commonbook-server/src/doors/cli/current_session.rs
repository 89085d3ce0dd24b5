//! The current session of each agent at the command line: `COMMONBOOK_SESSION`, else what
//! `session use` keeps in the home, for the home and for each server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};
use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::model::caller::Caller;
use commonbook::model::session::SessionDetails;
use commonbook::verbs::names;
use serde_json::{Value, json};

use super::layout::short;
use crate::calls::output::{print_json, print_line};
use crate::calls::verb;
use crate::clients::remote::rest::COMMAND_TIMEOUT;
use crate::clients::remote::{RestClient, ServerAddress};
use crate::settings::config::Config;
use crate::system::atomic::{self, StagedFile};

/// The file in the home, a JSON object of sessions by workspace and agent, on a server by its URL too.
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
    let address = ServerAddress::of(config, None)?;
    let key = key(&caller, address.as_ref());
    if let Some(name) = matches.get_one::<String>("id") {
        let verb = verb::find(names::GET_SESSION).expect("the registry has get_session");
        let request = json!({"session": name});
        let local = || super::call_server(config, &caller, verb.name, request.clone());
        let response = match address {
            Some(address) => {
                let server = RestClient::new(address, COMMAND_TIMEOUT);
                server.call_named(verb.name, &caller, request)?
            }
            None => match local() {
                Some(response) => response,
                None => verb.call.run(&open()?, &caller, request)?,
            },
        };
        let details: SessionDetails = commonbook::base::input::from_value(response)?;
        keep(config, &key, Some(details.session.id.to_string()))?;
    }
    if matches.get_flag("none") {
        keep(config, &key, None)?;
    }
    let current = of_key(config, &key)?;
    match &current {
        _ if matches.get_flag("json") => print_json(&json!({"session": current})),
        // A token names the agent on its server.
        Some(id) if caller.agent.is_anonymous() => {
            print_line(&format!("You work in session {}", short(id)));
        }
        None if caller.agent.is_anonymous() => print_line("You work in no session"),
        Some(id) => print_line(&format!("{} works in session {}", caller.agent, short(id))),
        None => print_line(&format!("{} works in no session", caller.agent)),
    }
    Ok(())
}

/// The current session of a caller in the home, or on the server at an address.
///
/// # Errors
/// `unavailable` if the file cannot be read.
pub(super) fn of_caller(
    config: &Config,
    caller: &Caller,
    address: Option<&ServerAddress>,
) -> Result<Option<String>> {
    of_key(config, &key(caller, address))
}

/// Forgets the current session of a caller if it is this one, which has ended.
///
/// # Errors
/// `unavailable` if the file cannot be read or written.
pub(super) fn forget(
    config: &Config,
    caller: &Caller,
    address: Option<&ServerAddress>,
    ended: &Value,
) -> Result<()> {
    let key = key(caller, address);
    match read(config)?.get(&key) {
        Some(current) if ended == current => keep(config, &key, None),
        _ => Ok(()),
    }
}

fn of_key(config: &Config, key: &str) -> Result<Option<String>> {
    if config.session.is_some() {
        return Ok(config.session.clone());
    }
    Ok(read(config)?.remove(key))
}

fn keep(config: &Config, key: &str, session: Option<String>) -> Result<()> {
    let mut sessions = read(config)?;
    match session {
        Some(session) => sessions.insert(key.to_owned(), session),
        None => sessions.remove(key),
    };
    let path = sessions_path(config)?;
    atomic::create_folders(config.home()?)?;
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

fn key(caller: &Caller, address: Option<&ServerAddress>) -> String {
    let server = address.map(|address| format!("{} ", address.url)).unwrap_or_default();
    format!("{server}{} {}", caller.workspace, caller.agent)
}
