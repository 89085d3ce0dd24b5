//! The vaults that this home made or adopted, in `vaults.json` of the home: no other folder is used as one, and
//! what is written into a vault is said here, not in the vault.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_lock::FileLock;
use commonbook::base::file_system::FileIdentity;
use commonbook::model::workspace::Workspace;
use commonbook_vault::settings::VaultSettings;
use commonbook_vault::state::VaultState;
use commonbook_vault::writer::WriterKey;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::system::atomic;

/// The name of the file in the home.
const FILE_NAME: &str = "vaults.json";

/// Vaults without their folders that are remembered.
const GONE_MAX: usize = 32;

/// What a folder is to the file system: it goes with the folder where that is moved, and no copy has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FolderIdentity {
    device: u64,
    inode: u64,
    /// An inode is used again, but not with the same time.
    created_at: Timestamp,
}

impl FolderIdentity {
    /// The identity of a folder, where the file system tells it.
    fn of(folder: &Path) -> Option<Self> {
        let metadata = folder.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
        let created_at = Timestamp::try_from(metadata.created().ok()?).ok()?;
        let FileIdentity { device, inode, .. } = FileIdentity::of(&metadata)?;
        Some(Self { device, inode, created_at })
    }
}

/// A vault that this home uses.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AdoptedVault {
    /// What it is of.
    #[serde(flatten)]
    pub(crate) settings: VaultSettings,
    /// The homes whose keys a person accepted for it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) writers: BTreeSet<WriterKey>,
    /// The other homes that signed files of it, as far as passes have met them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) waiting: BTreeSet<WriterKey>,
    /// Its folder, by which it is known where it was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<FolderIdentity>,
}

impl AdoptedVault {
    /// A vault with these settings, of which no other home is known.
    pub(crate) fn new(settings: VaultSettings) -> Self {
        Self { settings, writers: BTreeSet::new(), waiting: BTreeSet::new(), folder: None }
    }

    /// The vault with these settings.
    pub(crate) fn with_settings(self, settings: VaultSettings) -> Self {
        Self { settings, ..self }
    }
}

/// The vaults of a home by their folders.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct VaultRegistry {
    vaults: BTreeMap<PathBuf, AdoptedVault>,
    /// The vaults that came with projects, which this home does not use, and their workspaces.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    offered: BTreeMap<PathBuf, Workspace>,
    /// The vaults whose folders are gone, which may lie elsewhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    gone: BTreeMap<PathBuf, AdoptedVault>,
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

    /// The vaults of a home, after the one in this folder was found again: this home knows the folder itself, and it was
    /// moved. A copy is another folder, whatever lies in it.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub(crate) fn following(home: &Path, folder: &Path) -> Result<Self> {
        let registry = Self::read(home)?;
        let Some(identity) = FolderIdentity::of(folder) else { return Ok(registry) };
        let known = match registry.find(folder) {
            Some(vault) if vault.folder.as_ref() == Some(&identity) => return Ok(registry),
            Some(vault) => Some((folder.to_owned(), vault.clone())),
            None => registry
                .vaults
                .iter()
                .chain(&registry.gone)
                .find(|(old, vault)| vault.folder.as_ref() == Some(&identity) && is_gone(old))
                .map(|(old, vault)| (old.clone(), vault.clone())),
        };
        let Some((old, vault)) = known else { return Ok(registry) };
        if old != folder {
            VaultState::follow(home, &old, folder)?;
        }
        Self::set(home, folder, vault)?;
        Self::read(home)
    }

    /// The folders in which vaults of a workspace lay, and that are gone.
    pub(crate) fn gone_of(&self, workspace: &Workspace) -> impl Iterator<Item = &Path> {
        let all = self.vaults.iter().filter(|(folder, _)| is_gone(folder)).chain(&self.gone);
        let own = all.filter(move |(_, vault)| vault.settings.workspace == *workspace);
        own.map(|(folder, _)| folder.as_path())
    }

    /// The vaults of a workspace by their folders.
    pub(crate) fn vaults_of(
        &self,
        workspace: &Workspace,
    ) -> impl Iterator<Item = (&Path, &AdoptedVault)> {
        let own =
            self.vaults.iter().filter(move |(_, vault)| vault.settings.workspace == *workspace);
        own.map(|(folder, vault)| (folder.as_path(), vault))
    }

    /// The folders of the vaults that projects of a workspace bring, and that this home does not use.
    pub(crate) fn offered_of(&self, workspace: &Workspace) -> impl Iterator<Item = &Path> {
        let own = self.offered.iter().filter(move |(_, of)| *of == workspace);
        own.map(|(folder, _)| folder.as_path())
    }

    /// Uses a vault that another home made, of this workspace, and believes the homes with these keys.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub(crate) fn accept(
        home: &Path,
        folder: &Path,
        workspace: &Workspace,
        writers: &[WriterKey],
    ) -> Result<AdoptedVault> {
        let _lock = lock(home)?;
        let new = || AdoptedVault::new(VaultSettings::new(workspace.clone()));
        let mut vault = Self::read(home)?.find(folder).cloned().unwrap_or_else(new);
        vault.writers.extend(writers);
        vault.waiting.retain(|key| !writers.contains(key));
        Self::put(home, folder, vault.clone())?;
        Ok(vault)
    }

    /// The same of a vault that this home knows: it uses it, or a project brings it.
    ///
    /// # Errors
    /// `not_found` for any other folder, and for a vault of another workspace; as [`Self::set`].
    pub(crate) fn accept_known(
        home: &Path,
        folder: &Path,
        workspace: &Workspace,
        writers: &[WriterKey],
    ) -> Result<AdoptedVault> {
        let registry = Self::read(home)?;
        let mut known = registry.offered_of(workspace);
        let is_used = registry.vaults_of(workspace).any(|(used, _)| used == folder);
        if !is_used && !known.any(|offered| offered == folder) {
            let folder = folder.display();
            return Err(Error::not_found(format!("this home knows no vault {folder}"))
                .with_field("folder")
                .hint(format!("Run `commonbook vault accept {folder}`.")));
        }
        Self::accept(home, folder, workspace, writers)
    }

    /// Notes, for the pages, a vault that a project of this workspace brings, unless this home uses it.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub(crate) fn note_offer(home: &Path, folder: &Path, workspace: &Workspace) -> Result<()> {
        let _lock = lock(home)?;
        let mut registry = Self::read(home)?;
        let is_known = registry.offered.get(folder) == Some(workspace);
        if is_known || registry.find(folder).is_some() {
            return Ok(());
        }
        registry.offered.insert(folder.to_owned(), workspace.clone());
        registry.write(home)
    }

    /// Notes, for the pages, other homes that signed files of a vault, those that a person accepted left
    /// out.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub(crate) fn note_writers(
        home: &Path,
        folder: &Path,
        writers: impl IntoIterator<Item = WriterKey>,
    ) -> Result<()> {
        let _lock = lock(home)?;
        let mut registry = Self::read(home)?;
        let Some(vault) = registry.vaults.get_mut(folder) else { return Ok(()) };
        let before = vault.waiting.len();
        let writers = writers.into_iter().filter(|key| !vault.writers.contains(key));
        vault.waiting.extend(writers);
        if vault.waiting.len() == before { Ok(()) } else { registry.write(home) }
    }

    /// Sets what a vault is.
    ///
    /// # Errors
    /// As [`Self::read`]; `unavailable` if the file cannot be written.
    pub(crate) fn set(home: &Path, folder: &Path, vault: AdoptedVault) -> Result<()> {
        let _lock = lock(home)?;
        Self::put(home, folder, vault)
    }

    /// The same below the lock.
    fn put(home: &Path, folder: &Path, vault: AdoptedVault) -> Result<()> {
        let mut registry = Self::read(home)?;
        registry.offered.remove(folder);
        registry.gone.remove(folder);
        let identity = FolderIdentity::of(folder);
        if identity.is_some() {
            // The same folder under the name that it had.
            let is_elsewhere = |_: &PathBuf, vault: &mut AdoptedVault| vault.folder != identity;
            registry.vaults.retain(is_elsewhere);
            registry.gone.retain(is_elsewhere);
        }
        registry.vaults.insert(folder.to_owned(), AdoptedVault { folder: identity, ..vault });
        registry.write(home)
    }

    /// Writes the registry; vaults whose folders are gone are put aside.
    fn write(mut self, home: &Path) -> Result<()> {
        let gone = self.vaults.extract_if(.., |folder, _| is_gone(folder));
        self.gone.extend(gone.filter(|(_, vault)| vault.folder.is_some()));
        while self.gone.len() > GONE_MAX {
            self.gone.pop_first();
        }
        self.offered.retain(|folder, _| !is_gone(folder));
        let text = serde_json::to_string_pretty(&self).map_err(|error| {
            Error::new(ErrorKind::Internal, "the list of vaults is no JSON").with_cause(error)
        })?;
        atomic::create_folders(home)?;
        atomic::StagedFile::write(&home.join(FILE_NAME), &format!("{text}\n"))?.replace_target()
    }
}

/// Waits until no other process changes the registry.
fn lock(home: &Path) -> Result<FileLock> {
    atomic::create_folders(home)?;
    FileLock::wait(&home.join("vaults.lock")).map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("cannot lock the list of vaults: {error}"))
            .hint("Check the permissions of the home folder.")
            .with_cause(error)
    })
}

/// Whether a folder is gone. A server may read no project, so that its vaults seem gone: only their absence counts.
fn is_gone(folder: &Path) -> bool {
    folder.symlink_metadata().is_err_and(|error| error.kind() == IoErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digit: &str) -> WriterKey {
        use commonbook::base::home_key::HomeKey;
        use commonbook_vault::writer::VaultWriter;
        VaultWriter::of_home(&HomeKey::from_hex(&digit.repeat(64)).unwrap()).key()
    }

    #[test]
    fn a_person_accepts_what_this_home_knows_of_the_workspace_alone() {
        let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (home, folder) = (home.path(), folder.path());
        let (api, web): (Workspace, Workspace) = ("api".parse().unwrap(), "web".parse().unwrap());
        let accept = |of: &Workspace, writers: &[WriterKey]| {
            VaultRegistry::accept_known(home, folder, of, writers).map_err(|error| error.kind)
        };
        assert_eq!(accept(&api, &[]).unwrap_err(), ErrorKind::NotFound, "an unknown folder");
        VaultRegistry::note_offer(home, folder, &api).unwrap();
        assert_eq!(accept(&web, &[]).unwrap_err(), ErrorKind::NotFound, "another workspace");
        assert!(VaultRegistry::read(home).unwrap().find(folder).is_none(), "an offer is no use");
        let vault = accept(&api, &[]).unwrap();
        assert!(vault.writers.is_empty() && vault.settings.workspace == api);
        VaultRegistry::note_offer(home, folder, &api).unwrap();
        VaultRegistry::note_writers(home, folder, [key("a"), key("b")]).unwrap();
        let read = || VaultRegistry::read(home).unwrap();
        assert_eq!(read().offered_of(&api).count(), 0, "it is used");
        assert_eq!(read().vault(folder).unwrap().waiting, BTreeSet::from([key("a"), key("b")]));
        assert_eq!(accept(&web, &[key("a")]).unwrap_err(), ErrorKind::NotFound);
        accept(&api, &[key("a")]).unwrap();
        VaultRegistry::note_writers(home, folder, [key("a")]).unwrap();
        let vault = read().vault(folder).unwrap().clone();
        assert_eq!(vault.writers, BTreeSet::from([key("a")]));
        assert_eq!(vault.waiting, BTreeSet::from([key("b")]));
    }
}
