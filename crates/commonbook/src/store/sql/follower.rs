//! The SQL of followers: how far derived rows have come in each journal.

use super::SqlTransaction;
use crate::base::error::Result;
use crate::model::workspace::Workspace;

impl SqlTransaction<'_> {
    /// The position in a journal that a follower has reached with this revision of its rules; 0 if
    /// it has not begun.
    pub(super) fn follower_position(
        &self,
        name: &str,
        workspace: &Workspace,
        rules: u32,
    ) -> Result<u64> {
        let sql = "SELECT sequence FROM follower WHERE workspace = ?1 AND name = ?2 AND rules = ?3";
        let place = self.query_one(sql, (workspace.as_str(), name, rules), |row| row.get(0))?;
        Ok(place.unwrap_or(0))
    }

    /// Records the position that it has reached.
    pub(super) fn set_follower_position(
        &self,
        name: &str,
        workspace: &Workspace,
        rules: u32,
        place: u64,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO follower (workspace, name, rules, sequence) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (workspace, name) DO UPDATE \
             SET rules = excluded.rules, sequence = excluded.sequence",
            (workspace.as_str(), name, rules, place),
        )?;
        Ok(())
    }
}
