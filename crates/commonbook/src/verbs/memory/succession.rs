//! Succession: a memory is superseded only while everybody who reads it can read its successor.
//!
//! Each change of a memory passes here, and each removal. What a memory superseded is current again
//! when the memory is quarantined, deleted or removed for good, or when fewer may read it; it is
//! superseded again when they may.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::write::{MemoryChange, may_replace};
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::{self, Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::event::EventKind;
use crate::model::memory::{Memory, PendingReview, Sharing};
use crate::store::Tx;

/// Settles what this memory superseded, and what superseded it, before it becomes `after`. Returns the
/// memories that it supersedes once it is written.
pub(super) fn settle_succession(
    tx: &mut Tx<'_>,
    change: &MemoryChange<'_>,
    before: &Memory,
    after: &mut Memory,
) -> Result<Vec<StoredMemory>> {
    if is_read_by_more(before, after)
        && let Some(heir) = after.superseded_by
        && heir_of(tx, after, heir)?.is_none()
    {
        after.superseded_by = None;
    }
    if is_read_by_same(before, after) {
        return Ok(Vec::new());
    }
    let reviews = [&before.review, &after.review];
    let mut waiting: BTreeSet<MemoryId> =
        reviews.into_iter().flatten().flat_map(|review| review.supersedes.clone()).collect();
    for old in tx.superseded_by(&after.workspace, after.id)? {
        if !access::covers(after, &old) && return_place(tx, change, after, &old)?.is_none() {
            waiting.insert(old.id);
        }
    }
    let mut taken = Vec::new();
    if after.deleted_at.is_none() && !after.is_quarantined() {
        let mut hidden = BTreeSet::new();
        for id in waiting {
            // One that is gone, or superseded by another since, waits no more.
            let old = tx.memory(&Sight::of_owner(after), id)?.filter(|old| old.is_current());
            match old {
                Some(old) if !access::covers(after, &old) => {
                    hidden.insert(id);
                }
                Some(old) if may_replace(tx, change.caller, &old, after).is_ok() => taken.push(old),
                _ => {}
            }
        }
        waiting = hidden;
    }
    let appeal = after.review.take().and_then(|review| review.appeal);
    let appeal = appeal.filter(|_| after.is_quarantined());
    if appeal.is_some() || !waiting.is_empty() {
        let supersedes = waiting.into_iter().collect();
        after.review = Some(PendingReview { appeal, supersedes });
    }
    Ok(taken)
}

/// Settles what this memory superseded, before it is removed for good.
pub(super) fn settle_removal(
    tx: &mut Tx<'_>,
    caller: &Caller,
    memory: &Memory,
    now: Timestamp,
) -> Result<()> {
    let change = MemoryChange { kind: EventKind::MemoryUpdated, fields: &[], caller, now };
    for old in tx.superseded_by(&memory.workspace, memory.id)? {
        return_place(tx, &change, memory, &old)?;
    }
    Ok(())
}

/// Gives a memory back the place that `heir` took: to the successor of the heir where its readers see
/// that one, and it is returned; else the memory is current again. A deleted one stays as it is until
/// it is restored.
fn return_place(
    tx: &mut Tx<'_>,
    change: &MemoryChange<'_>,
    heir: &Memory,
    old: &StoredMemory,
) -> Result<Option<MemoryId>> {
    let next = match heir.superseded_by {
        Some(next) if next != old.id => heir_of(tx, old, next)?,
        _ => None,
    };
    if old.deleted_at.is_none() {
        let back = old.with(|back| back.superseded_by = next);
        let fields = &["superseded_by"];
        MemoryChange { kind: EventKind::MemoryUpdated, fields, ..*change }.write(tx, old, back)?;
    }
    Ok(next)
}

/// This successor of a memory, if it is there and all who read the memory read it.
fn heir_of(tx: &Tx<'_>, old: &Memory, heir: MemoryId) -> Result<Option<MemoryId>> {
    let heir = tx.memory(&Sight::of_owner(old), heir)?;
    Ok(heir.filter(|heir| access::covers(heir, old)).map(|heir| heir.id))
}

/// Whether a memory is there again, or open to others than before; its owner counts for those whom it
/// comes from.
fn is_read_by_more(before: &Memory, after: &Memory) -> bool {
    let is_restored = before.deleted_at.is_some() && after.deleted_at.is_none();
    let is_shared = (before.sharing, after.sharing) == (Sharing::Private, Sharing::Shared);
    is_restored || is_shared || (before.user_id.is_some() && after.user_id != before.user_id)
}

/// Whether the same readers see a memory before and after a change.
fn is_read_by_same(before: &Memory, after: &Memory) -> bool {
    let readers = |memory: &Memory| {
        let Memory { sharing, owner, user_id, .. } = memory.clone();
        (sharing, owner, user_id, memory.is_quarantined(), memory.deleted_at.is_some())
    };
    readers(before) == readers(after)
}
