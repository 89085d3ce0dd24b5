//! The loop of a fuzz target: feeds a law with a corpus and with mutations of its lines.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use super::inputs::Inputs;

/// Inputs of one target in a run without `FUZZ_SECONDS`.
const INPUTS_DEFAULT: usize = 3_000;

/// Feeds a law with each line of a corpus and with mutations of them: always the same few thousand, or new
/// ones for `FUZZ_SECONDS` seconds.
pub(crate) fn fuzz(corpus: &str, law: impl Fn(&[u8])) {
    #[expect(clippy::disallowed_methods, reason = "how a person asks for a longer run")]
    let seconds = std::env::var("FUZZ_SECONDS").ok().map(|seconds| seconds.parse().unwrap());
    let begun = Instant::now();
    let (mut tried, mut slowest) = (0, (Duration::ZERO, Vec::new()));
    let mut inputs = Inputs::new(corpus, seconds.is_some());
    let goes_on = |tried| match seconds {
        Some(seconds) => begun.elapsed() < Duration::from_secs(seconds),
        None => tried < INPUTS_DEFAULT,
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
