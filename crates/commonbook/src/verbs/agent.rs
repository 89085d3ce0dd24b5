//! Listing the agents of a workspace.

use super::Commonbook;
use crate::base::error::{Error, Result};
use crate::model::access::Sight;
use crate::model::agent::{Agent, AgentList, AgentRecord, GetAgent, ListAgents};
use crate::model::caller::Caller;

impl Commonbook {
    /// The agents that were ever in the caller's workspace, by name.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn list_agents(&self, caller: &Caller, _request: &ListAgents) -> Result<AgentList> {
        let sight = Sight::reading_at_home(caller)?;
        if let Err(error) = self.register() {
            tracing::debug!(%error, "the registry could not note who is here");
        }
        let items = self.store.read(|tx| tx.agents(&sight, &caller.workspace))?;
        Ok(AgentList { items })
    }

    /// One agent that was in the caller's workspace.
    ///
    /// # Errors
    /// `invalid` if the name cannot be an agent's, `not_found` if no such agent was ever there.
    pub fn get_agent(&self, caller: &Caller, request: &GetAgent) -> Result<AgentRecord> {
        let agent = Agent::with_any_name(&request.name)?;
        let mut agents = self.list_agents(caller, &ListAgents {})?.items.into_iter();
        agents.find(|record| record.agent == agent).ok_or_else(|| {
            Error::not_found(format!("no agent '{agent}' was ever in {}", caller.workspace))
                .hint("See the list of agents for those that were.")
        })
    }
}
