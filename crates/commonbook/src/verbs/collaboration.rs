//! Statistics of handoffs between agents.

use super::Commonbook;
use crate::base::error::Result;
use crate::base::{input, limits};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::collaboration::{
    CollaborationOverview, DrawingFormat, EdgeFilter, GetCollaborations, chains, export, statistics,
};

impl Commonbook {
    /// The handoffs that the caller sees in its workspace, as a graph: chains, and statistics by
    /// pair and status.
    ///
    /// # Errors
    /// `invalid` if an agent's name is malformed.
    pub fn get_collaborations(
        &self,
        caller: &Caller,
        request: &GetCollaborations,
    ) -> Result<CollaborationOverview> {
        let sight = Sight::reading(caller)?;
        let agent = request.agent_name.as_deref().map(Agent::with_any_name).transpose();
        let session = request.session.as_deref();
        let session = session.map(|id| input::line("session", id, limits::SESSION_CHARS));
        let filter = EdgeFilter {
            chain: request.chain,
            case: request.case.as_ref().map(ToString::to_string),
            work: session.transpose()?.map(|session| (session, None)),
            agent: agent.map_err(|error| error.with_field("agent_name"))?,
            open: request.open,
            since: request.since,
        };
        let (edges, refusals) = self.store.read(|tx| {
            let edges = tx.edges(&sight, &filter, limits::COLLABORATIONS)?;
            Ok((edges, tx.refused_handoffs(&sight, &filter)?))
        })?;
        let chains = chains(&edges);
        let drawing = match request.format.unwrap_or_default() {
            DrawingFormat::Text => export::text(&chains),
            DrawingFormat::Dot => export::dot(&edges),
        };
        Ok(CollaborationOverview { statistics: statistics(&edges, refusals), chains, drawing })
    }
}
