//! A backup of the whole home: its store, and the files that go along.

use std::fs;
use std::path::{Component, Path};

use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_system::make_private;
use commonbook::base::home_key::HomeKey;
use commonbook::store::sqlite::backup::{self, BackupSummary, HomeFile};

use crate::settings::config::SETTINGS_FILE;
use crate::system::atomic;

/// Files of the home that go along, besides the store and standing memory: settings, the map of
/// projects, and the key by which this home knows what it signed.
const HOME_FILES: [&str; 3] = [SETTINGS_FILE, "projects.json", KEY_FILE];

/// The file with the key of the home.
pub(crate) const KEY_FILE: &str = "hook.key";

/// How the folder begins in which a backup is written before it has its name.
pub(crate) const STAGING_PREFIX: &str = ".commonbook-backup-";

/// The folder of standing memory.
const STANDING_FOLDER: &str = "memories";

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
    // A young home has no key yet, without which it would not know the backup as its own. One that cannot be written to
    // is backed up without.
    drop(HomeKey::open(home));
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
pub(crate) fn write_home_file(home: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = Path::new(name);
    let is_known = HOME_FILES.contains(&name) || path.parent() == Some(Path::new(STANDING_FOLDER));
    if !is_known || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Error::invalid("file", format!("the backup holds a file named {name:?}"))
            .hint("Use a backup that `commonbook backup` wrote."));
    }
    let path = home.join(path);
    let folder = path.parent().unwrap_or(home);
    atomic::create_folders(folder)?;
    let staged = tempfile::Builder::new().prefix(".commonbook-").tempfile_in(folder);
    let mut staged = staged.map_err(unwritable)?;
    std::io::Write::write_all(&mut staged, bytes).map_err(unwritable)?;
    staged.as_file().sync_all().map_err(unwritable)?;
    staged.persist(&path).map(drop).map_err(|error| unwritable(error.error))
}

/// The error of a file that cannot be written.
pub(crate) fn unwritable(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the files cannot be written: {error}"))
        .hint("Check the permissions of the folder and the free disk space.")
        .with_cause(error)
}

fn unreadable(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("a file of the home cannot be read: {error}"))
        .hint("Check its permissions.")
        .with_cause(error)
}
