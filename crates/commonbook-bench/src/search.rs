//! `bench search`: how long searching takes in a large store, by every way there is to ask.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::clock::{Clock, FixedClock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, Door};
use commonbook::model::memory::{SaveMemories, Sharing};
use commonbook::model::search::SearchMemory;
use fastrand::Rng;
use serde::Serialize;
use serde_json::{Value, json};

use super::machine::{Machine, resident};
use super::metrics::percentile;
use super::questions::{Kind, Known, Sample, path};
use super::{Built, By};
use crate::synthetic::{MAIN, World};
use commonbook_server::child::{Server, broken, command};
use commonbook_server::config::Config;
use commonbook_server::follow;
use commonbook_server::output::{self, line};

/// Who asks: an agent that keeps nothing itself.
const READER: &str = "reader";

/// Questions that are told by themselves, before those of each kind.
const EARLY: usize = 200;

/// What the worlds and the questions are drawn by.
pub(super) const SEED: u64 = 7;

/// By which the processes that are started know their embedder.
const EMBEDDER: &str = "COMMONBOOK_EMBEDDER";

/// How searching is measured.
#[derive(Debug, clap::Args)]
pub(super) struct Search {
    /// Memories in the store: 50000, 50k, 1m
    #[arg(long, default_value = "50k", value_parser = size)]
    size: usize,
    /// Questions of each kind
    #[arg(long, default_value_t = 200)]
    questions: usize,
    /// Processes that are started to ask one question each
    #[arg(long, default_value_t = 20)]
    processes: usize,
    /// The folder in which the home is made; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
    #[command(flatten)]
    by: By,
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

/// How long something took, each time.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) what: String,
    pub(super) n: usize,
    pub(super) p50_ms: f64,
    pub(super) p95_ms: f64,
    pub(super) max_ms: f64,
    /// How many of the questions found nothing.
    pub(super) empty: usize,
}

impl Row {
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

/// What was measured.
#[derive(Serialize)]
struct Report {
    bench: &'static str,
    memories: usize,
    workspaces: usize,
    save_seconds: f64,
    embedder: String,
    index: Built,
    store_bytes: u64,
    index_bytes: u64,
    server_resident_bytes: Option<u64>,
    server_anonymous_bytes: Option<u64>,
    rows: Vec<Row>,
    machine: Machine,
}

impl Search {
    /// Fills a home with made-up memories, builds its index, and asks in every way there is.
    ///
    /// # Errors
    /// What went wrong.
    pub(super) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let folder = super::folder(self.folder.as_ref())?;
        let home = folder.path();
        let begun = Instant::now();
        let (known, workspaces) = fill(home, self.size, self.questions)?;
        let save_seconds = begun.elapsed().as_secs_f64();
        let book = super::open(home, Arc::new(SystemClock))?;
        self.by.give(&book, config)?;
        let index = super::rebuild(&book, self.size)?;
        follow::mentions(&book)?;
        drop(book);
        let book = super::open(home, Arc::new(SystemClock))?;
        self.by.give(&book, config)?;
        let embedder = self.by.name(config);
        let mut asked = Asked { known: &known, embedder, rows: Vec::new() };
        asked.in_process(&book)?;
        drop(book);
        asked.processes(home, self.processes, "commonbook search, no server")?;
        let mut serve = command(home, &["serve", "--port", "0"])?;
        serve.env(EMBEDDER, embedder);
        let server = Server::run(serve)?;
        asked.over_rest(&server)?;
        asked.processes(home, self.processes, "commonbook search, a server runs")?;
        let report = Report {
            bench: "search",
            memories: self.size,
            workspaces,
            save_seconds,
            embedder: embedder.to_owned(),
            index,
            store_bytes: bytes(home, |name| name.starts_with("commonbook.db"))?,
            index_bytes: bytes(&home.join("index"), |_| true)?,
            server_resident_bytes: resident(server.process(), "VmRSS:"),
            server_anonymous_bytes: resident(server.process(), "RssAnon:"),
            rows: asked.rows,
            machine: Machine::here(),
        };
        if as_json {
            output::json(&json!(report));
        } else {
            report.tell();
        }
        Ok(())
    }
}

/// Keeps so many made-up memories, session by session; answers what questions can be about, and
/// how many workspaces there are.
pub(super) fn fill(home: &Path, size: usize, questions: usize) -> Result<(Vec<Known>, usize)> {
    let until = SystemClock.now();
    let clock = Arc::new(FixedClock::at(until));
    let book = super::open(home, Arc::<FixedClock>::clone(&clock))?;
    let mut sample = Sample::new(SEED, questions);
    let mut world = World::new(SEED, size, until)?;
    let mut workspaces = std::collections::BTreeSet::new();
    let bar = super::bar("filling the store", size);
    while let Some(session) = world.next() {
        workspaces.insert(session.workspace);
        let name: AgentName = session.owner.parse()?;
        let caller = Caller::new(Some(name), session.workspace.parse()?, Door::Cli);
        let caller = caller.in_session(Some(&session.id))?;
        for (at, group) in session.groups {
            clock.set(at);
            for written in &group {
                let seen = written.memory.sharing == Some(Sharing::Shared);
                if seen && session.workspace == MAIN && written.words.len() >= 9 {
                    sample.look(|| Known {
                        words: written.words.iter().map(|it| world.word(*it).to_owned()).collect(),
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

/// Asking, and what it took.
struct Asked<'k> {
    known: &'k [Known],
    embedder: &'k str,
    rows: Vec<Row>,
}

impl Asked<'_> {
    /// Asks every question of every kind in this way, which answers how many hits it got.
    fn each(&mut self, way: &str, ask: impl Fn(&SearchMemory) -> Result<usize>) -> Result<()> {
        let bar = super::bar("asking", Kind::ALL.len() * self.known.len());
        for kind in Kind::ALL {
            let mut rng = Rng::with_seed(SEED);
            let (mut times, mut empty) = (Vec::with_capacity(self.known.len()), 0);
            for known in self.known {
                let question = kind.about(known, &mut rng);
                let begun = Instant::now();
                let hits = ask(&question)?;
                times.push(begun.elapsed());
                empty += usize::from(hits == 0);
                bar.inc(1);
            }
            self.rows.push(Row::of(&format!("{way}, {}", kind.name), &times, empty));
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// The first question of a process or a server, which opens the index for all that follow.
    fn first(&mut self, way: &str, ask: impl Fn(&SearchMemory) -> Result<usize>) -> Result<()> {
        let Some(known) = self.known.first() else { return Ok(()) };
        let question = Kind::ALL[2].about(known, &mut Rng::with_seed(SEED));
        let begun = Instant::now();
        let hits = ask(&question)?;
        let what = format!("{way}, the first question");
        self.rows.push(Row::of(&what, &[begun.elapsed()], usize::from(hits == 0)));
        self.early(way, ask)
    }

    /// Questions of all kinds right after the first, told by themselves: the files are not in the
    /// memory of the process yet, and a server looks after what was saved before it.
    fn early(&mut self, way: &str, ask: impl Fn(&SearchMemory) -> Result<usize>) -> Result<()> {
        let mut rng = Rng::with_seed(SEED + 1);
        let (mut times, mut empty) = (Vec::with_capacity(EARLY), 0);
        for (known, kind) in self.known.iter().cycle().zip(Kind::ALL.iter().cycle()).take(EARLY) {
            let question = kind.about(known, &mut rng);
            let begun = Instant::now();
            let hits = ask(&question)?;
            times.push(begun.elapsed());
            empty += usize::from(hits == 0);
        }
        self.rows.push(Row::of(&format!("{way}, the next {EARLY}"), &times, empty));
        Ok(())
    }

    fn in_process(&mut self, book: &Commonbook) -> Result<()> {
        let ask = |question: &SearchMemory| search(book, question);
        self.first("in process", ask)?;
        self.each("in process", ask)
    }

    fn over_rest(&mut self, server: &Server) -> Result<()> {
        let ask = |question: &SearchMemory| over_rest(server, question);
        self.first("REST", ask)?;
        self.each("REST", ask)
    }

    /// A fresh process for each question, from its start to its end.
    fn processes(&mut self, home: &Path, count: usize, way: &str) -> Result<()> {
        let mut rng = Rng::with_seed(SEED);
        let (mut times, mut empty) = (Vec::with_capacity(count), 0);
        for known in self.known.iter().cycle().take(count) {
            let question = Kind::ALL[2].about(known, &mut rng);
            let arguments =
                ["search", &question.query, "--workspace", MAIN, "--agent", READER, "--json"];
            let mut command = command(home, &arguments)?;
            command.env(EMBEDDER, self.embedder);
            let begun = Instant::now();
            let output = command.output().map_err(|e| broken("the process did not start", e))?;
            times.push(begun.elapsed());
            if !output.status.success() {
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(Error::new(ErrorKind::Internal, told));
            }
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            empty += usize::from(answer["hits"].as_array().is_none_or(Vec::is_empty));
        }
        self.rows.push(Row::of(&format!("{way}, 3 words"), &times, empty));
        Ok(())
    }
}

fn search(book: &Commonbook, question: &SearchMemory) -> Result<usize> {
    let reader: AgentName = READER.parse()?;
    let caller = Caller::new(Some(reader), MAIN.parse()?, Door::Cli);
    Ok(book.search_memory(&caller, question)?.hits.len())
}

fn over_rest(server: &Server, question: &SearchMemory) -> Result<usize> {
    match server.call("GET", &path(question), (READER, MAIN), &Value::Null)? {
        (200, answer) => Ok(answer["hits"].as_array().map_or(0, Vec::len)),
        (status, answer) => Err(Error::new(ErrorKind::Internal, format!("{status}: {answer}"))),
    }
}

/// The bytes of the files in a folder and those below it, as far as their names are wanted.
fn bytes(folder: &Path, wanted: impl Fn(&str) -> bool + Copy) -> Result<u64> {
    let unreadable = |error| broken("the home cannot be read", error);
    let mut sum = 0;
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let about = entry.metadata().map_err(unreadable)?;
        if !wanted(&entry.file_name().to_string_lossy()) {
            continue;
        }
        sum += if about.is_dir() { bytes(&entry.path(), wanted)? } else { about.len() };
    }
    Ok(sum)
}

impl Report {
    fn tell(&self) {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        line(&format!(
            "data      {} made-up memories of about 40 words, {} workspaces, most in one; seed {SEED}",
            self.memories, self.workspaces
        ));
        self.machine.tell();
        line(&format!(
            "saved     in {:.1} s, {:.0} a second, in batches",
            self.save_seconds,
            self.memories as f64 / self.save_seconds
        ));
        let Built { memories, words_seconds, vectors_seconds } = self.index;
        let rate = |seconds: f64| memories as f64 / seconds;
        line(&format!(
            "words     indexed in {words_seconds:.1} s, {:.0} a second",
            rate(words_seconds)
        ));
        if self.embedder != "off" {
            line(&format!(
                "vectors   made in {vectors_seconds:.1} s, {:.0} a second; embedder {}",
                rate(vectors_seconds),
                self.embedder
            ));
        }
        line(&format!(
            "disk      store {:.0} MB, index {:.0} MB",
            megabytes(self.store_bytes),
            megabytes(self.index_bytes)
        ));
        if let (Some(resident), Some(anonymous)) =
            (self.server_resident_bytes, self.server_anonymous_bytes)
        {
            line(&format!(
                "memory    the server has {:.0} MB after the questions, {:.0} MB of it not of files",
                megabytes(resident),
                megabytes(anonymous)
            ));
        }
        line(&format!(
            "\n{:<44} {:>5} {:>10} {:>10} {:>10}  {:>7}",
            "ms", "n", "p50", "p95", "max", "no hits"
        ));
        for Row { what, n, p50_ms, p95_ms, max_ms, empty } in &self.rows {
            line(&format!(
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
