//! The SQL of followers: how far derived rows have come in each journal.

use super::SqlTransaction;
use super::driver::SqlRow;
use super::row::{encode_json, text};
use crate::base::error::Result;
use crate::model::workspace::Workspace;
use crate::store::{JournalLag, JournalScope};

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

    /// The journals in this scope that are ahead of a follower with this revision of its rules, by
    /// workspace.
    pub(super) fn follower_lags(
        &self,
        name: &str,
        scope: &JournalScope,
        rules: u32,
    ) -> Result<Vec<JournalLag>> {
        let lags = |scope: &str| {
            format!(
                "SELECT w.name, ifnull(f.sequence, 0), w.sequence FROM workspace w \
                 LEFT JOIN follower f ON f.workspace = w.name AND f.name = ?1 AND f.rules = ?2 \
                 WHERE {scope} AND w.sequence > ifnull(f.sequence, 0) ORDER BY w.name"
            )
        };
        let lag = |row: &SqlRow<'_>| {
            Ok(JournalLag { workspace: text(row, 0)?, position: row.get(1)?, end: row.get(2)? })
        };
        match scope {
            JournalScope::All => self.query_all(&lags("TRUE"), (name, rules), lag),
            JournalScope::Of(workspaces) => {
                let sql = lags("w.name IN (SELECT value FROM json_each(?3))");
                self.query_all(&sql, (name, rules, encode_json(workspaces)?), lag)
            }
        }
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
