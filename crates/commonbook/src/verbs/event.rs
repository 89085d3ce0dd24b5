//! Reading the journal.

use jiff::Timestamp;

use super::Commonbook;
use crate::base::error::Result;
use crate::base::limits;
use crate::base::page::PageSize;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::event::{
    Event, EventBatch, EventFilter, EventPage, EventRates, GetEventRates, JournalHistory,
    JournalRange, ListEvents, RatePeriod, RateSteps, RecordedEvents,
};
use crate::model::workspace::Workspace;

impl Commonbook {
    /// The events of the caller's workspace after a position in its journal, oldest first.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range, or if a topic, a kind of event, a name or a time is
    /// not valid; `too_large` if there are too many topics.
    pub fn list_events(&self, caller: &Caller, request: &ListEvents) -> Result<EventPage> {
        let limit = PageSize::of(request.limit)?.items();
        let filter = request.filter(caller, self.clock.now())?;
        let followed = self.follow_events(caller, &filter, Some(request.after), limit)?;
        let next = Some(followed.through).filter(|_| followed.more);
        Ok(EventPage { items: followed.items, next, history: followed.history })
    }

    /// The numbers of events in the caller's sight in each step of the last hour, day or week, of the
    /// [`limits::EVENTS_RATED`] newest ones of the journal.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn get_event_rates(&self, caller: &Caller, request: &GetEventRates) -> Result<EventRates> {
        let sight = Sight::reading_at_home(caller)?;
        let period = request.period.unwrap_or(RatePeriod::Hour);
        let steps = RateSteps::before(self.clock.now(), period)?;
        self.store.read(|tx| {
            let until = tx.journal_end(&caller.workspace)?;
            let begin = tx.position_before(&caller.workspace, steps.since)?;
            let after = begin.max(until.saturating_sub(limits::EVENTS_RATED));
            let journal = JournalRange::entire_journal(caller.workspace.clone());
            let stretch = JournalRange { after, until, ..journal };
            let tallies = tx.event_tallies(&sight, &stretch, &steps)?;
            let counted_since = match after > begin {
                true => tx.events(&sight, &stretch, 1)?.first().map(|event| event.at),
                false => None,
            };
            Ok(steps.rates(&tallies, counted_since))
        })
    }

    /// At most `limit` events in the caller's sight that the filter admits, after a position in the
    /// journal of the caller's workspace. Without a position: no events, only the journal's end.
    ///
    /// One call reads at most [`limits::EVENTS_LOOKED_AT`] positions and returns how far it came,
    /// so that the next call reads no position again, however few events match.
    ///
    /// # Errors
    /// `forbidden` if the token may not read, `unavailable` if the store cannot be read.
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
            // A position beyond the end is of another history: all events from here on are new.
            let after = after.map_or(end, |after| after.min(end));
            let until = end.min(after.saturating_add(limits::EVENTS_LOOKED_AT));
            let (workspace, filter) = (caller.workspace.clone(), filter.clone());
            let stretch = JournalRange { workspace, after, until, filter };
            // One event more than the limit shows whether there are more.
            let mut items = tx.events(&sight, &stretch, limit + 1)?;
            let over = items.len() > limit as usize;
            items.truncate(limit as usize);
            let last = items.last().filter(|_| over).map(|event| event.sequence);
            let (through, more) = (last.unwrap_or(until), over || until < end);
            Ok(EventBatch { items, through, more, history: tx.history()?, end })
        })
    }

    /// The next events of a journal after this position or its end, without a caller's sight, each with its
    /// visibility: the caller must filter them for each reader by [`Sight::sees_event`].
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn recorded_events(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<RecordedEvents> {
        self.store.read(|tx| {
            let after = after.min(tx.journal_end(workspace)?);
            let items = tx.event_records(workspace, after, limit)?;
            Ok(RecordedEvents { after, items, history: tx.history()? })
        })
    }

    /// Every journal, with the position of its last event.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn journal_ends(&self) -> Result<Vec<(Workspace, u64)>> {
        self.store.read(|tx| tx.journals())
    }

    /// The position of the last event of a journal before this time, and 0 if there is none.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn position_before(&self, workspace: &Workspace, time: Timestamp) -> Result<u64> {
        self.store.read(|tx| tx.position_before(workspace, time))
    }

    /// The history that the journals belong to.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn journal_history(&self) -> Result<JournalHistory> {
        self.store.read(|tx| tx.history())
    }

    /// The next events of a journal after this position without a caller's sight: for the person whose home it
    /// is.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn audit_events(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>> {
        let records = self.recorded_events(workspace, after, limit)?;
        Ok(records.items.into_iter().map(|record| record.event.for_audit()).collect())
    }

    /// The number of events in the caller's sight after this position that the filter admits.
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
