//! Following the journals with contradictions: each new memory is compared with those that state
//! something of the same subject.
//!
//! The follower never goes beyond where mentions are. Each new or changed memory is compared with
//! at most [`limits::CONTRADICTION_CANDIDATES`] others that have a claim with the same key, found by
//! an index: the cost of a memory does not grow with the number of memories, and no save waits for
//! it.

use std::ops::ControlFlow;
use std::sync::Arc;

use jiff::Timestamp;

use crate::base::error::{Result, unless_unavailable};
use crate::base::id::ContradictionId;
use crate::base::limits;
use crate::model::access::StoredMemory;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::contradiction::{
    ContradictionFinding, ContradictionRecord, MemoryStatements, id_of, may_contradict,
    ordered_by_time, profile_conflict,
};
use crate::model::event::{EventKind, NewEvent};
use crate::model::memory::Memory;
use crate::model::workspace::Workspace;
use crate::store::{JournalLag, JournalScope, Tx};
use crate::verbs::Commonbook;
use crate::verbs::contradiction::contradiction_event;

/// The revision of the rules that find contradictions. A new revision compares all memories again.
const COMPARISON_RULES_REVISION: u32 = 3;

/// Events whose memories are compared in one step: less than a tenth of a second.
const COMPARISON_EVENTS_MAX: u32 = 250;

impl Commonbook {
    /// Finds contradictions in everything that the journals in this scope hold beyond what was
    /// compared. After each step `report` receives the number of events read so far, and may stop the work. Any
    /// process may run this at any time: each range of a journal is processed once.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read or written.
    pub fn find_contradictions(
        &self,
        scope: &JournalScope,
        mut report: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<()> {
        if scope.is_none() {
            return Ok(());
        }
        let mut read = 0;
        let behind = self.store.read(|tx| self.contradictions_behind(tx, scope))?;
        for JournalLag { workspace, position: mut place, .. } in behind {
            loop {
                let next = self.contradictions_after(&workspace, place)?;
                if next == place {
                    break;
                }
                read += next.saturating_sub(place);
                place = next;
                if report(read).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The journals in this scope that go beyond what was compared.
    pub(in crate::verbs) fn contradictions_behind(
        &self,
        tx: &Tx<'_>,
        scope: &JournalScope,
    ) -> Result<Vec<JournalLag>> {
        tx.contradictions_behind(scope, COMPARISON_RULES_REVISION)
    }

    /// Brings the contradictions of the caller's workspace up to the end that its journal has now. What
    /// others write meanwhile is left to the next call: a reader never waits for writers that do not stop.
    pub(in crate::verbs) fn follow_contradictions(&self, caller: &Caller) -> Result<()> {
        let workspace = &caller.workspace;
        let end = self.store.read(|tx| tx.journal_end(workspace))?;
        let reached = || {
            self.store.read(|tx| tx.contradictions_position(workspace, COMPARISON_RULES_REVISION))
        };
        while reached()? < end && self.follow_contradictions_once(caller)? {}
        Ok(())
    }

    /// Compares the next memories of the caller's workspace, so that a text for an agent marks what was
    /// saved just now, even if no process follows the journal. One step bounds the delay: a long
    /// backlog is left to the follower. Returns whether there may be more. Where nothing can be written, as
    /// on a read-only disk, a reader gets what was compared before.
    pub(in crate::verbs) fn follow_contradictions_once(&self, caller: &Caller) -> Result<bool> {
        let workspace = &caller.workspace;
        let (place, (memories, others, _)) = self.store.read(|tx| {
            let place = tx.contradictions_position(workspace, COMPARISON_RULES_REVISION)?;
            Ok((place, tx.next_events(workspace, place, COMPARISON_EVENTS_MAX)?))
        })?;
        // A position is written only if there is something to compare, or many events to skip.
        let nothing_new = !memories && others < COMPARISON_EVENTS_MAX;
        if nothing_new {
            return Ok(false);
        }
        let after = unless_unavailable(self.contradictions_after(workspace, place))?;
        Ok(after.is_some_and(|after| after != place))
    }

    /// Processes the next range of a journal after this position; returns its end.
    fn contradictions_after(&self, workspace: &Workspace, place: u64) -> Result<u64> {
        let now = self.clock.now();
        let (next, judged, missing) = self.store.read(|tx| {
            let changes = tx.changes(workspace, place, COMPARISON_EVENTS_MAX)?;
            let Some(next) = changes.last().map(|change| change.sequence) else {
                return Ok((place, ComparisonResult::default(), Vec::new()));
            };
            let mut memories: Vec<StoredMemory> = changes
                .into_iter()
                .filter_map(|change| change.memory)
                .map(|memory| *memory)
                .collect();
            memories.sort_by_key(|memory| memory.id);
            memories.dedup_by_key(|memory| memory.id);
            let mut judged = ComparisonResult::default();
            let missing = without_claims(tx, &memories)?;
            if missing.is_empty() {
                memories.iter().try_for_each(|memory| judged.judge(tx, memory, now))?;
            }
            Ok((next, judged, missing))
        })?;
        if !missing.is_empty() {
            self.store.write_derived(workspace, move |tx| {
                missing.iter().try_for_each(|(memory, keys)| tx.put_claims(memory, keys))
            })?;
            return self.contradictions_after(workspace, place);
        }
        if next == place {
            return Ok(place);
        }
        let (journal, judged) = (workspace.clone(), Arc::new(judged));
        self.store.write_derived(workspace, move |tx| {
            // Another process has processed the range meanwhile.
            let taken = tx.contradictions_position(&journal, COMPARISON_RULES_REVISION)?;
            if taken != place {
                return Ok(taken);
            }
            judged.store_findings(tx, &journal)?;
            tx.set_contradictions_position(&journal, COMPARISON_RULES_REVISION, next)?;
            Ok(next)
        })
    }
}

/// Those of these memories that an earlier release saved without the keys of their claims.
fn without_claims(tx: &Tx<'_>, memories: &[StoredMemory]) -> Result<Vec<(StoredMemory, Vec<i64>)>> {
    let mut missing = Vec::new();
    for memory in memories {
        if !tx.has_claims(memory)? {
            missing.push((memory.clone(), MemoryStatements::of(memory).keys()));
        }
    }
    Ok(missing)
}

/// The result of comparing some memories.
#[derive(Default)]
struct ComparisonResult {
    /// New contradictions, each with its event.
    found: Vec<(ContradictionRecord, NewEvent)>,
    /// Resolved contradictions that are open again, each with its event.
    reopened: Vec<(ContradictionRecord, NewEvent)>,
    /// Contradictions that still hold, at other revisions or for another reason.
    renewed: Vec<ContradictionRecord>,
    /// Contradictions that no longer hold.
    gone: Vec<ContradictionId>,
}

impl ComparisonResult {
    /// Compares a memory with those that state something of the same subject, and again with those
    /// that it contradicted.
    fn judge(&mut self, tx: &Tx<'_>, memory: &Memory, now: Timestamp) -> Result<()> {
        let recorded = tx.contradictions_of(memory)?;
        let stated = MemoryStatements::of(memory);
        for (kept, other) in &recorded {
            let (older, newer) = ordered_by_time(memory, other);
            let judged = kept.judgement(older, newer);
            // What an agent says stays its statement, even if the rules find the same.
            let found = match judged.as_ref().is_some_and(|judged| judged.stated_by.is_some()) {
                true => judged,
                false => compare_memories(memory, &stated, other).or(judged),
            };
            // A decision stays, even if one of the two memories is superseded since.
            match found.filter(|_| kept.resolved.is_some() || may_contradict(memory, other)) {
                None => self.gone.push(kept.id),
                Some(found) => {
                    let renewed = ContradictionRecord {
                        memories: [(older.id, older.revision), (newer.id, newer.revision)],
                        found,
                        ..kept.clone()
                    };
                    // A decision was about the texts that it read.
                    if kept.is_outdated(older, newer) && may_contradict(older, newer) {
                        let kind = EventKind::ContradictionReopened;
                        let event = contradiction_event(kind, older, newer, &Agent::system(), now);
                        self.reopened.push((renewed.reopened(older, newer), event));
                        continue;
                    }
                    self.renewed.extend((renewed != *kept).then_some(renewed));
                }
            }
        }
        if !memory.is_current() {
            return Ok(());
        }
        let limit = limits::CONTRADICTION_CANDIDATES;
        let mut others = tx.memories_beside(memory, &stated.keys(), limit)?;
        others.extend(tx.other_authors(memory, limit)?);
        let mut new: Vec<(ContradictionRecord, NewEvent)> = Vec::new();
        for other in others {
            let id = id_of(memory.id, other.id);
            let is_known = recorded.iter().any(|(kept, _)| kept.id == id)
                || self.found.iter().chain(&new).any(|(kept, _)| kept.id == id);
            if is_known || !may_contradict(memory, &other) {
                continue;
            }
            if let Some(found) = compare_memories(memory, &stated, &other) {
                let (older, newer) = ordered_by_time(memory, &other);
                let kept = ContradictionRecord::new(older, newer, found, now);
                let event = contradiction_event(
                    EventKind::ContradictionFound,
                    older,
                    newer,
                    &Agent::system(),
                    now,
                );
                new.push((kept, event));
            }
        }
        new.sort_by(|(a, _), (b, _)| b.found.confidence.total_cmp(&a.found.confidence));
        self.found.extend(new.into_iter().take(limits::CONTRADICTIONS_AT_ONCE));
        Ok(())
    }

    /// Stores all this. Memories that have changed since the comparison are left out: their change
    /// comes later in the journal.
    fn store_findings(&self, tx: &mut Tx<'_>, workspace: &Workspace) -> Result<()> {
        for id in &self.gone {
            tx.drop_contradiction(workspace, *id)?;
        }
        for kept in &self.renewed {
            tx.put_contradiction(kept, 0)?;
        }
        for (kept, event) in &self.reopened {
            if tx.put_contradiction(kept, 0)? {
                tx.append_event(event)?;
            }
        }
        for (kept, event) in &self.found {
            let place = tx.journal_end(workspace)? + 1;
            if tx.put_contradiction(kept, place)? {
                tx.append_event(event)?;
            }
        }
        Ok(())
    }
}

/// The contradiction between two memories, if there is any.
fn compare_memories(
    memory: &Memory,
    statements: &MemoryStatements<'_>,
    other: &Memory,
) -> Option<ContradictionFinding> {
    let of_other = MemoryStatements::of(other);
    let (older, newer) = ordered_by_time(memory, other);
    let found = match older.id == memory.id {
        true => statements.contradiction_with(&of_other),
        false => of_other.contradiction_with(statements),
    };
    found.or_else(|| profile_conflict(older, newer))
}
