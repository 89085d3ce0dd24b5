//! What systems have in common about files: who may open them, what a file is to the disk, how a folder is synced. With
//! `system/` of the program, the one place that knows how they differ.
//!
//! On Unix the modes of files decide who may open them. Elsewhere they have none here: the folder of the
//! user closes what is in it. Nobody has run it on Windows or macOS yet (README).

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// The mode of a file that its user alone may read and write.
const PRIVATE_FILE_MODE: u32 = 0o600;

/// The mode of a folder that its user alone may open.
#[cfg(unix)]
const PRIVATE_FOLDER_MODE: u32 = 0o700;

/// Creates a folder and its parents, which their user alone may open.
///
/// # Errors
/// Those of the file system; none if the folder exists.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, PRIVATE_FOLDER_MODE);
    builder.create(folder)
}

/// Options that create a file which its user alone may read and write.
#[must_use]
pub fn private_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix sets a mode"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, PRIVATE_FILE_MODE);
    options
}

/// Closes a file for all but its user.
///
/// # Errors
/// Those of the file system: the file is another user's, or gone.
pub fn make_private(path: &Path) -> io::Result<()> {
    set_mode(path, PRIVATE_FILE_MODE)
}

/// Sets who may do what with a file or a folder, in the bits of Unix. Nothing happens where there are none.
///
/// # Errors
/// Those of the file system: the file is another user's, or gone.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    #[cfg(not(unix))]
    let _none = (path, mode);
    Ok(())
}

/// Who may do what with a file or a folder, in the twelve bits of Unix; `None` where there are none.
#[must_use]
pub fn mode_of(file: &Metadata) -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o7777);
    #[cfg(not(unix))]
    return (|_: &Metadata| None)(file);
}

/// Syncs the names in a folder, so that what was renamed there survives a loss of power.
///
/// # Errors
/// Those of the file system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened as a file.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// What a file is to its disk, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    /// The disk.
    pub device: u64,
    /// The number of the file on it, which is used again once the file is gone.
    pub inode: u64,
    /// Seconds and nanoseconds since 1970 of the last change of its content or of its rights.
    pub changed: [i64; 2],
}

impl FileIdentity {
    /// The identity of a file, where the system tells it.
    #[must_use]
    pub fn of(file: &Metadata) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let changed = [file.ctime(), file.ctime_nsec()];
            Some(Self { device: file.dev(), inode: file.ino(), changed })
        }
        #[cfg(not(unix))]
        (|_: &Metadata| None)(file)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        mode_of(&fs::metadata(path).unwrap()).unwrap()
    }

    #[test]
    fn what_is_private_is_its_users_alone() {
        let work = tempfile::tempdir().unwrap();
        let folder = work.path().join("a/b");
        private_folder(&folder).unwrap();
        private_folder(&folder).unwrap();
        assert_eq!([mode(&folder), mode(&work.path().join("a"))], [0o700, 0o700]);
        let file = folder.join("key");
        private_options().write(true).create_new(true).open(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        set_mode(&file, 0o644).unwrap();
        assert_eq!(mode(&file), 0o644);
        make_private(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        sync_folder(&folder).unwrap();
        assert!(make_private(&folder.join("gone")).is_err());
    }

    #[test]
    fn a_file_keeps_its_identity_under_another_name() {
        let work = tempfile::tempdir().unwrap();
        let [first, second] = ["one", "two"].map(|name| work.path().join(name));
        fs::write(&first, "same").unwrap();
        let identity = |path: &Path| FileIdentity::of(&fs::metadata(path).unwrap()).unwrap();
        let before = identity(&first);
        fs::rename(&first, &second).unwrap();
        let after = identity(&second);
        assert_eq!([before.device, before.inode], [after.device, after.inode]);
        fs::copy(&second, &first).unwrap();
        assert_ne!(identity(&first).inode, after.inode);
    }
}
