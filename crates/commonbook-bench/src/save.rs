//! `bench save`: the rate of saves, compared to the bare disk.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::memory::{SaveMemories, SaveMemory};
use commonbook::model::workspace::Workspace;
use fastrand::Rng;
use serde_json::json;

use commonbook_server::child::{ChildServer, step_error};
use commonbook_server::output::print_line;

/// One page, appended in the disk test.
const APPENDED_PAGE: [u8; 4096] = [b'x'; 4096];

/// Arguments of the save bench.
#[derive(Debug, clap::Args)]
pub(super) struct SaveBench {
    /// Memories in the store before it is measured
    #[arg(long, default_value_t = 50_000)]
    size: usize,
    /// Saves by one writer
    #[arg(long, default_value_t = 2_000)]
    saves: usize,
    /// Writers at once
    #[arg(long, default_value_t = 64)]
    writers: usize,
    /// Saves by each of them
    #[arg(long, default_value_t = 100)]
    each: usize,
    /// The folder whose disk is measured; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl SaveBench {
    /// Measures saving.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self) -> Result<()> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        let home = folder.path();
        print_line(&format!(
            "commonbook {} on {} cores; {} made-up memories of about 40 words in the store; durable saves",
            env!("CARGO_PKG_VERSION"),
            std::thread::available_parallelism().map_or(1, usize::from),
            self.size
        ));
        let book = super::open_bench_book(home, Arc::new(SystemClock))?;
        fill(&book, self.size)?;
        SaveFigure::print_head();
        measure_disk(home, self.saves)?.print("bare 4 KiB append + fdatasync");
        let single = measure_threads(1, self.saves, |_, rng| save(&book, rng))?;
        single.print("save, 1 writer");
        let many = measure_threads(self.writers, self.each, |_, rng| save(&book, rng))?;
        many.print(&format!("save, {} writers", self.writers));
        let server = ChildServer::start(home)?;
        measure_threads(1, self.saves.min(1_000), |_, rng| post(&server, rng))?
            .print("POST /v1/memories, 1 client");
        let rest = measure_threads(self.writers, self.each, |_, rng| post(&server, rng))?;
        rest.print(&format!("POST /v1/memories, {} clients", self.writers));
        measure_disk(home, self.saves)?.print("bare 4 KiB append + fdatasync, again");
        print_line(&format!(
            "{} writers to one: {:.1} times the rate",
            self.writers,
            many.rate() / single.rate()
        ));
        Ok(())
    }
}

/// Durations of single operations, and of all together.
pub(super) struct SaveFigure {
    each: Vec<Duration>,
    whole: Duration,
}

impl SaveFigure {
    fn print_head() {
        print_line(&format!(
            "{:<38} {:>8} {:>10} {:>10} {:>10}",
            "", "count", "per second", "median ms", "p95 ms"
        ));
    }

    /// Operations a second.
    pub(super) fn rate(&self) -> f64 {
        self.each.len() as f64 / self.whole.as_secs_f64()
    }

    /// The median and the 95th percentile, in ms.
    pub(super) fn percentiles_ms(&self) -> [f64; 2] {
        let mut sorted = self.each.clone();
        sorted.sort();
        [50, 95].map(|share| {
            let place = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
            sorted.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        })
    }

    fn print(&self, what: &str) {
        let (count, rate, [median, p95]) = (self.each.len(), self.rate(), self.percentiles_ms());
        print_line(&format!("{what:<38} {count:>8} {rate:>10.0} {median:>10.3} {p95:>10.3}"));
    }
}

/// The bare disk: append a page, sync it.
fn measure_disk(folder: &Path, count: usize) -> Result<SaveFigure> {
    let wrong = |error| step_error("the disk cannot be measured", error);
    let mut file = File::create(folder.join("bare")).map_err(wrong)?;
    let mut each = Vec::with_capacity(count);
    let begun = Instant::now();
    for _ in 0..count {
        let start = Instant::now();
        file.write_all(&APPENDED_PAGE).and_then(|()| file.sync_data()).map_err(wrong)?;
        each.push(start.elapsed());
    }
    Ok(SaveFigure { each, whole: begun.elapsed() })
}

/// Runs an operation in many threads, a number of times in each; it receives the number of its thread.
pub(super) fn measure_threads(
    threads: usize,
    often: usize,
    act: impl Fn(usize, &mut Rng) -> Result<()> + Sync,
) -> Result<SaveFigure> {
    let times = Mutex::new((Vec::with_capacity(threads * often), None));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (times, act) = (&times, &act);
            scope.spawn(move || {
                let mut rng = Rng::with_seed(thread as u64);
                let mut own = Vec::with_capacity(often);
                let mut wrong = None;
                for _ in 0..often {
                    let start = Instant::now();
                    wrong = act(thread, &mut rng).err().or(wrong);
                    own.push(start.elapsed());
                }
                let mut all = times.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                all.0.extend(own);
                all.1 = wrong.or(all.1.take());
            });
        }
    });
    let whole = begun.elapsed();
    let (each, wrong) = times.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    wrong.map_or(Ok(SaveFigure { each, whole }), Err)
}

fn caller() -> Result<Caller> {
    let name: AgentName = "bench".parse()?;
    Ok(Caller::new(Some(name), Workspace::fallback(), EntryPoint::Cli))
}

fn save(book: &Commonbook, rng: &mut Rng) -> Result<()> {
    book.save_memory(&caller()?, &made_up_memory(rng)).map(drop)
}

fn post(server: &ChildServer, rng: &mut Rng) -> Result<()> {
    let body = json!(made_up_memory(rng));
    match server.call("POST", "/v1/memories", "bench", "default", &body)? {
        (201, _) => Ok(()),
        (status, answer) => Err(Error::new(ErrorKind::Internal, format!("{status}: {answer}"))),
    }
}

/// Fills the store with synthetic memories.
fn fill(book: &Commonbook, size: usize) -> Result<()> {
    let mut rng = Rng::with_seed(7);
    let progress = super::bench_progress_bar("filling the store", size);
    for start in (0..size).step_by(limits::BATCH) {
        let count = limits::BATCH.min(size - start);
        let memories = (0..count).map(|_| made_up_memory(&mut rng)).collect();
        book.save_memories(&caller()?, &SaveMemories { memories, idempotency_key: None })?;
        progress.inc(count as u64);
    }
    progress.finish_and_clear();
    Ok(())
}

const SAMPLE_WORDS: [&str; 64] = [
    "service",
    "payment",
    "gateway",
    "retry",
    "index",
    "cache",
    "worker",
    "queue",
    "schema",
    "migration",
    "token",
    "session",
    "user",
    "report",
    "invoice",
    "customer",
    "deploy",
    "branch",
    "release",
    "test",
    "timeout",
    "memory",
    "disk",
    "latency",
    "region",
    "replica",
    "primary",
    "backup",
    "alert",
    "dashboard",
    "metric",
    "trace",
    "request",
    "response",
    "header",
    "cookie",
    "password",
    "reset",
    "email",
    "template",
    "button",
    "layout",
    "colour",
    "font",
    "image",
    "upload",
    "parser",
    "lexer",
    "compiler",
    "linker",
    "module",
    "crate",
    "package",
    "version",
    "license",
    "contract",
    "meeting",
    "deadline",
    "budget",
    "Berlin",
    "Lisbon",
    "Anna",
    "Tomás",
    "Priya",
];

/// A synthetic memory of about 40 words: mostly common words, sometimes a rare one.
pub(super) fn made_up_memory(rng: &mut Rng) -> SaveMemory {
    let mut words: Vec<String> = Vec::new();
    for place in 0..rng.usize(25..55) {
        let common =
            SAMPLE_WORDS[rng.usize(0..SAMPLE_WORDS.len()).min(rng.usize(0..SAMPLE_WORDS.len()))];
        words.push(match place % 9 {
            3 => format!("item{}", rng.u32(0..200_000)),
            5 => "the".to_owned(),
            7 => "was".to_owned(),
            _ => common.to_owned(),
        });
    }
    SaveMemory {
        text: words.join(" "),
        topics: vec![SAMPLE_WORDS[rng.usize(0..SAMPLE_WORDS.len())].to_lowercase()],
        ..SaveMemory::default()
    }
}
