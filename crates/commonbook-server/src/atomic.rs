//! Files that are written whole or not at all, and those of the home that are its user's alone.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use tempfile::NamedTempFile;

/// A file that is written beside the one it will replace.
pub(crate) struct StagedFile {
    file: NamedTempFile,
    to: PathBuf,
}

impl StagedFile {
    /// Writes a text beside the file that it is for, with that file's mode where it is there, else
    /// for its user alone. A link is followed: what it leads to is replaced.
    ///
    /// # Errors
    /// `unavailable` where nothing can be written.
    pub(crate) fn write(path: &Path, text: &str) -> Result<Self> {
        let to = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = to.parent().unwrap_or(Path::new("."));
        let written = (|| {
            let mut file = tempfile::Builder::new().prefix(".commonbook-").tempfile_in(folder)?;
            file.write_all(text.as_bytes())?;
            if let Ok(there) = fs::metadata(&to) {
                file.as_file().set_permissions(there.permissions())?;
            }
            file.as_file().sync_all()?;
            Ok(file)
        })();
        let file = written.map_err(|error| unwritable_file(path, error))?;
        Ok(Self { file, to })
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// `unavailable` where that cannot be.
    pub(crate) fn replace_target(self) -> Result<()> {
        let Self { file, to } = self;
        file.persist(&to).map(drop).map_err(|error| unwritable_file(&to, error.error))
    }

    /// Puts it in its place, unless something is there already.
    ///
    /// # Errors
    /// `unavailable` where that cannot be.
    pub(crate) fn create_target(self) -> Result<()> {
        let Self { file, to } = self;
        match file.persist_noclobber(&to) {
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            put => put.map(drop).map_err(|error| unwritable_file(&to, error.error)),
        }
    }
}

/// Makes a folder for its user alone, with those above it; answers those that were not there, the
/// outermost first.
///
/// # Errors
/// `unavailable` where it cannot be made.
pub(crate) fn create_folders(path: &Path) -> Result<Vec<PathBuf>> {
    let missing = path.ancestors().take_while(|above| !above.exists());
    let mut made: Vec<PathBuf> =
        missing.filter(|it| !it.as_os_str().is_empty()).map(Path::to_owned).collect();
    made.reverse();
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| unwritable_file(path, error))?;
    Ok(made)
}

/// What a file says; nothing where there is none.
///
/// # Errors
/// `unavailable` where it cannot be read, `conflict` where it is no text.
pub(crate) fn read(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            Error::conflict(format!("{} is not UTF-8", path.display()))
                .hint("Mend the file; nothing was changed.")
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            Err(Error::new(ErrorKind::Unavailable, message)
                .hint("Look at its permissions; nothing was changed.")
                .with_cause(error))
        }
    }
}

fn unwritable_file(path: &Path, error: std::io::Error) -> Error {
    let message = format!("{} cannot be written: {error}", path.display());
    Error::new(ErrorKind::Unavailable, message)
        .hint("Look at the permissions of the folder, and at the space on the disk.")
        .with_cause(error)
}
