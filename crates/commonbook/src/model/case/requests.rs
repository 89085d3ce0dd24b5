//! Requests that open, append to, read and close cases, and their responses.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Case, CaseEntry, CaseKey, CaseStatus, EntryFilter, EntryKind, EntryMark, fit_title};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::base::input;
use crate::base::limits;
use crate::base::page::PageCursor;
use crate::model::agent::Agent;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::case::digest::DigestOrigin;
use crate::model::lineage::StaleMemory;
use crate::model::memory::{Importance, Memory, MemorySubject, SaveMemory, Sharing, fit_line};
use crate::model::search::MemoryFilter;
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
    /// What a digest made it of.
    #[serde(skip)]
    pub origin: Option<DigestOrigin>,
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
    pub idempotency_key: Option<String>,
}

impl From<AppendEntry> for AppendEntries {
    fn from(request: AppendEntry) -> Self {
        let AppendEntry { summary, text, kind, topics, importance, about, supersedes, .. } =
            request;
        Self {
            key: request.key,
            entries: vec![NewEntry {
                summary,
                text,
                kind,
                topics,
                importance,
                about,
                supersedes,
                origin: None,
            }],
            title: request.title,
            expected_version: request.expected_version,
            based_on: request.based_on,
            require_current: request.require_current,
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
    /// What it rests on and has changed since you received it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleMemory>,
}

/// An appended entry and its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryPosition {
    /// The id of its memory.
    pub entry_id: MemoryId,
    /// Its position in the case.
    pub position: u64,
    /// True if others see only its position, because it is quarantined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
    /// The kinds of secrets that were removed from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// What to do if the entry is quarantined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl EntryPosition {
    /// An entry that was saved at this position through this door.
    #[must_use]
    pub fn of(memory: &Memory, position: u64, door: EntryPoint) -> Self {
        Self {
            entry_id: memory.id,
            position,
            withheld: memory.is_quarantined(),
            redacted: memory.redacted.clone(),
            hint: memory.quarantine_hint(door),
        }
    }
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
            stale: Vec::new(),
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
    /// The memory of this entry, in a case or in none; its position is set when it is appended.
    ///
    /// # Errors
    /// `invalid` or `too_large`, with the field that exceeds its limits; `invalid` if a quarantined
    /// entry supersedes others.
    pub fn memory(
        &self,
        caller: &Caller,
        case: Option<&CaseKey>,
        id: MemoryId,
        now: Timestamp,
    ) -> Result<Memory> {
        let summary = self.summary.trim();
        if input::is_blank(summary) {
            return Err(Error::empty("summary")
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
        memory.case = case.cloned();
        if let Some(origin) = &self.origin {
            origin.keep(&mut memory);
        }
        Ok(memory)
    }
}

/// Reads the entries of a case in order, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadCase {
    /// The case's key.
    pub key: CaseKey,
    /// Only entries after this position or entry; by default after your mark, or from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EntryMark>,
    /// Only the newest ones, this many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub last: Option<u32>,
    /// Only this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntryKind>,
    /// Only by this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub author: Option<String>,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// Marks the returned entries as read, so that the next call without `after` continues after
    /// them.
    #[serde(default)]
    pub mark: bool,
}

impl ReadCase {
    /// The entries that the request selects, if it does not read all in order.
    ///
    /// # Errors
    /// `invalid` if `last` stands beside `after`, if the selection is to be marked as read, or if
    /// the author's name is malformed.
    pub fn filter(&self) -> Result<Option<EntryFilter>> {
        if self.last.is_some() && self.after.is_some() {
            return Err(Error::invalid("last", "cannot be combined with `after`")
                .hint("Use `last` for the newest entries, `after` to go on from a position."));
        }
        if self.last.is_none() && self.kind.is_none() && self.author.is_none() {
            return Ok(None);
        }
        if self.mark {
            return Err(Error::invalid("mark", "cannot mark a selection of entries as read")
                .hint("Read without `last`, `kind` and `author` to mark."));
        }
        let author = MemoryFilter::owner(self.author.as_deref());
        let author = author.map_err(|error| error.with_field("author"))?;
        Ok(Some(EntryFilter { kind: self.kind, author, newest: self.last.is_some() }))
    }
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
    /// Only cases with this label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::LABEL_CHARS))]
    pub label: Option<String>,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Changes the title, the labels or the lead of a case: only the fields that you set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateCase {
    /// The case's key.
    pub key: CaseKey,
    /// The new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: Option<String>,
    /// The new labels, which replace all old ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::CASE_LABELS), inner(length(min = 1, max = limits::LABEL_CHARS)))]
    pub labels: Option<Vec<String>>,
    /// The agent that decides on proposed entries; an empty one removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::AGENT_CHARS))]
    pub lead: Option<String>,
    /// Does it only if the case still has this revision; else the answer is `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

impl UpdateCase {
    /// The case after the change, with the fields that differ. Changing nothing returns it as before.
    ///
    /// # Errors
    /// `invalid` and `too_large` with the field; `invalid` if no field is set; `conflict` if the
    /// revision is not the expected one.
    pub fn apply(&self, case: &Case, at: Timestamp) -> Result<(Case, Vec<&'static str>)> {
        if let Some(expected) = self.expected_revision.filter(|expected| *expected != case.revision)
        {
            let revision = case.revision;
            let message = format!("case {} is at revision {revision}, not {expected}", case.key);
            return Err(Error::conflict(message)
                .with_field("expected_revision")
                .hint("Read the case, and send its revision."));
        }
        let mut after = case.clone();
        let mut changed = Vec::new();
        if let Some(title) = &self.title {
            after.title = fit_title(&case.key, title)?;
            changed.extend((after.title != case.title).then_some("title"));
        }
        if let Some(labels) = &self.labels {
            after.labels = fit_labels(labels)?;
            changed.extend((after.labels != case.labels).then_some("labels"));
        }
        if let Some(lead) = &self.lead {
            let named = Some(lead.as_str()).filter(|lead| !lead.trim().is_empty());
            let lead = named.map(Agent::with_any_name).transpose();
            after.lead = lead.map_err(|error| error.with_field("lead"))?;
            changed.extend((after.lead != case.lead).then_some("lead"));
        }
        if self.title.is_none() && self.labels.is_none() && self.lead.is_none() {
            return Err(Error::new(ErrorKind::Invalid, "the request changes nothing")
                .hint("Set `title`, `labels` or `lead`."));
        }
        if !changed.is_empty() {
            after.revision += 1;
            after.changed_at = at.max(case.changed_at);
        }
        Ok((after, changed))
    }
}

/// Labels as a case keeps them: lower case, each once, in order.
fn fit_labels(labels: &[String]) -> Result<Vec<String>> {
    if labels.len() > limits::CASE_LABELS {
        return Err(Error::too_large("labels", labels.len(), limits::CASE_LABELS, "labels"));
    }
    let label = |(index, label): (usize, &String)| {
        fit_line(&format!("labels[{index}]"), label, limits::LABEL_CHARS)
            .map(|label| label.to_lowercase())
    };
    let mut labels = labels.iter().enumerate().map(label).collect::<Result<Vec<_>>>()?;
    labels.sort_unstable();
    labels.dedup();
    Ok(labels)
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
    /// Number of earlier positions without room in full; the text names the last ten of them by headlines.
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
