//! `bench search`: durations of searches in a large store, through every interface.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::clock::{Clock, FixedClock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::memory::{SaveMemories, Sharing};
use commonbook::model::search::SearchMemory;
use fastrand::Rng;
use serde::Serialize;
use serde_json::{Value, json};

use super::machine::{MachineProfile, process_bytes};
use super::metrics::percentile;
use super::questions::{QuestionKind, QuestionSource, ReservoirSample, path};
use super::{BuildTimes, EmbedderChoice};
use crate::synthetic::{MAIN_WORKSPACE, SyntheticWorld};
use commonbook_server::child::{ChildServer, program_command, step_error};
use commonbook_server::config::Config;
use commonbook_server::follow;
use commonbook_server::output::{self, print_line};

/// The agent that searches; it has no memories.
const READER: &str = "reader";

/// Questions reported separately, before those of each kind.
const EARLY_QUESTIONS: usize = 200;

/// The seed of the worlds and the questions.
pub(super) const SEED: u64 = 7;

/// The variable that sets the embedder of started processes.
const EMBEDDER_VARIABLE: &str = "COMMONBOOK_EMBEDDER";

/// Arguments of the search bench.
#[derive(Debug, clap::Args)]
pub(super) struct SearchBench {
    /// Memories in the store: 50000, 50k, 1m
    #[arg(long, default_value = "50k", value_parser = size)]
    size: usize,
    /// Questions of each kind
    #[arg(long, default_value_t = 200)]
    questions: usize,
    /// Processes that are started to ask one question each
    #[arg(long, default_value_t = 20)]
    processes: usize,
    /// The folder for the home; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
    #[command(flatten)]
    by: EmbedderChoice,
}

/// A number of memories: 50000, `50_000`, 50k or 1m.
pub(super) fn size(text: &str) -> Result<usize, String> {
    let text = text.to_lowercase().replace('_', "");
    let (digits, unit) = match (text.strip_suffix('k'), text.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1_000),
        (_, Some(digits)) => (digits, 1_000_000),
        _ => (text.as_str(), 1),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    number.filter(|number| *number > 0).ok_or_else(|| "write it like 50000, 50k or 1m".to_owned())
}

/// The durations of one kind of search.
#[derive(Serialize)]
pub(super) struct SearchRow {
    pub(super) what: String,
    pub(super) n: usize,
    pub(super) p50_ms: f64,
    pub(super) p95_ms: f64,
    pub(super) max_ms: f64,
    /// Number of questions without a hit.
    pub(super) empty: usize,
}

impl SearchRow {
    pub(super) fn of(what: &str, times: &[Duration], empty: usize) -> Self {
        let times: Vec<f64> = times.iter().copied().map(super::millis).collect();
        let at = |percent| percentile(&times, percent);
        Self {
            what: what.to_owned(),
            n: times.len(),
            p50_ms: at(50.0),
            p95_ms: at(95.0),
            max_ms: at(100.0),
            empty,
        }
    }
}

/// The results.
#[derive(Serialize)]
struct SearchReport {
    bench: &'static str,
    memories: usize,
    workspaces: usize,
    save_seconds: f64,
    embedder: String,
    index: BuildTimes,
    store_bytes: u64,
    index_bytes: u64,
    server_resident_bytes: Option<u64>,
    server_anonymous_bytes: Option<u64>,
    rows: Vec<SearchRow>,
    machine: MachineProfile,
}

impl SearchBench {
    /// Fills a home with synthetic memories, builds its index, and searches through every
    /// interface.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        let home = folder.path();
        let begun = Instant::now();
        let (known, workspaces) = fill(home, self.size, self.questions)?;
        let save_seconds = begun.elapsed().as_secs_f64();
        let book = super::open_bench_book(home, Arc::new(SystemClock))?;
        self.by.give_embedder(&book, config)?;
        let index = super::rebuild(&book, self.size)?;
        follow::find_mentions_with_progress(&book)?;
        drop(book);
        let book = super::open_bench_book(home, Arc::new(SystemClock))?;
        self.by.give_embedder(&book, config)?;
        let embedder = self.by.name(config);
        let mut run = SearchRun { known: &known, embedder, rows: Vec::new() };
        run.ask_in_process(&book)?;
        drop(book);
        run.ask_in_processes(home, self.processes, "commonbook search, no server")?;
        let mut serve = program_command(home, &["serve", "--port", "0"])?;
        serve.env(EMBEDDER_VARIABLE, embedder);
        let server = ChildServer::run(serve)?;
        run.ask_over_rest(&server)?;
        run.ask_in_processes(home, self.processes, "commonbook search, a server runs")?;
        let report = SearchReport {
            bench: "search",
            memories: self.size,
            workspaces,
            save_seconds,
            embedder: embedder.to_owned(),
            index,
            store_bytes: folder_bytes(home, |name| name.starts_with("commonbook.db"))?,
            index_bytes: folder_bytes(&home.join("index"), |_| true)?,
            server_resident_bytes: process_bytes(server.process_id(), "VmRSS:"),
            server_anonymous_bytes: process_bytes(server.process_id(), "RssAnon:"),
            rows: run.rows,
            machine: MachineProfile::detect_machine(),
        };
        if as_json {
            output::print_json(&json!(report));
        } else {
            report.print();
        }
        Ok(())
    }
}

/// Saves synthetic memories, session by session. Returns sources of questions, and the number of
/// workspaces.
pub(super) fn fill(
    home: &Path,
    size: usize,
    questions: usize,
) -> Result<(Vec<QuestionSource>, usize)> {
    let until = SystemClock.now();
    let clock = Arc::new(FixedClock::at(until));
    let book = super::open_bench_book(home, Arc::<FixedClock>::clone(&clock))?;
    let mut sample = ReservoirSample::new(SEED, questions);
    let mut world = SyntheticWorld::new(SEED, size, until)?;
    let mut workspaces = std::collections::BTreeSet::new();
    let bar = super::bench_progress_bar("filling the store", size);
    while let Some(session) = world.next() {
        workspaces.insert(session.workspace);
        let name: AgentName = session.owner.parse()?;
        let caller = Caller::new(Some(name), session.workspace.parse()?, EntryPoint::Cli);
        let caller = caller.in_session(Some(&session.id))?;
        for (at, group) in session.groups {
            clock.set(at);
            for written in &group {
                let seen = written.memory.sharing == Some(Sharing::Shared);
                if seen && session.workspace == MAIN_WORKSPACE && written.words.len() >= 9 {
                    sample.offer_source(|| QuestionSource {
                        words: written
                            .words
                            .iter()
                            .map(|word| world.word(*word).to_owned())
                            .collect(),
                        owner: session.owner.clone(),
                        memory_type: written.memory.memory_type.clone(),
                    });
                }
            }
            let count = group.len() as u64;
            let memories = group.into_iter().map(|written| written.memory).collect();
            book.save_memories(&caller, &SaveMemories { memories, idempotency_key: None })?;
            bar.inc(count);
        }
    }
    bar.finish_and_clear();
    Ok((sample.drawn, workspaces.len()))
}

/// A run of searches and its results.
struct SearchRun<'k> {
    known: &'k [QuestionSource],
    embedder: &'k str,
    rows: Vec<SearchRow>,
}

impl SearchRun<'_> {
    /// Asks every question of every kind through `ask`, which returns the number of hits.
    fn ask_each(&mut self, way: &str, ask: impl Fn(&SearchMemory) -> Result<usize>) -> Result<()> {
        let bar = super::bench_progress_bar("asking", QuestionKind::ALL.len() * self.known.len());
        for kind in QuestionKind::ALL {
            let mut rng = Rng::with_seed(SEED);
            let (mut times, mut empty) = (Vec::with_capacity(self.known.len()), 0);
            for known in self.known {
                let question = kind.question_about(known, &mut rng);
                let begun = Instant::now();
                let hits = ask(&question)?;
                times.push(begun.elapsed());
                empty += usize::from(hits == 0);
                bar.inc(1);
            }
            self.rows.push(SearchRow::of(&format!("{way}, {}", kind.name), &times, empty));
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// The first question of a process or server, which opens the index.
    fn ask_first(&mut self, way: &str, ask: impl Fn(&SearchMemory) -> Result<usize>) -> Result<()> {
        let Some(known) = self.known.first() else { return Ok(()) };
        let question = QuestionKind::ALL[2].question_about(known, &mut Rng::with_seed(SEED));
        let begun = Instant::now();
        let hits = ask(&question)?;
        let what = format!("{way}, the first question");
        self.rows.push(SearchRow::of(&what, &[begun.elapsed()], usize::from(hits == 0)));
        self.ask_early(way, ask)
    }

    /// Questions of all kinds right after the first, reported separately: the files are not cached
    /// yet, and a server still checks what was saved before its start.
    fn ask_early(&mut self, way: &str, ask: impl Fn(&SearchMemory) -> Result<usize>) -> Result<()> {
        let mut rng = Rng::with_seed(SEED + 1);
        let (mut times, mut empty) = (Vec::with_capacity(EARLY_QUESTIONS), 0);
        for (known, kind) in
            self.known.iter().cycle().zip(QuestionKind::ALL.iter().cycle()).take(EARLY_QUESTIONS)
        {
            let question = kind.question_about(known, &mut rng);
            let begun = Instant::now();
            let hits = ask(&question)?;
            times.push(begun.elapsed());
            empty += usize::from(hits == 0);
        }
        self.rows.push(SearchRow::of(&format!("{way}, the next {EARLY_QUESTIONS}"), &times, empty));
        Ok(())
    }

    fn ask_in_process(&mut self, book: &Commonbook) -> Result<()> {
        let ask = |question: &SearchMemory| search(book, question);
        self.ask_first("in process", ask)?;
        self.ask_each("in process", ask)
    }

    fn ask_over_rest(&mut self, server: &ChildServer) -> Result<()> {
        let ask = |question: &SearchMemory| search_over_rest(server, question);
        self.ask_first("REST", ask)?;
        self.ask_each("REST", ask)
    }

    /// A fresh process per question, from start to exit.
    fn ask_in_processes(&mut self, home: &Path, count: usize, way: &str) -> Result<()> {
        let mut rng = Rng::with_seed(SEED);
        let (mut times, mut empty) = (Vec::with_capacity(count), 0);
        for known in self.known.iter().cycle().take(count) {
            let question = QuestionKind::ALL[2].question_about(known, &mut rng);
            let arguments = [
                "search",
                &question.query,
                "--workspace",
                MAIN_WORKSPACE,
                "--agent",
                READER,
                "--json",
            ];
            let mut command = program_command(home, &arguments)?;
            command.env(EMBEDDER_VARIABLE, self.embedder);
            let begun = Instant::now();
            let output =
                command.output().map_err(|e| step_error("the process did not start", e))?;
            times.push(begun.elapsed());
            if !output.status.success() {
                let message = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(Error::new(ErrorKind::Internal, message));
            }
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            empty += usize::from(answer["hits"].as_array().is_none_or(Vec::is_empty));
        }
        self.rows.push(SearchRow::of(&format!("{way}, 3 words"), &times, empty));
        Ok(())
    }
}

fn search(book: &Commonbook, question: &SearchMemory) -> Result<usize> {
    let reader: AgentName = READER.parse()?;
    let caller = Caller::new(Some(reader), MAIN_WORKSPACE.parse()?, EntryPoint::Cli);
    Ok(book.search_memory(&caller, question)?.hits.len())
}

fn search_over_rest(server: &ChildServer, question: &SearchMemory) -> Result<usize> {
    match server.call("GET", &path(question), READER, MAIN_WORKSPACE, &Value::Null)? {
        (200, answer) => Ok(answer["hits"].as_array().map_or(0, Vec::len)),
        (status, answer) => Err(Error::new(ErrorKind::Internal, format!("{status}: {answer}"))),
    }
}

/// The size of the files below a folder whose names `wanted` accepts.
fn folder_bytes(folder: &Path, wanted: impl Fn(&str) -> bool + Copy) -> Result<u64> {
    let unreadable = |error| step_error("the home cannot be read", error);
    let mut sum = 0;
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let about = entry.metadata().map_err(unreadable)?;
        if !wanted(&entry.file_name().to_string_lossy()) {
            continue;
        }
        sum += if about.is_dir() { folder_bytes(&entry.path(), wanted)? } else { about.len() };
    }
    Ok(sum)
}

impl SearchReport {
    fn print(&self) {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        print_line(&format!(
            "data      {} made-up memories of about 40 words, {} workspaces, most in one; seed {SEED}",
            self.memories, self.workspaces
        ));
        self.machine.print();
        print_line(&format!(
            "saved     in {:.1} s, {:.0} a second, in batches",
            self.save_seconds,
            self.memories as f64 / self.save_seconds
        ));
        let BuildTimes { memories, words_seconds, vectors_seconds } = self.index;
        let rate = |seconds: f64| memories as f64 / seconds;
        print_line(&format!(
            "words     indexed in {words_seconds:.1} s, {:.0} a second",
            rate(words_seconds)
        ));
        if self.embedder != "off" {
            print_line(&format!(
                "vectors   made in {vectors_seconds:.1} s, {:.0} a second; embedder {}",
                rate(vectors_seconds),
                self.embedder
            ));
        }
        print_line(&format!(
            "disk      store {:.0} MB, index {:.0} MB",
            megabytes(self.store_bytes),
            megabytes(self.index_bytes)
        ));
        if let (Some(resident), Some(anonymous)) =
            (self.server_resident_bytes, self.server_anonymous_bytes)
        {
            print_line(&format!(
                "memory    the server has {:.0} MB after the questions, {:.0} MB of it not of files",
                megabytes(resident),
                megabytes(anonymous)
            ));
        }
        print_line(&format!(
            "\n{:<44} {:>5} {:>10} {:>10} {:>10}  {:>7}",
            "ms", "n", "p50", "p95", "max", "no hits"
        ));
        for SearchRow { what, n, p50_ms, p95_ms, max_ms, empty } in &self.rows {
            print_line(&format!(
                "{what:<44} {n:>5} {p50_ms:>10.2} {p95_ms:>10.2} {max_ms:>10.2}  {empty:>7}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, expected) in
            [("50000", 50_000), ("50_000", 50_000), ("50k", 50_000), ("1M", 1_000_000)]
        {
            assert_eq!(size(text), Ok(expected), "{text}");
        }
        for text in ["", "k", "0", "-1", "1.5m", "many", "99999999999999999999k"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
