//! Installs and undoes a setup: reads and checks all files, writes new versions beside them, then
//! replaces them.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, Result};

use super::clients::{self, SetupClient, SetupOptions, SetupPlan, SetupScope};
use super::ledger::{InstalledClient, InstalledFile, SetupLedger};
use crate::clients::remote::ServerAddress;
use crate::clients::remote::address::ServerMap;
use crate::settings::config::Config;
use crate::system::atomic::{self, StagedFile};

/// The changes of a client's files.
pub(crate) struct SetupChanges {
    client: SetupClient,
    scope: SetupScope,
    home: PathBuf,
    root: PathBuf,
    /// Each file of the client, in order.
    pub(crate) changes: Vec<FileChange>,
    /// What the user must do in addition.
    pub(crate) notes: Vec<&'static str>,
    /// The record of the setup afterwards; `carry_out` adds the folders that it creates.
    then: Option<InstalledClient>,
}

/// A file before and after a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its present text; `None` if it does not exist.
    pub(crate) before: Option<String>,
    /// Its new text; `None` if the change removes it.
    pub(crate) after: Option<String>,
    /// The folders that were created for it and are removed with it, the outermost first.
    folders: Vec<PathBuf>,
}

impl FileChange {
    /// The kind of change, in a word.
    pub(crate) fn kind(&self) -> &'static str {
        match (&self.before, &self.after) {
            (before, after) if before == after => "unchanged",
            (None, _) => "created",
            (_, None) => "removed",
            _ => "changed",
        }
    }

    /// Whether the file changes.
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }
}

impl SetupChanges {
    /// Plans the setup of a client. Writes nothing yet.
    ///
    /// # Errors
    /// `conflict` if a file does not have the client's format, `unavailable` if one cannot be read,
    /// `invalid` for an option that the client does not support.
    pub(crate) fn install(
        client: SetupClient,
        chosen: SetupOptions,
        config: &Config,
    ) -> Result<Self> {
        let (home, root) = (config.home()?.to_owned(), client_root(chosen.scope, config)?);
        let scope = chosen.scope;
        let plan = clients::setup_plan(client, &chosen)?;
        let ledger = SetupLedger::read(&home)?;
        let earlier = ledger.of(client, &root);
        let (mut changes, mut files) = (Vec::new(), Vec::new());
        for (path, content) in plan_paths(&plan, &root, config) {
            let before = read_file(scope, &root, &path)?;
            let known =
                earlier.and_then(|installed| installed.files.iter().find(|file| file.path == path));
            let record = known.map(|file| &file.record);
            let applied = content
                .apply(before.as_deref(), record)
                .map_err(|error| error_at_path(&path, error))?;
            let folders = known.map(|file| file.folders.clone()).unwrap_or_default();
            files.push(InstalledFile { path: path.clone(), record: applied.record, folders });
            changes.push(FileChange {
                path,
                before,
                after: Some(applied.text),
                folders: Vec::new(),
            });
        }
        // Remove what an earlier version wrote into other files.
        let is_obsolete = |old: &&InstalledFile| !files.iter().any(|file| file.path == old.path);
        for file in earlier.iter().flat_map(|installed| &installed.files).filter(is_obsolete) {
            changes.push(undo_change(scope, &root, file)?);
        }
        let then = Some(InstalledClient { client, root: root.clone(), chosen, files });
        Ok(Self { client, scope, home, root, changes, notes: plan.notes, then })
    }

    /// Plans an undo: by the record in the ledger, else by what looks like ours.
    ///
    /// # Errors
    /// As [`Self::install`].
    pub(crate) fn undo(
        client: SetupClient,
        chosen: &SetupOptions,
        config: &Config,
    ) -> Result<Self> {
        let (home, root) = (config.home()?.to_owned(), client_root(chosen.scope, config)?);
        let scope = chosen.scope;
        let ledger = SetupLedger::read(&home)?;
        let changes = match ledger.of(client, &root) {
            Some(earlier) => {
                let undone = earlier.files.iter().map(|file| undo_change(scope, &root, file));
                undone.collect::<Result<_>>()?
            }
            None => {
                let plan = clients::setup_plan(client, chosen)?;
                let placed = plan_paths(&plan, &root, config);
                let removed = placed.map(|(path, content)| {
                    let before = read_file(scope, &root, &path)?;
                    let after = match &before {
                        Some(text) => {
                            content.remove(text).map_err(|error| error_at_path(&path, error))?
                        }
                        None => None,
                    };
                    Ok(FileChange { path, before, after, folders: Vec::new() })
                });
                removed.collect::<Result<_>>()?
            }
        };
        Ok(Self { client, scope, home, root, changes, notes: Vec::new(), then: None })
    }

    /// Makes the changes. If a file cannot be written, restores those before it.
    ///
    /// # Errors
    /// `conflict` if a file has changed since it was read, or another setup runs; `unavailable` if a
    /// file cannot be written.
    pub(crate) fn carry_out(mut self) -> Result<()> {
        atomic::create_folders(&self.home)?;
        let _lock = lock_setup(&self.home)?;
        for change in &self.changes {
            if read_file(self.scope, &self.root, &change.path)? != change.before {
                return Err(Error::conflict(format!(
                    "{} changed during the setup",
                    change.path.display()
                ))
                .hint("Run the setup again; no file was changed."));
            }
        }
        let made = self.make_folders()?;
        let staged = self.stage().inspect_err(|_| remove_empty_folders(&made))?;
        let before = SetupLedger::read(&self.home)?;
        // The ledger is written before an install and after an undo, so that it always covers the files.
        if let Some(then) = &self.then {
            let then = Some(then.clone());
            before.clone().with_client(self.client, &self.root, then).write(&self.home)?;
        }
        let mut put = Vec::new();
        for (change, staged) in staged {
            let done = match staged {
                Some(staged) => staged.replace_target(),
                None => fs::remove_file(&change.path).map_err(|error| removal_error(change, error)),
            };
            if let Err(error) = done {
                put.iter().rev().for_each(|change: &&FileChange| restore_file(change));
                remove_empty_folders(&made);
                before.write(&self.home)?;
                return Err(error);
            }
            put.push(change);
        }
        for change in put.iter().rev().filter(|change| change.after.is_none()) {
            remove_empty_folders(&change.folders);
        }
        if self.then.is_none() {
            before.with_client(self.client, &self.root, None).write(&self.home)?;
        }
        Ok(())
    }

    /// Creates the folders of new files, and records them.
    fn make_folders(&mut self) -> Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        for change in self.changes.iter().filter(|change| change.before.is_none()) {
            let (true, Some(folder)) = (change.after.is_some(), change.path.parent()) else {
                continue;
            };
            let made =
                atomic::create_folders(folder).inspect_err(|_| remove_empty_folders(&all))?;
            all.extend(made.iter().cloned());
            let files = self.then.iter_mut().flat_map(|then| &mut then.files);
            for file in files.filter(|file| file.path == change.path) {
                file.folders.extend(made.clone());
            }
        }
        Ok(all)
    }

    /// Writes each new version beside its file, and the present version into the home's backups.
    fn stage(&self) -> Result<Vec<(&FileChange, Option<StagedFile>)>> {
        let mut staged = Vec::new();
        let backups = self.home.join("backups");
        for change in self.changes.iter().filter(|change| change.is_change()) {
            if let Some(before) = &change.before {
                atomic::create_folders(&backups)?;
                StagedFile::write(&backups.join(backup_name(&change.path)), before)?
                    .replace_target()?;
            }
            let after = change.after.as_deref();
            let after = after.map(|text| StagedFile::write(&change.path, text)).transpose()?;
            staged.push((change, after));
        }
        Ok(staged)
    }
}

/// Records the server that a client or a project uses; `None` is the home. The record is in the home,
/// so that no file of a project can choose a server.
///
/// # Errors
/// `conflict` if another setup runs or the record is damaged; `unavailable` if it cannot be written.
pub(crate) fn set_server(
    client: SetupClient,
    scope: SetupScope,
    config: &Config,
    server: Option<ServerAddress>,
) -> Result<()> {
    let (home, root) = (config.home()?, config.project_root());
    let before = ServerMap::read(home)?;
    let mut map = before.clone();
    match (scope, root, server) {
        (SetupScope::User, _, Some(server)) => drop(map.clients.insert(client.to_string(), server)),
        (SetupScope::User, _, None) => drop(map.clients.remove(client.name())),
        (SetupScope::Project, Some(root), Some(server)) => drop(map.projects.insert(root, server)),
        (SetupScope::Project, Some(root), None) => drop(map.projects.remove(&root)),
        (SetupScope::Project, None, _) => {}
    }
    if map == before {
        return Ok(());
    }
    atomic::create_folders(home)?;
    let _lock = lock_setup(home)?;
    map.write(home)
}

/// The folder of a client's files.
///
/// # Errors
/// `invalid` if it is unknown.
pub(crate) fn client_root(scope: SetupScope, config: &Config) -> Result<PathBuf> {
    let (found, hint) = match scope {
        SetupScope::User => (config.user_home.clone(), "Set the environment variable HOME."),
        SetupScope::Project => (config.project(), "Run the setup in the folder of the project."),
    };
    found.ok_or_else(|| {
        Error::invalid("scope", format!("the folder of the {} is unknown", scope.name())).hint(hint)
    })
}

/// The files of a plan with their paths on this machine.
pub(crate) fn plan_paths<'p>(
    plan: &'p SetupPlan,
    root: &'p Path,
    config: &'p Config,
) -> impl Iterator<Item = (PathBuf, &'p super::FileContent)> {
    plan.files.iter().map(move |file| {
        let at = |path: &str| match plan.scope {
            SetupScope::User => config.client_path(path).unwrap_or_else(|| root.join(path)),
            SetupScope::Project => root.join(path),
        };
        let first = at(file.path);
        let alternative = file.or.map(at).filter(|path| !first.exists() && path.exists());
        (alternative.unwrap_or(first), &file.content)
    })
}

/// The text of a file of a client; `None` if it does not exist.
///
/// # Errors
/// As [`atomic::read`] and [`check_in_project`].
fn read_file(scope: SetupScope, root: &Path, path: &Path) -> Result<Option<String>> {
    if scope == SetupScope::Project {
        check_in_project(root, path)?;
    }
    atomic::read(path)
}

/// Checks that a file lies in its project: a link that came with a clone could lead to any file of this
/// machine.
///
/// # Errors
/// `conflict` if the file, or a folder on its way, is a link that leaves the project or leads nowhere.
pub(crate) fn check_in_project(root: &Path, path: &Path) -> Result<()> {
    let Ok(below) = path.strip_prefix(root) else { return Ok(()) };
    let project = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let mut way = root.to_owned();
    for part in below.components() {
        way.push(part);
        let is_link = way.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let stays = || fs::canonicalize(&way).is_ok_and(|target| target.starts_with(&project));
        if is_link && !stays() {
            let message = format!("{} is a link that leaves the project", way.display());
            return Err(Error::conflict(message)
                .hint("Put a file or a folder in its place. Nothing was changed."));
        }
    }
    Ok(())
}

fn undo_change(scope: SetupScope, root: &Path, file: &InstalledFile) -> Result<FileChange> {
    let before = read_file(scope, root, &file.path)?;
    let after = match &before {
        Some(text) => file.record.undo(text).map_err(|error| error_at_path(&file.path, error))?,
        None => None,
    };
    Ok(FileChange { path: file.path.clone(), before, after, folders: file.folders.clone() })
}

/// The error of a file, with its path.
fn error_at_path(path: &Path, error: Error) -> Error {
    let message = format!("{}: {}", path.display(), error.message);
    Error { message, ..error }
}

/// The name of a backup: its time and the path of its file.
fn backup_name(path: &Path) -> String {
    let letter = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    let name: String = path.to_string_lossy().chars().map(letter).collect();
    let time = SystemClock.now().strftime("%Y%m%dT%H%M%S%.6f");
    format!("{time}-{}", name.trim_start_matches('_'))
}

/// Locks out another setup of this home.
fn lock_setup(home: &Path) -> Result<File> {
    let path = home.join("setup.lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let locked = file.and_then(|file| Ok(file.try_lock().map(|()| file)?));
    locked.map_err(|error| {
        Error::conflict(format!("another setup runs, or the lock file cannot be written: {error}"))
            .hint("Run the setup again in a moment.")
    })
}

/// Removes these folders if they are empty.
fn remove_empty_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // Fails for a folder that is not empty, which stays.
        drop(fs::remove_dir(folder));
    }
}

fn restore_file(change: &FileChange) {
    let put = match &change.before {
        Some(before) => {
            StagedFile::write(&change.path, before).and_then(StagedFile::replace_target)
        }
        None => fs::remove_file(&change.path).map_err(|error| removal_error(change, error)),
    };
    if let Err(error) = put {
        tracing::error!(%error, "cannot restore a file; its backup is in the home");
    }
}

fn removal_error(change: &FileChange, error: std::io::Error) -> Error {
    let message = format!("cannot remove {}: {error}", change.path.display());
    Error::conflict(message).hint("Check the permissions of its folder.").with_cause(error)
}

/// The state of a client that was set up, in words.
///
/// # Errors
/// `conflict` if its files lack what was written, or its program does not exist; as
/// [`SetupChanges::install`].
pub(crate) fn installation_state(installed: &InstalledClient, config: &Config) -> Result<String> {
    let InstalledClient { client, chosen, root, files } = installed;
    let scope = chosen.scope.name();
    let again = || {
        let folder = if chosen.scope == SetupScope::Project { " in its folder" } else { "" };
        format!("Run `commonbook setup {client} --scope {scope}`{folder} again.")
    };
    let program = Path::new(&chosen.program);
    if program.is_absolute() && !program.exists() {
        let message = format!("{client} starts {}, which does not exist", program.display());
        return Err(Error::conflict(message).hint(again()));
    }
    let plan = clients::setup_plan(*client, chosen)?;
    for (path, content) in plan_paths(&plan, root, config) {
        let text = read_file(chosen.scope, root, &path)?;
        let record = files.iter().find(|file| file.path == path).map(|file| &file.record);
        let applied =
            content.apply(text.as_deref(), record).map_err(|error| error_at_path(&path, error))?;
        if applied.changed {
            let message = format!("{client}: {} lacks the content of the setup", path.display());
            return Err(Error::conflict(message).hint(again()));
        }
    }
    Ok(format!("{client} is set up for the {scope} in {}", root.display()))
}
