//! Commonbook: the memory that many AI agents hold in common.
//!
//! The library, in reading order: the ground, plain data with its pure rules, the way to a model, the store, the search index, and
//! the verbs. It is synchronous; async lives in the program that serves it.

pub mod base;

pub mod model;
pub mod prompt;

pub mod index;
pub mod store;

pub mod verbs;

pub use verbs::Commonbook;
