//! `backup` and `restore-backup`: the whole home in one file, and back.

use std::fs;
use std::path::{Component, Path, PathBuf};

use commonbook::Commonbook;
use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::store::sqlite::backup::{self, BackupSummary, HomeFile};
use indicatif::HumanBytes;
use serde_json::json;

use crate::config::Config;
use crate::local::RpcClient;
use crate::output::{count_text, print_json, print_line, print_note, spinner};

/// Files of the home that go along, besides the store and standing memory: settings, the map of
/// projects, and the key by which this home knows what it signed.
const HOME_FILES: [&str; 3] = ["config.json", "projects.json", "hook.key"];

/// How the folder begins in which a backup is written before it has its name.
pub(crate) const STAGING_PREFIX: &str = ".commonbook-backup-";

/// The folder of standing memory.
const STANDING_FOLDER: &str = "memories";

/// Backs up the whole home into one file while others go on writing, and reads it back: the store,
/// standing memory, settings and the key of the home. The search index is not in it.
#[derive(Debug, clap::Args)]
pub(crate) struct BackupCommand {
    /// File to write, with mode 0600
    file: PathBuf,
    /// Replace an existing file, once the backup is verified
    #[arg(long)]
    force: bool,
}

/// Restores a backup into this home. What was forgotten since stays forgotten. Stop the server first.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreBackupCommand {
    /// File that `backup` wrote
    file: PathBuf,
    /// Replace the store that this home has
    #[arg(long)]
    yes: bool,
}

impl BackupCommand {
    /// Writes the backup, and prints what it holds.
    ///
    /// # Errors
    /// `not_found` if the home has no store; `invalid` if the file is inside the home; `conflict` if it
    /// exists and `--force` is missing; `unavailable` if it cannot be written or is not equal.
    pub(crate) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let (home, store) = (config.home()?, config.store_file()?);
        if !store.exists() {
            return Err(Error::not_found(format!("{} does not exist", store.display()))
                .hint("Name the home with --home."));
        }
        // Migrates an older store, and refuses a damaged one.
        drop(crate::open_store(&store)?);
        let progress = spinner("writing the backup");
        let written = write_home_backup(home, &store, &self.file, self.force);
        progress.finish_and_clear();
        let summary = written?;
        if as_json {
            print_json(&json!({"file": self.file, "verified": true, "backup": summary}));
            return Ok(());
        }
        print_line(&format!("Backed up {} to {}", describe(&summary), self.file.display()));
        print_note("The backup was read back and is whole. It holds the key of this home.");
        Ok(())
    }
}

/// Writes a backup of a home into a file, reads it back, and gives it its name then.
///
/// # Errors
/// `invalid` if the file is inside the home; `conflict` if it exists and is not to be replaced;
/// `unavailable` if it cannot be written or is not equal.
pub(crate) fn write_home_backup(
    home: &Path,
    store: &Path,
    file: &Path,
    replace: bool,
) -> Result<BackupSummary> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(unwritable)?;
    if fs::canonicalize(home).is_ok_and(|home| folder.starts_with(home)) {
        let message = format!("{} is inside the home folder", file.display());
        return Err(Error::invalid("file", message).hint("Name a file outside the home folder."));
    }
    if !replace && file.symlink_metadata().is_ok() {
        return Err(existing_file(file));
    }
    // A file of its own, in a folder of its own: it replaces the target when it is verified.
    let staging = tempfile::Builder::new().prefix(STAGING_PREFIX).tempdir_in(&folder);
    let staging = staging.map_err(unwritable)?;
    let staged = staging.path().join("backup");
    let summary = backup::write_backup(store, &home_files(home)?, &staged, SystemClock.now())?;
    make_private(&staged).map_err(unwritable)?;
    if replace {
        fs::rename(&staged, file).map_err(unwritable)?;
    } else {
        // Another process may have written the file meanwhile.
        let staged = tempfile::TempPath::try_from_path(&staged).map_err(unwritable)?;
        staged.persist_noclobber(file).map_err(|failed| match failed.error.kind() {
            std::io::ErrorKind::AlreadyExists => existing_file(file),
            _ => unwritable(failed.error),
        })?;
    }
    drop(fs::File::open(&folder).and_then(|folder| folder.sync_all()));
    Ok(summary)
}

fn existing_file(file: &Path) -> Error {
    Error::conflict(format!("{} exists", file.display()))
        .hint("Name another file, or add --force to replace it.")
}

impl RestoreBackupCommand {
    /// Restores the backup, and prints what it held. `open` opens the restored home.
    ///
    /// # Errors
    /// `conflict` if the home has a store and `--yes` is missing; `unavailable` if a process has the
    /// store open, the backup is damaged or newer, or the disk is full. Then nothing was changed.
    pub(crate) fn run(
        &self,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        as_json: bool,
    ) -> Result<()> {
        let (home, store) = (config.home()?, config.store_file()?);
        let progress = spinner("verifying the backup");
        let read = backup::read_backup(&self.file);
        progress.finish_and_clear();
        let (summary, files) = read?;
        if store.exists() && !self.yes {
            return Err(Error::conflict(format!("{} has a store", home.display())).hint(format!(
                "The backup holds {}. Add --yes to replace the store by it, or name an empty --home.",
                describe(&summary)
            )));
        }
        if RpcClient::connect_to_home(config).is_some() {
            return Err(Error::new(ErrorKind::Unavailable, "a server has the store open")
                .hint("Stop the server and every client of this home, then restore again."));
        }
        make_folder(home)?;
        let staged = backup::stage_backup(&self.file, &store)?;
        let forgotten = restore_staged(&staged, &store).inspect_err(|_| {
            backup::discard_staged(&staged);
        })?;
        for HomeFile { name, bytes } in &files {
            write_home_file(home, name, bytes)?;
        }
        match fs::remove_dir_all(store.with_file_name("index")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(unwritable(error));
            }
            _ => {}
        }
        let book = open()?;
        // The files are older than what was forgotten since.
        book.finish_forgetting()?;
        crate::follow::update_index(&book)?;
        if as_json {
            print_json(&json!({"home": home, "forgotten_again": forgotten, "backup": summary}));
            return Ok(());
        }
        print_line(&format!("Restored {} into {}", describe(&summary), home.display()));
        if forgotten > 0 {
            let memories = count_text(forgotten, "memory", "memories");
            print_note(&format!("{memories} of it had been forgotten and did not come back"));
        }
        Ok(())
    }
}

/// Makes a staged copy the store of the home, without what either of the two has forgotten. Returns the
/// number of memories that did not come back.
fn restore_staged(staged: &Path, store: &Path) -> Result<u64> {
    let restored = Commonbook::new(crate::open_store(staged)?);
    if store.exists() {
        match crate::open_store_despite_loss(store) {
            Ok(present) => restored.take_over_forgotten(&*present)?,
            Err(error) => print_note(&format!(
                "note: the present store cannot be read, so what it had forgotten is unknown: {}",
                error.message
            )),
        }
    }
    let forgotten = restored.forget_again()?;
    drop(restored);
    backup::replace_store(staged, store)?;
    drop(crate::open_store(store)?);
    Ok(forgotten)
}

/// The files of the home that go along.
fn home_files(home: &Path) -> Result<Vec<HomeFile>> {
    let mut files = Vec::new();
    for name in HOME_FILES {
        if let Some(bytes) = read_if_any(&home.join(name))? {
            files.push(HomeFile { name: name.to_owned(), bytes });
        }
    }
    let Ok(standing) = fs::read_dir(home.join(STANDING_FOLDER)) else { return Ok(files) };
    for entry in standing {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.')
            && entry.path().is_file()
            && let Some(bytes) = read_if_any(&entry.path())?
        {
            files.push(HomeFile { name: format!("{STANDING_FOLDER}/{name}"), bytes });
        }
    }
    Ok(files)
}

fn read_if_any(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(unreadable),
    }
}

/// Writes a file of the home beside its place, and renames it. A name that leads elsewhere is refused.
fn write_home_file(home: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = Path::new(name);
    let is_known = HOME_FILES.contains(&name) || path.parent() == Some(Path::new(STANDING_FOLDER));
    if !is_known || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Error::invalid("file", format!("the backup holds a file named {name:?}"))
            .hint("Use a backup that `commonbook backup` wrote."));
    }
    let path = home.join(path);
    let folder = path.parent().unwrap_or(home);
    make_folder(folder)?;
    let staged = tempfile::Builder::new().prefix(".commonbook-").tempfile_in(folder);
    let mut staged = staged.map_err(unwritable)?;
    std::io::Write::write_all(&mut staged, bytes).map_err(unwritable)?;
    staged.as_file().sync_all().map_err(unwritable)?;
    staged.persist(&path).map(drop).map_err(|error| unwritable(error.error))
}

fn make_folder(folder: &Path) -> Result<()> {
    crate::atomic::create_folders(folder).map(drop)
}

fn make_private(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

fn describe(summary: &BackupSummary) -> String {
    format!(
        "{}, {} and {} of {} ({})",
        count_text(summary.memories, "memory", "memories"),
        count_text(summary.events, "event", "events"),
        count_text(summary.files.len() as u64, "file", "files"),
        count_text(summary.workspaces, "workspace", "workspaces"),
        HumanBytes(summary.bytes)
    )
}

fn unwritable(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the files cannot be written: {error}"))
        .hint("Check the permissions of the folder and the free disk space.")
        .with_cause(error)
}

fn unreadable(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("a file of the home cannot be read: {error}"))
        .hint("Check its permissions.")
        .with_cause(error)
}
