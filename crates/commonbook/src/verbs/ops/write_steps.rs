//! The steps that every write takes besides its own work.

use jiff::Timestamp;

use super::presence;
use crate::base::error::Result;
use crate::base::id::IdSource;
use crate::model::caller::Caller;
use crate::store::Transaction;
use crate::verbs::checkpoint;

/// Who writes, at what time, and where new ids come from.
#[derive(Clone, Copy)]
pub(in crate::verbs) struct WriteScope<'w> {
    pub(in crate::verbs) caller: &'w Caller,
    pub(in crate::verbs) now: Timestamp,
    pub(in crate::verbs) ids: &'w dyn IdSource,
}

/// A step of every write, in the transaction of the write. An error refuses the write.
pub(super) type WriteStep = fn(&mut dyn Transaction, WriteScope<'_>) -> Result<()>;

/// The steps of every write, in this order, before the write itself.
pub(super) const WRITE_STEPS: &[WriteStep] =
    &[presence::refuse_lookalike, presence::note_writer, checkpoint::note_activity];
