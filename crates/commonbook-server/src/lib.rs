//! The program as a library: it serves, speaks MCP, answers hooks, and is the command line.

mod atomic;
mod body;
mod call;
mod caller;
pub mod child;
mod cli;
pub mod config;
mod connections;
mod demo;
mod digest;
pub mod follow;
mod gate;
mod hook;
mod local;
mod mcp;
mod modes;
pub mod output;
mod process;
mod rate;
mod rest;
mod sandbox;
mod serve;
mod setup;
mod shell;
mod ticket;
mod watch;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
use clap::{Args, Command, FromArgMatches, Subcommand};
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::index::Index;
use commonbook::model::caller::Caller;
use commonbook::store::StoreLoss;
use commonbook::store::sqlite::SqliteStore;
use tokio_util::sync::CancellationToken;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

use crate::caller::CallerClaims;
use crate::config::Config;
use crate::local::RpcListener;
use crate::mcp::{McpDoor, ToolSelection};
use crate::sandbox::SandboxState;

/// The commands that are no verbs.
#[derive(Debug, Subcommand)]
enum ProgramCommand {
    /// Serve REST, and MCP over HTTP, on one address
    Serve(serve::ServeCommand),
    /// Speak MCP over standard input and output, for a client that starts this program
    Mcp(McpCommand),
    /// Connect a coding client: its MCP server and its hooks, and take them out again
    Setup(cli::SetupCommand),
    /// Answer a hook of a coding client; `setup` writes what calls this
    Hook(hook::HookCommand),
    /// Show what it is for: two agents remember things for each other, in a temporary home
    Demo(demo::DemoCommand),
    /// Take in memories or conversations from a file; a second run adds nothing twice
    Import(cli::ImportCommand),
    /// Write every memory of the workspace that you may see, as lines that `import` takes
    Export(cli::ExportCommand),
    /// Follow the journal: a line for each event as it happens, until Ctrl-C
    Monitor(cli::MonitorCommand),
    /// Build the search index anew from the journal
    Reindex(cli::ReindexCommand),
    /// Show and change standing memory files: what each role always knows
    Memory(cli::StandingCommand),
    /// Look the store through for damage, and the server, the model, the ports and the clients
    Doctor(cli::DoctorCommand),
    /// Print a surface as the golden files have it
    #[command(hide = true)]
    Surface(SurfaceCommand),
}

/// How a client is served over the standard streams.
#[derive(Debug, Args)]
struct McpCommand {
    /// The client's name, where it should be another than the client's own
    #[arg(long)]
    client: Option<String>,
    /// The MCP tools that are offered
    #[arg(long, value_enum, default_value_t)]
    tools: ToolSelection,
}

/// A surface that a golden file holds.
#[derive(Debug, Args)]
struct SurfaceCommand {
    /// Which one
    #[arg(value_parser = ["openapi", "tools", "events", "cli-help"])]
    name: String,
}

fn clap_command() -> Command {
    let command = Command::new("commonbook")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true);
    let about = "The memory that many AI agents hold in common";
    ProgramCommand::augment_subcommands(cli::add_verb_commands(command))
        .about(about)
        .long_about(None)
}

/// Runs the program with these arguments, the first of which is its own name.
#[must_use]
pub fn run_program(arguments: &[OsString]) -> ExitCode {
    process::harden();
    use_ordinary_pages();
    if arguments.get(1).is_some_and(|command| command == "hook") {
        return run_hook(arguments);
    }
    let as_json = arguments.iter().any(|argument| argument == "--json");
    let matches = match clap_command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => {
            output::print_line(error.render().to_string().trim_end());
            return exit_code_of(output::finish(), as_json);
        }
        Err(error) if error.kind() == DisplayHelpOnMissingArgumentOrSubcommand => {
            output::print_note(error.render().to_string().trim_end());
            return ExitCode::from(output::exit_code(ErrorKind::Invalid));
        }
        Err(error) => return output::print_error(&usage_error(&error, arguments), as_json),
    };
    let mut config = Config::read();
    if let Some(home) = matches.get_one::<String>("home") {
        config.home = Some(home.into());
    }
    // Before any thread: one that runs already is not held to it.
    let sandbox = matches.subcommand_matches("serve").map(|_| sandbox::enter(&config)).transpose();
    let _log = start_log(&config, matches.get_flag("log-json"));
    match sandbox {
        Ok(sandbox) => sandbox.iter().for_each(SandboxState::log),
        Err(error) => return output::print_error(&error, as_json),
    }
    exit_code_of(run_subcommand(&matches, config).and_then(|()| output::finish()), as_json)
}

/// Tells how the program ended.
fn exit_code_of(result: Result<()>, as_json: bool) -> ExitCode {
    result.map_or_else(|error| output::print_error(&error, as_json), |()| ExitCode::SUCCESS)
}

/// Answers a client's hook. A client waits for it with every turn, so no verb's command is made, and
/// whatever goes wrong, also with the command line, it is answered: another exit code would break
/// the turn.
fn run_hook(arguments: &[OsString]) -> ExitCode {
    let command =
        ProgramCommand::augment_subcommands(cli::add_global_flags(Command::new("commonbook")));
    let mut config = Config::read();
    let parsed = command.try_get_matches_from(arguments);
    if let Some(home) = parsed.as_ref().ok().and_then(|matches| matches.get_one::<String>("home")) {
        config.home = Some(home.into());
    }
    match parsed {
        Err(error) if !error.use_stderr() => {
            output::print_line(error.render().to_string().trim_end());
        }
        Err(error) => {
            log_hooks(&config);
            tracing::warn!(error = %usage_error(&error, arguments), "a hook said nothing");
            output::print_line("{}");
        }
        Ok(matches) => match (matches.subcommand(), ProgramCommand::from_arg_matches(&matches)) {
            (Some((_, own)), Ok(ProgramCommand::Hook(hook))) => {
                print_hook_response(hook, cli::cli_caller_claims(own), config);
            }
            _ => output::print_line("{}"),
        },
    }
    ExitCode::SUCCESS
}

/// Has the kernel give this process ordinary pages. Of huge ones far more is cleared than is used:
/// a process that ends in milliseconds waits for that, and so does each new thread of one that
/// lasts, which is not faster with them (`docs/benchmarks.md`).
pub fn use_ordinary_pages() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(%error, "the kernel gives pages as it likes");
    }
}

fn print_hook_response(hook: hook::HookCommand, heard: CallerClaims, config: Config) {
    log_hooks(&config);
    // Words alone: no model is loaded in the time that a client waits.
    let words = Config { embedder: Some("off".to_owned()), ..config.clone() };
    output::print_line(&hook.answer(heard, config, Box::new(move || open_commonbook(&words))));
}

fn run_subcommand(matches: &clap::ArgMatches, config: Config) -> Result<()> {
    let Some((name, own)) = matches.subcommand() else { return Ok(()) };
    let open = || open_commonbook(&config);
    if let Some(done) = cli::run(name, own, &config, open) {
        return done;
    }
    let as_json = own.get_flag("json");
    match ProgramCommand::from_arg_matches(matches).map_err(|error| usage_error(&error, &[]))? {
        ProgramCommand::Serve(serve) => {
            let book = open().map_err(sandbox::refusal::explain_refusal)?;
            let mut config = config;
            // The flags stand for the environment of those who call over HTTP.
            let heard = cli::cli_caller_claims(own);
            config.workspace = heard.workspace.or(config.workspace);
            config.agent = heard.agent.or(config.agent);
            config.user = heard.user.or(config.user);
            build_runtime()?.block_on(serve.run(book, Arc::new(config)))
        }
        ProgramCommand::Mcp(stdio) => run_mcp(&stdio, cli::cli_caller_claims(own), open()?, config),
        ProgramCommand::Setup(setup) => setup.run(&config, as_json),
        ProgramCommand::Hook(hook) => {
            print_hook_response(hook, cli::cli_caller_claims(own), config);
            Ok(())
        }
        ProgramCommand::Demo(demo) => demo.run(),
        ProgramCommand::Import(import) => {
            let caller = cli::resolve_cli_caller(own, &config)?;
            let given = own.contains_id("workspace") || config.workspace.is_some();
            let into = given.then(|| caller.workspace.clone());
            import.run(&open()?, &caller, into.as_ref(), as_json)
        }
        ProgramCommand::Export(export) => {
            export.run(&open()?, &cli::resolve_cli_caller(own, &config)?, config.home()?)
        }
        ProgramCommand::Monitor(monitor) => {
            let (book, caller, runtime) =
                (open()?, cli::resolve_cli_caller(own, &config)?, build_runtime()?);
            runtime
                .block_on(async { monitor.run(book, caller, as_json, serve::stop_signal()).await })
        }
        ProgramCommand::Reindex(reindex) => reindex.run(&open()?, as_json),
        ProgramCommand::Memory(memory) => memory.run(&config, as_json),
        ProgramCommand::Doctor(doctor) => {
            let commands = config.home().and_then(|home| Ok(hook::commands(home)?.len()));
            let accept = || accept_loss(&config, &cli::resolve_cli_caller(own, &config)?);
            doctor.run(&config, open, accept, commands, as_json)
        }
        ProgramCommand::Surface(surface) => {
            output::print_line(&surface_text(&surface.name));
            Ok(())
        }
    }
}

fn open_commonbook(config: &Config) -> Result<Commonbook> {
    let path = config.store_path()?;
    let store = SqliteStore::open(&path)?;
    let index = Index::in_folder(path.with_file_name("index"));
    index.use_embedder(follow::embedder(config));
    let book = Commonbook::new(store).with_index(Arc::new(index)).with_policy(config.policy()?);
    let book =
        book.with_preferences(config.preferences()?)?.with_collaboration(config.collaboration()?);
    let key = config.digest_key.as_ref().map(|key| key.0.as_str());
    let book = book.with_digest_writer(config.digest()?.writer(key, config.home.clone())?);
    Ok(match &config.home {
        Some(home) => book.with_home(home.clone()),
        None => book,
    })
}

/// Goes on with a store that has lost something: notes it in the journal first, so that the mark is
/// not reset without a word.
fn accept_loss(config: &Config, caller: &Caller) -> Result<StoreLoss> {
    let path = config.store_path()?;
    let loss = SqliteStore::loss(&path)?.ok_or_else(|| {
        Error::conflict("the store has lost nothing").hint("Run `commonbook doctor` alone.")
    })?;
    let store = SqliteStore::open_despite_loss(&path)?;
    Commonbook::new(Arc::<SqliteStore>::clone(&store)).accept_loss(caller, &loss)?;
    store.reset_mark()?;
    Ok(loss)
}

fn run_mcp(
    stdio: &McpCommand,
    heard: CallerClaims,
    book: Commonbook,
    config: Config,
) -> Result<()> {
    let client = stdio.client.clone().map(|name| (name, String::new()));
    let near = config.nearest_workspace()?;
    let config = Arc::new(config);
    let runtime = build_runtime()?;
    let served = runtime.block_on(async {
        let stopping = CancellationToken::new();
        let (book, watch) = watch::watch_journals(book, stopping.clone());
        let door = McpDoor::new(book.clone(), Arc::clone(&config), stdio.tools, watch)
            .for_client(CallerClaims { client, ..heard }, near);
        // The client's hooks find its server there, and need not open the store.
        let local = RpcListener::open(&config, cli::rpc_handler(book.clone()));
        let local = local.map(|local| tokio::spawn(local.serve(stopping.clone())));
        tokio::spawn(follow::follow_in_background(book.clone(), config, stopping.clone()));
        tokio::spawn(serve::sweep_hourly(book.clone()));
        let served = mcp::serve_stdio(door, serve::stop_signal()).await;
        stopping.cancel();
        if let Some(local) = local {
            let patience = Duration::from_secs(limits::SHUTDOWN_SECONDS);
            drop(tokio::time::timeout(patience, local).await);
        }
        let register = move || {
            follow::register_presence(&book);
            Ok(())
        };
        call::run_blocking(register).await?;
        served
    });
    // A read of standard input cannot be ended from here; it holds nothing.
    runtime.shutdown_background();
    served
}

fn build_runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        Error::new(ErrorKind::Internal, "the runtime could not be started").with_cause(error)
    })
}

/// Logs to standard error: standard output belongs to answers. The protocol's library would tell
/// whole messages, texts and all, when it is asked for details, warns of every request that is
/// refused, and calls it an error when a client goes: it is held to errors, or to nothing. A thread of
/// its own writes the log, so that no request waits for a pipe that nobody reads, and a line that
/// cannot be written is lost without a word. What is dropped last has the rest written.
pub fn start_log(config: &Config, as_json: bool) -> WorkerGuard {
    let filter = config.log.as_deref().unwrap_or("warn,commonbook=info");
    let mut filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("warn"));
    for held in ["rmcp=error", "rmcp::service=off"] {
        if let Ok(held) = held.parse() {
            filter = filter.add_directive(held);
        }
    }
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(limits::LOG_LINES)
        .thread_name("log")
        .finish(std::io::stderr());
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    let log = log.log_internal_errors(false);
    if as_json {
        log.json().init();
    } else {
        log.with_ansi(std::io::stderr().is_terminal()).init();
    }
    guard
}

/// Logs to a file in the home: a client shows its user what a hook says on standard error.
fn log_hooks(config: &Config) {
    let filter = config.log.as_deref().unwrap_or("warn");
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("warn"));
    let home = config.home.clone();
    let file = move || hook::log(home.as_deref());
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(file).with_ansi(false);
    let log = log.log_internal_errors(false);
    // Through the long way round there is a log already.
    drop(log.try_init());
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a hook broke off")));
}

/// A command line that is wrong, in the words of every other error; the hint names the command that was typed.
fn usage_error(error: &clap::Error, arguments: &[OsString]) -> Error {
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_end = |line: &str| line.starts_with("Usage:") || line.starts_with("For more");
    let reason = lines.iter().take_while(|line| !is_end(line) && !line.starts_with("tip: "));
    let reason: Vec<&str> = reason.copied().collect();
    let help = format!("Run `{} --help`.", typed_command(arguments));
    let tip = lines.iter().find_map(|line| line.strip_prefix("tip: a "));
    let hint = tip.map_or(help.clone(), |tip| format!("A {tip}. {help}"));
    let message = reason.join(" ");
    Error::new(ErrorKind::Invalid, message.trim_start_matches("error: ")).hint(hint)
}

/// The command that these arguments name, as far as there is one: `commonbook case open`.
fn typed_command(arguments: &[OsString]) -> String {
    let mut names = vec!["commonbook".to_owned()];
    let mut place = clap_command();
    for argument in arguments.iter().skip(1) {
        let Some(below) = place.find_subcommand(argument).cloned() else { continue };
        names.push(below.get_name().to_owned());
        place = below;
    }
    names.join(" ")
}

fn surface_text(surface: &str) -> String {
    let pretty =
        |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap_or_default();
    match surface {
        "openapi" => pretty(&rest::openapi()),
        "tools" => pretty(&serde_json::json!(mcp::tools())),
        "events" => pretty(&commonbook::base::input::schema::<commonbook::model::event::Event>()),
        _ => help_text(&mut clap_command().term_width(100)),
    }
}

/// The help of the program and of every command.
fn help_text(command: &mut Command) -> String {
    command.build();
    let mut text = format!("# commonbook\n\n```\n{}```\n", command.render_long_help());
    append_help(command, "", &mut text);
    text
}

/// The help of the commands below one, whose names begin so.
fn append_help(command: &mut Command, before: &str, text: &mut String) {
    for sub in command.get_subcommands_mut() {
        let name = format!("{before}{}", sub.get_name());
        if !sub.is_hide_set() && sub.get_name() != "help" {
            *text += &format!("\n## {name}\n\n```\n{}```\n", sub.render_long_help());
            append_help(sub, &format!("{name} "), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_line_names_the_command_that_was_typed() {
        let table = [
            (
                "save x --topics y",
                "unexpected argument '--topics' found",
                "A similar argument exists: '--topic'. Run `commonbook save --help`.",
            ),
            (
                "sav x",
                "unrecognized subcommand 'sav'",
                "A similar subcommand exists: 'save'. Run `commonbook --help`.",
            ),
            (
                "case open --titel x",
                "unexpected argument '--titel' found",
                "A similar argument exists: '--title'. Run `commonbook case open --help`.",
            ),
            (
                "serve --port many",
                "invalid value 'many' for '--port <PORT>': invalid digit found in string",
                "Run `commonbook serve --help`.",
            ),
        ];
        for (line, message, hint) in table {
            let words = std::iter::once("commonbook").chain(line.split(' ')).map(OsString::from);
            let words: Vec<OsString> = words.collect();
            let error = clap_command().try_get_matches_from(&words).unwrap_err();
            let error = usage_error(&error, &words);
            assert_eq!((&*error.message, error.hint.as_deref()), (message, Some(hint)), "{line}");
        }
    }
}
