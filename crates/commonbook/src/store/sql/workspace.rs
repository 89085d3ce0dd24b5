//! The SQL of workspaces.

use super::Tx;
use super::driver::SqlRow;
use super::row::{encode_json, text};
use crate::base::error::Result;
use crate::model::event::JournalHistory;
use crate::model::workspace::Workspace;

/// The rows of workspaces.
impl Tx<'_> {
    /// Every workspace that anything was ever saved in, by name.
    pub fn workspaces(&self) -> Result<Vec<Workspace>> {
        self.query_all("SELECT name FROM workspace ORDER BY name", (), |row| text(row, "name"))
    }

    /// The history that the journals belong to.
    pub fn history(&self) -> Result<JournalHistory> {
        self.connection.history()
    }

    /// Every workspace by name, with the position of the last event of its journal.
    pub fn journals(&self) -> Result<Vec<(Workspace, u64)>> {
        let sql = "SELECT name, sequence FROM workspace ORDER BY name";
        self.query_all(sql, (), |row| Ok((text(row, "name")?, row.get("sequence")?)))
    }

    /// Those of these workspaces that anything was ever saved in, by name, each with the position of
    /// the last event of its journal. Reads the rows of no other workspace.
    pub fn journals_of(&self, workspaces: &[Workspace]) -> Result<Vec<(Workspace, u64)>> {
        let sql = "SELECT name, sequence FROM workspace \
             WHERE name IN (SELECT value FROM json_each(?1)) ORDER BY name";
        let row = |row: &SqlRow<'_>| Ok((text(row, "name")?, row.get("sequence")?));
        self.query_all(sql, [encode_json(&workspaces)?], row)
    }

    /// The position of the last event of this workspace's journal; 0 if there is none.
    pub fn journal_end(&self, workspace: &Workspace) -> Result<u64> {
        let sql = "SELECT sequence FROM workspace WHERE name = ?1";
        Ok(self.query_one(sql, [workspace.as_str()], |row| row.get(0))?.unwrap_or(0))
    }
}
