//! Files that are replaced atomically, and folders with private modes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_system::private_folder;
use tempfile::NamedTempFile;

/// A temporary file beside the file that it will replace.
pub(crate) struct StagedFile {
    file: NamedTempFile,
    to: PathBuf,
}

impl StagedFile {
    /// Writes a text beside its target, with the mode of an existing target, else 0600. If the target
    /// is a link, replaces the file that it leads to.
    ///
    /// # Errors
    /// `unavailable` if the text cannot be written.
    pub(crate) fn write(path: &Path, text: &str) -> Result<Self> {
        let to = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = to.parent().unwrap_or(Path::new("."));
        let written = (|| {
            let mut file = tempfile::Builder::new().prefix(".commonbook-").tempfile_in(folder)?;
            file.write_all(text.as_bytes())?;
            if let Ok(existing) = fs::metadata(&to) {
                file.as_file().set_permissions(existing.permissions())?;
            }
            file.as_file().sync_all()?;
            Ok(file)
        })();
        let file = written.map_err(|error| unwritable_file(path, error))?;
        Ok(Self { file, to })
    }

    /// Replaces the target.
    ///
    /// # Errors
    /// `unavailable` if it cannot be replaced.
    pub(crate) fn replace_target(self) -> Result<()> {
        let Self { file, to } = self;
        file.persist(&to).map(drop).map_err(|error| unwritable_file(&to, error.error))
    }
}

/// Creates a folder and its parents with mode 0700; returns the folders that it created, the outermost
/// first.
///
/// # Errors
/// `unavailable` if a folder cannot be created.
pub(crate) fn create_folders(path: &Path) -> Result<Vec<PathBuf>> {
    let missing = path.ancestors().take_while(|above| !above.exists());
    let mut created: Vec<PathBuf> =
        missing.filter(|path| !path.as_os_str().is_empty()).map(Path::to_owned).collect();
    created.reverse();
    private_folder(path).map_err(|error| unwritable_file(path, error))?;
    Ok(created)
}

/// The text of a file; `None` if it does not exist.
///
/// # Errors
/// `unavailable` if it cannot be read, `conflict` if it is not UTF-8, or is something else than a file, such as
/// a pipe, from which nothing may ever come.
pub(crate) fn read(path: &Path) -> Result<Option<String>> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::conflict(format!("{} is not a file", path.display()))
            .hint("Move it away. Nothing was changed."));
    }
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            Error::conflict(format!("{} is not UTF-8", path.display()))
                .hint("Repair the file. Nothing was changed.")
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read {}: {error}", path.display());
            Err(Error::new(ErrorKind::Unavailable, message)
                .hint("Check its permissions. Nothing was changed.")
                .with_cause(error))
        }
    }
}

fn unwritable_file(path: &Path, error: std::io::Error) -> Error {
    let message = format!("cannot write {}: {error}", path.display());
    Error::new(ErrorKind::Unavailable, message)
        .hint("Check the permissions of the folder and the free disk space.")
        .with_cause(error)
}
