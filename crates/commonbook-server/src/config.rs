//! What the program is told from around it: the environment, the home folder, the git root.

use std::path::{Path, PathBuf};

use commonbook::access::Policy;
use commonbook::error::{Error, ErrorKind, Result};
use commonbook::workspace::Workspace;

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config {
    /// The folder that everything is kept in: `COMMONBOOK_HOME`, else `~/.commonbook`.
    pub(crate) home: Option<PathBuf>,
    /// `COMMONBOOK_AGENT_ID`: who calls, when the request itself does not say.
    pub(crate) agent: Option<String>,
    /// `COMMONBOOK_WORKSPACE`: the workspace, when the request itself does not say.
    pub(crate) workspace: Option<String>,
    /// `COMMONBOOK_USER_ID`: the user that the caller works for.
    pub(crate) user: Option<String>,
    /// `COMMONBOOK_EMBEDDER`: what turns texts into vectors: `bundled`, the default, `off`, the path
    /// of a model's directory, or `http(s)://HOST:PORT#MODEL`.
    pub(crate) embedder: Option<String>,
    /// `COMMONBOOK_EMBEDDER_KEY`: the key that an embedding endpoint asks for.
    pub(crate) embedder_key: Option<Secret>,
    /// `COMMONBOOK_PRODUCTION`: `1` refuses to keep what nobody has signed.
    pub(crate) production: Option<String>,
    /// `COMMONBOOK_SHARING`: who else reads a memory whose author does not say: `shared`, the
    /// default, or `private`.
    pub(crate) sharing: Option<String>,
    /// `COMMONBOOK_RATE`: how often each agent may call over HTTP, `reads=6000,writes=1200` a minute.
    pub(crate) rate: Option<String>,
    /// `COMMONBOOK_LOG`: what is logged, as `tracing` filters (`info`, `commonbook=debug`).
    pub(crate) log: Option<String>,
    /// The folder that the program was started in.
    pub(crate) folder: Option<PathBuf>,
}

/// A text that no log shows.
#[derive(Clone)]
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
impl Config {
    /// Reads the environment.
    pub(crate) fn read() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = folder("COMMONBOOK_HOME").map(PathBuf::from);
        let user_home = folder("HOME").or_else(|| folder("USERPROFILE"));
        Self {
            home: home.or_else(|| user_home.map(|user| PathBuf::from(user).join(".commonbook"))),
            agent: text("COMMONBOOK_AGENT_ID"),
            workspace: text("COMMONBOOK_WORKSPACE"),
            user: text("COMMONBOOK_USER_ID"),
            embedder: text("COMMONBOOK_EMBEDDER"),
            embedder_key: text("COMMONBOOK_EMBEDDER_KEY").map(Secret),
            production: text("COMMONBOOK_PRODUCTION"),
            sharing: text("COMMONBOOK_SHARING"),
            rate: text("COMMONBOOK_RATE"),
            log: text("COMMONBOOK_LOG"),
            folder: std::env::current_dir().ok(),
        }
    }
}

impl Config {
    /// The file that memories are kept in.
    ///
    /// # Errors
    /// `invalid` when there is no home folder to be found.
    pub(crate) fn store(&self) -> Result<PathBuf> {
        let home = self.home.as_ref().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "there is no home folder")
                .hint("Name one with --home, or set COMMONBOOK_HOME.")
        })?;
        Ok(home.join("commonbook.db"))
    }

    /// What is decided for everybody.
    ///
    /// # Errors
    /// `invalid` for a value that is none.
    pub(crate) fn policy(&self) -> Result<Policy> {
        let wrong = |name: &str, takes: &str| {
            Error::new(ErrorKind::Invalid, format!("{name} takes {takes}"))
                .hint("Mend it in the environment, or leave it out.")
        };
        let anonymous_writes = match self.production.as_deref() {
            None | Some("0" | "false") => true,
            Some("1" | "true") => false,
            Some(_) => return Err(wrong("COMMONBOOK_PRODUCTION", "1 or 0")),
        };
        let sharing = self.sharing.as_deref().map(str::parse).transpose();
        let sharing = sharing.map_err(|_| wrong("COMMONBOOK_SHARING", "shared or private"))?;
        let usual = Policy::default();
        Ok(Policy { anonymous_writes, sharing: sharing.unwrap_or(usual.sharing) })
    }

    /// The workspace that the environment names, else that of the git repository around the
    /// folder the program was started in.
    ///
    /// # Errors
    /// `invalid` when the environment's name is none.
    pub(crate) fn nearest_workspace(&self) -> Result<Option<Workspace>> {
        match &self.workspace {
            Some(name) => name.parse().map(Some),
            None => Ok(self.folder.as_deref().and_then(git_workspace)),
        }
    }
}

/// The workspace of the git repository around a folder: named after the folder of the repository,
/// for its linked worktrees too.
fn git_workspace(folder: &Path) -> Option<Workspace> {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    let main = linked_from(&root.join(".git")).unwrap_or_else(|| root.to_owned());
    Workspace::near(&main.file_name()?.to_string_lossy())
}

/// The folder of the repository that a worktree is linked to: its `.git` is a file that names
/// `REPOSITORY/.git/worktrees/NAME` (gitrepository-layout).
fn linked_from(git: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(git).ok()?;
    let linked = PathBuf::from(text.strip_prefix("gitdir:")?.trim());
    let worktrees = linked.parent().filter(|parent| parent.ends_with(".git/worktrees"))?;
    worktrees.parent()?.parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_has_the_workspace_of_its_repository() {
        let home = tempfile::tempdir().unwrap();
        let main = home.path().join("My Project");
        let tree = home.path().join("elsewhere/tree");
        std::fs::create_dir_all(main.join(".git/worktrees/tree")).unwrap();
        std::fs::create_dir_all(main.join("src/deep")).unwrap();
        std::fs::create_dir_all(&tree).unwrap();
        let link = format!("gitdir: {}\n", main.join(".git/worktrees/tree").display());
        std::fs::write(tree.join(".git"), link).unwrap();
        for folder in [main.join("src/deep"), tree] {
            let workspace = git_workspace(&folder).unwrap();
            assert_eq!(workspace.as_str(), "my-project", "{}", folder.display());
        }
    }
}
