//! Requests that list and resolve contradictions.

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
    /// Whether a contradiction has been resolved.
    ContradictionStatus {
        /// Not resolved.
        Open = "open",
        /// Resolved.
        Resolved = "resolved",
    }
}

string_enum! {
    /// How two contradicting memories are resolved.
    ContradictionResolution {
        /// Both hold, each in a context that you state.
        KeepBoth = "keep_both",
        /// The newer memory supersedes the older.
        KeepNewer = "keep_newer",
        /// A new memory supersedes both.
        Merge = "merge",
        /// The memory that you name supersedes the other.
        Override = "override",
    }
}

/// Lists pairs of memories that contradict each other, by two agents or by one at two times.
/// Returns only pairs of which you may read both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DetectContradictions {
    /// Only pairs in which one memory has one of these topics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::TOPICS), inner(length(min = 1, max = limits::TOPIC_CHARS)))]
    pub topics: Vec<String>,
    /// Only contradictions of this memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryId>,
    /// Only contradictions with this status; `open` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ContradictionStatus>,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
    /// `false`: without comparing the newest memories first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
}

/// Asks the endpoint in the settings about pairs of memories on one subject that the rules cannot decide:
/// whether both hold. Newest first, each pair once; only memories that you may read. Sends their texts to
/// that endpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeContradictions {
    /// Only pairs with this memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryId>,
    /// Number of pairs to ask about, 1 to 50; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::JUDGED_PAIRS))]
    pub limit: Option<u32>,
    /// The `next` of the previous response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Returns one contradiction, open or resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetContradiction {
    /// The contradiction's id.
    pub contradiction: ContradictionId,
}

/// Opens a resolved contradiction again, and undoes its resolution: what was superseded is current
/// again, and the new memory of a `merge` is deleted. An open contradiction stays as it is. Needs
/// the same rights as the resolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReopenContradiction {
    /// The contradiction's id.
    pub contradiction: ContradictionId,
}

/// Resolves a contradiction between two memories. To supersede another agent's memory, you need the
/// right to change it, or a person's review; any agent that can read both may use `keep_both`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveContradiction {
    /// The contradiction's id.
    pub contradiction: ContradictionId,
    /// How to resolve it.
    pub resolution: ContradictionResolution,
    /// The context in which each memory holds; required with `keep_both`. Up to 1,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::CONTRADICTION_CONTEXT_CHARS))]
    pub context: Option<String>,
    /// The text of a new memory of yours that supersedes both; required with `merge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TEXT_BYTES), regex(pattern = input::TEXT_PATTERN))]
    pub text: Option<String>,
    /// The id of the memory that holds, one of the two; required with `override`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<MemoryId>,
    /// Ids of what it rests on. Memories and contexts; `id@revision` names the revision that you know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::BASED_ON), inner(length(min = 1, max = limits::BASIS_CHARS)))]
    pub based_on: Vec<String>,
    /// Fails with `conflict` if that has changed; nothing is written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_current: bool,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

impl ResolveContradiction {
    /// Checks that the request has the fields of its resolution and no others.
    ///
    /// # Errors
    /// `invalid` with the field that is missing or does not belong to the resolution, `too_large`
    /// for a context over its limit.
    pub fn check(mut self) -> Result<Self> {
        let fields = [
            ("context", self.context.is_some(), ContradictionResolution::KeepBoth),
            ("text", self.text.is_some(), ContradictionResolution::Merge),
            ("keep", self.keep.is_some(), ContradictionResolution::Override),
        ];
        for (field, is_set, resolution) in fields {
            if is_set && self.resolution != resolution {
                let reason =
                    format!("this field belongs to {resolution}, not to {}", self.resolution);
                return Err(Error::invalid(field, reason).hint("Leave it out."));
            }
            if !is_set && self.resolution == resolution {
                return Err(Error::missing(field, format!("{resolution} needs this field")).hint(
                    match resolution {
                        ContradictionResolution::KeepBoth => {
                            "Say in which context each of the two memories holds."
                        }
                        ContradictionResolution::Merge => "Say what holds instead of both.",
                        _ => "Give the id of the memory that holds.",
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

    /// The hash of the resolution, independent of the agent that requests it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let text = |field: &Option<String>| field.as_deref().unwrap_or_default().to_owned();
        let keep = self.keep.map(|id| id.to_string()).unwrap_or_default();
        sha256(&[self.resolution.name(), &text(&self.context), &text(&self.text), &keep].join("\n"))
    }
}
