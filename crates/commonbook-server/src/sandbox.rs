//! The sandbox of `serve`: the kernel lets it write beneath the home and the folders that the settings
//! name, and read what a program needs besides.

pub(crate) mod refusal;

use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::Caller;

use crate::atomic;
use crate::config::Config;
use crate::setup::clients::SetupScope;
use crate::setup::ledger::SetupLedger;
use refusal::SANDBOX_FOLDERS;

/// What every program reads: its libraries, the certificates, names of hosts, the time zone, what the
/// kernel says of the machine.
const SYSTEM_FOLDERS: [&str; 14] = [
    "/bin",
    "/dev",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
];

/// Devices that every program writes to.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// What a server may do with files.
#[derive(Debug, Default)]
pub(crate) struct FileSandbox {
    /// The folders that it writes beneath, the home first.
    pub(crate) writes: Vec<PathBuf>,
    /// What it reads besides the system's folders.
    pub(crate) reads: Vec<PathBuf>,
    /// Folders that the settings name and that are not there.
    pub(crate) missing: Vec<PathBuf>,
}

/// Whether a server is held to a sandbox.
#[derive(Debug)]
pub(crate) enum SandboxState {
    /// It is, to this one.
    On(FileSandbox),
    /// The settings turn it off.
    Off,
    /// The kernel has none.
    Unsupported,
    /// The kernel refuses it, inside of another sandbox say.
    Refused(Error),
}

impl FileSandbox {
    /// The sandbox that the settings describe.
    ///
    /// # Errors
    /// `invalid` for settings that are wrong or name a folder that is not absolute.
    pub(crate) fn plan(config: &Config) -> Result<Self> {
        let home = config.home()?.to_owned();
        let named = config.sandbox_folders()?;
        let (there, missing): (Vec<_>, Vec<_>) = named.into_iter().partition(|path| path.exists());
        let ledger = SetupLedger::read(&home).unwrap_or_default();
        let projects =
            ledger.clients.iter().filter(|client| client.chosen.scope == SetupScope::Project);
        let projects = projects.map(|client| client.root.join(".commonbook"));
        let projects: Vec<PathBuf> = projects.filter(|folder| folder.is_dir()).collect();
        let mut writes: Vec<PathBuf> = [home]
            .into_iter()
            .chain(there)
            .chain(projects)
            .map(|path| resolve_links(&path))
            .collect();
        writes.dedup();
        Ok(Self { writes, reads: model_paths(config), missing })
    }

    /// Whether a server in this sandbox may write to a path.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        is_covered(&self.writes, path)
    }

    /// Links in the home, at its top and among its standing memory files, that lead out of the sandbox.
    pub(crate) fn escaping_links(&self) -> Vec<(PathBuf, PathBuf)> {
        let home = self.writes.first().cloned().unwrap_or_default();
        let entries = [home.clone(), home.join("memories")].into_iter().filter_map(|folder| {
            std::fs::read_dir(folder)
                .ok()
                .map(|entries| entries.flatten().map(|entry| entry.path()))
        });
        let links = entries.flatten().filter(|path| path.is_symlink());
        let targets = links.filter_map(|link| Some((std::fs::canonicalize(&link).ok()?, link)));
        let beyond = targets.filter(|(target, _)| !self.covers(target));
        beyond.map(|(target, link)| (link, target)).collect()
    }
}

impl SandboxState {
    /// Tells the log.
    pub(crate) fn log(&self) {
        match self {
            Self::On(sandbox) => {
                tracing::debug!(writes = ?sandbox.writes, "the sandbox is on");
                for folder in &sandbox.missing {
                    tracing::warn!(folder = %folder.display(), "a folder that config.json names is not there");
                }
            }
            Self::Off => tracing::info!("the sandbox is off: COMMONBOOK_SANDBOX says so"),
            Self::Unsupported => {
                tracing::info!("no sandbox: this system has no Landlock, or none since Linux 5.19");
            }
            Self::Refused(error) => tracing::warn!(%error, "no sandbox"),
        }
    }
}

/// Holds this process to the sandbox of the settings. A thread that runs already is not held, and so
/// this comes before any.
///
/// # Errors
/// `invalid` for settings that are wrong; `unavailable` for a home that cannot be made.
pub(crate) fn enter(config: &Config) -> Result<SandboxState> {
    // A rule is about a folder that is there.
    atomic::create_folders(config.home()?)?;
    let planned = match sandbox_state(config)? {
        SandboxState::On(planned) => planned,
        other => return Ok(other),
    };
    Ok(match restrict(&planned) {
        Ok(true) => {
            // Nobody else has set it: this runs once.
            drop(SANDBOX_FOLDERS.set(planned.writes.clone()));
            SandboxState::On(planned)
        }
        Ok(false) => SandboxState::Unsupported,
        Err(error) => SandboxState::Refused(error),
    })
}

/// The state that a server with these settings would be in.
///
/// # Errors
/// `invalid` for settings that are wrong.
pub(crate) fn sandbox_state(config: &Config) -> Result<SandboxState> {
    let planned = FileSandbox::plan(config)?;
    Ok(match config.wants_sandbox()? {
        false => SandboxState::Off,
        true if !is_supported() => SandboxState::Unsupported,
        true => SandboxState::On(planned),
    })
}

/// Whether this process may use the standing memory of a caller's project: not if the sandbox lacks
/// it. Then the command that asked does the work itself.
pub(crate) fn reaches_project(caller: &Caller) -> bool {
    let Some((held_to, project)) = SANDBOX_FOLDERS.get().zip(caller.project.as_deref()) else {
        return true;
    };
    let folder = project.join(".commonbook").join("memories");
    if is_covered(held_to, &folder) || !folder.exists() {
        return true;
    }
    tracing::info!(
        folder = %folder.display(),
        "the sandbox lacks this project, and its commands open the store themselves: name its folder \
         under `folders` in config.json"
    );
    false
}

fn is_covered(folders: &[PathBuf], path: &Path) -> bool {
    let path = resolve_links(path);
    folders.iter().any(|folder| path.starts_with(folder))
}

/// A path without links, as far as it is there.
fn resolve_links(path: &Path) -> PathBuf {
    let there =
        path.ancestors().find_map(|above| Some((above, std::fs::canonicalize(above).ok()?)));
    match there {
        Some((above, real)) => match path.strip_prefix(above) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => path.to_owned(),
    }
}

/// The folder of a model that the settings name, and the files that links in it lead to.
fn model_paths(config: &Config) -> Vec<PathBuf> {
    let folder = config.embedder.as_deref().map(PathBuf::from).filter(|path| path.is_dir());
    let Some(folder) = folder else { return Vec::new() };
    let inside = walk_links(&folder, 3);
    [resolve_links(&folder)].into_iter().chain(inside).collect()
}

/// What links within a folder lead to, this many folders deep.
fn walk_links(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let led_to = entries.flat_map(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => std::fs::canonicalize(path).ok().into_iter().collect(),
            Ok(kind) if kind.is_dir() && depth > 0 => walk_links(&path, depth - 1),
            _ => Vec::new(),
        }
    });
    led_to.collect()
}

#[cfg(target_os = "linux")]
mod kernel {
    //! What the kernel is asked for.

    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetError, RulesetStatus, path_beneath_rules,
    };

    use super::{DEVICES, FileSandbox, SYSTEM_FOLDERS};

    /// The rights that are asked for. What an older kernel does not know of them it does not refuse.
    const LANDLOCK_ABI: ABI = ABI::V5;

    /// Rights without which nothing is asked for: kernels before 5.19 refuse every move from a folder
    /// to another, which the socket of the home takes.
    const REQUIRED_RIGHT: AccessFs = AccessFs::Refer;

    pub(super) fn is_supported() -> bool {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset.handle_access(REQUIRED_RIGHT).and_then(Ruleset::create).is_ok()
    }

    pub(super) fn restrict(sandbox: &FileSandbox) -> Result<bool, RulesetError> {
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
            .create()?
            .add_rules(path_beneath_rules(&SYSTEM_FOLDERS, AccessFs::from_read(LANDLOCK_ABI)))?
            .add_rules(path_beneath_rules(&sandbox.reads, AccessFs::from_read(LANDLOCK_ABI)))?
            .add_rules(path_beneath_rules(&DEVICES, AccessFs::from_file(LANDLOCK_ABI)))?
            .add_rules(path_beneath_rules(&sandbox.writes, AccessFs::from_all(LANDLOCK_ABI)))?
            .restrict_self()?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }
}

#[cfg(target_os = "linux")]
fn is_supported() -> bool {
    kernel::is_supported()
}

#[cfg(target_os = "linux")]
fn restrict(sandbox: &FileSandbox) -> Result<bool> {
    kernel::restrict(sandbox).map_err(|error| {
        let message = format!("the kernel refuses the sandbox: {error}");
        Error::new(ErrorKind::Unavailable, message).with_cause(error)
    })
}

#[cfg(not(target_os = "linux"))]
fn is_supported() -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &FileSandbox) -> Result<bool> {
    Ok(false)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_sandbox_is_the_home_the_named_folders_and_what_the_model_leads_to() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| resolve_links(base.path()).join(name);
        for folder in ["home", "named", "model/1_Pooling", "blobs"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("blobs/abc"), "weights").unwrap();
        symlink(at("blobs/abc"), at("model/model.safetensors")).unwrap();
        symlink(at("named"), at("link")).unwrap();
        let settings = serde_json::json!({"folders": [at("link"), at("gone")]});
        fs::write(at("home/config.json"), settings.to_string()).unwrap();
        let embedder = Some(at("model").display().to_string());
        let config = Config { home: Some(at("home")), embedder, ..Config::default() };

        let sandbox = FileSandbox::plan(&config).unwrap();
        assert_eq!(sandbox.writes, [at("home"), at("named")]);
        assert_eq!(sandbox.missing, [at("gone")]);
        assert_eq!(sandbox.reads, [at("model"), at("blobs/abc")]);
        assert!(sandbox.covers(&at("link/deep/file")) && sandbox.covers(&at("home/index")));
        assert!(!sandbox.covers(&at("homely")) && !sandbox.covers(&at("model")));

        fs::write(at("home/config.json"), r#"{"folders": ["not/absolute"]}"#).unwrap();
        let error = FileSandbox::plan(&config).unwrap_err();
        assert!(error.message.contains("not/absolute"), "{}", error.message);
    }
}
