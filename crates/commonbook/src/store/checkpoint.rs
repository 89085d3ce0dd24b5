//! The contract of a store for checkpoints, and for what tells when one is due.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::{CheckpointId, SessionId};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::checkpoint::{Checkpoint, SessionActivity};
use crate::model::session::Session;
use crate::model::workspace::Workspace;

/// The rows of checkpoints. Who sees the session of one sees it.
pub trait CheckpointRows {
    /// The checkpoint of this id.
    fn checkpoint(&self, workspace: &Workspace, id: CheckpointId) -> Result<Option<Checkpoint>>;

    /// The checkpoints of a session, the first one first.
    fn checkpoints(&self, session: &Session) -> Result<Vec<Checkpoint>>;

    /// At most `limit` checkpoints of every workspace that were made before this time: for the
    /// sweep.
    fn old_checkpoints(&self, before: Timestamp, limit: u32) -> Result<Vec<Checkpoint>>;

    /// The agents that have kept something in a session, of what is in sight, by name.
    fn session_agents(&self, sight: &Sight, session: &Session) -> Result<Vec<Agent>>;

    /// How long a session of this agent that has not ended has been at work since its last
    /// checkpoint.
    fn activity(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        id: SessionId,
    ) -> Result<Option<(Session, SessionActivity)>>;

    /// Notes how long a session has been at work since its last checkpoint, and when something was
    /// last written in it.
    fn put_activity(&mut self, session: &Session, activity: SessionActivity) -> Result<()>;

    /// The next number of a checkpoint of this session, which is never given again.
    fn next_checkpoint(&mut self, session: &Session) -> Result<u64>;

    /// Keeps a checkpoint, in the place of the one of its id.
    fn put_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<()>;

    /// Removes a checkpoint.
    fn drop_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<()>;
}
