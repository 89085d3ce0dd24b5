//! `bench context`: whether contexts contain the memories that a task needs, and nothing else.

mod report;
mod tasks;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::{Error, Result};
use commonbook::base::id::MemoryId;
use commonbook::base::limits;
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::memory::GetMemory;
use commonbook::model::workspace::Workspace;
use commonbook::prompt::context::{ExplainContext, GetContext};

use super::EmbedderChoice;
use super::retrieval::import;
use commonbook_server::config::Config;
use commonbook_server::output;
use report::ContextReport;
use tasks::{BenchTask, TaskCollection};

/// Arguments of the context bench.
#[derive(Debug, clap::Args)]
pub(super) struct ContextBench {
    /// A folder of memories.jsonl and questions.jsonl; each question is also put to the other
    /// conversations of its half, which cannot answer it
    #[arg(long, required_unless_present = "own", conflicts_with = "own")]
    data: Option<PathBuf>,
    /// The bench's own 200 tasks
    #[arg(long)]
    own: bool,
    /// The minimum relevance of a memory in a context, instead of the default
    #[arg(long)]
    threshold: Option<f64>,
    /// A file for the relevance of all candidates, one JSON object per task
    #[arg(long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    by: EmbedderChoice,
}

/// A candidate of a context.
#[derive(Debug, Clone)]
struct TaskCandidate {
    /// Its id in the data.
    id: String,
    relevance: f64,
    is_relevant: bool,
    is_included: bool,
}

/// A task with the candidates of its context.
#[derive(Debug)]
struct TaskOutcome<'t> {
    task: &'t BenchTask,
    candidates: Vec<TaskCandidate>,
    tokens: f64,
    ms: f64,
}

impl ContextBench {
    /// Saves the memories, asks for the context of every task, and reports the figures.
    ///
    /// # Errors
    /// `invalid` for data that is missing or malformed; else the error of the failing step.
    pub(super) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let collection = match &self.data {
            Some(folder) => TaskCollection::of_data(folder)?,
            None => TaskCollection::own()?,
        };
        let folder = super::bench_folder(None)?;
        let book = super::open_bench_book(folder.path(), Arc::new(SystemClock))?;
        self.by.give_embedder(&book, config)?;
        let workspaces = import(&book, &collection.memories)?;
        super::rebuild(&book, collection.memories.len())?;
        let bar = super::bench_progress_bar("asking", collection.tasks.len());
        let mut outcomes = Vec::with_capacity(collection.tasks.len());
        for task in &collection.tasks {
            outcomes.push(self.ask(&book, &workspaces[&task.conv], task)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        if let Some(path) = &self.out {
            report::write_outcomes(path, &outcomes)?;
        }
        let report = ContextReport {
            data: self.data.as_ref().map_or("own".into(), |data| data.display().to_string()),
            memories: collection.memories.len(),
            workspaces: workspaces.len(),
            embedder: self.by.name(config),
            outcomes: &outcomes,
        };
        if as_json {
            output::print_json(&report.value());
        } else {
            report.print();
        }
        Ok(())
    }

    /// Asks for a context as an agent without memories, and reads its receipt.
    fn ask<'t>(
        &self,
        book: &Commonbook,
        workspace: &Workspace,
        task: &'t BenchTask,
    ) -> Result<TaskOutcome<'t>> {
        let stranger: AgentName = "stranger".parse()?;
        let caller = Caller::new(Some(stranger), workspace.clone(), EntryPoint::Cli);
        let request = GetContext {
            task: task.text.clone(),
            threshold: Some(self.threshold.unwrap_or(limits::RELEVANCE_MIN)),
            ..GetContext::default()
        };
        let begun = Instant::now();
        let context = book.get_context(&caller, &request)?;
        let ms = super::millis(begun.elapsed());
        let explained = ExplainContext { context: context.id, replay: false };
        let receipt = book.explain_context(&caller, &explained)?.receipt;
        let mut candidates = Vec::with_capacity(receipt.candidates.len());
        for candidate in receipt.candidates {
            let id: MemoryId = candidate.id.parse()?;
            let memory = book.get_memory(&caller, &GetMemory { id: id.into(), at: None })?;
            // An import keeps further fields of a line as metadata, so also the id of the data.
            let id = memory.metadata.get("id").and_then(|id| id.as_str()).unwrap_or_default();
            candidates.push(TaskCandidate {
                id: id.to_owned(),
                relevance: candidate.score.unwrap_or_default(),
                is_relevant: task.relevant.contains(id),
                is_included: candidate.taken,
            });
        }
        Ok(TaskOutcome { task, candidates, tokens: f64::from(context.tokens), ms })
    }
}

/// The ids of the memories that a task needs.
type RelevantIds = BTreeSet<String>;

/// An error in a file of tasks.
fn task_error(place: &str, message: &str) -> Error {
    Error::invalid("data", format!("{place}: {message}"))
}
