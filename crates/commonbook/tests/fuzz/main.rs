//! Fuzzing: each parser of requests answers any bytes, and its results keep the limits.
//!
//! Each target tries the lines of its corpus and a few thousand mutations of them, the same every
//! time; or new ones for some seconds:
//! `FUZZ_SECONDS=60 cargo test --release -p commonbook --test fuzz query -- --nocapture`.
//! The run prints an input that breaks a law; its line belongs into the corpus. The laws on text
//! alone are in `crates/commonbook-text/tests/fuzz`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../../../commonbook-text/tests/fuzz/harness.rs"]
mod harness;
#[path = "../../../commonbook-text/tests/fuzz/inputs.rs"]
mod inputs;
mod laws;

use harness::fuzz;

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
