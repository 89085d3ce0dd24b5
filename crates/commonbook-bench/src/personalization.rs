//! `bench personalization`: whether an agent receives what another knows of the user and the task,
//! and nothing private, without a judge.
//!
//! Each trial is a user with a profile and a task, both saved by one agent. Another agent then asks
//! something vague, without a word of either, for the same user: once while everything is private,
//! and once with profile and task shared. The bench counts contexts with all facts, and contexts
//! with anything private or of another user.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::memory::{MemoryType, SaveMemory, Sharing};
use commonbook::prompt::context::{ContextPreferences, GetContext};
use commonbook_text::terms;
use fastrand::Rng;
use serde::Serialize;
use serde_json::{Value, json};

use super::EmbedderChoice;
use super::machine::MachineProfile;
use super::metrics::percentile;
use commonbook_server::config::Config;
use commonbook_server::output::{self, print_line};

/// The seed of the trials.
const SEED: u64 = 2;

/// Questions without any reference to their subject.
const VAGUE_QUESTIONS: [&str; 10] = [
    "What should I do now?",
    "Can you help me with this?",
    "Where were we?",
    "Please go on.",
    "What would you suggest?",
    "How do I get further?",
    "Give me an update.",
    "Is there anything I should know?",
    "I am stuck, any idea?",
    "Let us begin.",
];

const LANGUAGES: [&str; 8] =
    ["Rust", "Python", "Haskell", "Kotlin", "Elixir", "Fortran", "Scala", "Zig"];
const TOOLS: [&str; 8] =
    ["Neovim", "Docker", "Terraform", "Postgres", "Kafka", "Grafana", "Bazel", "Jupyter"];
const STYLES: [&str; 5] = ["terse", "detailed", "humorous", "formal", "bulleted"];
const NAME_BEGINNINGS: [&str; 12] =
    ["Var", "Kel", "Mor", "Tan", "Bel", "Ost", "Fen", "Ral", "Sil", "Dor", "Hal", "Wyn"];
const NAME_ENDINGS: [&str; 12] =
    ["len", "tor", "mira", "vek", "dris", "quin", "loth", "sar", "bek", "nor", "fal", "zim"];

/// Arguments of the personalization bench.
#[derive(Debug, clap::Args)]
pub(super) struct PersonalizationBench {
    /// Users with a profile and a task
    #[arg(long, default_value_t = 150)]
    trials: usize,
    /// Tokens of each context
    #[arg(long, default_value_t = 1_500)]
    budget: u32,
    /// The folder for the homes; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
    #[command(flatten)]
    by: EmbedderChoice,
}

/// A user, the facts about it, and the question.
struct UserTrial {
    user: String,
    profile: Value,
    profile_facts: Vec<String>,
    task: Value,
    task_facts: Vec<String>,
    secret: String,
    question: &'static str,
}

/// The results of one phase.
#[derive(Serialize)]
struct PhaseRow {
    phase: &'static str,
    trials: usize,
    /// Share of trials with every fact of the profile in the context.
    profile: f64,
    /// Share of trials with every fact of the task.
    task: f64,
    /// Share of trials with both.
    both: f64,
    /// Contexts with anything private of another agent.
    exposures: usize,
    /// Contexts with anything about another user.
    of_others: usize,
    tokens_mean: f64,
    tokens_most: f64,
    p50_ms: f64,
    p95_ms: f64,
}

#[derive(Serialize)]
struct PersonalizationReport {
    bench: &'static str,
    questions: usize,
    /// Questions that share a word with the facts, which would be too easy.
    leaking: usize,
    embedder: String,
    rows: Vec<PhaseRow>,
    machine: MachineProfile,
}

impl PersonalizationBench {
    /// Measures both phases, each in a home of its own.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let mut rng = Rng::with_seed(SEED);
        let trials: Vec<UserTrial> =
            (0..self.trials).map(|number| trial(&mut rng, number)).collect();
        let leaking = trials.iter().filter(|trial| leaks_words(trial)).count();
        let mut rows = Vec::new();
        for (phase, sharing) in [("private", Sharing::Private), ("shared", Sharing::Shared)] {
            let folder = super::bench_folder(self.folder.as_ref())?;
            let book = super::open_bench_book(folder.path(), Arc::new(SystemClock))?;
            let book = book.with_preferences(preferences())?;
            self.by.give_embedder(&book, config)?;
            save_trials(&book, &trials, sharing)?;
            super::rebuild(&book, trials.len() * 4)?;
            rows.push(self.ask(&book, &trials, phase)?);
        }
        let report = PersonalizationReport {
            bench: "personalization",
            questions: VAGUE_QUESTIONS.len(),
            leaking,
            embedder: self.by.name(config).to_owned(),
            rows,
            machine: MachineProfile::detect_machine(),
        };
        if as_json {
            let report = serde_json::to_value(&report).map_err(|error| {
                Error::new(ErrorKind::Internal, "a report could not be encoded").with_cause(error)
            })?;
            output::print_json(&report);
        } else {
            report.print();
        }
        Ok(())
    }

    /// Asks for every user, as an agent without memories.
    fn ask(
        &self,
        book: &Commonbook,
        trials: &[UserTrial],
        phase: &'static str,
    ) -> Result<PhaseRow> {
        let (mut profile, mut task, mut both) = (0, 0, 0);
        let (mut exposures, mut of_others) = (0, 0);
        let (mut tokens, mut times): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for trial in trials {
            let request = GetContext {
                task: trial.question.to_owned(),
                budget: Some(self.budget),
                ..GetContext::default()
            };
            let caller = caller("assistant", &trial.user)?;
            let begun = Instant::now();
            let context = book.get_context(&caller, &request)?;
            times.push(super::millis(begun.elapsed()));
            tokens.push(f64::from(context.tokens));
            let text = context.text.as_str();
            let all = |facts: &[String]| facts.iter().all(|fact| text.contains(fact.as_str()));
            let (knows, works) = (all(&trial.profile_facts), all(&trial.task_facts));
            profile += usize::from(knows);
            task += usize::from(works);
            both += usize::from(knows && works);
            let private = phase == "private" && trial.is_revealed_by(text);
            exposures += usize::from(private || text.contains(&trial.secret));
            let foreign = |other_trial: &&UserTrial| {
                other_trial.user != trial.user && other_trial.is_revealed_by(text)
            };
            of_others += usize::from(trials.iter().any(|trial| foreign(&trial)));
        }
        let share = |count: usize| count as f64 / trials.len().max(1) as f64;
        Ok(PhaseRow {
            phase,
            trials: trials.len(),
            profile: share(profile),
            task: share(task),
            both: share(both),
            exposures,
            of_others,
            tokens_mean: tokens.iter().sum::<f64>() / tokens.len().max(1) as f64,
            tokens_most: percentile(&tokens, 100.0),
            p50_ms: percentile(&times, 50.0),
            p95_ms: percentile(&times, 95.0),
        })
    }
}

impl UserTrial {
    /// Whether a text contains facts of this user: their names are unique.
    fn is_revealed_by(&self, text: &str) -> bool {
        let names = [&self.profile_facts[0], &self.task_facts[0], &self.secret];
        names.into_iter().any(|name| text.contains(name.as_str()))
    }
}

impl PersonalizationReport {
    fn print(&self) {
        print_line(&format!("{} vague questions, {} leak a word", self.questions, self.leaking));
        for row in &self.rows {
            print_line(&format!(
                "{:8} {} trials: profile {:.3}, task {:.3}, both {:.3}; private exposures {}, of other users {}",
                row.phase,
                row.trials,
                row.profile,
                row.task,
                row.both,
                row.exposures,
                row.of_others
            ));
            print_line(&format!(
                "{:8} tokens mean {:.0}, most {:.0}; p50 {:.2} ms, p95 {:.2} ms",
                "", row.tokens_mean, row.tokens_most, row.p50_ms, row.p95_ms
            ));
        }
        print_line(&format!("embedder  {}", self.embedder));
        self.machine.print();
    }
}

fn caller(agent: &str, user: &str) -> Result<Caller> {
    let name: AgentName = agent.parse()?;
    Caller::new(Some(name), "bench".parse()?, EntryPoint::Cli).for_user(Some(user))
}

/// A name unique to this trial: it contains the trial's number.
fn name(rng: &mut Rng, number: usize) -> String {
    let part =
        |rng: &mut Rng, syllables: &[&str; 12]| syllables[rng.usize(..syllables.len())].to_owned();
    let (first, last) = (part(rng, &NAME_BEGINNINGS), part(rng, &NAME_ENDINGS));
    format!("{first}{last}{number:03}")
}

fn trial(rng: &mut Rng, number: usize) -> UserTrial {
    let pick = |rng: &mut Rng, words: &[&'static str]| words[rng.usize(..words.len())];
    let (who, project, secret) = (name(rng, number), name(rng, number), name(rng, number));
    let (who, project) = (format!("{who} Adams"), format!("{project} compiler"));
    let (language, tool) = (pick(rng, &LANGUAGES), pick(rng, &TOOLS));
    let style = pick(rng, &STYLES);
    let (goal, blocker) = (format!("cut {} by half", name(rng, number)), name(rng, number));
    let step = format!("profile {}", name(rng, number));
    UserTrial {
        user: format!("user-{number}"),
        profile: json!({"user_name": who, "preferred_language": language, "tools": [tool],
            "communication_style": style}),
        profile_facts: vec![who, language.to_owned(), tool.to_owned(), style.to_owned()],
        task: json!({"current_project": project, "goals": [goal], "blockers": [blocker],
            "next_steps": [step]}),
        task_facts: vec![project, goal, blocker, step],
        secret: format!("Codeword {secret}"),
        question: VAGUE_QUESTIONS[number % VAGUE_QUESTIONS.len()],
    }
}

/// The settings of the home: memories of the agent that knows the users rank first for all agents.
fn preferences() -> ContextPreferences {
    ContextPreferences {
        profile_owners: vec!["profiler".to_owned()],
        ..ContextPreferences::default()
    }
}

/// Whether a question has a word of the facts.
fn leaks_words(trial: &UserTrial) -> bool {
    let known = format!("{} {} {}", trial.profile, trial.task, trial.secret);
    let known = terms::terms(&known);
    terms::query_terms(trial.question).iter().any(|term| known.contains(term))
}

/// Saves what one agent knows of every user, its private conversation with each, and another
/// agent's own memories.
fn save_trials(book: &Commonbook, trials: &[UserTrial], sharing: Sharing) -> Result<()> {
    for trial in trials {
        let save = |agent: &str, kind: &str, text: String, sharing| {
            let memory_type = Some(MemoryType::try_from(kind.to_owned())?);
            let sharing = Some(sharing);
            let request = SaveMemory { text, memory_type, sharing, ..SaveMemory::default() };
            book.save_memory(&caller(agent, &trial.user)?, &request).map(drop)
        };
        save("profiler", "profile", trial.profile.to_string(), sharing)?;
        save("profiler", "task_context", trial.task.to_string(), sharing)?;
        let text = format!("User: {} Keep it to yourself: {}.", trial.question, trial.secret);
        save("profiler", "conversation", text, Sharing::Private)?;
        let note = format!("What I should know next: {}.", trial.secret);
        save("other", "semantic", note, Sharing::Private)?;
    }
    Ok(())
}
