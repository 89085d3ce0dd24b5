//! Asking: listing contradictions, and resolving one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::hash::sha256;
use crate::base::id::{ContradictionId, MemoryId};
use crate::base::page::PageCursor;
use crate::base::{input, limits};
use crate::model::memory::fit_line;
use commonbook_text::string_enum;

string_enum! {
    /// Whether somebody has resolved a contradiction.
    ContradictionStatus {
        /// Nobody has.
        Open = "open",
        /// Somebody has.
        Resolved = "resolved",
    }
}

string_enum! {
    /// What becomes of two memories that contradict each other.
    ContradictionResolution {
        /// Both hold, each in its context, which has to be told.
        KeepBoth = "keep_both",
        /// The newer takes the place of the older.
        KeepNewer = "keep_newer",
        /// A new memory takes the place of both.
        Merge = "merge",
        /// The one that is named takes the place of the other.
        Override = "override",
    }
}

/// Finds memories that contradict each other: of two agents, or of one at two times. You are told
/// of those whose two memories you may both read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DetectContradictions {
    /// Only where one of the two memories is about one of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::TOPICS), inner(length(min = 1, max = limits::TOPIC_CHARS)))]
    pub topics: Vec<String>,
    /// Only what contradicts this memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryId>,
    /// Whether somebody has resolved them: `open` when you do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ContradictionStatus>,
    /// How many at once, from 1 to 100; 20 when you do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Reads one contradiction, open or resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetContradiction {
    /// Its id.
    pub contradiction: ContradictionId,
}

/// Decides what becomes of two memories that contradict each other. Taking the place of another
/// agent's memory takes a right to change it, or a person who reviews; keeping both is open to who
/// reads both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveContradiction {
    /// The id of the contradiction.
    pub contradiction: ContradictionId,
    /// What becomes of the two memories.
    pub resolution: ContradictionResolution,
    /// In which context each of them holds, of at most 1,000 characters; required with `keep_both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::CONTRADICTION_CONTEXT_CHARS))]
    pub context: Option<String>,
    /// What holds instead of both, as the text of a new memory of yours; required with `merge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TEXT_BYTES), regex(pattern = input::TEXT_PATTERN))]
    pub text: Option<String>,
    /// The id of the memory that stands, one of the two; required with `override`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<MemoryId>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

impl ResolveContradiction {
    /// The request, with what its resolution needs and nothing else.
    ///
    /// # Errors
    /// `invalid` with the field for what is missing or does not belong to the resolution,
    /// `too_large` for a context over its limit.
    pub fn check(mut self) -> Result<Self> {
        let given = [
            ("context", self.context.is_some(), ContradictionResolution::KeepBoth),
            ("text", self.text.is_some(), ContradictionResolution::Merge),
            ("keep", self.keep.is_some(), ContradictionResolution::Override),
        ];
        for (field, given, resolution) in given {
            if given && self.resolution != resolution {
                let reason =
                    format!("this belongs to {resolution}, and not to {}", self.resolution);
                return Err(Error::invalid(field, reason).hint("Leave it out."));
            }
            if !given && self.resolution == resolution {
                return Err(Error::invalid(field, format!("{resolution} needs this")).hint(
                    match resolution {
                        ContradictionResolution::KeepBoth => {
                            "Say in which context each of the two holds."
                        }
                        ContradictionResolution::Merge => "Say what holds instead of both.",
                        _ => "Give the id of the memory that stands.",
                    },
                ));
            }
        }
        if let Some(context) = &self.context {
            let chars = limits::CONTRADICTION_CONTEXT_CHARS;
            self.context = Some(fit_line("context", context, chars)?);
        }
        Ok(self)
    }

    /// The fingerprint of what is asked for, whoever asks.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let text = |given: &Option<String>| given.as_deref().unwrap_or_default().to_owned();
        let keep = self.keep.map(|id| id.to_string()).unwrap_or_default();
        sha256(&[self.resolution.name(), &text(&self.context), &text(&self.text), &keep].join("\n"))
    }
}
