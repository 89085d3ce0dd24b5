//! Finding memories that answer a question.

use jiff::Timestamp;

use super::Commonbook;
use crate::access::Sight;
use crate::caller::Caller;
use crate::error::Result;
use crate::limits;
use crate::page::{self, Cursor};
use crate::search::{Hit, Match, Scope, SearchAnswer, SearchMemory, WordSearch};

impl Commonbook {
    /// Finds the memories in sight that answer a question, best first.
    ///
    /// # Errors
    /// `invalid` for an empty query, a `k`, a cursor or an owner that is none; `too_large` for a
    /// query over its limit.
    pub fn search_memory(&self, caller: &Caller, request: &SearchMemory) -> Result<SearchAnswer> {
        let words = request.words()?;
        let limit = page::size("k", request.k, limits::SEARCH_DEFAULT, limits::SEARCH_MAX)?;
        let (offset, now) = self.start(request)?;
        let search = WordSearch { words, filter: request.filter()?, now, offset, limit };
        let caller = caller.clone().for_user(request.user_id.as_deref())?;
        self.store.read(|tx| {
            let mut sight = Sight::of(&caller);
            let known = tx.workspaces()?;
            let widened = match request.scope {
                Scope::Workspace => false,
                Scope::Home => true,
                Scope::Nearest => !known.contains(&caller.workspace),
            };
            if widened {
                sight.workspaces = known;
            }
            let (found, total) = tx.search(&sight, &search)?;
            let end = offset + found.len() as u64;
            let hits = found
                .into_iter()
                .map(|(score, memory)| Hit { memory, score, matched: vec![Match::Words] })
                .collect();
            let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
            let next = (end < total).then(|| Cursor::of(&[end, millis]));
            Ok(SearchAnswer { hits, total, next, workspaces: sight.workspaces })
        })
    }

    /// Where this page begins, and the time that its scores are counted from: for a further page
    /// that of the first, so that no score moves between two pages.
    fn start(&self, request: &SearchMemory) -> Result<(u64, Timestamp)> {
        let Some(cursor) = &request.cursor else {
            return Ok((0, self.clock.now()));
        };
        let [offset, millis] = cursor.numbers()?;
        let then = i64::try_from(millis).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let then = then.ok_or_else(Cursor::foreign)?;
        // Beyond this no store counts; nobody was given such a cursor.
        let offset = i64::try_from(offset).map_err(|_| Cursor::foreign())?;
        Ok((offset.unsigned_abs(), then))
    }
}
