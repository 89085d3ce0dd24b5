//! `bench hook`: the time that a client waits for a hook, from process start to exit.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::base::clock::SystemClock;
use commonbook::base::error::{Error, ErrorKind, Result};
use fastrand::Rng;
use serde::Serialize;
use serde_json::{Value, json};

use super::machine::MachineProfile;
use super::questions::{QuestionKind, QuestionSource};
use super::search::{SEED, SearchRow, fill, size};
use crate::synthetic::MAIN_WORKSPACE;
use commonbook_server::child::{ChildServer, program_command, step_error};
use commonbook_server::follow;
use commonbook_server::output::{self, print_line};

/// Lines of the sub-agent's standing memory.
const STANDING_LINES: usize = 40;

/// Arguments of the hook bench.
#[derive(Debug, clap::Args)]
pub(super) struct HookBench {
    /// Memories in the store: 50000, 50k, 1m
    #[arg(long, default_value = "50k", value_parser = size)]
    size: usize,
    /// Processes that are started for each moment
    #[arg(long, default_value_t = 100)]
    processes: usize,
    /// The folder for the home; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// The results.
#[derive(Serialize)]
struct HookReport {
    bench: &'static str,
    memories: usize,
    rows: Vec<SearchRow>,
    machine: MachineProfile,
}

impl HookBench {
    /// Fills a home with synthetic memories, and starts a process for each moment of many sessions.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self, as_json: bool) -> Result<()> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        let home = folder.path();
        let (known, _) = fill(home, self.size, self.processes)?;
        super::rebuild(&super::open_bench_book(home, Arc::new(SystemClock))?, self.size)?;
        catch_up_journal(home)?;
        let unwritable = |error| step_error("the standing memory cannot be written", error);
        fs::create_dir_all(home.join("memories")).map_err(unwritable)?;
        let items = (0..STANDING_LINES).map(|n| format!("- What an engineer knows, number {n}\n"));
        let standing = format!("# Engineer\n\n## Guidelines\n{}", items.collect::<String>());
        fs::write(home.join("memories/engineer.md"), standing).map_err(unwritable)?;
        let mut rows = Vec::new();
        self.moments(home, &known, "no server", &mut rows)?;
        catch_up_journal(home)?;
        let mut serve = program_command(home, &["serve", "--port", "0"])?;
        serve.env("COMMONBOOK_EMBEDDER", "off");
        let server = ChildServer::run(serve)?;
        self.moments(home, &known, "a server runs", &mut rows)?;
        drop(server);
        let report = HookReport {
            bench: "hook",
            memories: self.size,
            rows,
            machine: MachineProfile::detect_machine(),
        };
        match as_json {
            true => output::print_json(&json!(report)),
            false => report.print(),
        }
        Ok(())
    }

    fn moments(
        &self,
        home: &Path,
        known: &[QuestionSource],
        way: &str,
        rows: &mut Vec<SearchRow>,
    ) -> Result<()> {
        let bar = super::bench_progress_bar("answering", 5 * self.processes);
        for (moment, event) in [
            ("session start", "SessionStart"),
            ("prompt", "UserPromptSubmit"),
            ("delegation", "PreToolUse"),
            ("own tool of a sub-agent", "PreToolUse"),
            ("end of a sub-agent", "SubagentStop"),
        ] {
            let mut rng = Rng::with_seed(SEED);
            let (mut times, mut empty) = (Vec::with_capacity(self.processes), 0);
            for (number, known) in known.iter().cycle().take(self.processes).enumerate() {
                let task = QuestionKind::ALL[2].question_about(known, &mut rng).query;
                let message = hook_message(moment, event, &task, number);
                let (time, answer) = run_hook_process(home, event, &message)?;
                times.push(time);
                empty += usize::from(answer == json!({}));
                bar.inc(1);
            }
            rows.push(SearchRow::of(&format!("{way}, {moment}"), &times, empty));
        }
        bar.finish_and_clear();
        Ok(())
    }
}

/// Catches up with the journal, as a server does after its start; otherwise it would run during the
/// measurement.
fn catch_up_journal(home: &Path) -> Result<()> {
    let book = super::open_bench_book(home, Arc::new(SystemClock))?;
    book.index().follow(book.store(), |_| ControlFlow::Continue(()))?;
    follow::find_contradictions_with_progress(&book)
}

/// The client's message to its hook.
fn hook_message(moment: &str, event: &str, task: &str, number: usize) -> Value {
    let mut message = json!({
        "session_id": format!("session-{}", number / 10), "hook_event_name": event,
        "source": "startup", "prompt": task,
    });
    match moment {
        "delegation" => {
            message["tool_name"] = "Agent".into();
            message["tool_input"] = json!({"prompt": task, "subagent_type": "engineer"});
        }
        "own tool of a sub-agent" => {
            message["tool_name"] = "mcp__commonbook__search_memory".into();
            message["tool_input"] = json!({"query": task});
            message["agent_id"] = "a1".into();
            message["agent_type"] = "engineer".into();
        }
        "end of a sub-agent" => {
            message["agent_id"] = "a1".into();
            message["agent_type"] = "engineer".into();
            let text = format!("Done.\n\nRemember: {task} is number {number}");
            message["last_assistant_message"] = text.into();
        }
        _ => {}
    }
    message
}

/// The duration of one process from start to exit, and its response.
fn run_hook_process(home: &Path, event: &str, message: &Value) -> Result<(Duration, Value)> {
    let mut command =
        program_command(home, &["hook", "claude-code", event, "--workspace", MAIN_WORKSPACE])?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let message = message.to_string();
    let lost = |error| step_error("the hook was lost", error);
    let begun = Instant::now();
    let mut child = command.spawn().map_err(lost)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(message.as_bytes()).map_err(lost)?;
    }
    let output = child.wait_with_output().map_err(lost)?;
    let time = begun.elapsed();
    let answer = serde_json::from_slice(&output.stdout).map_err(|error| {
        Error::new(ErrorKind::Internal, "a hook answered no JSON").with_cause(error)
    })?;
    Ok((time, answer))
}

impl HookReport {
    fn print(&self) {
        print_line(&format!(
            "data      {} made-up memories of about 40 words, most in one workspace; seed {SEED}",
            self.memories
        ));
        self.machine.print();
        print_line(&format!(
            "\n{:<44} {:>5} {:>10} {:>10} {:>10}  {:>7}",
            "ms, from start to exit", "n", "p50", "p95", "max", "nothing"
        ));
        for SearchRow { what, n, p50_ms, p95_ms, max_ms, empty } in &self.rows {
            print_line(&format!(
                "{what:<44} {n:>5} {p50_ms:>10.2} {p95_ms:>10.2} {max_ms:>10.2}  {empty:>7}"
            ));
        }
    }
}
