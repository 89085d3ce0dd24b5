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
use commonbook::model::caller::{Caller, Door};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::caller::{Heard, caller};
use crate::config::Config;
use crate::local::{self, Asked, CarryOut, Reply, Server};
use crate::{follow, output};

pub(crate) use doctor::Doctor;
pub(crate) use export::Export;
pub(crate) use import::Import;
pub(crate) use monitor::Monitor;
pub(crate) use reindex::Reindex;
pub(crate) use setup::Setup;
pub(crate) use standing::Memory;
use table::{FILES, GROUPS, PURGE_SINCE, verbs};

/// A verb as a command.
struct Verb {
    /// The command; of one in a group, the group and the command.
    name: &'static str,
    call: Call,
    /// The fields that are given without a flag, in order.
    positional: &'static [&'static str],
    /// How its answer is shown to people.
    show: fn(&Value),
    /// The verb that the command calls instead where this field of it is given.
    or: Option<(&'static str, &'static str)>,
}

/// The verb of this name.
fn named(name: &str) -> Option<Verb> {
    verbs().into_iter().find(|verb| verb.name == name)
}

/// The flag of a field, where it is not the field's own name.
fn flag(field: &str) -> String {
    match field {
        "memory_type" => "type".to_owned(),
        "topics" => "topic".to_owned(),
        "entities" => "entity".to_owned(),
        other => other.replace('_', "-"),
    }
}

/// Adds the flags that every command takes.
pub(crate) fn flags(command: Command) -> Command {
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
pub(crate) fn commands(command: Command) -> Command {
    let command = GROUPS.iter().fold(flags(command), |command, (name, about)| {
        let group = Command::new(*name).about(*about);
        command.subcommand(group.subcommand_required(true).arg_required_else_help(true))
    });
    let verbs = verbs();
    let own = verbs.iter().filter(|verb| verb.name != PURGE_SINCE);
    own.fold(command, |command, verb| match verb.name.split_once(' ') {
        None => command.subcommand(subcommand(verb, verb.name)),
        Some((group, name)) => {
            command.mut_subcommand(group, |group| group.subcommand(subcommand(verb, name)))
        }
    })
}

fn subcommand(verb: &Verb, name: &'static str) -> Command {
    let about = verb.call.about();
    let short = about.split_inclusive(['.', ':', ';']).next().unwrap_or(about);
    let mut command = Command::new(name)
        .about(short.trim_end_matches(['.', ':', ';']).replace('\n', " "))
        .long_about(about.to_owned());
    let other = verb.or.and_then(|(_, name)| named(name));
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

fn argument(verb: &Verb, field: &str, schema: &Value) -> Arg {
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
            given if FILES.contains(&given) => arg.value_name("FILE").help(format!(
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
    let arg = arg.long(flag(field));
    let arg = if field == "k" { arg.short('k') } else { arg };
    if schema["type"] == "boolean" {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(flag(field).to_uppercase()).allow_negative_numbers(true);
    if is_list(schema) { arg.action(ArgAction::Append) } else { arg }
}

/// Whether a field is a list: `array`, or `array` or nothing.
fn is_list(schema: &Value) -> bool {
    let kind = &schema["type"];
    kind == "array" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array"))
}

/// What the command line says of the caller.
pub(crate) fn heard(matches: &ArgMatches) -> Heard {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    Heard {
        agent: text("agent"),
        workspace: text("workspace"),
        user: text("user"),
        ..Heard::default()
    }
}

/// The caller behind a command.
///
/// # Errors
/// `invalid` for a name, workspace, user or session that is none.
pub(crate) fn who(matches: &ArgMatches, config: &Config) -> Result<Caller> {
    let caller = caller(&heard(matches), config, config.nearest_workspace()?, Door::Cli)?;
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
    let verb = named(&name)?;
    let given = |field: &str| matches.try_contains_id(field).unwrap_or(false);
    let other = verb.or.filter(|(field, _)| given(field)).and_then(|(_, name)| named(name));
    Some(other.unwrap_or(verb).run(matches, config, open))
}

/// Carries out the verbs as commands for other processes.
pub(crate) fn carry_out(book: Commonbook) -> Arc<CarryOut> {
    let verbs = verbs();
    Arc::new(move |asked: Asked| {
        let verb = verbs.iter().find(|verb| verb.name == asked.verb)?;
        Some(verb.carry_out(&book, &asked.caller, asked.request))
    })
}

impl Verb {
    /// The same verb, or another where this field of that one is given.
    fn or(self, field: &'static str, verb: &'static str) -> Self {
        Self { or: Some((field, verb)), ..self }
    }

    fn run(
        &self,
        matches: &ArgMatches,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
    ) -> Result<()> {
        let mut caller = who(matches, config)?;
        let mut pairs = self.pairs(matches)?;
        if !self.asks("session") {
            let session = matches.get_one::<String>("session").map(String::as_str);
            caller = caller.in_session(session)?;
        }
        let named = matches.contains_id("workspace") || config.workspace.is_some();
        if self.asks("scope") && !named && !matches.contains_id("scope") {
            pairs.push(("scope".to_owned(), "nearest".to_owned()));
        }
        let mut request = self.call.typed(pairs);
        if let Some((_, field)) = FILES.iter().find(|(name, _)| *name == self.name) {
            request.insert((*field).to_owned(), stdin::listed(matches, field)?);
        }
        let asked = Asked { verb: self.name.to_owned(), caller, request };
        let (answer, book) = self.answer(asked, Server::near(config), open)?;
        if matches.get_flag("json") {
            output::json(&answer);
        } else {
            (self.show)(&answer);
        }
        // The answer did not wait for it, and is right without it.
        if let Some(book) = book {
            follow::register(&book);
        }
        Ok(())
    }

    /// Whether the request has this field.
    fn asks(&self, field: &str) -> bool {
        self.call.fields().any(|(name, _)| name == field)
    }

    /// What the server answers, else the store that is opened here, which comes with it.
    fn answer(
        &self,
        mut asked: Asked,
        server: Option<Server>,
        open: impl FnOnce() -> Result<Commonbook>,
    ) -> Result<(Value, Option<Commonbook>)> {
        if let Some(server) = server {
            // A write whose answer is lost is repeated here under the same key, and so done once.
            if self.asks("idempotency_key") {
                let key = asked.request.entry("idempotency_key");
                key.or_insert_with(|| local::key().into());
            }
            if let Reply::Answer(told) = server.ask(&asked) {
                return told.map(|told| (told, None));
            }
        }
        let book = open()?;
        if self.asks("scope") || self.name == "context" {
            follow::catch_up(&book)?;
        }
        if asked.request.contains_key("entity") || self.name.starts_with("entity ") {
            follow::mentions(&book)?;
        }
        if self.name.starts_with("contradictions ") {
            follow::contradictions(&book)?;
        }
        let answer = self.carry_out(&book, &asked.caller, asked.request)?;
        Ok((answer, Some(book)))
    }

    /// Carries the verb out; the id of its memory may be shortened.
    fn carry_out(
        &self,
        book: &Commonbook,
        caller: &Caller,
        mut request: Map<String, Value>,
    ) -> Result<Value> {
        if let Some(Value::String(id)) = request.get("id") {
            let id = book.memory_id(caller, id)?;
            request.insert("id".to_owned(), id.to_string().into());
        }
        self.call.run(book, caller, request.into())
    }

    /// The given fields, as text.
    fn pairs(&self, matches: &ArgMatches) -> Result<Vec<(String, String)>> {
        let mut pairs = Vec::new();
        for (field, schema) in self.call.fields() {
            let given = matches.try_contains_id(field).unwrap_or(false);
            if !given || field == "agent" || FILES.contains(&(self.name, field)) {
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
                "query" => pairs.push((field.to_owned(), stdin::joined(&values))),
                "text" | "message" | "task" if values.iter().all(|value| *value == "-") => {
                    pairs.push((field.to_owned(), stdin::standard_input()?));
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
