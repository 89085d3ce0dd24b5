//! `bench stale`: a made-up team whose facts change while its agents decide on them. The simulation keeps
//! its own record of who received what, and compares each answer with it.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::clock::FixedClock;
use commonbook::base::error::Result;
use commonbook::base::id::MemoryId;
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::lineage::StaleMemory;
use commonbook::model::memory::{DeleteMemory, MemoryChangeKind, SaveMemory, UpdateMemory};
use commonbook::model::workspace::Workspace;
use commonbook::prompt::context::GetContext;
use commonbook_server::output::print_line;
use commonbook_text::tokens;
use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::json;

use crate::search::SEED;

/// Agents of the team.
const AGENTS: usize = 40;

/// Decisions between two contexts of an agent.
const DECISIONS_A_ROUND: usize = 10;

/// Facts that change in each round.
const CHANGES_A_ROUND: usize = 6;

/// Decisions of one session.
const DECISIONS_A_SESSION: usize = 50;

/// Decisions after which the index is written.
const INDEXED_DECISIONS: usize = 1_000;

/// Pairs of saves whose durations are compared.
const TIMED_PAIRS: usize = 1_000;

/// What the team's services are called.
const SERVICES: [&str; 24] = [
    "checkout",
    "billing",
    "search",
    "catalogue",
    "login",
    "invoice",
    "shipping",
    "pricing",
    "basket",
    "review",
    "loyalty",
    "refund",
    "export",
    "import",
    "mailer",
    "gateway",
    "ledger",
    "stock",
    "voucher",
    "wishlist",
    "tracking",
    "ranking",
    "archive",
    "report",
];

/// What is known of each service, and how decisions speak of that; `{s}` is the service, `{n}` a number.
const SUBJECTS: [(&str, [&str; 3]); 8] = [
    (
        "The {s} service retries a failed payment request {n} times",
        [
            "The load test plans for {n} retries of each failed {s} request",
            "We alert when {s} has retried a payment request for an hour",
            "Because {s} retries failed requests, its worker pool doubles",
        ],
    ),
    (
        "A call to {s} times out after {n} seconds",
        [
            "The client of {s} waits a second longer than its calls time out",
            "We set the proxy timeout of {s} calls by its own {n} seconds",
            "Calls that time out in {s} are written to the slow log",
        ],
    ),
    (
        "The {s} database is copied to region number {n} every night",
        [
            "The nightly copy of the {s} database moves to cheaper disks",
            "Auditors read the {s} database in region {n} after its copy",
            "We test the restore of the {s} database from the nightly region",
        ],
    ),
    (
        "Log files of {s} are kept for {n} days",
        [
            "The disk quota for {s} log files is sized for what is kept",
            "Support may ask for {s} log files of {n} days",
            "We compress {s} log files on their last day",
        ],
    ),
    (
        "The public API of {s} allows {n} requests a minute per key",
        [
            "Partners on the {s} API get a key that spreads requests over the minute",
            "The {s} API tells the requests that a key has left",
            "We sell a larger {s} API key to whom {n} requests are too few",
        ],
    ),
    (
        "The {s} cache drops an entry after {n} minutes",
        [
            "Banners on pages of the {s} cache change at most every {n} minutes",
            "An editor may drop an entry of the {s} cache by hand",
            "We warm the {s} cache before its entries drop",
        ],
    ),
    (
        "Deploys of {s} need {n} approvals from the platform team",
        [
            "The deploy calendar of {s} leaves a day for platform approvals",
            "We ask the platform team for {s} deploy approvals in the morning",
            "A {s} deploy without its {n} approvals pages the platform lead",
        ],
    ),
    (
        "The {s} queue holds at most {n} thousand messages",
        [
            "Producers slow down when the {s} queue holds most messages",
            "We measure the age of messages in the {s} queue",
            "The {s} queue gets a second consumer at {n} thousand messages",
        ],
    ),
];

/// What is decided about a service and rests on none of its facts.
const OTHER_DECISIONS: [&str; 3] = [
    "The {s} people meet on Mondays to plan their quarter",
    "Ada writes the onboarding guide for new colleagues of {s}",
    "The {s} dashboard gets a dark theme",
];

/// Arguments of the bench.
#[derive(Debug, clap::Args)]
pub(super) struct StaleBench {
    /// Decisions
    #[arg(long, default_value_t = 100_000)]
    decisions: usize,
    /// The seed of the team
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// The folder of the store; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// The results.
#[derive(Debug, Default, Serialize)]
struct StaleReport {
    seed: u64,
    decisions: usize,
    /// Decisions on a fact that has changed since the session received it, and that it had not heard of.
    stale: usize,
    /// Those of which the answer did not say so.
    silent: usize,
    alarms: usize,
    /// Alarms about nothing that the session received and that has changed since it last heard of it.
    false_alarms: usize,
    /// Alarms that a memory of the session is contradicted by another one.
    contradiction_alarms: usize,
    /// Alarms about a change of what the session received, where the decision is about something else.
    other_alarms: usize,
    /// Tokens of the alarms in the answers.
    alarm_tokens: usize,
    memories: usize,
    /// Median milliseconds of a save in a session that received nothing, and in one that was.
    untold_ms: f64,
    told_ms: f64,
    told_memories: usize,
    seconds: f64,
    /// The first silent decisions and false alarms.
    samples: Vec<String>,
}

/// A fact of the team: one memory and its successors.
struct Fact {
    service: usize,
    subject: usize,
    id: MemoryId,
    owner: Caller,
    number: u32,
    /// How often it has changed; its end is a change.
    changes: usize,
    /// Whether it was deleted: nothing links it to the fact that took its place.
    is_over: bool,
}

/// What a fact is about.
#[derive(Clone, Copy)]
struct FactSubject {
    service: usize,
    subject: usize,
}

/// An agent in a session.
struct Worker {
    caller: Caller,
    sessions: usize,
    /// Decisions in this session.
    decisions: usize,
    /// The facts that it received, each with the number of changes that it knows.
    told: HashMap<usize, usize>,
}

struct StaleSimulation {
    book: Commonbook,
    clock: Arc<FixedClock>,
    now: Timestamp,
    rng: Rng,
    facts: Vec<Fact>,
    workers: Vec<Worker>,
    /// The fact of each memory that states one.
    fact_of: HashMap<MemoryId, usize>,
    report: StaleReport,
}

impl StaleBench {
    /// Runs the simulation and prints the figures.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self, as_json: bool) -> Result<()> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        let now = "2026-01-05T08:00:00Z".parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let clock = Arc::new(FixedClock::at(now));
        let book = super::open_bench_book(folder.path(), Arc::clone(&clock) as _)?;
        let begun = Instant::now();
        let mut simulation = StaleSimulation {
            book,
            clock,
            now,
            rng: Rng::with_seed(self.seed),
            facts: Vec::new(),
            workers: (0..AGENTS).map(worker).collect(),
            fact_of: HashMap::new(),
            report: StaleReport { seed: self.seed, ..StaleReport::default() },
        };
        simulation.found_team()?;
        let progress = super::bench_progress_bar("deciding", self.decisions);
        while simulation.report.decisions < self.decisions {
            simulation.run_round()?;
            // In a home the server or a command writes the index; here nobody else does.
            if simulation.report.decisions.is_multiple_of(INDEXED_DECISIONS) {
                let book = &simulation.book;
                book.index().follow(book.store(), |_| ControlFlow::Continue(()))?;
            }
            progress.set_position(simulation.report.decisions as u64);
        }
        progress.finish_and_clear();
        simulation.time_saves()?;
        let mut report = simulation.report;
        report.seconds = begun.elapsed().as_secs_f64();
        if as_json {
            print_line(&json!(report).to_string());
        } else {
            report.print();
        }
        Ok(())
    }
}

impl StaleSimulation {
    fn tick(&mut self) {
        self.now = self.now.checked_add(SignedDuration::from_secs(20)).unwrap_or(self.now);
        self.clock.set(self.now);
    }

    fn save(&mut self, caller: &Caller, text: String) -> Result<Saved> {
        self.tick();
        let request = SaveMemory { text, ..SaveMemory::default() };
        let saved = self.book.save_memory(caller, &request)?;
        self.report.memories += 1;
        Ok(Saved { id: saved.memory.id, stale: saved.stale })
    }

    fn add_fact(&mut self, owner: Caller, subject: FactSubject, number: u32) -> Result<()> {
        let FactSubject { service, subject } = subject;
        let text = spoken(SUBJECTS[subject].0, service, number);
        let id = self.save(&owner, text)?.id;
        self.fact_of.insert(id, self.facts.len());
        let fact = Fact { service, subject, id, owner, number, changes: 0, is_over: false };
        self.facts.push(fact);
        Ok(())
    }

    /// A task about two subjects of a service.
    fn task(&mut self, service: usize) -> String {
        let mut subject =
            || SUBJECTS[self.rng.usize(..SUBJECTS.len())].0.replace("{n}", "how many");
        let both = [subject(), subject()].join(", and ");
        both.replace("{s}", SERVICES[service])
    }

    fn found_team(&mut self) -> Result<()> {
        for service in 0..SERVICES.len() {
            for subject in 0..SUBJECTS.len() {
                let owner = Caller { session: None, ..worker(self.rng.usize(..AGENTS)).caller };
                let number = self.rng.u32(2..90);
                self.add_fact(owner, FactSubject { service, subject }, number)?;
            }
        }
        Ok(())
    }

    /// An agent reads, others change facts, and the agent decides.
    fn run_round(&mut self) -> Result<()> {
        let place = self.rng.usize(..self.workers.len());
        let service = self.rng.usize(..SERVICES.len());
        if self.workers[place].decisions == DECISIONS_A_SESSION {
            self.workers[place].begin_session(place);
        }
        self.read(place, service)?;
        for _ in 0..CHANGES_A_ROUND {
            // Half of the changes concern what the agent has just read.
            let told: Vec<usize> = self.workers[place].told.keys().copied().collect();
            let fact = match self.rng.choice(&told) {
                Some(fact) if self.rng.bool() => *fact,
                _ => self.rng.usize(..self.facts.len()),
            };
            self.change(fact, place)?;
        }
        for _ in 0..DECISIONS_A_ROUND {
            self.decide(place)?;
        }
        Ok(())
    }

    fn read(&mut self, place: usize, service: usize) -> Result<()> {
        self.tick();
        let caller = self.workers[place].caller.clone();
        let task = self.task(service);
        let context =
            self.book.get_context(&caller, &GetContext { task, ..GetContext::default() })?;
        for item in &context.items {
            let id: Option<MemoryId> = item.id.parse().ok();
            let found = id.and_then(|id| self.fact_of.get(&id).copied());
            if let Some(fact) = found.filter(|fact| Some(self.facts[*fact].id) == id) {
                self.workers[place].told.insert(fact, self.facts[fact].changes);
            }
        }
        Ok(())
    }

    /// Corrects, supersedes or deletes and replaces a fact, by its owner in another session.
    fn change(&mut self, place: usize, reader: usize) -> Result<()> {
        self.tick();
        let Fact { service, subject, id, number, is_over, .. } = self.facts[place];
        let owner = self.facts[place].owner.clone();
        if is_over || owner.agent == self.workers[reader].caller.agent {
            return Ok(());
        }
        let number = number + 1 + self.rng.u32(..5);
        let text = spoken(SUBJECTS[subject].0, service, number);
        let fact = &mut self.facts[place];
        fact.changes += 1;
        match self.rng.u32(..10) {
            0..5 => {
                let change = UpdateMemory { text: Some(text), ..UpdateMemory::empty_update(id) };
                self.book.update_memory(&owner, &change)?;
                fact.number = number;
            }
            5..9 => {
                let request = SaveMemory { text, supersedes: Some(id), ..SaveMemory::default() };
                (fact.id, fact.number) =
                    (self.book.save_memory(&owner, &request)?.memory.id, number);
                self.fact_of.insert(fact.id, place);
            }
            _ => {
                let request = json!({"id": id});
                let request: DeleteMemory = serde_json::from_value(request)
                    .map_err(|error| commonbook_server::child::step_error("no request", error))?;
                self.book.delete_memory(&owner, &request)?;
                fact.is_over = true;
                self.add_fact(owner, FactSubject { service, subject }, number)?;
            }
        }
        Ok(())
    }

    /// A decision on a fact that the agent received, or on none.
    fn decide(&mut self, place: usize) -> Result<()> {
        let mut told: Vec<usize> = self.workers[place].told.keys().copied().collect();
        told.sort_unstable();
        let basis = self.rng.choice(&told).copied().filter(|_| self.rng.u32(..5) > 0);
        let variant = self.rng.usize(..3);
        let text = match basis {
            Some(fact) => {
                let Fact { service, subject, number, .. } = self.facts[fact];
                spoken(SUBJECTS[subject].1[variant], service, number)
            }
            None => {
                let service = self.rng.usize(..SERVICES.len());
                spoken(OTHER_DECISIONS[variant], service, 0)
            }
        };
        // No two decisions are the same.
        let text = format!("{text} (ticket {})", self.report.decisions);
        let caller = self.workers[place].caller.clone();
        let saved = self.save(&caller, text.clone())?;
        self.report.decisions += 1;
        self.workers[place].decisions += 1;
        self.judge(place, basis, &text, &saved.stale);
        Ok(())
    }

    /// Compares the answer to a decision with what this simulation knows.
    fn judge(&mut self, place: usize, basis: Option<usize>, text: &str, stale: &[StaleMemory]) {
        let (report, facts) = (&mut self.report, &self.facts);
        let told = &mut self.workers[place].told;
        let mut sample = |line: String| {
            if report.samples.len() < 20 {
                report.samples.push(line);
            }
        };
        report.alarms += stale.len();
        report.alarm_tokens +=
            tokens::count(&json!(stale).to_string()) * usize::from(!stale.is_empty());
        let is_stale = basis.is_some_and(|fact| told[&fact] < facts[fact].changes);
        let mut is_noticed = false;
        for alarm in stale {
            if alarm.change == MemoryChangeKind::Contradicted {
                report.contradiction_alarms += 1;
                continue;
            }
            let fact = self.fact_of.get(&alarm.memory).copied();
            let is_news = fact
                .filter(|fact| told.get(fact).is_some_and(|known| *known < facts[*fact].changes));
            match is_news {
                Some(fact) => {
                    told.insert(fact, facts[fact].changes);
                    is_noticed |= basis == Some(fact);
                    report.other_alarms += usize::from(basis != Some(fact));
                }
                None => {
                    report.false_alarms += 1;
                    sample(format!("false: {text} / {}", alarm.sentence()));
                }
            }
        }
        let Some(fact) = basis.filter(|_| is_stale) else { return };
        report.stale += 1;
        if !is_noticed {
            // The next decision on it would be silent for the same reason.
            told.insert(fact, facts[fact].changes);
            report.silent += 1;
            sample(format!("silent: {text} / {}", facts[fact].id));
        }
    }

    /// Compares saves of two agents in turn: one that received nothing, and one that was.
    fn time_saves(&mut self) -> Result<()> {
        let mut reader = worker(AGENTS);
        reader.begin_session(AGENTS);
        self.workers.push(reader);
        let place = self.workers.len() - 1;
        let mut told = 0;
        for service in 0..6 {
            self.tick();
            let task = self.task(service);
            let request = GetContext { task, ..GetContext::default() };
            told += self.book.get_context(&self.workers[place].caller, &request)?.items.len();
        }
        let stranger = Caller { session: Some("untold".to_owned()), ..worker(AGENTS + 1).caller };
        let callers = [stranger, self.workers[place].caller.clone()];
        let mut times: [Vec<Duration>; 2] = Default::default();
        for number in 0..TIMED_PAIRS {
            for (caller, times) in callers.iter().zip(&mut times) {
                let text = format!(
                    "The archive of case {number} lies in room {} of the old mill, by {}",
                    self.rng.u32(..),
                    caller.agent
                );
                let request = SaveMemory { text, ..SaveMemory::default() };
                let start = Instant::now();
                self.book.save_memory(caller, &request)?;
                times.push(start.elapsed());
            }
        }
        let median = |times: &mut Vec<Duration>| {
            times.sort_unstable();
            super::millis(times[times.len() / 2])
        };
        let [untold, told_times] = &mut times;
        self.report.untold_ms = median(untold);
        self.report.told_ms = median(told_times);
        self.report.told_memories = told;
        Ok(())
    }
}

/// A saved memory.
struct Saved {
    id: MemoryId,
    stale: Vec<StaleMemory>,
}

impl Worker {
    fn begin_session(&mut self, place: usize) {
        self.sessions += 1;
        self.decisions = 0;
        self.told.clear();
        self.caller.session = Some(format!("work-{place}-{}", self.sessions));
    }
}

fn worker(place: usize) -> Worker {
    let agent = format!("agent-{place}").parse().ok();
    let agent: Option<AgentName> = agent;
    let caller = Caller::new(agent, Workspace::fallback(), EntryPoint::Cli);
    let caller = Caller { session: Some(format!("work-{place}-0")), ..caller };
    Worker { caller, sessions: 0, decisions: 0, told: HashMap::new() }
}

/// A text with the name of a service and a number in it.
fn spoken(text: &str, service: usize, number: u32) -> String {
    text.replace("{s}", SERVICES[service]).replace("{n}", &number.to_string())
}

impl StaleReport {
    fn print(&self) {
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        print_line(&format!(
            "{} agents, {} decisions, {} memories, seed {}, {:.0} s \
             (commonbook-bench stale --decisions {} --seed {})",
            AGENTS,
            self.decisions,
            self.memories,
            self.seed,
            self.seconds,
            self.decisions,
            self.seed
        ));
        print_line(&format!(
            "stale decisions  {} ({} silent), recall {:.2} %",
            self.stale,
            self.silent,
            100.0 - percent(self.silent, self.stale)
        ));
        print_line(&format!(
            "alarms           {}, {} false ({:.2} % of the decisions), {} of contradictions, \
             {} tokens each",
            self.alarms,
            self.false_alarms,
            percent(self.false_alarms, self.decisions),
            self.contradiction_alarms,
            self.alarm_tokens / self.alarms.max(1)
        ));
        print_line(&format!(
            "                 {} about another told memory that has changed ({:.2} % of the decisions)",
            self.other_alarms,
            percent(self.other_alarms, self.decisions)
        ));
        print_line(&format!(
            "a save           {:.3} ms told nothing, {:.3} ms told {} memories: {:.3} ms more",
            self.untold_ms,
            self.told_ms,
            self.told_memories,
            self.told_ms - self.untold_ms
        ));
        self.samples.iter().for_each(|sample| print_line(sample));
    }
}
