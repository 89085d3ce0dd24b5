//! Listing memories, page by page.

use super::Commonbook;
use super::ops::heirs::show_page;
use super::ops::marks::add_contradictions;
use super::ops::past::in_words_of;
use super::usage::add_usage;
use crate::base::error::{Error, Result};
use crate::base::page::{Page, PageCursor, PageSize};
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::memory::{
    ListMemories, ListOrder, Memory, MemoryType, PathPosition, UsageKind, UsagePosition,
};
use crate::model::search::MemoryFilter;
use crate::model::search::period::{self, PeriodBound};
use crate::store::Tx;

impl Commonbook {
    /// Lists the memories in the caller's workspace that it sees.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range, the cursor is malformed, the owner's name is invalid,
    /// `since` or `at` is no time, `at` is beside `deleted`, or `path` is beside an order.
    pub fn list_memories(&self, caller: &Caller, request: &ListMemories) -> Result<Page<Memory>> {
        let caller = caller.clone().for_user(request.user_id.as_deref())?;
        let sight = Sight::reading_at_home(&caller)?;
        // Opaque documents are listed for a program that asks for documents, not for a reader.
        let is_of_programs = request.memory_type.as_ref().is_some_and(MemoryType::is_opaque);
        let sight = match request.path.is_some() || is_of_programs {
            true => sight.with_opaque(),
            false => sight,
        };
        let now = self.clock.now();
        let moment = |field, text: &Option<String>, bound| {
            let parse = |text| period::parse_period_bound(field, text, bound, now);
            text.as_deref().map(parse).transpose()
        };
        let since = moment("since", &request.since, PeriodBound::First)?;
        let at = moment("at", &request.at, PeriodBound::Last)?;
        if at.is_some() && request.deleted {
            return Err(Error::invalid(
                "deleted",
                "lists deleted memories, and `at` lists what held then",
            )
            .hint("Leave `deleted` or `at` out."));
        }
        let of_path = request.path.as_ref().and_then(|pattern| pattern.owner.as_ref());
        let owner = request.owner.as_deref().or(of_path.map(Agent::as_str));
        let filter = MemoryFilter {
            owner: MemoryFilter::owner(owner)?,
            memory_type: request.memory_type.clone().map(Into::into),
            topic: request.topic.clone(),
            importance: request.importance,
            session: request.session.clone(),
            case: request.case.clone(),
            trust: request.trust,
            path: request.path.clone(),
            deleted: request.deleted,
            since,
            at,
            changed_since: None,
        };
        let ListMemories { order, limit, cursor, .. } = request;
        if request.sort.is_some() && *order != ListOrder::Newest {
            return Err(Error::invalid("sort", "lists the most often first, whatever `order`")
                .hint("Leave `order` or `sort` out."));
        }
        if request.path.is_some() && (request.sort.is_some() || *order != ListOrder::Newest) {
            let field = if request.sort.is_some() { "sort" } else { "order" };
            return Err(Error::invalid(field, "a list with `path` is in the order of paths")
                .hint(format!("Leave `{field}` or `path` out.")));
        }
        self.store.read(|tx| {
            let mut page = match request.sort {
                None if request.path.is_some() => page_by_path(tx, &sight, &filter, request)?,
                None => page_of(tx, &sight, &filter, *order, *limit, cursor.as_ref())?,
                Some(kind) => page_by_usage(tx, &sight, &filter, kind, request)?,
            };
            if let Some(at) = at {
                page.items = in_words_of(tx, &sight, page.items, at)?;
            }
            let mut page = show_page(tx, &sight, page)?;
            add_usage(tx, &sight, &mut page.items)?;
            add_contradictions(tx, &sight, &mut page.items)?;
            Ok(page)
        })
    }
}

fn page_by_path(
    tx: &Tx<'_>,
    sight: &Sight,
    filter: &MemoryFilter,
    request: &ListMemories,
) -> Result<Page<StoredMemory>> {
    let size = PageSize::of(request.limit)?;
    let from = request.cursor.as_ref().map(PathPosition::of_cursor).transpose()?;
    let rows = tx.memories_by_path(sight, filter, from.as_ref(), size.rows())?;
    Ok(size.page(rows, |(position, _)| position.cursor()).map(|(_, item)| item))
}

fn page_by_usage(
    tx: &Tx<'_>,
    sight: &Sight,
    filter: &MemoryFilter,
    kind: UsageKind,
    request: &ListMemories,
) -> Result<Page<StoredMemory>> {
    let size = PageSize::of(request.limit)?;
    let from = request.cursor.as_ref().map(UsagePosition::of_cursor).transpose()?;
    let rows = tx.memories_by_usage(sight, filter, kind, from, size.rows())?;
    Ok(size.page(rows, |(position, _)| position.cursor()).map(|(_, item)| item))
}

/// A page of at most `limit` memories in sight that a filter admits, from a cursor on.
pub(super) fn page_of(
    tx: &Tx<'_>,
    sight: &Sight,
    filter: &MemoryFilter,
    order: ListOrder,
    limit: Option<u32>,
    cursor: Option<&PageCursor>,
) -> Result<Page<StoredMemory>> {
    let size = PageSize::of(limit)?;
    let from = cursor.map(PageCursor::position).transpose()?;
    Ok(size.page_by_position(tx.memories(sight, filter, order, from, size.rows())?))
}
