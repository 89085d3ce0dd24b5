//! `bench consolidation`: how precisely duplicates merge, and how long a large home takes and what its
//! reversal leaves.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use commonbook::Commonbook;
use commonbook::base::clock::{Clock, FixedClock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::id::MemoryId;
use commonbook::base::limits;
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::consolidation::{
    ConsolidateMemory, ConsolidationAction, ConsolidationResult,
};
use commonbook::model::export::ExportWorkspace;
use commonbook::model::memory::{GetMemory, Importance, SaveMemories, SaveMemory};
use commonbook_server::output::print_line;
use fastrand::Rng;
use jiff::SignedDuration;

use super::machine::{MachineProfile, process_bytes};
use super::search::size;
use super::synthetic::MAIN_WORKSPACE;

/// The seed of the made-up home.
const SEED: u64 = 7;

/// Memories that one call saves.
const BATCH_MEMORIES: usize = 100;

/// Days before now at which the oldest memories were saved.
const HISTORY_DAYS: i64 = 200;

const SUBJECTS: [&str; 12] = [
    "retry limit",
    "request timeout",
    "worker pool",
    "upload limit",
    "cache lifetime",
    "page size",
    "queue depth",
    "session lifetime",
    "batch size",
    "backoff",
    "connection limit",
    "log retention",
];
const SERVICES: [&str; 16] = [
    "billing",
    "orders",
    "search",
    "mail",
    "login",
    "export",
    "import",
    "reports",
    "gateway",
    "inventory",
    "shipping",
    "refunds",
    "alerts",
    "profiles",
    "sitemap",
    "ledger",
];
const UNITS: [&str; 4] = ["seconds", "requests", "entries", "workers"];

/// Arguments of the consolidation bench.
#[derive(Debug, clap::Args)]
pub(super) struct ConsolidationBench {
    /// Memories of the made-up home: 50000, 50k
    #[arg(long, default_value = "50k", value_parser = size)]
    size: usize,
    /// The folder for the home; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// What the maker of the home knows of a memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct MadeUp {
    /// The statement that it makes; two memories with the same one say the same.
    statement: usize,
    critical: bool,
}

impl ConsolidationBench {
    /// Makes a home, consolidates it, takes that back, and prints what was right.
    ///
    /// # Errors
    /// The error of the store; `internal` if the reversal leaves a difference.
    pub(super) fn run(&self) -> Result<()> {
        MachineProfile::detect_machine().print();
        let folder = super::bench_folder(self.folder.as_ref())?;
        let now = SystemClock.now();
        let clock = Arc::new(FixedClock::at(now));
        let book = super::open_bench_book(folder.path(), Arc::<FixedClock>::clone(&clock))?;
        let made_up = fill_home(&book, &clock, self.size)?;
        clock.set(now);
        let caller = caller()?;
        let before = export(&book, &caller)?;
        let begun = Instant::now();
        let limit = Some(limits::CONSOLIDATION_ITEMS);
        let request = ConsolidateMemory { limit, ..ConsolidateMemory::default() };
        let bar = super::bench_progress_bar("consolidating", self.size);
        let told = bar.clone();
        let watched = book.clone().with_consolidation_observer(Arc::new(move |progress| {
            told.set_message(progress.work);
            told.set_length(progress.total.max(progress.done));
            told.set_position(progress.done);
        }));
        let done = watched.consolidate_memory(&caller, &request)?;
        bar.finish_and_clear();
        let seconds = begun.elapsed().as_secs_f64();
        report(&book, &caller, &made_up, &done)?;
        print_line(&format!(
            "time            {seconds:.1} s for {} memories, {} merged, {} archived, {} pruned",
            made_up.len(),
            done.merged,
            done.archived,
            done.pruned
        ));
        let peak = process_bytes(std::process::id(), "VmHWM:").map_or(0, |bytes| bytes >> 20);
        print_line(&format!("memory          {peak} MiB at the most, with the making of the home"));
        let begun = Instant::now();
        let undo = ConsolidateMemory { undo: done.operation, ..ConsolidateMemory::default() };
        let undone = book.consolidate_memory(&caller, &undo)?;
        print_line(&format!(
            "undo            {:.1} s for {} memories",
            begun.elapsed().as_secs_f64(),
            undone.restored
        ));
        let is_equal = export(&book, &caller)? == before;
        print_line(&format!("equal export    {}", if is_equal { "yes" } else { "no" }));
        match is_equal {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Internal, "the reversal left a difference")),
        }
    }
}

/// Fills the home: of ten memories six stand alone, two say again what another says, one says the
/// contrary of another, one is an older update.
pub(super) fn fill_home(
    book: &Commonbook,
    clock: &FixedClock,
    size: usize,
) -> Result<BTreeMap<MemoryId, MadeUp>> {
    let mut rng = Rng::with_seed(SEED);
    let mut values = Vec::<(usize, String, String)>::new();
    // Two memories that happen to say the same have the same number.
    let mut statements = HashMap::<String, usize>::new();
    let mut number_of = |text: &str| {
        let next = statements.len() + 1;
        *statements.entry(text.to_owned()).or_insert(next)
    };
    let mut made_up = BTreeMap::new();
    let bar = super::bench_progress_bar("filling the home", size);
    let begun = clock.now();
    while made_up.len() < size {
        let share = made_up.len() as f64 / size as f64;
        let hours = (24.0 * HISTORY_DAYS as f64 * (1.0 - share)) as i64;
        clock.set(begun.checked_sub(SignedDuration::from_hours(hours)).unwrap_or(begun));
        let (mut memories, mut known) = (Vec::new(), Vec::new());
        for number in 0..BATCH_MEMORIES.min(size - made_up.len()) {
            let (statement, text) = match number % 10 {
                6 | 7 if !values.is_empty() => {
                    let (statement, subject, value) = &values[rng.usize(..values.len())];
                    (*statement, said_again(&mut rng, subject, value))
                }
                8 if !values.is_empty() => {
                    let (_, subject, _) = values[rng.usize(..values.len())].clone();
                    let text = format!("The {subject} is {}", value(&mut rng));
                    (number_of(&text), text)
                }
                _ => {
                    let service = SERVICES[rng.usize(..SERVICES.len())];
                    let subject = SUBJECTS[rng.usize(..SUBJECTS.len())];
                    let subject = format!("{subject} of {service} shard {}", rng.u32(1..9_999));
                    let value = value(&mut rng);
                    let text = format!("The {subject} is {value}");
                    let statement = number_of(&text);
                    values.push((statement, subject, value));
                    (statement, text)
                }
            };
            let critical = rng.u32(..50) == 0;
            let importance = critical.then_some(Importance::Critical);
            // A topic of its own keeps a save from refusing what was said before.
            let topics = vec!["settings".to_owned(), format!("note-{}", rng.u32(..))];
            memories.push(SaveMemory { text, importance, topics, ..SaveMemory::default() });
            known.push(MadeUp { statement, critical });
        }
        let request = SaveMemories { memories, idempotency_key: None };
        let saved = book.save_memories(&caller()?, &request)?;
        bar.inc(saved.items.len() as u64);
        for (saved, known) in saved.items.iter().zip(known) {
            made_up.insert(saved.memory.id, known);
        }
    }
    bar.finish_and_clear();
    Ok(made_up)
}

fn value(rng: &mut Rng) -> String {
    format!("{} {}", rng.u32(2..500), UNITS[rng.usize(..UNITS.len())])
}

/// What people write when they say the same again.
fn said_again(rng: &mut Rng, subject: &str, value: &str) -> String {
    match rng.u32(..5) {
        0 => format!("The {subject} is {value}."),
        1 => format!("{}{} is {value}", subject[..1].to_uppercase(), &subject[1..]),
        2 => format!("**The {subject}** is {value}"),
        3 => format!("the {subject} is {value}!"),
        _ => format!("The {subject} is `{value}`."),
    }
}

fn caller() -> Result<Caller> {
    let name = AgentName { agent: Agent::with_any_name("claude-code")?, device: None };
    Ok(Caller::new(Some(name), MAIN_WORKSPACE.parse()?, EntryPoint::Cli))
}

/// The lines of an export, without the times at which agents called.
fn export(book: &Commonbook, caller: &Caller) -> Result<Vec<String>> {
    let (mut lines, mut cursor) = (Vec::new(), None);
    loop {
        let request = ExportWorkspace { cursor, limit: Some(100), ..ExportWorkspace::default() };
        let page = book.export_workspace(caller, &request)?;
        let lasting = page.lines.into_iter().map(serde_json::Value::Object);
        let lasting = lasting.filter(|line| line["record"] != "agent");
        lines.extend(lasting.map(|line| line.to_string()));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(lines),
        }
    }
}

/// Prints how many merges were right.
fn report(
    book: &Commonbook,
    caller: &Caller,
    made_up: &BTreeMap<MemoryId, MadeUp>,
    done: &ConsolidationResult,
) -> Result<()> {
    let (mut merges, mut right, mut decayed) = (0_u64, 0_u64, 0_u64);
    for item in &done.items {
        let known = |id: Option<MemoryId>| id.and_then(|id| made_up.get(&id));
        match item.action {
            ConsolidationAction::Merge => {
                merges += 1;
                let same = known(item.memory).map(|made| made.statement)
                    == known(item.into).map(|made| made.statement);
                right += u64::from(same);
            }
            ConsolidationAction::Prune => {
                decayed += u64::from(known(item.memory).is_some_and(|made| made.critical));
            }
            _ => {}
        }
    }
    // A save supersedes what its author corrects: such a memory is no duplicate any more.
    let mut current: BTreeMap<usize, u64> = BTreeMap::new();
    for (id, made) in made_up {
        let memory = book.get_memory(caller, &GetMemory { id: (*id).into(), at: None })?;
        if memory.is_current() {
            *current.entry(made.statement).or_default() += 1;
        }
    }
    let left: u64 = current.values().map(|count| count - 1).sum();
    let share = |part: u64, whole: u64| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    print_line(&format!("\nmerges          {merges}, {right} right"));
    print_line(&format!("precision       {:.4}", share(right, merges)));
    print_line(&format!("recall          {:.4}", share(right, right + left)));
    print_line(&format!("others          {} merged: contraries and updates", merges - right));
    print_line(&format!("critical        {decayed} decayed"));
    Ok(())
}
