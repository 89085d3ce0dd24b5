//! What verbs share: how a write is carried out, and steps on a transaction that several verbs take.

pub(in crate::verbs) mod find_visible;
pub(in crate::verbs) mod handles;
pub(in crate::verbs) mod presence;
pub(in crate::verbs) mod read_position;
pub(in crate::verbs) mod write_once;
pub(in crate::verbs) mod write_steps;
