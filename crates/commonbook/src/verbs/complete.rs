//! Completions of a beginning: ids, agents and topics that the caller sees.

use super::Commonbook;
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::agent::ListAgents;
use crate::model::caller::Caller;
use crate::model::handoff::ListHandoffs;

/// Completions that are read: one more than are returned shows whether there are more.
const COMPLETIONS_READ_MAX: u32 = limits::COMPLETIONS as u32 + 1;

/// The completions of a beginning, and whether there are more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionList {
    /// The completions, each in full.
    pub values: Vec<String>,
    /// Whether there are more completions than `values` holds.
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
    /// The ids of memories in sight that begin with `beginning`, in order; empty if no id can.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn complete_memory(&self, caller: &Caller, beginning: &str) -> Result<CompletionList> {
        // A prefix of `mem_` selects nothing: every id continues it.
        let beginning = if "mem_".starts_with(beginning) { "mem_0" } else { beginning };
        let Ok((first, last)) = MemoryId::prefix_range(beginning) else {
            return Ok(CompletionList::of([]));
        };
        let sight = Sight::reading(caller)?;
        let most = COMPLETIONS_READ_MAX;
        let ids = self.store.read(|tx| tx.memory_ids(&sight, first, last, most))?;
        Ok(CompletionList::of(ids.iter().map(ToString::to_string)))
    }

    /// The cases of the caller's workspace whose keys begin with `beginning`, by key.
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

    /// The ids, newest first, of the handoffs that wait for the caller or that it works on and that
    /// begin with `beginning`.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn complete_handoff_id(&self, caller: &Caller, beginning: &str) -> Result<CompletionList> {
        let open = ListHandoffs { limit: Some(limits::PAGE_MAX), ..ListHandoffs::default() };
        let open = self.list_handoffs(caller, &open)?.items.into_iter();
        let ids = open.map(|handoff| handoff.id.to_string());
        Ok(CompletionList::of(ids.filter(|id| id.starts_with(beginning))))
    }

    /// The agents of the caller's workspace whose names begin with `beginning`, by name.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn complete_agent(&self, caller: &Caller, beginning: &str) -> Result<CompletionList> {
        let beginning = beginning.to_lowercase();
        let agents = self.list_agents(caller, &ListAgents {})?.items.into_iter();
        let names = agents.map(|record| record.agent.to_string());
        Ok(CompletionList::of(names.filter(|name| name.starts_with(&beginning))))
    }

    /// The topics of standing memories in sight that begin with `beginning`, most used first.
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
