//! Marks: what a reader must know of a memory besides its text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MemoryChangeKind;
use crate::base::id::{ContradictionId, MemoryId, handle};
use crate::model::agent::Agent;

/// A memory that another rests on, and that has changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedBasis {
    /// The memory that has changed.
    pub memory: MemoryId,
    /// The change.
    pub change: MemoryChangeKind,
    /// The agent that made it.
    pub by: Agent,
}

impl ChangedBasis {
    /// The mark in words: `rests on #abcd1234: retracted`.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("rests on #{}: {}", handle(&self.memory.to_string()), self.change)
    }
}

/// A memory that contradicts another, which nobody has resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenContradiction {
    /// The contradiction's id.
    pub contradiction: ContradictionId,
    /// The memory that contradicts it.
    pub memory: MemoryId,
    /// The owner of that memory.
    pub owner: Agent,
    /// The agent that says so; left out where a rule, an endpoint or a person found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_by: Option<Agent>,
}

impl OpenContradiction {
    /// The mark in words: `contradicted by #abcd1234 of bob, says ann`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let says = self.stated_by.as_ref().map(|agent| format!(", says {agent}"));
        let handle = handle(&self.memory.to_string()).to_owned();
        format!("contradicted by #{handle} of {}{}", self.owner, says.unwrap_or_default())
    }
}
