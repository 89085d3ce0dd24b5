//! A simulation of many agents that hand work to each other for weeks: rework, rounds, crashes and
//! expiry. It keeps its own record of what happened, and compares: each handoff ends in one final
//! state, every cycle is found, no private memory reaches a stranger, and the journal alone says the
//! same as the store.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use commonbook::Commonbook;
use commonbook::base::clock::FixedClock;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::id::{CountingIds, HandoffId};
use commonbook::base::page::Page;
use commonbook::model::caller::Caller;
use commonbook::model::event::EventKind;
use commonbook::model::handoff::{Handoff, HandoffStatus};
use commonbook::model::workspace::Workspace;
use commonbook::store::sqlite::SqliteStore;
use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

use super::{caller, request};
use crate::search::SEED;
use crate::synthetic::MAIN_WORKSPACE;
use commonbook_server::output::print_line;

/// The roles; two or three agents have each.
const ROLES: [&str; 20] = [
    "analyst",
    "architect",
    "backend",
    "builder",
    "data",
    "designer",
    "developer",
    "docs",
    "engineer",
    "frontend",
    "infra",
    "lead",
    "ops",
    "planner",
    "qa",
    "release",
    "reviewer",
    "security",
    "support",
    "writer",
];

/// The clients, which run agents of every role.
const CLIENTS: [&str; 4] = ["claude-code", "codex", "gemini-cli", "opencode"];

/// Number of agents.
const AGENTS: usize = 50;

/// Cases that the work is about: few handoffs are about the same.
const CASES: usize = 400;

/// Handoffs that wait at a time; then agents accept before they hand over.
const WAITING_MAX: usize = 300;

/// Crashes in the whole simulation, after each of which the store is opened again.
const CRASHES: usize = 40;

/// Agents that do not come back after a crash, until the next one.
const AWAY: usize = 4;

/// The beginning of the text of every private memory, with its number behind it.
const PRIVATE_MARK: &str = "PRIVATE-";

/// Findings that the report lists; more are counted.
const FINDINGS_MAX: usize = 20;

/// The results.
#[derive(Debug, Default, Serialize)]
pub(super) struct SimulationReport {
    agents: usize,
    roles: usize,
    /// Handoffs that were created.
    handoffs: usize,
    by_status: BTreeMap<HandoffStatus, usize>,
    cycles: usize,
    rounds: usize,
    refusals: usize,
    /// Handoffs for a role that an agent accepted, and those for which another was too late.
    roles_taken: usize,
    too_late: usize,
    crashes: usize,
    private_memories: usize,
    events: usize,
    seconds: f64,
    /// What was not as it must be.
    findings: Vec<String>,
}

impl SimulationReport {
    /// Prints the figures.
    pub(super) fn print(&self) {
        let Self { agents, roles, handoffs, cycles, rounds, refusals, crashes, .. } = self;
        let ended: Vec<String> =
            self.by_status.iter().map(|(status, count)| format!("{count} {status}")).collect();
        print_line(&format!(
            "\nsimulation  {agents} agents, {roles} roles, {handoffs} handoffs, {crashes} crashes, \
             {:.1} s",
            self.seconds
        ));
        print_line(&format!("ended       {}", ended.join(", ")));
        print_line(&format!(
            "cycles      {cycles} found, {rounds} of them further rounds; {refusals} refused"
        ));
        print_line(&format!(
            "roles       {} taken by the first, {} too late",
            self.roles_taken, self.too_late
        ));
        print_line(&format!(
            "compared    with {} events of the journal and {} private memories",
            self.events, self.private_memories
        ));
        match self.findings.len() {
            0 => print_line("findings    none"),
            count => print_line(&format!("findings    {count}")),
        }
        for finding in self.findings.iter().take(FINDINGS_MAX) {
            print_line(&format!("            {finding}"));
        }
    }

    /// Succeeds if everything was as it must be.
    ///
    /// # Errors
    /// `internal` with the number of findings.
    pub(super) fn check(&self) -> Result<()> {
        match self.findings.len() {
            0 => Ok(()),
            count => {
                let message = format!("the simulation has {count} findings");
                Err(Error::new(ErrorKind::Internal, message))
            }
        }
    }
}

/// A handoff as the simulation remembers it.
struct Remembered {
    id: HandoffId,
    from: usize,
    /// The target; for a role, who has accepted it.
    to: Option<usize>,
    role: Option<&'static str>,
    chain: HandoffId,
    case: String,
    status: HandoffStatus,
    has_cycle: bool,
    /// The private memories that the source named.
    named: BTreeSet<String>,
}

impl Remembered {
    /// Whether it belongs to the matter of a handoff.
    fn matters_for(&self, chain: HandoffId, case: &str) -> bool {
        self.status.passes_work() && (self.chain == chain || self.case == case)
    }
}

/// The running simulation.
struct Simulation<'s> {
    home: &'s Path,
    clock: Arc<FixedClock>,
    ids: Arc<CountingIds>,
    book: Commonbook,
    now: Timestamp,
    rng: Rng,
    names: Vec<String>,
    remembered: Vec<Remembered>,
    places: HashMap<HandoffId, usize>,
    away: BTreeSet<usize>,
    /// The private memories of each agent: the id, and the mark in its text.
    private: Vec<Vec<(String, String)>>,
    report: SimulationReport,
}

/// Simulates this many handoffs in an empty home.
///
/// # Errors
/// The error of a call that must go well.
pub(super) fn simulate(home: &Path, handoffs: usize) -> Result<SimulationReport> {
    let begun = std::time::Instant::now();
    let mut simulation = Simulation::begin(home)?;
    simulation.work(handoffs)?;
    simulation.finish()?;
    simulation.compare_with_store()?;
    simulation.compare_with_journal()?;
    let mut report = simulation.report;
    report.seconds = begun.elapsed().as_secs_f64();
    Ok(report)
}

impl<'s> Simulation<'s> {
    fn begin(home: &'s Path) -> Result<Self> {
        let now: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let (clock, ids) = (Arc::new(FixedClock::at(now)), Arc::new(CountingIds::default()));
        let book = open(home, &clock, &ids)?;
        let name = |number: usize| {
            let (client, role) = (CLIENTS[number % CLIENTS.len()], ROLES[number % ROLES.len()]);
            format!("{client}/team-{number}/{role}")
        };
        let names: Vec<String> = (0..AGENTS).map(name).collect();
        for number in 0..CASES {
            let open = json!({"key": case_key(number)});
            book.open_case(&caller("human-lead")?, &request(open)?)?;
        }
        let report =
            SimulationReport { agents: AGENTS, roles: ROLES.len(), ..SimulationReport::default() };
        Ok(Self {
            home,
            clock,
            ids,
            book,
            now,
            rng: Rng::with_seed(SEED),
            names,
            remembered: Vec::new(),
            places: HashMap::new(),
            away: BTreeSet::new(),
            private: vec![Vec::new(); AGENTS],
            report,
        })
    }

    /// Hands work over until there are this many handoffs.
    fn work(&mut self, handoffs: usize) -> Result<()> {
        let bar = crate::bench_progress_bar("simulating", handoffs);
        let mut crash_at = handoffs / CRASHES.min(handoffs).max(1);
        while self.remembered.len() < handoffs {
            let agent = self.rng.usize(0..AGENTS);
            if self.away.contains(&agent) {
                continue;
            }
            let waiting = self.remembered.len() > WAITING_MAX && self.waiting() > WAITING_MAX;
            match self.rng.u32(0..100) {
                0..40 if !waiting => self.hand_over(agent)?,
                0..64 => self.accept(agent)?,
                64..84 => self.complete(agent)?,
                84..89 => self.reject(agent)?,
                89..91 => self.withdraw(agent)?,
                91..97 => self.save(agent)?,
                97 => self.read_context(agent)?,
                _ => self.pass_time()?,
            }
            if self.remembered.len() >= crash_at {
                crash_at += handoffs / CRASHES.min(handoffs).max(1);
                self.crash(agent)?;
            }
            bar.set_position(self.remembered.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn waiting(&self) -> usize {
        let newest = self.remembered.iter().rev().take(10 * WAITING_MAX);
        newest.filter(|handoff| handoff.status == HandoffStatus::Pending).count()
    }

    fn caller(&self, agent: usize) -> Result<Caller> {
        caller(&self.names[agent])
    }

    fn note(&mut self, finding: String) {
        self.report.findings.push(finding);
    }

    /// Hands over to an agent or to a role; half of the time back to an agent that it worked with.
    fn hand_over(&mut self, from: usize) -> Result<()> {
        let own = self.remembered.iter().rev().take(WAITING_MAX);
        let mut own = own.filter(|handoff| {
            handoff.to == Some(from)
                && matches!(handoff.status, HandoffStatus::Accepted | HandoffStatus::Completed)
        });
        let back = own.next().map(|handoff| (handoff.from, handoff.case.clone()));
        let (to, case) = match back.filter(|_| self.rng.bool()) {
            Some((source, case)) => (source, case),
            None => (self.rng.usize(0..AGENTS), case_key(self.rng.usize(0..CASES))),
        };
        if to == from {
            return Ok(());
        }
        if self.rng.u32(0..100) < 60 {
            self.save(from)?;
        }
        let role = (self.rng.u32(0..100) < 40).then_some(ROLES[to % ROLES.len()]);
        let named = self.private[from].last().cloned().filter(|_| self.rng.u32(0..100) < 10);
        let fields = json!({
            "to": role.unwrap_or(&self.names[to]),
            "task": format!("Go on with the retries of part {}", self.rng.u32(0..50)),
            "case": case,
            "expires_hours": self.rng.u32(2..72),
            "memories": named.iter().map(|(id, _)| id).collect::<Vec<_>>(),
        });
        let made = match self.book.create_handoff(&self.caller(from)?, &request(fields)?) {
            Ok(made) => made,
            Err(error) if error.kind == ErrorKind::Conflict => {
                let is_cycle = error.message.contains("closes a cycle");
                self.report.refusals += usize::from(is_cycle);
                if is_cycle && !self.closes_cycle(from, Some(to), role, None) {
                    self.note(format!("a refused handoff closes no cycle: {error}"));
                }
                return self.save(from);
            }
            Err(error) => return Err(error),
        };
        let Handoff { id, chain, .. } = made.handoff;
        let expected = self.closes_cycle(from, Some(to), role, Some((chain, &case)));
        if expected != made.cycle.is_some() {
            self.note(format!("the cycle of {id} was found: {}", made.cycle.is_some()));
        }
        self.report.rounds += usize::from(made.cycle.as_ref().is_some_and(|cycle| cycle.again));
        self.places.insert(id, self.remembered.len());
        self.remembered.push(Remembered {
            id,
            from,
            to: if role.is_some() { None } else { Some(to) },
            role,
            chain,
            case,
            status: HandoffStatus::Pending,
            has_cycle: expected,
            named: named.into_iter().map(|(_, mark)| mark).collect(),
        });
        Ok(())
    }

    /// Whether a handoff closes a cycle, by walking every path. Without a matter, all handoffs that
    /// passed work count.
    fn closes_cycle(
        &self,
        from: usize,
        to: Option<usize>,
        role: Option<&str>,
        matter: Option<(HandoffId, &str)>,
    ) -> bool {
        let mut targets = vec![Vec::new(); AGENTS];
        for handoff in &self.remembered {
            let counts = match matter {
                Some((chain, case)) => handoff.matters_for(chain, case),
                None => handoff.status.passes_work(),
            };
            if let Some(to) = handoff.to.filter(|_| counts) {
                targets[handoff.from].push(to);
            }
        }
        let mut next: Vec<usize> = match role {
            Some(role) => (0..AGENTS)
                .filter(|agent| *agent != from && ROLES[agent % ROLES.len()] == role)
                .collect(),
            None => to.into_iter().collect(),
        };
        let mut seen = BTreeSet::new();
        while let Some(agent) = next.pop() {
            if agent == from {
                return true;
            }
            if seen.insert(agent) {
                next.extend(&targets[agent]);
            }
        }
        false
    }

    /// Accepts the head of the agent's queue; now and then two agents of one role want the same.
    fn accept(&mut self, agent: usize) -> Result<()> {
        let me = self.caller(agent)?;
        let list = json!({"status": ["pending"], "limit": 1});
        let queue: Page<Handoff> = self.book.list_handoffs(&me, &request(list)?)?;
        let Some(head) = queue.items.into_iter().next() else { return Ok(()) };
        if head.position != Some(1) {
            self.note(format!("the head of a queue has the position {:?}", head.position));
        }
        let accept = request(json!({"handoff": head.id}))?;
        let taken = self.book.accept_handoff(&me, &accept)?;
        let Some(place) = self.places.get(&head.id).copied() else {
            self.note(format!("nobody has created {}", head.id));
            return Ok(());
        };
        self.check_text(&taken.text, &self.remembered[place].named.clone());
        let (from, chain) = (self.remembered[place].from, self.remembered[place].chain);
        let case = self.remembered[place].case.clone();
        if let Some(role) = self.remembered[place].role {
            self.report.roles_taken += 1;
            if !self.remembered[place].has_cycle {
                // Only now it is known which agent has it.
                let closes = self.closes_cycle(from, Some(agent), None, Some((chain, &case)));
                self.remembered[place].has_cycle = closes;
            }
            let other = (0..AGENTS)
                .find(|other| ![agent, from].contains(other) && ROLES[other % ROLES.len()] == role);
            if let Some(other) = other {
                let late = self.book.accept_handoff(&self.caller(other)?, &accept);
                let is_conflict = late.err().is_some_and(|late| late.kind == ErrorKind::Conflict);
                self.report.too_late += usize::from(is_conflict);
                if !is_conflict {
                    self.note(format!("two agents have accepted {}", head.id));
                }
            }
        }
        let remembered = &mut self.remembered[place];
        (remembered.to, remembered.status) = (Some(agent), HandoffStatus::Accepted);
        if remembered.has_cycle != taken.handoff.cycle.is_some() {
            let id = remembered.id;
            self.note(format!("the accepted {id} has a cycle: {}", taken.handoff.cycle.is_some()));
        }
        Ok(())
    }

    /// The place of a handoff of this status that one of the agent's last handoffs has.
    fn own(&mut self, agent: usize, status: HandoffStatus) -> Option<usize> {
        let own = |handoff: &Remembered| handoff.status == status && handoff.to == Some(agent);
        let first = self.remembered.len().saturating_sub(10 * WAITING_MAX);
        let found = (first..self.remembered.len()).filter(|place| own(&self.remembered[*place]));
        let found: Vec<usize> = found.collect();
        (!found.is_empty()).then(|| found[self.rng.usize(0..found.len())])
    }

    fn complete(&mut self, agent: usize) -> Result<()> {
        let Some(place) = self.own(agent, HandoffStatus::Accepted) else { return Ok(()) };
        self.complete_at(agent, place)
    }

    fn complete_at(&mut self, agent: usize, place: usize) -> Result<()> {
        let id = self.remembered[place].id;
        let complete = |result: &str| request(json!({"handoff": id, "result": result}));
        let me = self.caller(agent)?;
        let first = self.book.complete_handoff(&me, &complete("The retries work")?)?;
        let again = self.book.complete_handoff(&me, &complete("The retries work")?)?;
        let other = self.book.complete_handoff(&me, &complete("The retries fail")?);
        if first != again || other.err().map(|error| error.kind) != Some(ErrorKind::Conflict) {
            self.note(format!("{id} was completed twice"));
        }
        self.remembered[place].status = HandoffStatus::Completed;
        Ok(())
    }

    /// Rejects a handoff; half of the time its source hands the same work over again.
    fn reject(&mut self, agent: usize) -> Result<()> {
        let status = if self.rng.bool() { HandoffStatus::Accepted } else { HandoffStatus::Pending };
        let Some(place) = self.own(agent, status) else { return Ok(()) };
        let fields = json!({"handoff": self.remembered[place].id, "reason": "The tests fail"});
        self.book.reject_handoff(&self.caller(agent)?, &request(fields)?)?;
        self.remembered[place].status = HandoffStatus::Rejected;
        let from = self.remembered[place].from;
        if self.rng.bool() && !self.away.contains(&from) { self.hand_over(from) } else { Ok(()) }
    }

    fn withdraw(&mut self, agent: usize) -> Result<()> {
        let pending = |handoff: &Remembered| {
            handoff.from == agent && handoff.status == HandoffStatus::Pending
        };
        let Some(place) = self.remembered.iter().rposition(pending) else { return Ok(()) };
        let fields = json!({"handoff": self.remembered[place].id, "reason": "Not needed now"});
        self.book.withdraw_handoff(&self.caller(agent)?, &request(fields)?)?;
        self.remembered[place].status = HandoffStatus::Withdrawn;
        Ok(())
    }

    /// Saves a memory; one in four is private.
    fn save(&mut self, agent: usize) -> Result<()> {
        let (part, number) = (self.rng.u32(0..50), self.report.private_memories);
        let is_private = self.rng.u32(0..4) == 0;
        let text = format!("The retries of part {part} failed after {} tries", self.rng.u32(0..99));
        let mark = format!("{PRIVATE_MARK}{number:06}");
        let fields = match is_private {
            true => json!({"text": format!("{mark}: {text}"), "sharing": "private"}),
            false => json!({"text": text}),
        };
        let saved = self.book.save_memory(&self.caller(agent)?, &request(fields)?)?;
        if is_private {
            self.report.private_memories += 1;
            self.private[agent].push((saved.memory.id.to_string(), mark));
        }
        Ok(())
    }

    fn read_context(&mut self, agent: usize) -> Result<()> {
        let task = format!("Go on with the retries of part {}", self.rng.u32(0..50));
        let context =
            self.book.get_context(&self.caller(agent)?, &request(json!({"task": task}))?)?;
        let own = self.private[agent].iter().map(|(_, mark)| mark.clone()).collect();
        self.check_text(&context.text, &own);
        Ok(())
    }

    /// Notes every private memory in a text that is not among these.
    fn check_text(&mut self, text: &str, allowed: &BTreeSet<String>) {
        for (start, _) in text.match_indices(PRIVATE_MARK) {
            let mark: String = text[start..].chars().take(PRIVATE_MARK.len() + 6).collect();
            if !allowed.contains(&mark) {
                self.note(format!("a stranger received {mark}"));
            }
        }
    }

    /// Some hours pass, and what is too old expires.
    fn pass_time(&mut self) -> Result<()> {
        let hours = self.rng.i64(1..4);
        self.set_clock(hours);
        self.book.sweep()?;
        self.note_expired()
    }

    fn set_clock(&mut self, hours: i64) {
        self.now = self.now.saturating_add(SignedDuration::from_hours(hours)).unwrap_or(self.now);
        self.clock.set(self.now);
    }

    /// Reads which of the open handoffs have expired: the clock decides that, and of an accepted one whether its
    /// agent has been silent.
    fn note_expired(&mut self) -> Result<()> {
        let lead = caller("human-lead")?;
        for place in 0..self.remembered.len() {
            let known = self.remembered[place].status;
            if known.is_open() {
                let get = request(json!({"handoff": self.remembered[place].id}))?;
                let found = self.book.get_handoff(&lead, &get)?.handoff;
                let is_due = found.expires_at <= self.now;
                match found.status {
                    HandoffStatus::Expired if is_due => {
                        self.remembered[place].status = HandoffStatus::Expired;
                    }
                    status if status == known => {}
                    other => self.note(format!("{} is {other} and was {known}", found.id)),
                }
            }
        }
        Ok(())
    }

    /// The process of all agents ends without a word; some agents do not come back. Another process
    /// opens the store, and an agent whose answer was lost repeats its call.
    fn crash(&mut self, agent: usize) -> Result<()> {
        self.report.crashes += 1;
        self.book = open(self.home, &self.clock, &self.ids)?;
        self.away = (0..AWAY).map(|_| self.rng.usize(0..AGENTS)).collect();
        if let Some(place) = self.own(agent, HandoffStatus::Accepted) {
            let accept = request(json!({"handoff": self.remembered[place].id}))?;
            let again = self.book.accept_handoff(&self.caller(agent)?, &accept)?;
            if again.handoff.status != HandoffStatus::Accepted {
                self.note(format!("{} is lost after a crash", again.handoff.id));
            }
        }
        Ok(())
    }

    /// The agents come back and complete what they have accepted; what nobody accepts expires.
    fn finish(&mut self) -> Result<()> {
        self.away.clear();
        for place in 0..self.remembered.len() {
            let Remembered { status, to, .. } = self.remembered[place];
            if let (HandoffStatus::Accepted, Some(agent)) = (status, to) {
                self.complete_at(agent, place)?;
            }
        }
        for hours in [24 * 40, 1, 1, 1] {
            self.set_clock(hours);
            self.book.sweep()?;
        }
        self.note_expired()
    }

    /// Compares the store with what the simulation remembers.
    fn compare_with_store(&mut self) -> Result<()> {
        let lead = caller("human-lead")?;
        let mut cursor = Value::Null;
        let mut found: Vec<Handoff> = Vec::new();
        loop {
            let list = json!({"side": "all", "limit": 100, "cursor": cursor});
            let page = self.book.list_handoffs(&lead, &request(list)?)?;
            found.extend(page.items);
            match page.next {
                Some(next) => cursor = json!(next),
                None => break,
            }
        }
        if found.len() != self.remembered.len() {
            self.note(format!("{} handoffs of {}", found.len(), self.remembered.len()));
        }
        for handoff in found {
            let Some(place) = self.places.get(&handoff.id).copied() else { continue };
            let remembered = &self.remembered[place];
            let holder = remembered.to.map(|agent| self.names[agent].as_str());
            let is_same = remembered.status == handoff.status
                && remembered.has_cycle == handoff.cycle.is_some()
                && holder.or(remembered.role) == Some(handoff.to.as_str());
            if !is_same || handoff.status.is_open() {
                self.note(format!("{} ended as {}", handoff.id, handoff.status));
            }
            *self.report.by_status.entry(handoff.status).or_default() += 1;
        }
        self.report.handoffs = self.remembered.len();
        self.report.cycles = self.remembered.iter().filter(|handoff| handoff.has_cycle).count();
        let all = self.book.get_collaborations(&lead, &request(json!({}))?)?.statistics;
        if all.refusals != self.report.refusals as u64 {
            self.note(format!("{} refusals of {}", all.refusals, self.report.refusals));
        }
        Ok(())
    }

    /// Makes the states again from the journal alone, and compares.
    fn compare_with_journal(&mut self) -> Result<()> {
        let workspace: Workspace = MAIN_WORKSPACE.parse()?;
        let mut replay = JournalReplay::default();
        loop {
            let after = replay.end;
            let records =
                self.book.store().read(|tx| tx.event_records(&workspace, after, 1_000))?;
            if records.is_empty() {
                break;
            }
            for record in records {
                replay.take(record.event.sequence, record.event.kind, &record.event.subject);
            }
        }
        self.report.events = usize::try_from(replay.end).unwrap_or(usize::MAX);
        self.report.findings.append(&mut replay.findings);
        for place in 0..self.remembered.len() {
            let remembered = &self.remembered[place];
            let id = remembered.id.to_string();
            let state = replay.states.get(&id).copied();
            let has_cycle = replay.cycles.contains(&id);
            if state != Some(remembered.status) || has_cycle != remembered.has_cycle {
                self.note(format!("the journal says of {id}: {state:?}, a cycle: {has_cycle}"));
            }
        }
        if replay.refusals != self.report.refusals {
            self.note(format!("the journal has {} refusals", replay.refusals));
        }
        Ok(())
    }
}

/// The states of handoffs as their events tell them.
#[derive(Default)]
struct JournalReplay {
    end: u64,
    states: HashMap<String, HandoffStatus>,
    cycles: BTreeSet<String>,
    refusals: usize,
    findings: Vec<String>,
}

impl JournalReplay {
    fn take(&mut self, sequence: u64, kind: EventKind, subject: &str) {
        use HandoffStatus::{Accepted, Completed, Expired, Pending, Rejected, Withdrawn};
        if sequence != self.end + 1 {
            self.findings.push(format!("event {} is missing", self.end + 1));
        }
        self.end = sequence;
        let (before, after): (&[Option<HandoffStatus>], HandoffStatus) = match kind {
            EventKind::HandoffCreated => (&[None], Pending),
            EventKind::HandoffAccepted => (&[Some(Pending)], Accepted),
            EventKind::HandoffCompleted => (&[Some(Accepted)], Completed),
            EventKind::HandoffRejected => (&[Some(Pending), Some(Accepted)], Rejected),
            EventKind::HandoffWithdrawn => (&[Some(Pending), Some(Accepted)], Withdrawn),
            EventKind::HandoffExpired => (&[Some(Pending), Some(Accepted)], Expired),
            EventKind::HandoffCycleFound => {
                self.cycles.insert(subject.to_owned());
                return;
            }
            EventKind::HandoffRefused => {
                self.refusals += 1;
                return;
            }
            _ => return,
        };
        let state = self.states.insert(subject.to_owned(), after);
        if !before.contains(&state) {
            self.findings.push(format!("{subject} was {state:?} and is {after}"));
        }
    }
}

fn case_key(number: usize) -> String {
    format!("retries-{number}")
}

/// Opens the store of a home, as a process does that has just begun.
fn open(home: &Path, clock: &Arc<FixedClock>, ids: &Arc<CountingIds>) -> Result<Commonbook> {
    let store = SqliteStore::open(&home.join("commonbook.db"))?;
    Ok(Commonbook::with_clock_and_ids(store, Arc::clone(clock) as _, Arc::clone(ids) as _))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_team_ends_every_handoff_once() {
        let home = tempfile::tempdir().expect("a folder");
        let report = simulate(home.path(), 250).expect("every call goes well");
        assert_eq!(report.findings, Vec::<String>::new());
        assert_eq!(report.by_status.values().sum::<usize>(), 250);
        let SimulationReport { cycles, crashes, roles_taken, too_late, private_memories, .. } =
            report;
        assert!(cycles > 0 && crashes > 0 && private_memories > 0);
        assert!(roles_taken > 0 && too_late > 0);
    }
}
