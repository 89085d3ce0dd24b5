//! Asking for the collaboration graph.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HandoffChain, HandoffStatistics};
use crate::base::id::HandoffId;
use crate::base::key::CaseKey;
use crate::base::limits;
use commonbook_text::string_enum;

string_enum! {
    /// How the collaboration graph is drawn.
    DrawingFormat {
        /// As lines, chain by chain.
        Text = "text",
        /// For Graphviz.
        Dot = "dot",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for DrawingFormat {
    fn default() -> Self {
        Self::Text
    }
}

/// Shows who hands work to whom: the chains of the latest 10,000 handoffs in your sight, how they
/// ended, how long they waited, and a drawing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCollaborations {
    /// Only handoffs from or to this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub agent_name: Option<String>,
    /// Only those of the chain that began with this handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<HandoffId>,
    /// Only those of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only those that were made or accepted in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::SESSION_CHARS))]
    pub session: Option<String>,
    /// Only those that are pending or accepted.
    #[serde(default)]
    pub open: bool,
    /// Only those that were made since this time, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// How they are drawn: `text`, the default, or `dot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<DrawingFormat>,
}

/// Who hands work to whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CollaborationOverview {
    /// How many there were, of which status, between whom, and how long they took.
    pub statistics: HandoffStatistics,
    /// The chains, in the order in which they began.
    pub chains: Vec<HandoffChain>,
    /// All of it, drawn.
    pub drawing: String,
}
