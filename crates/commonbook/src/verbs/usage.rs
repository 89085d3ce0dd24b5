//! Usage: counting how often each memory was found, told and used, without delaying a reader.
//!
//! What texts told is counted from the receipts, each once; what was found and used is noted in this
//! process and written with the next batch. What a session opened belongs to what it received: it is
//! written with the next write of its agent, or with that batch.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::Commonbook;
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::{self, ItemKind, Sight};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::lineage::{MemoryReading, day_session};
use crate::model::memory::{Memory, UsageKind};
use crate::model::search::MemoryRef;
use crate::model::workspace::Workspace;
use crate::store::{Tx, UsageCounts};

/// Memories whose counts wait for the next batch at most; counts of further ones are lost.
const WAITING_MEMORIES_MAX: usize = 10_000;

/// Readings that wait for the next write at most; further ones are lost.
const WAITING_READINGS_MAX: usize = 10_000;

/// Receipts that one transaction counts at most, so that writers wait only briefly.
const COUNTED_RECEIPTS_MAX: u32 = 50;

/// The counts that are not written yet.
#[derive(Default)]
pub(in crate::verbs) struct UsageLog {
    waiting: Mutex<UsageCounts>,
    /// What sessions opened.
    readings: Mutex<Vec<MemoryReading>>,
    /// Those of them that are being written: until then they count as opened.
    in_flight: Mutex<Vec<MemoryReading>>,
    /// Held while counts are written: a second caller waits until they are stored.
    writing: Mutex<()>,
}

impl Commonbook {
    /// Notes that the caller found or used these memories; [`Self::record_usage`] writes it. A
    /// caller whose token is bound to one workspace changes no count in another. What a person looks at
    /// on the pages counts nothing: they are read again whenever something changes.
    pub(in crate::verbs) fn note_usage<'m>(
        &self,
        caller: &Caller,
        kind: UsageKind,
        memories: impl IntoIterator<Item = (&'m Workspace, MemoryId)>,
    ) {
        if caller.door == EntryPoint::Dashboard {
            return;
        }
        let mut waiting = self.usage.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let writes = |workspace: &Workspace| access::may_write_in(caller, workspace).is_ok();
        for (workspace, id) in memories.into_iter().filter(|(workspace, _)| writes(workspace)) {
            if waiting.0.len() >= WAITING_MEMORIES_MAX {
                tracing::debug!("too many memories wait to be counted");
                return;
            }
            waiting.add(workspace, id, kind, Timestamp::UNIX_EPOCH);
        }
    }

    /// Notes that the session of a caller opened these memories; `sequence` is the end of its journal.
    pub(in crate::verbs) fn note_opened<'m>(
        &self,
        caller: &Caller,
        memories: impl IntoIterator<Item = &'m Memory>,
        sequence: u64,
    ) {
        // All anonymous callers share one name; a person reads without a session.
        if caller.agent.is_anonymous() || caller.door == EntryPoint::Dashboard {
            return;
        }
        let at = self.clock.now();
        let reading = MemoryReading {
            workspace: caller.workspace.clone(),
            agent: caller.agent.clone(),
            session: caller.session.clone().unwrap_or_else(|| day_session(at)),
            context: None,
            sequence,
            at,
            memories: memories.into_iter().map(|found| (found.id, Some(found.revision))).collect(),
        };
        let mut readings = self.usage.readings.lock().unwrap_or_else(PoisonError::into_inner);
        if readings.len() >= WAITING_READINGS_MAX {
            tracing::debug!("too many readings wait to be written");
            return;
        }
        readings.push(reading);
    }

    /// What this agent opened and the store may not have yet. Who reads the store too asks this first: a reading that
    /// is written meanwhile is in both then, and in neither the other way round.
    pub(in crate::verbs) fn unwritten_readings(&self, caller: &Caller) -> Vec<MemoryReading> {
        let (readings, in_flight) = self.lock_readings();
        let all = readings.iter().chain(in_flight.iter());
        all.filter(|reading| is_of(reading, caller)).cloned().collect()
    }

    /// Takes out what this agent opened and no write has noted yet; what is being written comes along.
    pub(in crate::verbs) fn take_readings(&self, caller: &Caller) -> Vec<MemoryReading> {
        let (mut readings, in_flight) = self.lock_readings();
        let mut own: Vec<MemoryReading> =
            readings.extract_if(.., |reading| is_of(reading, caller)).collect();
        own.extend(in_flight.iter().filter(|reading| is_of(reading, caller)).cloned());
        own
    }

    fn lock_readings(
        &self,
    ) -> (MutexGuard<'_, Vec<MemoryReading>>, MutexGuard<'_, Vec<MemoryReading>>) {
        let readings = self.usage.readings.lock().unwrap_or_else(PoisonError::into_inner);
        let in_flight = self.usage.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        (readings, in_flight)
    }

    /// Puts back what [`Self::take_readings`] took out and no write has noted.
    pub(in crate::verbs) fn return_readings(&self, taken: &[MemoryReading]) {
        let mut readings = self.usage.readings.lock().unwrap_or_else(PoisonError::into_inner);
        readings.extend_from_slice(taken);
    }

    /// Writes the counts that wait, and counts the receipts that are not counted yet, while
    /// `proceed` says so. Background work calls it, and a command after its response.
    ///
    /// # Errors
    /// `unavailable` if the store cannot write; the counts that waited are lost then.
    pub fn record_usage(&self, proceed: impl Fn() -> bool) -> Result<()> {
        let _writing = self.usage.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting =
            std::mem::take(&mut *self.usage.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let readings = {
            let (mut readings, mut in_flight) = self.lock_readings();
            *in_flight = std::mem::take(&mut *readings);
            in_flight.clone()
        };
        if !(waiting.0.is_empty() && readings.is_empty()) {
            let written = self.store.write_figures(move |tx| {
                readings.iter().try_for_each(|reading| tx.note_told(reading))?;
                tx.add_usage(&waiting, false)
            });
            self.lock_readings().1.clear();
            written?;
        }
        while proceed() && self.store.read(|tx| Ok(!tx.uncounted_contexts(1)?.is_empty()))? {
            self.store.write_figures(count_receipts)?;
        }
        Ok(())
    }
}

/// Whether this agent opened the memories of a reading.
fn is_of(reading: &MemoryReading, caller: &Caller) -> bool {
    reading.agent == caller.agent && reading.workspace == caller.workspace
}

/// Counts the next receipts: each once, in the transaction that marks it as counted.
fn count_receipts(tx: &mut Tx<'_>) -> Result<()> {
    let contexts = tx.uncounted_contexts(COUNTED_RECEIPTS_MAX)?;
    let (mut free, mut bound) = (UsageCounts::default(), UsageCounts::default());
    for context in &contexts {
        let counts = if context.is_bound { &mut bound } else { &mut free };
        for candidate in context.receipt.included() {
            if let ItemKind::Memory(id) = ItemKind::of(&candidate.id) {
                counts.add(&context.workspace, id, UsageKind::Told, context.at);
            }
        }
        tx.mark_counted(context)?;
    }
    tx.add_usage(&free, true)?;
    tx.add_usage(&bound, false)
}

/// Adds to these memories, which the sight sees, how often they reached readers.
pub(in crate::verbs) fn add_usage<'m>(
    tx: &Tx<'_>,
    sight: &Sight,
    memories: impl IntoIterator<Item = &'m mut Memory>,
) -> Result<()> {
    let mut memories: Vec<&mut Memory> = memories.into_iter().collect();
    let refs: Vec<MemoryRef> =
        memories.iter().map(|memory| (memory.workspace.clone(), memory.id)).collect();
    for ((workspace, id), usage) in tx.usage(sight, &refs)? {
        let found =
            memories.iter_mut().find(|memory| memory.id == id && memory.workspace == workspace);
        if let Some(memory) = found {
            memory.usage = Some(usage.to_the_minute());
        }
    }
    Ok(())
}
