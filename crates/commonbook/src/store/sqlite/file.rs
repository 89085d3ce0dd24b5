//! The files of a store: the files beside it, and the errors of a file that cannot be used.

use std::path::{Path, PathBuf};

use crate::base::error::{Error, ErrorKind};

/// The file beside a store with this ending.
pub(super) fn sibling_path(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(ending);
    name.into()
}

/// The error of a store that is not opened, for this reason.
pub(super) fn refused_store(path: &Path, reason: &str, hint: &str) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{} {reason}", path.display())).hint(hint)
}

/// The error of a full disk.
pub(super) fn disk_full() -> Error {
    Error::new(ErrorKind::Unavailable, "the disk is full")
        .hint("Nothing was written. Make room, then try again; reads still work.")
}

/// The error of a file that the operating system refuses.
pub(super) fn unusable_file(path: &Path, error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::StorageFull {
        return disk_full().with_cause(error);
    }
    refused_store(path, &format!("cannot be used: {error}"), "Check its permissions and its disk.")
        .with_cause(error)
}
