//! The contract of a store for the versions of standing memory files.

use crate::base::error::Result;
use crate::model::standing::{StandingKey, StandingVersion};

/// The rows of versions. They belong to the home, as tokens do: no file is in a workspace.
pub trait StandingRows {
    /// At most `limit` versions of a file, newest first.
    fn standing_versions(&self, key: &StandingKey, limit: u32) -> Result<Vec<StandingVersion>>;

    /// The newest version of each file of a project, or of the home if it is empty, by role.
    fn newest_standing_versions(&self, project: &str) -> Result<Vec<(String, StandingVersion)>>;

    /// The folders of the projects whose files have versions.
    fn standing_projects(&self) -> Result<Vec<String>>;

    /// The text of a version.
    fn standing_text(&self, key: &StandingKey, version: u64) -> Result<Option<String>>;

    /// Stores a version, and drops the oldest of its file: those beyond the newest `kept`, and those
    /// that have more than `bytes` together with all newer ones. The newest always stays.
    fn put_standing_version(
        &mut self,
        key: &StandingKey,
        version: &StandingVersion,
        text: &str,
        kept: u32,
        bytes: u64,
    ) -> Result<()>;

    /// Replaces the text of a version.
    fn replace_standing_text(&mut self, key: &StandingKey, version: u64, text: &str) -> Result<()>;

    /// Removes a version whose file could not be written.
    fn remove_standing_version(&mut self, key: &StandingKey, version: u64) -> Result<()>;
}
