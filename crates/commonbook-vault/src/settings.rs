//! What a vault is of (`vault.json`, which lies in it). It says nothing that is believed: which vaults a
//! home uses, of which workspaces, and what it writes into them, lies in the home.

use std::path::Path;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::workspace::Workspace;
use serde::{Deserialize, Serialize};

use crate::folder::VaultFolder;
use crate::names::{LOCAL, PRIVATE, QUARANTINE, SETTINGS_FILE};

/// The format of the files.
pub const VAULT_FORMAT: u32 = 1;

/// The file that names what git ignores.
const IGNORE_FILE: &str = ".gitignore";

/// The folders that no repository gets: those of one machine, and of memories that others may not read.
pub const UNSHARED: [&str; 3] = [LOCAL, PRIVATE, QUARANTINE];

/// How git merges the files: the driver is set where `vault sync --git` merges.
const ATTRIBUTES: &str =
    "*.md merge=commonbook\n*.json merge=commonbook\n*.jsonl merge=commonbook\n";

/// What a vault is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VaultSettings {
    /// The format of the files.
    pub format: u32,
    /// The workspace.
    pub workspace: Workspace,
    /// Whether it holds the private memories of the person too.
    #[serde(default)]
    pub private: bool,
    /// Whether it holds the earlier revisions of memories.
    #[serde(default)]
    pub history: bool,
}

impl VaultSettings {
    /// The settings of a new vault.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        Self { format: VAULT_FORMAT, workspace, private: false, history: false }
    }

    /// Reads the settings of a vault.
    ///
    /// # Errors
    /// `not_found` if the folder is no vault; `invalid` if a newer version wrote it, or git's own files lie in it.
    pub fn read(folder: &VaultFolder) -> Result<Self> {
        refuse_git_directory(folder.root())?;
        let root = folder.root().display();
        let Some(text) = folder.read(SETTINGS_FILE)? else {
            return Err(Error::not_found(format!("{root} is no vault: it has no {SETTINGS_FILE}"))
                .hint(format!("Make one: `commonbook vault init {root}`.")));
        };
        let settings: Self = serde_json::from_str(&text).map_err(|error| {
            Error::invalid(SETTINGS_FILE, format!("{root}/{SETTINGS_FILE}: {error}"))
                .hint("Restore the file, or make the vault again: `commonbook vault init`.")
        })?;
        if settings.format > VAULT_FORMAT {
            let message =
                format!("the vault has format {}; expected {VAULT_FORMAT}", settings.format);
            return Err(
                Error::invalid("format", message).hint("Use a newer version of commonbook.")
            );
        }
        Ok(settings)
    }

    /// Checks what the vault says it is now.
    ///
    /// # Errors
    /// `conflict` if it has become the vault of another workspace.
    pub fn check(&self, said: &Self) -> Result<()> {
        if said.workspace == self.workspace {
            return Ok(());
        }
        let message = format!(
            "{SETTINGS_FILE} names workspace {}; expected {}, of which the vault is",
            said.workspace, self.workspace
        );
        Err(Error::conflict(message).with_field(SETTINGS_FILE).hint(format!(
            "Restore the file, or give --workspace {} if you mean that one.",
            said.workspace
        )))
    }

    /// Writes the settings and what git ignores.
    ///
    /// # Errors
    /// `conflict` if the folder is the vault of another workspace; `invalid` if git's own files lie in it;
    /// `unavailable` if the disk refuses it.
    pub fn write(&self, folder: &VaultFolder) -> Result<()> {
        refuse_git_directory(folder.root())?;
        if folder.path_without_links(SETTINGS_FILE)?.exists() {
            let there = Self::read(folder)?;
            if there.workspace != self.workspace {
                let message = format!("the folder is the vault of workspace {}", there.workspace);
                return Err(Error::conflict(message).with_field("DIR").hint(format!(
                    "Name another folder, or give --workspace {}.",
                    there.workspace
                )));
            }
        }
        let text = serde_json::to_string_pretty(self).map_err(|error| {
            Error::new(ErrorKind::Internal, "the settings cannot be written").with_cause(error)
        })?;
        keep_unshared(folder)?;
        folder.write(".gitattributes", ATTRIBUTES)?;
        folder.write(SETTINGS_FILE, &format!("{text}\n"))
    }
}

/// Has git ignore what no repository gets, also where the file came from others.
///
/// # Errors
/// `unavailable` if the disk refuses it.
pub fn keep_unshared(folder: &VaultFolder) -> Result<()> {
    let before = folder.read(IGNORE_FILE)?.unwrap_or_default();
    let lines = UNSHARED.map(|name| format!("{name}/"));
    // A later line could take back an earlier one.
    let ends_so = before.ends_with(&format!("{}\n", lines.join("\n")));
    if ends_so {
        return Ok(());
    }
    let others = before.lines().filter(|line| !lines.iter().any(|own| own == line));
    let all = others.map(str::to_owned).chain(lines.iter().cloned());
    folder.write(IGNORE_FILE, &all.map(|line| line + "\n").collect::<String>())
}

/// Refuses a folder that is itself a git directory: what lies in it would be git's settings.
///
/// # Errors
/// `invalid` with the folder.
fn refuse_git_directory(root: &Path) -> Result<()> {
    let has = |name: &str| root.join(name).symlink_metadata().is_ok();
    if has("HEAD") && (has("objects") || has("refs") || has("commondir")) {
        let message = format!("{} is itself a git directory", root.display());
        return Err(Error::invalid("DIR", message)
            .hint("Take HEAD, config, objects and refs out of it, or name another folder."));
    }
    Ok(())
}

/// Whether a folder is a vault.
#[must_use]
pub fn is_vault(folder: &Path) -> bool {
    folder.join(SETTINGS_FILE).is_file()
}
