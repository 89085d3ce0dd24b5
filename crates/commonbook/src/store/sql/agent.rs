//! The SQL of the agent registry.

use jiff::Timestamp;

use super::Tx;
use super::row::{text, time};
use crate::base::error::Result;
use crate::model::access::Sight;
use crate::model::agent::{Agent, AgentRecord};
use crate::model::caller::Caller;
use crate::model::workspace::Workspace;

/// The rows of the agent registry.
impl Tx<'_> {
    /// Notes that this caller was seen.
    pub fn note_agent_seen(&mut self, caller: &Caller, at: Timestamp) -> Result<()> {
        let at = at.as_millisecond();
        self.execute(
            "INSERT INTO agent (workspace, name, first_seen, last_seen, device, client) \
             VALUES (?1, ?2, ?3, ?3, ?4, ?5) \
             ON CONFLICT (workspace, name) DO UPDATE SET \
                 last_seen = max(agent.last_seen, excluded.last_seen), \
                 device = coalesce(excluded.device, agent.device), \
                 client = coalesce(excluded.client, agent.client)",
            (caller.workspace.as_str(), caller.agent.as_str(), at, &caller.device, &caller.client),
        )?;
        Ok(())
    }

    /// When this agent was last seen, if ever.
    pub fn last_seen(&self, workspace: &Workspace, agent: &Agent) -> Result<Option<Timestamp>> {
        let sql = "SELECT last_seen FROM agent WHERE workspace = ?1 AND name = ?2";
        self.query_one(sql, [workspace.as_str(), agent.as_str()], |row| Ok(time(row.get(0)?)))
    }

    /// Every agent of the workspace by name, with the number of its memories in sight.
    pub fn agents(&self, sight: &Sight, workspace: &Workspace) -> Result<Vec<AgentRecord>> {
        let seen = self.seen(sight)?;
        let seen_m = seen.of("m");
        // Grouped in the order of the index first, which spares sorting every row.
        let sql = format!(
            "WITH counted AS (SELECT m.owner AS owner, count(*) - count(m.deleted_at) AS memories \
                             FROM memory m INDEXED BY memory_counted WHERE {seen_m} GROUP BY m.audience, m.owner), \
             seen AS (SELECT owner, sum(memories) AS memories FROM counted GROUP BY owner) \
             SELECT a.*, coalesce(seen.memories, 0) AS memory_count \
             FROM agent a LEFT JOIN seen ON seen.owner = a.name \
             WHERE a.workspace = :workspace ORDER BY a.name"
        );
        let name = workspace.as_str();
        seen.all(&sql, &[(":workspace", &name)], |row| {
            Ok(AgentRecord {
                agent: text(row, "name")?,
                first_seen: time(row.get("first_seen")?),
                last_seen: time(row.get("last_seen")?),
                device: row.get("device")?,
                client: row.get("client")?,
                memory_count: row.get("memory_count")?,
            })
        })
    }

    /// The names of every agent of the workspace, last seen first.
    pub fn agent_names(&self, workspace: &Workspace) -> Result<Vec<Agent>> {
        let sql = "SELECT name FROM agent WHERE workspace = ?1 ORDER BY last_seen DESC, name";
        self.query_all(sql, [workspace.as_str()], |row| text(row, "name"))
    }

    /// The agents below this one that were seen in a workspace, last seen first.
    pub fn agents_below(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        limit: u32,
    ) -> Result<Vec<Agent>> {
        // `0` is the character after `/`.
        let (from, until) = (format!("{agent}/"), format!("{agent}0"));
        let sql = "SELECT name FROM agent WHERE workspace = ?1 AND name > ?2 AND name < ?3 \
                   ORDER BY last_seen DESC, name LIMIT ?4";
        let params = (workspace.as_str(), from, until, limit);
        self.query_all(sql, params, |row| text(row, "name"))
    }
}
