//! `bench`: measures, and prints what it measured, on which data and which machine.

mod dataset;
mod machine;
mod made_up;
mod metrics;
mod questions;
mod retrieval;
mod save;
mod search;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::clock::Clock;
use commonbook::error::Result;
use commonbook::id::RandomIds;
use commonbook::index::{Index, Progress};
use commonbook::store::sqlite::SqliteStore;
use indicatif::{ProgressBar, ProgressStyle};
use tempfile::TempDir;

use crate::child::broken;

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
}

impl Bench {
    /// Runs one bench.
    ///
    /// # Errors
    /// What went wrong.
    pub(crate) fn run(&self, as_json: bool) -> Result<()> {
        match &self.what {
            What::Save(save) => save.run(),
            What::Retrieval(retrieval) => retrieval.run(as_json),
            What::Search(search) => search.run(as_json),
        }
    }
}

/// A folder that is measured in, and removed at the end.
fn folder(within: Option<&PathBuf>) -> Result<TempDir> {
    let folder = within.map_or_else(tempfile::tempdir, tempfile::tempdir_in);
    folder.map_err(|error| broken("no folder to measure in", error))
}

/// A Commonbook on the store and the index of this home, as the program opens them; it takes the
/// time from this clock.
///
/// This is the one place where the benches say what the index finds by: its words so far.
fn open(home: &Path, clock: Arc<dyn Clock>) -> Result<Commonbook> {
    let store = SqliteStore::open(&home.join("commonbook.db"))?;
    let index = Index::in_folder(home.join("index"));
    Ok(Commonbook::with(store, clock, Arc::new(RandomIds::default())).searching(Arc::new(index)))
}

/// Builds the index anew from the journal; tells how long it took and how much it holds.
fn rebuild(book: &Commonbook, memories: usize) -> Result<(Duration, Progress)> {
    let bar = bar("building the index", memories);
    let begun = Instant::now();
    let built =
        book.index().rebuild(book.store(), |progress| bar.set_position(progress.indexed))?;
    let took = begun.elapsed();
    bar.finish_and_clear();
    Ok((took, built))
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
