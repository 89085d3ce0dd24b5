//! The request for the collaboration graph, and its response.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HandoffChain, HandoffStatistics};
use crate::base::id::HandoffId;
use crate::base::key::CaseKey;
use crate::base::limits;
use commonbook_text::string_enum;

string_enum! {
    /// The format of a drawing.
    DrawingFormat {
        /// Lines of text, chain by chain.
        Text = "text",
        /// DOT, for Graphviz.
        Dot = "dot",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for DrawingFormat {
    fn default() -> Self {
        Self::Text
    }
}

/// Returns the handoffs between agents: the chains of the latest 10,000 handoffs that you may see,
/// with outcomes, waiting times and a drawing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCollaborations {
    /// Only handoffs from or to this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub agent_name: Option<String>,
    /// Only handoffs of the chain that began with this handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<HandoffId>,
    /// Only handoffs of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only handoffs that were created or accepted in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Only pending and accepted handoffs.
    #[serde(default)]
    pub open: bool,
    /// Only handoffs that were created since this time, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The format of the drawing: `text` (the default) or `dot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<DrawingFormat>,
}

/// The handoffs between agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CollaborationOverview {
    /// Counts by status and pair of agents, and durations.
    pub statistics: HandoffStatistics,
    /// The chains, in the order in which they began.
    pub chains: Vec<HandoffChain>,
    /// The drawing.
    pub drawing: String,
}
