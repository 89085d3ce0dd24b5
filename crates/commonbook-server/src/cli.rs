//! The command line: the verbs as commands, made from the same schemas as tools and routes.

mod case;
mod checkpoint;
mod context;
mod contradictions;
mod doctor;
mod entities;
mod export;
mod handoff;
mod import;
mod monitor;
mod reindex;
mod session;
mod setup;
mod show;
mod standing;
mod stdin;
mod table;
mod tokens;

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};
use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::model::caller::{Caller, EntryPoint};
use serde_json::{Map, Value};

use crate::call::JsonVerb;
use crate::caller::{CallerClaims, resolve_caller};
use crate::config::Config;
use crate::local::{self, RpcClient, RpcHandler, RpcOutcome, RpcRequest};
use crate::{follow, output};

pub(crate) use doctor::DoctorCommand;
pub(crate) use export::ExportCommand;
pub(crate) use import::ImportCommand;
pub(crate) use monitor::MonitorCommand;
pub(crate) use reindex::ReindexCommand;
pub(crate) use setup::SetupCommand;
pub(crate) use standing::StandingCommand;
use table::{COMMAND_GROUPS, LIST_FILE_FIELDS, PURGE_SINCE, verb_commands};

/// A verb as a command.
struct VerbCommand {
    /// The command; of one in a group, the group and the command.
    name: &'static str,
    call: JsonVerb,
    /// The fields that are given without a flag, in order.
    positional: &'static [&'static str],
    /// How its answer is shown to people.
    show: fn(&Value),
    /// The verb that the command calls instead where this field of it is given.
    or: Option<(&'static str, &'static str)>,
}

/// The verb of this name.
fn find_verb_command(name: &str) -> Option<VerbCommand> {
    verb_commands().into_iter().find(|verb| verb.name == name)
}

/// The flag of a field, where it is not the field's own name.
fn flag_name(field: &str) -> String {
    match field {
        "memory_type" => "type".to_owned(),
        "topics" => "topic".to_owned(),
        "entities" => "entity".to_owned(),
        other => other.replace('_', "-"),
    }
}

/// Adds the flags that every command takes.
pub(crate) fn add_global_flags(command: Command) -> Command {
    let global = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).global(true).help(help)
    };
    command
        .arg(global("home", "FOLDER", "The folder everything is kept in [COMMONBOOK_HOME, else ~/.commonbook]"))
        .arg(global("agent", "NAME", "Who you are [COMMONBOOK_AGENT_ID, else anonymous]"))
        .arg(global("workspace", "NAME", "The workspace you mean [COMMONBOOK_WORKSPACE, else the git repository's, else default]"))
        .arg(global("user", "ID", "The user you work for [COMMONBOOK_USER_ID]"))
        .arg(global("json", "", "Print the answer as JSON, as REST gives it").action(ArgAction::SetTrue).num_args(0))
        .arg(global("log-json", "", "Log as JSON").action(ArgAction::SetTrue).num_args(0))
}

/// Adds the verbs, and the flags that every command takes.
pub(crate) fn add_verb_commands(command: Command) -> Command {
    let command =
        COMMAND_GROUPS.iter().fold(add_global_flags(command), |command, (name, about)| {
            let group = Command::new(*name).about(*about);
            command.subcommand(group.subcommand_required(true).arg_required_else_help(true))
        });
    let verbs = verb_commands();
    let own = verbs.iter().filter(|verb| verb.name != PURGE_SINCE);
    own.fold(command, |command, verb| match verb.name.split_once(' ') {
        None => command.subcommand(subcommand(verb, verb.name)),
        Some((group, name)) => {
            command.mut_subcommand(group, |group| group.subcommand(subcommand(verb, name)))
        }
    })
}

fn subcommand(verb: &VerbCommand, name: &'static str) -> Command {
    let about = verb.call.verb_description();
    let short = about.split_inclusive(['.', ':', ';']).next().unwrap_or(about);
    let mut command = Command::new(name)
        .about(short.trim_end_matches(['.', ':', ';']).replace('\n', " "))
        .long_about(about.to_owned());
    let other = verb.or.and_then(|(_, name)| find_verb_command(name));
    let beside = |field: &str| verb.call.fields().all(|(own, _)| own != field);
    let others = other.iter().flat_map(|other| other.call.fields());
    let others = others.filter(|(field, _)| beside(field));
    for (field, schema) in verb.call.fields().chain(others) {
        // The user is the caller's, which --user tells, and so is an agent below it, which --agent
        // does; --workspace is there for every command.
        if !["user_id", "agent", "workspace"].contains(&field) {
            command = command.arg(argument(verb, field, schema));
        }
    }
    if verb.name == "save" {
        command = command.arg(
            Arg::new("private")
                .long("private")
                .action(ArgAction::SetTrue)
                .conflicts_with("sharing")
                .help("For yourself alone: the same as --sharing private"),
        );
    }
    if !verb.call.fields().any(|(field, _)| field == "session") {
        command = command.arg(
            Arg::new("session").long("session").value_name("ID").help("The session you work in"),
        );
    }
    command
}

fn argument(verb: &VerbCommand, field: &str, schema: &Value) -> Arg {
    let help = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
    let name = field.to_owned();
    let arg = Arg::new(name.clone()).help(help.trim_end_matches('.').to_owned());
    if let Some(place) = verb.positional.iter().position(|positional| *positional == field) {
        let arg = arg.index(place + 1).value_name(name.to_uppercase());
        let arg = match verb.or {
            None => arg.required(verb.call.requires(field)),
            Some((other, _)) => arg.required_unless_present(other).conflicts_with(other),
        };
        return match (verb.name, field) {
            ("save", "text") => {
                arg.help("What to keep, up to 64 KiB; - reads it from standard input")
            }
            given if LIST_FILE_FIELDS.contains(&given) => arg.value_name("FILE").help(format!(
                "A file with a JSON list of {field} to keep, all or none; - reads standard input"
            )),
            ("search", "query") => arg.num_args(1..),
            (_, "task") => {
                arg.help("The task or the question, in plain words; - reads it from standard input")
            }
            (_, "message") => arg.help("What was said, whole; - reads it from standard input"),
            (_, "id") => arg.help("The id of the memory, or a beginning of it that no other has"),
            _ => arg,
        };
    }
    let arg = arg.long(flag_name(field));
    let arg = if field == "k" { arg.short('k') } else { arg };
    if schema["type"] == "boolean" {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(flag_name(field).to_uppercase()).allow_negative_numbers(true);
    if is_list(schema) { arg.action(ArgAction::Append) } else { arg }
}

/// Whether a field is a list: `array`, or `array` or nothing.
fn is_list(schema: &Value) -> bool {
    let kind = &schema["type"];
    kind == "array" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array"))
}

/// What the command line says of the caller.
pub(crate) fn cli_caller_claims(matches: &ArgMatches) -> CallerClaims {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    CallerClaims {
        agent: text("agent"),
        workspace: text("workspace"),
        user: text("user"),
        ..CallerClaims::default()
    }
}

/// The caller behind a command.
///
/// # Errors
/// `invalid` for a name, workspace, user or session that is none.
pub(crate) fn resolve_cli_caller(matches: &ArgMatches, config: &Config) -> Result<Caller> {
    let caller = resolve_caller(
        &cli_caller_claims(matches),
        config,
        config.nearest_workspace()?,
        EntryPoint::Cli,
    )?;
    Ok(caller.in_project(config.project()))
}

/// Runs the verb of this name, if it is one.
///
/// # Errors
/// What the verb answers.
pub(crate) fn run(
    name: &str,
    matches: &ArgMatches,
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
) -> Option<Result<()>> {
    let (name, matches) = match matches.subcommand() {
        Some((command, own)) => (format!("{name} {command}"), own),
        None => (name.to_owned(), matches),
    };
    let verb = find_verb_command(&name)?;
    let given = |field: &str| matches.try_contains_id(field).unwrap_or(false);
    let other =
        verb.or.filter(|(field, _)| given(field)).and_then(|(_, name)| find_verb_command(name));
    Some(other.unwrap_or(verb).run(matches, config, open))
}

/// Carries out the verbs as commands for other processes.
pub(crate) fn rpc_handler(book: Commonbook) -> Arc<RpcHandler> {
    let verbs = verb_commands();
    Arc::new(move |asked: RpcRequest| {
        let verb = verbs.iter().find(|verb| verb.name == asked.verb)?;
        Some(verb.execute_verb(&book, &asked.caller, asked.request))
    })
}

impl VerbCommand {
    /// The same verb, or another where this field of that one is given.
    fn with_alternative(self, field: &'static str, verb: &'static str) -> Self {
        Self { or: Some((field, verb)), ..self }
    }

    fn run(
        &self,
        matches: &ArgMatches,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
    ) -> Result<()> {
        let mut caller = resolve_cli_caller(matches, config)?;
        let mut pairs = self.field_pairs(matches)?;
        if !self.has_field("session") {
            let session = matches.get_one::<String>("session").map(String::as_str);
            caller = caller.in_session(session)?;
        }
        let named = matches.contains_id("workspace") || config.workspace.is_some();
        if self.has_field("scope") && !named && !matches.contains_id("scope") {
            pairs.push(("scope".to_owned(), "nearest".to_owned()));
        }
        let mut request = self.call.parse_pairs(pairs);
        if let Some((_, field)) = LIST_FILE_FIELDS.iter().find(|(name, _)| *name == self.name) {
            request.insert((*field).to_owned(), stdin::read_json_list(matches, field)?);
        }
        let asked = RpcRequest { verb: self.name.to_owned(), caller, request };
        let (answer, book) =
            self.call_server_or_store(asked, RpcClient::connect_to_home(config), open)?;
        if matches.get_flag("json") {
            output::print_json(&answer);
        } else {
            (self.show)(&answer);
        }
        // The answer did not wait for it, and is right without it.
        if let Some(book) = book {
            follow::register_presence(&book);
        }
        Ok(())
    }

    /// Whether the request has this field.
    fn has_field(&self, field: &str) -> bool {
        self.call.fields().any(|(name, _)| name == field)
    }

    /// What the server answers, else the store that is opened here, which comes with it.
    fn call_server_or_store(
        &self,
        mut asked: RpcRequest,
        server: Option<RpcClient>,
        open: impl FnOnce() -> Result<Commonbook>,
    ) -> Result<(Value, Option<Commonbook>)> {
        if let Some(server) = server {
            // A write whose answer is lost is repeated here under the same key, and so done once.
            if self.has_field("idempotency_key") {
                let key = asked.request.entry("idempotency_key");
                key.or_insert_with(|| local::new_idempotency_key().into());
            }
            if let RpcOutcome::Answer(told) = server.send_rpc_request(&asked) {
                return told.map(|told| (told, None));
            }
        }
        let book = open()?;
        if self.has_field("scope") || self.name == "context" {
            follow::catch_up(&book)?;
        }
        if asked.request.contains_key("entity") || self.name.starts_with("entity ") {
            follow::find_mentions_with_progress(&book)?;
        }
        if self.name.starts_with("contradictions ") {
            follow::find_contradictions_with_progress(&book)?;
        }
        let answer = self.execute_verb(&book, &asked.caller, asked.request)?;
        Ok((answer, Some(book)))
    }

    /// Carries the verb out; the id of its memory may be shortened.
    fn execute_verb(
        &self,
        book: &Commonbook,
        caller: &Caller,
        request: Map<String, Value>,
    ) -> Result<Value> {
        self.call.run(book, caller, request.into())
    }

    /// The given fields, as text.
    fn field_pairs(&self, matches: &ArgMatches) -> Result<Vec<(String, String)>> {
        let mut pairs = Vec::new();
        for (field, schema) in self.call.fields() {
            let given = matches.try_contains_id(field).unwrap_or(false);
            if !given || field == "agent" || LIST_FILE_FIELDS.contains(&(self.name, field)) {
                continue;
            }
            if schema["type"] == "boolean" {
                if matches.get_flag(field) {
                    pairs.push((field.to_owned(), String::new()));
                }
                continue;
            }
            let values: Vec<&String> = matches.get_many(field).into_iter().flatten().collect();
            match field {
                "query" => pairs.push((field.to_owned(), stdin::join_words(&values))),
                "text" | "message" | "task" if values.iter().all(|value| *value == "-") => {
                    pairs.push((field.to_owned(), stdin::read_standard_input()?));
                }
                _ => pairs.extend(values.into_iter().map(|v| (field.to_owned(), v.clone()))),
            }
        }
        if self.name == "save" && matches.get_flag("private") {
            pairs.push(("sharing".to_owned(), "private".to_owned()));
        }
        Ok(pairs)
    }
}
