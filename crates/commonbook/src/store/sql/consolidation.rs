//! The SQL of consolidations.

use jiff::Timestamp;

use super::Tx;
use super::row::{text, time};
use crate::base::error::Result;
use crate::model::consolidation::{ConsolidationLease, LeaseHolder};
use crate::model::workspace::Workspace;

/// The rows of consolidations: one for each workspace that was ever consolidated.
impl Tx<'_> {
    /// Takes the lease of a workspace until this time; `None` if another holds it. The lease has a
    /// new token, and the operation of the last holder if that one was the same agent and died.
    pub fn lease_consolidation(
        &mut self,
        wanted: &ConsolidationLease,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<ConsolidationLease>> {
        let (workspace, agent) = (wanted.workspace.as_str(), wanted.agent.as_str());
        // One that was not given back died.
        let taken = self.execute(
            "INSERT INTO consolidation \
             (workspace, token, agent, operation, leased_until, finished_at) \
             VALUES (?1, 1, ?2, ?3, ?5, 0) ON CONFLICT (workspace) DO UPDATE \
             SET token = consolidation.token + 1, agent = excluded.agent, leased_until = excluded.leased_until, \
             operation = CASE WHEN consolidation.leased_until > 0 AND consolidation.agent = excluded.agent \
                 THEN consolidation.operation ELSE excluded.operation END \
             WHERE consolidation.leased_until <= ?4",
            (
                workspace,
                agent,
                wanted.operation.to_string(),
                now.as_millisecond(),
                until.as_millisecond(),
            ),
        )?;
        if taken == 0 {
            return Ok(None);
        }
        let sql = "SELECT token, operation FROM consolidation WHERE workspace = ?1";
        self.query_one(sql, [workspace], |row| {
            Ok(ConsolidationLease {
                token: row.get(0)?,
                operation: text(row, 1)?,
                ..wanted.clone()
            })
        })
    }

    /// Who holds the lease of a workspace at this time.
    pub fn lease_holder(
        &self,
        workspace: &Workspace,
        now: Timestamp,
    ) -> Result<Option<LeaseHolder>> {
        let sql = "SELECT operation, leased_until FROM consolidation \
                   WHERE workspace = ?1 AND leased_until > ?2";
        self.query_one(sql, (workspace.as_str(), now.as_millisecond()), |row| {
            Ok(LeaseHolder { operation: text(row, 0)?, until: time(row.get(1)?) })
        })
    }

    /// Extends a lease; returns whether it was still held. One with an older token is not, even if
    /// nobody holds another.
    pub fn renew_consolidation(
        &mut self,
        lease: &ConsolidationLease,
        until: Timestamp,
    ) -> Result<bool> {
        let held = self.execute(
            "UPDATE consolidation SET leased_until = ?3 \
             WHERE workspace = ?1 AND token = ?2 AND leased_until > 0",
            (lease.workspace.as_str(), lease.token, until.as_millisecond()),
        )?;
        Ok(held == 1)
    }

    /// Gives a lease back, and notes that the consolidation was done at this time; returns whether it
    /// was still held.
    pub fn finish_consolidation(
        &mut self,
        lease: &ConsolidationLease,
        at: Timestamp,
    ) -> Result<bool> {
        let held = self.execute(
            "UPDATE consolidation SET leased_until = 0, finished_at = ?3 \
             WHERE workspace = ?1 AND token = ?2 AND leased_until > 0",
            (lease.workspace.as_str(), lease.token, at.as_millisecond()),
        )?;
        Ok(held == 1)
    }

    /// The workspaces with memories that were not consolidated since this time, and that nobody
    /// consolidates now.
    pub fn consolidations_due(&self, since: Timestamp, now: Timestamp) -> Result<Vec<Workspace>> {
        let sql = "SELECT w.name FROM workspace w \
             LEFT JOIN consolidation c ON c.workspace = w.name \
             WHERE w.sequence > 0 AND ifnull(c.finished_at, 0) <= ?1 \
                 AND ifnull(c.leased_until, 0) <= ?2 ORDER BY w.name";
        let params = (since.as_millisecond(), now.as_millisecond());
        self.query_all(sql, params, |row| text(row, 0))
    }
}
