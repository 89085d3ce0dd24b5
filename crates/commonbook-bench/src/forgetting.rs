//! `bench forgetting`: how long a large home takes to retract, to say who knows what, to forget, and to
//! save where something was forgotten.

use std::path::PathBuf;
use std::sync::Arc;

use commonbook::Commonbook;
use commonbook::base::clock::{Clock, FixedClock, SystemClock};
use commonbook::base::error::Result;
use commonbook::base::id::MemoryId;
use commonbook::base::input;
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook_server::output::print_line;
use serde_json::{Value, json};

use super::consolidation::fill_home;
use super::machine::MachineProfile;
use super::search::size;
use super::synthetic::MAIN_WORKSPACE;
use super::timed_step::TimedStep;

/// Agents that receive each of the memories.
const READERS: usize = 50;

/// Memories that reach the readers, and are retracted and forgotten.
const MEMORIES: usize = 20;

/// Saves whose durations are compared.
const SAVES: usize = 200;

/// Arguments of the forgetting bench.
#[derive(Debug, clap::Args)]
pub(super) struct ForgettingBench {
    /// Memories of the made-up home: 50000, 50k
    #[arg(long, default_value = "50k", value_parser = size)]
    size: usize,
    /// The folder for the home; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl ForgettingBench {
    /// Fills a home, tells some memories to many agents, and measures.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self) -> Result<()> {
        MachineProfile::detect_machine().print();
        let folder = super::bench_folder(self.folder.as_ref())?;
        let clock = Arc::new(FixedClock::at(SystemClock.now()));
        let book = super::open_bench_book(folder.path(), Arc::<FixedClock>::clone(&clock) as _)?;
        fill_home(&book, &clock, self.size)?;
        let ids = tell(&book)?;
        print_line(&format!(
            "\n{} memories; {MEMORIES} of them told to {READERS} agents",
            self.size
        ));
        TimedStep::print_head();
        time_retractions(&book, &ids)?;
        let mut before = TimedStep::new("save, nothing forgotten");
        time_saves(&book, &mut before)?;
        time_forgetting(&book, &ids)?;
        before.print();
        let mut after = TimedStep::new("save, 20 memories forgotten");
        time_saves(&book, &mut after)?;
        after.print();
        Ok(())
    }
}

fn caller(name: &str) -> Result<Caller> {
    let name = AgentName { agent: Agent::with_any_name(name)?, device: None };
    Ok(Caller::new(Some(name), MAIN_WORKSPACE.parse()?, EntryPoint::Cli))
}

fn fact(number: usize) -> String {
    format!("The lighthouse keeper of rock {number} repairs the lamp on the {number}th of a month")
}

/// Saves some memories, and has many agents receive them in contexts.
fn tell(book: &Commonbook) -> Result<Vec<MemoryId>> {
    let mut ids = Vec::new();
    let bar = super::bench_progress_bar("telling", MEMORIES * READERS);
    for number in 0..MEMORIES {
        let save = input::from_value(json!({"text": fact(number)}))?;
        ids.push(book.save_memory(&caller("ann")?, &save)?.memory.id);
        for reader in 0..READERS {
            let task = json!({"task": format!("Who repairs the lamp of rock {number}?")});
            book.get_context(&caller(&format!("reader-{reader}"))?, &input::from_value(task)?)?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(ids)
}

fn time_retractions(book: &Commonbook, ids: &[MemoryId]) -> Result<()> {
    let ann = caller("ann")?;
    let mut preview = TimedStep::new("retraction previewed");
    let mut retraction = TimedStep::new("retraction");
    let mut undo = TimedStep::new("retraction undone");
    let mut knowledge = TimedStep::new("who knows a memory");
    let mut reached = Vec::new();
    for id in ids {
        let fields = |dry_run: bool| json!({"id": id, "reason": "measured", "dry_run": dry_run});
        let (dry, real) = (input::from_value(fields(true))?, input::from_value(fields(false))?);
        preview.time(|| book.retract_memory(&ann, &dry))?;
        let retracted = retraction.time(|| book.retract_memory(&ann, &real))?;
        reached.push(retracted.blast_radius.agents);
        let asked = input::from_value(json!({"memory": id}))?;
        knowledge.time(|| book.who_knows(&ann, &asked))?;
        let operation = input::from_value(json!({"operation_id": retracted.operation}))?;
        undo.time(|| book.undo_operation(&ann, &operation))?;
    }
    [preview, retraction, undo, knowledge].into_iter().for_each(TimedStep::print);
    let [least, most] = [reached.iter().min(), reached.iter().max()]
        .map(|agents| agents.copied().unwrap_or_default());
    print_line(&format!("each retraction reached {least} to {most} agents"));
    Ok(())
}

fn time_forgetting(book: &Commonbook, ids: &[MemoryId]) -> Result<()> {
    let ann = caller("ann")?;
    let mut preview = TimedStep::new("forgetting previewed");
    let mut forgetting = TimedStep::new("forgetting, with the cleaning of files");
    for id in ids {
        let fields = |confirm: bool| -> Value { json!({"id": id, "confirm": confirm}) };
        let (dry, real) = (input::from_value(fields(false))?, input::from_value(fields(true))?);
        preview.time(|| book.forget_memory(&ann, &dry))?;
        forgetting.time(|| book.forget_memory(&ann, &real))?;
    }
    [preview, forgetting].into_iter().for_each(TimedStep::print);
    Ok(())
}

fn time_saves(book: &Commonbook, step: &mut TimedStep) -> Result<()> {
    let saver = caller("saver")?;
    for number in 0..SAVES {
        let text =
            format!("Buoy {number} was painted in {} by the crew of the tender", step.what());
        let save = input::from_value(json!({"text": text}))?;
        step.time(|| book.save_memory(&saver, &save))?;
    }
    Ok(())
}
