//! What the user's own settings of git and ssh say of remotes: rewritten URLs, and aliases of hosts. They are
//! read, and nothing that they name is run.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use super::git::GitConfig;

/// Files that lead to one another.
const INCLUDES_MAX: usize = 8;

/// The user's settings of remotes, read when they are needed.
#[derive(Debug, Default)]
pub(crate) struct RemoteSettings {
    user_home: Option<PathBuf>,
    git_files: Vec<PathBuf>,
    git: OnceCell<Vec<GitConfig>>,
    ssh: OnceCell<Vec<SshHost>>,
}

/// A line `HostName` of the ssh configuration, and where it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SshHost {
    /// The patterns of a host; `!` before one excludes what fits it.
    patterns: Vec<String>,
    name: String,
}

impl RemoteSettings {
    /// The settings in these files of git, and in the home folder of the user.
    pub(crate) fn new(user_home: Option<&Path>, git_files: &[PathBuf]) -> Self {
        let user_home = user_home.map(Path::to_owned);
        Self { user_home, git_files: git_files.to_owned(), ..Self::default() }
    }

    /// The URL that git uses in place of this one, if the user's settings rewrite it.
    pub(super) fn rewritten(&self, url: &str) -> Option<String> {
        rewritten(self.git().iter(), url)
    }

    /// The same, if those of the repository do too.
    pub(super) fn rewritten_in(&self, repository: &GitConfig, url: &str) -> Option<String> {
        rewritten(self.git().iter().chain([repository]), url)
    }

    /// The host that ssh connects to under this name, if that is another one.
    pub(super) fn ssh_host(&self, alias: &str) -> Option<String> {
        let alias = alias.to_lowercase();
        let hosts = self.ssh.get_or_init(|| {
            let Some(user_home) = &self.user_home else { return Vec::new() };
            let mut hosts = Vec::new();
            let folder = user_home.join(".ssh");
            read_ssh(&folder.join("config"), &folder, user_home, INCLUDES_MAX, &mut hosts);
            hosts
        });
        let found = hosts.iter().find(|host| fits(&host.patterns, &alias))?;
        Some(found.name.replace("%h", &alias).to_lowercase()).filter(|name| *name != alias)
    }

    fn git(&self) -> &[GitConfig] {
        self.git.get_or_init(|| {
            let mut all = Vec::new();
            for file in &self.git_files {
                self.read_git(file, INCLUDES_MAX, &mut all);
            }
            all
        })
    }

    /// Reads a file of git's, and the files that it includes everywhere.
    fn read_git(&self, file: &Path, includes_max: usize, all: &mut Vec<GitConfig>) {
        let Ok(text) = fs::read_to_string(file) else { return };
        let config = GitConfig::parse(&text);
        let included: Vec<PathBuf> = config
            .values("include", None, "path")
            .map(|path| self.below(path, file.parent()))
            .collect();
        all.push(config);
        if includes_max > 0 {
            included.iter().for_each(|file| self.read_git(file, includes_max - 1, all));
        }
    }

    fn below(&self, path: &str, folder: Option<&Path>) -> PathBuf {
        match (path.strip_prefix("~/"), &self.user_home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => folder.map_or_else(|| path.into(), |folder| folder.join(path)),
        }
    }
}

/// A URL after `url.BASE.insteadOf`, of which the longest one counts.
fn rewritten<'c>(all: impl Iterator<Item = &'c GitConfig>, url: &str) -> Option<String> {
    let rules = all.flat_map(GitConfig::rewrites);
    let fitting =
        rules.filter_map(|(base, prefix)| Some((base, prefix, url.strip_prefix(prefix)?)));
    let (base, _, rest) = fitting.max_by_key(|(_, prefix, _)| prefix.len())?;
    Some(format!("{base}{rest}"))
}

/// Reads the names of hosts in an ssh configuration (ssh_config(5)). Of `Match`, which can run programs, only
/// conditions on the host are read; a section with others holds for none.
fn read_ssh(
    file: &Path,
    folder: &Path,
    home: &Path,
    includes_max: usize,
    hosts: &mut Vec<SshHost>,
) {
    let Ok(text) = fs::read_to_string(file) else { return };
    let mut patterns = vec!["*".to_owned()];
    for line in text.lines() {
        let line = line.trim();
        let Some((keyword, rest)) = line.split_once([' ', '\t', '=']) else { continue };
        let rest = rest.trim_start_matches([' ', '\t', '=']).replace('"', "");
        let words = || rest.split_whitespace();
        match &*keyword.to_lowercase() {
            "host" => patterns = words().map(str::to_lowercase).collect(),
            "match" => patterns = match_patterns(&rest.to_lowercase()),
            "hostname" => {
                let name = words().next().unwrap_or_default().to_owned();
                hosts.push(SshHost { patterns: patterns.clone(), name });
            }
            "include" if includes_max > 0 && patterns == ["*"] => {
                for file in words().flat_map(|path| included(path, folder, home)) {
                    read_ssh(&file, folder, home, includes_max - 1, hosts);
                }
            }
            _ => {}
        }
    }
}

/// The hosts of `Match all`, `Match host A,B` and `Match originalhost A,B`.
fn match_patterns(conditions: &str) -> Vec<String> {
    let words: Vec<&str> = conditions.split_whitespace().collect();
    match words[..] {
        ["all"] => vec!["*".to_owned()],
        ["host" | "originalhost", list] => list.split(',').map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The files of a line `Include`: `*` in the last part of a path stands for any text.
fn included(path: &str, folder: &Path, home: &Path) -> Vec<PathBuf> {
    let whole = match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => folder.join(path),
    };
    let (Some(above), Some(pattern)) = (whole.parent(), whole.file_name()) else {
        return Vec::new();
    };
    let pattern = pattern.to_string_lossy();
    if !pattern.contains(['*', '?']) {
        return vec![whole];
    }
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    let names = entries.filter(|entry| is_like(&entry.file_name().to_string_lossy(), &pattern));
    let mut files: Vec<PathBuf> = names.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Whether a host fits one of these patterns, and none that excludes it.
fn fits(patterns: &[String], host: &str) -> bool {
    let excluded = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!'));
    !excluded.into_iter().any(|pattern| is_like(host, pattern))
        && patterns.iter().any(|pattern| is_like(host, pattern))
}

/// Whether a text is like a pattern with `*` and `?`.
fn is_like(text: &str, pattern: &str) -> bool {
    let mut letters = pattern.chars();
    match letters.next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = letters.as_str();
            text.char_indices().any(|(at, _)| is_like(&text[at..], rest)) || is_like("", rest)
        }
        Some(c) => {
            let mut own = text.chars();
            own.next().is_some_and(|first| c == '?' || c == first)
                && is_like(own.as_str(), letters.as_str())
        }
    }
}

#[cfg(test)]
mod tests;
