//! The contract of a store for checkpoints, and for the activity that makes one due.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::{CheckpointId, SessionId};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::checkpoint::{Checkpoint, SessionActivity};
use crate::model::session::Session;
use crate::model::workspace::Workspace;

/// The rows of checkpoints. Everybody who sees the session sees its checkpoints.
pub trait CheckpointRows {
    /// The checkpoint with this id.
    fn checkpoint(&self, workspace: &Workspace, id: CheckpointId) -> Result<Option<Checkpoint>>;

    /// At most `limit` ids of checkpoints with this ending, of sessions in sight.
    fn checkpoint_ids_ending(
        &self,
        sight: &Sight,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<CheckpointId>>;

    /// The checkpoints of a session, oldest first.
    fn checkpoints(&self, session: &Session) -> Result<Vec<Checkpoint>>;

    /// At most `limit` checkpoints of all workspaces that were created before this time and are not
    /// archived: for the sweep.
    fn old_checkpoints(&self, before: Timestamp, limit: u32) -> Result<Vec<Checkpoint>>;

    /// The agents with a memory of this session in sight, by name.
    fn session_agents(&self, sight: &Sight, session: &Session) -> Result<Vec<Agent>>;

    /// The working time of this agent's unfinished session since its last checkpoint.
    fn activity(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        id: SessionId,
    ) -> Result<Option<(Session, SessionActivity)>>;

    /// Records the working time of a session since its last checkpoint, and when anything was last
    /// written in it.
    fn put_activity(&mut self, session: &Session, activity: SessionActivity) -> Result<()>;

    /// The next checkpoint number of this session; a number is never used twice.
    fn next_checkpoint(&mut self, session: &Session) -> Result<u64>;

    /// Stores a checkpoint, replacing the one with its id.
    fn put_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<()>;

    /// Removes a checkpoint.
    fn drop_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<()>;
}
