//! The contract of a store for read marks.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::model::agent::Agent;
use crate::model::case::CaseKey;
use crate::model::workspace::Workspace;

/// The rows of read marks: one per agent and case, and one per agent for the journal.
pub trait CursorRows {
    /// How far this agent has read this case or the journal; 0 if it never has.
    fn cursor(&self, workspace: &Workspace, agent: &Agent, case: Option<&CaseKey>) -> Result<u64>;

    /// Records that this agent has read up to a position; a mark never moves back.
    fn put_cursor(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        case: Option<&CaseKey>,
        position: u64,
        at: Timestamp,
    ) -> Result<()>;
}
