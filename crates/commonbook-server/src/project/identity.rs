//! The identity of a project: its git remote, else its path.
//!
//! Worktrees and clones of one repository have one identity, on every machine. Two repositories have
//! two, even if their folders have the same name.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use commonbook::base::hash::sha256;
use commonbook::base::home_key::{HomeKey, hex};
use commonbook::model::workspace::Workspace;

use super::folder::{ProjectFolder, ProjectKind};
use super::git::{GitConfig, git_data};

/// Repositories on this machine that are followed from remote to remote.
const LOCAL_REMOTES_MAX: usize = 3;

/// Characters of the readable part of a workspace's name.
const LABEL_CHARS_MAX: usize = 64;

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// Its folder.
    pub(crate) folder: ProjectFolder,
    /// Its remote, or the path of a folder without one.
    pub(crate) identity: ProjectIdentity,
    /// The creation time of the version control's data, in milliseconds, if the disk knows it: another
    /// repository in the same place has another one.
    pub(crate) created: Option<u64>,
}

/// The identity of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProjectIdentity {
    /// A canonical remote: `github.com/acme/api`.
    Remote(String),
    /// A folder on this machine.
    Folder(PathBuf),
    /// What this home recorded of a folder that is gone.
    Recorded(String),
}

impl Project {
    /// The project in a folder.
    pub(crate) fn of(folder: ProjectFolder) -> Self {
        let identity = match (&folder.recorded, folder.kind) {
            (Some(recorded), _) => ProjectIdentity::Recorded(recorded.clone()),
            (None, ProjectKind::Git) => identity(&folder.root, &folder.data, LOCAL_REMOTES_MAX),
            (None, _) => ProjectIdentity::Folder(folder.root.clone()),
        };
        let created = creation_time(&folder.data);
        Self { folder, identity, created }
    }

    /// The name of the folder, as the workspace that versions before projects had identities used.
    pub(crate) fn folder_workspace(&self) -> Option<Workspace> {
        let name = self.folder.root.file_name()?.to_string_lossy();
        Workspace::nearest_workspace_name(name.strip_suffix(".git").unwrap_or(&name))
    }
}

/// The creation time of a folder, in milliseconds, if the disk knows it.
pub(super) fn creation_time(folder: &Path) -> Option<u64> {
    let created = fs::metadata(folder).and_then(|data| data.created()).ok()?;
    u64::try_from(created.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

impl ProjectIdentity {
    /// The workspace of this project: the last part of its identity, and `chars` letters of a hash.
    /// Every machine finds the same one for a remote; that of a folder belongs to the home with this key.
    pub(crate) fn workspace(&self, key: Option<&HomeKey>, chars: usize) -> Workspace {
        let text = self.to_string();
        let hash = match (self, key) {
            (Self::Folder(_), Some(key)) => hex(&key.sign(&format!("project {text}"))),
            _ => sha256(&text),
        };
        let label = text.rsplit(['/', '\\']).next().and_then(Workspace::nearest_workspace_name);
        let label = label.map_or_else(|| "project".to_owned(), String::from);
        let label: String = label.chars().take(LABEL_CHARS_MAX).collect();
        format!("{label}-{}", &hash[..chars]).parse().unwrap_or_else(|_| Workspace::fallback())
    }
}

impl std::fmt::Display for ProjectIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Remote(identity) | Self::Recorded(identity) => f.write_str(identity),
            Self::Folder(folder) => folder.display().fmt(f),
        }
    }
}

fn identity(root: &Path, data: &Path, remotes_max: usize) -> ProjectIdentity {
    let folder = || ProjectIdentity::Folder(root.to_owned());
    let config = GitConfig::read(data);
    let Some(url) = config.remote_url() else { return folder() };
    if let Some(remote) = canonical_remote(url) {
        return ProjectIdentity::Remote(remote);
    }
    // The remote is another repository on this machine: both are one project.
    let path = url.strip_prefix("file://").unwrap_or(url);
    let Ok(remote) = fs::canonicalize(root.join(path)) else { return folder() };
    let data = git_data(&remote);
    match remotes_max {
        0 => ProjectIdentity::Folder(remote),
        left => identity(&remote, &data, left - 1),
    }
}

/// A remote without what differs between its forms: `github.com/acme/api` for `git@github.com:acme/api`
/// and `https://user@GitHub.com:443/acme/api.git/`. Returns `None` for a path on this machine.
fn canonical_remote(url: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // A colon after a slash, or after the letter of a drive, is part of a path.
        None => url.split_once(':').filter(|(host, _)| host.len() > 1 && !host.contains('/'))?,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(address) => address.split_once(']')?.0,
        None => host.split_once(':').map_or(host, |(host, _)| host),
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = parts.join("/");
    let path = path.strip_suffix(".git").unwrap_or(&path).trim_end_matches('/');
    if host.is_empty() || path.is_empty() {
        return None;
    }
    Some(format!("{}/{path}", host.trim_end_matches('.').to_lowercase()))
}

#[cfg(test)]
mod tests;
