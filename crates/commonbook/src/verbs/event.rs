//! Reading the journal.

use super::Commonbook;
use crate::base::error::Result;
use crate::base::limits;
use crate::base::page::PageSize;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::event::{
    EventBatch, EventFilter, EventPage, EventRecord, JournalRange, ListEvents,
};
use crate::model::workspace::Workspace;

impl Commonbook {
    /// What happened in the caller's workspace after a place in its journal, oldest first.
    ///
    /// # Errors
    /// `invalid` for a limit, a topic or a kind of event that is none, `too_large` for too many
    /// topics.
    pub fn list_events(&self, caller: &Caller, request: &ListEvents) -> Result<EventPage> {
        let limit = PageSize::of(request.limit)?.items();
        let filter = request.filter(caller)?;
        let followed = self.follow_events(caller, &filter, Some(request.after), limit)?;
        let next = Some(followed.through).filter(|_| followed.more);
        Ok(EventPage { items: followed.items, next })
    }

    /// The next events in the caller's sight that this filter admits, after a place in the journal
    /// of the caller's workspace, at most `limit`; from nowhere on, none but the journal's end.
    ///
    /// It looks at [`limits::EVENTS_LOOKED_AT`] places at the most, and says how far it has come: who
    /// goes on from there looks at no place twice, however little matches.
    ///
    /// # Errors
    /// `forbidden` for a token that does not read, `unavailable` when the store cannot be read.
    pub fn follow_events(
        &self,
        caller: &Caller,
        filter: &EventFilter,
        after: Option<u64>,
        limit: u32,
    ) -> Result<EventBatch> {
        let sight = Sight::reading_at_home(caller)?;
        self.store.read(|tx| {
            let end = tx.journal_end(&caller.workspace)?;
            // A place beyond the end is of another history: what comes now is new to it.
            let after = after.map_or(end, |after| after.min(end));
            let until = end.min(after.saturating_add(limits::EVENTS_LOOKED_AT));
            let (workspace, filter) = (caller.workspace.clone(), filter.clone());
            let stretch = JournalRange { workspace, after, until, filter };
            // One more than asked for tells whether there is another stretch.
            let mut items = tx.events(&sight, &stretch, limit + 1)?;
            let over = items.len() > limit as usize;
            items.truncate(limit as usize);
            let last = items.last().filter(|_| over).map(|event| event.sequence);
            Ok(EventBatch { items, through: last.unwrap_or(until), more: over || until < end })
        })
    }

    /// The next events of a journal after this place, each with what decides who is told of it, in
    /// nobody's sight: for what gives them to many, each by [`Sight::sees_event`].
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn recorded_events(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<EventRecord>> {
        self.store.read(|tx| tx.event_records(workspace, after, limit))
    }

    /// How many events in the caller's sight there are after this place that the filter admits.
    ///
    /// # Errors
    /// As [`Commonbook::follow_events`].
    pub fn count_events(&self, caller: &Caller, filter: &EventFilter, after: u64) -> Result<u64> {
        let journal = JournalRange::entire_journal(caller.workspace.clone());
        let stretch = JournalRange { after, filter: filter.clone(), ..journal };
        let sight = Sight::reading_at_home(caller)?;
        self.store.read(|tx| tx.event_count(&sight, &stretch))
    }
}
