//! What may be meant by a beginning: ids, agents and topics, of what the caller sees.

use super::Commonbook;
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::agent::ListAgents;
use crate::model::caller::Caller;
use crate::model::handoff::ListHandoffs;

/// How many are looked for: one more than are given tells that there are more.
const COMPLETIONS_READ_MAX: u32 = limits::COMPLETIONS as u32 + 1;

/// What may be meant by a beginning, and whether that is not all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionList {
    /// What may be meant, each whole.
    pub values: Vec<String>,
    /// Whether there are more than could be given.
    pub more: bool,
}

impl CompletionList {
    fn of(found: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> =
            found.into_iter().take(COMPLETIONS_READ_MAX as usize).collect();
        let more = values.len() > limits::COMPLETIONS;
        values.truncate(limits::COMPLETIONS);
        Self { values, more }
    }
}

impl Commonbook {
    /// The ids of memories in sight that begin so, in order; none where no id can.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn complete_memory(&self, caller: &Caller, beginning: &str) -> Result<CompletionList> {
        // What is common to all ids says nothing yet: every id is the continuation of `mem_`.
        let beginning = if "mem_".starts_with(beginning) { "mem_0" } else { beginning };
        let Ok((first, last)) = MemoryId::prefix_range(beginning) else {
            return Ok(CompletionList::of([]));
        };
        let sight = Sight::reading(caller)?;
        let most = COMPLETIONS_READ_MAX;
        let ids = self.store.read(|tx| tx.memory_ids(&sight, first, last, most))?;
        Ok(CompletionList::of(ids.iter().map(ToString::to_string)))
    }

    /// The cases of the caller's workspace whose keys begin so, by key.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn complete_case(&self, caller: &Caller, beginning: &str) -> Result<CompletionList> {
        Sight::reading_at_home(caller)?;
        let beginning = beginning.to_lowercase();
        let keys = self
            .store
            .read(|tx| tx.case_keys(&caller.workspace, &beginning, COMPLETIONS_READ_MAX))?;
        Ok(CompletionList::of(keys.into_iter().map(String::from)))
    }

    /// The ids of the handoffs that wait for the caller, or that it works on, that begin so, the
    /// newest first.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn complete_handoff_id(&self, caller: &Caller, beginning: &str) -> Result<CompletionList> {
        let open = ListHandoffs { limit: Some(limits::PAGE_MAX), ..ListHandoffs::default() };
        let open = self.list_handoffs(caller, &open)?.items.into_iter();
        let ids = open.map(|handoff| handoff.id.to_string());
        Ok(CompletionList::of(ids.filter(|id| id.starts_with(beginning))))
    }

    /// The agents of the caller's workspace whose names begin so, by name.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn complete_agent(&self, caller: &Caller, beginning: &str) -> Result<CompletionList> {
        let beginning = beginning.to_lowercase();
        let known = self.list_agents(caller, &ListAgents {})?.items.into_iter();
        let names = known.map(|record| record.agent.to_string());
        Ok(CompletionList::of(names.filter(|name| name.starts_with(&beginning))))
    }

    /// The topics of standing memories in sight that begin so, the most used first.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn complete_topic(&self, caller: &Caller, beginning: &str) -> Result<CompletionList> {
        let (sight, beginning) = (Sight::reading(caller)?, beginning.to_lowercase());
        self.store
            .read(|tx| tx.topics(&sight, &beginning, COMPLETIONS_READ_MAX))
            .map(CompletionList::of)
    }
}
