//! Setting a client up, and taking that back: all its files are read and judged first, written beside
//! themselves next, and put in their places last.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, Result};

use super::clients::{self, SetupClient, SetupOptions, SetupPlan, SetupScope};
use super::ledger::{InstalledClient, InstalledFile, SetupLedger};
use crate::atomic::{self, StagedFile};
use crate::config::Config;

/// What is done with a client's files.
pub(crate) struct SetupChanges {
    client: SetupClient,
    home: PathBuf,
    root: PathBuf,
    /// Each file that has to do with it, in order.
    pub(crate) changes: Vec<FileChange>,
    /// What the user has to do besides.
    pub(crate) notes: Vec<&'static str>,
    /// What is set up afterwards, but for the folders that have to be made.
    then: Option<InstalledClient>,
}

/// A file, as it is and as it will be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The file.
    pub(crate) path: PathBuf,
    /// What it says; nothing where it is not there.
    pub(crate) before: Option<String>,
    /// What it will say; nothing where it will not be there.
    pub(crate) after: Option<String>,
    /// The folders that were made for it and go with it, the outermost first.
    folders: Vec<PathBuf>,
}

impl FileChange {
    /// What becomes of it, in a word.
    pub(crate) fn kind(&self) -> &'static str {
        match (&self.before, &self.after) {
            (before, after) if before == after => "unchanged",
            (None, _) => "created",
            (_, None) => "removed",
            _ => "changed",
        }
    }

    fn is_change(&self) -> bool {
        self.before != self.after
    }
}

impl SetupChanges {
    /// What setting a client up takes. Nothing is written yet.
    ///
    /// # Errors
    /// `conflict` for a file that is not as the client would have it, `unavailable` for one that
    /// cannot be read, `invalid` for what the client does not have.
    pub(crate) fn install(
        client: SetupClient,
        chosen: SetupOptions,
        config: &Config,
    ) -> Result<Self> {
        let (home, root) = (config.home()?.to_owned(), client_root(chosen.scope, config)?);
        let plan = clients::setup_plan(client, &chosen)?;
        let ledger = SetupLedger::read(&home)?;
        let earlier = ledger.of(client, &root);
        let (mut changes, mut files) = (Vec::new(), Vec::new());
        for (path, content) in plan_paths(&plan, &root, config) {
            let before = atomic::read(&path)?;
            let known = earlier.and_then(|it| it.files.iter().find(|file| file.path == path));
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
        // What an earlier version wrote elsewhere goes.
        let stays = |file: &&InstalledFile| !files.iter().any(|other| other.path == file.path);
        for file in earlier.iter().flat_map(|it| &it.files).filter(stays) {
            changes.push(undo_change(file)?);
        }
        let then = Some(InstalledClient { client, root: root.clone(), chosen, files });
        Ok(Self { client, home, root, changes, notes: plan.notes, then })
    }

    /// What taking it back takes: by what was written down, else by what looks like ours.
    ///
    /// # Errors
    /// As [`Self::install`].
    pub(crate) fn undo(
        client: SetupClient,
        chosen: &SetupOptions,
        config: &Config,
    ) -> Result<Self> {
        let (home, root) = (config.home()?.to_owned(), client_root(chosen.scope, config)?);
        let ledger = SetupLedger::read(&home)?;
        let changes = match ledger.of(client, &root) {
            Some(earlier) => earlier.files.iter().map(undo_change).collect::<Result<_>>()?,
            None => {
                let plan = clients::setup_plan(client, chosen)?;
                let placed = plan_paths(&plan, &root, config);
                let removed = placed.map(|(path, content)| {
                    let before = atomic::read(&path)?;
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
        Ok(Self { client, home, root, changes, notes: Vec::new(), then: None })
    }

    /// Does it. Where a file cannot be written, those before it are put back.
    ///
    /// # Errors
    /// `conflict` where a file has become another since it was read, or another setup runs;
    /// `unavailable` where a file cannot be written.
    pub(crate) fn carry_out(mut self) -> Result<()> {
        atomic::create_folders(&self.home)?;
        let _lock = lock_setup(&self.home)?;
        for change in &self.changes {
            if atomic::read(&change.path)? != change.before {
                return Err(Error::conflict(format!(
                    "{} was changed while it was set up",
                    change.path.display()
                ))
                .hint("Run it again; nothing was changed."));
            }
        }
        let made = self.make_folders()?;
        let staged = self.stage().inspect_err(|_| remove_empty_folders(&made))?;
        let before = SetupLedger::read(&self.home)?;
        // What takes it back is on the disk before there is anything to take back. Of an undo the
        // word stays until it is done.
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

    /// Makes the folders of new files, and notes them.
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

    /// Writes what changes beside itself, and what there is now into the home's backups.
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

/// The folder that a client's files are in.
///
/// # Errors
/// `invalid` where there is none.
pub(crate) fn client_root(scope: SetupScope, config: &Config) -> Result<PathBuf> {
    let (found, hint) = match scope {
        SetupScope::User => (config.user_home.clone(), "Set HOME."),
        SetupScope::Project => (config.project(), "Run it in the folder of the project."),
    };
    found.ok_or_else(|| Error::invalid("scope", "there is no such folder").hint(hint))
}

/// The files of a plan, each where it stands on this machine.
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
        let other = file.or.map(at).filter(|other| !first.exists() && other.exists());
        (other.unwrap_or(first), &file.content)
    })
}

fn undo_change(file: &InstalledFile) -> Result<FileChange> {
    let before = atomic::read(&file.path)?;
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

/// The name of a backup: when it was made, and of which file.
fn backup_name(path: &Path) -> String {
    let letter = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    let name: String = path.to_string_lossy().chars().map(letter).collect();
    let time = SystemClock.now().strftime("%Y%m%dT%H%M%S%.6f");
    format!("{time}-{}", name.trim_start_matches('_'))
}

/// Holds off another setup of this home.
fn lock_setup(home: &Path) -> Result<File> {
    let path = home.join("setup.lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let locked = file.and_then(|file| Ok(file.try_lock().map(|()| file)?));
    locked.map_err(|error| {
        Error::conflict(format!("another setup runs, or cannot be held off: {error}"))
            .hint("Run it again in a moment.")
    })
}

/// Removes folders that were made, where nothing is in them.
fn remove_empty_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // Who has put something there since keeps it.
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
        tracing::error!(%error, "a file could not be put back; its backup is in the home");
    }
}

fn removal_error(change: &FileChange, error: std::io::Error) -> Error {
    let message = format!("{} cannot be removed: {error}", change.path.display());
    Error::conflict(message).hint("Look at the permissions of its folder.").with_cause(error)
}

/// How a client that was set up is now, in words.
///
/// # Errors
/// `conflict` where its files are not as they were written, or its program is gone; as
/// [`SetupChanges::install`].
pub(crate) fn installation_state(installed: &InstalledClient, config: &Config) -> Result<String> {
    let InstalledClient { client, chosen, root, files } = installed;
    let scope = chosen.scope.name();
    let again = || {
        let place = if chosen.scope == SetupScope::Project { " in its folder" } else { "" };
        format!("Run `commonbook setup {client} --scope {scope}`{place} again.")
    };
    let program = Path::new(&chosen.program);
    if program.is_absolute() && !program.exists() {
        let told = format!("{client}: it starts {}, which is not there", program.display());
        return Err(Error::conflict(told).hint(again()));
    }
    let plan = clients::setup_plan(*client, chosen)?;
    for (path, content) in plan_paths(&plan, root, config) {
        let text = atomic::read(&path)?;
        let record = files.iter().find(|file| file.path == path).map(|file| &file.record);
        let applied =
            content.apply(text.as_deref(), record).map_err(|error| error_at_path(&path, error))?;
        if applied.changed {
            let told = format!("{client}: {} lacks what was written into it", path.display());
            return Err(Error::conflict(told).hint(again()));
        }
    }
    Ok(format!("{client} is set up for the {scope}, {}", root.display()))
}
