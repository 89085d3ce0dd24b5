//! Removing what has expired.

use jiff::{SignedDuration, Timestamp};

use crate::base::error::Result;
use crate::base::limits;
use crate::base::settled_clock::SettledClock;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::{Caller, EntryPoint};
use crate::verbs::Commonbook;
use crate::verbs::memory::{end_of_recovery, purge};

/// Memories that one transaction of a sweep removes at most, so that writers wait only briefly.
const MEMORY_SWEEP_MAX: u32 = 100;

/// What a sweep removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepResult {
    /// Memories that were deleted more than 30 days ago.
    pub purged: usize,
}

impl Commonbook {
    /// Removes the memories that were deleted more than 30 days ago, the idempotency keys that are
    /// older than 24 hours, the checkpoints, the receipts of contexts and the records of briefings
    /// older than 30 days; ends
    /// the sessions in which nothing was written for a day, and the handoffs that expired.
    /// Long-lived processes run this at their start and every hour.
    ///
    /// Expiry is judged by the confirmed time ([`SettledClock`]): a clock that leaps once expires
    /// nothing.
    ///
    /// # Errors
    /// `unavailable` when the store cannot write.
    pub fn sweep(&self) -> Result<SweepResult> {
        let now = self.clock.now();
        let sure = self.store.write(move |tx| {
            let settled = tx.settled_clock()?;
            let steady =
                settled.map_or_else(|| SettledClock::starting(now), |settled| settled.observe(now));
            tx.put_settled_clock(steady)?;
            Ok(steady.confirmed)
        })?;
        let mut swept = SweepResult { purged: 0 };
        loop {
            let purged = self.store.write(move |tx| {
                let old = tx.deleted_before(end_of_recovery(sure), MEMORY_SWEEP_MAX)?;
                for memory in &old {
                    let name = AgentName { agent: Agent::system(), device: None };
                    let home = memory.workspace.clone();
                    let system = Caller::new(Some(name), home, EntryPoint::Digest);
                    purge(tx, memory, &system, now)?;
                }
                tx.drop_bulk_operations(end_of_recovery(sure))?;
                let hours = SignedDuration::from_hours(limits::IDEMPOTENCY_HOURS);
                tx.drop_answers(sure.checked_sub(hours).unwrap_or(Timestamp::MIN))?;
                Ok(old.len())
            })?;
            swept.purged += purged;
            if purged < MEMORY_SWEEP_MAX as usize {
                break;
            }
        }
        self.end_idle_sessions(sure, now)?;
        self.drop_old_checkpoints(sure)?;
        // A receipt is counted before it goes.
        self.record_usage(|| true)?;
        self.drop_old_contexts(sure)?;
        self.drop_old_briefings(sure)?;
        self.expire_handoffs(sure, now)?;
        if swept.purged > 0 {
            self.scrub();
        }
        self.finish_forgetting()?;
        Ok(swept)
    }
}
