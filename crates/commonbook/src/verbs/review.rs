//! Listing quarantined memories, and releasing them.

use super::Commonbook;
use super::list::page_of;
use super::memory::{MemoryChange, live_memory, visible_memory};
use crate::base::error::{Error, Result};
use crate::base::page::Page;
use crate::model::access::{self, Sight};
use crate::model::caller::Caller;
use crate::model::event::EventKind;
use crate::model::memory::{
    AppealMemory, ListOrder, ListQuarantined, Memory, PendingReview, ReleaseMemory, Trust,
    expect_revision,
};
use crate::model::search::MemoryFilter;
use crate::verbs::ops::heirs::{show, show_page};
use crate::verbs::ops::write_once::WriteScope;

impl Commonbook {
    /// Lists the quarantined memories of the caller's workspace, newest first.
    ///
    /// # Errors
    /// `forbidden` if the caller may not review; `invalid` if the limit is out of range or the
    /// cursor is malformed.
    pub fn list_quarantined(
        &self,
        caller: &Caller,
        request: &ListQuarantined,
    ) -> Result<Page<Memory>> {
        let sight = Sight::reviewing(caller)?;
        let filter = MemoryFilter { trust: Some(Trust::Quarantined), ..MemoryFilter::default() };
        let ListQuarantined { limit, cursor } = request;
        let order = ListOrder::Newest;
        let mut page = self.store.read(|tx| {
            show_page(tx, &sight, page_of(tx, &sight, &filter, order, *limit, cursor.as_ref())?)
        })?;
        let waits =
            |memory: &Memory| memory.review.as_ref().is_some_and(|review| review.appeal.is_some());
        page.items.sort_by_key(|memory| !waits(memory));
        Ok(page)
    }

    /// Asks a person to release a quarantined memory of the caller, with a reason.
    ///
    /// # Errors
    /// `not_found`, `forbidden` (`ownership_mismatch`), `conflict` if the memory is not
    /// quarantined, `invalid` and `too_large` with the reason.
    pub fn appeal_memory(&self, caller: &Caller, request: &AppealMemory) -> Result<Memory> {
        let id = request.id;
        let now = self.clock.now();
        let appeal = request.appeal(now)?;
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let before = live_memory(tx, sight, id)?;
            access::may_change(caller, &before)?;
            if !before.is_quarantined() {
                return Err(Error::conflict(format!("memory {id} is not quarantined"))
                    .hint("Others can read it already; an appeal is not needed."));
            }
            let review = PendingReview {
                appeal: Some(appeal.clone()),
                ..before.review.clone().unwrap_or_default()
            };
            let after = before.with(|after| after.review = Some(review));
            let fields = &["review"];
            let after = MemoryChange { kind: EventKind::MemoryAppealed, fields, caller, now }
                .write(tx, &before, after)?;
            show(tx, sight, after)
        })?;
        Ok(once.answer)
    }

    /// Releases a quarantined memory to other readers. It is not judged again until its text
    /// changes.
    ///
    /// # Errors
    /// `forbidden` if the caller may not review, `not_found`, `conflict` if the memory is not
    /// quarantined or not at the expected revision.
    pub fn release_memory(&self, caller: &Caller, request: &ReleaseMemory) -> Result<Memory> {
        let (id, expected) = (request.id, request.expected_revision);
        let (reviewed, now) = (Sight::reviewing(caller)?, self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let WriteScope { caller, sight, now, .. } = scope;
            let before = visible_memory(tx, &reviewed, id)?;
            expect_revision(expected, &before)?;
            if !before.is_quarantined() {
                return Err(Error::conflict(format!("memory {id} is not quarantined"))
                    .hint("`commonbook review` lists the quarantined memories."));
            }
            let after = before.with(|after| after.trust = Trust::Normal);
            let fields = &["trust"];
            let after = MemoryChange { kind: EventKind::MemoryReleased, fields, caller, now }
                .write(tx, &before, after)?;
            show(tx, sight, after)
        })?;
        Ok(once.answer)
    }
}
