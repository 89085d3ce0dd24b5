//! `setup` without a client: finds the clients of this machine, and offers to connect them.

use std::io::{self, BufRead, IsTerminal};
use std::path::Path;

use clap::ValueEnum;
use commonbook::base::error::{Error, ErrorKind, Result};

use crate::calls::output::{print_line, print_note};
use crate::clients::remote::ServerAddress;
use crate::clients::setup::clients::SetupClient;
use crate::clients::setup::ledger::SetupLedger;
use crate::settings::config::Config;

/// What a user does after a setup. `server` is where the clients save, if the command line reads
/// elsewhere.
pub(super) fn next_steps(server: Option<&ServerAddress>) -> Vec<String> {
    let list = match server {
        None => "commonbook list".to_owned(),
        Some(server) => format!("{} commonbook list", server_variables(server)),
    };
    let width = list.len().max("commonbook doctor".len());
    vec![
        String::new(),
        "Next: start the client in a project and tell it something worth remembering.".to_owned(),
        format!("  {list:width$}    shows what it saved"),
        format!("  {:width$}    checks the connection", "commonbook doctor"),
    ]
}

/// The variables with which a command reads at a server; the token itself is not shown.
pub(super) fn server_variables(server: &ServerAddress) -> String {
    let token = if server.has_token() { "COMMONBOOK_TOKEN=… " } else { "" };
    format!("{token}COMMONBOOK_URL={}", server.url)
}

/// The clients to set up: those that this machine has, if the user accepts them. For an undo, those
/// that are set up.
///
/// # Errors
/// `not_found` if there is none; `unavailable` if the home cannot be read.
pub(super) fn choose_clients(
    config: &Config,
    undo: bool,
    is_accepted: bool,
) -> Result<Vec<SetupClient>> {
    let ledger = SetupLedger::read(config.home()?)?;
    let is_set_up = |client: SetupClient| ledger.clients.iter().any(|own| own.client == client);
    let variants = SetupClient::value_variants().iter().copied();
    let found: Vec<SetupClient> = match undo {
        true => variants.filter(|client| is_set_up(*client)).collect(),
        false => variants.filter(|client| is_installed(*client, config)).collect(),
    };
    let names: Vec<&str> = found.iter().map(|client| client.name()).collect();
    let names = names.join(", ");
    if found.is_empty() {
        let message = match undo {
            true => "no client is set up",
            false => "no client was found on this machine",
        };
        return Err(Error::new(ErrorKind::NotFound, message)
            .hint("Name one, such as `commonbook setup claude-code`."));
    }
    let (found_text, verb) = match undo {
        true => (format!("Set up: {names}"), "Undo"),
        false => (format!("Found: {names}"), "Connect"),
    };
    if is_accepted {
        return Ok(found);
    }
    print_line(&found_text);
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        print_line(&format!("{verb} all of them? [Y/n]"));
        let mut answer = String::new();
        // An input that cannot be read is no consent.
        let is_read = io::stdin().lock().read_line(&mut answer).is_ok_and(|length| length > 0);
        if is_read && ["", "y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            return Ok(found);
        }
    }
    let undo = if undo { " --undo" } else { "" };
    print_note(&format!(
        "nothing was changed: `commonbook setup{undo} --yes` does all, `commonbook setup{undo} CLIENT` one"
    ));
    Ok(Vec::new())
}

/// Whether this machine has a client: its program, or the folder of its settings.
fn is_installed(client: SetupClient, config: &Config) -> bool {
    let (program, settings) = (client.program(), client.settings_file());
    let path = config.search_path.iter().flat_map(std::env::split_paths);
    let has_program = path.into_iter().any(|folder| {
        ["", ".exe", ".cmd"]
            .iter()
            .any(|ending| folder.join(format!("{program}{ending}")).is_file())
    });
    let home = || Some(config.user_home.as_ref()?.join(settings));
    let settings = config.client_path(settings).or_else(home);
    has_program || settings.as_deref().and_then(|file| file.parent()).is_some_and(Path::is_dir)
}
