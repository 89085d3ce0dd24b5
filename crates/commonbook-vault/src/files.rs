//! The files of a vault, read and told apart: memories, new notes, pages, and what cannot be read.

use std::collections::{BTreeMap, BTreeSet};

use commonbook::base::error::{Error, Result};
use commonbook::base::id::MemoryId;

use crate::folder::{DiskStamp, VaultFolder};
use crate::memory_file::MemoryFile;
use crate::names::{
    AGENTS, AGENTS_FILE, CASES, CONTRADICTIONS, ENTITIES, HANDOFFS, HISTORY, INDEX_FILE,
    MemoryArea, RECORDS, TOPICS,
};

/// The folders of pages.
const PAGE_FOLDERS: [&str; 8] =
    [AGENTS, CASES, CONTRADICTIONS, ENTITIES, HANDOFFS, HISTORY, RECORDS, TOPICS];

/// Files of the first level that are no notes.
const OTHER_FILES: [&str; 2] = [INDEX_FILE, "README.md"];

/// The file of a memory, with its path and content.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundFile {
    /// Its path below the folder.
    pub path: String,
    /// Its content.
    pub content: String,
    /// What it says.
    pub file: MemoryFile,
}

/// The files of a vault.
#[derive(Debug, Default)]
pub struct VaultFiles {
    /// The files of memories by id; of several with one id, the first path comes first.
    pub memories: BTreeMap<MemoryId, Vec<FoundFile>>,
    /// Notes without an id.
    pub notes: Vec<FoundFile>,
    /// The paths of pages and records.
    pub pages: BTreeSet<String>,
    /// What cannot be read, with the reason.
    pub broken: Vec<(String, Error)>,
    /// The ids that such files seem to have.
    pub broken_ids: BTreeSet<MemoryId>,
    /// The files of memories by path, as they were when they were read.
    known: BTreeMap<String, KnownFile>,
}

/// The file of a memory when it was read.
#[derive(Debug, Clone, Copy)]
struct KnownFile {
    id: MemoryId,
    stamp: Option<DiskStamp>,
}

impl VaultFiles {
    /// Reads the files of a folder.
    ///
    /// # Errors
    /// `unavailable` if a folder cannot be read.
    pub fn read(folder: &VaultFolder) -> Result<Self> {
        let mut files = Self::default();
        files.refresh(folder)?;
        Ok(files)
    }

    /// Reads the folder again: of the files of memories only those that were changed since. Returns the
    /// memories of these, and of those that are gone.
    ///
    /// # Errors
    /// `unavailable` if a folder cannot be read; then what is here is of no use any more.
    pub fn refresh(&mut self, folder: &VaultFolder) -> Result<BTreeSet<MemoryId>> {
        let before = std::mem::take(self);
        let (mut known, mut unread) = (before.known, Vec::new());
        self.memories = before.memories;
        for path in folder.list()? {
            if is_page(&path) {
                self.pages.insert(path);
            } else if is_note(&path) {
                // Before the content: what is written meanwhile has another stamp.
                let stamp = folder.stamp(&path);
                match known.remove_entry(&path) {
                    Some((path, file)) if stamp.is_some() && file.stamp == stamp => {
                        self.known.insert(path, file);
                    }
                    Some((path, file)) => unread.push((path, stamp, Some(file.id))),
                    None => unread.push((path, stamp, None)),
                }
            }
        }
        let mut changed = BTreeSet::new();
        for (path, KnownFile { id, .. }) in known {
            self.remove(id, &path);
            changed.insert(id);
        }
        for (path, stamp, former) in unread {
            if let Some(id) = former {
                self.remove(id, &path);
                changed.insert(id);
            }
            if let Some(id) = self.add(folder, &path) {
                self.known.insert(path, KnownFile { id, stamp });
                changed.insert(id);
            }
        }
        Ok(changed)
    }

    fn remove(&mut self, id: MemoryId, path: &str) {
        if let Some(found) = self.memories.get_mut(&id) {
            found.retain(|found| found.path != path);
            if found.is_empty() {
                self.memories.remove(&id);
            }
        }
    }

    /// Reads a file; returns the memory that it is of.
    fn add(&mut self, folder: &VaultFolder, path: &str) -> Option<MemoryId> {
        let read = folder.read(path).and_then(|content| {
            let Some(content) = content else { return Ok(None) };
            MemoryFile::parse(&content).map(|file| Some((content, file)))
        });
        match read {
            Ok(None) => None,
            Ok(Some((content, file))) => {
                let found = FoundFile { path: path.to_owned(), content, file };
                match found.file.id {
                    Some(id) => {
                        let files = self.memories.entry(id).or_default();
                        let place = files.partition_point(|other| other.path < found.path);
                        files.insert(place, found);
                        return Some(id);
                    }
                    // An editor has just created it.
                    None if found.file.text.trim().is_empty() => {}
                    None => self.notes.push(found),
                }
                None
            }
            Err(error) => {
                let content = folder.read(path).ok().flatten().unwrap_or_default();
                let ids = content
                    .lines()
                    .filter_map(|line| MemoryId::parse(line.strip_prefix("id:")?.trim()));
                self.broken_ids.extend(ids);
                self.broken.push((path.to_owned(), error));
                None
            }
        }
    }

    /// The number of files of memories.
    #[must_use]
    pub fn memory_count(&self) -> usize {
        self.memories.values().map(Vec::len).sum()
    }
}

/// Whether the program writes the file, and it is of no memory alone.
fn is_page(path: &str) -> bool {
    let folder = path.split_once('/').map(|(folder, _)| folder);
    path == AGENTS_FILE || path == INDEX_FILE || folder.is_some_and(|it| PAGE_FOLDERS.contains(&it))
}

/// Whether the file is of a memory, or a note that may become one.
#[must_use]
pub fn is_note(path: &str) -> bool {
    let is_first_level = !path.contains('/') && path.to_lowercase().ends_with(".md");
    MemoryArea::of_path(path).is_some() || (is_first_level && !OTHER_FILES.contains(&path))
}
