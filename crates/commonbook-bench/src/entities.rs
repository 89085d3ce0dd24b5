//! `bench entities`: durations of finding, stating, merging and walking in a large registry.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::Result;
use commonbook::base::input;
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::entity::{
    EntityType, FindEntity, MergeEntities, ResolveEntity, UnmergeEntities,
};
use commonbook::model::graph::{AddRelation, GraphQuery};
use commonbook::model::memory::{SaveMemories, SaveMemory};
use fastrand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::machine::MachineProfile;
use super::rows::{self, ReferenceTimes, TimingRow};
use commonbook_server::follow;
use commonbook_server::output::{self, print_line};

/// The seed of all random draws.
const SEED: u64 = 7;

/// Writers that fill the store in parallel, so that they share the disk's syncs.
const WRITER_THREADS: usize = 16;

/// Arguments of the entity bench.
#[derive(Debug, clap::Args)]
pub(super) struct EntityBench {
    /// Memories in the store, half of which mention something
    #[arg(long, default_value_t = 50_000)]
    memories: usize,
    /// Entities in the registry
    #[arg(long, default_value_t = 100_000)]
    entities: usize,
    /// Relations between them
    #[arg(long, default_value_t = 100_000)]
    relations: usize,
    /// Calls of each kind
    #[arg(long, default_value_t = 500)]
    calls: usize,
    /// The folder for the home; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// The results.
#[derive(Serialize)]
struct EntityReport {
    bench: &'static str,
    memories: usize,
    entities: usize,
    relations: usize,
    read_a_second: f64,
    fuzzily_found: String,
    rows: Vec<TimingRow>,
    machine: MachineProfile,
}

impl EntityBench {
    /// Fills a registry with synthetic entities; finds, states, merges and walks.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self, as_json: bool) -> Result<()> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        let book = super::open_bench_book(folder.path(), Arc::new(SystemClock))?;
        let names = names(self.entities);
        save(&book, &names, self.memories)?;
        let begun = Instant::now();
        let read = follow::find_mentions_with_progress(&book)?.read;
        let read_a_second = read as f64 / begun.elapsed().as_secs_f64().max(1e-9);
        let few = &names[..100.min(names.len())];
        state_entities(&book, few)?;
        let mut rows = Vec::new();
        let (row, _) = self.measure_lookups(
            &book,
            few,
            "found exactly, among 100",
            ReferenceTimes::of(Some(5.0), Some(0.1)),
            false,
        )?;
        rows.push(row);
        let (row, first) = self.measure_lookups(
            &book,
            few,
            "found fuzzily, among 100",
            ReferenceTimes::of(Some(80.0), Some(0.2)),
            true,
        )?;
        rows.push(row);
        state_entities(&book, &names[few.len()..])?;
        let many = format!("found exactly, among {}", names.len());
        rows.push(
            self.measure_lookups(
                &book,
                &names,
                &many,
                ReferenceTimes::of(Some(5.0), Some(0.1)),
                false,
            )?
            .0,
        );
        let many = format!("found fuzzily, among {}", names.len());
        let (row, all) =
            self.measure_lookups(&book, &names, &many, ReferenceTimes::of(None, Some(5.0)), true)?;
        rows.push(row);
        rows.push(self.measure_statements(&book, &names)?);
        rows.push(self.measure_merges(&book, &names)?);
        relate_entities(&book, &names, self.relations)?;
        rows.extend(self.measure_walks(&book, &names)?);
        let report = EntityReport {
            bench: "entities",
            memories: self.memories,
            entities: names.len(),
            relations: self.relations,
            read_a_second,
            fuzzily_found: format!("{first} and {all} of {}", self.calls),
            rows,
            machine: MachineProfile::detect_machine(),
        };
        if as_json {
            output::print_json(&json!(report));
        } else {
            report.print();
        }
        Ok(())
    }

    /// Looks up entities by exact names or by misspelled ones. Also returns how many were found.
    fn measure_lookups(
        &self,
        book: &Commonbook,
        names: &[TypedName],
        what: &str,
        reference: ReferenceTimes,
        slips: bool,
    ) -> Result<(TimingRow, usize)> {
        let (mut rng, mut found) = (Rng::with_seed(SEED), 0);
        let row = self.time_entity_calls(what, reference, || {
            let (kind, name) = &names[rng.usize(..names.len())];
            let value = if slips { misspell(name, &mut rng) } else { name.clone() };
            let request: FindEntity = request(json!({"type": kind, "value": value}))?;
            let begun = Instant::now();
            let answer = book.find_entity(&caller()?, &request);
            let took = begun.elapsed();
            found += usize::from(answer.is_ok());
            Ok(took)
        })?;
        Ok((row, found))
    }

    /// States something new about known entities.
    fn measure_statements(&self, book: &Commonbook, names: &[TypedName]) -> Result<TimingRow> {
        let mut rng = Rng::with_seed(SEED);
        let mut number = 0;
        self.time_entity_calls(
            "stated and merged, durably",
            ReferenceTimes::of(Some(30.0), Some(1.0)),
            || {
                number += 1;
                let (kind, name) = &names[rng.usize(..names.len())];
                let context = format!("What is said for the time {number}.");
                let request: ResolveEntity =
                    request(json!({"type": kind, "value": name, "context": context}))?;
                let begun = Instant::now();
                book.resolve_entity(&caller()?, &request)?;
                Ok(begun.elapsed())
            },
        )
    }

    /// Merges two entities and unmerges them.
    fn measure_merges(&self, book: &Commonbook, names: &[TypedName]) -> Result<TimingRow> {
        let mut rng = Rng::with_seed(SEED);
        self.time_entity_calls(
            "two made one, durably",
            ReferenceTimes::of(Some(30.0), Some(1.0)),
            || {
                let (kind, source) = &names[rng.usize(..names.len())];
                let alike = names.iter().skip(rng.usize(..names.len() / 2));
                let target =
                    alike.filter(|(other, _)| other == kind).find(|(_, name)| name != source);
                let target = target.map_or(source, |(_, name)| name);
                let (source, target) = (format!("{kind}:{source}"), format!("{kind}:{target}"));
                let merge: MergeEntities = request(json!({"source": source, "target": target}))?;
                let begun = Instant::now();
                book.merge_entities(&caller()?, &merge)?;
                let took = begun.elapsed();
                let back: UnmergeEntities = request(json!({"source": source}))?;
                book.unmerge_entities(&caller()?, &back)?;
                Ok(took)
            },
        )
    }

    /// Walks neighbourhoods, and paths between entities.
    fn measure_walks(&self, book: &Commonbook, names: &[TypedName]) -> Result<Vec<TimingRow>> {
        let mut rng = Rng::with_seed(SEED);
        let mut walk = |what: &str, path: bool| {
            let what = format!("{what}, {} relations", self.relations);
            self.time_entity_calls(&what, ReferenceTimes::default(), || {
                let mut call = || {
                    let (kind, name) = &names[rng.usize(..names.len())];
                    format!("{kind}:{name}")
                };
                let (from, to) = (call(), path.then(call));
                let query: GraphQuery = request(json!({"from": from, "to": to, "depth": 3}))?;
                let begun = Instant::now();
                book.graph_query(&caller()?, &query)?;
                Ok(begun.elapsed())
            })
        };
        Ok(vec![walk("walked to depth 3", false)?, walk("shortest path", true)?])
    }

    fn time_entity_calls(
        &self,
        what: &str,
        reference: ReferenceTimes,
        call: impl FnMut() -> Result<Duration>,
    ) -> Result<TimingRow> {
        TimingRow::measure_calls(what, self.calls, reference, call)
    }
}

impl EntityReport {
    fn print(&self) {
        let Self { memories, entities, relations, read_a_second, .. } = self;
        print_line(&format!(
            "data      {memories} memories, {entities} entities, {relations} relations, made up"
        ));
        print_line(&format!(
            "reading   {read_a_second:.0} memories a second read for entities and kept"
        ));
        print_line(&format!("found     {} by a name with a slip", self.fuzzily_found));
        self.machine.print();
        rows::print_rows(&self.rows);
    }
}

/// A name with its type.
type TypedName = (EntityType, String);

/// Names as in a team's registry: few first words, so that many share a prefix.
fn names(count: usize) -> Vec<TypedName> {
    let mut rng = Rng::with_seed(SEED);
    let syllables = [
        "ba", "ker", "lo", "min", "ter", "sa", "vel", "don", "ra", "shi", "pol", "gen", "wick",
        "mar", "tu", "nes",
    ];
    let pool: Vec<String> = (0..3_000)
        .map(|_| (0..2 + rng.usize(..3)).map(|_| syllables[rng.usize(..16)]).collect())
        .collect();
    let kinds = [
        EntityType::Person,
        EntityType::Organization,
        EntityType::Project,
        EntityType::Tool,
        EntityType::Concept,
    ];
    let name = |n: usize| {
        let first = &pool[rng.usize(..if n.is_multiple_of(3) { 20 } else { 1_000 })];
        let mut name = format!("{first} {}", pool[rng.usize(..pool.len())]);
        if n.is_multiple_of(4) {
            name = format!("{name} {}", pool[rng.usize(..200)]);
        }
        (kinds[n % kinds.len()], name)
    };
    (0..count).map(name).collect()
}

/// The name without one letter in the middle.
fn misspell(name: &str, rng: &mut Rng) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let place = 2 + rng.usize(..letters.len().saturating_sub(4).max(1));
    letters.remove(place.min(letters.len() - 1));
    letters.into_iter().collect()
}

fn caller() -> Result<Caller> {
    let name: AgentName = "bench".parse()?;
    Ok(Caller::new(Some(name), "registry".parse()?, EntryPoint::Cli))
}

fn request<T: DeserializeOwned>(fields: Value) -> Result<T> {
    input::from_value(fields)
}

/// Saves memories, half of which mention tools, files, people and tickets.
fn save(book: &Commonbook, names: &[TypedName], count: usize) -> Result<()> {
    let bar = super::bench_progress_bar("filling the store", count);
    let mut rng = Rng::with_seed(SEED);
    for batch in 0..count.div_ceil(100) {
        let text = |n: usize| {
            let (_, name) = &names[rng.usize(..names.len())];
            let number = batch * 100 + n;
            match number % 4 {
                0 => format!("{name} decided to move the job to PostgreSQL, see issue #{number}."),
                1 => format!("The retries live in src/jobs/j{number}.rs and call `Queue::push()`."),
                _ => format!("A quiet note on {name}, number {number}, that says little more."),
            }
        };
        let texts = (0..100.min(count - batch * 100)).map(text);
        let memories: Vec<SaveMemory> =
            texts.map(|text| SaveMemory { text, ..SaveMemory::default() }).collect();
        bar.inc(memories.len() as u64);
        book.save_memories(&caller()?, &SaveMemories { memories, idempotency_key: None })?;
    }
    bar.finish_and_clear();
    Ok(())
}

/// States these entities.
fn state_entities(book: &Commonbook, names: &[TypedName]) -> Result<()> {
    run_concurrently("stating entities", names.len(), |place| {
        let (kind, name) = &names[place];
        let request: ResolveEntity = request(json!({"type": kind, "value": name}))?;
        book.resolve_entity(&caller()?, &request).map(drop)
    })
}

/// Relates them: some to many, most to few.
fn relate_entities(book: &Commonbook, names: &[TypedName], count: usize) -> Result<()> {
    run_concurrently("relating them", count, |place| {
        let mut rng = Rng::with_seed(SEED + place as u64);
        let index = rng.usize(..names.len()).min(rng.usize(..names.len()));
        let ends = [index, rng.usize(..names.len())].map(|at| {
            let (kind, name) = &names[at];
            format!("{kind}:{name}")
        });
        let request: AddRelation =
            request(json!({"from": ends[0], "to": ends[1], "type": "uses"}))?;
        // Two names may belong to one entity, and an entity cannot be related to itself.
        book.add_relation(&caller()?, &request).map(drop).or(Ok(()))
    })
}

/// Runs something many times, with several writers in parallel.
fn run_concurrently(
    what: &'static str,
    count: usize,
    act: impl Fn(usize) -> Result<()> + Sync,
) -> Result<()> {
    let bar = super::bench_progress_bar(what, count);
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= count {
                return Ok(());
            }
            act(place)?;
            bar.inc(1);
        }
    };
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITER_THREADS).map(|_| scope.spawn(work)).collect();
        let joined = writers
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.collect::<Result<()>>()
    })?;
    bar.finish_and_clear();
    Ok(())
}
