//! The contract of a store for how far agents have read.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::model::agent::Agent;
use crate::model::case::CaseKey;
use crate::model::workspace::Workspace;

/// The rows of cursors: one an agent for each case, and one for the journal.
pub trait CursorRows {
    /// How far this agent has read this case, or the journal; 0 where it never has.
    fn cursor(&self, workspace: &Workspace, agent: &Agent, case: Option<&CaseKey>) -> Result<u64>;

    /// Notes that this agent has read so far; a cursor never goes back.
    fn put_cursor(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        case: Option<&CaseKey>,
        position: u64,
        at: Timestamp,
    ) -> Result<()>;
}
