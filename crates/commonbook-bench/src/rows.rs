//! Rows of figures, one per kind of call, with reference times.

use std::time::Duration;

use commonbook::base::error::Result;
use serde::Serialize;

use super::metrics::percentile;
use commonbook_server::output::print_line;

/// Reference times in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReferenceTimes {
    /// The published figure of the original system.
    original_ms: Option<f64>,
    /// The target of the design.
    target_ms: Option<f64>,
}

impl ReferenceTimes {
    /// These reference times, if any.
    pub(super) fn of(original_ms: Option<f64>, target_ms: Option<f64>) -> Self {
        Self { original_ms, target_ms }
    }
}

/// The durations of one kind of call.
#[derive(Serialize)]
pub(super) struct TimingRow {
    what: String,
    n: usize,
    p50_ms: f64,
    p95_ms: f64,
    max_ms: f64,
    /// The published figure of the original system.
    original_ms: Option<f64>,
    /// The target of the design.
    target_ms: Option<f64>,
}

impl TimingRow {
    /// Runs a call many times, with a progress bar; each call returns its duration.
    ///
    /// # Errors
    /// The error of a call.
    pub(super) fn measure_calls(
        what: &str,
        calls: usize,
        reference: ReferenceTimes,
        mut call: impl FnMut() -> Result<Duration>,
    ) -> Result<Self> {
        let bar = super::bench_progress_bar("measuring", calls);
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            times.push(super::millis(call()?));
            bar.inc(1);
        }
        bar.finish_and_clear();
        let at = |percent| percentile(&times, percent);
        let (n, what) = (times.len(), what.to_owned());
        let ReferenceTimes { original_ms, target_ms } = reference;
        let (p50_ms, p95_ms, max_ms) = (at(50.0), at(95.0), at(100.0));
        Ok(Self { what, n, p50_ms, p95_ms, max_ms, original_ms, target_ms })
    }
}

/// Prints rows as a table.
pub(super) fn print_rows(rows: &[TimingRow]) {
    print_line(&format!(
        "\n{:<42} {:>5} {:>9} {:>9} {:>9} {:>8} {:>8}",
        "", "n", "p50 ms", "p95 ms", "max ms", "original", "target"
    ));
    let figure = |figure: Option<f64>| {
        figure.map_or_else(String::new, |milliseconds| milliseconds.to_string())
    };
    for row in rows {
        print_line(&format!(
            "{:<42} {:>5} {:>9.3} {:>9.3} {:>9.3} {:>8} {:>8}",
            row.what,
            row.n,
            row.p50_ms,
            row.p95_ms,
            row.max_ms,
            figure(row.original_ms),
            figure(row.target_ms)
        ));
    }
}
