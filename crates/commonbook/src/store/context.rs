//! The contract of a store for contexts: what one is made of, and the receipts that are kept.

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::ContextId;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::case::Case;
use crate::model::memory::Memory;
use crate::model::workspace::Workspace;
use crate::prompt::context::ContextRecord;

/// The rows of contexts.
pub trait ContextRows {
    /// At most `limit` memories in sight that stand and nothing has replaced, of this type, which
    /// is `profile` or `task_context`, about this user, or about nobody: those of the first of these
    /// owners first, of each the newest first.
    fn memories_about(
        &self,
        sight: &Sight,
        memory_type: &str,
        user: Option<&str>,
        owners: &[Agent],
        limit: u32,
    ) -> Result<Vec<Memory>>;

    /// At most `limit` open cases that this agent has marked how far it has read, and that have
    /// gone on since: those that changed last first, each with that place.
    fn unread_cases(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        limit: u32,
    ) -> Result<Vec<(Case, u64)>>;

    /// The context of this id, made for this agent.
    fn context(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        id: ContextId,
    ) -> Result<Option<ContextRecord>>;

    /// At most `limit` contexts made for this agent, the newest first.
    fn contexts(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        limit: u32,
    ) -> Result<Vec<ContextRecord>>;

    /// Keeps a context.
    fn put_context(&mut self, context: &ContextRecord) -> Result<()>;

    /// Removes at most `limit` contexts that were made before this time, or that are more than
    /// `kept` newer ones of the same agent ago; answers how many.
    fn drop_contexts(&mut self, before: Timestamp, kept: u32, limit: u32) -> Result<u64>;
}
