//! Memory types: what sort of memory one is, and which sorts an author may choose.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sharing;
use crate::base::error::{Error, Result};
use crate::base::{input, limits};
use crate::model::naming;

/// The types of memories that are known.
const KNOWN_TYPES: [&str; 13] = [
    "semantic",
    "episodic",
    "procedural",
    "decision",
    "learning",
    "profile",
    "task_context",
    "conversation",
    "handoff",
    "note",
    "milestone",
    "question",
    "answer",
];

/// What sort of memory it is: any slug but the word for a role (`user`, `system` …); well known are
/// `semantic`, `episodic`, `procedural`, `decision`, `learning`, `profile`, `task_context`,
/// `conversation` and `handoff`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = limits::MEMORY_TYPE_CHARS, "pattern" = input::SLUG_PATTERN))]
pub struct MemoryType(String);

impl MemoryType {
    /// What a memory is when nobody says: a fact.
    #[must_use]
    pub fn semantic() -> Self {
        Self("semantic".to_owned())
    }

    /// What happened at some time.
    #[must_use]
    pub fn episodic() -> Self {
        Self("episodic".to_owned())
    }

    /// What is left of a handoff that nobody accepted.
    #[must_use]
    pub fn handoff() -> Self {
        Self("handoff".to_owned())
    }

    /// The slug.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is one of those that are known, and not a word of an author's own.
    #[must_use]
    pub(crate) fn is_known(&self) -> bool {
        KNOWN_TYPES.contains(&self.as_str())
    }

    /// Whether an author or a setting may choose it. What was kept before under another stays
    /// readable.
    ///
    /// # Errors
    /// `invalid` for the word for a role, and for what looks like that or like a type that is known.
    pub fn check_choice(&self) -> Result<()> {
        let folded = naming::fold_lookalikes(&self.0);
        let bare = folded.trim_end_matches(['-', '_', '.']);
        let hint = "Choose a word for the sort of memory, such as decision or meeting_note.";
        if naming::RESERVED_NAMES.contains(&bare) {
            let message =
                format!("'{self}' is reserved for a role, and a sort of memory was expected");
            return Err(Error::invalid("memory_type", message).hint(hint));
        }
        let is_alike = folded != self.0 && KNOWN_TYPES.contains(&bare);
        if is_alike || naming::mixes_scripts(&self.0) {
            let message = format!("'{self}' has letters that look like those of '{folded}'");
            return Err(Error::invalid("memory_type", message)
                .hint(format!("Write it in one script: {folded}.")));
        }
        Ok(())
    }

    /// The type of a memory that comes from elsewhere: below `import` where nobody may choose it.
    #[must_use]
    pub(crate) fn into_import_type(self) -> Self {
        if self.check_choice().is_ok() {
            return self;
        }
        let name = format!("import.{}", naming::fold_lookalikes(&self.0));
        Self(name.chars().take(limits::MEMORY_TYPE_CHARS).collect())
    }

    /// How such a memory is shared when nobody says: what was said between an agent and its
    /// user stays private.
    #[must_use]
    pub fn default_sharing(&self) -> Sharing {
        match self.0.as_str() {
            "conversation" => Sharing::Private,
            _ => Sharing::Shared,
        }
    }
}

impl TryFrom<String> for MemoryType {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        input::slug("memory_type", &text, limits::MEMORY_TYPE_CHARS).map(Self)
    }
}

impl From<MemoryType> for String {
    fn from(memory_type: MemoryType) -> Self {
        memory_type.0
    }
}

impl fmt::Display for MemoryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
