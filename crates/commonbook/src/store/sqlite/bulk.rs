//! The SQL of acts on many memories.

use jiff::Timestamp;

use super::SqliteTransaction;
use super::row::{text, time};
use crate::base::error::Result;
use crate::base::id::ActId;
use crate::model::bulk::{Act, DoneTo};
use crate::model::workspace::Workspace;
use crate::store::ActRows;

impl ActRows for SqliteTransaction<'_> {
    fn act(&self, workspace: &Workspace, id: ActId) -> Result<Option<Act>> {
        let sql = "SELECT * FROM act WHERE workspace = ?1 AND id = ?2";
        self.one(sql, (workspace.as_str(), id.to_string()), |row| {
            Ok(Act {
                id: text(row, "id")?,
                workspace: text(row, "workspace")?,
                kind: text(row, "kind")?,
                agent: text(row, "agent")?,
                at: time(row.get("at")?),
            })
        })
    }

    fn put_act(&mut self, act: &Act) -> Result<()> {
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

    fn add_to_act(&mut self, act: &Act, done: &DoneTo) -> Result<()> {
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

    fn take_from_act(&mut self, act: &Act, limit: u32) -> Result<Vec<DoneTo>> {
        let (workspace, id) = (act.workspace.as_str(), act.id.to_string());
        let taken = self.all(
            "SELECT memory, owner, revision FROM act_memory WHERE workspace = ?1 AND act = ?2 \
             ORDER BY memory LIMIT ?3",
            (workspace, &id, limit),
            |row| {
                let (memory, owner) = (text(row, "memory")?, text(row, "owner")?);
                Ok(DoneTo { memory, owner, revision: row.get("revision")? })
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

    fn drop_acts(&mut self, before: Timestamp) -> Result<()> {
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
