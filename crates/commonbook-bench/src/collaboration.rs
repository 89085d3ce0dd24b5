//! `bench collaboration`: durations of handoffs, resumes, cycle checks, appends and catching up, in
//! a large store; and a simulation of a team.

mod simulation;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::Result;
use commonbook::base::input;
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::collaboration::CollaborationGraph;
use commonbook::model::memory::{SaveMemories, SaveMemory};
use fastrand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::EmbedderChoice;
use super::machine::MachineProfile;
use super::rows::{self, ReferenceTimes, TimingRow};
use super::search::{SEED, fill};
use crate::synthetic::MAIN_WORKSPACE;
use commonbook_server::config::Config;
use commonbook_server::follow;
use commonbook_server::output::{self, print_line};
use simulation::{SimulationReport, simulate};

/// Memories of the session that is resumed.
const SESSION_MEMORIES: usize = 100;

/// Arguments of the collaboration bench.
#[derive(Debug, clap::Args)]
pub(super) struct CollaborationBench {
    /// Memories in the store
    #[arg(long, default_value_t = 50_000)]
    memories: usize,
    /// Calls of each kind
    #[arg(long, default_value_t = 200)]
    calls: usize,
    /// The folder for the home; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Handoffs of the simulation
    #[arg(long, default_value_t = 10_000)]
    handoffs: usize,
    /// Run the simulation alone
    #[arg(long)]
    simulation: bool,
    #[command(flatten)]
    by: EmbedderChoice,
}

/// The results.
#[derive(Serialize)]
struct CollaborationReport {
    bench: &'static str,
    memories: usize,
    embedder: String,
    passed: String,
    rows: Vec<TimingRow>,
    simulation: SimulationReport,
    machine: MachineProfile,
}

impl CollaborationBench {
    /// Fills a store; hands over, resumes, closes cycles, appends and catches up; simulates a team.
    ///
    /// # Errors
    /// The error of the failing step; `internal` if the simulation finds what must not be.
    pub(super) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        if self.simulation {
            let simulation = self.simulate()?;
            if as_json {
                output::print_json(&json!(simulation));
            } else {
                simulation.print();
            }
            return simulation.check();
        }
        let folder = super::bench_folder(self.folder.as_ref())?;
        fill(folder.path(), self.memories, 1)?;
        let book = super::open_bench_book(folder.path(), Arc::new(SystemClock))?;
        self.by.give_embedder(&book, config)?;
        super::rebuild(&book, self.memories)?;
        let session = create_session(&book)?;
        follow::find_mentions_with_progress(&book)?;
        let mut rows = Vec::new();
        let (made, passed) = self.measure_handoffs(&book)?;
        rows.extend(made);
        rows.extend(self.measure_resumes(&book, &session)?);
        rows.extend(self.measure_cycles()?);
        rows.extend(self.measure_case(&book)?);
        let report = CollaborationReport {
            bench: "collaboration",
            memories: self.memories,
            embedder: self.by.name(config).to_owned(),
            passed,
            rows,
            simulation: self.simulate()?,
            machine: MachineProfile::detect_machine(),
        };
        if as_json {
            output::print_json(&json!(report));
        } else {
            report.print();
        }
        report.simulation.check()
    }

    /// Simulates a team in a home of its own.
    fn simulate(&self) -> Result<SimulationReport> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        simulate(folder.path(), self.handoffs)
    }

    fn time_calls(
        &self,
        what: &str,
        reference: ReferenceTimes,
        call: impl FnMut() -> Result<Duration>,
    ) -> Result<TimingRow> {
        TimingRow::measure_calls(what, self.calls, reference, call)
    }

    /// Creates handoffs with ten memories and twenty entities, and accepts them. Also returns their
    /// contents.
    fn measure_handoffs(&self, book: &Commonbook) -> Result<(Vec<TimingRow>, String)> {
        let (mut number, mut memories, mut entities) = (0, 0, 0);
        let mut made = Vec::new();
        let prepared = self.time_calls(
            "handoff prepared and kept",
            ReferenceTimes::of(Some(180.0), Some(5.0)),
            || {
                number += 1;
                let fields = json!({
                    "to": format!("target-{number}"),
                    "task": "Go on with the orders page: the query is slow and the tests fail",
                    "context": "The join is in place, the index is not.",
                    "max_memories": 10, "max_entities": 20, "threshold": 0.3,
                });
                let request = request(fields)?;
                let begun = Instant::now();
                let answer = book.create_handoff(&caller("source")?, &request)?;
                let took = begun.elapsed();
                memories += answer.handoff.memories.len();
                entities += answer.handoff.entities.len();
                made.push(answer.handoff.id);
                Ok(took)
            },
        )?;
        let mut next = made.iter().enumerate();
        let accepted = self.time_calls("handoff accepted", ReferenceTimes::default(), || {
            let Some((place, id)) = next.next() else { return Ok(Duration::ZERO) };
            let request = request(json!({"handoff": id}))?;
            let target = caller(&format!("target-{}", place + 1))?;
            let begun = Instant::now();
            book.accept_handoff(&target, &request)?;
            Ok(begun.elapsed())
        })?;
        let mean = |count: usize| count as f64 / self.calls.max(1) as f64;
        let passed =
            format!("{:.1} memories and {:.1} entities each", mean(memories), mean(entities));
        Ok((vec![prepared, accepted], passed))
    }

    fn measure_resumes(&self, book: &Commonbook, session: &str) -> Result<Vec<TimingRow>> {
        let modes = [
            ("full", json!({"session": session}), ReferenceTimes::of(Some(800.0), Some(3.0))),
            (
                "partial",
                json!({"session": session, "mode": "partial"}),
                ReferenceTimes::of(Some(400.0), None),
            ),
            (
                "agent",
                json!({"session": session, "mode": "agent", "owner": "source"}),
                ReferenceTimes::of(Some(250.0), None),
            ),
        ];
        let row = |(mode, fields, reference): (&str, Value, ReferenceTimes)| {
            let what = format!("resumed, {mode}, {SESSION_MEMORIES} memories");
            self.time_calls(&what, reference, || {
                let request = request(fields.clone())?;
                let begun = Instant::now();
                book.resume_session(&caller("source")?, &request)?;
                Ok(begun.elapsed())
            })
        };
        modes.into_iter().map(row).collect()
    }

    /// Finds the cycle that a handoff closes, among many agents with eight handoffs each.
    fn measure_cycles(&self) -> Result<Vec<TimingRow>> {
        let figures = [
            (10, ReferenceTimes::of(Some(60.0), None)),
            (50, ReferenceTimes::of(Some(380.0), None)),
            (100, ReferenceTimes::of(Some(850.0), Some(0.1))),
            (1_000, ReferenceTimes::default()),
        ];
        let row = |(count, reference): (usize, ReferenceTimes)| {
            let names = (0..count).map(|place| format!("agent-{place}").parse::<AgentName>());
            let agents: Vec<Agent> =
                names.map(|name| name.map(|name| name.agent)).collect::<Result<_>>()?;
            let mut rng = Rng::with_seed(SEED);
            // Forward edges make no cycle; the last edge closes the longest one.
            let ring = (1..count).map(|place| (place - 1, place));
            let mut edges: Vec<(usize, usize)> = ring.collect();
            for place in 0..count - 1 {
                edges.extend((0..7).map(|_| (place, rng.usize(place + 1..count))));
            }
            let what = format!("cycle found, {count} agents");
            self.time_calls(&what, reference, || {
                let begun = Instant::now();
                let graph =
                    CollaborationGraph::of(edges.iter().map(|(a, b)| (&agents[*a], &agents[*b])));
                let found = graph.closing_cycle(&agents[count - 1], &agents[0]);
                let took = begun.elapsed();
                debug_assert!(found.is_some());
                Ok(took)
            })
        };
        figures.into_iter().map(row).collect()
    }

    /// Appends to a case, and reads its new entries.
    fn measure_case(&self, book: &Commonbook) -> Result<Vec<TimingRow>> {
        let mut number = 0;
        let append = json!({"key": "bench", "title": "Bench"});
        book.open_case(&caller("source")?, &request(append)?)?;
        let appended =
            self.time_calls("entry appended, durably", ReferenceTimes::default(), || {
                number += 1;
                let summary = format!("Step {number} of the work on the orders page is done.");
                let fields = json!({"key": "bench", "entries": [{"summary": summary}]});
                let request = request(fields)?;
                let begun = Instant::now();
                book.append_entries(&caller("source")?, &request)?;
                Ok(begun.elapsed())
            })?;
        let mut reader = 0;
        let caught_up =
            self.time_calls("caught up with 100 entries", ReferenceTimes::default(), || {
                reader += 1;
                let request = request(json!({"case": "bench", "limit": 100, "mark": true}))?;
                let reader = caller(&format!("reader-{reader}"))?;
                let begun = Instant::now();
                book.changes_since(&reader, &request)?;
                Ok(begun.elapsed())
            })?;
        Ok(vec![appended, caught_up])
    }
}

impl CollaborationReport {
    fn print(&self) {
        let Self { memories, embedder, passed, .. } = self;
        print_line(&format!("data      {memories} memories, made up; embedder {embedder}"));
        print_line(&format!("passed    {passed} went along"));
        self.machine.print();
        rows::print_rows(&self.rows);
        self.simulation.print();
    }
}

fn caller(name: &str) -> Result<Caller> {
    Ok(Caller::new(Some(name.parse()?), MAIN_WORKSPACE.parse()?, EntryPoint::Cli))
}

fn request<T: DeserializeOwned>(fields: Value) -> Result<T> {
    input::from_value(fields)
}

/// The session that is handed over and resumed, with its memories. Returns its id.
fn create_session(book: &Commonbook) -> Result<String> {
    let source = caller("source")?;
    let session = book.start_session(&source, &request(json!({}))?)?.session.id.to_string();
    let source = source.in_session(Some(&session))?;
    let tools = ["PostgreSQL", "TypeScript", "Docker", "Redis", "React", "Kubernetes", "Rust"];
    let text = |number: usize| {
        let (tool, other) = (tools[number % tools.len()], tools[(number / 7) % tools.len()]);
        format!(
            "The query of the orders page was slow in step {number}: {tool} and {other} were \
             reviewed, src/orders/part{number}.ts was changed, and the test failed for issue \
             #{number}."
        )
    };
    let memories: Vec<SaveMemory> = (0..SESSION_MEMORIES)
        .map(|number| SaveMemory { text: text(number), ..SaveMemory::default() })
        .collect();
    book.save_memories(&source, &SaveMemories { memories, idempotency_key: None })?;
    Ok(session)
}
