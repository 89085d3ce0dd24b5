//! Recalling what is known about an agent's task.

use super::Commonbook;
use super::ops::handles::longer_handles;
use crate::base::error::{Error, Result};
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::memory::Memory;
use crate::model::search::SearchMemory;
use crate::prompt::recall::{RecallRequest, RecallResult};

impl Commonbook {
    /// Returns what is known about a task, as far as the caller sees. Quarantined memories are left
    /// out, even the caller's own, and those with a relevance below [`limits::RELEVANCE_MIN`].
    ///
    /// # Errors
    /// As [`Self::search_memory`].
    pub fn recall(&self, caller: &Caller, request: &RecallRequest) -> Result<RecallResult> {
        let question = SearchMemory {
            query: request.task.clone(),
            topic: request.topic.clone(),
            owner: request.agent.clone(),
            k: Some(limits::SEARCH_DEFAULT),
            ..SearchMemory::default()
        };
        let found = self.search_memory(caller, &question).map_err(recall_error)?;
        let fits = found.hits.into_iter().filter(|hit| hit.relevance >= limits::RELEVANCE_MIN);
        let mut marks = Vec::new();
        let all = fits.map(|hit| {
            marks.extend(hit.contradictions);
            hit.memory
        });
        let memories: Vec<Memory> = all.filter(|memory| !memory.is_quarantined()).collect();
        let sight = Sight::reading(caller)?;
        let ids: Vec<String> = memories.iter().map(|memory| memory.id.to_string()).collect();
        let handles = self.store.read(|tx| longer_handles(tx, &sight, &ids))?;
        let now = self.clock.now();
        let fence = self.fence(caller)?;
        Ok(RecallResult::of(&request.task, memories, found.total, &marks, &handles, &fence, now))
    }
}

/// The error of a search, with the field names of a recall.
fn recall_error(error: Error) -> Error {
    let (searched, recalled) = match error.field.as_deref() {
        Some("query") => ("query", "task"),
        Some("owner") => ("owner", "agent"),
        _ => return error,
    };
    Error { message: error.message.replacen(searched, recalled, 1), ..error }.with_field(recalled)
}
