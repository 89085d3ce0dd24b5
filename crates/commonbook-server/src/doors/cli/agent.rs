//! `agent add` and `agent remove`: what a new agent needs to call a server, and its end.

use clap::{Args, Subcommand, ValueEnum};
use commonbook::Commonbook;
use commonbook::base::error::{Error, Result};
use commonbook::model::agent::Agent;
use commonbook::model::caller::Caller;
use commonbook::model::token::{CreateToken, ListTokens, NewToken, RevokeToken, Token, TokenScope};
use commonbook::model::workspace::Workspace;
use serde_json::{Value, json};

use super::layout::short;
use super::note_home;
use super::setup::SetupCommand;
use super::tokens;
use crate::calls::output::{count_text, print_json, print_line, print_note, print_unbroken};
use crate::clients::remote::address::ServerMap;
use crate::clients::setup::clients::SetupClient;
use crate::settings::config::{Config, DEFAULT_ADDRESS};

/// Shows an agent; adds and removes agents with their own token.
#[derive(Debug, Subcommand)]
pub(super) enum AgentAction {
    /// Gives a new agent a token, and prints what to paste where it runs
    Add(AddAgent),
    /// Revokes the tokens of an agent, and undoes the setups that use them; its memories stay
    Remove {
        /// Name of the agent
        name: String,
    },
}

/// What an agent may do with its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AgentPreset {
    /// Reads and writes.
    Daily,
    /// Reads, writes, and calls hooks, as coding clients do.
    Coding,
    /// Reads.
    Reader,
}

impl AgentPreset {
    fn scopes(self) -> Vec<TokenScope> {
        match self {
            Self::Daily => vec![TokenScope::Read, TokenScope::Write],
            Self::Coding => vec![TokenScope::Read, TokenScope::Write, TokenScope::Hook],
            Self::Reader => vec![TokenScope::Read],
        }
    }
}

/// What to give a new agent.
#[derive(Debug, Args)]
pub(super) struct AddAgent {
    /// Name of the agent
    name: String,
    /// Where it runs: a client that `setup` knows, `python`, `typescript`, or any other, which speaks MCP
    #[arg(long = "for", value_name = "CLIENT")]
    client: Option<String>,
    /// What it may do [default: coding for a client that `setup` knows, else daily]
    #[arg(long, value_enum)]
    preset: Option<AgentPreset>,
    /// When its token expires, for example 30d or 2027-01-01 [default: never]
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// Server that it calls
    #[arg(long, value_name = "URL", default_value_t = format!("http://{DEFAULT_ADDRESS}"))]
    http: String,
    /// Write it into the files of a client that `setup` knows, instead of printing it
    #[arg(long, requires = "client")]
    write: bool,
    /// Create the token although clients use HTTP without one
    #[arg(long)]
    yes: bool,
}

/// Where an agent runs.
enum AgentPlace {
    /// A client that setup knows.
    Client(SetupClient),
    /// A program that uses the client for Python.
    Python,
    /// A program that uses the client for TypeScript.
    TypeScript,
    /// Anything else that speaks MCP, by its name.
    Other,
}

impl AgentPlace {
    fn of(name: Option<&str>) -> Self {
        let Some(name) = name else { return Self::Other };
        match (SetupClient::from_str(name, true), name.to_lowercase().as_str()) {
            (Ok(client), _) => Self::Client(client),
            (_, "python") => Self::Python,
            (_, "typescript" | "javascript" | "node") => Self::TypeScript,
            _ => Self::Other,
        }
    }

    fn preset(&self) -> AgentPreset {
        match self {
            Self::Client(_) => AgentPreset::Coding,
            _ => AgentPreset::Daily,
        }
    }

    /// The lines to paste.
    fn lines(&self, url: &str, secret: &str) -> Vec<String> {
        let environment = |name: &str, value: &str| format!("export {name}={value}");
        let of_program = |code: [&str; 2]| {
            let code = code.into_iter().map(str::to_owned);
            [environment("COMMONBOOK_URL", url), environment("COMMONBOOK_TOKEN", secret)]
                .into_iter()
                .chain(code)
                .collect()
        };
        match self {
            Self::Client(client) => vec![format!(
                "commonbook setup {client} --http {url} --header 'Authorization: Bearer {secret}'"
            )],
            Self::Python => {
                of_program(["from commonbook import Commonbook", "book = Commonbook()"])
            }
            Self::TypeScript => of_program([
                "import { Commonbook } from \"commonbook\";",
                "const book = new Commonbook();",
            ]),
            Self::Other => {
                let headers = json!({"Authorization": format!("Bearer {secret}")});
                let server =
                    json!({"type": "http", "url": format!("{url}/mcp"), "headers": headers});
                vec![json!({"mcpServers": {"commonbook": server}}).to_string()]
            }
        }
    }
}

impl AgentAction {
    /// Runs the action in the home and prints its response. `workspace` is the one that the command names.
    ///
    /// # Errors
    /// `forbidden` for an agent; `invalid` for a name or a time that is not valid, and where nothing can be
    /// written; `conflict` if clients use HTTP without a token; `not_found` if the agent has no token.
    pub(super) fn run(
        &self,
        caller: &Caller,
        workspace: Option<&Workspace>,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        as_json: bool,
    ) -> Result<()> {
        note_home("agent", config)?;
        match self {
            Self::Add(add) => add.run(caller, workspace, config, open, as_json),
            Self::Remove { name } => remove(name, caller, config, open, as_json),
        }
    }
}

impl AddAgent {
    fn run(
        &self,
        caller: &Caller,
        workspace: Option<&Workspace>,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        as_json: bool,
    ) -> Result<()> {
        let place = AgentPlace::of(self.client.as_deref());
        let known = match &place {
            AgentPlace::Client(client) => Some(*client),
            _ if self.write => {
                let message = "nothing is written for this client; expected one that `setup` knows";
                return Err(Error::invalid("write", message)
                    .hint("Leave out --write, and paste what the command prints."));
            }
            _ => None,
        };
        if !self.yes {
            tokens::confirm_creation(config)?;
        }
        let request = CreateToken {
            agent_name: self.name.clone(),
            scopes: self.preset.unwrap_or_else(|| place.preset()).scopes(),
            workspace: workspace.cloned(),
            expires: self.expires.clone(),
        };
        let issued = open()?.create_token(caller, &request)?;
        let url = self.http.trim_end_matches('/');
        let lines = place.lines(url, &issued.secret);
        if let Some(client) = known.filter(|_| self.write) {
            let setup = SetupCommand::with_token(client, url, &issued.secret);
            return setup.run(config, no_store, Some(&self.name), as_json);
        }
        match as_json {
            true => {
                let NewToken { token, secret } = &issued;
                print_json(&json!({"token": token, "secret": secret, "lines": lines}));
            }
            false => self.print(&issued, &lines),
        }
        Ok(())
    }

    fn print(&self, issued: &NewToken, lines: &[String]) {
        let NewToken { token, .. } = issued;
        let place = self.client.as_deref().unwrap_or("any client that speaks MCP");
        print_line(&format!("Paste this for {} in {place}:\n", self.name));
        lines.iter().for_each(|line| print_unbroken(line));
        let workspace =
            token.workspace.as_ref().map_or("all workspaces".to_owned(), ToString::to_string);
        print_note(&format!(
            "\nThe secret is not shown again. Token {} opens {workspace} ({}).",
            short(&token.id),
            tokens::scopes(token)
        ));
        print_note(&format!(
            "`commonbook serve` runs the server; `commonbook agent remove {}` takes it all back.",
            self.name
        ));
    }
}

/// Setup of a client that uses a server reads no memories.
fn no_store() -> Result<Commonbook> {
    Err(Error::not_found("the store is not needed here"))
}

/// Revokes the tokens of an agent, and undoes the setups that use them.
fn remove(
    name: &str,
    caller: &Caller,
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
    as_json: bool,
) -> Result<()> {
    let agent: Agent = name.parse().map_err(|error: Error| error.with_field("name"))?;
    let book = open()?;
    let tokens = book.list_tokens(caller, &ListTokens {})?.items;
    let live =
        tokens.into_iter().filter(|token| token.agent == agent && token.revoked_at.is_none());
    let live: Vec<Token> = live.collect();
    let map = ServerMap::read(config.home()?)?;
    let uses_name = |client: &SetupClient| {
        let server = map.clients.get(client.name());
        server.is_some_and(|server| server.agent.as_deref() == Some(name))
    };
    let clients: Vec<SetupClient> =
        SetupClient::value_variants().iter().copied().filter(uses_name).collect();
    if live.is_empty() && clients.is_empty() {
        return Err(Error::not_found(format!("{name} has no token here, and no setup"))
            .hint("`commonbook token list` lists the tokens and their agents."));
    }
    for token in &live {
        book.revoke_token(caller, &RevokeToken { token_id: token.id })?;
    }
    for client in &clients {
        SetupCommand::undo_of(*client).run_for(*client, config, Some(name), as_json)?;
    }
    if as_json {
        let ids: Vec<Value> = live.iter().map(|token| json!(token.id)).collect();
        print_json(&json!({"agent": agent, "revoked": ids, "clients": clients}));
        return Ok(());
    }
    let count = count_text(live.len() as u64, "token", "tokens");
    print_line(&format!("Revoked {count} of {name}; its memories stay"));
    Ok(())
}
