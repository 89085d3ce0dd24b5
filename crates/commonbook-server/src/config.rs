//! What the program is told from around it: the environment, the home folder, the git root.

use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::access::AccessPolicy;
use commonbook::model::collaboration::CollaborationSettings;
use commonbook::model::workspace::Workspace;
use commonbook::prompt::context::ContextPreferences;
use serde::de::DeserializeOwned;

/// The file of the home folder that settings stand in.
const SETTINGS_FILE: &str = "config.json";

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The folder that everything is kept in: `COMMONBOOK_HOME`, else `~/.commonbook`.
    pub home: Option<PathBuf>,
    /// `COMMONBOOK_AGENT_ID`: who calls, when the request itself does not say.
    pub agent: Option<String>,
    /// `COMMONBOOK_WORKSPACE`: the workspace, when the request itself does not say.
    pub workspace: Option<String>,
    /// `COMMONBOOK_USER_ID`: the user that the caller works for.
    pub user: Option<String>,
    /// `COMMONBOOK_EMBEDDER`: what turns texts into vectors: `bundled`, the default, `off`, the path
    /// of a model's directory, or `http(s)://HOST:PORT#MODEL`.
    pub embedder: Option<String>,
    /// `COMMONBOOK_EMBEDDER_KEY`: the key that an embedding endpoint asks for.
    pub embedder_key: Option<SecretString>,
    /// `COMMONBOOK_DIGEST_KEY`: the key that an endpoint asks for which writes digests.
    pub digest_key: Option<SecretString>,
    /// `COMMONBOOK_PRODUCTION`: `1` refuses to keep what nobody has signed.
    pub production: Option<String>,
    /// `COMMONBOOK_SHARING`: who else reads a memory whose author does not say: `shared`, the
    /// default, or `private`.
    pub sharing: Option<String>,
    /// `COMMONBOOK_RATE`: how often each agent may call over HTTP, `reads=6000,writes=1200` a minute.
    pub rate: Option<String>,
    /// `COMMONBOOK_SANDBOX`: `on`, the default, or `off`: whether the kernel holds a server to its files.
    pub sandbox: Option<String>,
    /// `COMMONBOOK_HOSTS`: the names that clients call the server by, beside its own.
    pub hosts: Option<String>,
    /// `COMMONBOOK_LOG`: what is logged, as `tracing` filters (`info`, `commonbook=debug`).
    pub log: Option<String>,
    /// The folder that the program was started in.
    pub folder: Option<PathBuf>,
    /// `HOME`: the user's own folder, which clients keep their files in.
    pub user_home: Option<PathBuf>,
    /// Where clients keep them instead, by the beginning of their paths: `CLAUDE_CONFIG_DIR`,
    /// `CODEX_HOME`, `XDG_CONFIG_HOME`.
    pub client_folders: Vec<(&'static str, PathBuf)>,
}

/// A text that no log shows.
#[derive(Clone)]
pub struct SecretString(pub(crate) String);

impl std::fmt::Debug for SecretString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
impl Config {
    /// Reads the environment.
    pub fn read() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = folder("COMMONBOOK_HOME").map(PathBuf::from);
        let user_home = folder("HOME").or_else(|| folder("USERPROFILE")).map(PathBuf::from);
        let client_folders = CLIENT_FOLDERS.iter().filter_map(|(name, below, beginnings)| {
            let folder = PathBuf::from(folder(name)?).join(below);
            Some(beginnings.iter().map(move |beginning| (*beginning, folder.clone())))
        });
        Self {
            client_folders: client_folders.flatten().collect(),
            home: home.or_else(|| default_home(user_home.as_deref())),
            user_home,
            agent: text("COMMONBOOK_AGENT_ID"),
            workspace: text("COMMONBOOK_WORKSPACE"),
            user: text("COMMONBOOK_USER_ID"),
            embedder: text("COMMONBOOK_EMBEDDER"),
            embedder_key: text("COMMONBOOK_EMBEDDER_KEY").map(SecretString),
            digest_key: text("COMMONBOOK_DIGEST_KEY").map(SecretString),
            production: text("COMMONBOOK_PRODUCTION"),
            sharing: text("COMMONBOOK_SHARING"),
            rate: text("COMMONBOOK_RATE"),
            sandbox: text("COMMONBOOK_SANDBOX"),
            hosts: text("COMMONBOOK_HOSTS"),
            log: text("COMMONBOOK_LOG"),
            folder: std::env::current_dir().ok(),
        }
    }
}

impl Config {
    /// The home folder.
    ///
    /// # Errors
    /// `invalid` when there is none to be found.
    pub(crate) fn home(&self) -> Result<&Path> {
        self.home.as_deref().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "there is no home folder")
                .hint("Name one with --home, or set COMMONBOOK_HOME.")
        })
    }

    /// The file that memories are kept in.
    ///
    /// # Errors
    /// As [`Self::home`].
    pub(crate) fn store_path(&self) -> Result<PathBuf> {
        Ok(self.home()?.join("commonbook.db"))
    }

    /// The home folder, where it is not the one that is used without a word.
    pub(crate) fn custom_home(&self) -> Option<&Path> {
        let usual = default_home(self.user_home.as_deref());
        self.home.as_deref().filter(|home| usual.as_deref() != Some(home))
    }

    /// The folder of the project that the program was started in: that of the git repository, else
    /// the folder itself.
    pub(crate) fn project(&self) -> Option<PathBuf> {
        let folder = self.folder.as_deref()?;
        Some(git_root(folder).unwrap_or(folder).to_owned())
    }

    /// Where a client keeps one of the user's files, if it was told to elsewhere than in the home.
    pub(crate) fn client_path(&self, path: &str) -> Option<PathBuf> {
        self.client_folders.iter().find_map(|(beginning, folder)| {
            let below = path.strip_prefix(beginning)?;
            // `.claude.json` moves as it is; of `.claude/settings.json` what is below the folder.
            Some(folder.join(if beginning.ends_with('/') { below } else { path }))
        })
    }

    /// What is decided for everybody.
    ///
    /// # Errors
    /// `invalid` for a value that is none.
    pub(crate) fn policy(&self) -> Result<AccessPolicy> {
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
        let usual = AccessPolicy::default();
        Ok(AccessPolicy { anonymous_writes, sharing: sharing.unwrap_or(usual.sharing) })
    }

    /// What the file `config.json` of the home folder says of contexts, under `context`.
    ///
    /// # Errors
    /// `invalid` for a file that is no JSON, or says what cannot be.
    pub(crate) fn preferences(&self) -> Result<ContextPreferences> {
        self.read_section("context", |preferences: &ContextPreferences| {
            preferences.check().map(drop)
        })
    }

    /// What it says of handoffs, under `collaboration`.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn collaboration(&self) -> Result<CollaborationSettings> {
        self.read_section("collaboration", CollaborationSettings::check)
    }

    /// What it says of digests, under `digest`.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn digest(&self) -> Result<crate::digest::DigestSettings> {
        self.read_section("digest", crate::digest::DigestSettings::check)
    }

    /// The folders that a server may use besides the home: what the file lists under `folders`.
    ///
    /// # Errors
    /// As [`Self::preferences`], and for a path that is not absolute.
    pub(crate) fn sandbox_folders(&self) -> Result<Vec<PathBuf>> {
        self.read_section("folders", |folders: &Vec<PathBuf>| {
            let relative = folders.iter().find(|folder| !folder.is_absolute());
            relative.map_or(Ok(()), |folder| {
                let message = format!("{} is not an absolute path", folder.display());
                Err(Error::new(ErrorKind::Invalid, message))
            })
        })
    }

    /// Whether a server asks the kernel for its sandbox.
    ///
    /// # Errors
    /// `invalid` for a value that is neither `on` nor `off`.
    pub(crate) fn wants_sandbox(&self) -> Result<bool> {
        match self.sandbox.as_deref() {
            None | Some("on") => Ok(true),
            Some("off") => Ok(false),
            Some(_) => Err(Error::new(ErrorKind::Invalid, "COMMONBOOK_SANDBOX takes on or off")
                .hint("Set it to one of them, or leave it out.")),
        }
    }

    /// What the file says under this name, checked.
    fn read_section<T: Default + DeserializeOwned>(
        &self,
        name: &str,
        check: impl Fn(&T) -> Result<()>,
    ) -> Result<T> {
        let Some(path) = self.home.as_ref().map(|home| home.join(SETTINGS_FILE)) else {
            return Ok(T::default());
        };
        let wrong = |what: String| {
            Error::new(ErrorKind::Invalid, format!("{}: {what}", path.display()))
                .hint("Mend the file, or take it away; docs/operating.md tells what it takes.")
        };
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(T::default()),
            read => read.map_err(|error| wrong(error.to_string()))?,
        };
        let mut all: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let Some(section) = all.remove(name) else { return Ok(T::default()) };
        let read = commonbook::base::input::from_value::<T>(section);
        let checked = read.and_then(|read| check(&read).map(|()| read));
        checked.map_err(|error| {
            let field = error.field.map(|field| format!(".{field}")).unwrap_or_default();
            wrong(format!("{name}{field}: {}", error.message))
        })
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

/// The file in the home that hooks log to.
pub(crate) const HOOK_LOG: &str = "hook.log";

/// What clients hear of where to keep their files: the variable, the folder below what it says, and
/// the beginnings of the paths that it stands for.
const CLIENT_FOLDERS: [(&str, &str, &[&str]); 3] = [
    ("CLAUDE_CONFIG_DIR", "", &[".claude.json", ".claude/"]),
    ("CODEX_HOME", "", &[".codex/"]),
    ("XDG_CONFIG_HOME", "opencode", &[".config/opencode/"]),
];

fn default_home(user: Option<&Path>) -> Option<PathBuf> {
    Some(user?.join(".commonbook"))
}

fn git_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// The workspace of the git repository around a folder: named after the folder of the repository,
/// for its linked worktrees too.
fn git_workspace(folder: &Path) -> Option<Workspace> {
    let root = git_root(folder)?;
    let main = main_repository(&root.join(".git")).unwrap_or_else(|| root.to_owned());
    Workspace::nearest_workspace_name(&main.file_name()?.to_string_lossy())
}

/// The folder of the repository that a worktree is linked to: its `.git` is a file that names
/// `REPOSITORY/.git/worktrees/NAME` (gitrepository-layout).
fn main_repository(git: &Path) -> Option<PathBuf> {
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
