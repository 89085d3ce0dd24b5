//! The folder of a vault on disk: which files it has, and how each is written, moved and removed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind as IoErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_system::{FileIdentity, mode_of, set_mode};
use commonbook::base::limits;
use jiff::{SignedDuration, Timestamp};

use crate::names::LOCAL;

/// Bytes of a file that a vault reads at most.
pub const FILE_BYTES_MAX: u64 = 8 * limits::TEXT_BYTES as u64;

/// The age from which a file's stamp is proof: a disk counts time in steps, and two changes within one step
/// leave the same stamp.
const STAMP_AGE: SignedDuration = SignedDuration::from_secs(1);

/// What the disk says about a file: while it stays the same, so does the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskStamp {
    modified: SystemTime,
    bytes: u64,
    /// The file itself and the time at which its content or its rights were changed last.
    identity: Option<FileIdentity>,
}

/// How a folder is read and changed, a step at a time. A test lets a step fail, as when the process is
/// killed before it.
pub trait FileSteps: Send + Sync {
    /// Writes a file whole: a reader sees the old content or the new one.
    ///
    /// # Errors
    /// The error of the disk.
    fn write(&self, path: &Path, content: &str) -> std::io::Result<()>;

    /// Moves a file.
    ///
    /// # Errors
    /// The error of the disk.
    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The error of the disk.
    fn remove(&self, path: &Path) -> std::io::Result<()>;
}

/// The steps on a real disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskSteps;

impl FileSteps for DiskSteps {
    fn write(&self, path: &Path, content: &str) -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(".commonbook-").tempfile_in(folder)?;
        file.write_all(content.as_bytes())?;
        // A file in a vault is as readable as its neighbours: git and other people's editors read it.
        let mode = fs::metadata(path).ok().and_then(|found| mode_of(&found));
        set_mode(file.path(), mode.map_or(0o644, |mode| mode & 0o777))?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> std::io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == IoErrorKind::NotFound => Ok(()),
            done => done,
        }
    }
}

/// The folder of a vault.
pub struct VaultFolder {
    root: PathBuf,
    steps: Box<dyn FileSteps>,
}

impl VaultFolder {
    /// The vault in this folder.
    #[must_use]
    pub fn new(root: &Path, steps: Box<dyn FileSteps>) -> Self {
        Self { root: root.to_owned(), steps }
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Every file by its path below the folder, with `/` between the parts, in order. Hidden files and
    /// folders, links, and what editors leave behind are left out.
    ///
    /// # Errors
    /// `unavailable` if a folder cannot be read.
    pub fn list(&self) -> Result<Vec<String>> {
        let (mut files, mut waiting) = (Vec::new(), vec![String::new()]);
        while let Some(folder) = waiting.pop() {
            let entries = match fs::read_dir(self.root.join(&folder)) {
                // An editor or git has removed it meanwhile.
                Err(error) if error.kind() == IoErrorKind::NotFound && !folder.is_empty() => {
                    continue;
                }
                entries => entries.map_err(|error| self.disk_error("read", &folder, error))?,
            };
            for entry in entries {
                let entry = entry.map_err(|error| self.disk_error("read", &folder, error))?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let path =
                    if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                let is_left = name.starts_with(['.', '#']) || name.ends_with(['~', '#']);
                match entry.file_type() {
                    _ if is_left => {}
                    Ok(kind) if kind.is_dir() => waiting.push(path),
                    Ok(kind) if kind.is_file() => files.push(path),
                    _ => {}
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// The stamp of a file; `None` if it is gone, or was changed so recently that the stamp proves nothing.
    #[must_use]
    pub fn stamp(&self, path: &str) -> Option<DiskStamp> {
        let found = fs::symlink_metadata(self.root.join(path)).ok()?;
        let modified = found.modified().ok()?;
        // A file has the time of the machine, in tests too.
        let age = SystemClock.now().duration_since(Timestamp::try_from(modified).ok()?);
        let stamp = DiskStamp { modified, bytes: found.len(), identity: FileIdentity::of(&found) };
        (age > STAMP_AGE).then_some(stamp)
    }

    /// The content of a file; `None` if there is none.
    ///
    /// # Errors
    /// `too_large` for a file that no memory fits; `invalid` if it is no UTF-8, no file or behind a link;
    /// `unavailable` if it cannot be read.
    pub fn read(&self, path: &str) -> Result<Option<String>> {
        let full = self.path_without_links(path)?;
        match fs::symlink_metadata(&full) {
            Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(None),
            Ok(found) if !found.is_file() => {
                let message = format!("{} is no file", full.display());
                return Err(Error::invalid("file", message).hint("Put a file in its place."));
            }
            Ok(found) if found.len() > FILE_BYTES_MAX => {
                let length = usize::try_from(found.len()).unwrap_or(usize::MAX);
                let limit = usize::try_from(FILE_BYTES_MAX).unwrap_or(usize::MAX);
                return Err(Error::too_large("file", length, limit, "bytes"));
            }
            _ => {}
        }
        match fs::read_to_string(&full) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == IoErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == IoErrorKind::InvalidData => {
                Err(Error::invalid("file", "the file is not UTF-8")
                    .hint("Save it as UTF-8 in your editor."))
            }
            Err(error) => Err(self.disk_error("read", path, error)),
        }
    }

    /// Reads all of these files that are there.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_all<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> Result<BTreeMap<&'p str, String>> {
        let read =
            paths.into_iter().map(|path| Ok(self.read(path)?.map(|content| (path, content))));
        read.filter_map(Result::transpose).collect()
    }

    /// Writes a file whole.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn write(&self, path: &str, content: &str) -> Result<()> {
        let full = self.path_without_links(path)?;
        self.steps.write(&full, content).map_err(|error| self.disk_error("write", path, error))
    }

    /// Moves a file; what is at the new path already stays, and the file gets another name.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (source, target) = (self.path_without_links(from)?, self.path_without_links(to)?);
        self.steps.rename(&source, &target).map_err(|error| self.disk_error("move", from, error))
    }

    /// Removes a file, and the folders that are empty then.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn remove(&self, path: &str) -> Result<()> {
        let full = self.path_without_links(path)?;
        self.steps.remove(&full).map_err(|error| self.disk_error("remove", path, error))?;
        let mut folder = full.parent();
        while let Some(empty) = folder.filter(|folder| *folder != self.root) {
            if fs::remove_dir(empty).is_err() {
                break;
            }
            folder = empty.parent();
        }
        Ok(())
    }

    /// Puts a copy of a text that a person wrote into the folder of this machine; returns its path.
    ///
    /// # Errors
    /// `unavailable` if the disk refuses it.
    pub fn keep_copy(&self, path: &str, content: &str) -> Result<String> {
        let sum = commonbook::base::hash::sha256(content);
        let name = path.rsplit('/').next().unwrap_or(path);
        let copy = format!("{LOCAL}/replaced/{}_{name}", &sum[..8]);
        self.write(&copy, content)?;
        Ok(copy)
    }

    /// The path of a file, if no part of it below the vault is a link: it could lead anywhere.
    ///
    /// # Errors
    /// `invalid` for a link.
    pub(crate) fn path_without_links(&self, path: &str) -> Result<PathBuf> {
        let mut full = self.root.clone();
        for part in path.split('/') {
            full.push(part);
            if full.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
                let message = format!("{} is a link, and a vault follows none", full.display());
                return Err(Error::invalid("file", message)
                    .hint("Put what it leads to in its place, or remove it."));
            }
        }
        Ok(full)
    }

    fn disk_error(&self, action: &str, path: &str, error: std::io::Error) -> Error {
        let full = self.root.join(path);
        Error::new(ErrorKind::Unavailable, format!("cannot {action} {}: {error}", full.display()))
            .hint("Check the disk and the rights of the folder, and run the command again.")
            .with_cause(error)
    }
}
