//! The vaults that this home has written, in `vaults.json`: forgetting removes what they hold too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::workspace::Workspace;
use serde::{Deserialize, Serialize};

use crate::atomic;

/// The name of the file in the home.
const FILE_NAME: &str = "vaults.json";

/// The vaults of a home by their folders.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct VaultRegistry {
    /// Each with its workspace.
    pub(crate) vaults: BTreeMap<PathBuf, Workspace>,
}

impl VaultRegistry {
    /// The vaults of a home. A damaged file counts as empty.
    pub(crate) fn read(home: &Path) -> Self {
        let text = std::fs::read_to_string(home.join(FILE_NAME)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Adds a vault; those whose folders are gone are left out.
    ///
    /// # Errors
    /// `unavailable` if the file cannot be written.
    pub(crate) fn add(home: &Path, folder: &Path, workspace: &Workspace) -> Result<()> {
        let mut registry = Self::read(home);
        registry.vaults.retain(|folder, _| folder.is_dir());
        registry.vaults.insert(folder.to_owned(), workspace.clone());
        let text = serde_json::to_string_pretty(&registry).map_err(|error| {
            Error::new(ErrorKind::Internal, "the list of vaults is no JSON").with_cause(error)
        })?;
        atomic::create_folders(home)?;
        atomic::StagedFile::write(&home.join(FILE_NAME), &format!("{text}\n"))?.replace_target()
    }
}
