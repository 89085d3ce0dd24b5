//! Chromium in the dashboard bench: paints, frames and interactions, measured by a script in node.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_server::child::step_error;
use commonbook_server::output::print_line;
use serde::Deserialize;

use super::super::timed_step::TimedStep;

/// The script, which is written into the folder of the bench.
const SCRIPT: &str = include_str!("browser.mjs");

/// Where Chromium and its driver are.
#[derive(Debug, clap::Args)]
pub(super) struct BrowserChoice {
    /// The folder whose node_modules has playwright-core; without it no browser is started
    #[arg(long)]
    modules: Option<PathBuf>,
    /// The program Chromium
    #[arg(long, default_value = "/usr/bin/chromium")]
    chromium: PathBuf,
    /// How often each interaction is made and each page opened in the browser
    #[arg(long, default_value_t = 10)]
    turns: usize,
    /// Seconds in which the frames of the page `now` are watched
    #[arg(long, default_value_t = 10)]
    frame_seconds: usize,
}

/// What the script measured.
#[derive(Deserialize)]
struct BrowserReport {
    rows: Vec<BrowserRow>,
    notes: Vec<String>,
}

/// The durations of one act in milliseconds.
#[derive(Deserialize)]
struct BrowserRow {
    what: String,
    times: Vec<f64>,
}

impl BrowserChoice {
    /// Whether a browser is measured.
    pub(super) fn is_chosen(&self) -> bool {
        self.modules.is_some()
    }

    /// Measures in Chromium, which signs in by this link, and prints the rows.
    ///
    /// # Errors
    /// `unavailable` if node or Chromium does not run, with what the script printed.
    pub(super) fn measure(&self, folder: &Path, link: &str, note: &str) -> Result<()> {
        let Some(modules) = &self.modules else {
            return Ok(());
        };
        let modules = std::path::absolute(modules)
            .map_err(|error| step_error("the folder of the modules is not a path", error))?;
        let script = folder.join("browser.mjs");
        std::fs::write(&script, SCRIPT)
            .map_err(|error| step_error("the script was not written", error))?;
        let output = Command::new("node")
            .arg(&script)
            .arg(link)
            .arg(&modules)
            .arg(&self.chromium)
            .args([self.turns.to_string(), self.frame_seconds.to_string()])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| step_error("node did not start", error))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        let report: BrowserReport = serde_json::from_slice(&output.stdout)
            .map_err(|error| step_error("the script did not print JSON", error))?;
        print_line(&format!("\nin Chromium{note}"));
        TimedStep::print_head();
        for row in report.rows {
            TimedStep::of(row.what, row.times).print();
        }
        report.notes.iter().for_each(|note| print_line(note));
        Ok(())
    }
}
