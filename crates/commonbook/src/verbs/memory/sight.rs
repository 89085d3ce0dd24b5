//! `explain_sight`: why an agent can or cannot see a memory.

use crate::base::error::Result;
use crate::model::access::{ExplainSight, Sight, SightExplanation};
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::Caller;
use crate::verbs::Commonbook;

use super::visible_memory;

impl Commonbook {
    /// Whether an agent can see a memory that the caller can see, and the rule that decides. The
    /// answer says nothing that the memory's own fields do not say to the caller.
    ///
    /// # Errors
    /// `not_found` if no such memory is in the caller's sight; `invalid` for a malformed name or user.
    pub fn explain_sight(
        &self,
        caller: &Caller,
        request: &ExplainSight,
    ) -> Result<SightExplanation> {
        let sight = Sight::reading(caller)?;
        let memory = self.store.read(|tx| visible_memory(tx, &sight, request.id))?;
        let mut reader = Caller::new(None, caller.workspace.clone(), caller.door);
        reader.agent = named_reader(&request.reader)?;
        let reader = reader
            .for_user(request.for_user.as_deref())
            .map_err(|error| error.with_field("for_user"))?;
        Sight::reading(&reader).map(|sight| sight.explain(&memory))
    }
}

/// The agent of this name; those that no agent can claim have a sight too.
fn named_reader(name: &str) -> Result<Agent> {
    let reserved = [Agent::anonymous(), Agent::human()];
    if let Some(agent) = reserved.into_iter().find(|agent| agent.as_str() == name.trim()) {
        return Ok(agent);
    }
    let name = name.parse::<AgentName>().map_err(|error| error.with_field("reader"))?;
    Ok(name.agent)
}
