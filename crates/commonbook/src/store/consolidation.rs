//! The contract of a store for consolidations: who consolidates a workspace, and when that was done.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::model::consolidation::{ConsolidationLease, LeaseHolder};
use crate::model::workspace::Workspace;

/// The rows of consolidations: one for each workspace that was ever consolidated.
pub trait ConsolidationRows {
    /// Takes the lease of a workspace until this time; `None` if another holds it. The lease has a
    /// new token, and the operation of the last holder if that one was the same agent and died.
    fn lease_consolidation(
        &mut self,
        wanted: &ConsolidationLease,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<ConsolidationLease>>;

    /// Who holds the lease of a workspace at this time.
    fn lease_holder(&self, workspace: &Workspace, now: Timestamp) -> Result<Option<LeaseHolder>>;

    /// Extends a lease; returns whether it was still held. One with an older token is not, even if
    /// nobody holds another.
    fn renew_consolidation(&mut self, lease: &ConsolidationLease, until: Timestamp)
    -> Result<bool>;

    /// Gives a lease back, and notes that the consolidation was done at this time; returns whether it
    /// was still held.
    fn finish_consolidation(&mut self, lease: &ConsolidationLease, at: Timestamp) -> Result<bool>;

    /// The workspaces with memories that were not consolidated since this time, and that nobody
    /// consolidates now.
    fn consolidations_due(&self, since: Timestamp, now: Timestamp) -> Result<Vec<Workspace>>;
}
