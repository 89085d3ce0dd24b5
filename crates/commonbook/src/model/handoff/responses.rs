//! Responses about handoffs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Handoff;
use super::choose::MemoryExclusion;

/// An accepted handoff with everything that its target needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptHandoffResult {
    /// The handoff.
    pub handoff: Handoff,
    /// The handoff as text for an agent: the work, and the memories for it.
    pub text: String,
}

/// A handoff after a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffStepResult {
    /// The handoff.
    pub handoff: Handoff,
}

/// A handoff with its receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffReceipt {
    /// The handoff, with the memories it includes.
    pub handoff: Handoff,
    /// The candidates left out, and why. Only its source receives this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<MemoryExclusion>,
}
