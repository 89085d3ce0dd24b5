//! What a newcomer meets: the program without a command, `init`, `upgrade` and `uninstall`.

use std::path::Path;

use commonbook::Commonbook;
use commonbook::base::error::Result;
use serde_json::json;

use super::layout::print_labelled;
use crate::calls::output::{bold, dim, print_json, print_line};
use crate::clients::remote::ServerAddress;
use crate::clients::setup::ledger::SetupLedger;
use crate::settings::config::Config;
use crate::system::serving::running_server;

/// The commands that the program shows by itself, each with what it does.
const FIRST_COMMANDS: [(&str, &str); 12] = [
    ("setup", "connects your coding clients"),
    ("save TEXT", "saves a memory for you and your agents"),
    ("search WORDS", "finds memories, by words and by meaning"),
    ("list", "lists the memories of this project"),
    ("show ID", "reads one in full"),
    ("update ID", "changes one of your own"),
    ("delete ID", "deletes one of your own"),
    ("context TASK", "shows what an agent gets to know before a task"),
    ("handoff list", "lists the work that agents hand over"),
    ("import FILE", "reads the memories of other programs"),
    ("dashboard", "opens the pages in a browser"),
    ("doctor", "checks that everything works"),
];

/// Columns of a command and of the blanks behind it.
const COMMAND_COLUMNS: usize = 16;

/// What a home has, and what its person does next.
struct HomeState {
    place: String,
    next: String,
}

impl HomeState {
    fn of(config: &Config, open: impl FnOnce() -> Result<Commonbook>) -> Self {
        if let Ok(Some(address)) = ServerAddress::of(config, None) {
            let next =
                "`commonbook list` shows what is there, `commonbook doctor` checks the connection";
            return Self {
                place: format!("the memories of {}", address.url),
                next: next.to_owned(),
            };
        }
        let home = match config.home() {
            Ok(home) => home,
            Err(error) => {
                return Self { place: error.message, next: error.hint.unwrap_or_default() };
            }
        };
        let is_used = || -> Result<bool> {
            Ok(config.has_store()? && !open()?.store().read(|tx| tx.workspaces())?.is_empty())
        };
        match is_used() {
            Ok(is_used) => {
                let server = running_server(home).map(|address| format!("http://{address}"));
                let place = format!("the memories in {}", home.display());
                Self { place, next: next_step(&first_client(home), is_used, server.as_deref()) }
            }
            Err(error) => Self {
                place: error.message,
                next: "`commonbook doctor` says what is wrong".to_owned(),
            },
        }
    }
}

/// The client that was set up first; empty if none is.
fn first_client(home: &Path) -> String {
    let ledger = SetupLedger::read(home).unwrap_or_default();
    ledger.clients.first().map(|own| own.client.to_string()).unwrap_or_default()
}

/// The next step in a home where this client is set up, if any; `is_used` says whether something was saved.
fn next_step(client: &str, is_used: bool, server: Option<&str>) -> String {
    match (client, is_used, server) {
        ("", ..) => {
            "`commonbook setup` connects your coding clients: none is set up yet".to_owned()
        }
        (_, false, _) => format!(
            "start {client} in a project and tell it something worth remembering, or try \
             `commonbook save The gate is blue`"
        ),
        (_, true, Some(url)) => {
            format!("a server runs at {url}: `commonbook dashboard` opens its pages")
        }
        (_, true, None) => {
            "`commonbook list` shows what was saved, `commonbook dashboard` opens the pages"
                .to_owned()
        }
    }
}

/// Prints the first commands, and the next step in this home.
pub(crate) fn print_overview(config: &Config, open: impl FnOnce() -> Result<Commonbook>) {
    print_line("Commonbook: the memory that your AI agents share\n");
    for (command, does) in FIRST_COMMANDS {
        print_line(&format!("  commonbook {}{does}", bold(&format!("{command:COMMAND_COLUMNS$}"))));
    }
    print_line("");
    print_state(&HomeState::of(config, open));
    let more =
        "`commonbook help --all` lists all commands; `commonbook help COMMAND` explains one.";
    print_line(&format!("\n{}", dim(more)));
}

fn print_state(state: &HomeState) {
    print_labelled("Here", &state.place);
    print_labelled("Next", &state.next);
}

/// Says that nothing has to be created, and the next step: `init`.
pub(crate) fn print_init(
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
    as_json: bool,
) -> Result<()> {
    let home = config.home()?;
    let state = HomeState::of(config, open);
    if as_json {
        print_json(&json!({"home": home, "next": state.next}));
        return Ok(());
    }
    print_line("Nothing has to be created: the first save makes the home.");
    print_state(&state);
    Ok(())
}

/// Says how this program is replaced by a newer one: `upgrade`.
pub(crate) fn print_upgrade(as_json: bool) {
    let version = env!("COMMONBOOK_VERSION");
    let program = own_path();
    if as_json {
        return print_json(&json!({"version": version, "program": program}));
    }
    print_line(&format!("commonbook {version}, {program}\n"));
    print_line("It asks no network, so that it knows of no newer version and fetches none.");
    print_line("Install the newer program as you installed this one; from a checkout:\n");
    print_line("  git pull");
    print_line("  cargo install --locked --path crates/commonbook-server\n");
    print_line("Its first command upgrades the home, in one transaction; until then");
    print_line("`commonbook backup FILE` makes a copy that the older program reads.");
}

/// Says how Commonbook leaves this machine, and changes nothing: `uninstall`.
///
/// # Errors
/// As [`Config::home`]; `unavailable` if the record of the setups cannot be read.
pub(crate) fn print_uninstall(config: &Config, as_json: bool) -> Result<()> {
    let home = config.home()?;
    let steps = uninstall_steps(config, home)?;
    if as_json {
        let steps: Vec<&String> = steps.iter().map(|(command, _)| command).collect();
        print_json(&json!({"steps": steps}));
        return Ok(());
    }
    print_line("These steps take Commonbook off this machine; none of them has been done:\n");
    for (command, does) in &steps {
        print_line(&format!("  {}", bold(command)));
        print_line(&format!("      {does}"));
    }
    Ok(())
}

/// The commands that remove everything, each with what it does.
fn uninstall_steps(config: &Config, home: &Path) -> Result<Vec<(String, String)>> {
    let ledger = SetupLedger::read(home)?;
    let undo = ledger.clients.iter().map(|own| {
        let client = own.client;
        match config.user_home.as_ref() == Some(&own.root) {
            true => (
                format!("commonbook setup {client} --undo"),
                format!("restores the files of {client}"),
            ),
            false => (
                format!("commonbook setup {client} --scope project --undo"),
                format!("the same for the project {}: run it there", own.root.display()),
            ),
        }
    });
    let program = (
        format!("rm '{}'", own_path()),
        "removes the program; a package is removed with its package manager".to_owned(),
    );
    let data = (
        format!("rm -r '{}'", home.display()),
        "removes all memories for good; `commonbook backup FILE` keeps a copy".to_owned(),
    );
    Ok(undo.chain([data, program]).collect())
}

/// The path of this program.
fn own_path() -> String {
    let path = std::env::current_exe().ok();
    path.map_or_else(|| "commonbook".to_owned(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_commands_are_commands() {
        let program = crate::clap_command();
        for (command, _) in FIRST_COMMANDS {
            let mut words = command.split(' ').filter(|word| word.chars().any(char::is_lowercase));
            let found = words.try_fold(&program, |command, word| command.find_subcommand(word));
            assert!(found.is_some(), "{command}");
            assert!(command.len() < COMMAND_COLUMNS);
        }
    }

    #[test]
    fn the_next_step_is_that_of_this_home() {
        let table = [
            (("", false, None), "`commonbook setup`"),
            (("", true, Some("http://x")), "`commonbook setup`"),
            (("codex", false, None), "start codex"),
            (("codex", true, Some("http://x")), "runs at http://x"),
            (("codex", true, None), "`commonbook list`"),
        ];
        for ((client, is_used, server), expected) in table {
            let next = next_step(client, is_used, server);
            assert!(next.contains(expected), "{client} {is_used}: {next}");
        }
    }
}
