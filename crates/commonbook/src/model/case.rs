//! Cases: matters that several agents work on, each with an append-only log.
//!
//! An entry of a case is a shared memory with a position in the case, numbered without gaps. Nobody
//! changes or deletes it; a later entry corrects it by superseding it.

mod branch;
pub mod digest;
mod entry;
mod proposal;
mod requests;
mod unread;

pub use branch::{BranchCase, BranchMergeOutcome, BranchMergeResult, ListBranches, MergeCase};
pub use entry::{CaseEntry, EntryFilter, EntryKind, EntryMark};
pub use proposal::{
    CaseProposal, DecideProposal, DecisionResult, ListProposals, ProposalDecision, ProposalList,
    ProposalStatus,
};
pub use requests::{
    AppendEntries, AppendEntry, AppendResult, ArchiveCase, CaseContext, CaseEntries, CaseOutcome,
    CloseCase, EntryPosition, GetCase, GetCaseContext, ListCases, NewEntry, OpenCase,
    OpenCaseResult, ReadCase, ReopenCase, UpdateCase, VersionConflict,
};

pub use unread::{CountUnread, UnreadCount, UnreadList};

pub use crate::base::key::CaseKey;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::event::EventKind;
use crate::model::memory::fit_line;
use crate::model::workspace::Workspace;
use commonbook_text::string_enum;

/// Checks a case's key and title, which every agent sees: removes secrets from the title, refuses
/// orders to agents.
///
/// # Errors
/// `invalid` or `too_large`, with the field.
pub fn fit_title(key: &CaseKey, title: &str) -> Result<String> {
    let check_key = || fit_line("key", &key.as_str().replace('-', " "), limits::CASE_KEY_CHARS);
    // A case without a title has its key for one, and the key is then what is wrong.
    if title == key.as_str() {
        check_key()?;
    }
    let title = fit_line("title", title, limits::TITLE_CHARS)?;
    check_key().map(|_| title)
}

string_enum! {
    /// The status of a case.
    CaseStatus {
        /// Entries can be appended.
        Open = "open",
        /// The work is done. The case can be reopened.
        Closed = "closed",
        /// The case is put away. It can be reopened.
        Archived = "archived",
    }
}

/// A matter that several agents work on. Every agent in the workspace can read it and append to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// Its key, unique in the workspace.
    pub key: CaseKey,
    /// The workspace it belongs to.
    pub workspace: Workspace,
    /// What it is about.
    pub title: String,
    /// Its status.
    pub status: CaseStatus,
    /// Number of its entries; also the position of the last one, and its `context_version`.
    pub version: u64,
    /// The agent that opened it.
    pub opened_by: Agent,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When its last entry was appended or it changed otherwise.
    pub changed_at: Timestamp,
    /// Its revision, 1 at first: changes of its title, labels and lead.
    #[serde(default = "first_revision")]
    pub revision: u64,
    /// Its labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The agent that decides on proposed entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Agent>,
    /// Where it branched off, if it is a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<CaseBranch>,
}

/// Where a branch left its case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseBranch {
    /// The case that it branched off.
    pub of: CaseKey,
    /// The version of that case then: the positions up to it are read from there.
    pub at: u64,
    /// When it was merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Timestamp>,
}

const fn first_revision() -> u64 {
    1
}

impl Case {
    /// A new case, without entries.
    #[must_use]
    pub fn new(
        workspace: &Workspace,
        key: CaseKey,
        title: String,
        agent: &Agent,
        at: Timestamp,
    ) -> Self {
        Self {
            key,
            workspace: workspace.clone(),
            title,
            status: CaseStatus::Open,
            version: 0,
            opened_by: agent.clone(),
            opened_at: at,
            changed_at: at,
            revision: first_revision(),
            labels: Vec::new(),
            lead: None,
            branch: None,
        }
    }

    /// The position after which its own entries begin.
    #[must_use]
    pub fn branched_at(&self) -> u64 {
        self.branch.as_ref().map_or(0, |branch| branch.at)
    }

    /// Checks that entries can be appended.
    ///
    /// # Errors
    /// `conflict` for a case that is closed or archived.
    pub fn takes_entries(&self) -> Result<()> {
        match self.status {
            CaseStatus::Open => Ok(()),
            status => Err(Error::conflict(format!(
                "case {} is {status}; expected an open case",
                self.key
            ))
            .hint("Reopen it with `reopen_case`, or open another case.")),
        }
    }

    /// The case with this status, and the kind of the event. Returns `None` if it has the status
    /// already.
    ///
    /// # Errors
    /// `conflict` for closing an archived case.
    pub fn with_case_status(
        &self,
        status: CaseStatus,
        at: Timestamp,
    ) -> Result<Option<(Self, EventKind)>> {
        let kind = match (self.status, status) {
            (now, then) if now == then => return Ok(None),
            (CaseStatus::Archived, CaseStatus::Closed) => {
                return Err(Error::conflict(format!(
                    "case {} is archived; expected an open case",
                    self.key
                ))
                .hint("Reopen it first with `reopen_case`."));
            }
            (_, CaseStatus::Open) => EventKind::CaseReopened,
            (_, CaseStatus::Closed) => EventKind::CaseClosed,
            (_, CaseStatus::Archived) => EventKind::CaseArchived,
        };
        let changed_at = at.max(self.changed_at);
        Ok(Some((Self { status, changed_at, ..self.clone() }, kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_keys_and_keys_are_not_ids() {
        let table = [
            ("Retries in the payment service", Some("retries-in-the-payment-service")),
            ("Issue #12: it fails!", Some("issue-12-it-fails")),
            ("  v1.2 … ", Some("v1.2")),
            ("mem_01m7y9c4dpeqkspxh7a865d434", Some("mem-01m7y9c4dpeqkspxh7a865d434")),
            ("重试", Some("重试")),
            ("…", None),
        ];
        for (title, key) in table {
            assert_eq!(CaseKey::from_title(title).as_ref().map(CaseKey::as_str), key, "{title:?}");
        }
        let long = CaseKey::from_title(&"word ".repeat(40)).expect("a key");
        assert!(long.as_str().chars().count() <= limits::CASE_KEY_CHARS);
        assert_eq!("Two Words_here".parse::<CaseKey>().expect("a key").as_str(), "two-words-here");
        for bad in ["", " ", "-a", "a/b", "*", "a\nb"] {
            assert!(bad.parse::<CaseKey>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_case_turns_from_one_status_to_another() {
        use CaseStatus::{Archived, Closed, Open};
        let at: Timestamp = "2026-11-21T09:00:00Z".parse().expect("a time");
        let workspace = Workspace::fallback();
        let key: CaseKey = "k".parse().expect("a key");
        let case = Case::new(&workspace, key, "K".into(), &Agent::system(), at);
        let table = [
            (Open, Closed, Some(EventKind::CaseClosed)),
            (Open, Archived, Some(EventKind::CaseArchived)),
            (Open, Open, None),
            (Closed, Archived, Some(EventKind::CaseArchived)),
            (Closed, Open, Some(EventKind::CaseReopened)),
            (Closed, Closed, None),
            (Archived, Open, Some(EventKind::CaseReopened)),
            (Archived, Archived, None),
        ];
        for (from, to, kind) in table {
            let case = Case { status: from, ..case.clone() };
            let turned = case.with_case_status(to, at).expect("it may");
            assert_eq!(turned.map(|(case, kind)| (case.status, kind)), kind.map(|kind| (to, kind)));
            assert_eq!(case.takes_entries().is_ok(), from == Open);
        }
        assert!(Case { status: Archived, ..case }.with_case_status(Closed, at).is_err());
    }
}
