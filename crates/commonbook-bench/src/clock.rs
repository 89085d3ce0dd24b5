//! `bench clock`: whether the duration of a search reveals other agents' private memories.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::Result;
use commonbook::base::limits;
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::memory::{SaveMemories, SaveMemory, Sharing};
use commonbook::model::search::SearchMemory;
use fastrand::Rng;
use serde::Serialize;
use serde_json::json;

use super::EmbedderChoice;
use super::machine::MachineProfile;
use super::metrics::percentile;
use super::search::{SEED, fill, size};
use crate::synthetic::MAIN_WORKSPACE;
use commonbook_server::config::Config;
use commonbook_server::output::{self, print_line};

/// The agent that searches; it has no memories.
const READER: &str = "reader";

/// The owner of the hidden memories. It searches too: its durations must differ, or the bench is
/// blind.
const OWNER: &str = "keeper";

/// A workspace that the reader does not read.
const UNREAD_WORKSPACE: &str = "acquisitions";

/// Distinct hidden words, and as many words that occur nowhere.
const HIDDEN_WORDS: usize = 90;

/// Questions before the measurement.
const WARM_UP_QUESTIONS: usize = 100;

/// Arguments of the clock bench.
#[derive(Debug, clap::Args)]
pub(super) struct ClockBench {
    /// Memories in each of the two homes: 20000, 50k
    #[arg(long, default_value = "20k", value_parser = size)]
    size: usize,
    /// Memories that one of them hides besides
    #[arg(long, default_value = "4k", value_parser = size)]
    hidden: usize,
    /// Pairs of questions of each kind
    #[arg(long, default_value_t = 1_000)]
    pairs: usize,
    /// The folder for the homes; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
    #[command(flatten)]
    by: EmbedderChoice,
}

/// A kind of question about a word that may be hidden, with a common word.
struct ClockQuestion {
    name: &'static str,
    query: fn(&str, &str) -> String,
}

const CLOCK_QUESTIONS: [ClockQuestion; 4] = [
    ClockQuestion { name: "a word", query: |word, _| word.to_owned() },
    ClockQuestion { name: "a phrase", query: |word, _| format!("\"{word} settlement\"") },
    ClockQuestion { name: "an exclusion", query: |word, common| format!("{common} -{word}") },
    ClockQuestion {
        name: "beside a common word",
        query: |word, common| format!("{common} {word}"),
    },
];

/// Two sides of a question, and whether their durations differ.
#[derive(Serialize)]
struct TimingComparison {
    what: String,
    pairs: usize,
    first_ms: f64,
    second_ms: f64,
    p: f64,
}

impl ClockBench {
    /// Makes the two homes, asks both in turn, and reports the probability of the difference by
    /// chance.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let (bare, _bare) = self.make_home(config, 0)?;
        let (hiding, _hiding) = self.make_home(config, self.hidden)?;
        let mut rows = Vec::new();
        for kind in &CLOCK_QUESTIONS {
            let ask = |book: &Commonbook, agent: &str, hidden: bool, turn: usize| {
                let query = (kind.query)(&word(2 * turn + usize::from(!hidden)), COMMON_WORD);
                duration(book, agent, query)
            };
            let name = kind.name;
            rows.push(self.compare(
                format!("{name}: hidden, or nowhere"),
                |turn| ask(&hiding, READER, true, turn),
                |turn| ask(&hiding, READER, false, turn),
            )?);
            // Neither set of words occurs there, so only the words themselves differ.
            rows.push(self.compare(
                format!("{name}: the same words, nothing hidden"),
                |turn| ask(&bare, READER, true, turn),
                |turn| ask(&bare, READER, false, turn),
            )?);
            rows.push(self.compare(
                format!("{name}: in a home that hides it, or not"),
                |turn| ask(&hiding, READER, true, turn),
                |turn| ask(&bare, READER, true, turn),
            )?);
            rows.push(self.compare(
                format!("{name}: asked by its owner (must differ)"),
                |turn| ask(&hiding, OWNER, true, turn),
                |turn| ask(&hiding, OWNER, false, turn),
            )?);
        }
        let machine = MachineProfile::detect_machine();
        if as_json {
            output::print_json(&json!({
                "bench": "clock", "memories": self.size, "hidden": self.hidden, "rows": rows,
                "machine": machine,
            }));
            return Ok(());
        }
        print_line(&format!(
            "data      {} memories in each home, {} hidden in one",
            self.size, self.hidden
        ));
        machine.print();
        print_line(&format!(
            "\n{:<56} {:>6} {:>9} {:>9} {:>8}",
            "median ms", "pairs", "first", "second", "p"
        ));
        for TimingComparison { what, pairs, first_ms, second_ms, p } in &rows {
            print_line(&format!("{what:<56} {pairs:>6} {first_ms:>9.3} {second_ms:>9.3} {p:>8.4}"));
        }
        Ok(())
    }

    /// A home with a written index, opened as by a new process.
    fn make_home(&self, config: &Config, hidden: usize) -> Result<(Commonbook, tempfile::TempDir)> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        fill(folder.path(), self.size, 0)?;
        let book = super::open_bench_book(folder.path(), Arc::new(SystemClock))?;
        save_hidden_memories(&book, hidden)?;
        self.by.give_embedder(&book, config)?;
        super::rebuild(&book, self.size + hidden)?;
        let book = super::open_bench_book(folder.path(), Arc::new(SystemClock))?;
        self.by.give_embedder(&book, config)?;
        Ok((book, folder))
    }

    /// Asks both sides in turn, in random order.
    fn compare(
        &self,
        what: String,
        first: impl Fn(usize) -> Result<f64>,
        second: impl Fn(usize) -> Result<f64>,
    ) -> Result<TimingComparison> {
        let mut rng = Rng::with_seed(SEED);
        for turn in 0..WARM_UP_QUESTIONS {
            first(turn)?;
            second(turn)?;
        }
        let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
        for turn in 0..self.pairs {
            if rng.bool() {
                firsts.push(first(turn)?);
                seconds.push(second(turn)?);
            } else {
                seconds.push(second(turn)?);
                firsts.push(first(turn)?);
            }
        }
        let p = mann_whitney(&firsts, &seconds);
        let (first_ms, second_ms) = (percentile(&firsts, 50.0), percentile(&seconds, 50.0));
        Ok(TimingComparison { what, pairs: self.pairs, first_ms, second_ms, p })
    }
}

/// A word in many memories that the reader sees.
const COMMON_WORD: &str = "review";

/// A synthetic word: even numbers are hidden, odd ones occur nowhere.
fn word(number: usize) -> String {
    let letter = |place: usize| char::from(b"bdfgklmnprtvxz"[place % 14]);
    let number = number % (2 * HIDDEN_WORDS);
    format!("zo{}u{}a{}ok", letter(number), letter(number / 14), letter(number * 5 + 3))
}

/// Saves memories that the reader does not see: private ones in its own workspace, and shared ones
/// in another; and as many in its own workspace with the common word, in both homes.
fn save_hidden_memories(book: &Commonbook, count: usize) -> Result<()> {
    let keep = |agent: &str, workspace: &str, sharing, texts: Vec<String>| -> Result<()> {
        let name: AgentName = agent.parse()?;
        let caller = Caller::new(Some(name), workspace.parse()?, EntryPoint::Cli);
        for texts in texts.chunks(limits::BATCH) {
            let memories = texts.iter().map(|text| SaveMemory {
                text: text.clone(),
                sharing: Some(sharing),
                ..SaveMemory::default()
            });
            let memories = memories.collect();
            book.save_memories(&caller, &SaveMemories { memories, idempotency_key: None })?;
        }
        Ok(())
    };
    let seen = (0..1_000).map(|n| format!("The {COMMON_WORD} of change {n} is done."));
    keep("reviewer", MAIN_WORKSPACE, Sharing::Shared, seen.collect())?;
    let hidden =
        |n: usize| format!("The {} settlement {n} waits for the {COMMON_WORD}.", word(2 * n));
    keep(OWNER, MAIN_WORKSPACE, Sharing::Private, (0..count / 2).map(hidden).collect())?;
    keep(OWNER, UNREAD_WORKSPACE, Sharing::Shared, (count / 2..count).map(hidden).collect())
}

/// The duration of a search in milliseconds.
fn duration(book: &Commonbook, agent: &str, query: String) -> Result<f64> {
    let name: AgentName = agent.parse()?;
    let caller = Caller::new(Some(name), MAIN_WORKSPACE.parse()?, EntryPoint::Cli);
    let question = SearchMemory { query, ..SearchMemory::default() };
    let begin = Instant::now();
    book.search_memory(&caller, &question)?;
    Ok(begin.elapsed().as_secs_f64() * 1e3)
}

/// The two-sided probability that two samples of one distribution differ as much as these: the
/// Mann-Whitney U test in its normal approximation, with the correction for ties.
fn mann_whitney(first: &[f64], second: &[f64]) -> f64 {
    let sides = first.iter().map(|value| (*value, true));
    let mut all: Vec<(f64, bool)> =
        sides.chain(second.iter().map(|value| (*value, false))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut ranks, mut ties, mut before) = (0.0, 0.0, 0.0);
    for same in all.chunk_by(|a, b| a.0 == b.0) {
        let count = same.len() as f64;
        let of_first = same.iter().filter(|(_, is_first)| *is_first).count() as f64;
        ranks += of_first * (before + (count + 1.0) / 2.0);
        ties += count.powi(3) - count;
        before += count;
    }
    let (m, n) = (first.len() as f64, second.len() as f64);
    let all = m + n;
    let u = ranks - m * (m + 1.0) / 2.0;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (u - m * n / 2.0).abs() / variance.sqrt();
    2.0 * normal_tail(z)
}

/// The probability that a standard normal value exceeds this non-negative one: formula 26.2.17 of
/// Abramowitz and Stegun, correct to seven digits.
fn normal_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let factors = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = factors.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    sum * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_are_distinct() {
        let words: HashSet<String> = (0..2 * HIDDEN_WORDS).map(word).collect();
        assert_eq!(words.len(), 2 * HIDDEN_WORDS);
    }

    #[test]
    fn the_test_knows_one_distribution_from_two() {
        let mut rng = Rng::with_seed(1);
        let mut sample = |shift: f64| -> Vec<f64> { (0..500).map(|_| rng.f64() + shift).collect() };
        let (a, b, c) = (sample(0.0), sample(0.0), sample(0.1));
        assert!(mann_whitney(&a, &b) > 0.01 && mann_whitney(&a, &c) < 0.001);
        assert_eq!(mann_whitney(&[1.0; 9], &[1.0; 9]), 1.0);
        // 5 % lie beyond 1.96 standard deviations.
        assert!((2.0 * normal_tail(1.959_964) - 0.05).abs() < 1e-6);
    }
}
