//! The SQL of answers kept under idempotency keys.

use jiff::Timestamp;

use super::Tx;
use super::row::time;
use crate::base::error::Result;
use crate::model::agent::Agent;
use crate::model::workspace::Workspace;

/// An answer that is returned again for the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The fingerprint of the request.
    pub request_sha256: String,
    /// The answer, as JSON.
    pub answer: String,
    /// When it was returned first.
    pub at: Timestamp,
}

/// The answers stored under idempotency keys.
impl Tx<'_> {
    /// The answer stored under this key.
    pub fn kept_answer(
        &self,
        workspace: &Workspace,
        agent: &Agent,
        key: &str,
    ) -> Result<Option<IdempotencyRecord>> {
        self.query_one(
            "SELECT request_sha256, answer, at FROM answer \
             WHERE workspace = ?1 AND agent = ?2 AND key = ?3",
            (workspace.as_str(), agent.as_str(), key),
            |row| {
                Ok(IdempotencyRecord {
                    request_sha256: row.get(0)?,
                    answer: row.get(1)?,
                    at: time(row.get(2)?),
                })
            },
        )
    }

    /// Stores an answer under this key.
    pub fn keep_answer(
        &mut self,
        workspace: &Workspace,
        agent: &Agent,
        key: &str,
        answer: &IdempotencyRecord,
    ) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO answer (workspace, agent, key, request_sha256, answer, at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (
                workspace.as_str(),
                agent.as_str(),
                key,
                &answer.request_sha256,
                &answer.answer,
                answer.at.as_millisecond(),
            ),
        )?;
        Ok(())
    }

    /// Drops the answers stored before this time.
    pub fn drop_answers(&mut self, before: Timestamp) -> Result<()> {
        self.execute("DELETE FROM answer WHERE at < ?1", [before.as_millisecond()])?;
        Ok(())
    }
}
