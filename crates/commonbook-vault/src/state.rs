//! What a home knows about a vault: which files it wrote, which ids it gave, and which texts came by git. It
//! lies in the home, where no clone brings it along.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_lock::FileLock;
use commonbook::base::file_system::private_folder;
use commonbook::base::hash::sha256;
use commonbook::base::id::MemoryId;

use crate::arrival::GitPosition;

/// The folder below the home that has one folder for each vault.
const FOLDER: &str = "vaults";

/// The ids of the memories whose files this home wrote, a line each.
const WRITTEN_FILE: &str = "written";

/// The ids that this home gave to new files, a line each.
const CLAIMED_FILE: &str = "claimed";

/// The checksums of files that came by git from nobody whom this home knows, a line each.
const ARRIVED_FILE: &str = "arrived";

/// The checksums of the pages that this home wrote, a line each: checksum, space, path.
const PAGES_FILE: &str = "pages";

/// Where the repository of the vault stood at the end of the last pass, as JSON.
const GIT_FILE: &str = "git.json";

/// The file that a pass locks.
const LOCK_FILE: &str = "lock";

/// Characters of a checksum in these files.
const SUM_CHARS: usize = 16;

/// The folder of a home with what it knows about one vault.
#[derive(Debug, Clone)]
pub struct VaultState {
    folder: PathBuf,
}

impl VaultState {
    /// The state of the vault in this folder.
    #[must_use]
    pub fn of(home: &Path, vault: &Path) -> Self {
        let name = sum_of(&vault.to_string_lossy());
        Self { folder: home.join(FOLDER).join(name) }
    }

    /// Takes the state of a vault to the folder into which that was moved.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn follow(home: &Path, old: &Path, new: &Path) -> Result<()> {
        let (old, new) = (Self::of(home, old), Self::of(home, new));
        match fs::rename(&old.folder, &new.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(old.disk_error("move", "", error))
            }
            _ => Ok(()),
        }
    }

    /// One pass at a time: the lock is released with the value, also when the process is killed.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn lock(&self) -> Result<FileLock> {
        let path = self.folder.join(LOCK_FILE);
        let lock = private_folder(&self.folder).and_then(|()| FileLock::wait(&path));
        lock.map_err(|error| {
            Error::new(ErrorKind::Unavailable, format!("cannot lock {}: {error}", path.display()))
                .hint("Check the rights of the home folder.")
                .with_cause(error)
        })
    }

    /// The content of a file; empty if there is none.
    fn read(&self, name: &str) -> Result<String> {
        match fs::read_to_string(self.folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            read => read.map_err(|error| self.disk_error("read", name, error)),
        }
    }

    /// Writes a file whole.
    fn write(&self, name: &str, content: &str) -> Result<()> {
        let written = private_folder(&self.folder).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(content.as_bytes())?;
            file.persist(self.folder.join(name)).map_err(|error| error.error)
        });
        written.map(drop).map_err(|error| self.disk_error("write", name, error))
    }

    fn disk_error(&self, action: &str, name: &str, error: io::Error) -> Error {
        let path = self.folder.join(name);
        Error::new(ErrorKind::Unavailable, format!("cannot {action} {}: {error}", path.display()))
            .hint("Check the disk and the rights of the home folder, and run the command again.")
            .with_cause(error)
    }
}

/// What a home knows about a vault: which memories' files it wrote, so that a missing one was removed by a
/// person; which ids it gave to new files, so that these are the person's own; and what came by git.
#[derive(Debug, Default)]
pub struct LocalState {
    /// The memories whose files this home wrote.
    pub written: BTreeSet<MemoryId>,
    /// The ids that it gave to new files.
    pub claimed: BTreeSet<MemoryId>,
    /// The checksums of files that came by git from nobody whom this home knows.
    pub arrived: BTreeSet<String>,
    /// Where the repository stood at the end of the last pass; `None` before the first one, and outside of a
    /// repository.
    pub git: Option<GitPosition>,
}

impl LocalState {
    /// Reads what this home knows. A line that was cut off is left out.
    ///
    /// # Errors
    /// `unavailable` if a file cannot be read.
    pub fn read(state: &VaultState) -> Result<Self> {
        let ids = |name: &str| -> Result<BTreeSet<MemoryId>> {
            Ok(state.read(name)?.lines().filter_map(MemoryId::parse).collect())
        };
        let arrived = state.read(ARRIVED_FILE)?;
        let arrived = arrived.lines().filter(|sum| sum.len() == SUM_CHARS).map(str::to_owned);
        Ok(Self {
            written: ids(WRITTEN_FILE)?,
            claimed: ids(CLAIMED_FILE)?,
            arrived: arrived.collect(),
            git: serde_json::from_str(&state.read(GIT_FILE)?).ok(),
        })
    }

    /// Notes an id before a new file gets it.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn claim(&mut self, state: &VaultState, id: MemoryId) -> Result<()> {
        self.claimed.insert(id);
        state.write(CLAIMED_FILE, &lines_of(&self.claimed))
    }

    /// Whether a file with this content came by git, as an earlier pass found.
    #[must_use]
    pub fn has_arrived(&self, content: &str) -> bool {
        !self.arrived.is_empty() && self.arrived.contains(&sum_of(content))
    }

    /// Notes which of the contents that are there came by git, before anything follows from them.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn note_arrived<'c>(
        &mut self,
        state: &VaultState,
        contents: impl Iterator<Item = &'c str>,
    ) -> Result<()> {
        let arrived: BTreeSet<String> = contents.map(sum_of).collect();
        if arrived != self.arrived {
            state.write(ARRIVED_FILE, &lines_of(&arrived))?;
            self.arrived = arrived;
        }
        Ok(())
    }

    /// Notes where the repository stood.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn note_git(&mut self, state: &VaultState, git: Option<GitPosition>) -> Result<()> {
        if git != self.git {
            let text = serde_json::to_string(&git).unwrap_or_default();
            state.write(GIT_FILE, &text)?;
            self.git = git;
        }
        Ok(())
    }

    /// Notes the memories that have files now, and the new files whose memories the store has not taken.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn note_written(
        &mut self,
        state: &VaultState,
        written: BTreeSet<MemoryId>,
        claimed: BTreeSet<MemoryId>,
    ) -> Result<()> {
        if written != self.written {
            state.write(WRITTEN_FILE, &lines_of(&written))?;
        }
        if claimed != self.claimed {
            state.write(CLAIMED_FILE, &lines_of(&claimed))?;
        }
        (self.written, self.claimed) = (written, claimed);
        Ok(())
    }
}

/// The pages as this home last wrote them. Another machine's store says other things: who a memory of
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
    /// `unavailable` if the file cannot be read.
    pub fn read(state: &VaultState) -> Result<Self> {
        let text = state.read(PAGES_FILE)?;
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let whole = lines.filter(|(sum, _)| sum.len() == SUM_CHARS);
        Ok(Self { sums: whole.map(|(sum, path)| (path.to_owned(), sum.to_owned())).collect() })
    }

    /// The checksums of these pages.
    #[must_use]
    pub fn of(pages: &BTreeMap<String, String>) -> Self {
        let sum = |(path, content): (&String, &String)| (path.clone(), sum_of(content));
        Self { sums: pages.iter().map(sum).collect() }
    }

    /// Whether this home wrote a page with this content there.
    #[must_use]
    pub fn has(&self, path: &str, content: &str) -> bool {
        self.sums.get(path).is_some_and(|sum| *sum == sum_of(content))
    }

    /// Whether this home wrote a page there.
    #[must_use]
    pub fn has_path(&self, path: &str) -> bool {
        self.sums.contains_key(path)
    }

    /// Notes them.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn write(&self, state: &VaultState) -> Result<()> {
        let line = |(path, sum): (&String, &String)| format!("{sum} {path}\n");
        state.write(PAGES_FILE, &self.sums.iter().map(line).collect::<String>())
    }
}

fn sum_of(content: &str) -> String {
    sha256(content)[..SUM_CHARS].to_owned()
}

fn lines_of(lines: &BTreeSet<impl ToString>) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}
