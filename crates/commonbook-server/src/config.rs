//! The configuration: environment variables, config.json and the git repository.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::access::AccessPolicy;
use commonbook::model::collaboration::CollaborationSettings;
use commonbook::model::workspace::Workspace;
use commonbook::prompt::context::ContextPreferences;
use serde::de::DeserializeOwned;

/// The settings file in the home folder.
const SETTINGS_FILE: &str = "config.json";

/// The configuration from the environment.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The folder of all data: `COMMONBOOK_HOME`, else `~/.commonbook`.
    pub home: Option<PathBuf>,
    /// `COMMONBOOK_AGENT_ID`: the agent, if the request does not name it.
    pub agent: Option<String>,
    /// `COMMONBOOK_WORKSPACE`: the workspace, if the request does not name it.
    pub workspace: Option<String>,
    /// `COMMONBOOK_USER_ID`: the user that the caller works for.
    pub user: Option<String>,
    /// `COMMONBOOK_SESSION`: the session that commands work in, if a flag does not name it.
    pub session: Option<String>,
    /// `PATH`: where programs of clients are.
    pub search_path: Option<OsString>,
    /// `COMMONBOOK_EMBEDDER`: the embedder: `bundled`, the default, `off`, the path of a model's
    /// directory, or `http(s)://HOST:PORT#MODEL`.
    pub embedder: Option<String>,
    /// `COMMONBOOK_EMBEDDER_KEY`: the key of an embedding endpoint.
    pub embedder_key: Option<SecretString>,
    /// `COMMONBOOK_DIGEST_KEY`: the key of an endpoint that writes digests.
    pub digest_key: Option<SecretString>,
    /// `COMMONBOOK_PRODUCTION`: `1` refuses writes from callers without a name.
    pub production: Option<String>,
    /// `COMMONBOOK_SHARING`: the sharing of a memory whose author does not choose: `shared`, the default,
    /// or `private`.
    pub sharing: Option<String>,
    /// `COMMONBOOK_RATE`: the rate limit of each agent over HTTP, `reads=6000,writes=1200` a minute.
    pub rate: Option<String>,
    /// `COMMONBOOK_SANDBOX`: `on`, the default, or `off`: whether the kernel restricts a server to its files.
    pub sandbox: Option<String>,
    /// `COMMONBOOK_HOSTS`: further host names of the server.
    pub hosts: Option<String>,
    /// `COMMONBOOK_LOG`: the filter of the log (`info`, `commonbook=debug`).
    pub log: Option<String>,
    /// The working folder at the start of the program.
    pub folder: Option<PathBuf>,
    /// `HOME`: the user's home folder, which contains the files of clients.
    pub user_home: Option<PathBuf>,
    /// Other folders of client files, by the prefixes of their paths: `CLAUDE_CONFIG_DIR`, `CODEX_HOME`,
    /// `XDG_CONFIG_HOME`.
    pub client_folders: Vec<(&'static str, PathBuf)>,
}

/// A text that debug output hides.
#[derive(Clone)]
pub struct SecretString(pub(crate) String);

impl std::fmt::Debug for SecretString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretString")
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
        let client_folders = CLIENT_FOLDERS.iter().filter_map(|(name, below, prefixes)| {
            let folder = PathBuf::from(folder(name)?).join(below);
            Some(prefixes.iter().map(move |prefix| (*prefix, folder.clone())))
        });
        Self {
            client_folders: client_folders.flatten().collect(),
            home: home.or_else(|| default_home(user_home.as_deref())),
            user_home,
            agent: text("COMMONBOOK_AGENT_ID"),
            workspace: text("COMMONBOOK_WORKSPACE"),
            user: text("COMMONBOOK_USER_ID"),
            session: text("COMMONBOOK_SESSION"),
            search_path: folder("PATH"),
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
    /// `invalid` if neither `COMMONBOOK_HOME` nor `HOME` is set.
    pub(crate) fn home(&self) -> Result<&Path> {
        self.home.as_deref().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "the home folder is unknown")
                .hint("Name it with --home, or set COMMONBOOK_HOME.")
        })
    }

    /// The file of the store.
    ///
    /// # Errors
    /// As [`Self::home`].
    pub(crate) fn store_path(&self) -> Result<PathBuf> {
        Ok(self.home()?.join("commonbook.db"))
    }

    /// The home folder, if it is not the default.
    pub(crate) fn custom_home(&self) -> Option<&Path> {
        let default = default_home(self.user_home.as_deref());
        self.home.as_deref().filter(|home| default.as_deref() != Some(home))
    }

    /// The folder of the project: the root of the git repository, else the working folder.
    pub(crate) fn project(&self) -> Option<PathBuf> {
        let folder = self.folder.as_deref()?;
        Some(git_root(folder).unwrap_or(folder).to_owned())
    }

    /// The path of a client's file, if an environment variable moves it out of the home.
    pub(crate) fn client_path(&self, path: &str) -> Option<PathBuf> {
        self.client_folders.iter().find_map(|(prefix, folder)| {
            let below = path.strip_prefix(prefix)?;
            // `.claude.json` keeps its name; `.claude/settings.json` becomes `settings.json`.
            Some(folder.join(if prefix.ends_with('/') { below } else { path }))
        })
    }

    /// The access policy of this process.
    ///
    /// # Errors
    /// `invalid` if a variable has an unknown value.
    pub(crate) fn policy(&self) -> Result<AccessPolicy> {
        let invalid = |name: &str, expected: &str| {
            Error::new(ErrorKind::Invalid, format!("{name} is not valid; expected {expected}"))
                .hint(format!("Correct {name} in the environment, or unset it."))
        };
        let anonymous_writes = match self.production.as_deref() {
            None | Some("0" | "false") => true,
            Some("1" | "true") => false,
            Some(_) => return Err(invalid("COMMONBOOK_PRODUCTION", "1 or 0")),
        };
        let sharing = self.sharing.as_deref().map(str::parse).transpose();
        let sharing = sharing.map_err(|_| invalid("COMMONBOOK_SHARING", "shared or private"))?;
        let default = AccessPolicy::default();
        Ok(AccessPolicy { anonymous_writes, sharing: sharing.unwrap_or(default.sharing) })
    }

    /// The section `context` of config.json.
    ///
    /// # Errors
    /// `invalid` if the file is not JSON or a value is not valid.
    pub(crate) fn preferences(&self) -> Result<ContextPreferences> {
        self.read_section("context", |preferences: &ContextPreferences| {
            preferences.check().map(drop)
        })
    }

    /// The section `collaboration` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn collaboration(&self) -> Result<CollaborationSettings> {
        self.read_section("collaboration", CollaborationSettings::check)
    }

    /// The section `digest` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn digest(&self) -> Result<crate::digest::DigestSettings> {
        self.read_section("digest", crate::digest::DigestSettings::check)
    }

    /// The folders that a server may use besides the home: the section `folders` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`]; `invalid` if a path is not absolute.
    pub(crate) fn sandbox_folders(&self) -> Result<Vec<PathBuf>> {
        self.read_section("folders", |folders: &Vec<PathBuf>| {
            let relative = folders.iter().find(|folder| !folder.is_absolute());
            relative.map_or(Ok(()), |folder| {
                let message = format!("{} is not an absolute path", folder.display());
                Err(Error::new(ErrorKind::Invalid, message))
            })
        })
    }

    /// Whether a server uses the sandbox.
    ///
    /// # Errors
    /// `invalid` if `COMMONBOOK_SANDBOX` is neither `on` nor `off`.
    pub(crate) fn wants_sandbox(&self) -> Result<bool> {
        match self.sandbox.as_deref() {
            None | Some("on") => Ok(true),
            Some("off") => Ok(false),
            Some(_) => Err(Error::new(
                ErrorKind::Invalid,
                "COMMONBOOK_SANDBOX is not valid; expected on or off",
            )
            .hint("Correct COMMONBOOK_SANDBOX in the environment, or unset it.")),
        }
    }

    /// A section of config.json, checked; the default if the file or the section does not exist.
    fn read_section<T: Default + DeserializeOwned>(
        &self,
        name: &str,
        check: impl Fn(&T) -> Result<()>,
    ) -> Result<T> {
        let Some(path) = self.home.as_ref().map(|home| home.join(SETTINGS_FILE)) else {
            return Ok(T::default());
        };
        let invalid = |reason: String| {
            Error::new(ErrorKind::Invalid, format!("{}: {reason}", path.display()))
                .hint("Correct the file as docs/operating.md describes, or remove it.")
        };
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(T::default()),
            read => read.map_err(|error| invalid(error.to_string()))?,
        };
        let mut sections: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        let Some(section) = sections.remove(name) else { return Ok(T::default()) };
        let read = commonbook::base::input::from_value::<T>(section);
        let checked = read.and_then(|read| check(&read).map(|()| read));
        checked.map_err(|error| {
            let field = error.field.map(|field| format!(".{field}")).unwrap_or_default();
            invalid(format!("{name}{field}: {}", error.message))
        })
    }

    /// The workspace that the environment names, else that of the git repository of the working folder.
    ///
    /// # Errors
    /// `invalid` if `COMMONBOOK_WORKSPACE` is not the name of a workspace.
    pub(crate) fn nearest_workspace(&self) -> Result<Option<Workspace>> {
        match &self.workspace {
            Some(name) => name.parse().map(Some),
            None => Ok(self.folder.as_deref().and_then(git_workspace)),
        }
    }
}

/// The log file of hooks in the home.
pub(crate) const HOOK_LOG: &str = "hook.log";

/// The variables that move the files of clients: the name, a folder below its value, and the prefixes
/// of the paths that it moves.
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

/// The workspace of the git repository of a folder, named after the main repository, also for linked
/// worktrees.
fn git_workspace(folder: &Path) -> Option<Workspace> {
    let root = git_root(folder)?;
    let main = main_repository(&root.join(".git")).unwrap_or_else(|| root.to_owned());
    Workspace::nearest_workspace_name(&main.file_name()?.to_string_lossy())
}

/// The main repository of a linked worktree: the `.git` of a worktree is a file that names
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
