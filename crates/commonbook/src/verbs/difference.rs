//! What changed in a workspace since a time, memory by memory.

use super::Commonbook;
use super::ops::heirs::show_all;
use super::ops::past::memory_then;
use crate::base::error::Result;
use crate::base::page::{Page, PageCursor, PageSize};
use crate::model::access::{Sight, StoredMemory};
use crate::model::caller::Caller;
use crate::model::memory::{DiffMemories, ListOrder, MemoryDifference};
use crate::model::search::MemoryFilter;
use crate::model::search::period::{PeriodBound, parse_period_bound};

/// The time of a comparison that names none: a day ago.
const SINCE_DEFAULT: &str = "1d";

impl Commonbook {
    /// Lists the memories in the caller's workspace that are not what they were at a time. A page may
    /// hold fewer than its limit: a memory that was changed and changed back is no difference.
    ///
    /// # Errors
    /// `invalid` if `since` is no time, the limit is out of range, or the cursor or the owner's name is
    /// malformed.
    pub fn diff_memories(
        &self,
        caller: &Caller,
        request: &DiffMemories,
    ) -> Result<Page<MemoryDifference>> {
        let caller = caller.clone().for_user(request.user_id.as_deref())?;
        let sight = Sight::reading_at_home(&caller)?;
        let since = request.since.as_deref().unwrap_or(SINCE_DEFAULT);
        let since = parse_period_bound("since", since, PeriodBound::First, self.clock.now())?;
        let filter = MemoryFilter {
            owner: MemoryFilter::owner(request.owner.as_deref())?,
            memory_type: request.memory_type.clone().map(Into::into),
            topic: request.topic.clone(),
            case: request.case.clone(),
            changed_since: Some(since),
            ..MemoryFilter::default()
        };
        let size = PageSize::of(request.limit)?;
        let from = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        self.store.read(|tx| {
            let rows = tx.memories(&sight, &filter, ListOrder::Newest, from, size.rows())?;
            let Page { items, next } = size.page_by_position(rows);
            let difference = |after: StoredMemory| {
                let before = match after.recorded_at > since {
                    true => None,
                    false => memory_then(tx, &sight, &after, since)?,
                };
                let mut both = show_all(tx, &sight, before.into_iter().chain([after]).collect())?;
                let after = both.pop();
                Ok(after.and_then(|after| MemoryDifference::between(both.pop(), after)))
            };
            let found = items.into_iter().filter_map(|after| difference(after).transpose());
            Ok(Page { items: found.collect::<Result<_>>()?, next })
        })
    }
}
