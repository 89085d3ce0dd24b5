//! The identity of a project: its remote, else its first commit, else its path.
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
use super::remote::{canonical_remote, older_spelling};
use super::remote_settings::RemoteSettings;
use super::version_control::remote_elsewhere;

/// Repositories on this machine that are followed from remote to remote.
const LOCAL_REMOTES_MAX: usize = 3;

/// Characters of the readable part of a workspace's name.
const LABEL_CHARS_MAX: usize = 64;

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// Its folder.
    pub(crate) folder: ProjectFolder,
    /// Its remote, its first commit, or its path.
    pub(crate) identity: ProjectIdentity,
    /// Its remote as earlier versions spelled it, if that is another text.
    pub(crate) older_remote: Option<String>,
    /// The creation time of the version control's data, in milliseconds, if the disk knows it: another
    /// repository in the same place has another one.
    pub(crate) created: Option<u64>,
    /// The first commit of its own repository, if that has been looked for; empty if git does not say it.
    pub(crate) first_commit: Option<String>,
}

/// The identity of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProjectIdentity {
    /// A canonical remote: `github.com/acme/api`.
    Remote(String),
    /// The name of a repository without a remote, and its first commit.
    Commit { name: String, commit: String },
    /// A folder on this machine.
    Folder(PathBuf),
    /// What this home recorded of a folder that is gone.
    Recorded(String),
}

impl Project {
    /// The project in a folder. One without a remote has its path as identity so far.
    pub(crate) fn of(folder: ProjectFolder, settings: &RemoteSettings) -> Self {
        let own = || ProjectIdentity::Folder(folder.root.clone());
        let (identity, url) = match (&folder.recorded, folder.kind) {
            (Some(recorded), _) => (ProjectIdentity::Recorded(recorded.clone()), None),
            (None, ProjectKind::Git) => {
                git_identity(&folder.root, &folder.data, settings, LOCAL_REMOTES_MAX)
            }
            (None, ProjectKind::Versioned) => {
                let url = remote_elsewhere(&folder.root);
                let remote = url.as_deref().and_then(|url| canonical_remote(url, settings));
                (remote.map_or_else(own, ProjectIdentity::Remote), None)
            }
            (None, ProjectKind::Plain) => (own(), None),
        };
        let older_remote = url.as_deref().and_then(older_spelling);
        let older_remote = older_remote.filter(|older| *older != identity.to_string());
        let created = creation_time(&folder.data);
        Self { folder, identity, older_remote, created, first_commit: None }
    }

    /// The name of the folder.
    pub(crate) fn name(&self) -> Option<String> {
        let name = self.folder.root.file_name()?.to_string_lossy().into_owned();
        Some(name.strip_suffix(".git").unwrap_or(&name).to_owned())
    }

    /// The name of the folder, as the workspace that versions before projects had identities used.
    pub(crate) fn folder_workspace(&self) -> Option<Workspace> {
        Workspace::nearest_workspace_name(&self.name()?)
    }
}

/// The creation time of a folder, in milliseconds, if the disk knows it.
pub(super) fn creation_time(folder: &Path) -> Option<u64> {
    let created = fs::metadata(folder).and_then(|data| data.created()).ok()?;
    u64::try_from(created.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

impl ProjectIdentity {
    /// The workspace of this project: the last part of its identity, and `chars` letters of a hash.
    /// Every machine finds the same one for a remote or a commit; that of a folder belongs to the home with
    /// this key.
    pub(crate) fn workspace(&self, key: Option<&HomeKey>, chars: usize) -> Workspace {
        let text = self.to_string();
        let hash = match (self, key) {
            (Self::Folder(_), Some(key)) => hex(&key.sign(&format!("project {text}"))),
            _ => sha256(&text),
        };
        let label = match self {
            Self::Commit { name, .. } => name,
            _ => text.rsplit(['/', '\\']).next().unwrap_or(&text),
        };
        let label = Workspace::nearest_workspace_name(label);
        let label = label.map_or_else(|| "project".to_owned(), String::from);
        let label: String = label.chars().take(LABEL_CHARS_MAX).collect();
        format!("{label}-{}", &hash[..chars]).parse().unwrap_or_else(|_| Workspace::fallback())
    }
}

impl std::fmt::Display for ProjectIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Remote(identity) | Self::Recorded(identity) => f.write_str(identity),
            Self::Commit { name, commit } => write!(f, "{name}@{commit}"),
            Self::Folder(folder) => folder.display().fmt(f),
        }
    }
}

/// The identity of a git repository, and the URL of its remote.
fn git_identity(
    root: &Path,
    data: &Path,
    settings: &RemoteSettings,
    remotes_max: usize,
) -> (ProjectIdentity, Option<String>) {
    let config = GitConfig::read(data);
    let Some(own) = config.remote_url() else {
        return (ProjectIdentity::Folder(root.to_owned()), None);
    };
    let rewritten = settings.rewritten_in(&config, own);
    let urls = || rewritten.iter().map(String::as_str).chain([own]);
    if let Some(remote) = urls().find_map(|url| canonical_remote(url, settings)) {
        return (ProjectIdentity::Remote(remote), Some(own.to_owned()));
    }
    // The remote is another repository on this machine: both are one project.
    let on_disk = urls().find_map(|url| {
        let path = url.strip_prefix("file://localhost").or_else(|| url.strip_prefix("file://"));
        fs::canonicalize(root.join(path.unwrap_or(url))).ok()
    });
    match (on_disk, remotes_max) {
        (None, _) => (ProjectIdentity::Folder(root.to_owned()), None),
        (Some(remote), 0) => (ProjectIdentity::Folder(remote), None),
        (Some(remote), left) => git_identity(&remote, &git_data(&remote), settings, left - 1),
    }
}

#[cfg(test)]
mod tests;
