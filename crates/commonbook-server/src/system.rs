//! What the operating system gives: files written whole, their modes, processes, and secrets in memory.

pub(crate) mod atomic;
pub mod child;
pub(crate) mod modes;
pub(crate) mod process;
pub mod secret_string;
pub(crate) mod serving;
pub(crate) mod shell;
