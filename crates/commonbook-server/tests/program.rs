//! The program as its users start it: one story through every door, each door by itself, and many processes on one home.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod doors;
#[path = "../../commonbook-embed/tests/loopback/mod.rs"]
#[expect(dead_code, reason = "each test executable uses its own part of the server")]
mod loopback;
mod one_story;
mod processes;
mod world;
