//! `bench personalization`: whether one agent is given what another knows of the user and the task,
//! and nothing that is private, without a judge.
//!
//! Each trial is a user with a profile and a task, which one agent keeps. Another agent is then
//! asked something vague, which has no word of either, for the same user. Once all of it is private,
//! and once profile and task are shared. What is counted is whether the facts stand in what the
//! other agent is given, and whether anything private or of another user does.

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

/// What the trials are drawn by.
const SEED: u64 = 2;

/// Questions that say nothing of what they are about.
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

/// How personalization is measured.
#[derive(Debug, clap::Args)]
pub(super) struct PersonalizationBench {
    /// Users with a profile and a task
    #[arg(long, default_value_t = 150)]
    trials: usize,
    /// Tokens of each context
    #[arg(long, default_value_t = 1_500)]
    budget: u32,
    /// The folder in which the homes are made; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
    #[command(flatten)]
    by: EmbedderChoice,
}

/// A user, what is known of it, and what is asked for it.
struct UserTrial {
    user: String,
    profile: Value,
    profile_facts: Vec<String>,
    task: Value,
    task_facts: Vec<String>,
    secret: String,
    question: &'static str,
}

/// What one phase showed.
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
    /// Contexts with anything in them that is private to another agent.
    exposures: usize,
    /// Contexts with anything in them about another user.
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
    /// Questions that share a word with what is known; they would make it easy.
    leaking: usize,
    embedder: String,
    rows: Vec<PhaseRow>,
    machine: MachineProfile,
}

impl PersonalizationBench {
    /// Measures both phases, each in a home of its own.
    ///
    /// # Errors
    /// What went wrong.
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
            report.tell();
        }
        Ok(())
    }

    /// Asks for every user, as an agent that keeps nothing itself.
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
            let other = |other: &&UserTrial| other.user != trial.user && other.is_revealed_by(text);
            of_others += usize::from(trials.iter().any(|it| other(&it)));
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
    /// Whether a text tells what only this user's memories say: its names are its own.
    fn is_revealed_by(&self, text: &str) -> bool {
        let names = [&self.profile_facts[0], &self.task_facts[0], &self.secret];
        names.into_iter().any(|name| text.contains(name.as_str()))
    }
}

impl PersonalizationReport {
    fn tell(&self) {
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
        self.machine.tell();
    }
}

fn caller(agent: &str, user: &str) -> Result<Caller> {
    let name: AgentName = agent.parse()?;
    Caller::new(Some(name), "bench".parse()?, EntryPoint::Cli).for_user(Some(user))
}

/// A name that no other trial has: its number is in it.
fn name(rng: &mut Rng, number: usize) -> String {
    let part = |rng: &mut Rng, of: &[&str; 12]| of[rng.usize(..of.len())].to_owned();
    let (first, last) = (part(rng, &NAME_BEGINNINGS), part(rng, &NAME_ENDINGS));
    format!("{first}{last}{number:03}")
}

fn trial(rng: &mut Rng, number: usize) -> UserTrial {
    let one = |rng: &mut Rng, of: &[&'static str]| of[rng.usize(..of.len())];
    let (who, project, secret) = (name(rng, number), name(rng, number), name(rng, number));
    let (who, project) = (format!("{who} Adams"), format!("{project} compiler"));
    let (language, tool) = (one(rng, &LANGUAGES), one(rng, &TOOLS));
    let style = one(rng, &STYLES);
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

/// The settings of the home: what the agent keeps that knows the users stands first for everybody.
fn preferences() -> ContextPreferences {
    ContextPreferences {
        profile_owners: vec!["profiler".to_owned()],
        ..ContextPreferences::default()
    }
}

/// Whether a question has a word of what is known.
fn leaks_words(trial: &UserTrial) -> bool {
    let known = format!("{} {} {}", trial.profile, trial.task, trial.secret);
    let known = terms::terms(&known);
    terms::query_terms(trial.question).iter().any(|term| known.contains(term))
}

/// Keeps what one agent knows of every user, what it said with each in private, and what a third
/// agent has of its own.
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
        let said = format!("User: {} Keep it to yourself: {}.", trial.question, trial.secret);
        save("profiler", "conversation", said, Sharing::Private)?;
        let note = format!("What I should know next: {}.", trial.secret);
        save("other", "semantic", note, Sharing::Private)?;
    }
    Ok(())
}
