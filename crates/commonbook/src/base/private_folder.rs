//! Folders that only their owner may open.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Creates a folder and its parents, on Unix with mode 0700.
///
/// # Errors
/// Those of the file system; none if the folder exists.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
