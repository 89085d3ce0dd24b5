//! Counting the contents of a workspace.

use std::collections::BTreeMap;

use super::Commonbook;
use crate::base::error::Result;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::stats::{GetStats, ListUsers, UserList, WorkspaceStats};

impl Commonbook {
    /// Counts what the caller sees in its workspace.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn get_memory_stats(&self, caller: &Caller, _request: &GetStats) -> Result<WorkspaceStats> {
        let sight = Sight::reading_at_home(caller)?;
        let disk_bytes = self.store.disk_bytes()?;
        let (counts, last, unsummarised, contradictions) = self.store.read(|tx| {
            let last = tx.last_event(&sight, &caller.workspace)?;
            let (unsummarised, open) =
                (tx.unsummarised_count(&sight)?, tx.contradiction_count(&sight)?);
            Ok((tx.counts(&sight)?, last, unsummarised, open))
        })?;
        let events = last.as_ref().map_or(0, |event| event.sequence);
        let bus = self.bus_stats(&sight, &caller.workspace, last);
        let (mut by_agent, mut by_type) = (BTreeMap::new(), BTreeMap::new());
        for count in counts.iter().filter(|count| count.standing > 0) {
            *by_agent.entry(count.owner.clone()).or_default() += count.standing;
            *by_type.entry(count.memory_type.clone()).or_default() += count.standing;
        }
        Ok(WorkspaceStats {
            workspace: caller.workspace.clone(),
            memories: counts.iter().map(|count| count.standing).sum(),
            deleted: counts.iter().map(|count| count.deleted).sum(),
            events,
            unsummarised,
            contradictions,
            by_agent,
            by_type,
            disk_bytes,
            bus,
        })
    }

    /// The users that memories of the caller's workspace are about, as far as the caller sees.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn list_users(&self, caller: &Caller, _request: &ListUsers) -> Result<UserList> {
        let sight = Sight::reading_at_home(caller)?;
        Ok(UserList { items: self.store.read(|tx| tx.users(&sight))? })
    }
}
