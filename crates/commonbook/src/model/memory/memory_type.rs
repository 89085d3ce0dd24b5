//! Memory types, and which of them an author may choose.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sharing;
use crate::base::error::{Error, Result};
use crate::base::input::{self, OPAQUE_TYPE};
use crate::base::limits;
use crate::model::naming;

/// The built-in memory types.
const KNOWN_TYPES: [&str; 14] = [
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
    OPAQUE_TYPE,
];

/// The type of a memory: a slug. Built in are `semantic` (a fact), `episodic`, `procedural`,
/// `decision`, `learning`, `profile`, `task_context`, `conversation` and `handoff`. Names of roles
/// (`user`, `system` …) are reserved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = limits::MEMORY_TYPE_CHARS, "pattern" = input::SLUG_PATTERN))]
pub struct MemoryType(String);

impl MemoryType {
    /// The default type: a fact.
    #[must_use]
    pub fn semantic() -> Self {
        Self("semantic".to_owned())
    }

    /// An event at some time.
    #[must_use]
    pub fn episodic() -> Self {
        Self("episodic".to_owned())
    }

    /// A memory made of a handoff that expired.
    #[must_use]
    pub fn handoff() -> Self {
        Self("handoff".to_owned())
    }

    /// The type as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A document that a program keeps for itself, byte for byte: see [`super::Memory::is_opaque`].
    #[must_use]
    pub fn opaque() -> Self {
        Self(OPAQUE_TYPE.to_owned())
    }

    /// Whether memories of this type lead contexts.
    #[must_use]
    pub fn leads_contexts(&self) -> bool {
        matches!(self.as_str(), "profile" | "task_context")
    }

    /// Whether this is the type of opaque documents.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.as_str() == OPAQUE_TYPE
    }

    /// Whether this is a built-in type.
    #[must_use]
    pub(crate) fn is_known(&self) -> bool {
        KNOWN_TYPES.contains(&self.as_str())
    }

    /// Checks that an author or a setting may choose this type. Memories stored earlier under
    /// another type stay readable.
    ///
    /// # Errors
    /// `invalid` for the name of a role, and for a name that looks like one or like a built-in
    /// type.
    pub fn check_choice(&self) -> Result<()> {
        let folded = naming::fold_lookalikes(&self.0);
        let bare = folded.trim_end_matches(['-', '_', '.']);
        let hint = "Choose a word for the kind of memory, such as decision or meeting_note.";
        if naming::RESERVED_NAMES.contains(&bare) {
            let message = format!("'{self}' is the name of a role; expected a kind of memory");
            return Err(Error::invalid("memory_type", message).hint(hint));
        }
        let is_alike = folded != self.0 && KNOWN_TYPES.contains(&bare);
        if is_alike || naming::mixes_scripts(&self.0) {
            let message = format!("'{self}' contains letters that look like those of '{folded}'");
            return Err(Error::invalid("memory_type", message)
                .hint(format!("Write it in one script: {folded}.")));
        }
        Ok(())
    }

    /// The type of an imported memory: placed below `import` if an author may not choose it.
    #[must_use]
    pub(crate) fn into_import_type(self) -> Self {
        if self.check_choice().is_ok() {
            return self;
        }
        let name = format!("import.{}", naming::fold_lookalikes(&self.0));
        Self(name.chars().take(limits::MEMORY_TYPE_CHARS).collect())
    }

    /// The sharing of a memory of this type whose author does not choose: conversations and opaque documents
    /// are private, all others shared.
    #[must_use]
    pub fn default_sharing(&self) -> Sharing {
        match self.0.as_str() {
            "conversation" | OPAQUE_TYPE => Sharing::Private,
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
