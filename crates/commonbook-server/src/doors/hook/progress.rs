//! How far a hook has come, for the thread that waits for it: what it has not written in time is left to
//! the next hook.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::record::HookRecord;
use crate::clients::hook_event::HookEvent;

/// The progress of one hook.
#[derive(Default)]
pub(super) struct HookProgress {
    moment: OnceLock<HookEvent>,
    unwritten: Mutex<Option<HookRecord>>,
}

impl HookProgress {
    /// Notes that there is something to do.
    pub(super) fn begin(&self, moment: HookEvent) {
        self.moment.get_or_init(|| moment);
    }

    /// The event, if there was something to do.
    pub(super) fn moment(&self) -> Option<HookEvent> {
        self.moment.get().copied()
    }

    /// Notes what the hook has to write.
    pub(super) fn keep(&self, record: &HookRecord) {
        *self.lock() = Some(record.clone());
    }

    /// Notes that it is written, or never will be.
    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    /// What the hook has not written.
    pub(super) fn take_unwritten(&self) -> Option<HookRecord> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<HookRecord>> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
