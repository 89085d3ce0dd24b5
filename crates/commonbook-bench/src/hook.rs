//! `bench hook`: how long a client waits for a hook, from the start of the process to its end.

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

use super::machine::Machine;
use super::questions::{Kind, Known};
use super::search::{Row, SEED, fill, size};
use crate::synthetic::MAIN;
use commonbook_server::child::{Server, broken, command};
use commonbook_server::follow;
use commonbook_server::output::{self, line};

/// Lines of the standing memory that the sub-agent has.
const STANDING: usize = 40;

/// How hooks are measured.
#[derive(Debug, clap::Args)]
pub(super) struct Hook {
    /// Memories in the store: 50000, 50k, 1m
    #[arg(long, default_value = "50k", value_parser = size)]
    size: usize,
    /// Processes that are started for each moment
    #[arg(long, default_value_t = 100)]
    processes: usize,
    /// The folder in which the home is made; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// What was measured.
#[derive(Serialize)]
struct Report {
    bench: &'static str,
    memories: usize,
    rows: Vec<Row>,
    machine: Machine,
}

impl Hook {
    /// Fills a home with made-up memories, and starts a process for each moment of many sessions.
    ///
    /// # Errors
    /// What went wrong.
    pub(super) fn run(&self, as_json: bool) -> Result<()> {
        let folder = super::folder(self.folder.as_ref())?;
        let home = folder.path();
        let (known, _) = fill(home, self.size, self.processes)?;
        super::rebuild(&super::open(home, Arc::new(SystemClock))?, self.size)?;
        caught_up(home)?;
        let unwritable = |error| broken("the standing memory cannot be written", error);
        fs::create_dir_all(home.join("memories")).map_err(unwritable)?;
        let items = (0..STANDING).map(|n| format!("- What an engineer knows, number {n}\n"));
        let standing = format!("# Engineer\n\n## Guidelines\n{}", items.collect::<String>());
        fs::write(home.join("memories/engineer.md"), standing).map_err(unwritable)?;
        let mut rows = Vec::new();
        self.moments(home, &known, "no server", &mut rows)?;
        caught_up(home)?;
        let mut serve = command(home, &["serve", "--port", "0"])?;
        serve.env("COMMONBOOK_EMBEDDER", "off");
        let server = Server::run(serve)?;
        self.moments(home, &known, "a server runs", &mut rows)?;
        drop(server);
        let report = Report { bench: "hook", memories: self.size, rows, machine: Machine::here() };
        match as_json {
            true => output::json(&json!(report)),
            false => report.tell(),
        }
        Ok(())
    }

    fn moments(&self, home: &Path, known: &[Known], way: &str, rows: &mut Vec<Row>) -> Result<()> {
        let bar = super::bar("answering", 5 * self.processes);
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
                let task = Kind::ALL[2].about(known, &mut rng).query;
                let told = told(moment, event, &task, number);
                let (time, answer) = answered(home, event, &told)?;
                times.push(time);
                empty += usize::from(answer == json!({}));
                bar.inc(1);
            }
            rows.push(Row::of(&format!("{way}, {moment}"), &times, empty));
        }
        bar.finish_and_clear();
        Ok(())
    }
}

/// Follows what was done so far, which a server that has run for a while has done: else it would do
/// that while hooks are measured.
fn caught_up(home: &Path) -> Result<()> {
    let book = super::open(home, Arc::new(SystemClock))?;
    book.index().follow(book.store(), |_| ControlFlow::Continue(()))?;
    follow::contradictions(&book)
}

/// What the client tells its hook.
fn told(moment: &str, event: &str, task: &str, number: usize) -> Value {
    let mut told = json!({
        "session_id": format!("session-{}", number / 10), "hook_event_name": event,
        "source": "startup", "prompt": task,
    });
    match moment {
        "delegation" => {
            told["tool_name"] = "Agent".into();
            told["tool_input"] = json!({"prompt": task, "subagent_type": "engineer"});
        }
        "own tool of a sub-agent" => {
            told["tool_name"] = "mcp__commonbook__search_memory".into();
            told["tool_input"] = json!({"query": task});
            told["agent_id"] = "a1".into();
            told["agent_type"] = "engineer".into();
        }
        "end of a sub-agent" => {
            told["agent_id"] = "a1".into();
            told["agent_type"] = "engineer".into();
            let said = format!("Done.\n\nRemember: {task} is number {number}");
            told["last_assistant_message"] = said.into();
        }
        _ => {}
    }
    told
}

/// How long one process takes, from its start to its end, and what it answers.
fn answered(home: &Path, event: &str, told: &Value) -> Result<(Duration, Value)> {
    let mut command = command(home, &["hook", "claude-code", event, "--workspace", MAIN])?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let told = told.to_string();
    let lost = |error| broken("the hook was lost", error);
    let begun = Instant::now();
    let mut child = command.spawn().map_err(lost)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(told.as_bytes()).map_err(lost)?;
    }
    let output = child.wait_with_output().map_err(lost)?;
    let time = begun.elapsed();
    let answer = serde_json::from_slice(&output.stdout).map_err(|error| {
        Error::new(ErrorKind::Internal, "a hook answered no JSON").because(error)
    })?;
    Ok((time, answer))
}

impl Report {
    fn tell(&self) {
        line(&format!(
            "data      {} made-up memories of about 40 words, most in one workspace; seed {SEED}",
            self.memories
        ));
        self.machine.tell();
        line(&format!(
            "\n{:<44} {:>5} {:>10} {:>10} {:>10}  {:>7}",
            "ms, from start to exit", "n", "p50", "p95", "max", "nothing"
        ));
        for Row { what, n, p50_ms, p95_ms, max_ms, empty } in &self.rows {
            line(&format!(
                "{what:<44} {n:>5} {p50_ms:>10.2} {p95_ms:>10.2} {max_ms:>10.2}  {empty:>7}"
            ));
        }
    }
}
