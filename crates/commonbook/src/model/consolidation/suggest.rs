//! Suggestions: what to promote to standing memory, to split, to retire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::MemoryId;
use crate::model::memory::{Importance, Memory, MemoryUsage};
use commonbook_text::string_enum;

/// Times that texts told a memory or it was used, from which on it belongs into a standing memory file.
const PROMOTED_READS_MIN: u64 = 5;

/// Bytes of a text from which on it is long.
const LONG_TEXT_BYTES: usize = 2_000;

/// Paragraphs of a long text, from which on it holds several subjects.
const PARAGRAPHS_MIN: usize = 4;

/// Times that a memory was found and passed over, from which on it is in the way.
const PASSED_OVER_MIN: u64 = 10;

string_enum! {
    /// What to do with a memory.
    SuggestionAction {
        /// Put it into a standing memory file, which each context holds.
        Promote = "promote",
        /// Save its parts as memories of their own.
        Split = "split",
        /// Delete it, or say it in other words.
        Retire = "retire",
    }
}

/// A suggestion about a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// What to do.
    pub action: SuggestionAction,
    /// The memory.
    pub memory: MemoryId,
    /// The reason.
    pub reason: String,
    /// How often it reached readers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<MemoryUsage>,
}

impl Suggestion {
    /// The suggestion about a memory, if there is one, with its weight: the heaviest come first.
    #[must_use]
    pub fn of(memory: &Memory) -> Option<(u64, Self)> {
        if !memory.is_usable() || memory.case.is_some() || memory.is_document() {
            return None;
        }
        let usage = memory.usage.unwrap_or(MemoryUsage::of(0, 0, 0));
        let read = usage.told + usage.used;
        let paragraphs = memory.text.split("\n\n").filter(|part| !part.trim().is_empty()).count();
        let suggest = |action, weight, reason| {
            let suggestion = Self { action, memory: memory.id, reason, usage: memory.usage };
            Some((weight, suggestion))
        };
        if memory.text.len() >= LONG_TEXT_BYTES && paragraphs >= PARAGRAPHS_MIN {
            let reason = format!("{paragraphs} paragraphs, and only one can be found at a time");
            return suggest(SuggestionAction::Split, usage.access_count, reason);
        }
        if read >= PROMOTED_READS_MIN {
            let reason = format!("told {} times and used {} times", usage.told, usage.used);
            return suggest(SuggestionAction::Promote, read, reason);
        }
        if read == 0 && usage.found >= PASSED_OVER_MIN && memory.importance < Importance::Critical {
            let reason = format!("found {} times, and never told or used", usage.found);
            return suggest(SuggestionAction::Retire, usage.found, reason);
        }
        None
    }
}
