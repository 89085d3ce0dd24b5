//! The steps that every write runs besides its own work.

use super::presence;
use super::working_session;
use super::write_once::WriteStep;
use crate::verbs::checkpoint;

/// The steps of every write, in this order, before the write itself.
pub(in crate::verbs) const WRITE_STEPS: &[WriteStep] = &[
    presence::refuse_lookalike,
    presence::note_writer,
    working_session::begin_with_write,
    checkpoint::note_activity,
];
