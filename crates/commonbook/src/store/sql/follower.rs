//! The SQL of followers: how far derived rows have come in each journal.

use std::collections::BTreeSet;

use super::Tx;
use super::driver::SqlRow;
use super::row::{encode_json, text};
use crate::base::error::Result;
use crate::model::workspace::Workspace;

/// The journals that a follower looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalScope {
    /// Those of all workspaces.
    All,
    /// Those of these workspaces.
    Of(BTreeSet<Workspace>),
}

/// How far a follower has come in a journal that has more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLag {
    /// The workspace of the journal.
    pub workspace: Workspace,
    /// The position that the follower has reached; 0 if it has not begun.
    pub position: u64,
    /// The position of the last event.
    pub end: u64,
}

impl JournalScope {
    /// The scope of no journal.
    #[must_use]
    pub const fn none() -> Self {
        Self::Of(BTreeSet::new())
    }

    /// Whether it has no journal.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Of(workspaces) if workspaces.is_empty())
    }
}

impl JournalLag {
    /// Events that the follower has still to read.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.end.saturating_sub(self.position)
    }
}

impl Tx<'_> {
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
