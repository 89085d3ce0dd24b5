//! Telling: what is answered about handoffs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Handoff;
use super::choose::MemoryExclusion;

/// A handoff that was accepted, with all that its target needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptHandoffResult {
    /// The handoff.
    pub handoff: Handoff,
    /// What is to be done and all that goes along, to be read.
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
    /// The handoff, which tells who got which memories, and when.
    pub handoff: Handoff,
    /// What was looked at and stayed behind, and why; told to its source alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<MemoryExclusion>,
}
