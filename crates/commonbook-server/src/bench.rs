//! `bench`: measures, and prints what it measured, on which data and which machine.

mod clock;
mod collaboration;
mod dataset;
mod entities;
mod events;
mod extraction;
mod hook;
mod likeness;
mod machine;
mod made_up;
mod metrics;
mod personalization;
mod questions;
mod redteam;
mod retrieval;
mod rows;
mod save;
mod search;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::clock::Clock;
use commonbook::error::Result;
use commonbook::id::RandomIds;
use commonbook::index::Index;
use commonbook::store::sqlite::SqliteStore;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use tempfile::TempDir;

use crate::child::broken;
use crate::config::Config;
use crate::follow;

/// Measures.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Saving: one writer, many writers, over REST, beside a bare append and fdatasync
    Save(save::Save),
    /// How well questions find the memories that answer them, on a data set of your own
    Retrieval(retrieval::Retrieval),
    /// How long searching takes in a large store: in process, over REST, as a fresh process
    Search(search::Search),
    /// Whether the duration of a search tells what others keep to themselves
    Clock(clock::ClockBench),
    /// How long it takes from a commit until everybody who follows has been told
    Events(events::Events),
    /// How long finding, stating, merging and walking take in a large registry of entities
    Entities(entities::Entities),
    /// How long handing over, resuming, finding cycles, appending and catching up take
    Collaboration(collaboration::Collaboration),
    /// How well nearly equal names are told from those of other things, on pairs of your own
    Likeness(likeness::Likeness),
    /// How long a client waits for its hooks, in a large store, with a server and without
    Hook(hook::Hook),
    /// What is found in texts of your own, with samples to read
    Extraction(extraction::Extraction),
    /// Whether one agent is given what another knows of the user and the task, and nothing private
    Personalization(personalization::Personalization),
    /// How many paragraphs of documentation are taken for orders to agents, and how long judging takes
    Redteam(redteam::Redteam),
}

impl Bench {
    /// Runs one bench.
    ///
    /// # Errors
    /// What went wrong.
    pub(crate) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        match &self.what {
            What::Save(save) => save.run(),
            What::Retrieval(retrieval) => retrieval.run(config, as_json),
            What::Search(search) => search.run(config, as_json),
            What::Clock(clock) => clock.run(config, as_json),
            What::Events(events) => events.run(as_json),
            What::Entities(entities) => entities.run(as_json),
            What::Collaboration(collaboration) => collaboration.run(config, as_json),
            What::Likeness(likeness) => likeness.run(),
            What::Hook(hook) => hook.run(as_json),
            What::Extraction(extraction) => extraction.run(),
            What::Personalization(personalization) => personalization.run(config, as_json),
            What::Redteam(redteam) => redteam.run(),
        }
    }
}

/// A folder that is measured in, and removed at the end.
fn folder(within: Option<&PathBuf>) -> Result<TempDir> {
    let folder = within.map_or_else(tempfile::tempdir, tempfile::tempdir_in);
    folder.map_err(|error| broken("no folder to measure in", error))
}

/// What the index finds by, besides words.
#[derive(Debug, clap::Args)]
struct By {
    /// What turns texts into vectors: off, bundled, word-hash (no model, but vectors as many and as
    /// long), the path of a model's directory, or `http(s)://HOST:PORT#MODEL`; by default what the
    /// environment says, else bundled
    #[arg(long)]
    embedder: Option<String>,
}

impl By {
    /// The setting in full: the flag stands for the environment.
    fn name<'n>(&'n self, config: &'n Config) -> &'n str {
        self.embedder.as_deref().or(config.embedder.as_deref()).unwrap_or("bundled")
    }

    /// Gives the index of this book its embedder: the one place where the benches choose it.
    ///
    /// # Errors
    /// `invalid` and `unavailable`: a bench does not go on by words alone in silence.
    fn give(&self, book: &Commonbook, config: &Config) -> Result<()> {
        let config = Config { embedder: Some(self.name(config).to_owned()), ..config.clone() };
        book.index().use_embedder(Ok(follow::embedder(&config)?));
        Ok(())
    }
}

/// A Commonbook on the store and the index of this home, as the program opens them; it takes the
/// time from this clock, and finds by words alone.
fn open(home: &Path, clock: Arc<dyn Clock>) -> Result<Commonbook> {
    let store = SqliteStore::open(&home.join("commonbook.db"))?;
    let index = Index::in_folder(home.join("index"));
    Ok(Commonbook::with(store, clock, Arc::new(RandomIds::default())).searching(Arc::new(index)))
}

/// What building an index took.
#[derive(Debug, Clone, Copy, Serialize)]
struct Built {
    memories: u64,
    words_seconds: f64,
    vectors_seconds: f64,
}

/// Builds the index anew from the journal, words and vectors.
fn rebuild(book: &Commonbook, memories: usize) -> Result<Built> {
    let (index, store) = (book.index(), book.store());
    let words = bar("building the index", memories);
    let begun = Instant::now();
    let built = index.rebuild(store, |progress| {
        words.set_position(progress.memories);
        ControlFlow::Continue(())
    })?;
    let words_seconds = begun.elapsed().as_secs_f64();
    words.finish_and_clear();
    let vectors = bar("embedding", memories);
    let begun = Instant::now();
    index.embed(store, |progress| {
        vectors.set_position(progress.memories.saturating_sub(progress.waiting));
        ControlFlow::Continue(())
    })?;
    let vectors_seconds = begun.elapsed().as_secs_f64();
    vectors.finish_and_clear();
    Ok(Built { memories: built.memories, words_seconds, vectors_seconds })
}

/// A bar on standard error, where somebody watches.
fn bar(what: &'static str, length: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg:22} {bar:40} {human_pos}/{human_len}, {eta} left");
    ProgressBar::new(length as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(what)
}

/// Milliseconds, to the microsecond.
fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
