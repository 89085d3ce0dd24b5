//! The SQL of bulk operations.

use jiff::Timestamp;

use super::Tx;
use super::row::{text, time};
use crate::base::error::Result;
use crate::base::id::OperationId;
use crate::model::agent::Agent;
use crate::model::bulk::{BulkItem, BulkOperation};
use crate::model::workspace::Workspace;

/// The rows of bulk operations.
impl Tx<'_> {
    /// The bulk operation with this id.
    pub fn bulk_operation(
        &self,
        workspace: &Workspace,
        id: OperationId,
    ) -> Result<Option<BulkOperation>> {
        let sql = "SELECT * FROM act WHERE workspace = ?1 AND id = ?2";
        self.query_one(sql, (workspace.as_str(), id.to_string()), |row| {
            Ok(BulkOperation {
                id: text(row, "id")?,
                workspace: text(row, "workspace")?,
                kind: text(row, "kind")?,
                agent: text(row, "agent")?,
                at: time(row.get("at")?),
            })
        })
    }

    /// The bulk operation that this agent ran at this time, if memories of it can be put back.
    pub fn open_operation(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        at: Timestamp,
    ) -> Result<Option<OperationId>> {
        let sql = "SELECT a.id FROM act a WHERE a.workspace = ?1 AND a.agent = ?2 AND a.at = ?3 \
                   AND EXISTS (SELECT 1 FROM act_memory m WHERE m.workspace = a.workspace \
                               AND m.act = a.id) ORDER BY a.id DESC LIMIT 1";
        let params = (workspace.as_str(), agent.as_str(), at.as_millisecond());
        self.query_one(sql, params, |row| text(row, 0))
    }

    /// At most `limit` ids with this ending of bulk operations that this agent ran in this workspace.
    pub fn operation_ids_ending(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        ending: &str,
        limit: u32,
    ) -> Result<Vec<OperationId>> {
        let sql = "SELECT id FROM act WHERE workspace = ?1 AND agent = ?2 \
                   AND substr(id, -length(?3)) = ?3 ORDER BY id LIMIT ?4";
        let params = (workspace.as_str(), agent.as_str(), ending, limit);
        self.query_all(sql, params, |row| text(row, 0))
    }

    /// Stores a bulk operation; an existing one stays unchanged.
    pub fn put_bulk_operation(&mut self, act: &BulkOperation) -> Result<()> {
        self.execute(
            "INSERT OR IGNORE INTO act (workspace, id, kind, agent, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                act.workspace.as_str(),
                act.id.to_string(),
                act.kind.name(),
                act.agent.as_str(),
                act.at.as_millisecond(),
            ),
        )?;
        Ok(())
    }

    /// Records that a bulk operation changed one more memory.
    pub fn add_bulk_item(&mut self, act: &BulkOperation, done: &BulkItem) -> Result<()> {
        self.execute(
            "INSERT INTO act_memory (workspace, act, memory, owner, revision) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                act.workspace.as_str(),
                act.id.to_string(),
                done.memory.to_string(),
                done.owner.as_str(),
                done.revision,
            ),
        )?;
        Ok(())
    }

    /// Removes at most `limit` memories from a bulk operation, to undo their changes.
    pub fn take_bulk_items(&mut self, act: &BulkOperation, limit: u32) -> Result<Vec<BulkItem>> {
        let (workspace, id) = (act.workspace.as_str(), act.id.to_string());
        let taken = self.query_all(
            "SELECT memory, owner, revision FROM act_memory WHERE workspace = ?1 AND act = ?2 \
             ORDER BY memory LIMIT ?3",
            (workspace, &id, limit),
            |row| {
                let (memory, owner) = (text(row, "memory")?, text(row, "owner")?);
                Ok(BulkItem { memory, owner, revision: row.get("revision")? })
            },
        )?;
        for done in &taken {
            self.execute(
                "DELETE FROM act_memory WHERE workspace = ?1 AND act = ?2 AND memory = ?3",
                (workspace, &id, done.memory.to_string()),
            )?;
        }
        Ok(taken)
    }

    /// Drops the bulk operations from before this time, which cannot be undone then.
    pub fn drop_bulk_operations(&mut self, before: Timestamp) -> Result<()> {
        let before = [before.as_millisecond()];
        self.execute(
            "DELETE FROM act_memory WHERE EXISTS (SELECT 1 FROM act a WHERE a.at < ?1 \
             AND a.workspace = act_memory.workspace AND a.id = act_memory.act)",
            before,
        )?;
        self.execute("DELETE FROM act WHERE at < ?1", before)?;
        Ok(())
    }
}
