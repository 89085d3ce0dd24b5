//! Taking away what has had its time.

use jiff::SignedDuration;

use super::Commonbook;
use super::memory::{end_of_recovery, purge};
use crate::agent::Agent;
use crate::error::Result;
use crate::limits;

/// Memories that one transaction of a sweep removes at the most, so that writers wait only briefly.
const AT_ONCE: u32 = 100;

/// What a sweep took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// Memories whose 30 days after deletion were over.
    pub purged: usize,
}

impl Commonbook {
    /// Removes the memories that were deleted more than 30 days ago and the idempotency keys that
    /// are older than 24 hours, and checkpoints older than 30 days; ends the sessions in which nothing was written for a day. Long-lived processes do this when they start and every hour.
    ///
    /// # Errors
    /// `unavailable` when the store cannot write.
    pub fn sweep(&self) -> Result<Swept> {
        let now = self.clock.now();
        let mut swept = Swept { purged: 0 };
        loop {
            let purged = self.store.write(move |tx| {
                let old = tx.deleted_before(end_of_recovery(now), AT_ONCE)?;
                for memory in &old {
                    purge(tx, memory, &Agent::system(), now)?;
                }
                tx.drop_acts(end_of_recovery(now))?;
                let hours = SignedDuration::from_hours(limits::IDEMPOTENCY_HOURS);
                tx.drop_answers(now.checked_sub(hours).unwrap_or(now))?;
                Ok(old.len())
            })?;
            swept.purged += purged;
            if purged < AT_ONCE as usize {
                break;
            }
        }
        self.end_idle_sessions(now)?;
        self.drop_old_checkpoints(now)?;
        if swept.purged > 0 {
            self.scrub();
        }
        Ok(swept)
    }
}
