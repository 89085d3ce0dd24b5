//! Nearest notes: what the answer of a save shows of the memories that may say the same or the contrary,
//! and what its author says of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Trust;
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
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

/// What the author of a memory says of its relation to others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoteStatements {
    /// The memories that cannot hold beside it.
    pub contradicts: Vec<MemoryId>,
    /// The memories that say the same.
    pub repeats: Vec<MemoryId>,
}

impl NoteStatements {
    /// The statements of a request.
    ///
    /// # Errors
    /// `too_large` with the field if one of the lists is over [`limits::STATEMENTS`]; `invalid` if both name one note.
    pub fn of(contradicts: &[MemoryId], repeats: &[MemoryId]) -> Result<Self> {
        for (field, list) in [("contradicts", contradicts), ("repeats", repeats)] {
            if list.len() > limits::STATEMENTS {
                return Err(Error::too_large(field, list.len(), limits::STATEMENTS, "notes")
                    .hint("Name the nearest ones."));
            }
        }
        if let Some(place) = repeats.iter().position(|id| contradicts.contains(id)) {
            let message = format!("{} is also in `contradicts`", repeats[place]);
            return Err(Error::invalid(&format!("repeats[{place}]"), message)
                .hint("A note either contradicts another or repeats it: leave one out."));
        }
        Ok(Self { contradicts: contradicts.to_vec(), repeats: repeats.to_vec() })
    }
}
