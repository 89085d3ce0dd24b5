//! Reading the journal.

use super::Commonbook;
use crate::access::Sight;
use crate::caller::Caller;
use crate::error::Result;
use crate::event::{Events, ListEvents};
use crate::{limits, page};

impl Commonbook {
    /// What happened in the caller's workspace after a place in its journal, oldest first.
    ///
    /// # Errors
    /// `invalid` for a limit that is none.
    pub fn list_events(&self, caller: &Caller, request: &ListEvents) -> Result<Events> {
        let limit = page::size("limit", request.limit, limits::PAGE_DEFAULT, limits::PAGE_MAX)?;
        let sight = Sight::reading_at_home(caller)?;
        let after = i64::try_from(request.after).unwrap_or(i64::MAX).unsigned_abs();
        // One more than asked for tells whether there is another stretch.
        let mut items = self.store.read(|tx| tx.events(&sight, after, limit + 1))?;
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        let next = items.last().filter(|_| more).map(|event| event.sequence);
        Ok(Events { items, next })
    }
}
