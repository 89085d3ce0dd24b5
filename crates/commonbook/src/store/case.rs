//! The contract of a store for cases and their entries.

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::Sight;
use crate::model::case::{Case, CaseKey, CaseStatus};
use crate::model::memory::Memory;
use crate::model::workspace::Workspace;

/// The rows of cases. Everybody in a workspace reads all its cases; their entries are memories.
pub trait CaseRows {
    /// The case with this key.
    fn case(&self, workspace: &Workspace, key: &CaseKey) -> Result<Option<Case>>;

    /// At most `limit` cases with this status, or with any, last opened first, each with the
    /// position of its opening in the journal, which is before the given one.
    fn cases(
        &self,
        workspace: &Workspace,
        status: Option<CaseStatus>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Case)>>;

    /// At most `limit` keys of cases that begin with this text, in order.
    fn case_keys(&self, workspace: &Workspace, beginning: &str, limit: u32)
    -> Result<Vec<CaseKey>>;

    /// Every case of every workspace that is not open.
    fn inactive_cases(&self) -> Result<Vec<(Workspace, CaseKey)>>;

    /// The entries of a case in sight at the positions after `after` and up to `until`, in order.
    fn entries(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        case: &CaseKey,
        after: u64,
        until: u64,
    ) -> Result<Vec<Memory>>;

    /// The entries of a case, in sight, that these entries superseded: pairs of the newer and the
    /// older one.
    fn superseded_entries(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        case: &CaseKey,
        by: &[MemoryId],
    ) -> Result<Vec<(MemoryId, MemoryId)>>;

    /// Stores a new case; `sequence` is the position of its event in the journal.
    fn insert_case(&mut self, case: &Case, sequence: u64) -> Result<()>;

    /// Replaces a case by its new state.
    fn replace_case(&mut self, case: &Case) -> Result<()>;
}
