//! Background work: following the journals, and removing old rows.

pub(in crate::verbs) mod agenda;
mod contradiction;
mod digest;
pub(in crate::verbs) mod mention;
pub(in crate::verbs) mod sweep;
pub(in crate::verbs) mod webhook;
