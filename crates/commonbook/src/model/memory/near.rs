//! Nearest notes: what the answer of a save shows of the memories that may say the same or the contrary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Trust;
use crate::base::id::MemoryId;
use crate::model::agent::Agent;

/// A memory that is near to one that was saved. Whether it says the same, the contrary or something else
/// is for the reader to judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NearNote {
    /// Its id.
    pub id: MemoryId,
    /// Its owner.
    pub owner: Agent,
    /// How far it is trusted.
    pub trust: Trust,
    /// The part of it that is nearest to what was saved: at most 30 words.
    pub says: String,
}
