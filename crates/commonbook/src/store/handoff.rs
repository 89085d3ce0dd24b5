//! The contract of a store for handoffs, and for what tells when one has expired.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::HandoffId;
use crate::base::settled_clock::SettledClock;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::checkpoint::OpenHandoff;
use crate::model::collaboration::{EdgeFilter, HandoffEdge};
use crate::model::handoff::choose::MemoryExclusion;
use crate::model::handoff::{Handoff, HandoffFilter};
use crate::prompt::handoff::{HandoffPackage, PackResult};

/// The rows of handoffs. Who may see one is what [`Sight::can_see`] says of its reach; it names the
/// memories that are in the reader's sight now, and to those that it is between, the private ones
/// that were named for its target. Handoffs are looked for in the sight's first workspace.
pub trait HandoffRows {
    /// The handoff of this id in sight.
    fn handoff(&self, sight: &Sight, id: HandoffId) -> Result<Option<Handoff>>;

    /// At most `limit` ids of handoffs in sight whose last letters these are, in order. `ending` has
    /// at least six letters.
    fn handoff_ids_ending(&self, sight: &Sight, ending: &str, limit: u32)
    -> Result<Vec<HandoffId>>;

    /// The ids in sight that end in the same six letters as another id of `ids`.
    fn handoff_ids_alike(&self, sight: &Sight, ids: &[HandoffId]) -> Result<Vec<HandoffId>>;

    /// At most `limit` handoffs in sight that a filter admits, those that were made last first, or in
    /// turn, each with the place of its making in the journal, which is before the given one.
    fn handoffs(
        &self,
        sight: &Sight,
        filter: &HandoffFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Handoff)>>;

    /// How many handoffs in sight a filter admits.
    fn handoff_count(&self, sight: &Sight, filter: &HandoffFilter) -> Result<u64>;

    /// At most `limit` handoffs in sight that a filter admits as tasks alone, those that were made last
    /// first, or in turn, each with the place of its making in the journal.
    fn tasks(
        &self,
        sight: &Sight,
        filter: &HandoffFilter,
        limit: u32,
    ) -> Result<Vec<(u64, OpenHandoff)>>;

    /// The last `limit` handoffs that this agent accepted, in the order in which it did, of those in
    /// sight.
    fn received_handoffs(&self, sight: &Sight, agent: &Agent, limit: u32) -> Result<Vec<Handoff>>;

    /// The last `limit` handoffs in sight that a filter admits, as edges, in the order in which they
    /// were made.
    fn edges(&self, sight: &Sight, filter: &EdgeFilter, limit: u32) -> Result<Vec<HandoffEdge>>;

    /// What is told of a handoff, of the memories that it names.
    fn package(&self, handoff: &Handoff) -> Result<HandoffPackage>;

    /// What was looked at for a handoff and stayed behind, of what is in sight.
    fn left_out(&self, sight: &Sight, id: HandoffId) -> Result<Vec<MemoryExclusion>>;

    /// At most `limit` handoffs of every workspace that nobody accepted and that expired at this
    /// time or before: for the sweep.
    fn overdue_handoffs(&self, sure: Timestamp, limit: u32) -> Result<Vec<Handoff>>;

    /// Keeps a new handoff; `sequence` is the place of its event in the journal.
    fn insert_handoff(&mut self, packed: &PackResult, sequence: u64) -> Result<()>;

    /// Notes how far a handoff has come; `sequence` is the place of the event of that.
    fn step_handoff(&mut self, handoff: &Handoff, sequence: u64) -> Result<()>;
}

/// The row of what is known of the clock.
pub trait SettledClockRows {
    /// What the looks until now have shown.
    fn settled_clock(&self) -> Result<Option<SettledClock>>;

    /// Keeps what another look has shown.
    fn put_settled_clock(&mut self, clock: SettledClock) -> Result<()>;
}
