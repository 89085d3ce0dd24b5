//! The root of a version control's working copy, by the mark that each one leaves there.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::git::GitConfig;

/// What a version control leaves in the root of a working copy, besides git.
const ROOT_MARKS: [&str; 19] = [
    ".jj",
    ".hg",
    ".sl",
    ".svn",
    ".bzr",
    "_darcs",
    ".darcs",
    ".pijul",
    ".fslckout",
    "_FOSSIL_",
    ".p4config",
    "p4config.txt",
    ".p4ignore",
    "$tf",
    ".plastic",
    ".repo",
    "_MTN",
    ".got",
    "CVS/Root",
];

/// Marks that lie in every folder of a working copy: its root is the highest one.
const FOLDER_MARKS: [&str; 3] = [".svn", "CVS/Root", ".p4ignore"];

/// The root of a version control's working copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VersionRoot<'f> {
    /// Its folder.
    pub(super) folder: &'f Path,
    /// Whether git keeps it.
    pub(super) is_git: bool,
}

/// Where a run of a command has found working copies: they stay there as long as it runs, and each search asks
/// for some twenty files in every folder above. A process that runs on, such as a server, searches anew.
#[derive(Debug, Default)]
pub(crate) struct VersionRootCache(Mutex<HashMap<PathBuf, Option<RootPlace>>>);

/// The place of a root among the folders above a folder.
#[derive(Debug, Clone, Copy)]
struct RootPlace {
    steps: usize,
    is_git: bool,
}

impl VersionRootCache {
    /// As [`version_root`].
    pub(super) fn version_root<'f>(&self, folder: &'f Path) -> Option<VersionRoot<'f>> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = cache.entry(folder.to_owned()).or_insert_with(|| {
            let VersionRoot { folder: root, is_git } = version_root(folder)?;
            let steps = folder.ancestors().position(|above| above == root)?;
            Some(RootPlace { steps, is_git })
        });
        let RootPlace { steps, is_git } = (*place)?;
        Some(VersionRoot { folder: folder.ancestors().nth(steps)?, is_git })
    }
}

/// The root of the version control around a folder. A repository of git comes first, since what a stranger
/// commits in one can look like a working copy of another version control, or like a bare repository.
pub(super) fn version_root(folder: &Path) -> Option<VersionRoot<'_>> {
    let git = folder.ancestors().find(|root| root.join(".git").exists());
    let other = || folder.ancestors().find_map(other_root);
    let bare = || folder.ancestors().find(|root| is_bare_folder(root));
    let of_git = |folder| VersionRoot { folder, is_git: true };
    let of_other = || other().map(|folder| VersionRoot { folder, is_git: false });
    git.map(of_git).or_else(of_other).or_else(|| bare().map(of_git))
}

/// The file or folder to which a path in a working copy leads, if it lies outside of that: a link that came with
/// a clone can lead anywhere. A `..` in the path steps out of the working copy before it is looked for: `../notes.md`
/// names a file beside it, no link.
pub(crate) fn place_outside(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let named = without_parent_steps(&path);
    let root = version_root(named.parent()?)?.folder;
    let (place, root) = (fs::canonicalize(&path).ok()?, fs::canonicalize(root).ok()?);
    (!place.starts_with(root)).then_some(place)
}

/// A path whose `..` have each removed the name before them, as a person reads it.
fn without_parent_steps(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(short.pop()),
            part => short.push(part),
        }
    }
    short
}

/// The root of another version control than git, if its mark is in this folder.
fn other_root(folder: &Path) -> Option<&Path> {
    let mark = *ROOT_MARKS.iter().find(|mark| folder.join(mark).exists())?;
    if !FOLDER_MARKS.contains(&mark) {
        return Some(folder);
    }
    folder.ancestors().take_while(|above| above.join(mark).exists()).last()
}

/// Whether a folder has version-controlled folders in it, among its first entries.
pub(super) fn holds_repositories(folder: &Path) -> bool {
    const ENTRIES_MAX: usize = 500;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let mut folders = entries.map(|entry| entry.path());
    folders.any(|folder| version_root(&folder).is_some_and(|root| root.folder == folder))
}

/// The working copy that a linked one belongs to: Mercurial, Sapling and Jujutsu keep the data of both in one
/// place, and name it in a file.
pub(super) fn main_root(root: &Path) -> Option<PathBuf> {
    let links = [(".hg/sharedpath", ".hg"), (".sl/sharedpath", ".sl"), (".jj/repo", ".jj")];
    links.iter().find_map(|(link, data)| {
        let link = root.join(link);
        let shared = fs::read_to_string(&link).ok()?;
        let shared = fs::canonicalize(link.parent()?.join(shared.trim())).ok()?;
        shared.ancestors().find(|path| path.ends_with(data))?.parent().map(Path::to_owned)
    })
}

/// The URL of the remote that another version control than git records.
pub(super) fn remote_elsewhere(root: &Path) -> Option<String> {
    let in_paths = |file: &&str| {
        let config = GitConfig::parse(&fs::read_to_string(root.join(file)).ok()?);
        config.values("paths", None, "default").next().map(str::to_owned)
    };
    let of_jujutsu = || {
        let store = root.join(".jj/repo/store");
        let target = fs::read_to_string(store.join("git_target")).ok()?;
        GitConfig::read(&store.join(target.trim())).remote_url().map(str::to_owned)
    };
    [".hg/hgrc", ".sl/config"].iter().find_map(in_paths).or_else(of_jujutsu)
}

/// Whether a folder is a bare repository of git.
fn is_bare_folder(folder: &Path) -> bool {
    let parts = ["HEAD", "objects", "refs", "config"];
    parts.iter().all(|part| folder.join(part).exists())
}
