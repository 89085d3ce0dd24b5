//! What a person changed in the file of a memory, written as a revision of it.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::model::access::{self, Sight};
use crate::model::caller::Caller;
use crate::model::event::EventKind;
use crate::model::export::{EditedChange, MemoryEdit};
use crate::model::memory::{SaveOutcome, UpdateMemory, expect_revision};
use crate::store::Tx;
use crate::verbs::memory::{
    MemoryChange, RECOVERY_PERIOD, not_deleted, replace, revived, visible_memory,
};

/// Writes an edit; returns whether it changed anything. An edit that was written before changes nothing.
///
/// # Errors
/// `not_found` if the memory is not in the caller's sight, if it is deleted and the edit does not restore
/// it, or if it was deleted too long ago; `forbidden` if the caller is no person, or the memory an entry of
/// a case; `conflict` if the memory is not at the expected revision.
pub(super) fn write_edit(
    tx: &mut Tx<'_>,
    caller: &Caller,
    edit: &MemoryEdit,
    now: Timestamp,
) -> Result<SaveOutcome> {
    let sight = Sight::exporting(caller, &edit.workspace)?;
    let id = edit.change.id()?;
    let stored = visible_memory(&*tx, &sight, id)?;
    access::may_edit_file(caller, &stored)?;
    let (after, kind, fields) = match &edit.change {
        EditedChange::Supersede(supersession) => {
            if stored.superseded_by == Some(supersession.by) {
                return Ok(SaveOutcome::Repeated);
            }
            let heir = visible_memory(&*tx, &sight, supersession.by)?;
            expect_revision(supersession.expected_revision, &stored)?;
            replace(tx, caller, &not_deleted(stored)?, &heir, now)?;
            return Ok(SaveOutcome::Created);
        }
        EditedChange::Delete(_) if stored.deleted_at.is_some() => return Ok(SaveOutcome::Repeated),
        EditedChange::Delete(deletion) => {
            let is_near = |at: &Timestamp| at.duration_since(now).abs() <= RECOVERY_PERIOD;
            let deleted_at = deletion.deleted_at.filter(is_near).unwrap_or(now);
            let after = stored.with(|after| after.deleted_at = Some(deleted_at));
            (after, EventKind::MemoryDeleted, Vec::new())
        }
        EditedChange::Restore(_) => {
            let after = revived(&stored, now)?.filter(|_| stored.deleted_at.is_some());
            let Some(after) = after else { return Ok(SaveOutcome::Repeated) };
            (after, EventKind::MemoryRestored, Vec::new())
        }
        EditedChange::Update(update) => {
            let mut after = not_deleted(stored.clone())?;
            let update = UpdateMemory { expected_revision: None, ..(**update).clone() };
            let fields = update.apply(&mut after, None)?;
            if fields.is_empty() {
                return Ok(SaveOutcome::Repeated);
            }
            access::may_keep(&after.owner, after.sharing)?;
            (after, EventKind::MemoryUpdated, fields)
        }
    };
    expect_revision(edit.change.expected_revision(), &stored)?;
    MemoryChange { kind, fields: &fields, caller, now }.write(tx, &stored, after)?;
    Ok(SaveOutcome::Created)
}
