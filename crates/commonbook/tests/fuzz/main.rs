//! Fuzzing: whatever bytes come from outside, each parser answers, and what it takes obeys the rules.
//!
//! Each target begins with the lines of its corpus and goes on with what it makes of them. It tries a
//! few thousand inputs, the same every time; or new ones for so many seconds:
//! `FUZZ_SECONDS=60 cargo test --release -p commonbook --test fuzz query -- --nocapture`.
//! What breaks a rule is shown; its line belongs into the corpus.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod inputs;
mod laws;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use inputs::Inputs;

/// Inputs of one target in a run that nobody has given a time.
const FEW: usize = 3_000;

/// Feeds a target with its corpus, and with what becomes of it.
fn fuzz(corpus: &str, law: impl Fn(&[u8])) {
    #[expect(clippy::disallowed_methods, reason = "how a person asks for a longer run")]
    let seconds = std::env::var("FUZZ_SECONDS").ok().map(|seconds| seconds.parse().unwrap());
    let begun = Instant::now();
    let (mut tried, mut slowest) = (0, (Duration::ZERO, Vec::new()));
    let mut inputs = Inputs::new(corpus, seconds.is_some());
    let goes_on = |tried| match seconds {
        Some(seconds) => begun.elapsed() < Duration::from_secs(seconds),
        None => tried < FEW,
    };
    while goes_on(tried) {
        let input = inputs.next();
        let before = Instant::now();
        if let Err(broken) = catch_unwind(AssertUnwindSafe(|| law(&input))) {
            eprintln!("broken by: {}", input.escape_ascii());
            resume_unwind(broken);
        }
        if before.elapsed() > slowest.0 {
            slowest = (before.elapsed(), input);
        }
        tried += 1;
    }
    let (time, input) = slowest;
    eprintln!("{tried} inputs; the slowest took {time:?}, of {} bytes", input.len());
}

#[test]
fn json() {
    fuzz(include_str!("corpus/json.txt"), laws::json);
}

#[test]
fn batch() {
    fuzz(include_str!("corpus/batch.txt"), laws::batch);
}

#[test]
fn query() {
    fuzz(include_str!("corpus/query.txt"), laws::query);
}

#[test]
fn import() {
    fuzz(include_str!("corpus/import.txt"), laws::import);
}

#[test]
fn agent() {
    fuzz(include_str!("corpus/agent.txt"), laws::agent);
}

#[test]
fn workspace() {
    fuzz(include_str!("corpus/workspace.txt"), laws::workspace);
}

#[test]
fn cursor() {
    fuzz(include_str!("corpus/cursor.txt"), laws::cursor);
}
