//! The folder that is a project: the root of its version control, else the folder that a client opened.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::git::git_data;
use super::map::ProjectMap;
use super::version_control::{
    VersionRoot, VersionRootCache, holds_repositories, main_root, version_root,
};

/// Files of which one is in every home of Commonbook.
const HOME_FILES: [&str; 2] = ["commonbook.db", "hook.key"];

/// Folders of programs, in which clients with a window start their servers.
const SYSTEM_FOLDERS: [&str; 6] =
    ["/Applications", "/System", "/usr/bin", "/usr/lib", "/usr/share", "/proc"];

/// What keeps the files of a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProjectKind {
    /// Git.
    #[default]
    Git,
    /// Another version control.
    Versioned,
    /// Nothing but the disk.
    Plain,
}

/// The folder of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectFolder {
    /// The root, without links in its path: of linked working copies that of the main one.
    pub(crate) root: PathBuf,
    /// The root of the working copy around the folder, if it is a linked one.
    pub(crate) worktree: Option<PathBuf>,
    /// What keeps its files.
    pub(crate) kind: ProjectKind,
    /// The folder with the data of the version control.
    pub(super) data: PathBuf,
    /// The identity that this home recorded, if the folder is gone.
    pub(super) recorded: Option<String>,
}

/// The surroundings of a folder.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FolderSearch<'c> {
    /// The home folder of Commonbook.
    pub(crate) home: Option<&'c Path>,
    /// The home folder of the user.
    pub(crate) user_home: Option<&'c Path>,
    /// Whether a client opened this very folder.
    pub(crate) is_opened: bool,
    /// The working copies that were found before.
    pub(crate) roots: Option<&'c VersionRootCache>,
}

impl ProjectFolder {
    /// The project around a folder; `None` if there is no folder of a project: the root of a disk, the user's
    /// home, a folder above it, a home of Commonbook, and folders of the system are none.
    ///
    /// A folder that is gone is in the project that it was in. A folder without a version control belongs to
    /// the folder above it that a client opened, unless a client opened itself, or unless that one holds
    /// repositories.
    pub(crate) fn around(folder: &Path, search: FolderSearch<'_>) -> Option<Self> {
        let whole = whole_path(folder);
        let map = || search.home.and_then(|home| ProjectMap::read(home).ok()).unwrap_or_default();
        let is_gone = !whole.exists();
        if is_gone && let Some(gone) = map().gone_around(&whole) {
            return Some(gone);
        }
        // A mark of another version control in the user's home is a setting for all of them.
        let counts = |root: &VersionRoot<'_>| root.is_git || !search.is_nowhere(root.folder);
        let versioned = || search.version_root(folder).filter(counts);
        let whole_versioned =
            || if whole == folder { None } else { search.version_root(&whole).filter(counts) };
        if let Some(root) = versioned().or_else(whole_versioned) {
            return Some(match root.is_git {
                true => Self::of_git(root.folder),
                false => Self::of_versioned(root.folder),
            });
        }
        let opened = || map().opened_around(&whole).filter(|root| !holds_repositories(root));
        let root = match search.is_opened && !is_gone {
            true => whole,
            false => opened().unwrap_or(whole),
        };
        (!search.is_nowhere(&root)).then(|| Self {
            data: root.clone(),
            root,
            worktree: None,
            kind: ProjectKind::Plain,
            recorded: None,
        })
    }

    fn of_git(copy: &Path) -> Self {
        let data = git_data(copy);
        let root = match &data {
            // A linked worktree belongs to the main one.
            data if data.ends_with(".git") => data.parent().unwrap_or(copy).to_owned(),
            data if super::git::is_bare(data) => data.clone(),
            _ => copy.to_owned(),
        };
        Self::linked(copy, root, ProjectKind::Git, data)
    }

    fn of_versioned(copy: &Path) -> Self {
        let root = main_root(copy).unwrap_or_else(|| copy.to_owned());
        Self::linked(copy, root.clone(), ProjectKind::Versioned, root)
    }

    fn linked(copy: &Path, root: PathBuf, kind: ProjectKind, data: PathBuf) -> Self {
        let root = fs::canonicalize(&root).unwrap_or(root);
        let worktree = Some(whole_path(copy)).filter(|copy| *copy != root);
        Self { root, worktree, kind, data, recorded: None }
    }

    /// The root of the working copy here.
    pub(crate) fn working_copy(self) -> PathBuf {
        self.worktree.unwrap_or(self.root)
    }
}

impl FolderSearch<'_> {
    fn version_root<'f>(&self, folder: &'f Path) -> Option<VersionRoot<'f>> {
        self.roots.map_or_else(|| version_root(folder), |roots| roots.version_root(folder))
    }

    /// Whether a folder is no project's.
    fn is_nowhere(self, folder: &Path) -> bool {
        let whole = |path: Option<&Path>| path.map(whole_path);
        folder.parent().is_none()
            || whole(self.user_home).is_some_and(|user| user.starts_with(folder))
            || whole(self.home).is_some_and(|home| folder.starts_with(home))
            || HOME_FILES.iter().any(|file| folder.join(file).exists())
            || is_of_system(folder)
    }
}

/// Whether a folder is one of the system or of a program.
fn is_of_system(folder: &Path) -> bool {
    if !cfg!(windows) {
        return SYSTEM_FOLDERS.iter().any(|system| folder.starts_with(system));
    }
    // After the drive and its root.
    let name =
        folder.components().nth(2).map(|name| name.as_os_str().to_string_lossy().to_lowercase());
    name.is_some_and(|name| name == "windows" || name.starts_with("program files"))
}

/// A path without links, as far as it exists.
pub(super) fn whole_path(path: &Path) -> PathBuf {
    let mut above = path.ancestors();
    let found = above.find_map(|part| Some((part, fs::canonicalize(part).ok()?)));
    match found {
        Some((part, whole)) => match path.strip_prefix(part) {
            Ok(rest) if rest.as_os_str().is_empty() => whole,
            Ok(rest) => whole.join(rest),
            Err(_) => path.to_owned(),
        },
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
