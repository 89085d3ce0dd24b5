//! The program as a library: the REST and MCP server, the hooks and the command line.

mod background;
mod calls;
mod clients;
mod demo;
#[cfg(test)]
mod documents;
mod doors;
mod http;
#[cfg(test)]
#[path = "../../commonbook-embed/tests/loopback/mod.rs"]
mod loopback;
mod serve;
mod settings;
mod system;

pub use background::follow;
pub use calls::output;
pub use settings::config;
pub use system::{child, secret_string};

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anstream::adapter::strip_str;
use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
use clap::error::{ContextKind, ContextValue};
use clap::{Args, Command, FromArgMatches, Subcommand};
use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::base::{input, limits};
use commonbook::index::Index;
use commonbook::model::caller::Caller;
use commonbook::model::export::ExportWorkspace;
use commonbook::store::sqlite::SqliteStore;
use commonbook::store::{Store, StoreLoss};
use commonbook::verbs::names;
use commonbook_text::nearest::nearest_name;
use tokio_util::sync::CancellationToken;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::background::digest::digest_writer;
use crate::background::judge::contradiction_judge;
use crate::background::webhook;
use crate::background::webhook::HttpWebhookSender;
use crate::calls::hint::TypedCommand;
use crate::calls::verb::ToolSelection;
use crate::calls::{call, verb};
use crate::clients::local::RpcListener;
use crate::clients::remote::bridge::McpBridge;
use crate::clients::remote::rest::COMMAND_TIMEOUT;
use crate::clients::remote::{RestClient, ServerAddress};
use crate::clients::sandbox;
use crate::clients::sandbox::SandboxState;
use crate::doors::cli::{HookState, ImportTarget, MonitorTarget, StoreOpeners};
use crate::doors::mcp::McpDoor;
use crate::doors::{cli, dashboard, hook, mcp, rest};
use crate::http::caller::CallerClaims;
use crate::http::watch;
use crate::settings::config::Config;
use crate::settings::project;
use crate::settings::store::{
    open_any_store, open_any_store_without_upgrade, open_database, open_store,
};
use crate::system::process;
pub use crate::system::process::use_ordinary_pages;

/// The commands that are not verbs.
#[derive(Debug, Subcommand)]
enum ProgramCommand {
    /// Serves REST and MCP over HTTP on one address
    Serve(serve::ServeCommand),
    /// Serves MCP over standard input and output, for a client that starts this program
    Mcp(McpCommand),
    /// Connects a coding client: writes the MCP server and the hooks into its files, or undoes that
    Setup(cli::SetupCommand),
    /// Answers one hook of a coding client; `commonbook setup` installs these calls
    Hook(hook::HookCommand),
    /// Opens the pages of the server in a browser, signed in; starts a server if none runs
    Dashboard(dashboard::DashboardCommand),
    /// Shows two agents that share a memory, in a temporary home
    Demo(demo::DemoCommand),
    /// Imports an export, conversations or memories of other programs; a second run adds nothing twice
    Import(cli::ImportCommand),
    /// Exports all that you may read, as lines that `commonbook import` reads
    Export(cli::ExportCommand),
    /// Keeps the memories of the workspace as Markdown files that you read, edit and keep in git
    Vault(cli::VaultCommand),
    /// Makes the memories of a workspace again from its vault
    Rebuild(cli::RebuildCommand),
    /// Backs up the whole home into one file, and reads it back
    Backup(cli::BackupCommand),
    /// Restores a backup into this home; what was forgotten since stays forgotten
    RestoreBackup(cli::RestoreBackupCommand),
    /// Moves everything from a home into a PostgreSQL database, or back, and compares every row
    Migrate(cli::MigrateCommand),
    /// Shows who did what, when and from where: the journal, filtered
    Audit(cli::AuditCommand),
    /// Follows the journal: panes on a terminal, else one line for each event, until Ctrl-C
    Monitor(cli::MonitorCommand),
    /// Rebuilds the search index from the journal
    Reindex(cli::ReindexCommand),
    /// Checks the store, the server, the model, ports, file modes and clients
    #[command(alias = "status")]
    Doctor(cli::DoctorCommand),
    /// Shows and changes the settings in config.json
    Config(cli::ConfigCommand),
    /// Says what the home has and which step is next; nothing has to be created
    Init,
    /// Says which version this is, and how a newer one is installed
    Upgrade,
    /// Lists the steps that take Commonbook off this machine; does none of them
    Uninstall,
    /// Prints the completions of a shell
    Completions(cli::CompletionsCommand),
    /// Prints the manual page of the program, or writes the pages of all commands into a folder
    Man(cli::ManCommand),
    /// Embeds what a command left, when that command has ended
    #[command(hide = true)]
    Embed,
    /// Prints the text of a golden file
    #[command(hide = true)]
    Surface(SurfaceCommand),
}

/// Serves MCP over standard input and output.
#[derive(Debug, Args)]
struct McpCommand {
    /// Client name to use instead of the name that the client sends
    #[arg(long)]
    client: Option<String>,
    /// MCP tools to offer: core, team, full, or names of tools, separated by commas [default: core, at a
    /// URL those of the server]
    #[arg(long)]
    tools: Option<ToolSelection>,
}

/// Prints the text of a golden file.
#[derive(Debug, Args)]
struct SurfaceCommand {
    /// Golden file
    #[arg(value_parser = ["openapi", "tools", "events", "cli-help"])]
    name: String,
}

/// The commands besides verbs that show or change memories.
const USES_MEMORIES: [&str; 6] = ["audit", "import", "export", "monitor", "rebuild", "vault"];

/// The commands about the home itself, also if memories are at a URL.
const ABOUT_HOME: [&str; 7] =
    ["backup", "doctor", "reindex", "restore-backup", "serve", "token", "webhook"];

fn clap_command() -> Command {
    let command = ProgramCommand::augment_subcommands(cli::add_verb_commands(program_name()));
    let about = "Shared memory for AI agents: what one agent saves, the others find";
    cli::with_sections(command.about(about).long_about(None))
}

/// The program without its commands.
fn program_name() -> Command {
    Command::new("commonbook")
        .version(env!("COMMONBOOK_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
}

/// What a run with these arguments needs: the command that they name, or all of them, as help and
/// suggestions do. The others would take most of the time of a short command.
fn needed_commands(arguments: &[OsString]) -> Command {
    if arguments.get(1).is_some_and(|flag| flag == "--version" || flag == "-V") {
        return program_name();
    }
    let Some(name) = cli::named_command(arguments) else { return clap_command() };
    let command = cli::add_global_flags(program_name());
    let command = match ProgramCommand::has_subcommand(name) {
        true => ProgramCommand::augment_subcommands(command),
        false => cli::add_verb_command(command, name),
    };
    if command.find_subcommand(name).is_some() { command } else { clap_command() }
}

/// Runs the program with these arguments; the first is the name of the program.
#[must_use]
pub fn run_program(arguments: &[OsString]) -> ExitCode {
    process::harden();
    use_ordinary_pages();
    if arguments.get(1).is_some_and(|command| command == "hook") {
        return run_hook(arguments);
    }
    let as_json = arguments.iter().any(|argument| argument == "--json");
    let words: Vec<&str> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    match words.as_slice() {
        [] | ["help"] if arguments.len() == words.len() + 1 => {
            return print_overview(arguments);
        }
        ["help", "--all"] => {
            output::print_line(clap_command().render_help().ansi().to_string().trim_end());
            return exit_code_of(output::finish(), arguments, as_json);
        }
        _ => {}
    }
    let matches = match needed_commands(arguments).try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => {
            output::print_line(error.render().ansi().to_string().trim_end());
            return exit_code_of(output::finish(), arguments, as_json);
        }
        Err(error) if error.kind() == DisplayHelpOnMissingArgumentOrSubcommand => {
            output::print_note(error.render().ansi().to_string().trim_end());
            return ExitCode::from(output::exit_code(ErrorKind::Invalid));
        }
        Err(error) => return print_error(&usage_error(&error, arguments), arguments, as_json),
    };
    let mut config = Config::read();
    if let Some(home) = matches.get_one::<String>("home") {
        config = config.with_home(OsStr::new(home), "--home");
    }
    // A server does not start with default settings in place of wrong ones.
    if matches.subcommand_name() != Some("serve") {
        config = config.tolerating_settings();
    }
    // Before any thread starts: the sandbox does not hold a thread that already runs.
    let serves = matches.subcommand_name() == Some("serve");
    let sandbox = serves.then(|| enter_sandbox(&mut config)).transpose();
    let is_server = matches!(matches.subcommand_name(), Some("serve" | "mcp"));
    let _log = start_log(&config, matches.get_flag("log-json"), is_server);
    match sandbox {
        Ok(sandbox) => sandbox.iter().for_each(SandboxState::log),
        Err(error) => return print_error(&error, arguments, as_json),
    }
    let result = run_subcommand(&matches, config).and_then(|()| output::finish());
    exit_code_of(result, arguments, as_json)
}

/// Shows the first commands, and the next step in this home.
fn print_overview(arguments: &[OsString]) -> ExitCode {
    let config = Config::read().tolerating_settings();
    let _log = start_log(&config, false, false);
    cli::print_overview(&config, || open_commonbook(&config));
    exit_code_of(output::finish(), arguments, false)
}

/// Restricts a server to its files, after it has found its workspace: the files of its project are not
/// among them.
fn enter_sandbox(config: &mut Config) -> Result<SandboxState> {
    config.workspace = config.nearest_workspace()?.map(|near| near.name.into());
    sandbox::enter(config)
}

/// Prints the error, if there is one; returns the exit code of the program.
fn exit_code_of(result: Result<()>, arguments: &[OsString], as_json: bool) -> ExitCode {
    result.map_or_else(|error| print_error(&error, arguments, as_json), |()| ExitCode::SUCCESS)
}

fn print_error(error: &Error, arguments: &[OsString], as_json: bool) -> ExitCode {
    output::print_error(error, &typed_command(arguments), as_json)
}

/// Answers a client's hook. A client waits for it in every turn, so this builds no other command.
/// It always answers with exit code 0, even to a wrong command line: another code would break the turn.
fn run_hook(arguments: &[OsString]) -> ExitCode {
    let own = hook::HookCommand::augment_args(Command::new("hook"));
    let command = cli::add_global_flags(Command::new("commonbook")).subcommand(own);
    let mut config = Config::read();
    let parsed = command.try_get_matches_from(arguments);
    if let Some(home) = parsed.as_ref().ok().and_then(|matches| matches.get_one::<String>("home")) {
        config = config.with_home(OsStr::new(home), "--home");
    }
    match parsed {
        Err(error) if !error.use_stderr() => {
            output::print_line(error.render().to_string().trim_end());
        }
        Err(error) => {
            log_hooks(&config);
            tracing::warn!(error = %usage_error(&error, arguments), "a hook failed: wrong command line");
            output::print_line("{}");
        }
        Ok(matches) => {
            let own = matches.subcommand_matches("hook");
            match own.map(|own| (own, hook::HookCommand::from_arg_matches(own))) {
                Some((own, Ok(hook))) => {
                    print_hook_response(hook, cli::cli_caller_claims(own), config);
                }
                _ => output::print_line("{}"),
            }
        }
    }
    ExitCode::SUCCESS
}

fn print_hook_response(hook: hook::HookCommand, claims: CallerClaims, config: Config) {
    log_hooks(&config);
    let config = config.tolerating_settings().for_one_run();
    // Without an embedder: a client must not wait for a model to load.
    let words_only = Config { embedder: Some("off".to_owned()), ..config.clone() };
    let open = move || commonbook_over(open_any_store_without_upgrade(&words_only)?, &words_only);
    let mut answered = hook.answer(claims, config.clone(), Box::new(open));
    output::print_line(&answered.line);
    // After the output, which does not depend on it.
    if let Some(report) = answered.report.take() {
        report.send(&config);
    }
    answered.finish();
}

/// Succeeds if a command that is not a verb may run here. Notes the home of a command that is about a home, where
/// a reader may think of another one.
fn check_command(name: &str, config: &Config) -> Result<()> {
    if USES_MEMORIES.contains(&name) {
        project::check_switch(config)?;
        config.warn_of_settings();
    }
    if ABOUT_HOME.contains(&name) {
        cli::note_home(name, config)?;
    }
    Ok(())
}

/// Speaks MCP with the client: from the home, through a server, or without tools if the project is
/// switched off. The client would report a server that does not start.
fn start_mcp(stdio: &McpCommand, claims: CallerClaims, config: Config) -> Result<()> {
    // A client starts its server in the folder that it opened, or names that.
    let folder = config.folder.clone();
    let config = config.in_opened_folder(folder).in_window_folder();
    let client = stdio.client.clone().map(|name| (name, String::new()));
    let claims = CallerClaims { client, ..claims };
    if let Err(off) = project::check_switch(&config) {
        return run_off_mcp(mcp::OffDoor { off, claims, config });
    }
    match ServerAddress::of(&config, stdio.client.as_deref())? {
        Some(address) => {
            let near = config.nearest_workspace()?;
            let bridge = McpBridge::new(address, config, claims, near);
            bridge.with_tools(stdio.tools.clone()).serve()
        }
        None => run_mcp(stdio, claims, open_commonbook(&config)?, config),
    }
}

fn start_server(serve: serve::ServeCommand, own: &clap::ArgMatches, config: Config) -> Result<()> {
    config.check_settings()?;
    let book = open_commonbook(&config).map_err(sandbox::refusal::explain_refusal)?;
    let mut config = config;
    // The flags override the environment, as defaults for callers over HTTP.
    let claims = cli::cli_caller_claims(own);
    config.workspace = claims.workspace.or(config.workspace);
    config.agent = claims.agent.or(config.agent);
    config.user = claims.user.or(config.user);
    build_runtime()?.block_on(serve.run(book, Arc::new(config)))
}

fn run_subcommand(matches: &clap::ArgMatches, config: Config) -> Result<()> {
    let Some((name, own)) = matches.subcommand() else { return Ok(()) };
    // A command of a verb ends soon; the others can run for weeks.
    let config = if ProgramCommand::has_subcommand(name) { config } else { config.for_one_run() };
    let open = || open_commonbook(&config);
    check_command(name, &config)?;
    if let Some(done) = cli::run(name, own, &config, open) {
        return done;
    }
    let as_json = own.get_flag("json");
    match ProgramCommand::from_arg_matches(matches).map_err(|error| usage_error(&error, &[]))? {
        ProgramCommand::Serve(serve) => start_server(serve, own, config),
        ProgramCommand::Mcp(stdio) => start_mcp(&stdio, cli::cli_caller_claims(own), config),
        ProgramCommand::Setup(setup) => {
            setup.run(&config, open, cli::cli_caller_claims(own).agent.as_deref(), as_json)
        }
        ProgramCommand::Hook(hook) => {
            print_hook_response(hook, cli::cli_caller_claims(own), config);
            Ok(())
        }
        ProgramCommand::Dashboard(dashboard) => {
            dashboard.run(&config, &cli::resolve_cli_caller(own, &config)?, as_json)
        }
        ProgramCommand::Demo(demo) => demo.run(),
        ProgramCommand::Import(import) => run_import(&import, own, &config, open),
        ProgramCommand::Export(export) => run_export(&export, own, &config, open),
        ProgramCommand::Vault(vault) => {
            let caller = cli::resolve_cli_caller(own, &config)?;
            vault.run(caller, &config, open, as_json)
        }
        ProgramCommand::Rebuild(rebuild) => {
            let caller = cli::resolve_cli_caller(own, &config)?;
            let place = cli::VaultPlace::open(None, caller, &config, open)?;
            rebuild.run(&place, as_json)
        }
        ProgramCommand::Backup(backup) => {
            cli::require_person(own, &config)?;
            backup.run(&config, as_json)
        }
        ProgramCommand::RestoreBackup(restore) => {
            cli::require_person(own, &config)?;
            restore.run(&config, open, as_json)
        }
        ProgramCommand::Migrate(migrate) => run_migrate(&migrate, own, &config),
        ProgramCommand::Audit(audit) => run_audit(&audit, own, &config, open),
        ProgramCommand::Monitor(monitor) => run_monitor(monitor, own, &config, open),
        ProgramCommand::Reindex(reindex) => run_reindex(&reindex, own, &config),
        ProgramCommand::Doctor(doctor) => {
            let hooks = hook_state(&config);
            let accept = || accept_loss(&config, &cli::resolve_cli_caller(own, &config)?);
            doctor.run(&config, open, accept, hooks, as_json)
        }
        ProgramCommand::Config(settings) => run_config(&settings, own, &config),
        ProgramCommand::Init => cli::print_init(&config, open, as_json),
        ProgramCommand::Upgrade => {
            cli::print_upgrade(as_json);
            Ok(())
        }
        ProgramCommand::Uninstall => cli::print_uninstall(&config, as_json),
        ProgramCommand::Completions(completions) => {
            completions.run(&mut clap_command());
            Ok(())
        }
        ProgramCommand::Man(man) => man.run(clap_command()),
        ProgramCommand::Embed => follow::embed_when_alone(open),
        ProgramCommand::Surface(surface) => {
            output::print_unbroken(&surface_text(&surface.name));
            Ok(())
        }
    }
}

fn run_reindex(
    reindex: &cli::ReindexCommand,
    own: &clap::ArgMatches,
    config: &Config,
) -> Result<()> {
    if reindex.changes_settings() {
        cli::require_person(own, config)?;
    }
    reindex.run(config, open_commonbook, own.get_flag("json"))
}

fn run_config(
    settings: &cli::ConfigCommand,
    own: &clap::ArgMatches,
    config: &Config,
) -> Result<()> {
    if settings.changes_settings() {
        cli::require_person(own, config)?;
    }
    settings.run(config, own.get_flag("json"))
}

fn run_migrate(
    migrate: &cli::MigrateCommand,
    own: &clap::ArgMatches,
    config: &Config,
) -> Result<()> {
    cli::require_person(own, config)?;
    let open = StoreOpeners { file: &open_store, database: &open_database };
    migrate.run(config, &open, own.get_flag("json"))
}

fn run_import(
    import: &cli::ImportCommand,
    own: &clap::ArgMatches,
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
) -> Result<()> {
    config.require_settings()?;
    let as_json = own.get_flag("json");
    let names_workspace = own.contains_id("workspace") || config.workspace.is_some();
    if import.dry_run {
        let caller = cli::resolve_preview_caller(own, config)?;
        let key = HomeKey::read(config.home()?)?;
        let into = names_workspace.then_some(&caller.workspace);
        let sharing = config.policy()?.sharing;
        let user_home = config.user_home.as_deref();
        return import.preview(&caller, into, key.as_ref(), sharing, user_home, as_json);
    }
    let caller = cli::resolve_cli_caller(own, config)?;
    let into = names_workspace.then_some(&caller.workspace);
    let user_home = config.user_home.as_deref();
    match ServerAddress::of(config, None)? {
        Some(address) => {
            let server = RestClient::new(address, COMMAND_TIMEOUT);
            import.run(ImportTarget::Server(&server), &caller, into, user_home, as_json)
        }
        None => import.run(ImportTarget::Home(&open()?), &caller, into, user_home, as_json),
    }
}

fn run_export(
    export: &cli::ExportCommand,
    own: &clap::ArgMatches,
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
) -> Result<()> {
    let (caller, home) = (cli::resolve_cli_caller(own, config)?, config.home()?);
    match ServerAddress::of(config, None)? {
        Some(address) => {
            let server = RestClient::new(address, COMMAND_TIMEOUT);
            let page_of = |request: &ExportWorkspace| {
                let request = serde_json::to_value(request).map_err(page_error)?;
                input::from_value(server.call_named(names::EXPORT_WORKSPACE, &caller, request)?)
            };
            export.run(page_of, &caller, home)
        }
        None => {
            let book = open()?;
            export.run(|request| book.export_workspace(&caller, request), &caller, home)
        }
    }
}

fn page_error(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, "the request of an export is not valid").with_cause(error)
}

fn run_audit(
    audit: &cli::AuditCommand,
    own: &clap::ArgMatches,
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
) -> Result<()> {
    use commonbook::base::clock::Clock;
    // The flag --agent of this command names another agent.
    let claims = CallerClaims { agent: audit.own_name.clone(), ..cli::cli_caller_claims(own) };
    let caller = cli::resolve_claimed_caller(&claims, config)?;
    let (now, as_json) = (SystemClock.now(), own.get_flag("json"));
    match ServerAddress::of(config, None)? {
        Some(_) if audit.all_workspaces => {
            let message = "the events of all workspaces are read from the home itself";
            Err(Error::new(ErrorKind::Invalid, message)
                .hint("Run the command on the server's machine, without COMMONBOOK_URL."))
        }
        None if audit.all_workspaces => {
            cli::require_person(own, config)?;
            audit.run_all(&open()?, &caller, now, as_json)
        }
        Some(address) => {
            let server = RestClient::new(address, COMMAND_TIMEOUT);
            let call =
                |caller: &Caller, verb: &str, request| server.call_named(verb, caller, request);
            audit.run(call, &caller, now, as_json)
        }
        None => {
            let book = open()?;
            let call =
                |caller: &Caller, verb: &str, request| call_verb(&book, caller, verb, request);
            audit.run(call, &caller, now, as_json)
        }
    }
}

/// Calls the verb of this name on the home.
fn call_verb(
    book: &Commonbook,
    caller: &Caller,
    verb: &str,
    request: serde_json::Value,
) -> Result<serde_json::Value> {
    let found = verb::find(verb)
        .ok_or_else(|| Error::new(ErrorKind::Internal, format!("there is no verb {verb}")))?;
    found.call.run(book, caller, request)
}

fn run_monitor(
    monitor: cli::MonitorCommand,
    own: &clap::ArgMatches,
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
) -> Result<()> {
    let (caller, as_json) = (cli::resolve_cli_caller(own, config)?, own.get_flag("json"));
    let target = match ServerAddress::of(config, None)? {
        Some(address) => MonitorTarget::Server(address),
        None => MonitorTarget::Home(Box::new(open()?)),
    };
    let runtime = build_runtime()?;
    let run = async { monitor.run(target, caller, as_json, process::stop_signal()).await };
    runtime.block_on(run)
}

/// The folder of the search index in the home, for memories in a file and for those in a database.
const FILE_INDEX: &str = "index";
const DATABASE_INDEX: &str = "index-of-database";

/// Opens the home, and writes what hooks could not write.
fn open_commonbook(config: &Config) -> Result<Commonbook> {
    let book = commonbook_over(open_any_store(config)?, config)?;
    hook::drain_spool(config, &book);
    Ok(book)
}

/// The home as its settings have it, over its store.
fn commonbook_over(store: Arc<dyn Store>, config: &Config) -> Result<Commonbook> {
    let home = config.home()?;
    let index = match config.database()? {
        Some(_) => Index::of_node(Some(home.join(DATABASE_INDEX)), Arc::new(SystemClock)),
        None => Index::in_folder(home.join(FILE_INDEX)),
    };
    index.use_embedder(follow::embedder(config));
    let book = Commonbook::new(store).with_index(Arc::new(index)).with_policy(config.policy()?);
    let book =
        book.with_preferences(config.preferences()?)?.with_collaboration(config.collaboration()?);
    let book = book.with_checkpoints(config.checkpoints()?);
    let book = book.with_entity_rules(config.entity_rules()?);
    let book = book.with_consolidation(config.consolidation()?);
    let book = book.with_webhook_sender(Some(Arc::new(HttpWebhookSender::default())));
    let key = config.judge_key.as_ref().map(|key| key.0.as_str());
    let book = book.with_contradiction_judge(contradiction_judge(&config.contradictions()?, key)?);
    let key = config.digest_key.as_ref().map(|key| key.0.as_str());
    let digest = config.digest()?;
    let book = book.with_merge_bot(digest.merge_bot());
    let book = book.with_digest_writer(digest_writer(digest, key, config.home.clone())?);
    let book = match &config.home {
        Some(home) => book.with_home(home.clone()),
        None => book,
    };
    match config.database()? {
        Some(_) => book.as_node(),
        None => Ok(book),
    }
}

/// The hooks as `doctor` reports them, before it opens the store.
fn hook_state(config: &Config) -> HookState {
    let (waiting, loss) = config.home.as_deref().map(hook::spool_state).unwrap_or_default();
    let commands = config.home().and_then(|home| Ok(hook::commands(home)?.len()));
    HookState { commands, waiting, loss }
}

/// Accepts that the store has lost data. Records the loss in the journal before it resets the mark.
fn accept_loss(config: &Config, caller: &Caller) -> Result<StoreLoss> {
    let path = config.store_file()?;
    let loss = SqliteStore::loss(&path)?.ok_or_else(|| {
        Error::conflict("the store has lost nothing")
            .hint("Run `commonbook doctor` without --accept-loss.")
    })?;
    let store = SqliteStore::open_despite_loss(&path)?;
    Commonbook::new(Arc::<SqliteStore>::clone(&store)).accept_loss(caller, &loss)?;
    store.reset_mark()?;
    Ok(loss)
}

fn run_mcp(
    stdio: &McpCommand,
    claims: CallerClaims,
    book: Commonbook,
    config: Config,
) -> Result<()> {
    let near = config.nearest_workspace()?;
    let config = Arc::new(config);
    let runtime = build_runtime()?;
    let served = runtime.block_on(async {
        let stopping = CancellationToken::new();
        let (book, watch) = watch::watch_journals(book, stopping.clone());
        let tools = stdio.tools.clone().unwrap_or_default();
        let door =
            McpDoor::new(book.clone(), Arc::clone(&config), tools, watch).for_client(claims, near);
        let sessions = door.sessions();
        // The client's hooks call this server, so that they need not open the store.
        let local = RpcListener::open(&config, cli::rpc_handler(book.clone(), &config));
        let local = local.map(|local| tokio::spawn(local.serve(stopping.clone())));
        let home = config.home()?.to_owned();
        tokio::spawn(webhook::deliver_in_background(book.clone(), home, stopping.clone()));
        tokio::spawn(follow::follow_in_background(
            book.clone(),
            Arc::clone(&config),
            stopping.clone(),
        ));
        tokio::spawn(hook::drain_spool_in_background(config, book.clone(), stopping.clone()));
        tokio::spawn(serve::sweep_hourly(book.clone()));
        let served = mcp::serve_stdio(door, process::stop_signal()).await;
        stopping.cancel();
        if let Some(local) = local {
            let limit = Duration::from_secs(limits::SHUTDOWN_SECONDS);
            drop(tokio::time::timeout(limit, local).await);
        }
        let register = move || {
            let ended = book.end_connection(&sessions);
            follow::leave_store(&book);
            ended
        };
        call::run_blocking(register).await?;
        served
    });
    // A pending read of standard input cannot be cancelled; it holds no data.
    runtime.shutdown_background();
    served
}

/// Serves a client whose project, session or machine has switched Commonbook off.
fn run_off_mcp(door: mcp::OffDoor) -> Result<()> {
    tracing::info!(reason = %door.off, "offering nothing");
    let runtime = build_runtime()?;
    let served = runtime.block_on(async { mcp::serve_stdio(door, process::stop_signal()).await });
    runtime.shutdown_background();
    served
}

fn build_runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        Error::new(ErrorKind::Internal, "cannot start the runtime").with_cause(error)
    })
}

/// Logs to standard error: standard output carries responses. The MCP library logs whole messages at
/// `debug`, warns of every refused request and logs an error when a client leaves; the filter limits it
/// to errors or nothing. The log of a server is written by a thread of its own, so that no request waits
/// for a blocked pipe; a line that cannot be written is lost, and dropping the guard flushes the log.
/// A command needs no such thread: without one it runs where no thread can be started.
pub fn start_log(config: &Config, as_json: bool, is_server: bool) -> Option<WorkerGuard> {
    let filter = config.log.as_deref().unwrap_or("warn,commonbook=info");
    let mut filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("warn"));
    for directive in ["rmcp=error", "rmcp::service=off"] {
        if let Ok(directive) = directive.parse() {
            filter = filter.add_directive(directive);
        }
    }
    let (writer, guard) = if is_server {
        let (writer, guard) = NonBlockingBuilder::default()
            .buffered_lines_limit(limits::LOG_LINES)
            .thread_name("log")
            .finish(std::io::stderr());
        (BoxMakeWriter::new(writer), Some(guard))
    } else {
        (BoxMakeWriter::new(std::io::stderr), None)
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    let log = log.log_internal_errors(false);
    if as_json {
        log.json().init();
    } else {
        log.with_ansi(std::io::stderr().is_terminal()).init();
    }
    guard
}

/// Logs to a file in the home: a client would show standard error to its user.
fn log_hooks(config: &Config) {
    let filter = config.log.as_deref().unwrap_or("warn");
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("warn"));
    let home = config.home.clone();
    let file = move || hook::log(home.as_deref());
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(file).with_ansi(false);
    let log = log.log_internal_errors(false);
    // `run_program` may have started a log already.
    drop(log.try_init());
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a hook panicked")));
}

/// The error of a wrong command line, with a hint that names the typed command.
fn usage_error(error: &clap::Error, arguments: &[OsString]) -> Error {
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_end = |line: &str| line.starts_with("Usage:") || line.starts_with("For more");
    let reason = lines.iter().take_while(|line| !is_end(line) && !line.starts_with("tip: "));
    let reason: Vec<&str> = reason.copied().collect();
    let command = typed_command(arguments).words;
    let help = format!("Run `{command} --help`.");
    let tips = suggestion(error, &command).into_iter().chain(dashes_tip(error, &command));
    let hint = tips.chain([help]).collect::<Vec<_>>().join(" ");
    let message = reason.join(" ");
    Error::new(ErrorKind::Invalid, message.trim_start_matches("error: ")).hint(hint)
}

/// How a command takes a text that begins with dashes.
fn dashes_tip(error: &clap::Error, command: &str) -> Option<String> {
    let ContextValue::String(wrong) = error.get(ContextKind::InvalidArg)? else { return None };
    let program = clap_command();
    let mut words = command.split(' ').skip(1);
    let found = words.try_fold(&program, |command, word| command.find_subcommand(word))?;
    let takes_text =
        found.get_positionals().any(|text| TEXT_ARGUMENTS.contains(&text.get_id().as_str()));
    let is_unknown = error.kind() == clap::error::ErrorKind::UnknownArgument;
    (is_unknown && takes_text && wrong.starts_with('-'))
        .then(|| format!("If it belongs to the text, write `{command} -- '{wrong} …'`."))
}

/// The arguments without a flag that are texts.
const TEXT_ARGUMENTS: [&str; 5] = ["message", "query", "summary", "task", "text"];

/// Commands that people and models type from habit, and those that do it here.
const HABITUAL_COMMANDS: [(&str, &str); 30] = [
    ("add", "save"),
    ("ask", "search"),
    ("cat", "show"),
    ("check", "doctor"),
    ("edit", "update"),
    ("find", "search"),
    ("get", "show"),
    ("log", "audit"),
    ("logs", "audit"),
    ("ls", "list"),
    ("memories", "list"),
    ("memory list", "memory status"),
    ("merge", "entity merge"),
    ("note", "save"),
    ("open", "dashboard"),
    ("query", "search"),
    ("read", "show"),
    ("recall", "search"),
    ("remember", "save"),
    ("remove", "delete"),
    ("rm", "delete"),
    ("run", "serve"),
    ("server", "serve"),
    ("start", "serve"),
    ("store", "save"),
    ("ui", "dashboard"),
    ("unmerge", "entity unmerge"),
    ("version", "--version"),
    ("watch", "monitor"),
    ("web", "dashboard"),
];

/// What was probably meant by a wrong name. A name that is not nearly the same is no suggestion: it could
/// destroy something.
fn suggestion(error: &clap::Error, command: &str) -> Option<String> {
    let text = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.as_str()),
        _ => None,
    };
    if let Some(wrong) = text(ContextKind::InvalidSubcommand) {
        let typed = format!("{command} {wrong}");
        let typed = typed.strip_prefix("commonbook ").unwrap_or(&typed);
        let meant = HABITUAL_COMMANDS.iter().find(|(habit, _)| *habit == typed);
        if let Some((_, meant)) = meant {
            return Some(format!("`commonbook {meant}` does that."));
        }
    }
    let kinds = [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand, "subcommand"),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg, "argument"),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue, "value"),
    ];
    kinds.iter().find_map(|(wrong, suggested, noun)| {
        let names: Vec<&str> = match error.get(*suggested)? {
            ContextValue::String(name) => vec![name],
            ContextValue::Strings(names) => names.iter().map(String::as_str).collect(),
            _ => return None,
        };
        let nearest = nearest_name(text(*wrong)?, &names)?;
        Some(format!("A similar {noun} exists: '{nearest}'."))
    })
}

/// The command that these arguments name.
fn typed_command(arguments: &[OsString]) -> TypedCommand {
    let mut words = "commonbook".to_owned();
    let mut command = clap_command();
    for argument in arguments.iter().skip(1) {
        let Some(subcommand) = command.find_subcommand(argument).cloned() else { continue };
        words = format!("{words} {}", subcommand.get_name());
        command = subcommand;
    }
    TypedCommand { words, arguments: command }
}

fn surface_text(surface: &str) -> String {
    let pretty =
        |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap_or_default();
    match surface {
        "openapi" => pretty(&rest::openapi()),
        "tools" => pretty(&serde_json::json!(mcp::tools())),
        "events" => pretty(&commonbook::base::input::schema::<commonbook::model::event::Event>()),
        _ => strip_str(&help_text(&mut clap_command().term_width(80))).to_string(),
    }
}

/// The help of the program and of every command.
fn help_text(command: &mut Command) -> String {
    command.build();
    let mut text = format!("# commonbook\n\n```\n{}```\n", command.render_long_help());
    append_help(command, "", &mut text);
    text
}

/// Appends the help of each subcommand, with its path behind `prefix`.
fn append_help(command: &mut Command, prefix: &str, text: &mut String) {
    for command in command.get_subcommands_mut() {
        let name = format!("{prefix}{}", command.get_name());
        if !command.is_hide_set() && command.get_name() != "help" {
            *text += &format!("\n## {name}\n\n```\n{}```\n", command.render_long_help());
            append_help(command, &format!("{name} "), text);
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
                "save x --topicz y",
                "unexpected argument '--topicz' found",
                "A similar argument exists: '--topic'. If it belongs to the text, write `commonbook \
                 save -- '--topicz …'`. Run `commonbook save --help`.",
            ),
            (
                "search --no-verify",
                "unexpected argument '--no-verify' found",
                "If it belongs to the text, write `commonbook search -- '--no-verify …'`. Run \
                 `commonbook search --help`.",
            ),
            (
                "sav x",
                "unrecognized subcommand 'sav'",
                "A similar subcommand exists: 'save'. Run `commonbook --help`.",
            ),
            (
                "serach x",
                "unrecognized subcommand 'serach'",
                "A similar subcommand exists: 'search'. Run `commonbook --help`.",
            ),
            (
                "case open --titel x",
                "unexpected argument '--titel' found",
                "A similar argument exists: '--title'. Run `commonbook case open --help`.",
            ),
            (
                "memory list",
                "unrecognized subcommand 'list'",
                "`commonbook memory status` does that. Run `commonbook memory --help`.",
            ),
            (
                "purg x",
                "unrecognized subcommand 'purg'",
                "A similar subcommand exists: 'purge'. Run `commonbook --help`.",
            ),
            ("urgent x", "unrecognized subcommand 'urgent'", "Run `commonbook --help`."),
            (
                "setup codxe",
                "invalid value 'codxe' for '[CLIENT]'",
                "A similar value exists: 'codex'. Run `commonbook setup --help`.",
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

    #[test]
    fn a_run_has_its_own_command_as_the_whole_program_has_it() {
        let mut program = clap_command();
        program.build();
        let said = |command: Command, words: &[OsString]| {
            command.try_get_matches_from(words).unwrap_err().render().to_string()
        };
        let groups = program.get_subcommands().filter(|command| command.get_name() != "help");
        for group in groups {
            let name = group.get_name();
            let nested =
                group.get_subcommands().map(|command| format!("{name} {}", command.get_name()));
            for line in nested.chain([name.to_owned()]) {
                let words = format!("commonbook --json --home x {line} --help");
                let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
                let own = needed_commands(&words);
                assert!(
                    own.find_subcommand("serve").is_none() || own.find_subcommand("save").is_none()
                );
                assert_eq!(said(own, &words), said(clap_command(), &words), "{line}");
            }
        }
        for line in
            ["commonbook --wrong save", "commonbook sav", "commonbook help save", "commonbook"]
        {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(
                said(needed_commands(&words), &words),
                said(clap_command(), &words),
                "{line}"
            );
        }
    }

    #[test]
    fn a_word_from_habit_names_the_command_that_does_it() {
        let mut program = clap_command();
        program.build();
        for (habit, command) in HABITUAL_COMMANDS {
            let find = |line: &str| {
                line.split(' ').try_fold(&program, |command, word| command.find_subcommand(word))
            };
            let is_there = command == "--version" || find(command).is_some();
            assert!(find(habit).is_none() && is_there, "{habit}: {command}");
            let line = format!("commonbook {habit}");
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let error = clap_command().try_get_matches_from(&words).unwrap_err();
            let hint = usage_error(&error, &words).hint.unwrap();
            assert!(hint.starts_with(&format!("`commonbook {command}` does that.")), "{hint}");
        }
    }
}
