//! The contract of a store for contexts: the memories that they are made of, and their receipts.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::id::ContextId;
use crate::model::access::{Sight, StoredMemory};
use crate::model::agent::Agent;
use crate::model::case::Case;
use crate::model::workspace::Workspace;
use crate::prompt::context::{ContextFilter, ContextRecord};

/// The rows of contexts.
pub trait ContextRows {
    /// At most `limit` current memories in sight of this type, `profile` or `task_context`, about
    /// this user or about none, of normal trust: those of the first owner first, of each owner the
    /// newest first.
    fn memories_about(
        &self,
        sight: &Sight,
        memory_type: &str,
        user: Option<&str>,
        owners: &[Agent],
        limit: u32,
    ) -> Result<Vec<StoredMemory>>;

    /// At most `limit` open cases that this agent has a read mark in and that have newer entries:
    /// last changed first, each with that mark.
    fn unread_cases(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        limit: u32,
    ) -> Result<Vec<(Case, u64)>>;

    /// The context with this id in the first workspace of the sight, if the sight sees what its
    /// agent received.
    fn context(&self, sight: &Sight, id: ContextId) -> Result<Option<ContextRecord>>;

    /// At most `limit` contexts in the first workspace of the sight, of agents whose work it sees,
    /// that the filter admits: newest first, starting after `beyond`.
    fn contexts(
        &self,
        sight: &Sight,
        filter: &ContextFilter,
        beyond: Option<ContextId>,
        limit: u32,
    ) -> Result<Vec<ContextRecord>>;

    /// The tasks of the latest `limit` contexts of a workspace, of all agents, newest first: they are
    /// compared with a task, and shown to nobody.
    fn latest_tasks(&self, workspace: &Workspace, limit: u32) -> Result<Vec<String>>;

    /// At most `limit` ids of the contexts of [`Self::contexts`] that have this ending.
    fn context_ids_ending(&self, sight: &Sight, ending: &str, limit: u32)
    -> Result<Vec<ContextId>>;

    /// Those of these ids of memories and handoffs that are in sight. An id of neither counts as
    /// one: it names a standing memory file.
    fn items_in_sight(&self, sight: &Sight, ids: &BTreeSet<String>) -> Result<BTreeSet<String>>;

    /// Stores a context.
    fn put_context(&mut self, context: &ContextRecord) -> Result<()>;

    /// Removes at most `limit` contexts that were made before this time, or that have more than
    /// `kept` newer ones of the same agent; returns the number removed.
    fn drop_contexts(&mut self, before: Timestamp, kept: u32, limit: u32) -> Result<u64>;
}
