//! What verbs share: running a write, and steps on a transaction that several verbs need.

pub(in crate::verbs) mod basis;
pub(in crate::verbs) mod fence;
pub(in crate::verbs) mod find_visible;
pub(in crate::verbs) mod forgotten;
pub(in crate::verbs) mod handles;
pub(in crate::verbs) mod heirs;
pub(in crate::verbs) mod marks;
pub(in crate::verbs) mod node;
pub(in crate::verbs) mod past;
pub(in crate::verbs) mod presence;
pub(in crate::verbs) mod read_position;
pub(in crate::verbs) mod working_session;
pub(in crate::verbs) mod write_once;
pub(in crate::verbs) mod write_request;
pub(in crate::verbs) mod write_steps;
