//! The SQL of read marks.

use jiff::Timestamp;

use super::Tx;
use crate::base::error::Result;
use crate::model::agent::Agent;
use crate::model::case::CaseKey;
use crate::model::workspace::Workspace;

/// The rows of read marks: one per agent and case, and one per agent for the journal.
impl Tx<'_> {
    /// How far this agent has read this case or the journal; 0 if it never has.
    pub fn cursor(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        case: Option<&CaseKey>,
    ) -> Result<u64> {
        let sql =
            "SELECT position FROM cursor WHERE workspace = ?1 AND agent = ?2 AND case_key = ?3";
        let params = [workspace.as_str(), agent.as_str(), case_column(case)];
        Ok(self.query_one(sql, params, |row| row.get(0))?.unwrap_or(0))
    }

    /// Records that this agent has read up to a position; a mark never moves back.
    pub fn put_cursor(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        case: Option<&CaseKey>,
        position: u64,
        at: Timestamp,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO cursor (workspace, agent, case_key, position, at) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (workspace, agent, case_key) DO UPDATE SET \
                 position = excluded.position, at = excluded.at \
             WHERE excluded.position > cursor.position",
            (workspace.as_str(), agent.as_str(), case_column(case), position, at.as_millisecond()),
        )?;
        Ok(())
    }
}

/// The value of the case column; empty for the journal.
fn case_column(case: Option<&CaseKey>) -> &str {
    case.map_or("", CaseKey::as_str)
}
