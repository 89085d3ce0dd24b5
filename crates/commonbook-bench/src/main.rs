//! `commonbook-bench`: measures Commonbook, and prints figures with their data and machine.

mod clock;
mod collaboration;
mod consolidation;
mod context;
mod contradictions;
mod controls;
mod dashboard;
mod database_server;
mod dataset;
mod entities;
mod events;
mod extraction;
mod forgetting;
mod going_on;
mod hook;
mod likeness;
mod machine;
mod metrics;
mod peers;
mod personalization;
mod questions;
mod redteam;
mod retrieval;
mod rows;
mod save;
mod scale;
mod search;
mod stale;
mod synthetic;
mod timed_step;
mod vault;

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{CommandFactory as _, Parser as _};
use commonbook::Commonbook;
use commonbook::base::clock::Clock;
use commonbook::base::error::Result;
use commonbook::base::id::RandomIds;
use commonbook::index::Index;
use commonbook::store::sqlite::SqliteStore;
use commonbook_embed::SharedEmbedder;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use tempfile::TempDir;

use commonbook_server::child::{self, step_error};
use commonbook_server::config::Config;
use commonbook_server::output::TypedCommand;
use commonbook_server::{follow, output};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The first argument with which a bench starts itself as the program, so that it measures the same
/// build.
const PROGRAM_MODE: &str = "program";

/// Measures Commonbook, and prints figures with their data and machine
#[derive(Debug, clap::Parser)]
#[command(name = "commonbook-bench", version)]
struct BenchArguments {
    /// Print the figures as JSON, where the bench has them
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    bench: BenchCommand,
}

#[derive(Debug, clap::Subcommand)]
enum BenchCommand {
    /// Saving: one writer, many writers, over REST, beside a bare append and fdatasync
    Save(save::SaveBench),
    /// How well questions find the memories that answer them, on a data set of your own
    Retrieval(retrieval::RetrievalBench),
    /// Durations of searches in a large store: in process, over REST, as a fresh process
    Search(search::SearchBench),
    /// Whether the duration of a search reveals other agents' private memories
    Clock(clock::ClockBench),
    /// The time from a commit until every follower has the event
    Events(events::EventBench),
    /// Durations of finding, stating, merging and walking in a large registry of entities
    Entities(entities::EntityBench),
    /// Durations of handoffs, resumes, cycle checks, appends and catching up
    Collaboration(collaboration::CollaborationBench),
    /// Whether contexts contain the memories that a task needs, and nothing else
    Context(context::ContextBench),
    /// How well the rules separate similar names from those of other entities, on pairs of your own
    Likeness(likeness::LikenessBench),
    /// How precisely duplicates merge, and the time, the memory and the reversal of a large home
    Consolidation(consolidation::ConsolidationBench),
    /// Durations of each page of the dashboard, in a large home, at rest and while events arrive
    Dashboard(dashboard::DashboardBench),
    /// Durations of retracting, of asking who knows what, and of forgetting, in a large home
    Forgetting(forgetting::ForgettingBench),
    /// How many contradictions the rules find and how many they invent, and the time that a large
    /// store takes
    Contradictions(contradictions::ContradictionBench),
    /// Whether a message goes on with earlier work, by phrases and by a reader
    GoingOn(going_on::GoingOnBench),
    /// The time that a client waits for its hooks, in a large store, with a server and without
    Hook(hook::HookBench),
    /// Saves and searches over MCP, by Commonbook and by other memory servers that are installed
    Peers(peers::PeersBench),
    /// The entities found in your own texts, with samples
    Extraction(extraction::ExtractionBench),
    /// How many decisions rest unnoticed on what has changed meanwhile, how many alarms are false, and
    /// what a save pays for it
    Stale(stale::StaleBench),
    /// A node on PostgreSQL: saves beside `pgbench` with the same statements, searches and contexts, a
    /// new node on many workspaces
    Scale(scale::ScaleBench),
    /// Whether an agent receives what another knows of the user and the task, and nothing private
    Personalization(personalization::PersonalizationBench),
    /// How many paragraphs of documentation are taken for orders to agents, and how long judging
    /// takes
    Redteam(redteam::RedteamBench),
    /// Durations of writing a vault, of taking in edits, and of rebuilding a home from it
    Vault(vault::VaultBench),
}

impl BenchCommand {
    /// Runs the bench.
    ///
    /// # Errors
    /// The error of the failing step.
    fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        match self {
            Self::Save(save) => save.run(),
            Self::Retrieval(retrieval) => retrieval.run(config, as_json),
            Self::Search(search) => search.run(config, as_json),
            Self::Clock(clock) => clock.run(config, as_json),
            Self::Events(events) => events.run(as_json),
            Self::Entities(entities) => entities.run(as_json),
            Self::Collaboration(collaboration) => collaboration.run(config, as_json),
            Self::Context(context) => context.run(config, as_json),
            Self::Likeness(likeness) => likeness.run(),
            Self::Consolidation(consolidation) => consolidation.run(),
            Self::Dashboard(dashboard) => dashboard.run(),
            Self::Forgetting(forgetting) => forgetting.run(),
            Self::Contradictions(contradictions) => contradictions.run(),
            Self::GoingOn(going_on) => going_on.run(),
            Self::Hook(hook) => hook.run(as_json),
            Self::Peers(peers) => peers.run(),
            Self::Extraction(extraction) => extraction.run(),
            Self::Personalization(personalization) => personalization.run(config, as_json),
            Self::Scale(scale) => scale.run(),
            Self::Stale(stale) => stale.run(as_json),
            Self::Redteam(redteam) => redteam.run(),
            Self::Vault(vault) => vault.run(),
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|argument| argument == PROGRAM_MODE) {
        let own = arguments.into_iter().enumerate().filter(|(place, _)| *place != 1);
        return commonbook_server::run_program(
            &own.map(|(_, argument)| argument).collect::<Vec<_>>(),
        );
    }
    child::set_program_argument(PROGRAM_MODE);
    commonbook_server::use_ordinary_pages();
    let BenchArguments { json, bench } = BenchArguments::parse();
    let config = Config::read();
    let _log = commonbook_server::start_log(&config, false, true);
    let result = bench.run(&config, json).and_then(|()| output::finish());
    result.map_or_else(
        |error| {
            let (words, arguments) = ("commonbook-bench".to_owned(), BenchArguments::command());
            output::print_error(&error, &TypedCommand { words, arguments }, json)
        },
        |()| ExitCode::SUCCESS,
    )
}

/// A temporary folder for a bench.
fn bench_folder(within: Option<&PathBuf>) -> Result<TempDir> {
    let folder = within.map_or_else(tempfile::tempdir, tempfile::tempdir_in);
    folder.map_err(|error| step_error("no folder to measure in", error))
}

/// The choice of the embedder.
#[derive(Debug, clap::Args)]
struct EmbedderChoice {
    /// The embedder: off, bundled, word-hash (no model, but vectors as many and as long), the path
    /// of a model's directory, or `http(s)://HOST:PORT#MODEL`; by default from the environment,
    /// else bundled
    #[arg(long)]
    embedder: Option<String>,
}

impl EmbedderChoice {
    /// The full setting; the flag replaces the environment.
    fn name<'n>(&'n self, config: &'n Config) -> &'n str {
        self.embedder.as_deref().or(config.embedder.as_deref()).unwrap_or("bundled")
    }

    /// Opens the embedder; none for `off`. The only place where a bench chooses it.
    ///
    /// # Errors
    /// `invalid` or `unavailable`: a bench never falls back to words alone.
    fn open_embedder(&self, config: &Config) -> Result<Option<SharedEmbedder>> {
        let config = Config { embedder: Some(self.name(config).to_owned()), ..config.clone() };
        follow::embedder(&config)
    }

    /// Sets the embedder of this book's index.
    ///
    /// # Errors
    /// As [`EmbedderChoice::open_embedder`].
    fn give_embedder(&self, book: &Commonbook, config: &Config) -> Result<()> {
        book.index().use_embedder(Ok(self.open_embedder(config)?));
        Ok(())
    }
}

/// Opens the store and the index of a home like the program does, with this clock and without an
/// embedder.
fn open_bench_book(home: &Path, clock: Arc<dyn Clock>) -> Result<Commonbook> {
    let store = SqliteStore::open(&home.join("commonbook.db"))?;
    let index = Index::in_folder(home.join("index"));
    Ok(Commonbook::with_clock_and_ids(store, clock, Arc::new(RandomIds::default()))
        .with_index(Arc::new(index)))
}

/// The durations of building an index.
#[derive(Debug, Clone, Copy, Serialize)]
struct BuildTimes {
    memories: u64,
    words_seconds: f64,
    vectors_seconds: f64,
}

/// Rebuilds the index from the journal, words and vectors.
fn rebuild(book: &Commonbook, memories: usize) -> Result<BuildTimes> {
    let (index, store) = (book.index(), book.store());
    let words = bench_progress_bar("building the index", memories);
    let begun = Instant::now();
    let built = index.rebuild(store, |progress| {
        words.set_position(progress.memories);
        ControlFlow::Continue(())
    })?;
    let words_seconds = begun.elapsed().as_secs_f64();
    words.finish_and_clear();
    let vectors = bench_progress_bar("embedding", memories);
    let begun = Instant::now();
    index.embed(store, |progress| {
        vectors.set_position(progress.memories.saturating_sub(progress.waiting));
        ControlFlow::Continue(())
    })?;
    let vectors_seconds = begun.elapsed().as_secs_f64();
    vectors.finish_and_clear();
    Ok(BuildTimes { memories: built.memories, words_seconds, vectors_seconds })
}

/// A progress bar on standard error, if it is a terminal.
fn bench_progress_bar(what: &'static str, length: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg:22} {bar:40} {human_pos}/{human_len}, {eta} left");
    ProgressBar::new(length as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(what)
}

/// Milliseconds with three decimals.
fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
