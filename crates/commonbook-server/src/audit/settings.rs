//! The section `audit` of config.json: where the monthly files are.

use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, Result};
use serde::Deserialize;

/// The section `audit` of config.json.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditSettings {
    /// The folder of the monthly files, below the home or absolute; no files are written without it.
    folder: Option<PathBuf>,
}

impl AuditSettings {
    /// Succeeds if the folder has a name.
    ///
    /// # Errors
    /// `invalid` for an empty path, and for one that leads out of the home.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let climbs = folder.components().any(|part| part == std::path::Component::ParentDir);
        if folder.as_os_str().is_empty() || climbs {
            let message = "expected a folder below the home, or an absolute path without `..`";
            return Err(Error::invalid("folder", message));
        }
        Ok(())
    }

    /// The folder of the files of this home.
    pub(crate) fn folder(&self, home: &Path) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| home.join(folder))
    }
}
