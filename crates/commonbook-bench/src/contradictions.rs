//! `bench contradictions`: how many contradictions the rules find and how many they invent, and how
//! long a large store takes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use commonbook::base::clock::SystemClock;
use commonbook::base::error::{Error, Result};
use commonbook::base::id::{CountingIds, MemoryId};
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::contradiction::{
    ContradictionStatus, DetectContradictions, EarlierRelation, MemoryStatements,
};
use commonbook::model::memory::{Memory, SaveMemory, Sharing};
use commonbook::store::JournalScope;
use jiff::Timestamp;

use commonbook_server::child::step_error;
use commonbook_server::output::print_line;

use super::machine::{MachineProfile, process_bytes};
use super::search::{fill, size};
use super::synthetic::MAIN_WORKSPACE;

/// The half of the pairs to which the rules were tuned, and the half that was written before them.
const OWN_PAIRS: [(&str, &str); 2] = [
    ("tuning", include_str!("../../commonbook-text/tests/tables/contradictions/tuning.md")),
    ("judging", include_str!("../../commonbook-text/tests/tables/contradictions/judging.md")),
];

/// Pairs of facts that one author states side by side, about two subjects.
const PARALLEL_PAIRS: &str =
    include_str!("../../commonbook-text/tests/tables/contradictions/parallel.md");

/// Arguments of the contradiction bench.
#[derive(Debug, clap::Args)]
pub(super) struct ContradictionBench {
    /// Files of SICK: pairs of sentences with `CONTRADICTION` or another label, separated by tabs
    #[arg(long)]
    sick: Vec<PathBuf>,
    /// A folder with files of SICK: every `*.txt` in it
    #[arg(long)]
    data: Option<PathBuf>,
    /// Memories of the timed store: 50000, 50k; 0 times nothing
    #[arg(long, default_value = "50k", value_parser = size_or_none)]
    size: usize,
    /// The folder for the home; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// The judged pairs of one kind.
#[derive(Debug, Default, Clone, Copy)]
struct ComparisonCount {
    pairs: usize,
    contradict: usize,
    found: usize,
    right: usize,
}

impl ComparisonCount {
    fn add(&mut self, contradicts: bool, found: bool) {
        self.pairs += 1;
        self.contradict += usize::from(contradicts);
        self.found += usize::from(found);
        self.right += usize::from(contradicts && found);
    }

    fn print(self, label: &str) {
        let share = |part: usize, whole: usize| match whole {
            0 => "    -".to_owned(),
            _ => format!("{:.3}", part as f64 / whole as f64),
        };
        let Self { pairs, contradict, found, right } = self;
        print_line(&format!(
            "{label:<20} {pairs:>6} {contradict:>11} {right:>6} {:>6} {:>10} {:>7} {:>6}",
            found - right,
            share(right, found),
            share(right, contradict),
            share(2 * right, found + contradict),
        ));
    }
}

impl ContradictionBench {
    /// Judges the pairs, and times a large store.
    ///
    /// # Errors
    /// `internal` for a file that cannot be read; the error of the store.
    pub(super) fn run(&self) -> Result<()> {
        MachineProfile::detect_machine().print();
        print_line(&format!(
            "\n{:<20} {:>6} {:>11} {:>6} {:>6} {:>10} {:>7} {:>6}",
            "pairs", "n", "contradict", "found", "false", "precision", "recall", "F1"
        ));
        for (half, text) in OWN_PAIRS {
            let (mut all, mut by_kind) = (ComparisonCount::default(), BTreeMap::new());
            for (kind, [first, second, contradicts]) in table_rows(text) {
                let found = is_found(first, second)?;
                let count: &mut ComparisonCount = by_kind.entry(kind).or_default();
                count.add(contradicts == "yes", found);
                all.add(contradicts == "yes", found);
            }
            all.print(&format!("{half}, all"));
            by_kind.into_iter().for_each(|(kind, count)| count.print(&format!("{half}, {kind}")));
        }
        print_parallel_pairs()?;
        for path in &self.files()? {
            let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, error))?;
            let mut all = ComparisonCount::default();
            for line in text.lines().skip(1) {
                let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
                let [_, first, second, _, label, ..] = columns.as_slice() else {
                    return Err(Error::invalid("sick", format!("{line:?} is no pair")));
                };
                all.add(*label == "CONTRADICTION", is_found(first, second)?);
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            all.print(&name);
        }
        if self.size > 0 { self.time_store() } else { Ok(()) }
    }

    /// The files of SICK: those that are named, and those of the folder, by name.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = self.sick.clone();
        if let Some(folder) = &self.data {
            let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
            let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            let is_text = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "txt");
            files.extend(paths.filter(is_text));
        }
        files.sort();
        Ok(files)
    }

    /// Times the comparison of all memories of a store.
    fn time_store(&self) -> Result<()> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        fill(folder.path(), self.size, 1)?;
        let book = super::open_bench_book(folder.path(), Arc::new(SystemClock))?;
        let own = std::process::id();
        let before = process_bytes(own, "VmRSS:");
        let begun = Instant::now();
        let mut events = 0;
        book.find_contradictions(&JournalScope::All, |read| {
            events = read;
            ControlFlow::Continue(())
        })?;
        let seconds = begun.elapsed().as_secs_f64();
        let caller = Caller::new(None, MAIN_WORKSPACE.parse()?, EntryPoint::Cli);
        let request = DetectContradictions {
            status: Some(ContradictionStatus::Open),
            ..DetectContradictions::default()
        };
        let found = book.detect_contradictions(&caller, &request)?.items.len();
        print_line(&format!(
            "\n{} made-up memories compared in {seconds:.1} s, {:.0} events a second; {found} \
             contradictions on the first page",
            self.size,
            events as f64 / seconds
        ));
        let mib = |bytes: Option<u64>| bytes.map_or(0, |bytes| bytes >> 20);
        let peak = process_bytes(own, "VmHWM:");
        print_line(&format!(
            "memory of the process: {} MiB before, {} MiB at the most, filling the store included",
            mib(before),
            mib(peak)
        ));
        Ok(())
    }
}

/// The number of memories of a store; 0 for none.
fn size_or_none(text: &str) -> std::result::Result<usize, String> {
    if text == "0" { Ok(0) } else { size(text) }
}

fn unreadable(path: &std::path::Path, error: std::io::Error) -> Error {
    step_error(&format!("{} cannot be read", path.display()), error)
}

/// The rows of the tables of a Markdown text, each with its heading.
fn table_rows(text: &str) -> impl Iterator<Item = (&str, [&str; 3])> {
    let mut kind = "";
    text.lines().filter_map(move |line| {
        if let Some(heading) = line.strip_prefix("## ") {
            kind = heading;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match cells.as_slice() {
            ["", first, second, contradicts @ ("yes" | "no"), ""] => {
                Some((kind, [*first, *second, *contradicts]))
            }
            _ => None,
        }
    })
}

/// Whether a store would find the contradiction of two notes of two agents: a key in common, and a
/// difference.
fn is_found(first: &str, second: &str) -> Result<bool> {
    let (older, newer) = (note("first", first)?, note("second", second)?);
    let (older, newer) = (MemoryStatements::of(&older), MemoryStatements::of(&newer));
    let keys = newer.keys();
    let meets = older.keys().iter().any(|key| keys.contains(key));
    Ok(meets && older.contradiction_with(&newer).is_some())
}

/// Prints how many of the parallel pairs a save would take for corrections, and how many for
/// contradictions of two agents.
fn print_parallel_pairs() -> Result<()> {
    let (mut pairs, mut superseded, mut contradicting) = (0, 0, 0);
    for line in PARALLEL_PAIRS.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", first, second, ""] = cells.as_slice() else { continue };
        if *first == "first" || first.starts_with("---") {
            continue;
        }
        let (older, newer) = (note("one", first)?, note("one", second)?);
        let relation =
            MemoryStatements::of(&newer).relation_to_earlier(&MemoryStatements::of(&older));
        pairs += 1;
        superseded += usize::from(relation == EarlierRelation::Corrected);
        contradicting += usize::from(is_found(first, second)?);
    }
    print_line(&format!(
        "parallel pairs {pairs}: {superseded} would supersede, {contradicting} would contradict"
    ));
    Ok(())
}

fn note(agent: &str, text: &str) -> Result<Memory> {
    let name = AgentName { agent: Agent::with_any_name(agent)?, device: None };
    let caller = Caller::new(Some(name), MAIN_WORKSPACE.parse()?, EntryPoint::Cli);
    let id = MemoryId::new(&CountingIds::default(), Timestamp::UNIX_EPOCH);
    let request = SaveMemory { text: text.to_owned(), ..SaveMemory::default() };
    request.memory(&caller, Sharing::Shared, id, Timestamp::UNIX_EPOCH)
}
