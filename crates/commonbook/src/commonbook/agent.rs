//! Telling which agents there are.

use super::Commonbook;
use crate::access::Sight;
use crate::agent::{Agents, ListAgents};
use crate::caller::Caller;
use crate::error::Result;

impl Commonbook {
    /// The agents that have written to the caller's workspace, by name.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn list_agents(&self, caller: &Caller, _request: &ListAgents) -> Result<Agents> {
        let sight = Sight::reading_at_home(caller)?;
        let items = self.store.read(|tx| tx.agents(&sight, &caller.workspace))?;
        Ok(Agents { items })
    }
}
