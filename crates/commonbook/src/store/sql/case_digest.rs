//! The SQL of digests that run by themselves: what happened on each case since, and proposals.

use jiff::Timestamp;

use super::case::CaseActivity;
use super::follower::{JournalLag, JournalScope};
use super::row::{encode_json, json, text, time};
use super::{Tx, case};
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::agent::Agent;
use crate::model::case::{Case, CaseKey, CaseProposal, ProposalStatus};
use crate::model::workspace::Workspace;

/// The name of the follower that counts what happened on each case.
const ACTIVITY_FOLLOWER: &str = "digests";

/// The revision of its rules.
const ACTIVITY_RULES_REVISION: u32 = 1;

/// Why proposals are written outside of any sight.
const OWN_DERIVED: &str = "a proposal is written and removed, and shown to nobody here";

/// The rows of digests that run by themselves, and of the proposals that they make.
impl Tx<'_> {
    /// The journals in this scope that are ahead of the activity of their cases, by workspace.
    pub fn case_activity_behind(&self, scope: &JournalScope) -> Result<Vec<JournalLag>> {
        self.follower_lags(ACTIVITY_FOLLOWER, scope, ACTIVITY_RULES_REVISION)
    }

    /// The position up to which the activity follows a journal.
    pub fn case_activity_position(&self, workspace: &Workspace) -> Result<u64> {
        self.follower_position(ACTIVITY_FOLLOWER, workspace, ACTIVITY_RULES_REVISION)
    }

    /// Records that position.
    pub fn set_case_activity_position(&mut self, workspace: &Workspace, place: u64) -> Result<()> {
        self.set_follower_position(ACTIVITY_FOLLOWER, workspace, ACTIVITY_RULES_REVISION, place)
    }

    /// What the next events of a journal say of cases, at most `limit` of them, and the position of
    /// the last one; `None` at its end. The memories of a session for a user do not count.
    pub fn next_case_activity(
        &self,
        workspace: &Workspace,
        after: u64,
        limit: u32,
    ) -> Result<Option<(u64, Vec<CaseActivity>)>> {
        let next = "SELECT e.sequence, e.kind, e.subject FROM event e \
             WHERE e.workspace = ?1 AND e.sequence > ?2 ORDER BY e.sequence LIMIT ?3";
        let unseen = self.unseen("a follower counts what happened, and shows nothing of it");
        let last = format!("SELECT max(n.sequence) FROM ({next}) n");
        let last: Option<Option<u64>> =
            unseen.first(&last, (workspace.as_str(), after, limit), |row| row.get(0))?;
        let Some(last) = last.flatten() else { return Ok(None) };
        let sql = format!(
            "SELECT s.case_key, count(*) FILTER (WHERE n.kind = 'memory.saved'), \
                 count(*) FILTER (WHERE n.kind = 'session.ended') \
             FROM ({next}) n \
             LEFT JOIN memory m ON n.kind = 'memory.saved' AND m.workspace = ?1 \
                 AND m.id = n.subject AND m.case_key IS NULL \
             JOIN session s ON s.workspace = ?1 AND s.user_id IS NULL AND s.case_key IS NOT NULL \
                 AND s.id = CASE n.kind WHEN 'session.ended' THEN n.subject ELSE m.session END \
             GROUP BY s.case_key"
        );
        let found = unseen.all(&sql, (workspace.as_str(), after, limit), |row| {
            Ok(CaseActivity {
                workspace: workspace.clone(),
                case: text(row, 0)?,
                memories: row.get(1)?,
                ended: row.get(2)?,
            })
        })?;
        Ok(Some((last, found)))
    }

    /// Adds this to the activity of its case.
    pub fn add_case_activity(&mut self, activity: &CaseActivity) -> Result<()> {
        self.execute(
            "INSERT INTO case_activity (workspace, case_key, memories, ended, leased_until) \
             VALUES (?1, ?2, ?3, ?4, 0) ON CONFLICT (workspace, case_key) DO UPDATE \
             SET memories = case_activity.memories + excluded.memories, \
                 ended = case_activity.ended + excluded.ended",
            (
                activity.workspace.as_str(),
                activity.case.as_str(),
                activity.memories,
                activity.ended,
            ),
        )?;
        Ok(())
    }

    /// The open cases with at least this many memories, or with an ended session, that nobody holds
    /// a lease of at this time.
    pub fn active_cases(&self, memories_min: u32, now: Timestamp) -> Result<Vec<CaseActivity>> {
        let sql = "SELECT a.workspace, a.case_key, a.memories, a.ended FROM case_activity a \
             JOIN case_log c ON c.workspace = a.workspace AND c.key = a.case_key \
             WHERE (a.ended > 0 OR a.memories >= ?1) AND a.leased_until <= ?2 AND c.status = 'open' \
             ORDER BY a.workspace, a.case_key";
        self.query_all(sql, (memories_min, now.as_millisecond()), |row| {
            Ok(CaseActivity {
                workspace: text(row, 0)?,
                case: text(row, 1)?,
                memories: row.get(2)?,
                ended: row.get(3)?,
            })
        })
    }

    /// Takes the lease of a case until this time; returns whether it was free.
    pub fn lease_case(
        &mut self,
        activity: &CaseActivity,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool> {
        let taken = self.execute(
            "UPDATE case_activity SET leased_until = ?4 \
             WHERE workspace = ?1 AND case_key = ?2 AND leased_until <= ?3",
            (
                activity.workspace.as_str(),
                activity.case.as_str(),
                now.as_millisecond(),
                until.as_millisecond(),
            ),
        )?;
        Ok(taken == 1)
    }

    /// Takes what was counted off the activity of its case, and gives the lease back.
    pub fn settle_case(&mut self, activity: &CaseActivity) -> Result<()> {
        let (workspace, case) = (activity.workspace.as_str(), activity.case.as_str());
        self.execute(
            "UPDATE case_activity SET memories = max(0, memories - ?3), ended = max(0, ended - ?4), \
             leased_until = 0 WHERE workspace = ?1 AND case_key = ?2",
            (workspace, case, activity.memories, activity.ended),
        )?;
        self.execute(
            "DELETE FROM case_activity WHERE workspace = ?1 AND case_key = ?2 \
             AND memories = 0 AND ended = 0",
            (workspace, case),
        )?;
        Ok(())
    }

    /// The proposals of a case, oldest first, with all their entries.
    pub fn proposals(&self, workspace: &Workspace, case: &CaseKey) -> Result<Vec<CaseProposal>> {
        let sql = "SELECT case_key, number, status, created_at, entries FROM case_proposal \
             WHERE workspace = ?1 AND case_key = ?2 ORDER BY number";
        let unseen = self.unseen("each entry is shown to those who see its sources");
        unseen.all(sql, (workspace.as_str(), case.as_str()), |row| {
            Ok(CaseProposal {
                key: text(row, "case_key")?,
                number: row.get("number")?,
                status: text(row, "status")?,
                at: time(row.get("created_at")?),
                entries: json(row, "entries")?,
            })
        })
    }

    /// The keys of the open cases of this lead with an open proposal, at most `limit`.
    pub fn cases_with_proposals(
        &self,
        workspace: &Workspace,
        lead: &Agent,
        limit: u32,
    ) -> Result<Vec<Case>> {
        let sql = "SELECT c.* FROM case_log c INDEXED BY case_lead \
             WHERE c.workspace = ?1 AND c.lead = ?2 AND c.status = 'open' \
             AND EXISTS (SELECT 1 FROM case_proposal p WHERE p.workspace = c.workspace \
                 AND p.case_key = c.key AND p.status = ?3) ORDER BY c.key LIMIT ?4";
        let params = (workspace.as_str(), lead.as_str(), ProposalStatus::Open.name(), limit);
        let unseen = self.unseen("whether there is a proposal is no secret in a workspace");
        unseen.all(sql, params, case::from_row)
    }

    /// Stores a proposal, new or changed.
    pub fn put_proposal(&mut self, workspace: &Workspace, proposal: &CaseProposal) -> Result<()> {
        self.unseen(OWN_DERIVED).execute(
            "INSERT OR REPLACE INTO case_proposal \
             (workspace, case_key, number, status, created_at, entries) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (
                workspace.as_str(),
                proposal.key.as_str(),
                proposal.number,
                proposal.status.name(),
                proposal.at.as_millisecond(),
                encode_json(&proposal.entries)?,
            ),
        )?;
        Ok(())
    }

    /// Removes a proposal.
    pub fn drop_proposal(
        &mut self,
        workspace: &Workspace,
        case: &CaseKey,
        number: u64,
    ) -> Result<()> {
        self.unseen(OWN_DERIVED).execute(
            "DELETE FROM case_proposal WHERE workspace = ?1 AND case_key = ?2 AND number = ?3",
            (workspace.as_str(), case.as_str(), number),
        )?;
        Ok(())
    }

    /// Removes the proposals that a memory is a source of.
    pub fn drop_proposals_of(&mut self, workspace: &Workspace, memory: MemoryId) -> Result<()> {
        self.unseen(OWN_DERIVED).execute(
            "DELETE FROM case_proposal WHERE workspace = ?1 AND instr(entries, ?2) > 0",
            (workspace.as_str(), memory.to_string()),
        )?;
        Ok(())
    }
}
