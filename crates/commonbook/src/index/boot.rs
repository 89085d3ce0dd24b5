//! Files that are not synced, as the journal can write them again. A loss of power may leave them in pieces,
//! and no other end of a process does: the first process after a start of the machine checks them.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use super::vectors::{self, VECTORS_FOLDER};

/// The file of the last start of the machine in which the files beside it were found whole.
const BOOT_FILE: &str = "boot";

/// The name of this start of the machine. Files are synced where the system has none.
static BOOT: LazyLock<Option<String>> =
    LazyLock::new(|| fs::read_to_string("/proc/sys/kernel/random/boot_id").ok());

/// Whether files are synced, as their check could not be told to be due.
pub(super) fn must_sync() -> bool {
    BOOT.is_none()
}

/// Whether the files of an index were written before the machine started, and not checked since.
pub(super) fn check_is_due(folder: &Path) -> bool {
    let checked = || fs::read_to_string(folder.join(BOOT_FILE)).ok();
    BOOT.as_ref().is_some_and(|boot| checked().as_ref() != Some(boot))
}

/// Removes the damaged files of vectors: what they held is embedded again.
pub(super) fn remove_damaged_vectors(folder: &Path) {
    let models = fs::read_dir(folder.join(VECTORS_FOLDER));
    for model in models.into_iter().flatten().flatten().map(|entry| entry.path()) {
        for name in vectors::damage(&model) {
            if let Err(error) = fs::remove_file(model.join(&name)) {
                tracing::warn!(%error, name, "a damaged file of vectors cannot be removed");
            }
        }
    }
}

/// Notes that the files of an index are whole, or that there are none.
pub(super) fn note_checked(folder: &Path) {
    let Some(boot) = BOOT.as_ref() else { return };
    // A reader of a folder that it cannot write checks it each time.
    if let Err(error) = fs::write(folder.join(BOOT_FILE), boot) {
        tracing::debug!(%error, "cannot note the check of the search index");
    }
}
