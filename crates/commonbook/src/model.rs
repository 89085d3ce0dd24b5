//! The model: plain data and the pure rules on it, without a store, a network or a clock.

pub mod access;
pub mod agent;
pub mod bulk;
pub mod caller;
pub mod case;
pub mod checkpoint;
pub mod collaboration;
pub mod contradiction;
pub mod cursor;
pub mod entity;
pub mod event;
pub mod export;
pub mod forgetting;
pub mod graph;
pub mod handoff;
pub mod import;
pub mod learning;
pub mod memory;
pub mod naming;
pub mod search;
pub mod session;
pub mod standing;
pub mod stats;
pub mod token;
pub mod workspace;
