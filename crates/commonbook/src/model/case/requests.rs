//! Asking for cases: opening, adding to, reading and ending them, and what is answered.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Case, CaseEntry, CaseKey, CaseStatus, EntryKind, fit_title};
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::base::page::PageCursor;
use crate::model::caller::Caller;
use crate::model::memory::{Importance, Memory, SaveMemory, Sharing};
use commonbook_text::secrets;

/// Opens a case, the log of one matter that several agents work on; one that is there already is
/// found, whatever its status. Every agent of the workspace reads it and appends to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenCase {
    /// Its name in the workspace: letters, digits, - and dots; made of the title by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<CaseKey>,
    /// What it is about, up to 200 characters; the key by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Whether a case is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaseOutcome {
    /// It was opened now.
    Opened,
    /// It was there.
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

/// An entry that is about to be appended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEntry {
    /// What it says, in up to 512 characters; understandable on its own.
    #[schemars(length(min = 1, max = limits::SUMMARY_CHARS))]
    pub summary: String,
    /// What it says at length, where that is worth keeping, up to 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TEXT_BYTES))]
    pub text: Option<String>,
    /// What sort of entry it is: note (the default), decision, milestone, question or answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntryKind>,
    /// What it is about, as up to 32 short words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::TOPICS), inner(length(min = 1, max = limits::TOPIC_CHARS)))]
    pub topics: Vec<String>,
    /// How much it matters; normal by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// The ids of earlier entries of this case, anybody's, that it takes the place of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::ENTRIES))]
    pub supersedes: Vec<MemoryId>,
}

/// Appends 1 to 20 entries to a case, all of them or none: decisions, findings, questions, as short
/// summaries that every agent on the case reads. Nobody can change or delete them; to put one
/// right, append another that supersedes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendEntries {
    /// The case.
    pub key: CaseKey,
    /// The entries, in order.
    #[schemars(length(min = 1, max = limits::ENTRIES))]
    pub entries: Vec<NewEntry>,
    /// Opens the case under this title, if there is none of the key yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// The `context_version` that you have read up to: when the case has moved on, nothing is
    /// appended, and the answer has `moved` with the latest version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Appends one entry to a case: a decision, a finding, a question, as a short summary that every
/// agent on the case reads. Nobody can change or delete it; to put one right, append another that
/// supersedes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendEntry {
    /// The case.
    pub key: CaseKey,
    /// What it says, in up to 512 characters; understandable on its own.
    pub summary: String,
    /// What it says at length, where that is worth keeping, up to 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What sort of entry it is: note (the default), decision, milestone, question or answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntryKind>,
    /// What it is about, as up to 32 short words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// How much it matters; normal by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// The ids of earlier entries of this case, anybody's, that it takes the place of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<MemoryId>,
    /// Opens the case under this title, if there is none of the key yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The `context_version` that you have read up to: when the case has moved on, nothing is
    /// appended, and the answer has `moved` with the latest version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// Any text of your own: the same key with the same request is carried out once and answered
    /// alike, for 24 hours.
    #[serde(default, skip_serializing)]
    pub idempotency_key: Option<String>,
}

impl From<AppendEntry> for AppendEntries {
    fn from(one: AppendEntry) -> Self {
        let AppendEntry { summary, text, kind, topics, importance, supersedes, .. } = one;
        Self {
            key: one.key,
            entries: vec![NewEntry { summary, text, kind, topics, importance, supersedes }],
            title: one.title,
            expected_version: one.expected_version,
            idempotency_key: one.idempotency_key,
        }
    }
}

/// What was appended, or why nothing was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppendResult {
    /// The version of the case after this, which is the position of its last entry.
    pub context_version: u64,
    /// The entries that were appended, in order; none when the case has moved on.
    pub entries: Vec<EntryPosition>,
    /// The case was not at the expected version: read on from there, and append again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<VersionConflict>,
}

/// An entry that was appended, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryPosition {
    /// The id of its memory.
    pub entry_id: MemoryId,
    /// Its place in the case.
    pub position: u64,
    /// What to do now, where others are not given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Where a case has moved to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionConflict {
    /// Its present version.
    pub latest: u64,
}

impl AppendResult {
    /// Nothing was appended: the case is at this version, and not at the expected one.
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
    /// Checks how many entries there are.
    ///
    /// # Errors
    /// `invalid` for none, `too_large` for more than fit into one call.
    pub fn check(&self) -> Result<()> {
        let count = self.entries.len();
        if count == 0 {
            return Err(Error::invalid("entries", "there is nothing to append"));
        }
        if count > limits::ENTRIES {
            return Err(Error::too_large("entries", count, limits::ENTRIES, "entries")
                .hint("Append them in several calls."));
        }
        Ok(())
    }
}

impl NewEntry {
    /// The memory that this entry makes in a case; its position is given when it is filed.
    ///
    /// # Errors
    /// `invalid` and `too_large`, with the field, for what `limits` does not admit; `invalid` for
    /// superseding others with what is quarantined.
    pub fn memory(
        &self,
        caller: &Caller,
        case: &CaseKey,
        id: MemoryId,
        now: Timestamp,
    ) -> Result<Memory> {
        let summary = self.summary.trim();
        if summary.is_empty() {
            return Err(Error::invalid("summary", "there is nothing to append")
                .hint("Say in a sentence or two what the others have to know."));
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
            sharing: Some(Sharing::Shared),
            ..SaveMemory::default()
        };
        let mut memory = request.memory(caller, id, now)?;
        if memory.is_quarantined() && !self.supersedes.is_empty() {
            return Err(Error::invalid("supersedes", "what is quarantined supersedes nothing")
                .hint(format!("Say it in other words: {}", memory.reasons().collect::<String>())));
        }
        memory.case = Some(case.clone());
        Ok(memory)
    }
}

/// Reads the entries of a case, oldest first, none skipped and none twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadCase {
    /// The case.
    pub key: CaseKey,
    /// Only entries after this position; by default after the one that you have marked as read, or
    /// from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// Mark what is told as read: the next call without `after` goes on after it.
    #[serde(default)]
    pub mark: bool,
}

/// A stretch of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseEntries {
    /// The entries, in the order of their positions.
    pub entries: Vec<CaseEntry>,
    /// The version of the case, which is the position of its last entry.
    pub context_version: u64,
    /// Whether the case is still worked on.
    pub status: CaseStatus,
    /// What to give as `after` for the next stretch; `null` when there is nothing more yet.
    pub next: Option<u64>,
}

/// Tells what a case is about, whether it is still worked on, and how many entries it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCase {
    /// The case.
    pub key: CaseKey,
}

/// Lists the cases of the workspace, those that were opened last first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListCases {
    /// Only those with this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<CaseStatus>,
    /// How many at once, 1 to 100; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Makes one request after another that names a case and takes an idempotency key.
macro_rules! of_one_case {
    ($($(#[$about:meta])* $name:ident,)+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The case.
            pub key: CaseKey,
            /// Any text of your own: the same key with the same request is carried out once and
            /// answered alike, for 24 hours.
            #[serde(default, skip_serializing)]
            #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
            pub idempotency_key: Option<String>,
        }
    )+};
}

of_one_case! {
    /// Closes a case: the work is done. Nothing can be appended then; searches leave its entries
    /// out, unless they ask for the case or include what is closed; it stays readable.
    CloseCase,
    /// Puts a case away, as closing does, for good or until somebody reopens it.
    ArchiveCase,
    /// Opens a case again that was closed or archived.
    ReopenCase,
}

/// Tells the newest summaries of a case within a budget, to be read before work on it goes on:
/// what was superseded is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCaseContext {
    /// The case.
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
    /// The newest entries that fit, the oldest of them first.
    pub entries: Vec<CaseEntry>,
    /// How many earlier places of the case were not looked at: what was told filled the budget.
    pub left_out: u64,
    /// The case and those entries, for an agent to read: as information, between marks.
    pub text: String,
}

impl OpenCase {
    /// The key and the title of the case.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field.
    pub fn key_and_title(&self) -> Result<(CaseKey, String)> {
        let title = self.title.as_deref();
        let key = match (&self.key, title) {
            (Some(key), _) => key.clone(),
            // What must not be told must not be told in the key either.
            (None, Some(title)) => {
                CaseKey::from_title(&secrets::redact(title).text).ok_or_else(|| {
                    Error::invalid("title", "no key can be made of this")
                        .hint("Give a key: letters, digits, - and dots.")
                })?
            }
            (None, None) => return Err(Error::invalid("key", "a case needs a key or a title")),
        };
        let title = fit_title(&key, title.unwrap_or(key.as_str()))?;
        Ok((key, title))
    }
}
