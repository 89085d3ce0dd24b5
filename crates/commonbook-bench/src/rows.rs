//! Figures of calls, a row for each kind, beside what they are compared with.

use std::time::Duration;

use commonbook::base::error::Result;
use serde::Serialize;

use super::metrics::percentile;
use commonbook_server::output::print_line;

/// What a figure is compared with, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReferenceTimes {
    /// What the seed's own table has.
    seed_ms: Option<f64>,
    /// The design's target.
    target_ms: Option<f64>,
}

impl ReferenceTimes {
    /// The figures of the seed and of the design, where there are some.
    pub(super) fn of(seed_ms: Option<f64>, target_ms: Option<f64>) -> Self {
        Self { seed_ms, target_ms }
    }
}

/// How long something took, each time.
#[derive(Serialize)]
pub(super) struct TimingRow {
    what: String,
    n: usize,
    p50_ms: f64,
    p95_ms: f64,
    max_ms: f64,
    /// What the seed's own table has.
    seed_ms: Option<f64>,
    /// The design's target.
    target_ms: Option<f64>,
}

impl TimingRow {
    /// Calls something so many times, with a bar; each call tells how long it took.
    ///
    /// # Errors
    /// What a call answers.
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
        let ReferenceTimes { seed_ms, target_ms } = reference;
        let (p50_ms, p95_ms, max_ms) = (at(50.0), at(95.0), at(100.0));
        Ok(Self { what, n, p50_ms, p95_ms, max_ms, seed_ms, target_ms })
    }
}

/// Prints rows as a table.
pub(super) fn print_rows(rows: &[TimingRow]) {
    print_line(&format!(
        "\n{:<42} {:>5} {:>9} {:>9} {:>9} {:>8} {:>8}",
        "", "n", "p50 ms", "p95 ms", "max ms", "seed", "target"
    ));
    let figure = |figure: Option<f64>| figure.map_or_else(String::new, |it| it.to_string());
    for row in rows {
        print_line(&format!(
            "{:<42} {:>5} {:>9.3} {:>9.3} {:>9.3} {:>8} {:>8}",
            row.what,
            row.n,
            row.p50_ms,
            row.p95_ms,
            row.max_ms,
            figure(row.seed_ms),
            figure(row.target_ms)
        ));
    }
}
