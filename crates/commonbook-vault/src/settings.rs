//! What a vault is of (`vault.json`, in git), and what this machine knows about it (`.commonbook/`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::hash::sha256;
use commonbook::base::id::MemoryId;
use commonbook::model::workspace::Workspace;
use serde::{Deserialize, Serialize};

use crate::folder::VaultFolder;
use crate::names::{LOCAL, PRIVATE, QUARANTINE, SETTINGS_FILE};

/// The format of the files.
pub const VAULT_FORMAT: u32 = 1;

/// How git merges the files: the driver is set where `vault sync --git` merges.
const ATTRIBUTES: &str =
    "*.md merge=commonbook\n*.json merge=commonbook\n*.jsonl merge=commonbook\n";

/// The ids of the memories whose files this machine wrote, a line each.
const WRITTEN_FILE: &str = ".commonbook/written";

/// The ids that this machine gave to new files, a line each.
const CLAIMED_FILE: &str = ".commonbook/claimed";

/// The checksums of the pages that this machine wrote, a line each: checksum, space, path.
const PAGES_FILE: &str = ".commonbook/pages";

/// Characters of a checksum in that file.
const PAGE_SUM_CHARS: usize = 16;

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
        folder.write(".gitignore", &format!("{LOCAL}/\n{PRIVATE}/\n{QUARANTINE}/\n"))?;
        folder.write(".gitattributes", ATTRIBUTES)?;
        folder.write(SETTINGS_FILE, &format!("{text}\n"))
    }
}

/// What this machine knows about a vault: which memories' files it wrote, so that a missing one was removed
/// by a person, and which ids it gave to new files, so that these are the person's own.
#[derive(Debug, Default)]
pub struct LocalState {
    /// The memories whose files this machine wrote.
    pub written: BTreeSet<MemoryId>,
    /// The ids that it gave to new files.
    pub claimed: BTreeSet<MemoryId>,
}

impl LocalState {
    /// Reads what this machine knows. A line that was cut off is left out.
    ///
    /// # Errors
    /// `unavailable` if a file cannot be read.
    pub fn read(folder: &VaultFolder) -> Result<Self> {
        let ids = |path: &str| -> Result<BTreeSet<MemoryId>> {
            let text = std::fs::read_to_string(folder.path_without_links(path)?);
            Ok(text.unwrap_or_default().lines().filter_map(MemoryId::parse).collect())
        };
        Ok(Self { written: ids(WRITTEN_FILE)?, claimed: ids(CLAIMED_FILE)? })
    }

    /// Notes an id before a new file gets it.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn claim(&mut self, folder: &VaultFolder, id: MemoryId) -> Result<()> {
        self.claimed.insert(id);
        folder.write(CLAIMED_FILE, &lines_of(&self.claimed))
    }

    /// Notes the memories that have files now, and the new files whose memories the store has not taken.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn note_written(
        &mut self,
        folder: &VaultFolder,
        written: BTreeSet<MemoryId>,
        claimed: BTreeSet<MemoryId>,
    ) -> Result<()> {
        if written != self.written {
            folder.write(WRITTEN_FILE, &lines_of(&written))?;
        }
        if claimed != self.claimed {
            folder.write(CLAIMED_FILE, &lines_of(&claimed))?;
        }
        (self.written, self.claimed) = (written, claimed);
        Ok(())
    }
}

/// The pages as this machine last wrote them. Another machine's store says other things: who a memory of
/// others belongs to, and which contradictions were found. A page of the other's stays until this one
/// has something new to say.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PageSums {
    sums: BTreeMap<String, String>,
}

impl PageSums {
    /// Reads them. A line that was cut off is left out.
    ///
    /// # Errors
    /// `invalid` if the file is behind a link.
    pub fn read(folder: &VaultFolder) -> Result<Self> {
        let text =
            std::fs::read_to_string(folder.path_without_links(PAGES_FILE)?).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let whole = lines.filter(|(sum, _)| sum.len() == PAGE_SUM_CHARS);
        Ok(Self { sums: whole.map(|(sum, path)| (path.to_owned(), sum.to_owned())).collect() })
    }

    /// The checksums of these pages.
    #[must_use]
    pub fn of(pages: &BTreeMap<String, String>) -> Self {
        let sum = |(path, content): (&String, &String)| (path.clone(), page_sum(content));
        Self { sums: pages.iter().map(sum).collect() }
    }

    /// Whether this machine wrote a page with this content there.
    #[must_use]
    pub fn has(&self, path: &str, content: &str) -> bool {
        self.sums.get(path).is_some_and(|sum| *sum == page_sum(content))
    }

    /// Whether this machine wrote a page there.
    #[must_use]
    pub fn has_path(&self, path: &str) -> bool {
        self.sums.contains_key(path)
    }

    /// Notes them.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn write(&self, folder: &VaultFolder) -> Result<()> {
        let line = |(path, sum): (&String, &String)| format!("{sum} {path}\n");
        folder.write(PAGES_FILE, &self.sums.iter().map(line).collect::<String>())
    }
}

fn page_sum(content: &str) -> String {
    sha256(content)[..PAGE_SUM_CHARS].to_owned()
}

fn lines_of(ids: &BTreeSet<MemoryId>) -> String {
    ids.iter().map(|id| format!("{id}\n")).collect()
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
