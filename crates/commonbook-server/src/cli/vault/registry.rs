//! The vaults that this home made or adopted, in `vaults.json` of the home: no other folder is used as one, and
//! what is written into a vault is said here, not in the vault.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::workspace::Workspace;
use commonbook_vault::settings::VaultSettings;
use commonbook_vault::writer::WriterKey;
use serde::{Deserialize, Serialize};

use crate::atomic;

/// The name of the file in the home.
const FILE_NAME: &str = "vaults.json";

/// A vault that this home uses.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AdoptedVault {
    /// What it is of.
    #[serde(flatten)]
    pub(crate) settings: VaultSettings,
    /// The homes whose keys a person accepted for it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) writers: BTreeSet<WriterKey>,
}

impl AdoptedVault {
    /// A vault with these settings, of which no other home is known.
    pub(crate) fn new(settings: VaultSettings) -> Self {
        Self { settings, writers: BTreeSet::new() }
    }
}

/// The vaults of a home by their folders.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct VaultRegistry {
    vaults: BTreeMap<PathBuf, AdoptedVault>,
}

impl VaultRegistry {
    /// The vaults of a home.
    ///
    /// # Errors
    /// `unavailable` if the file cannot be read or is damaged.
    pub(crate) fn read(home: &Path) -> Result<Self> {
        let path = home.join(FILE_NAME);
        let unreadable = |reason: String| {
            Error::new(ErrorKind::Unavailable, format!("cannot read {}: {reason}", path.display())).hint(
                "Restore the file from a backup, or remove it and run `commonbook vault accept` in each vault.",
            )
        };
        match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == IoErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(unreadable(error.to_string())),
            Ok(text) => serde_json::from_str(&text).map_err(|error| unreadable(error.to_string())),
        }
    }

    /// The vault in this folder.
    ///
    /// # Errors
    /// `forbidden` if this home has neither made nor adopted it.
    pub(crate) fn vault(&self, folder: &Path) -> Result<&AdoptedVault> {
        self.find(folder).ok_or_else(|| {
            let folder = folder.display();
            Error::new(ErrorKind::Forbidden, format!("this home has neither made nor accepted the vault {folder}"))
                .hint(format!(
                    "If you want its memories, as those of others, run `commonbook vault accept {folder}`."
                ))
        })
    }

    /// The vault in this folder, if this home uses it.
    pub(crate) fn find(&self, folder: &Path) -> Option<&AdoptedVault> {
        self.vaults.get(folder)
    }

    /// The folders of the vaults of a workspace.
    pub(crate) fn folders_of(&self, workspace: &Workspace) -> impl Iterator<Item = &Path> {
        let own =
            self.vaults.iter().filter(move |(_, vault)| vault.settings.workspace == *workspace);
        own.map(|(folder, _)| folder.as_path())
    }

    /// Sets what a vault is; those whose folders are gone are left out.
    ///
    /// # Errors
    /// As [`Self::read`]; `unavailable` if the file cannot be written.
    pub(crate) fn set(home: &Path, folder: &Path, vault: AdoptedVault) -> Result<()> {
        let mut registry = Self::read(home)?;
        registry.vaults.retain(|folder, _| folder.is_dir());
        registry.vaults.insert(folder.to_owned(), vault);
        let text = serde_json::to_string_pretty(&registry).map_err(|error| {
            Error::new(ErrorKind::Internal, "the list of vaults is no JSON").with_cause(error)
        })?;
        atomic::create_folders(home)?;
        atomic::StagedFile::write(&home.join(FILE_NAME), &format!("{text}\n"))?.replace_target()
    }
}
