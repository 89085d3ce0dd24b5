//! The contract of a store for cases and their entries.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::case::{Case, CaseKey, CaseProposal, CaseStatus, EntryFilter};
use crate::model::workspace::Workspace;
use crate::store::{JournalLag, JournalScope};

/// The rows of cases. Everybody in a workspace reads all its cases; their entries are memories.
pub trait CaseRows {
    /// The case with this key.
    fn case(&self, workspace: &Workspace, key: &CaseKey) -> Result<Option<Case>>;

    /// At most `limit` cases with this status and label, or with any, last opened first, each with
    /// the position of its opening in the journal, which is before the given one.
    fn cases(
        &self,
        workspace: &Workspace,
        status: Option<CaseStatus>,
        label: Option<&str>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Case)>>;

    /// At most `limit` branches of a case, last opened first, each with the position of its opening
    /// in the journal, which is before the given one.
    fn branches(
        &self,
        workspace: &Workspace,
        case: &CaseKey,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Case)>>;

    /// At most `limit` keys of cases that begin with this text, in order.
    fn case_keys(&self, workspace: &Workspace, beginning: &str, limit: u32)
    -> Result<Vec<CaseKey>>;

    /// Every case that is not open, of one workspace or of all.
    fn inactive_cases(&self, of: Option<&Workspace>) -> Result<Vec<(Workspace, CaseKey)>>;

    /// The entries of a case in sight at the positions after `after` and up to `until`, in order.
    fn entries(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        case: &CaseKey,
        after: u64,
        until: u64,
    ) -> Result<Vec<StoredMemory>>;

    /// At most `limit` entries of a case in sight at these positions that the filter selects: the
    /// first ones, or the last ones, in the order that the filter names.
    fn selected_entries(
        &self,
        sight: &Sight,
        stretch: &EntryStretch,
        filter: &EntryFilter,
        limit: u32,
    ) -> Result<Vec<StoredMemory>>;

    /// The number of entries of a case in sight at these positions that other agents appended and
    /// nobody retracted.
    fn entries_of_others(
        &self,
        sight: &Sight,
        stretch: &EntryStretch,
        reader: &Agent,
    ) -> Result<u64>;

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

/// Positions of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryStretch {
    /// The workspace.
    pub workspace: Workspace,
    /// The case.
    pub case: CaseKey,
    /// After this position.
    pub after: u64,
    /// Up to this one.
    pub until: u64,
}

/// A case whose digest may run by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseActivity {
    /// The workspace.
    pub workspace: Workspace,
    /// The case.
    pub case: CaseKey,
    /// Memories saved in sessions on it since its digest ran.
    pub memories: u32,
    /// Sessions on it that have ended since.
    pub ended: u32,
}

/// The rows of digests that run by themselves, and of the proposals that they make.
pub trait CaseDigestRows {
    /// The journals in this scope that are ahead of the activity of their cases, by workspace.
    fn case_activity_behind(&self, scope: &JournalScope) -> Result<Vec<JournalLag>>;

    /// The position up to which the activity follows a journal.
    fn case_activity_position(&self, workspace: &Workspace) -> Result<u64>;

    /// Records that position.
    fn set_case_activity_position(&mut self, workspace: &Workspace, place: u64) -> Result<()>;

    /// What the next events of a journal say of cases, at most `limit` of them, and the position of
    /// the last one; `None` at its end. The memories of a session for a user do not count.
    fn next_case_activity(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Option<(u64, Vec<CaseActivity>)>>;

    /// Adds this to the activity of its case.
    fn add_case_activity(&mut self, activity: &CaseActivity) -> Result<()>;

    /// The open cases with at least this many memories, or with an ended session, that nobody holds
    /// a lease of at this time.
    fn active_cases(&self, memories_min: u32, now: Timestamp) -> Result<Vec<CaseActivity>>;

    /// Takes the lease of a case until this time; returns whether it was free.
    fn lease_case(
        &mut self,
        activity: &CaseActivity,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool>;

    /// Takes what was counted off the activity of its case, and gives the lease back.
    fn settle_case(&mut self, activity: &CaseActivity) -> Result<()>;

    /// The proposals of a case, oldest first, with all their entries.
    fn proposals(&self, workspace: &Workspace, case: &CaseKey) -> Result<Vec<CaseProposal>>;

    /// The keys of the open cases of this lead with an open proposal, at most `limit`.
    fn cases_with_proposals(
        &self,
        workspace: &Workspace,
        lead: &Agent,
        limit: u32,
    ) -> Result<Vec<Case>>;

    /// Stores a proposal, new or changed.
    fn put_proposal(&mut self, workspace: &Workspace, proposal: &CaseProposal) -> Result<()>;

    /// Removes a proposal.
    fn drop_proposal(&mut self, workspace: &Workspace, case: &CaseKey, number: u64) -> Result<()>;

    /// Removes the proposals that a memory is a source of.
    fn drop_proposals_of(&mut self, workspace: &Workspace, memory: MemoryId) -> Result<()>;
}
