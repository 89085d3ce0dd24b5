//! Background work: what follows the journals, and what takes away old rows.

mod contradiction;
pub(in crate::verbs) mod mention;
pub(in crate::verbs) mod sweep;
