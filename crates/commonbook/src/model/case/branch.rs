//! Branches: cases that continue from a version of another case, and are merged back into it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Case, CaseBranch, CaseKey, EntryPosition, VersionConflict};
use crate::base::error::{Error, Result};
use crate::base::limits;
use crate::base::page::PageCursor;

/// Opens a branch of a case: it has the entries so far, and what is appended to it does not show in
/// the case until `merge_case`. A session of yours on the case goes on in the branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchCase {
    /// The case's key.
    pub key: CaseKey,
    /// The end of the branch's key, `KEY.NAME`; by default `branch-1`, `branch-2` ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<CaseKey>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Lists the branches of a case, last opened first, merged ones too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListBranches {
    /// The case's key.
    pub key: CaseKey,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// Appends the entries of a branch to its case, with their authors and kinds, and closes the branch.
/// Merging it again changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeCase {
    /// The branch's key.
    pub key: CaseKey,
    /// The version of the case that you have read. If it has newer entries, nothing is merged, and
    /// `moved` has the latest version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// Whether a branch was merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BranchMergeOutcome {
    /// This call merged it.
    Merged,
    /// It was merged before.
    Repeated,
    /// The case has moved, and nothing was merged.
    Moved,
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BranchMergeResult {
    /// Whether it was merged.
    pub outcome: BranchMergeOutcome,
    /// The case that the branch was merged into.
    pub case: Case,
    /// The branch.
    pub branch: Case,
    /// The entries that the case got, in order.
    pub entries: Vec<EntryPosition>,
    /// Entries that stay in the branch: superseded, quarantined, or not yours to read.
    pub left: u64,
    /// Set if the case was not at the expected version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<VersionConflict>,
}

impl Case {
    /// The key of a branch of this case.
    ///
    /// # Errors
    /// `invalid` or `too_large` with the field `name` if the name makes no key.
    pub fn branch_key(&self, name: &str) -> Result<CaseKey> {
        let key = format!("{}.{name}", self.key).parse();
        key.map_err(|error: Error| error.with_field("name").hint("Give the branch a shorter name."))
    }

    /// Where the case branched off.
    ///
    /// # Errors
    /// `invalid` for a case that is no branch.
    pub fn as_branch(&self) -> Result<&CaseBranch> {
        self.branch.as_ref().ok_or_else(|| {
            Error::invalid("key", format!("case {} is not a branch", self.key))
                .hint("Name a branch; `branch_case` makes one.")
        })
    }
}
