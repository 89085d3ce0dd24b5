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

use crate::caller::Heard;
use crate::config::Config;
use crate::local::Listener;
use crate::mcp::{McpDoor, Tools};
use crate::sandbox::SandboxState;

/// The commands that are no verbs.
#[derive(Debug, Subcommand)]
enum Program {
    /// Serve REST, and MCP over HTTP, on one address
    Serve(serve::Serve),
    /// Speak MCP over standard input and output, for a client that starts this program
    Mcp(Stdio),
    /// Connect a coding client: its MCP server and its hooks, and take them out again
    Setup(cli::Setup),
    /// Answer a hook of a coding client; `setup` writes what calls this
    Hook(hook::Hook),
    /// Show what it is for: two agents remember things for each other, in a temporary home
    Demo(demo::Demo),
    /// Take in memories or conversations from a file; a second run adds nothing twice
    Import(cli::Import),
    /// Write every memory of the workspace that you may see, as lines that `import` takes
    Export(cli::Export),
    /// Follow the journal: a line for each event as it happens, until Ctrl-C
    Monitor(cli::Monitor),
    /// Build the search index anew from the journal
    Reindex(cli::Reindex),
    /// Show and change standing memory files: what each role always knows
    Memory(cli::Memory),
    /// Look the store through for damage, and the server, the model, the ports and the clients
    Doctor(cli::Doctor),
    /// Print a surface as the golden files have it
    #[command(hide = true)]
    Surface(Surface),
}

/// How a client is served over the standard streams.
#[derive(Debug, Args)]
struct Stdio {
    /// The client's name, where it should be another than the client's own
    #[arg(long)]
    client: Option<String>,
    /// The MCP tools that are offered
    #[arg(long, value_enum, default_value_t)]
    tools: Tools,
}

/// A surface that a golden file holds.
#[derive(Debug, Args)]
struct Surface {
    /// Which one
    #[arg(value_parser = ["openapi", "tools", "events", "cli-help"])]
    name: String,
}

fn command() -> Command {
    let command = Command::new("commonbook")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true);
    let about = "The memory that many AI agents hold in common";
    Program::augment_subcommands(cli::commands(command)).about(about).long_about(None)
}

/// Runs the program with these arguments, the first of which is its own name.
#[must_use]
pub fn run_program(arguments: &[OsString]) -> ExitCode {
    process::harden();
    use_ordinary_pages();
    if arguments.get(1).is_some_and(|command| command == "hook") {
        return hook(arguments);
    }
    let as_json = arguments.iter().any(|argument| argument == "--json");
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => {
            output::line(error.render().to_string().trim_end());
            return ended(output::finish(), as_json);
        }
        Err(error) if error.kind() == DisplayHelpOnMissingArgumentOrSubcommand => {
            output::note(error.render().to_string().trim_end());
            return ExitCode::from(output::exit_code(ErrorKind::Invalid));
        }
        Err(error) => return output::failure(&misused(&error), as_json),
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
        Err(error) => return output::failure(&error, as_json),
    }
    ended(run(&matches, config).and_then(|()| output::finish()), as_json)
}

/// Tells how the program ended.
fn ended(result: Result<()>, as_json: bool) -> ExitCode {
    result.map_or_else(|error| output::failure(&error, as_json), |()| ExitCode::SUCCESS)
}

/// Answers a client's hook. A client waits for it with every turn, so no verb's command is made, and
/// whatever goes wrong, also with the command line, it is answered: another exit code would break
/// the turn.
fn hook(arguments: &[OsString]) -> ExitCode {
    let command = Program::augment_subcommands(cli::flags(Command::new("commonbook")));
    let mut config = Config::read();
    let parsed = command.try_get_matches_from(arguments);
    if let Some(home) = parsed.as_ref().ok().and_then(|matches| matches.get_one::<String>("home")) {
        config.home = Some(home.into());
    }
    match parsed {
        Err(error) if !error.use_stderr() => output::line(error.render().to_string().trim_end()),
        Err(error) => {
            log_hooks(&config);
            tracing::warn!(error = %misused(&error), "a hook said nothing");
            output::line("{}");
        }
        Ok(matches) => match (matches.subcommand(), Program::from_arg_matches(&matches)) {
            (Some((_, own)), Ok(Program::Hook(hook))) => answer(hook, cli::heard(own), config),
            _ => output::line("{}"),
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

fn answer(hook: hook::Hook, heard: Heard, config: Config) {
    log_hooks(&config);
    // Words alone: no model is loaded in the time that a client waits.
    let words = Config { embedder: Some("off".to_owned()), ..config.clone() };
    output::line(&hook.answer(heard, config, Box::new(move || open(&words))));
}

fn run(matches: &clap::ArgMatches, config: Config) -> Result<()> {
    let Some((name, own)) = matches.subcommand() else { return Ok(()) };
    let open = || open(&config);
    if let Some(done) = cli::run(name, own, &config, open) {
        return done;
    }
    let as_json = own.get_flag("json");
    match Program::from_arg_matches(matches).map_err(|error| misused(&error))? {
        Program::Serve(serve) => {
            let book = open().map_err(sandbox::refusal::explained)?;
            let mut config = config;
            // The flags stand for the environment of those who call over HTTP.
            let heard = cli::heard(own);
            config.workspace = heard.workspace.or(config.workspace);
            config.agent = heard.agent.or(config.agent);
            config.user = heard.user.or(config.user);
            runtime()?.block_on(serve.run(book, Arc::new(config)))
        }
        Program::Mcp(stdio) => speak(&stdio, cli::heard(own), open()?, config),
        Program::Setup(setup) => setup.run(&config, as_json),
        Program::Hook(hook) => {
            answer(hook, cli::heard(own), config);
            Ok(())
        }
        Program::Demo(demo) => demo.run(),
        Program::Import(import) => {
            let caller = cli::who(own, &config)?;
            let given = own.contains_id("workspace") || config.workspace.is_some();
            let into = given.then(|| caller.workspace.clone());
            import.run(&open()?, &caller, into.as_ref(), as_json)
        }
        Program::Export(export) => export.run(&open()?, &cli::who(own, &config)?, config.home()?),
        Program::Monitor(monitor) => {
            let (book, caller, runtime) = (open()?, cli::who(own, &config)?, runtime()?);
            runtime
                .block_on(async { monitor.run(book, caller, as_json, serve::told_to_stop()).await })
        }
        Program::Reindex(reindex) => reindex.run(&open()?, as_json),
        Program::Memory(memory) => memory.run(&config, as_json),
        Program::Doctor(doctor) => {
            let commands = config.home().and_then(|home| Ok(hook::commands(home)?.len()));
            let accept = || accept_loss(&config, &cli::who(own, &config)?);
            doctor.run(&config, open, accept, commands, as_json)
        }
        Program::Surface(surface) => {
            output::line(&print(&surface.name));
            Ok(())
        }
    }
}

fn open(config: &Config) -> Result<Commonbook> {
    let path = config.store()?;
    let store = SqliteStore::open(&path)?;
    let index = Index::in_folder(path.with_file_name("index"));
    index.use_embedder(follow::embedder(config));
    let book = Commonbook::new(store).searching(Arc::new(index)).under(config.policy()?);
    let book = book.preferring(config.preferences()?)?.collaborating(config.collaboration()?);
    let key = config.digest_key.as_ref().map(|key| key.0.as_str());
    let book = book.written_by(config.digest()?.writer(key, config.home.clone())?);
    Ok(match &config.home {
        Some(home) => book.at_home(home.clone()),
        None => book,
    })
}

/// Goes on with a store that has lost something: notes it in the journal first, so that the mark is
/// not reset without a word.
fn accept_loss(config: &Config, caller: &Caller) -> Result<StoreLoss> {
    let path = config.store()?;
    let loss = SqliteStore::loss(&path)?.ok_or_else(|| {
        Error::conflict("the store has lost nothing").hint("Run `commonbook doctor` alone.")
    })?;
    let store = SqliteStore::open_despite_loss(&path)?;
    Commonbook::new(Arc::<SqliteStore>::clone(&store)).accept_loss(caller, &loss)?;
    store.reset_mark()?;
    Ok(loss)
}

fn speak(stdio: &Stdio, heard: Heard, book: Commonbook, config: Config) -> Result<()> {
    let client = stdio.client.clone().map(|name| (name, String::new()));
    let near = config.nearest_workspace()?;
    let config = Arc::new(config);
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let stopping = CancellationToken::new();
        let (book, watch) = watch::watched(book, stopping.clone());
        let door = McpDoor::new(book.clone(), Arc::clone(&config), stdio.tools, watch)
            .knowing(Heard { client, ..heard }, near);
        // The client's hooks find its server there, and need not open the store.
        let local = Listener::open(&config, cli::carry_out(book.clone()));
        let local = local.map(|local| tokio::spawn(local.serve(stopping.clone())));
        tokio::spawn(follow::in_background(book.clone(), config, stopping.clone()));
        tokio::spawn(serve::sweep_hourly(book.clone()));
        let served = mcp::serve_stdio(door, serve::told_to_stop()).await;
        stopping.cancel();
        if let Some(local) = local {
            let patience = Duration::from_secs(limits::SHUTDOWN_SECONDS);
            drop(tokio::time::timeout(patience, local).await);
        }
        let register = move || {
            follow::register(&book);
            Ok(())
        };
        call::blocking(register).await?;
        served
    });
    // A read of standard input cannot be ended from here; it holds nothing.
    runtime.shutdown_background();
    served
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        Error::new(ErrorKind::Internal, "the runtime could not be started").because(error)
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

/// A command line that is wrong, in the words of every other error.
fn misused(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let details: Vec<&str> = lines
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .collect();
    let message = [&[first.trim_start_matches("error: ")], details.as_slice()].concat().join(" ");
    Error::new(ErrorKind::Invalid, message).hint("`commonbook help COMMAND` tells what it takes.")
}

fn print(surface: &str) -> String {
    let pretty =
        |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap_or_default();
    match surface {
        "openapi" => pretty(&rest::openapi()),
        "tools" => pretty(&serde_json::json!(mcp::tools())),
        "events" => pretty(&commonbook::base::input::schema::<commonbook::model::event::Event>()),
        _ => help(&mut command().term_width(100)),
    }
}

/// The help of the program and of every command.
fn help(command: &mut Command) -> String {
    command.build();
    let mut text = format!("# commonbook\n\n```\n{}```\n", command.render_long_help());
    help_below(command, "", &mut text);
    text
}

/// The help of the commands below one, whose names begin so.
fn help_below(command: &mut Command, before: &str, text: &mut String) {
    for sub in command.get_subcommands_mut() {
        let name = format!("{before}{}", sub.get_name());
        if !sub.is_hide_set() && sub.get_name() != "help" {
            *text += &format!("\n## {name}\n\n```\n{}```\n", sub.render_long_help());
            help_below(sub, &format!("{name} "), text);
        }
    }
}
