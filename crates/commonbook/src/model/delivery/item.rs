//! A piece of recorded text.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::contradiction::ContradictionMark;

/// A piece of recorded text with what an agent must know to judge it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptItem {
    /// The id of the object; for a standing memory the name of its file.
    pub id: String,
    /// The handle for agents: the end of its id, or the whole id if that is short.
    pub handle: String,
    /// Its kind: a memory's type, an entity's type, `handoff`, `entry`, `standing memory`.
    pub kind: String,
    /// The agent that wrote it.
    pub author: String,
    /// The time since when it holds, else the time when it was written.
    pub at: Timestamp,
    /// Further words of its head, in our own words: an importance, a reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The text.
    pub text: String,
    /// Whether the text is a headline: it stands on the line of the head.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_headline: bool,
    /// The item that openly contradicts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Box<PromptItem>>,
    /// Its contradictions that are open or were resolved by a context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<ContradictionMark>,
}
