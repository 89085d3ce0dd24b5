//! The files of the index: the time of its generation, and the lease for writing.

use std::path::Path;
use std::time::SystemTime;

use super::boot;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::file_lock::FileLock;

/// The folder of the words, inside that of the index.
pub(super) const WORDS_FOLDER: &str = "words";

/// The file of the lease, inside the folder of the index.
pub(super) const LEASE_FILE: &str = "lease";

/// The time when the last generation was written.
pub(super) fn written_at(folder: &Path) -> Option<SystemTime> {
    std::fs::metadata(folder.join(WORDS_FOLDER).join("meta.json"))
        .and_then(|file| file.modified())
        .ok()
}

/// The lease for writing the index, held as long as the value. Returns `None` if another
/// process holds it.
pub(super) fn lease(folder: &Path) -> Result<Option<FileLock>> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let path = folder.join(LEASE_FILE);
    let lease = FileLock::take(&path).map_err(|error| unwritable(&path, &error))?;
    // Who writes has opened what was there, and checked it.
    if lease.is_some() && boot::check_is_due(folder) {
        boot::note_checked(folder);
    }
    Ok(lease)
}

pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    let message = format!("the search index cannot be written at {}: {error}", path.display());
    Error::new(ErrorKind::Unavailable, message)
        .hint("Check the folder's permissions and its disk. Memories are saved nevertheless.")
}

pub(super) fn lease_conflict() -> Error {
    Error::conflict("another process writes the search index of this home")
        .hint("Stop that process to rebuild the index; it follows the journal by itself.")
}
