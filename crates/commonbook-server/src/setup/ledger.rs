//! The ledger: what was set up for which client, by which it is taken back. `setup.json` in the home.

use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::UndoRecord;
use super::clients::{SetupClient, SetupOptions};
use crate::atomic::{self, StagedFile};

/// What was set up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SetupLedger {
    /// Each client that was.
    pub(crate) clients: Vec<InstalledClient>,
}

/// One client that was set up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstalledClient {
    /// Which one.
    pub(crate) client: SetupClient,
    /// The folder that its files are in: the user's home, or a project's.
    pub(crate) root: PathBuf,
    /// What was chosen.
    pub(crate) chosen: SetupOptions,
    /// What was written.
    pub(crate) files: Vec<InstalledFile>,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstalledFile {
    /// The file.
    pub(crate) path: PathBuf,
    /// By what it is taken back.
    pub(crate) record: UndoRecord,
    /// The folders that were made for it, the outermost first.
    pub(crate) folders: Vec<PathBuf>,
}

impl SetupLedger {
    /// The ledger of this home; an empty one where nothing was set up.
    ///
    /// # Errors
    /// As [`atomic::read`], and `conflict` where it cannot be understood.
    pub(crate) fn read(home: &Path) -> Result<Self> {
        let path = ledger_path(home);
        let Some(text) = atomic::read(&path)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|error| {
            Error::conflict(format!("{} is damaged: {error}", path.display()))
                .hint("Mend it, or move it away; then what is taken out is found by its names.")
        })
    }

    /// Keeps it.
    ///
    /// # Errors
    /// `unavailable` where it cannot be written.
    pub(crate) fn write(&self, home: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(|error| {
            Error::conflict("what was set up cannot be written down").with_cause(error)
        })?;
        StagedFile::write(&ledger_path(home), &text)?.replace_target()
    }

    /// What was set up for a client in this folder.
    pub(crate) fn of(&self, client: SetupClient, root: &Path) -> Option<&InstalledClient> {
        self.clients.iter().find(|it| it.client == client && it.root == root)
    }

    /// The same with another word about a client in this folder, or none.
    pub(crate) fn with_client(
        mut self,
        client: SetupClient,
        root: &Path,
        now: Option<InstalledClient>,
    ) -> Self {
        self.clients.retain(|it| it.client != client || it.root != root);
        self.clients.extend(now);
        self
    }
}

fn ledger_path(home: &Path) -> PathBuf {
    home.join("setup.json")
}
