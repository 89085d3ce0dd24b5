//! `setup`: writes the MCP server and the hooks into a client's files, or removes them again.

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Args, Command, ValueEnum};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_text::nearest::nearest_name;
use serde_json::{Value, json};

use super::{doctor, offer};
use crate::background::health::language_advice;
use crate::calls::output;
use crate::calls::verb::ToolSelection;
use crate::clients::remote::ServerAddress;
use crate::clients::remote::address::ServerMap;
use crate::clients::setup::clients::{SetupClient, SetupOptions, SetupScope};
use crate::clients::setup::install::{FileChange, SetupChanges, client_root, set_server};
use crate::clients::setup::ledger::SetupLedger;
use crate::settings::config::Config;

/// Lines of a file that the diff compares; of longer files it shows only the number of lines.
const DIFF_LINES_MAX: usize = 1_000;

/// Connects a coding client: writes the MCP server and the hooks into its files.
#[derive(Debug, Args)]
pub(crate) struct SetupCommand {
    /// Client to connect, by default those that this machine has, after a question; for any other name it
    /// prints what to paste into that client
    #[arg(value_parser = ClientNames)]
    client: Option<NamedClient>,
    /// Connect all clients that this machine has, without a question
    #[arg(long, conflicts_with = "client")]
    yes: bool,
    /// Scope: `user` for you in all projects, `project` for everyone who works on this project
    #[arg(long, value_enum, default_value = "user")]
    scope: SetupScope,
    /// Show the changes without writing them
    #[arg(long)]
    dry_run: bool,
    /// Remove what was written; every file becomes as it was before
    #[arg(long, conflicts_with_all = ["http", "header", "program", "tools"])]
    undo: bool,
    /// Use the memories of a server instead of those of the home: `https://book.example`
    #[arg(long, value_name = "URL")]
    http: Option<String>,
    /// Header for that server, for example `Authorization: Bearer …`; kept in the home; repeatable
    #[arg(long, value_name = "NAME: VALUE", requires = "http")]
    header: Vec<String>,
    /// Program that the client starts [default: this program; `commonbook` with --scope project]
    #[arg(long, value_name = "COMMAND")]
    program: Option<String>,
    /// MCP tools to offer: core, team, full, or names of tools, separated by commas [default: core, with
    /// --http those of the server]
    #[arg(long)]
    tools: Option<ToolSelection>,
}

impl SetupCommand {
    /// The setup of a client for an agent with a token, on a server.
    pub(super) fn with_token(client: SetupClient, url: &str, secret: &str) -> Self {
        let header = vec![format!("Authorization: Bearer {secret}")];
        Self { http: Some(url.to_owned()), header, ..Self::of_client(client) }
    }

    /// The undoing of the setup of a client.
    pub(super) fn undo_of(client: SetupClient) -> Self {
        Self { undo: true, ..Self::of_client(client) }
    }

    fn of_client(client: SetupClient) -> Self {
        Self {
            client: Some(NamedClient::Known(client)),
            yes: false,
            scope: SetupScope::User,
            dry_run: false,
            undo: false,
            http: None,
            header: Vec::new(),
            program: None,
            tools: None,
        }
    }

    /// Sets the client up or undoes the setup, and prints the files that change. Without a client, does
    /// so for those that the user accepts.
    ///
    /// # Errors
    /// `conflict` if a file does not have the client's format, `unavailable` if one cannot be read
    /// or written, `invalid` for an option that the client does not support. Then no file changed.
    pub(crate) fn run(
        &self,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        agent: Option<&str>,
        as_json: bool,
    ) -> Result<()> {
        let clients = match &self.client {
            Some(NamedClient::Other(name)) => return self.print_entry(name, as_json),
            Some(NamedClient::Known(client)) => vec![*client],
            None => offer::choose_clients(config, self.undo, self.yes || self.dry_run)?,
        };
        let (mut responses, mut server) = (Vec::new(), None);
        for client in &clients {
            let (response, address) = self.run_for(*client, config, agent, as_json)?;
            responses.push(response);
            server = server.or(address);
        }
        if as_json {
            output::print_json(&match (&self.client, responses.pop()) {
                (Some(_), Some(response)) => response,
                (_, last) => {
                    json!({"items": responses.into_iter().chain(last).collect::<Vec<_>>()})
                }
            });
        } else if !clients.is_empty() && !self.undo && !self.dry_run {
            // The command line goes to the server of a project by itself.
            let own = ServerAddress::of(config, None)?;
            let is_elsewhere =
                |server: &&ServerAddress| own.as_ref().is_none_or(|own| own.url != server.url);
            let elsewhere = server.as_ref().filter(is_elsewhere);
            offer::next_steps(elsewhere).iter().for_each(|line| output::print_line(line));
            // A home that cannot be read is the matter of `doctor`.
            let home = config.has_store()?.then(open).and_then(Result::ok);
            let advice = home.and_then(|book| language_advice(config, &book).ok().flatten());
            advice.iter().for_each(|line| output::print_line(&format!("\nNote: {line}")));
        }
        if let Some(server) = server.filter(|_| !self.undo) {
            warn_of_silence(server, config);
        }
        Ok(())
    }

    /// Prints the entry of the MCP server for a client whose files setup does not know.
    fn print_entry(&self, name: &str, as_json: bool) -> Result<()> {
        if self.undo {
            let message = format!("setup has written no file of {name}");
            return Err(Error::not_found(message).hint("Remove its entry by hand."));
        }
        let entry = match &self.http {
            Some(url) => {
                json!({"type": "http", "url": format!("{}/mcp", url.trim_end_matches('/'))})
            }
            None => {
                let tools =
                    self.tools.iter().flat_map(|tools| ["--tools".to_owned(), tools.to_string()]);
                let arguments =
                    ["mcp", "--client", name].map(str::to_owned).into_iter().chain(tools);
                let program = self.program.clone().unwrap_or_else(own_program);
                json!({"command": program, "args": arguments.collect::<Vec<_>>()})
            }
        };
        let entry = json!({"mcpServers": {"commonbook": entry}});
        if as_json {
            output::print_json(&entry);
            return Ok(());
        }
        output::print_line(&format!(
            "Setup does not know the files of {name}. Paste this where it lists its MCP servers:\n"
        ));
        output::print_unbroken(&entry.to_string());
        output::print_line(
            "\nIts agents save with `save_memory` and find with `search_memory`: no hook keeps what they say \
             at the end.",
        );
        Ok(())
    }

    /// Sets one client up or undoes its setup; returns the response, and the server that it uses.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn run_for(
        &self,
        client: SetupClient,
        config: &Config,
        agent: Option<&str>,
        as_json: bool,
    ) -> Result<(Value, Option<ServerAddress>)> {
        let server = match (self.undo, self.server_address(agent, config)?) {
            (false, None) => self.recorded_server(client, config)?,
            (_, server) => server,
        };
        let options = self.setup_options(config)?;
        let setup = match self.undo {
            true => SetupChanges::undo(client, &options, config)?,
            false => SetupChanges::install(client, options, config)?,
        };
        let files: Vec<_> = setup
            .changes
            .iter()
            .map(|change| json!({"path": change.path, "change": change.kind()}))
            .collect();
        let response = json!({
            "client": client, "scope": self.scope, "dry_run": self.dry_run, "files": files,
            "notes": setup.notes, "server": server.as_ref().map(|server| &server.url),
        });
        let mut lines: Vec<String> = Vec::new();
        for change in &setup.changes {
            lines.push(format!("{:10} {}", change.kind(), change.path.display()));
            if self.dry_run {
                lines.extend(diff_lines(change));
            }
        }
        lines.extend(setup.notes.iter().map(|note| (*note).to_owned()));
        if self.undo && !setup.changes.iter().any(FileChange::is_change) {
            lines = vec![self.missing_setup(client, config)?];
        }
        if let Some(server) = &server {
            lines.push(format!("memories   {}", server.url));
        }
        if !self.dry_run {
            // First the address, so that no hook of a new setup uses the home meanwhile.
            set_server(client, self.scope, config, server.clone())?;
            setup.carry_out()?;
        }
        if !as_json {
            lines.iter().for_each(|line| output::print_line(line));
        }
        Ok((response, server))
    }

    /// Says that an undo found nothing, and where the client is set up instead.
    fn missing_setup(&self, client: SetupClient, config: &Config) -> Result<String> {
        let ledger = SetupLedger::read(config.home()?)?;
        let root = client_root(self.scope, config)?;
        let others = ledger.clients.iter().filter(|own| own.client == client && own.root != root);
        let roots: Vec<&Path> = others.map(|own| own.root.as_path()).collect();
        let project = client_root(SetupScope::Project, config).ok();
        let is_here = project.as_deref().is_some_and(|project| roots.contains(&project));
        let of_user = config.user_home.as_deref().is_some_and(|home| roots.contains(&home));
        Ok(match (self.scope, roots.first()) {
            (_, None) => format!("{client} is not set up here"),
            (SetupScope::User, _) if is_here => {
                format!("{client} is set up in this project: add `--scope project`")
            }
            (SetupScope::Project, _) if of_user => {
                format!("{client} is set up for you in all projects: leave out `--scope project`")
            }
            (_, Some(root)) => format!(
                "{client} is set up in {}: run this there with `--scope project`",
                root.display()
            ),
        })
    }

    /// The server of an earlier setup, which another one keeps.
    fn recorded_server(
        &self,
        client: SetupClient,
        config: &Config,
    ) -> Result<Option<ServerAddress>> {
        let map = ServerMap::read(config.home()?)?;
        Ok(match self.scope {
            SetupScope::User => map.clients.get(client.name()).cloned(),
            SetupScope::Project => {
                config.project_root().and_then(|root| map.projects.get(&root).cloned())
            }
        })
    }

    /// The server that the options name. A client need not pass `COMMONBOOK_TOKEN` on to its hooks and
    /// tools, so that the token is kept with the address.
    fn server_address(
        &self,
        agent: Option<&str>,
        config: &Config,
    ) -> Result<Option<ServerAddress>> {
        let header = |text: &String| {
            let (name, value) = text.split_once(':').ok_or_else(|| {
                Error::invalid("header", format!("{text:?} is not a header; expected NAME: VALUE"))
                    .hint("Write it like `Authorization: Bearer …`.")
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        };
        let headers = self.header.iter().map(header).collect::<Result<Vec<_>>>()?;
        let Some(url) = &self.http else { return Ok(None) };
        let address = ServerAddress::parse(url)?.with_headers(headers)?;
        let address = address.with_token(config.token.as_ref());
        Ok(Some(ServerAddress { agent: agent.map(str::to_owned), ..address }))
    }

    fn setup_options(&self, config: &Config) -> Result<SetupOptions> {
        let program = match (&self.program, self.scope) {
            (Some(program), _) => program.clone(),
            // Other people may have the program elsewhere.
            (None, SetupScope::Project) => "commonbook".to_owned(),
            (None, SetupScope::User) => own_program(),
        };
        let home = match (self.scope, config.custom_home()) {
            (SetupScope::User, Some(home)) => Some(absolute_path(home)?),
            _ => None,
        };
        let tools = self.tools.as_ref().map(ToString::to_string);
        Ok(SetupOptions { scope: self.scope, program, home, tools })
    }
}

/// The path of this program, as a client starts it.
fn own_program() -> String {
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::to_str).map(str::to_owned);
    own.unwrap_or_else(|| "commonbook".to_owned())
}

/// A client as a person names it.
#[derive(Debug, Clone)]
enum NamedClient {
    /// One whose files setup knows.
    Known(SetupClient),
    /// Any other.
    Other(String),
}

/// Reads the name of a client. A name that is nearly that of a known one is a mistake.
#[derive(Clone)]
struct ClientNames;

impl TypedValueParser for ClientNames {
    type Value = NamedClient;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<NamedClient, clap::Error> {
        let name = StringValueParser::new().parse_ref(command, arg, value)?;
        if let Ok(client) = SetupClient::from_str(&name, true) {
            return Ok(NamedClient::Known(client));
        }
        let known: Vec<&str> = SetupClient::value_variants().iter().map(|own| own.name()).collect();
        let Some(near) = nearest_name(&name, &known) else { return Ok(NamedClient::Other(name)) };
        let mut error = clap::Error::new(clap::error::ErrorKind::InvalidValue).with_cmd(command);
        let text = |text: &str| ContextValue::String(text.to_owned());
        error.insert(ContextKind::InvalidArg, text("[CLIENT]"));
        error.insert(ContextKind::InvalidValue, text(&name));
        error.insert(ContextKind::SuggestedValue, text(near));
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = SetupClient::value_variants().iter();
        Some(Box::new(values.filter_map(ValueEnum::to_possible_value)))
    }
}

/// Warns if the server that clients will use does not answer now; the setup stands.
fn warn_of_silence(server: ServerAddress, config: &Config) {
    let url = server.url.clone();
    if let Err(error) = doctor::reach(server, config) {
        let reason = match error.kind {
            ErrorKind::Unavailable => "does not answer now".to_owned(),
            _ => format!("refuses: {}", error.message),
        };
        output::print_note(&format!("warning: {url} {reason}"));
    }
}

fn absolute_path(path: &Path) -> Result<String> {
    let path = std::path::absolute(path).ok();
    let text = path.as_deref().and_then(Path::to_str).map(str::to_owned);
    text.ok_or_else(|| Error::invalid("home", "the path of the home folder is not UTF-8"))
}

/// The removed and added lines, each with its sign.
fn diff_lines(change: &FileChange) -> Vec<String> {
    let lines = |text: &Option<String>| -> Vec<String> {
        text.iter().flat_map(|text| text.lines()).map(str::to_owned).collect()
    };
    let (before, after) = (lines(&change.before), lines(&change.after));
    let same = |(a, b): &(&String, &String)| a == b;
    let start = before.iter().zip(&after).take_while(same).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let (before, after) = (&before[..before.len() - end], &after[..after.len() - end]);
    if before.len().max(after.len()) > DIFF_LINES_MAX {
        return vec![format!("  - {} lines\n  + {} lines", before.len(), after.len())];
    }
    // The longest common subsequence of lines: these lines stay.
    let mut longest = vec![vec![0_u32; after.len() + 1]; before.len() + 1];
    for (i, old) in before.iter().enumerate().rev() {
        for (j, new) in after.iter().enumerate().rev() {
            longest[i][j] = match old == new {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut diff) = (0, 0, Vec::new());
    while i < before.len() || j < after.len() {
        let (old, new) = (before.get(i), after.get(j));
        if old.is_some() && old == new {
            (i, j) = (i + 1, j + 1);
        } else if old.is_some() && (new.is_none() || longest[i + 1][j] >= longest[i][j + 1]) {
            diff.push(format!("  - {}", before[i]));
            i += 1;
        } else {
            diff.push(format!("  + {}", after[j]));
            j += 1;
        }
    }
    diff
}
