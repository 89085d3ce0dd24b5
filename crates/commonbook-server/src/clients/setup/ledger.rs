//! The ledger: the record of each setup, by which an undo removes it. `setup.json` in the home.

use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::UndoRecord;
use super::clients::{SetupClient, SetupOptions};
use crate::system::atomic::{self, StagedFile};

/// The record of all setups.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SetupLedger {
    /// The clients that are set up.
    pub(crate) clients: Vec<InstalledClient>,
}

/// A client that is set up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstalledClient {
    /// The client.
    pub(crate) client: SetupClient,
    /// The folder of its files: the user's home, or a project.
    pub(crate) root: PathBuf,
    /// The options of the setup.
    pub(crate) chosen: SetupOptions,
    /// The files that were written.
    pub(crate) files: Vec<InstalledFile>,
}

/// A file that setup has written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstalledFile {
    /// Its path.
    pub(crate) path: PathBuf,
    /// The record for an undo.
    pub(crate) record: UndoRecord,
    /// The folders that were created for it, the outermost first.
    pub(crate) folders: Vec<PathBuf>,
}

impl SetupLedger {
    /// The ledger of this home; empty if no client is set up.
    ///
    /// # Errors
    /// As [`atomic::read`], and `conflict` if it is damaged.
    pub(crate) fn read(home: &Path) -> Result<Self> {
        let path = ledger_path(home);
        let Some(text) = atomic::read(&path)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|error| {
            Error::conflict(format!("{} is damaged: {error}", path.display())).hint(
                "Repair the file, or move it away: then an undo finds our parts by their names.",
            )
        })
    }

    /// Writes the ledger.
    ///
    /// # Errors
    /// `unavailable` if it cannot be written.
    pub(crate) fn write(&self, home: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::conflict("cannot encode the ledger").with_cause(error))?;
        StagedFile::write(&ledger_path(home), &text)?.replace_target()
    }

    /// The setup of a client in this folder.
    pub(crate) fn of(&self, client: SetupClient, root: &Path) -> Option<&InstalledClient> {
        self.clients.iter().find(|installed| installed.client == client && installed.root == root)
    }

    /// Replaces or removes the setup of a client in this folder.
    pub(crate) fn with_client(
        mut self,
        client: SetupClient,
        root: &Path,
        installed: Option<InstalledClient>,
    ) -> Self {
        self.clients.retain(|old| old.client != client || old.root != root);
        self.clients.extend(installed);
        self
    }
}

fn ledger_path(home: &Path) -> PathBuf {
    home.join("setup.json")
}
