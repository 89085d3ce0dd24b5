//! `bench scale`: a node on PostgreSQL. Saves beside `pgbench` with the same statements on the same server, searches and
//! contexts in a large store, and a new node on a database with many workspaces.

mod recording;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::input;
use commonbook::base::limits;
use commonbook::index::Index;
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::memory::SaveMemories;
use commonbook::store::postgres::PostgresStore;
use commonbook::verbs::FollowerAgenda;
use commonbook_server::follow;
use commonbook_server::output::print_line;
use fastrand::Rng;
use indicatif::HumanBytes;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use recording::SaveRecording;

use super::database_server::{BenchServer, PROGRAMS};
use super::machine::{MachineProfile, process_bytes};
use super::save::{SaveFigure, made_up_memory, measure_threads};
use super::timed_step::TimedStep;

/// Clients that save at once.
const CLIENTS: [usize; 3] = [1, 16, 64];

/// Memories in the workspace of which a new node answers the first search.
const COLD_MEMORIES: usize = 1_000;

/// Memories in each of the many workspaces.
const EACH_WORKSPACE: usize = 10;

/// How the name of a client's own workspace begins; its number follows.
const OWN_WORKSPACE: &str = "own-";

/// A time after which a process looks at all journals again, however long that took.
const LOOK_PAUSE: Duration = Duration::from_secs(3_600);

/// The head of the table of saves in many workspaces.
const SAVES_OF_MANY_HEAD: &str = " clients commonbook/s  median ms     p95 ms";

/// The question of the searches, and the task of the contexts.
const QUESTION: &str = "payment gateway retry";

/// Arguments of the scale bench.
#[derive(Debug, clap::Args)]
pub(super) struct ScaleBench {
    /// The folder of PostgreSQL's programs, `pgbench` among them
    #[arg(long, default_value = PROGRAMS)]
    programs: PathBuf,
    /// Saves of each measurement
    #[arg(long, default_value_t = 1_000)]
    saves: usize,
    /// How often each measurement is made, `pgbench` and Commonbook in turns
    #[arg(long, default_value_t = 3)]
    turns: usize,
    /// Memories in the store for searches and contexts
    #[arg(long, default_value_t = 20_000)]
    size: usize,
    /// Searches, and contexts
    #[arg(long, default_value_t = 50)]
    each: usize,
    /// Workspaces of the database for a new node
    #[arg(long, default_value_t = 10_000)]
    workspaces: usize,
    /// The folder for the server; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Where the clients save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SavePlace {
    /// All in one workspace, whose journal gives one position after the other.
    OneWorkspace,
    /// Each in a workspace of its own.
    OwnWorkspaces,
}

impl SavePlace {
    fn name(self) -> &'static str {
        match self {
            Self::OneWorkspace => "one workspace",
            Self::OwnWorkspaces => "a workspace each",
        }
    }

    fn workspace(self, client: usize) -> String {
        match self {
            Self::OneWorkspace => "together".to_owned(),
            Self::OwnWorkspaces => format!("{OWN_WORKSPACE}{client}"),
        }
    }
}

impl ScaleBench {
    /// Starts a server, and measures.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self) -> Result<()> {
        MachineProfile::detect_machine().print();
        let folder = super::bench_folder(self.folder.as_ref())?;
        let server = BenchServer::start(&self.programs, folder.path())?;
        print_line(&format!("PostgreSQL {}, fsync on, on this machine", server.version()?));
        self.measure_saves(&server)?;
        self.measure_reads(&server)?;
        self.measure_new_node(&server)
    }

    /// Saves, beside `pgbench` with the statements of one such save.
    fn measure_saves(&self, server: &BenchServer) -> Result<()> {
        let database = server.create("saves")?;
        let seeds = AtomicU64::new(0);
        let memory = || made_up_memory(&mut Rng::with_seed(seeds.fetch_add(1, Ordering::Relaxed)));
        let workspace = SavePlace::OneWorkspace.workspace(0);
        let recording = SaveRecording::of_save(server, &workspace, || {
            // A connection of its own begins to be written down.
            let book = Commonbook::new(PostgresStore::open(&database, None)?);
            Ok(book.save_memory(&caller(&workspace)?, &memory())?.memory.id.to_string())
        })?;
        print_line(&format!("\nsaves; the statements of one: {}", recording.statement_count()));
        print_line(&format!(
            "{:<20} {:>8} {:>12} {:>12} {:>8} {:>10} {:>10}",
            "", "clients", "pgbench/s", "commonbook/s", "share", "median ms", "p95 ms"
        ));
        let book = Commonbook::new(PostgresStore::open(&database, None)?);
        let save = |workspace: &str| book.save_memory(&caller(workspace)?, &memory()).map(drop);
        for place in [SavePlace::OneWorkspace, SavePlace::OwnWorkspaces] {
            let script = recording.script(place == SavePlace::OwnWorkspaces);
            for clients in CLIENTS {
                let each = self.saves.div_ceil(clients);
                // Plans for small tables last until statistics come, which takes the server a minute.
                book.store().refresh_statistics()?;
                let (mut theirs, mut ours) = (Vec::new(), Vec::new());
                for _ in 0..self.turns {
                    theirs.push(server.pgbench(&database, &script, clients, each)?);
                    let own = |client: usize, _: &mut Rng| save(&place.workspace(client));
                    ours.push(measure_threads(clients, each, own)?);
                }
                Self::print_saves(place, clients, theirs, ours);
            }
        }
        Ok(())
    }

    /// Prints the medians of the turns.
    fn print_saves(place: SavePlace, clients: usize, mut theirs: Vec<f64>, ours: Vec<SaveFigure>) {
        theirs.sort_by(f64::total_cmp);
        let (Some(theirs), Some(ours)) = (theirs.get(theirs.len() / 2), median_turn(ours)) else {
            return;
        };
        let share = 100.0 * ours.rate() / theirs;
        let [median, p95] = ours.percentiles_ms();
        print_line(&format!(
            "{:<20} {clients:>8} {theirs:>12.0} {:>12.0} {share:>7.0}% {median:>10.2} {p95:>10.2}",
            place.name(),
            ours.rate()
        ));
    }

    /// Searches and contexts of a node, with its index in memory.
    fn measure_reads(&self, server: &BenchServer) -> Result<()> {
        let book = open_node(&server.create("reads")?)?;
        let who = caller("reads")?;
        fill(&book, &who, self.size)?;
        book.store().refresh_statistics()?;
        print_line(&format!("\n{} memories in one workspace; a node in this process", self.size));
        TimedStep::print_head();
        let mut step = TimedStep::new("first search: the index is built");
        step.time(|| search(&book, &who))?;
        step.print();
        let mut step = TimedStep::new("search");
        for _ in 0..self.each {
            step.time(|| search(&book, &who))?;
        }
        step.print();
        let mut step = TimedStep::new("search after a save by another node");
        let other = open_node(&server.address("reads"))?;
        let mut rng = Rng::with_seed(3);
        for _ in 0..self.each {
            other.save_memory(&who, &made_up_memory(&mut rng))?;
            step.time(|| search(&book, &who))?;
        }
        step.print();
        // As the followers of a server have done.
        follow::find_contradictions_with_progress(&book)?;
        let mut step = TimedStep::new("context");
        for _ in 0..self.each {
            step.time(|| book.get_context(&who, &request(json!({"task": QUESTION}))?))?;
        }
        step.print();
        Ok(())
    }

    /// The first searches of a new node on a database with many workspaces.
    fn measure_new_node(&self, server: &BenchServer) -> Result<()> {
        let address = server.create("workspaces")?;
        let book = open_node(&address)?;
        fill(&book, &caller("cold")?, COLD_MEMORIES)?;
        let bar = super::bench_progress_bar("filling the workspaces", self.workspaces);
        let mut rng = Rng::with_seed(5);
        for number in 0..self.workspaces {
            let memories = (0..EACH_WORKSPACE).map(|_| made_up_memory(&mut rng)).collect();
            let who = caller(&format!("team-{number}"))?;
            book.save_memories(&who, &SaveMemories { memories, idempotency_key: None })?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        book.store().refresh_statistics()?;
        print_line(&format!(
            "\n{} workspaces of {EACH_WORKSPACE} memories and one of {COLD_MEMORIES}; a new node",
            self.workspaces
        ));
        TimedStep::print_head();
        let node = open_node(&address)?;
        let mut step = TimedStep::new("first search in the large workspace");
        step.time(|| search(&node, &caller("cold")?))?;
        step.print();
        let before = resident_bytes();
        let mut step = TimedStep::new("first search in each other workspace");
        for number in 0..self.workspaces {
            step.time(|| search(&node, &caller(&format!("team-{number}"))?))?;
        }
        step.print();
        let held = node.index().figures();
        let added = resident_bytes().saturating_sub(before);
        print_line(&format!(
            "held: {} memories of {} workspaces; memory of the process: {}, {} more a memory",
            held.memories,
            held.workspaces,
            HumanBytes(resident_bytes()),
            HumanBytes(added / held.memories.max(1)),
        ));
        let mut step = TimedStep::new("search in a workspace that is held");
        let mut rng = Rng::with_seed(9);
        for _ in 0..self.each {
            let number = rng.usize(self.workspaces.saturating_sub(self.each)..self.workspaces);
            step.time(|| search(&node, &caller(&format!("team-{number}"))?))?;
        }
        step.print();
        let mut step = TimedStep::new("a look of the follower at what is held");
        step.time(|| node.index().needs_follow(node.store()))?;
        step.print();
        let mut step = TimedStep::new("a look at all journals, which no follower has read");
        let mut now = Instant::now();
        for _ in 0..self.each {
            step.time(|| node.next_agenda(now).map(FollowerAgenda::complete))?;
            now += LOOK_PAUSE;
        }
        step.print();
        let mut step = TimedStep::new("reading the ends of all journals");
        for _ in 0..self.each {
            step.time(|| node.journal_ends())?;
        }
        step.print();
        self.measure_saves_of_many(&book)
    }

    /// Saves of clients in workspaces of their own, far from each other among the many of the database.
    fn measure_saves_of_many(&self, book: &Commonbook) -> Result<()> {
        print_line(&format!("\nsaves in these workspaces\n{SAVES_OF_MANY_HEAD}"));
        for clients in CLIENTS {
            let save = |client: usize, rng: &mut Rng| {
                let who = caller(&format!("team-{}", client * self.workspaces / clients))?;
                book.save_memory(&who, &made_up_memory(rng)).map(drop)
            };
            let each = self.saves.div_ceil(clients);
            let measure = |_| measure_threads(clients, each, save);
            let figures = (0..self.turns).map(measure).collect::<Result<Vec<_>>>()?;
            let Some(figure) = median_turn(figures) else { continue };
            let ([median, p95], rate) = (figure.percentiles_ms(), figure.rate());
            print_line(&format!("{clients:>8} {rate:>12.0} {median:>10.2} {p95:>10.2}"));
        }
        Ok(())
    }
}

/// The turn with the median rate.
fn median_turn(mut turns: Vec<SaveFigure>) -> Option<SaveFigure> {
    turns.sort_by(|one, other| one.rate().total_cmp(&other.rate()));
    let middle = turns.len() / 2;
    turns.into_iter().nth(middle)
}

/// The memory of this process.
fn resident_bytes() -> u64 {
    process_bytes(std::process::id(), "VmRSS:").unwrap_or_default()
}

fn caller(workspace: &str) -> Result<Caller> {
    let name: AgentName = "bench".parse()?;
    Ok(Caller::new(Some(name), workspace.parse()?, EntryPoint::Cli))
}

/// A node with indexes in memory, without an embedder.
fn open_node(address: &str) -> Result<Commonbook> {
    let store = PostgresStore::open(address, None)?;
    Ok(Commonbook::new(store).with_index(Arc::new(Index::of_node(None, Arc::new(SystemClock)))))
}

fn request<T: DeserializeOwned>(fields: Value) -> Result<T> {
    input::from_value(fields)
}

fn search(book: &Commonbook, who: &Caller) -> Result<()> {
    let found = book.search_memory(who, &request(json!({"query": QUESTION}))?)?;
    match found.hits.is_empty() {
        false => Ok(()),
        true => Err(Error::new(ErrorKind::Internal, "the search found nothing")),
    }
}

/// Saves this many memories, in batches.
fn fill(book: &Commonbook, who: &Caller, size: usize) -> Result<()> {
    let mut rng = Rng::with_seed(7);
    let bar = super::bench_progress_bar("filling the store", size);
    for start in (0..size).step_by(limits::BATCH) {
        let count = limits::BATCH.min(size - start);
        let memories = (0..count).map(|_| made_up_memory(&mut rng)).collect();
        book.save_memories(who, &SaveMemories { memories, idempotency_key: None })?;
        bar.inc(count as u64);
    }
    bar.finish_and_clear();
    Ok(())
}
