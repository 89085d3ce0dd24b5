//! The command line: each verb as a command, built from the same schema as its tool and its route.

mod agent;
mod archive;
mod audit;
mod backup;
mod case;
mod checkpoint;
mod completions;
mod consolidation;
mod context;
mod contradictions;
mod current_session;
mod describe;
mod doctor;
mod entities;
mod export;
mod forgetting;
mod handoff;
mod help;
mod history;
mod import;
mod layout;
mod lineage;
mod local_days;
mod lookup;
mod migrate;
mod monitor;
mod offer;
mod pages;
mod person;
mod reindex;
mod retraction;
mod session;
mod settings;
mod setup;
mod show;
mod standing;
mod start;
mod stdin;
mod table;
mod tokens;
mod vault;
mod watch_stats;
mod webhooks;
mod workspace;

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches as _, Subcommand as _};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result, unless_unavailable};
use commonbook::model::access;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::token::TokenScope;
use commonbook::model::workspace::Workspace;
use commonbook::verbs::names;
use serde_json::Value;

use crate::background::follow;
use crate::calls::ended_handoffs::ended_handoffs;
use crate::calls::hint::{HintDoor, translate};
use crate::calls::output;
use crate::calls::verb::{self, Follower, Verb, VerbCommandName};
use crate::clients::local::{self, RpcAnswer, RpcClient, RpcHandler, RpcOutcome, RpcRequest};
use crate::clients::remote::rest::COMMAND_TIMEOUT;
use crate::clients::remote::{RestClient, ServerAddress};
use crate::http::caller::{CallerClaims, resolve_caller};
use crate::settings::config::Config;
use crate::settings::project::check_switch;

use agent::AgentAction;
pub(crate) use audit::AuditCommand;
pub(crate) use backup::{BackupCommand, RestoreBackupCommand};
pub(crate) use completions::{CompletionsCommand, ManCommand};
pub(crate) use doctor::{DoctorCommand, HookState};
pub(crate) use export::ExportCommand;
pub(crate) use help::with_sections;
pub(crate) use import::{ImportCommand, ImportTarget};
use local_days::{in_local_days, local_moment};
use lookup::ViewLookup;
pub(crate) use migrate::{MigrateCommand, StoreOpeners};
pub(crate) use monitor::{MonitorCommand, MonitorTarget};
use pages::{CURSOR_FIELD, PageNumber};
pub(crate) use reindex::ReindexCommand;
pub(crate) use settings::ConfigCommand;
pub(crate) use setup::SetupCommand;
pub(crate) use start::{print_init, print_overview, print_uninstall, print_upgrade};
use table::{COMMAND_GROUPS, VerbView, ViewPrinter, verb_views};
pub(crate) use vault::{RebuildCommand, VaultCommand, VaultPlace};
use workspace::WorkspaceAction;

/// A verb as a command.
struct VerbCommand {
    verb: &'static Verb,
    /// The command, behind its group if it has one.
    name: &'static str,
    view: VerbView,
    /// The field that selects another verb, and that verb.
    or: Option<(&'static str, &'static Verb, VerbView)>,
}

/// Every command that calls a verb, in the order of the registry.
fn verb_commands() -> Vec<VerbCommand> {
    let views = verb_views();
    let view = |verb: &Verb| views.iter().find(|view| view.verb == verb.name).copied();
    let alternative = |own: &Verb| {
        verb::all().iter().find_map(|verb| match verb.command? {
            VerbCommandName::Of { verb: of, field } if of == own.name => {
                Some((field, verb, view(verb)?))
            }
            _ => None,
        })
    };
    let command = |verb: &'static Verb| match verb.command? {
        VerbCommandName::Own(name) => {
            Some(VerbCommand { verb, name, view: view(verb)?, or: alternative(verb) })
        }
        VerbCommandName::Of { .. } => None,
    };
    verb::all().iter().filter_map(command).collect()
}

/// The verbs that a command calls.
#[cfg(test)]
pub(crate) fn commanded_verbs() -> std::collections::BTreeSet<&'static str> {
    let commands = verb_commands();
    let verbs = commands.iter().flat_map(|command| {
        let other = command.or.map(|(_, verb, _)| verb.name);
        [Some(command.verb.name), other].into_iter().flatten()
    });
    verbs.collect()
}

/// The command of this name.
fn find_verb_command(name: &str) -> Option<VerbCommand> {
    verb_commands().into_iter().find(|command| command.name == name)
}

/// The flag of a field: of a list, which takes one item at a time, in the singular.
fn flag_name(field: &str) -> String {
    match field {
        "memory_type" | "types" => "type".to_owned(),
        "entities" => "entity".to_owned(),
        "memories" => "memory".to_owned(),
        "confirm" => "yes".to_owned(),
        "agents_involved" => "agent-involved".to_owned(),
        "decisions_made" => "decision".to_owned(),
        "active_files" | "events" | "labels" | "next_steps" | "relations" | "scopes" | "topics" => {
            field.trim_end_matches('s').replace('_', "-")
        }
        _ => field.replace('_', "-"),
    }
}

/// Adds the flags of every command.
pub(crate) fn add_global_flags(command: Command) -> Command {
    let global = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .global(true)
            .help_heading("Global options")
            .help(help)
    };
    command
        .arg(global(
            "home",
            "FOLDER",
            "Folder of all data [env: COMMONBOOK_HOME] [default: ~/.commonbook]",
        ))
        .arg(global(
            "agent",
            "NAME",
            "Name of the agent you act as [env: COMMONBOOK_AGENT_ID] [default: `human` at a terminal]",
        ))
        .arg(global(
            "workspace",
            "NAME",
            "Workspace to use [env: COMMONBOOK_WORKSPACE] [default: the project, else `default`]",
        ))
        .arg(global("user", "ID", "User you work for [env: COMMONBOOK_USER_ID]"))
        .arg(
            global("json", "", "Print the response as JSON, exactly as REST returns it")
                .action(ArgAction::SetTrue)
                .num_args(0),
        )
        .arg(
            global("log-json", "", "Write the log as JSON lines")
                .action(ArgAction::SetTrue)
                .num_args(0),
        )
}

/// Adds the commands of all verbs, and the flags of every command.
pub(crate) fn add_verb_commands(command: Command) -> Command {
    let single =
        verb_commands().into_iter().map(|verb| verb.name).filter(|name| !name.contains(' '));
    let names: Vec<&str> = single.chain(COMMAND_GROUPS.iter().map(|(name, _)| *name)).collect();
    names.into_iter().fold(add_global_flags(command), add_verb_command)
}

/// Adds the command of this name, or the group of this name with its commands, if verbs have one.
pub(crate) fn add_verb_command(command: Command, name: &str) -> Command {
    let commands = verb_commands();
    let Some((name, about)) = COMMAND_GROUPS.iter().find(|(group, _)| *group == name) else {
        let found = commands.iter().find(|verb| verb.name == name);
        return found
            .into_iter()
            .fold(command, |command, verb| command.subcommand(subcommand(verb, verb.name)));
    };
    let group = Command::new(*name).about(*about).after_help(help::examples(name));
    let group = group.subcommand_required(true).arg_required_else_help(true);
    let group = match *name {
        "session" => group.subcommand(current_session::command()),
        "agent" => AgentAction::augment_subcommands(group),
        "workspace" => WorkspaceAction::augment_subcommands(group),
        _ => group,
    };
    let own = commands.iter().filter_map(|verb| Some((verb, verb.name.split_once(' ')?)));
    let own = own.filter(|(_, (group, _))| group == name);
    let group =
        own.fold(group, |group, (verb, (_, name))| group.subcommand(subcommand(verb, name)));
    // Its name in earlier versions.
    let group = match *name {
        "memory" => group.mut_subcommand("show", |show| show.alias("view")),
        _ => group,
    };
    command.subcommand(group)
}

/// The command that these arguments name behind flags of every command; the first argument is the program.
/// `None` if another flag precedes it.
pub(crate) fn named_command(arguments: &[OsString]) -> Option<&str> {
    let mut words = arguments.iter().skip(1).map(|argument| argument.to_str());
    loop {
        match words.next()?? {
            "--home" | "--agent" | "--workspace" | "--user" => drop(words.next()?),
            "--json" | "--log-json" => {}
            flag if flag.starts_with('-') => return None,
            name => return Some(name),
        }
    }
}

fn subcommand(verb: &VerbCommand, name: &'static str) -> Command {
    let call = &verb.verb.call;
    let about = in_commands(call.verb_description());
    let examples = help::examples(verb.name);
    let short = about.split_inclusive(['.', ':', ';']).next().unwrap_or(&about);
    let mut command = Command::new(name)
        .about(short.trim_end_matches(['.', ':', ';']).to_owned())
        .long_about(about.clone())
        .after_long_help(examples);
    let is_new = |field: &str| call.fields().all(|(own, _)| own != field);
    let further = verb.or.iter().flat_map(|(_, verb, _)| verb.call.fields());
    let further = further.filter(|(field, _)| is_new(field));
    for (field, schema) in call.fields().chain(further) {
        // --user, --agent and --workspace are flags of every command.
        if !["user_id", "agent", "workspace"].contains(&field) {
            command = command.arg(argument(verb, field, schema));
        }
    }
    if verb.view.private_flag {
        command = command.arg(
            Arg::new("private")
                .long("private")
                .action(ArgAction::SetTrue)
                .conflicts_with("sharing")
                .help("Save it for yourself alone; the same as --sharing private"),
        );
    }
    if verb.verb.name == names::CREATE_TOKEN {
        let yes = Arg::new("yes").long("yes").action(ArgAction::SetTrue);
        command = command.arg(yes.help("Create it although clients use HTTP without a token"));
    }
    if verb.verb.name == names::GET_MEMORY_STATS {
        command = command.arg(watch_stats::argument());
    }
    if call.fields().any(|(field, _)| field == CURSOR_FIELD) {
        command = command.arg(pages::argument());
    }
    if !call.fields().any(|(field, _)| field == "session") {
        command = command
            .arg(Arg::new("session").long("session").value_name("ID").help("Session you work in"));
    }
    command
}

/// A description with the commands of the verbs that it names.
fn in_commands(description: &str) -> String {
    let paragraphs = description.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    let description = paragraphs.collect::<Vec<_>>().join("\n\n");
    match description.contains('_') {
        true => translate(&description, HintDoor::CommandLine("commonbook")),
        false => description,
    }
}

fn argument(verb: &VerbCommand, field: &str, schema: &Value) -> Arg {
    let help = in_commands(schema["description"].as_str().unwrap_or_default());
    let repeatable = if is_list(schema) { "; repeatable" } else { "" };
    let name = field.to_owned();
    let help = format!("{}{repeatable}", help.trim_end_matches('.'));
    let arg = Arg::new(name.clone()).help(help);
    let arg = match schema["type"] == "boolean" {
        true => arg,
        false => arg.value_parser(ListedValues(enum_values(schema))),
    };
    if let Some(place) = verb.view.positional.iter().position(|positional| *positional == field) {
        let arg = arg.index(place + 1).value_name(name.to_uppercase());
        let is_required = verb.verb.call.requires(field);
        let arg = match verb.or {
            None => arg.required(is_required),
            Some((selector, ..)) if is_required => {
                arg.required_unless_present(selector).conflicts_with(selector)
            }
            Some((selector, ..)) => arg.conflicts_with(selector),
        };
        let is_last = place + 1 == verb.view.positional.len();
        let takes_many = FREE_TEXT_FIELDS.contains(&field)
            || (is_list(schema) && verb.view.list_file != Some(field));
        let arg = if is_last && takes_many { arg.num_args(1..) } else { arg };
        return match field {
            "text" if !verb.verb.is_on_files => {
                arg.help("Text to save, up to 64 KiB, in quotes or not; - reads standard input")
            }
            _ if verb.view.list_file == Some(field) => arg.value_name("FILE").help(format!(
                "File with a JSON list of {field}, saved all or none; - reads standard input"
            )),
            "task" => arg.help("Task or question, in plain words; - reads standard input"),
            "message" => arg.help("Complete message; - reads standard input"),
            "id" => arg.help("Id of the memory, or its last letters as lists show them"),
            _ => arg,
        };
    }
    let arg = arg.long(flag_name(field)).alias(field.replace('_', "-"));
    // Each list takes both names of its length.
    let arg = match field {
        "k" => arg.short('k').alias("limit"),
        "limit" => arg.short_alias('k'),
        _ => arg,
    };
    if schema["type"] == "boolean" {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(flag_name(field).to_uppercase()).allow_negative_numbers(true);
    if is_list(schema) { arg.action(ArgAction::Append) } else { arg }
}

/// Fields that take many words as one text, without quotes.
const FREE_TEXT_FIELDS: [&str; 7] =
    ["message", "query", "reason", "result", "summary", "task", "text"];

/// Lists the values of an enum in help and completions; the verb checks them.
#[derive(Clone)]
struct ListedValues(Vec<String>);

impl TypedValueParser for ListedValues {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.0.iter().map(PossibleValue::new);
        if self.0.is_empty() { None } else { Some(Box::new(values)) }
    }
}

/// The values of an enum, or of a list of an enum; none for another schema.
fn enum_values(schema: &Value) -> Vec<String> {
    let texts = |values: &Value| -> Vec<String> {
        let values = values.as_array().into_iter().flatten().filter_map(Value::as_str);
        values.map(str::to_owned).collect()
    };
    let forms = ["oneOf", "anyOf"].iter().flat_map(|form| schema[form].as_array());
    let forms = forms.flatten().filter(|form| form["type"] != "null").map(enum_values);
    let forms: Vec<Vec<String>> = forms.collect();
    // A form without values takes any text.
    if forms.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let own = schema["const"].as_str().map(str::to_owned);
    let items = schema.get("items").map(enum_values);
    let own = texts(&schema["enum"]).into_iter().chain(own).chain(items.into_iter().flatten());
    own.chain(forms.into_iter().flatten()).collect()
}

/// Whether a field is a list: its type is `array`, or `array` or `null`.
fn is_list(schema: &Value) -> bool {
    let kind = &schema["type"];
    kind == "array" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array"))
}

/// The caller as the flags describe it.
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
/// `invalid` for a name, workspace, user or session that is not valid.
pub(crate) fn resolve_cli_caller(matches: &ArgMatches, config: &Config) -> Result<Caller> {
    resolve_claimed_caller(&cli_caller_claims(matches), config)
}

/// The caller behind a command that writes nothing: a project in which it runs gets no workspace by it.
///
/// # Errors
/// As [`resolve_cli_caller`].
pub(crate) fn resolve_preview_caller(matches: &ArgMatches, config: &Config) -> Result<Caller> {
    let caller = resolve_caller(&cli_caller_claims(matches), config, None, EntryPoint::Cli)?;
    Ok(person::at_command_line(caller, config))
}

/// The caller behind a command, from these claims.
///
/// # Errors
/// As [`resolve_cli_caller`].
pub(crate) fn resolve_claimed_caller(claims: &CallerClaims, config: &Config) -> Result<Caller> {
    let caller = resolve_caller(claims, config, config.nearest_workspace()?, EntryPoint::Cli)?;
    Ok(person::at_command_line(caller, config).in_project(config.project()))
}

/// Checks that a person runs a command about the whole home, and no agent that gives its name.
///
/// # Errors
/// `forbidden` for an agent, as [`access::require_scope`].
pub(crate) fn require_person(matches: &ArgMatches, config: &Config) -> Result<()> {
    access::require_scope(&resolve_cli_caller(matches, config)?, TokenScope::Admin)
}

/// Runs the command of this name; `None` if it is not the command of a verb.
///
/// # Errors
/// The error of the verb.
pub(crate) fn run(
    name: &str,
    matches: &ArgMatches,
    config: &Config,
    open: impl Fn() -> Result<Commonbook>,
) -> Option<Result<()>> {
    if name == "workspace"
        && let Ok(action) = WorkspaceAction::from_arg_matches(matches)
    {
        return Some(action.run(config, open, matches.get_flag("json")));
    }
    if name == "agent"
        && let Ok(action) = AgentAction::from_arg_matches(matches)
    {
        let names_workspace = matches.contains_id("workspace") || config.workspace.is_some();
        let as_json = matches.get_flag("json");
        return Some(resolve_cli_caller(matches, config).and_then(|caller| {
            let workspace = names_workspace.then_some(&caller.workspace);
            action.run(&caller, workspace, config, open, as_json)
        }));
    }
    let (name, matches) = match matches.subcommand() {
        Some((command, own)) => (format!("{name} {command}"), own),
        None => (name.to_owned(), matches),
    };
    if name == "session use" {
        return Some(current_session::run(matches, config, open));
    }
    let command = find_verb_command(&name)?;
    let is_present = |field: &str| matches.try_contains_id(field).unwrap_or(false);
    let command = match command.or.filter(|(field, ..)| is_present(field)) {
        Some((_, verb, view)) => VerbCommand { verb, view, or: None, ..command },
        None => command,
    };
    Some(command.run(matches, config, open))
}

/// Says that a command about the home does not go to the server that is used here.
///
/// # Errors
/// As [`Config::home`].
pub(crate) fn note_home(command: &str, config: &Config) -> Result<()> {
    // A damaged setting stops no command about the home.
    if let Ok(Some(address)) = ServerAddress::of(config, None) {
        let home = config.home()?.display();
        output::print_note(&format!("note: `{command}` is about {home}, not {}", address.url));
    }
    Ok(())
}

/// Runs the verbs of the registry for other processes.
pub(crate) fn rpc_handler(book: Commonbook, config: &Config) -> Arc<RpcHandler> {
    let config = config.clone();
    Arc::new(move |request: RpcRequest| {
        let verb = verb::find(&request.verb)?;
        if let Err(error) = config.admit(verb) {
            return Some(Err(error));
        }
        let book = book.clone().with_stricter_policy(request.policy);
        Some(answer_request(&book, verb, request))
    })
}

/// Runs the verb of a request; then its caller hears how its handoffs ended, if it is to.
fn answer_request(book: &Commonbook, verb: &Verb, request: RpcRequest) -> Result<RpcAnswer> {
    let RpcRequest { caller, request, hears_results, .. } = request;
    let response = verb.call.run(book, &caller, request.into())?;
    let ended = if hears_results { ended_handoffs(book, &caller, verb) } else { Vec::new() };
    Ok(RpcAnswer { response, ended })
}

/// The response of a running server; `None` if there is none, or if the verb fails.
fn call_server(config: &Config, caller: &Caller, verb: &str, request: Value) -> Option<Value> {
    let Value::Object(request) = request else { return None };
    let policy = config.policy().ok()?;
    let (verb, caller) = (verb.to_owned(), caller.clone());
    let request = RpcRequest { verb, caller, request, policy, hears_results: false };
    match RpcClient::connect_to_home(config)?.send_rpc_request(&request) {
        RpcOutcome::Answer(answer) => answer.ok().map(|answer| answer.response),
        RpcOutcome::Declined | RpcOutcome::Lost => None,
    }
}

/// Says how many memories a search finds by their words alone.
fn note_waiting(memories: u64) {
    if memories > 0 {
        let (count, verb) = match memories {
            1 => ("1 memory".to_owned(), "waits"),
            _ => (format!("{} memories", indicatif::HumanCount(memories)), "wait"),
        };
        output::print_note(&format!(
            "{count} {verb} to be read: this search finds them by words, the next one by meaning too"
        ));
    }
}

/// The workspace in which a response says that something was forgotten just now.
fn forgotten_workspace(response: &Value) -> Option<Workspace> {
    let is_done = response["forgotten"] == true;
    let workspace = &response["certificate"]["workspace"];
    workspace.as_str().filter(|_| is_done).and_then(|name| name.parse().ok())
}

impl VerbCommand {
    /// The caller in the session that the command line names, else in the one that its agent works in.
    fn in_named_session(
        &self,
        caller: Caller,
        matches: &ArgMatches,
        config: &Config,
        address: Option<&ServerAddress>,
    ) -> Result<Caller> {
        let current = current_session::of_caller(config, &caller, address)?;
        let caller = caller.in_session(current.as_deref())?;
        match matches.try_get_one::<String>("session").ok().flatten() {
            Some(session) if !self.has_field("session") => caller.in_session(Some(session)),
            _ => Ok(caller),
        }
    }

    fn run(
        &self,
        matches: &ArgMatches,
        config: &Config,
        open: impl Fn() -> Result<Commonbook>,
    ) -> Result<()> {
        if !self.verb.is_about_home() {
            check_switch(config)?;
        }
        config.admit(self.verb)?;
        config.warn_of_settings();
        if self.verb.name == names::CREATE_TOKEN && !matches.get_flag("yes") {
            tokens::confirm_creation(config)?;
        }
        let address = self.server_address(config)?;
        let mut caller = resolve_cli_caller(matches, config)?;
        if address.is_none() {
            person::adopt_once(&caller, config, &open);
        }
        caller = self.in_named_session(caller, matches, config, address.as_ref())?;
        let pairs = self.field_pairs(matches)?;
        let names_workspace = matches.contains_id("workspace") || config.workspace.is_some();
        let mut request = self.verb.call.parse_pairs(pairs);
        request.extend(self.list_fields(matches));
        if let Some(field) = self.view.list_file {
            request.insert(field.to_owned(), stdin::read_json_list(matches, field)?);
        }
        // A standing memory file of the project stays in the project.
        let is_in_project = standing::stays_here(self.verb, &caller, &request);
        let address = address.filter(|_| !is_in_project);
        if self.verb.is_on_files && address.is_none() {
            caller = person::as_person(caller);
        }
        let policy = config.policy()?;
        // What is printed as JSON is the response alone.
        let hears_results = !matches.get_flag("json") && !self.verb.is_about_home();
        let verb = self.verb.name.to_owned();
        let request = RpcRequest { verb, caller, request, policy, hears_results };
        let page = PageNumber::of(matches, self.has_field(CURSOR_FIELD));
        if self.verb.name == names::GET_MEMORY_STATS && watch_stats::is_on(matches) {
            return watch_stats::run(config, address, request, matches.get_flag("json"), &open);
        }
        if let Some(address) = address {
            return self.run_at_server(matches, config, &address, request, page, open);
        }
        let (caller, fields) = (request.caller.clone(), request.request.clone());
        let (answer, book) = self.call_server_or_store(request, config, &open)?;
        let call = |caller: &Caller, verb: &str, request: Value| match &book {
            Some(book) => verb::find(verb)?.call.run(book, caller, request).ok(),
            None => call_server(config, caller, verb, request),
        };
        let response = page.find(answer.response, |cursor| {
            let request = Value::Object(fields.clone().into_iter().chain(cursor).collect());
            match &book {
                Some(book) => self.verb.call.run(book, &caller, request),
                None => call_server(config, &caller, self.verb.name, request).ok_or_else(|| {
                    Error::new(ErrorKind::Unavailable, "the server did not answer")
                        .hint("Call it again.")
                }),
            }
        })?;
        if self.verb.name == names::END_SESSION {
            current_session::forget(config, &caller, None, &response["id"])?;
        }
        let forgotten = forgotten_workspace(&response);
        let lookup =
            ViewLookup { caller: &caller, request: &fields, call: &call, config: Some(config) };
        self.show(matches, response, &lookup, page)?;
        handoff::print_ended(&answer.ended);
        vault::sync_after_forgetting(forgotten.as_ref(), &caller, config, &open)?;
        // After the response, which does not depend on it.
        if let Some(book) = book {
            self.follow_briefly(&book, config);
        }
        if !names_workspace && !self.verb.is_about_home() {
            workspace::note_older_workspace(config, open);
        }
        Ok(())
    }

    /// What a server would do in the background.
    fn follow_briefly(&self, book: &Commonbook, config: &Config) {
        follow::record_calls(book);
        if self.verb.writes() {
            follow::embed_briefly(book, config);
        }
        if self.verb.name == names::END_SESSION {
            follow::digest_briefly(book);
        }
    }

    /// The server at a URL that runs the command, unless the command is about the home.
    fn server_address(&self, config: &Config) -> Result<Option<ServerAddress>> {
        if self.verb.is_about_home() { Ok(None) } else { ServerAddress::of(config, None) }
    }

    fn run_at_server(
        &self,
        matches: &ArgMatches,
        config: &Config,
        address: &ServerAddress,
        request: RpcRequest,
        page: PageNumber,
        open: impl Fn() -> Result<Commonbook>,
    ) -> Result<()> {
        let server = RestClient::new(address.clone(), COMMAND_TIMEOUT);
        let RpcRequest { caller, request: fields, .. } = request;
        let response = server.call(self.verb, &caller, fields.clone())?;
        let response = page.find(response, |cursor| {
            let request = fields.clone().into_iter().chain(cursor).collect();
            server.call(self.verb, &caller, request)
        })?;
        if self.verb.name == names::END_SESSION {
            current_session::forget(config, &caller, Some(address), &response["id"])?;
        }
        let call = |caller: &Caller, verb: &str, request: Value| {
            server.call_named(verb, caller, request).ok()
        };
        let lookup =
            ViewLookup { caller: &caller, request: &fields, call: &call, config: Some(config) };
        let forgotten = forgotten_workspace(&response);
        self.show(matches, response, &lookup, page)?;
        vault::sync_after_forgetting(forgotten.as_ref(), &caller, config, open)
    }

    /// Shows a response; what failed at a receiver is the error of the command.
    fn show(
        &self,
        matches: &ArgMatches,
        response: Value,
        lookup: &ViewLookup<'_>,
        page: PageNumber,
    ) -> Result<()> {
        let failure = webhooks::test_failure(self.verb.name, &response);
        self.print_response(matches, response, lookup, page);
        failure.map_or(Ok(()), Err)
    }

    /// Prints a response. A terminal would break a long cursor, so that people read on by the number of
    /// the page.
    fn print_response(
        &self,
        matches: &ArgMatches,
        mut response: Value,
        lookup: &ViewLookup<'_>,
        page: PageNumber,
    ) {
        if matches.get_flag("json") {
            return output::print_json(&response);
        }
        let is_last = !page.hide_cursor(&mut response);
        match self.view.show {
            ViewPrinter::Response(show) => show(&response),
            ViewPrinter::WithLookup(show) => show(&response, lookup),
        }
        if !is_last {
            output::print_note(&format!("next page: --page {}", page.next()));
        }
    }

    /// Whether the request has this field.
    fn has_field(&self, field: &str) -> bool {
        self.verb.call.fields().any(|(name, _)| name == field)
    }

    /// Returns the answer of a running server, else of the store that it opens, with that store.
    fn call_server_or_store(
        &self,
        mut request: RpcRequest,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
    ) -> Result<(RpcAnswer, Option<Commonbook>)> {
        if let Some(server) = RpcClient::connect_to_home(config) {
            // If the response is lost, the write is repeated under the same key: it happens once.
            if self.has_field("idempotency_key") {
                let key = request.request.entry("idempotency_key");
                key.or_insert_with(|| local::new_idempotency_key().into());
            }
            if let RpcOutcome::Answer(answer) = server.send_rpc_request(&request) {
                return answer.map(|answer| (answer, None));
            }
        }
        let book = open()?;
        let needs = |follower| self.verb.needs(follower, &request.request);
        if needs(Follower::Index) {
            follow::catch_up(&book, &request.caller.workspace)?;
            note_waiting(follow::embed_for_search(&book, config));
        }
        if needs(Follower::Mentions) {
            unless_unavailable(follow::find_mentions_with_progress(&book))?;
        }
        if needs(Follower::Contradictions) {
            unless_unavailable(follow::find_contradictions_with_progress(&book))?;
        }
        let book = consolidation::with_progress(self.verb.name, book);
        let answer = answer_request(&book, self.verb, request)?;
        Ok((answer, Some(book)))
    }

    /// The lists on the command line: an item for each flag. Only names are divided at commas.
    fn list_fields(&self, matches: &ArgMatches) -> Vec<(String, Value)> {
        let mut lists = Vec::new();
        for (field, schema) in self.verb.call.fields().filter(|(_, schema)| is_list(schema)) {
            let is_present = matches.try_contains_id(field).unwrap_or(false);
            if !is_present || self.view.list_file == Some(field) {
                continue;
            }
            let values = matches.get_many::<String>(field).into_iter().flatten();
            let is_of_names = !enum_values(schema).is_empty();
            let items = values.flat_map(|value| match (is_of_names, value.starts_with('{')) {
                (true, _) => value.split(',').map(|name| name.trim().into()).collect(),
                (false, true) => {
                    vec![serde_json::from_str(value).unwrap_or_else(|_| value.as_str().into())]
                }
                (false, false) => vec![Value::from(value.as_str())],
            });
            lists.push((field.to_owned(), items.collect()));
        }
        lists
    }

    /// The fields on the command line that are no lists, as text.
    fn field_pairs(&self, matches: &ArgMatches) -> Result<Vec<(String, String)>> {
        let mut pairs = Vec::new();
        for (field, schema) in self.verb.call.fields() {
            let is_present = matches.try_contains_id(field).unwrap_or(false);
            if !is_present || field == "agent" || is_list(schema) {
                continue;
            }
            if schema["type"] == "boolean" {
                if matches.get_flag(field) {
                    pairs.push((field.to_owned(), "true".to_owned()));
                }
                continue;
            }
            let values: Vec<&String> = matches.get_many(field).into_iter().flatten().collect();
            match field {
                "text" | "message" | "task" if values.iter().all(|value| *value == "-") => {
                    pairs.push((field.to_owned(), stdin::read_standard_input()?));
                }
                _ => {
                    let text = stdin::join_words(&values);
                    let text = match schema["format"] == "date-time" {
                        true => local_moment(field, text),
                        false => in_local_days(field, text),
                    };
                    pairs.push((field.to_owned(), text));
                }
            }
        }
        if self.view.private_flag && matches.get_flag("private") {
            pairs.push(("sharing".to_owned(), "private".to_owned()));
        }
        Ok(pairs)
    }
}
