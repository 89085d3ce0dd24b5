//! The figures of contexts: how often they have what a task needs, how often they are rightly
//! empty, and whether seven of ten memories with a relevance of 0.7 are relevant.

use std::path::Path;

use commonbook::base::error::Result;
use serde::Serialize;
use serde_json::{Value, json};

use super::TaskOutcome;
use super::tasks::TaskHalf;
use crate::machine::MachineProfile;
use crate::metrics::percentile;
use commonbook_server::child::step_error;
use commonbook_server::output::print_line;

/// Number of bins of the reliability table.
const BINS: usize = 10;

/// The report of a run.
pub(super) struct ContextReport<'o> {
    pub(super) data: String,
    pub(super) memories: usize,
    pub(super) workspaces: usize,
    pub(super) embedder: &'o str,
    pub(super) outcomes: &'o [TaskOutcome<'o>],
}

/// The figures of one half.
#[derive(Debug, Default, PartialEq, Serialize)]
struct ContextFigures {
    /// Tasks with a relevant memory.
    answerable: usize,
    /// The share of them whose context has one.
    answered: f64,
    /// The same for tasks that share no word with a relevant memory, and their number.
    answered_wordless: f64,
    wordless: usize,
    /// Tasks without a relevant memory, and the share of them whose context is empty.
    unanswerable: usize,
    silent: f64,
    /// The share of relevant ones among all items.
    precision: f64,
    items_per_task: f64,
    tokens_per_task: f64,
    p50_ms: f64,
    p95_ms: f64,
    reliability: Vec<ReliabilityBin>,
}

/// The candidates whose relevance lies in one tenth of the scale.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
struct ReliabilityBin {
    /// The mean of their relevance.
    predicted: f64,
    /// The share of relevant ones.
    observed: f64,
    count: usize,
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl ContextFigures {
    fn of(outcomes: &[&TaskOutcome<'_>]) -> Self {
        let count = |fits: &dyn Fn(&TaskOutcome<'_>) -> bool| {
            outcomes.iter().filter(|outcome| fits(outcome)).count()
        };
        let has_right = |outcome: &TaskOutcome<'_>| {
            outcome
                .candidates
                .iter()
                .any(|candidate| candidate.is_included && candidate.is_relevant)
        };
        let answerable = count(&|outcome| !outcome.task.relevant.is_empty());
        let wordless = count(&|outcome| outcome.task.is_wordless);
        let silent = count(&|outcome| outcome.task.relevant.is_empty() && outcome.items() == 0);
        let items: usize = outcomes.iter().map(|outcome| outcome.items()).sum();
        let right: usize = outcomes.iter().map(|outcome| outcome.right_items()).sum();
        let tokens: f64 = outcomes.iter().map(|outcome| outcome.tokens).sum();
        let times: Vec<f64> = outcomes.iter().map(|outcome| outcome.ms).collect();
        Self {
            answerable,
            answered: share(count(&has_right), answerable),
            answered_wordless: share(
                count(&|outcome| outcome.task.is_wordless && has_right(outcome)),
                wordless,
            ),
            wordless,
            unanswerable: outcomes.len() - answerable,
            silent: share(silent, outcomes.len() - answerable),
            precision: share(right, items),
            items_per_task: share(items, outcomes.len()),
            tokens_per_task: tokens / outcomes.len().max(1) as f64,
            p50_ms: percentile(&times, 50.0),
            p95_ms: percentile(&times, 95.0),
            reliability: reliability(outcomes),
        }
    }

    fn print(&self, name: &str) {
        print_line(&format!(
            "\n{name}: contexts have a relevant memory in {:.3} of {} tasks with one",
            self.answered, self.answerable
        ));
        print_line(&format!(
            "(in {:.3} of {} without a shared word), and nothing in {:.3} of {} tasks with none;",
            self.answered_wordless, self.wordless, self.silent, self.unanswerable
        ));
        print_line(&format!("{:.3} of all items are relevant", self.precision));
        print_line(&format!(
            "items {:.2} and tokens {:.0} a task; p50 {:.2} ms, p95 {:.2} ms",
            self.items_per_task, self.tokens_per_task, self.p50_ms, self.p95_ms
        ));
        print_line("predicted  observed       n");
        for bin in self.reliability.iter().filter(|bin| bin.count > 0) {
            print_line(&format!("{:9.3} {:9.3} {:7}", bin.predicted, bin.observed, bin.count));
        }
    }
}

impl TaskOutcome<'_> {
    fn items(&self) -> usize {
        self.candidates.iter().filter(|candidate| candidate.is_included).count()
    }

    fn right_items(&self) -> usize {
        let right =
            |candidate: &&super::TaskCandidate| candidate.is_included && candidate.is_relevant;
        self.candidates.iter().filter(right).count()
    }
}

/// All candidates by tenths of their relevance.
fn reliability(outcomes: &[&TaskOutcome<'_>]) -> Vec<ReliabilityBin> {
    let mut bins = vec![(0.0, 0_usize, 0_usize); BINS];
    for candidate in outcomes.iter().flat_map(|outcome| &outcome.candidates) {
        let index = (candidate.relevance * BINS as f64) as usize;
        let (sum, right, count) = &mut bins[index.min(BINS - 1)];
        *sum += candidate.relevance;
        *right += usize::from(candidate.is_relevant);
        *count += 1;
    }
    let bin = |(sum, right, count): (f64, usize, usize)| ReliabilityBin {
        predicted: sum / count.max(1) as f64,
        observed: share(right, count),
        count,
    };
    bins.into_iter().map(bin).collect()
}

impl ContextReport<'_> {
    fn figures(&self, half: TaskHalf) -> ContextFigures {
        let of_half: Vec<_> =
            self.outcomes.iter().filter(|outcome| outcome.task.half == half).collect();
        ContextFigures::of(&of_half)
    }

    pub(super) fn value(&self) -> Value {
        let [fitting, judging] = TaskHalf::ALL.map(|half| self.figures(half));
        json!({
            "bench": "context",
            "data": self.data,
            "memories": self.memories,
            "workspaces": self.workspaces,
            "embedder": self.embedder,
            "fitting": fitting,
            "judging": judging,
            "machine": MachineProfile::detect_machine(),
        })
    }

    pub(super) fn print(&self) {
        print_line(&format!(
            "data      {}: {} memories in {} workspaces; embedder {}",
            self.data, self.memories, self.workspaces, self.embedder
        ));
        MachineProfile::detect_machine().print();
        for half in TaskHalf::ALL {
            self.figures(half).print(half.name());
        }
    }
}

/// Writes the candidates of each task into a file, one JSON object per task.
pub(super) fn write_outcomes(path: &Path, outcomes: &[TaskOutcome<'_>]) -> Result<()> {
    let line = |outcome: &TaskOutcome<'_>| {
        let candidates = outcome.candidates.iter().map(|candidate| {
            json!([candidate.id, candidate.relevance, candidate.is_relevant, candidate.is_included])
        });
        let candidates: Vec<Value> = candidates.collect();
        json!({"half": outcome.task.half, "conv": outcome.task.conv, "task": outcome.task.text,
            "candidates": candidates})
        .to_string()
    };
    let lines: Vec<String> = outcomes.iter().map(line).collect();
    std::fs::write(path, lines.join("\n") + "\n")
        .map_err(|error| step_error(&format!("{} cannot be written", path.display()), error))
}

#[cfg(test)]
mod tests {
    use super::super::TaskCandidate;
    use super::super::tasks::BenchTask;
    use super::*;

    #[test]
    fn figures_count_tasks_and_items() {
        let task = |relevant: &[&str], is_wordless| BenchTask {
            half: TaskHalf::Judging,
            conv: "c".to_owned(),
            text: "t".to_owned(),
            relevant: relevant.iter().map(|id| (*id).to_owned()).collect(),
            is_wordless,
        };
        let tasks = [task(&["1"], false), task(&["2"], true), task(&[], false)];
        let candidate = |relevance, is_relevant, is_included| TaskCandidate {
            id: String::new(),
            relevance,
            is_relevant,
            is_included,
        };
        let candidates = [
            vec![candidate(0.92, true, true), candidate(0.95, false, true)],
            vec![candidate(0.15, true, false)],
            vec![],
        ];
        let outcomes: Vec<TaskOutcome<'_>> = (tasks.iter().zip(candidates))
            .map(|(task, candidates)| TaskOutcome { task, candidates, tokens: 30.0, ms: 1.0 })
            .collect();
        let figures = ContextFigures::of(&outcomes.iter().collect::<Vec<_>>());
        assert_eq!(
            (figures.answerable, figures.answered, figures.answered_wordless),
            (2, 0.5, 0.0)
        );
        assert_eq!((figures.unanswerable, figures.silent, figures.precision), (1, 1.0, 0.5));
        assert_eq!((figures.items_per_task, figures.tokens_per_task), (2.0 / 3.0, 30.0));
        let last = figures.reliability[9];
        assert_eq!((last.observed, last.count), (0.5, 2));
        assert!((last.predicted - 0.935).abs() < 1e-9);
        assert_eq!(figures.reliability[1].observed, 1.0);
    }
}
