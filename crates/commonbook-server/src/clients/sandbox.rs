//! The sandbox of `serve`: the kernel lets it write only below the home and the folders of config.json,
//! and read only these and system folders.

pub(crate) mod refusal;

use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::Caller;
use commonbook_embed::EmbedderSettings;

use crate::clients::setup::clients::SetupScope;
use crate::clients::setup::ledger::SetupLedger;
use crate::settings::config::Config;
use crate::system::atomic;
use refusal::SANDBOX_FOLDERS;

/// The folders that every program reads: libraries, certificates, host names, time zones, kernel data.
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

/// The devices that every program writes to.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The files that a server may use.
#[derive(Debug, Default)]
pub(crate) struct FileSandbox {
    /// The folders below which it may write, the home first.
    pub(crate) writes: Vec<PathBuf>,
    /// The paths that it may read besides system folders.
    pub(crate) reads: Vec<PathBuf>,
    /// Folders of config.json that do not exist.
    pub(crate) missing: Vec<PathBuf>,
}

/// The state of the sandbox.
#[derive(Debug)]
pub(crate) enum SandboxState {
    /// The sandbox is on.
    On(FileSandbox),
    /// The settings turn it off.
    Off,
    /// The kernel has no Landlock.
    Unsupported,
    /// The kernel refuses it, for example inside another sandbox.
    Refused(Error),
}

impl FileSandbox {
    /// The sandbox that the settings describe.
    ///
    /// # Errors
    /// `invalid` if the settings are not valid or name a relative folder.
    pub(crate) fn plan(config: &Config) -> Result<Self> {
        let home = config.home()?.to_owned();
        let folders = config.sandbox_folders()?.into_iter();
        let (mut existing, missing): (Vec<_>, Vec<_>) = folders.partition(|path| path.exists());
        // The backups say themselves that their folder is missing.
        let backups = config.backup_schedule()?.map(|schedule| schedule.folder);
        existing.extend(backups.filter(|folder| folder.exists()));
        let ledger = SetupLedger::read(&home).unwrap_or_default();
        let projects =
            ledger.clients.iter().filter(|client| client.chosen.scope == SetupScope::Project);
        let projects = projects.map(|client| client.root.join(".commonbook"));
        let projects: Vec<PathBuf> = projects.filter(|folder| folder.is_dir()).collect();
        let mut writes: Vec<PathBuf> = [home]
            .into_iter()
            .chain(existing)
            .chain(projects)
            .map(|path| resolve_links(&path))
            .collect();
        writes.dedup();
        let authorities = config.database()?.and_then(|database| database.authorities);
        let reads = model_paths(config).into_iter().chain(authorities).collect();
        Ok(Self { writes, reads, missing })
    }

    /// Whether a server in this sandbox may write to a path.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        is_covered(&self.writes, path)
    }

    /// Links in the home and its folder `memories` whose targets are outside the sandbox.
    pub(crate) fn escaping_links(&self) -> Vec<(PathBuf, PathBuf)> {
        let home = self.writes.first().cloned().unwrap_or_default();
        let entries = [home.clone(), home.join("memories")].into_iter().filter_map(|folder| {
            std::fs::read_dir(folder)
                .ok()
                .map(|entries| entries.flatten().map(|entry| entry.path()))
        });
        let links = entries.flatten().filter(|path| path.is_symlink());
        let targets = links.filter_map(|link| Some((std::fs::canonicalize(&link).ok()?, link)));
        let escaping = targets.filter(|(target, _)| !self.covers(target));
        escaping.map(|(target, link)| (link, target)).collect()
    }
}

impl SandboxState {
    /// Logs the state.
    pub(crate) fn log(&self) {
        match self {
            Self::On(sandbox) => {
                tracing::debug!(writes = ?sandbox.writes, "the sandbox is on");
                for folder in &sandbox.missing {
                    tracing::warn!(folder = %folder.display(), "a folder of config.json does not exist");
                }
            }
            Self::Off => tracing::info!("the sandbox is off (COMMONBOOK_SANDBOX)"),
            Self::Unsupported => {
                tracing::info!("no sandbox: it needs Landlock of Linux 5.19 or newer");
            }
            Self::Refused(error) => tracing::warn!(%error, "the sandbox is not active"),
        }
    }
}

/// Puts this process into the sandbox of the settings. The sandbox does not hold threads that already
/// run, so this runs before any starts.
///
/// # Errors
/// `invalid` if the settings are not valid; `unavailable` if the home cannot be created.
pub(crate) fn enter(config: &Config) -> Result<SandboxState> {
    // A rule needs an existing folder.
    atomic::create_folders(config.home()?)?;
    let planned = match sandbox_state(config)? {
        SandboxState::On(planned) => planned,
        state => return Ok(state),
    };
    Ok(match restrict(&planned) {
        Ok(true) => {
            // This runs once.
            drop(SANDBOX_FOLDERS.set(planned.writes.clone()));
            SandboxState::On(planned)
        }
        Ok(false) => SandboxState::Unsupported,
        Err(error) => SandboxState::Refused(error),
    })
}

/// The state that a server with these settings has.
///
/// # Errors
/// `invalid` if the settings are not valid.
pub(crate) fn sandbox_state(config: &Config) -> Result<SandboxState> {
    let planned = FileSandbox::plan(config)?;
    Ok(match config.wants_sandbox()? {
        false => SandboxState::Off,
        true if !is_supported() => SandboxState::Unsupported,
        true => SandboxState::On(planned),
    })
}

/// As [`covers_project`], for a request of a command. If it is not covered, the command does the work itself.
pub(crate) fn reaches_project(caller: &Caller, creates: bool) -> bool {
    let covers = covers_project(caller, creates);
    if !covers {
        tracing::info!(
            project = %caller.project.as_deref().unwrap_or(Path::new("")).display(),
            "this project is outside the sandbox, so its commands open the store themselves: add its folder \
             to `folders` in config.json"
        );
    }
    covers
}

/// Whether the sandbox lets this process use the standing memory of a caller's project, and create it
/// if a verb `creates` files.
pub(crate) fn covers_project(caller: &Caller, creates: bool) -> bool {
    let Some((held_to, project)) = SANDBOX_FOLDERS.get().zip(caller.project.as_deref()) else {
        return true;
    };
    let folder = project.join(".commonbook").join("memories");
    is_covered(held_to, &folder) || (!creates && !folder.exists())
}

fn is_covered(folders: &[PathBuf], path: &Path) -> bool {
    let path = resolve_links(path);
    folders.iter().any(|folder| path.starts_with(folder))
}

/// A path with the links of its existing part resolved.
fn resolve_links(path: &Path) -> PathBuf {
    let existing =
        path.ancestors().find_map(|above| Some((above, std::fs::canonicalize(above).ok()?)));
    match existing {
        Some((above, real)) => match path.strip_prefix(above) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => path.to_owned(),
    }
}

/// The folder of the model that the settings name, and the targets of its links.
fn model_paths(config: &Config) -> Vec<PathBuf> {
    let Ok(EmbedderSettings::Directory(folder)) = config.embedder() else { return Vec::new() };
    if !folder.is_dir() {
        return Vec::new();
    }
    let inside = walk_links(&folder, 3);
    [resolve_links(&folder)].into_iter().chain(inside).collect()
}

/// The targets of the links below a folder, down to this depth.
fn walk_links(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let targets = entries.flat_map(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => std::fs::canonicalize(path).ok().into_iter().collect(),
            Ok(kind) if kind.is_dir() && depth > 0 => walk_links(&path, depth - 1),
            _ => Vec::new(),
        }
    });
    targets.collect()
}

#[cfg(target_os = "linux")]
mod kernel {
    //! The rules for the kernel.

    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetError, RulesetStatus, path_beneath_rules,
    };

    use super::{DEVICES, FileSandbox, SYSTEM_FOLDERS};

    /// The rights to restrict. An older kernel ignores those that it does not know.
    const LANDLOCK_ABI: ABI = ABI::V5;

    /// The right without which there is no sandbox: kernels before 5.19 refuse every move between folders,
    /// which the socket of the home needs.
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
    fn a_sandbox_has_the_home_the_named_folders_and_the_targets_of_the_model() {
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
        assert!(error.message.contains("folders[0]: expected"), "{}", error.message);
    }
}
