//! A measured step of a bench: its durations, and their line in a table.

use std::time::Instant;

use commonbook::base::error::Result;
use commonbook_server::output::print_line;

use super::metrics::percentile;

/// A measured step: its durations in milliseconds.
pub(super) struct TimedStep {
    what: String,
    times_ms: Vec<f64>,
}

impl TimedStep {
    /// A step with no durations yet.
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), times_ms: Vec::new() }
    }

    /// A step whose durations were measured elsewhere.
    pub(super) fn of(what: impl Into<String>, times_ms: Vec<f64>) -> Self {
        Self { what: what.into(), times_ms }
    }

    /// What the step is.
    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// Runs an act and keeps its duration.
    ///
    /// # Errors
    /// The error of the act.
    pub(super) fn time<T>(&mut self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let begun = Instant::now();
        let answer = act()?;
        self.times_ms.push(super::millis(begun.elapsed()));
        Ok(answer)
    }

    /// Prints the head of a table of steps.
    pub(super) fn print_head() {
        print_line(&format!("{:<44} {:>5} {:>10} {:>10} {:>10}", "ms", "n", "p50", "p95", "max"));
    }

    /// Prints the line of the step.
    pub(super) fn print(mut self) {
        self.times_ms.sort_by(f64::total_cmp);
        let [p50, p95, max] =
            [50.0, 95.0, 100.0].map(|percent| percentile(&self.times_ms, percent));
        print_line(&format!(
            "{:<44} {:>5} {p50:>10.2} {p95:>10.2} {max:>10.2}",
            self.what,
            self.times_ms.len()
        ));
    }
}
