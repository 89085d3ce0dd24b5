//! The SQL of the versions of standing memory files.

use super::Tx;
use super::driver::SqlRow;
use super::row::{optional_text, text, time};
use crate::base::error::Result;
use crate::base::hash::sha256;
use crate::model::agent::Agent;
use crate::model::standing::{StandingKey, StandingVersion};

/// The rows of versions. They belong to the home, as tokens do: no file is in a workspace.
impl Tx<'_> {
    /// At most `limit` versions of a file, newest first.
    pub fn standing_versions(&self, key: &StandingKey, limit: u32) -> Result<Vec<StandingVersion>> {
        let sql = "SELECT version, at, agent, action, bytes, sha256 FROM standing_version \
                   WHERE project = ?1 AND role = ?2 ORDER BY version DESC LIMIT ?3";
        self.query_all(sql, (&key.project, &key.role, limit), from_row)
    }

    /// The newest version of each file of a project, or of the home if it is empty, by role.
    pub fn newest_standing_versions(
        &self,
        project: &str,
    ) -> Result<Vec<(String, StandingVersion)>> {
        let sql = "SELECT role, version, at, agent, action, bytes, sha256 FROM standing_version v \
                   WHERE project = ?1 AND version = (SELECT max(version) FROM standing_version w \
                        WHERE w.project = v.project AND w.role = v.role) ORDER BY role";
        self.query_all(sql, [project], |row| Ok((row.get("role")?, from_row(row)?)))
    }

    /// The folders of the projects whose files have versions.
    pub fn standing_projects(&self) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT project FROM standing_version WHERE project <> '' \
                   ORDER BY project";
        self.query_all(sql, (), |row| row.get(0))
    }

    /// The text of a version.
    pub fn standing_text(&self, key: &StandingKey, version: u64) -> Result<Option<String>> {
        let sql = "SELECT text FROM standing_version \
                   WHERE project = ?1 AND role = ?2 AND version = ?3";
        self.query_one(sql, (&key.project, &key.role, version), |row| row.get(0))
    }

    /// Stores a version, and drops the oldest of its file: those beyond the newest `kept`, and those
    /// that have more than `bytes` together with all newer ones. The newest always stays.
    pub fn put_standing_version(
        &mut self,
        key: &StandingKey,
        version: &StandingVersion,
        text: &str,
        kept: u32,
        bytes: u64,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO standing_version (project, role, version, at, agent, action, bytes, \
             sha256, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                &key.project,
                &key.role,
                version.version,
                version.at.as_millisecond(),
                version.by.as_ref().map(Agent::as_str),
                version.action.name(),
                version.bytes,
                &version.sha256,
                text,
            ),
        )?;
        let old = "DELETE FROM standing_version WHERE project = ?1 AND role = ?2 AND version IN \
                   (SELECT version FROM (SELECT version, \
                        row_number() OVER newest AS place, sum(bytes) OVER newest AS total \
                    FROM standing_version WHERE project = ?1 AND role = ?2 \
                    WINDOW newest AS (ORDER BY version DESC)) v \
                    WHERE place > 1 AND (place > ?3 OR total > ?4))";
        self.execute(old, (&key.project, &key.role, kept, bytes))?;
        Ok(())
    }

    /// Replaces the text of a version.
    pub fn replace_standing_text(
        &mut self,
        key: &StandingKey,
        version: u64,
        text: &str,
    ) -> Result<()> {
        let sql = "UPDATE standing_version SET bytes = ?4, sha256 = ?5, text = ?6 \
                   WHERE project = ?1 AND role = ?2 AND version = ?3";
        let hash = sha256(text);
        self.execute(sql, (&key.project, &key.role, version, text.len() as u64, &hash, text))?;
        Ok(())
    }

    /// Removes a version whose file could not be written.
    pub fn remove_standing_version(&mut self, key: &StandingKey, version: u64) -> Result<()> {
        let sql = "DELETE FROM standing_version \
                   WHERE project = ?1 AND role = ?2 AND version = ?3";
        self.execute(sql, (&key.project, &key.role, version))?;
        Ok(())
    }
}

fn from_row(row: &SqlRow<'_>) -> Result<StandingVersion> {
    Ok(StandingVersion {
        version: row.get("version")?,
        at: time(row.get("at")?),
        by: optional_text(row, "agent")?,
        action: text(row, "action")?,
        bytes: row.get("bytes")?,
        sha256: row.get("sha256")?,
    })
}
