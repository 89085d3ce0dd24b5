//! The modes of the home's files: finds and closes those that other users can reach.

use std::path::{Path, PathBuf};

use commonbook::base::file_system::{mode_of, set_mode};

use super::process;

/// The files of a home, by the prefixes of their names. Other files belong to the user and keep their
/// modes.
const HOME_FILE_PREFIXES: [&str; 9] = [
    "commonbook.db",
    "config.json",
    "hook.key",
    "hook.log",
    "hooks.json",
    "server.",
    "setup.",
    "vaults.",
    "webhook.",
];

/// The folders of a home, with everything below them.
const HOME_FOLDERS: [&str; 9] = [
    "agreements",
    "audit",
    "backups",
    "index",
    "index-of-database",
    "locks",
    "memories",
    "sign-ins",
    "vaults",
];

/// The bits of a mode that give other users access.
pub(crate) const OTHERS_MODE_BITS: u32 = 0o077;

/// The bits that let other users write.
const OTHERS_WRITE_BITS: u32 = 0o022;

/// The sticky bit: only its owner can remove a file from a shared folder.
const STICKY_BIT: u32 = 0o1000;

/// A file or a folder that other users can reach.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OpenPath {
    /// The path.
    pub(crate) path: PathBuf,
    /// Its mode.
    pub(crate) mode: u32,
    /// The mode that it should have.
    pub(crate) private: u32,
}

/// The paths of a home that other users can reach, the outermost first. Other users may read the home
/// folder itself, because each file in it is closed; they may not write it.
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

/// Removes the access of other users to a path.
///
/// # Errors
/// Fails if the file belongs to another user.
pub(crate) fn close(open: &OpenPath) -> std::io::Result<()> {
    set_mode(&open.path, open.private)
}

/// The mode of a path; `None` for a link, whose target may belong to the user, and where there are no modes.
fn mode(path: &Path) -> Option<u32> {
    let found = std::fs::symlink_metadata(path).ok().filter(|found| !found.is_symlink())?;
    mode_of(&found)
}

/// Whether a file is of the user of this process, and nobody else may write it.
pub(crate) fn belongs_to_user(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| {
        let is_closed = mode_of(&found).is_none_or(|mode| mode & OTHERS_WRITE_BITS == 0);
        is_closed && process::owns(&found)
    })
}

fn check_path(path: &Path, found: &mut Vec<OpenPath>) {
    if let Some(mode) = mode(path).filter(|mode| mode & OTHERS_MODE_BITS != 0) {
        found.push(OpenPath { path: path.to_owned(), mode, private: mode & !OTHERS_MODE_BITS });
    }
}

fn walk(path: &Path, found: &mut Vec<OpenPath>) {
    check_path(path, found);
    let is_folder = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let entries = is_folder.then(|| std::fs::read_dir(path).ok()).flatten();
    entries.into_iter().flatten().flatten().for_each(|entry| walk(&entry.path(), found));
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn files_of_the_home_are_closed_and_other_files_keep_their_modes() {
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
        assert_eq!(open_to_others(&home), [], "a folder with the sticky bit keeps its mode");
    }
}
