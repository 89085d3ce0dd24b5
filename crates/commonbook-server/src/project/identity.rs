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

/// Repositories on this machine that are followed from remote to remote.
const LOCAL_REMOTES_MAX: usize = 3;

/// Characters of the readable part of a workspace's name.
const LABEL_CHARS_MAX: usize = 64;

/// The root of the git repository around a folder.
pub(crate) fn git_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// A git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The folder of the main worktree, without links in its path; of a bare repository, its folder.
    pub(crate) root: PathBuf,
    /// The remote, or the path of a repository without one.
    pub(crate) identity: ProjectIdentity,
    /// The creation time of the repository's data, in milliseconds, if the disk knows it: another
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
}

impl Repository {
    /// The repository around a folder, if there is one.
    pub(crate) fn around(folder: &Path) -> Option<Self> {
        let root = git_root(folder)?;
        let data = git_data(root);
        let root = match &data {
            // A linked worktree belongs to the main one.
            data if data.ends_with(".git") => data.parent().unwrap_or(root).to_owned(),
            data if is_bare(data) => data.clone(),
            _ => root.to_owned(),
        };
        let root = fs::canonicalize(&root).unwrap_or(root);
        let identity = identity(&root, &data, LOCAL_REMOTES_MAX);
        let created = fs::metadata(&data).and_then(|data| data.created()).ok();
        let created = created.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let created = created.and_then(|time| u64::try_from(time.as_millis()).ok());
        Some(Self { root, identity, created })
    }

    /// The name of the folder, as the workspace that versions before projects had identities used.
    pub(crate) fn folder_workspace(&self) -> Option<Workspace> {
        let name = self.root.file_name()?.to_string_lossy();
        Workspace::nearest_workspace_name(name.strip_suffix(".git").unwrap_or(&name))
    }
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
            Self::Remote(remote) => f.write_str(remote),
            Self::Folder(folder) => folder.display().fmt(f),
        }
    }
}

/// The folder of a repository's data, which its worktrees share (gitrepository-layout).
fn git_data(root: &Path) -> PathBuf {
    let git = root.join(".git");
    let Ok(text) = fs::read_to_string(&git) else { return git };
    let Some(linked) = text.strip_prefix("gitdir:") else { return git };
    let linked = root.join(linked.trim());
    match fs::read_to_string(linked.join("commondir")) {
        Ok(shared) => {
            let shared = linked.join(shared.trim());
            fs::canonicalize(&shared).unwrap_or(shared)
        }
        // A submodule, or a repository that keeps its data elsewhere.
        Err(_) => linked,
    }
}

fn is_bare(data: &Path) -> bool {
    let config = fs::read_to_string(data.join("config")).unwrap_or_default();
    values(&config, "core", "bare").any(|value| value == "true")
}

fn identity(root: &Path, data: &Path, remotes_max: usize) -> ProjectIdentity {
    let folder = || ProjectIdentity::Folder(root.to_owned());
    let config = fs::read_to_string(data.join("config")).unwrap_or_default();
    let Some(url) = remote_url(&config) else { return folder() };
    if let Some(remote) = canonical_remote(&url) {
        return ProjectIdentity::Remote(remote);
    }
    // The remote is another repository on this machine: both are one project.
    let path = url.strip_prefix("file://").unwrap_or(&url);
    let Ok(remote) = fs::canonicalize(root.join(path)) else { return folder() };
    let data = Some(remote.join(".git")).filter(|git| git.exists());
    let data = data.map_or_else(|| remote.clone(), |_| git_data(&remote));
    match remotes_max {
        0 => ProjectIdentity::Folder(remote),
        left => identity(&remote, &data, left - 1),
    }
}

/// The URL of `origin`, else of the only remote.
fn remote_url(config: &str) -> Option<String> {
    if let Some(origin) = values(config, "remote \"origin\"", "url").next() {
        return Some(origin);
    }
    let names: Vec<&str> = sections(config).filter(|name| name.starts_with("remote ")).collect();
    let only = names.first().filter(|first| names.iter().all(|name| name == *first))?;
    values(config, only, "url").next()
}

/// The names of the sections of a git configuration.
fn sections(config: &str) -> impl Iterator<Item = &str> {
    config.lines().filter_map(section_name)
}

fn section_name(line: &str) -> Option<&str> {
    Some(line.trim().strip_prefix('[')?.split_once(']')?.0.trim())
}

/// The values of a key in one section of a git configuration, in order.
fn values<'c>(config: &'c str, section: &'c str, key: &'c str) -> impl Iterator<Item = String> {
    let mut is_inside = false;
    config.lines().filter_map(move |line| {
        if let Some(name) = section_name(line) {
            is_inside = name == section;
            return None;
        }
        let (name, value) = line.split_once('=').filter(|_| is_inside)?;
        let value = value.trim().trim_matches('"');
        (name.trim().eq_ignore_ascii_case(key) && !value.is_empty()).then(|| value.to_owned())
    })
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
