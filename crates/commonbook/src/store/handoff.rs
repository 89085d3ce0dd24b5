//! The contract of a store for handoffs, and for the clock that expires them.

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
use crate::model::memory::MemoryChange;
use crate::model::workspace::Workspace;
use crate::prompt::handoff::{HandoffPackage, PackResult};

/// The rows of handoffs. [`Sight::can_see`] decides by its visibility who sees one. It names the
/// memories that are in the reader's sight now and, to its two agents, the private ones that were
/// named for its target. Handoffs are read from the sight's first workspace.
pub trait HandoffRows {
    /// The handoff with this id in sight.
    fn handoff(&self, sight: &Sight, id: HandoffId) -> Result<Option<Handoff>>;

    /// At most `limit` ids of handoffs in sight that end in `ending`, in order. `ending` has at
    /// least six letters.
    fn handoff_ids_ending(&self, sight: &Sight, ending: &str, limit: u32)
    -> Result<Vec<HandoffId>>;

    /// The ids in sight that end in the same six letters as another id of `ids`.
    fn handoff_ids_alike(&self, sight: &Sight, ids: &[HandoffId]) -> Result<Vec<HandoffId>>;

    /// At most `limit` handoffs in sight that a filter admits, in its order, each with the position of
    /// its creation in the journal, which is beyond the given one in that order.
    fn handoffs(
        &self,
        sight: &Sight,
        filter: &HandoffFilter,
        beyond: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Handoff)>>;

    /// The number of handoffs in sight that a filter admits.
    fn handoff_count(&self, sight: &Sight, filter: &HandoffFilter) -> Result<u64>;

    /// As `handoffs`, but only the task of each.
    fn tasks(
        &self,
        sight: &Sight,
        filter: &HandoffFilter,
        limit: u32,
    ) -> Result<Vec<(u64, OpenHandoff)>>;

    /// The queue of the reader: the positions of the handoffs that wait for it, oldest first.
    fn handoff_queue(&self, sight: &Sight) -> Result<Vec<u64>>;

    /// The last `limit` handoffs in sight that this agent accepted, in the order in which each was
    /// accepted or completed last.
    fn received_handoffs(&self, sight: &Sight, agent: &Agent, limit: u32) -> Result<Vec<Handoff>>;

    /// Those of these handoffs to an agent whose work it has handed on, alone or with others.
    fn handed_on(&self, workspace: &Workspace, ids: &[HandoffId]) -> Result<Vec<HandoffId>>;

    /// At most `limit` handoffs in sight by this agent that were completed or rejected since this
    /// time, ended last first, without those whose end a text told the agent before
    /// `session_start`; without that time, those that no text has told it.
    fn ended_handoffs(
        &self,
        sight: &Sight,
        agent: &Agent,
        since: Timestamp,
        session_start: Option<Timestamp>,
        limit: u32,
    ) -> Result<Vec<Handoff>>;

    /// Notes that a text tells this agent how those of these handoffs ended that it created. The time of
    /// the first text stays.
    fn note_results_told(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        ids: &[HandoffId],
        at: Timestamp,
    ) -> Result<()>;

    /// The last `limit` handoffs in sight that a filter admits, as edges, in the order of creation.
    fn edges(&self, sight: &Sight, filter: &EdgeFilter, limit: u32) -> Result<Vec<HandoffEdge>>;

    /// The number of handoffs that were refused after one in sight that a filter admits; its `since`
    /// is the time of the refusal.
    fn refused_handoffs(&self, sight: &Sight, filter: &EdgeFilter) -> Result<u64>;

    /// Whether these agents, or agents below them, have written anything in sight in the sight's first
    /// workspace since the last of these handoffs was created: a memory, an entry, or the result of a
    /// handoff.
    fn has_written_since(
        &self,
        sight: &Sight,
        agents: &[Agent],
        handoffs: &[HandoffId],
    ) -> Result<bool>;

    /// The stored text of a handoff, with the memories that it names.
    fn package(&self, handoff: &Handoff) -> Result<HandoffPackage>;

    /// The private memories of others that were named for the reader, the target of this handoff,
    /// and deleted since.
    fn deleted_private_memories(
        &self,
        sight: &Sight,
        handoff: &Handoff,
    ) -> Result<Vec<MemoryChange>>;

    /// The memories in sight that were considered for a handoff and left out.
    fn left_out(&self, sight: &Sight, id: HandoffId) -> Result<Vec<MemoryExclusion>>;

    /// At most `limit` handoffs of all workspaces that expired at this time or before: pending ones, and accepted ones
    /// whose target has been silent since. For the sweep.
    fn overdue_handoffs(&self, sure: Timestamp, limit: u32) -> Result<Vec<Handoff>>;

    /// Stores a new handoff; `sequence` is the position of its event in the journal.
    fn insert_handoff(&mut self, packed: &PackResult, sequence: u64) -> Result<()>;

    /// Stores a step of a handoff; `sequence` is the position of the step's event.
    fn step_handoff(&mut self, handoff: &Handoff, sequence: u64) -> Result<()>;
}

/// The row of the settled clock.
pub trait SettledClockRows {
    /// The clock as the readings until now have settled it.
    fn settled_clock(&self) -> Result<Option<SettledClock>>;

    /// Stores the clock after another reading.
    fn put_settled_clock(&mut self, clock: SettledClock) -> Result<()>;
}
