//! The modes of the home's files: which of them other users can reach, and closing those.

use std::path::{Path, PathBuf};

/// What a home holds at its top: files by the beginnings of their names. Whatever else lies there is
/// the user's own, and keeps its mode.
#[cfg(unix)]
const HOME_FILE_PREFIXES: [&str; 7] =
    ["commonbook.db", "config.json", "hook.key", "hook.log", "hooks.json", "server.", "setup."];

/// The folders of a home, with all that is in them.
#[cfg(unix)]
const HOME_FOLDERS: [&str; 3] = ["backups", "index", "memories"];

/// Bits of a mode that let other users in.
#[cfg(unix)]
const OTHERS_MODE_BITS: u32 = 0o077;

/// Bits that let other users write.
#[cfg(unix)]
const OTHERS_WRITE_BITS: u32 = 0o022;

/// The bit by which only the owner of a file removes it from a folder that many write in.
#[cfg(unix)]
const STICKY_BIT: u32 = 0o1000;

/// A file or a folder that other users can reach.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OpenPath {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its mode.
    pub(crate) mode: u32,
    /// The mode that it should have.
    pub(crate) private: u32,
}

/// What of a home other users can reach, the outermost first. A home that was there before Commonbook
/// may be read by others, for its files are closed one by one; it may not be written by them.
#[cfg(unix)]
pub(crate) fn open_to_others(home: &Path) -> Vec<OpenPath> {
    let mut found = Vec::new();
    let writable =
        mode(home).filter(|mode| mode & OTHERS_WRITE_BITS != 0 && mode & STICKY_BIT == 0);
    if let Some(mode) = writable {
        found.push(OpenPath { path: home.to_owned(), mode, private: mode & !OTHERS_WRITE_BITS });
    }
    for entry in std::fs::read_dir(home).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if HOME_FOLDERS.contains(&name.as_ref()) {
            walk(&entry.path(), &mut found);
        } else if HOME_FILE_PREFIXES.iter().any(|beginning| name.starts_with(beginning)) {
            check_path(&entry.path(), &mut found);
        }
    }
    found
}

#[cfg(not(unix))]
pub(crate) fn open_to_others(_: &Path) -> Vec<OpenPath> {
    Vec::new()
}

/// Takes from other users what they can do with this path.
///
/// # Errors
/// Fails if the file belongs to another user.
#[cfg(unix)]
pub(crate) fn close(open: &OpenPath) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&open.path, std::fs::Permissions::from_mode(open.private))
}

#[cfg(not(unix))]
pub(crate) fn close(_: &OpenPath) -> std::io::Result<()> {
    Ok(())
}

/// The mode of what lies there. A link has none of its own, and where it leads is not ours to change.
#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::symlink_metadata(path).ok().filter(|found| !found.is_symlink())?;
    Some(found.permissions().mode() & 0o7777)
}

#[cfg(unix)]
fn check_path(path: &Path, found: &mut Vec<OpenPath>) {
    if let Some(mode) = mode(path).filter(|mode| mode & OTHERS_MODE_BITS != 0) {
        found.push(OpenPath { path: path.to_owned(), mode, private: mode & !OTHERS_MODE_BITS });
    }
}

#[cfg(unix)]
fn walk(path: &Path, found: &mut Vec<OpenPath>) {
    check_path(path, found);
    let folder = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let entries = folder.then(|| std::fs::read_dir(path).ok()).flatten();
    entries.into_iter().flatten().flatten().for_each(|entry| walk(&entry.path(), found));
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_is_ours_is_closed_and_what_is_not_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        fs::create_dir_all(home.join("index/words")).unwrap();
        for name in ["commonbook.db", "commonbook.db-wal", "index/words/meta.json", "notes.txt"] {
            fs::write(home.join(name), "").unwrap();
            set(&home.join(name), 0o644);
        }
        fs::write(folder.path().join("elsewhere.json"), "").unwrap();
        set(&folder.path().join("elsewhere.json"), 0o644);
        symlink(folder.path().join("elsewhere.json"), home.join("config.json")).unwrap();
        set(&home.join("index/words"), 0o755);
        set(&home.join("index"), 0o700);
        set(&home, 0o777);

        let open = open_to_others(&home);
        let mut names: Vec<_> = open
            .iter()
            .map(|open| open.path.strip_prefix(&home).unwrap().display().to_string())
            .collect();
        names.sort();
        let expected =
            ["", "commonbook.db", "commonbook.db-wal", "index/words", "index/words/meta.json"];
        assert_eq!(names, expected);
        open.iter().for_each(|open| close(open).unwrap());
        assert_eq!(open_to_others(&home), []);
        let modes = [("", 0o755), ("notes.txt", 0o644), ("commonbook.db", 0o600)];
        for (name, expected) in modes {
            assert_eq!(mode(&home.join(name)), Some(expected), "{name}");
        }
        assert_eq!(mode(&folder.path().join("elsewhere.json")), Some(0o644));
        set(&home, 0o1777);
        assert_eq!(open_to_others(&home), [], "a folder like /tmp is not ours to close");
    }
}
