//! Requests that open, append to, read and close cases, and their responses.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Case, CaseEntry, CaseKey, CaseStatus, EntryKind, fit_title};
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::base::page::PageCursor;
use crate::model::caller::Caller;
use crate::model::memory::{Importance, Memory, MemorySubject, SaveMemory, Sharing};
use commonbook_text::secrets;

/// Opens a case, the append-only log of one matter that several agents work on, or returns the case
/// with this key. Every agent in the workspace can read it and append to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenCase {
    /// The case's key: letters, digits, `-` and dots. Derived from the title by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<CaseKey>,
    /// What it is about. Up to 200 characters; the key by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Whether a case is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaseOutcome {
    /// This call opened it.
    Opened,
    /// It existed.
    Found,
}

/// The case that was opened or found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenCaseResult {
    /// The case as it is now.
    pub case: Case,
    /// Whether it is new.
    pub outcome: CaseOutcome,
}

/// An entry to be appended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEntry {
    /// What it says, understandable on its own. Up to 512 characters.
    #[schemars(length(min = 1, max = limits::SUMMARY_CHARS))]
    pub summary: String,
    /// The full text, if it says more than the summary. Up to 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TEXT_BYTES))]
    pub text: Option<String>,
    /// Its kind; note by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntryKind>,
    /// Short words for its subjects. Up to 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::TOPICS), inner(length(min = 1, max = limits::TOPIC_CHARS)))]
    pub topics: Vec<String>,
    /// How much it matters; normal by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Whom it is about: user (only your user's agents see it) or project (all do). By default the
    /// text decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<MemorySubject>,
    /// Ids of earlier entries that this one supersedes. They are of this case, by any agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::ENTRIES))]
    pub supersedes: Vec<MemoryId>,
}

/// Appends 1 to 20 entries to a case, all of them or none, for every agent on the case. Entries
/// cannot be changed; to correct one, append another that supersedes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendEntries {
    /// The case's key.
    pub key: CaseKey,
    /// The entries, in order.
    #[schemars(length(min = 1, max = limits::ENTRIES))]
    pub entries: Vec<NewEntry>,
    /// If no case has this key, opens one with this title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// The `context_version` that you have read. If the case has newer entries, the call appends
    /// nothing and returns `moved` with the latest version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Appends one entry to a case: a decision, a finding or a question, as a short summary that every
/// agent on the case reads. Entries cannot be changed or deleted; to correct one, append another
/// that supersedes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendEntry {
    /// The case's key.
    pub key: CaseKey,
    /// What it says, understandable on its own. Up to 512 characters.
    pub summary: String,
    /// The full text, if it says more than the summary. Up to 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its kind; note by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntryKind>,
    /// Short words for its subjects. Up to 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// How much it matters; normal by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Whom it is about: user (only your user's agents see it) or project (all do). By default the
    /// text decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<MemorySubject>,
    /// Ids of earlier entries that this one supersedes. They are of this case, by any agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<MemoryId>,
    /// If no case has this key, opens one with this title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The `context_version` that you have read. If the case has newer entries, the call appends
    /// nothing and returns `moved` with the latest version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    pub idempotency_key: Option<String>,
}

impl From<AppendEntry> for AppendEntries {
    fn from(request: AppendEntry) -> Self {
        let AppendEntry { summary, text, kind, topics, importance, about, supersedes, .. } =
            request;
        Self {
            key: request.key,
            entries: vec![NewEntry { summary, text, kind, topics, importance, about, supersedes }],
            title: request.title,
            expected_version: request.expected_version,
            idempotency_key: request.idempotency_key,
        }
    }
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppendResult {
    /// The version of the case after the call: the position of its last entry.
    pub context_version: u64,
    /// The entries that were appended, in order; empty if the case had moved.
    pub entries: Vec<EntryPosition>,
    /// Set if the case was not at the expected version: read the newer entries, and append again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<VersionConflict>,
}

/// An appended entry and its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryPosition {
    /// The id of its memory.
    pub entry_id: MemoryId,
    /// Its position in the case.
    pub position: u64,
    /// What to do if the entry is quarantined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The version that a case has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionConflict {
    /// Its latest version.
    pub latest: u64,
}

impl AppendResult {
    /// The result of an append that did not match the case's version.
    #[must_use]
    pub fn version_conflict(latest: u64) -> Self {
        Self {
            context_version: latest,
            entries: Vec::new(),
            moved: Some(VersionConflict { latest }),
        }
    }
}

impl AppendEntries {
    /// Checks the number of entries.
    ///
    /// # Errors
    /// `invalid` for none, `too_large` for more than one call accepts.
    pub fn check(&self) -> Result<()> {
        let count = self.entries.len();
        if count == 0 {
            return Err(Error::invalid("entries", "must not be empty; expected 1 to 20 entries"));
        }
        if count > limits::ENTRIES {
            return Err(Error::too_large("entries", count, limits::ENTRIES, "entries")
                .hint("Append them in several calls."));
        }
        Ok(())
    }
}

impl NewEntry {
    /// The memory of this entry; its position is set when it is appended.
    ///
    /// # Errors
    /// `invalid` or `too_large`, with the field that exceeds its limits; `invalid` if a quarantined
    /// entry supersedes others.
    pub fn memory(
        &self,
        caller: &Caller,
        case: &CaseKey,
        id: MemoryId,
        now: Timestamp,
    ) -> Result<Memory> {
        let summary = self.summary.trim();
        if summary.is_empty() {
            return Err(Error::invalid("summary", "must not be empty")
                .hint("Say in one or two sentences what the other agents have to know."));
        }
        if self.supersedes.len() > limits::ENTRIES {
            let found = self.supersedes.len();
            return Err(Error::too_large("supersedes", found, limits::ENTRIES, "entries"));
        }
        let body = self.text.as_deref().filter(|text| !text.trim().is_empty());
        let request = SaveMemory {
            text: body.unwrap_or(summary).to_owned(),
            summary: Some(summary.to_owned()),
            memory_type: Some(self.kind.unwrap_or_default().memory_type()?),
            topics: self.topics.clone(),
            importance: self.importance,
            about: self.about,
            sharing: Some(Sharing::Shared),
            ..SaveMemory::default()
        };
        let mut memory = request.memory(caller, Sharing::Shared, id, now)?;
        if memory.is_quarantined() && !self.supersedes.is_empty() {
            return Err(Error::invalid(
                "supersedes",
                "this entry is quarantined and cannot supersede another",
            )
            .hint(format!("Reword it. {}", memory.reasons().collect::<String>())));
        }
        memory.case = Some(case.clone());
        Ok(memory)
    }
}

/// Reads the entries of a case in order, oldest first. For a short text of the newest ones, use
/// `get_case_context`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadCase {
    /// The case's key.
    pub key: CaseKey,
    /// Only entries after this position; by default after your mark, or from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Number of items per page, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// Marks the returned entries as read, so that the next call without `after` continues after
    /// them.
    #[serde(default)]
    pub mark: bool,
}

/// Some entries of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseEntries {
    /// The entries, by position.
    pub entries: Vec<CaseEntry>,
    /// The version of the case: the position of its last entry.
    pub context_version: u64,
    /// The status of the case.
    pub status: CaseStatus,
    /// The `after` of the next call; `null` if there are no more entries yet.
    pub next: Option<u64>,
}

/// Returns a case's title, status and number of entries, without the entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCase {
    /// The case's key.
    pub key: CaseKey,
}

/// Lists the cases of the workspace, last opened first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListCases {
    /// Only cases with this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<CaseStatus>,
    /// Number of items per page, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Declares requests that have only a case and an idempotency key.
macro_rules! of_one_case {
    ($($(#[$about:meta])* $name:ident,)+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The case's key.
            pub key: CaseKey,
            /// Idempotency key, any text. Repeating the same request with the same key within 24
            /// hours changes nothing and returns the first response; another request with it fails
            /// with `conflict`.
            #[serde(default, skip_serializing)]
            #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
            pub idempotency_key: Option<String>,
        }
    )+};
}

of_one_case! {
    /// Closes a case: its work is done. No more entries can be appended. The case stays readable,
    /// but searches leave its entries out unless they ask for the case or include closed cases.
    CloseCase,
    /// Archives a case. It behaves like a closed one until an agent reopens it.
    ArchiveCase,
    /// Reopens a closed or archived case.
    ReopenCase,
}

/// Returns the newest summaries of a case as one text within a budget, without superseded entries.
/// Read it before you continue work on the case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCaseContext {
    /// The case's key.
    pub key: CaseKey,
    /// Tokens of the text at most, 200 to 16,000; 1,000 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = limits::CASE_TOKENS_MIN, max = limits::CASE_TOKENS_MAX))]
    pub budget: Option<u32>,
}

impl GetCaseContext {
    /// The budget of the text, in tokens.
    ///
    /// # Errors
    /// `invalid` for a budget out of range.
    pub fn max_tokens(&self) -> Result<usize> {
        let budget = self.budget.unwrap_or(limits::CASE_TOKENS);
        let (least, most) = (limits::CASE_TOKENS_MIN, limits::CASE_TOKENS_MAX);
        if (least..=most).contains(&budget) {
            return Ok(budget as usize);
        }
        let reason = format!("{budget} is out of range; expected {least} to {most} tokens");
        Err(Error::invalid("budget", reason))
    }
}

/// A case with its newest summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseContext {
    /// The case.
    pub case: Case,
    /// The newest entries that fit, in order of position.
    pub entries: Vec<CaseEntry>,
    /// Number of earlier positions that were not read because the budget was full.
    pub left_out: u64,
    /// The case and these entries as text for an agent, marked as information.
    pub text: String,
}

impl OpenCase {
    /// The key and the title of the new case.
    ///
    /// # Errors
    /// `invalid` or `too_large`, with the field.
    pub fn key_and_title(&self) -> Result<(CaseKey, String)> {
        let title = self.title.as_deref();
        let key = match (&self.key, title) {
            (Some(key), _) => key.clone(),
            // The key is derived from the checked title, so that it holds no secret either.
            (None, Some(title)) => {
                CaseKey::from_title(&secrets::redact(title).text).ok_or_else(|| {
                    Error::invalid("title", "has no letter or digit to derive a key from")
                        .hint("Set `key`: letters, digits, - and dots.")
                })?
            }
            (None, None) => {
                return Err(Error::invalid("key", "expected a key or a title"));
            }
        };
        let title = fit_title(&key, title.unwrap_or(key.as_str()))?;
        Ok((key, title))
    }
}
