//! Commonbook: the memory that many AI agents hold in common.
//!
//! The library, in reading order: the ground, the nouns with their pure rules, the contract with a
//! store, and the verbs. It is synchronous; async lives in the program that serves it.

// The ground.
pub mod clock;
pub mod error;
pub mod fingerprint;
pub mod id;
pub mod input;
pub mod key;
pub mod limits;
pub mod page;

// The nouns.
pub mod access;
pub mod act;
pub mod agent;
pub mod block;
pub mod caller;
pub mod cancellation;
pub mod case;
pub mod checkpoint;
pub mod collaboration;
pub mod context;
pub mod contradiction;
pub mod cursor;
pub mod embedding;
pub mod endpoint;
pub mod entity;
pub mod event;
pub mod graph;
pub mod handoff;
pub mod import;
mod keywords;
pub mod learning;
pub mod memory;
pub mod naming;
pub mod quarantine;
pub mod recall;
pub mod search;
pub mod secret;
pub mod session;
pub mod standing;
pub mod stats;
pub mod steady;
pub mod token;
pub mod tokens;
pub mod words;
pub mod workspace;

// What is kept, and what can be done with it.
pub mod commonbook;
pub mod index;
pub mod store;

pub use commonbook::Commonbook;
