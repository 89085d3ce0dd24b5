//! Standing memory files on disk: read on each use, written atomically under a lock.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxHashMap;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::limits;
use crate::model::caller::Caller;
use crate::model::standing::{StandingDocument, standing_paths};
use crate::prompt::context::{StandingLocation, StandingSnapshot};

/// A larger file was not written by Commonbook; the rest of it is ignored.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Files whose contents are cached.
const FILE_CACHE_MAX: usize = 256;

/// Characters of a file's path in the name of its backup.
const BACKUP_NAME_CHARS_MAX: usize = 60;

/// A file is cached only if it is unchanged for this long: another change within the same clock
/// tick would go unnoticed.
const FILE_SETTLE_TIME: SignedDuration = SignedDuration::from_secs(2);

/// The folders of standing memory files, and the cache of their contents.
#[derive(Default)]
pub(super) struct StandingFileCache {
    home: Option<PathBuf>,
    read: Mutex<FxHashMap<PathBuf, (FileStamp, StandingFile)>>,
}

/// The modification time and the size of a file.
type FileStamp = (SystemTime, u64);

/// A standing memory file as it was read.
#[derive(Debug, Clone)]
pub struct StandingFile {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// When it last changed.
    pub at: Timestamp,
    /// What a receipt says of it.
    pub read: StandingSnapshot,
}

impl StandingFileCache {
    /// The home folder.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The cache for this home folder.
    pub(super) fn of(home: PathBuf) -> Self {
        Self { home: Some(home), read: Mutex::default() }
    }

    /// Backs up a standing memory file in the backup folder of the home, and removes all but the
    /// newest [`limits::STANDING_BACKUPS`] backups of this file. Returns the path of the backup.
    ///
    /// # Errors
    /// `unavailable` if the copy cannot be written.
    pub(super) fn back_up(&self, path: &Path, text: &str, now: Timestamp) -> Result<PathBuf> {
        let folder = self.home.as_deref().unwrap_or(Path::new(".")).join("backups");
        let ending = backup_ending(path);
        let copy = folder.join(format!("{}{ending}", now.strftime("%Y%m%dT%H%M%S%.6f")));
        let written = private_folder(&folder)
            .and_then(|()| replace_file(&copy, StandingLocation::Home, text))
            .and_then(|()| forget_backups(&folder, &ending));
        written.map(|()| copy).map_err(|error| {
            let message = format!("{} cannot be backed up: {error}", path.display());
            Error::new(ErrorKind::Unavailable, message)
                .hint(format!("Make {} writable. The file is unchanged.", folder.display()))
                .with_cause(error)
        })
    }

    /// The file for the caller's role in its project or in the home folder, if it exists. A file
    /// that cannot be read is skipped with a warning in the log. If a token identifies the caller,
    /// the file is that of the token's agent: its children could call themselves by any role.
    pub(super) fn read(&self, caller: &Caller, now: Timestamp) -> Option<StandingFile> {
        let (project, agent) = (caller.project.as_deref(), &caller.agent);
        let home = self.home.as_deref().filter(|_| !caller.proof.is_asserted())?;
        standing_paths(project, home, agent).into_iter().find_map(|path| {
            let found = self.read_at(&path, home, now);
            found.unwrap_or_else(|error| {
                tracing::warn!(path = %path.display(), %error, "a standing memory file was skipped");
                None
            })
        })
    }

    fn read_at(
        &self,
        path: &Path,
        home: &Path,
        now: Timestamp,
    ) -> io::Result<Option<StandingFile>> {
        let metadata = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        if !metadata.is_file() {
            return Ok(None);
        }
        let stamp = (metadata.modified()?, metadata.len());
        let mut cache = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = cache.get(path).filter(|(then, _)| *then == stamp) {
            return Ok(Some(file.clone()));
        }
        let text = text_of(path)?;
        let at = Timestamp::try_from(stamp.0).unwrap_or(Timestamp::UNIX_EPOCH);
        let source =
            if path.starts_with(home) { StandingLocation::Home } else { StandingLocation::Project };
        let file = path.display().to_string();
        let read =
            StandingSnapshot { file, source, bytes: text.len() as u64, sha256: sha256(&text) };
        let file = StandingFile { path: path.to_owned(), text: text.into(), at, read };
        if cache.len() >= FILE_CACHE_MAX {
            cache.clear();
        }
        if now.duration_since(at) >= FILE_SETTLE_TIME {
            cache.insert(path.to_owned(), (stamp, file.clone()));
        }
        Ok(Some(file))
    }
}

/// The end of the name of a file's backups: its path, whose last part tells files apart.
fn backup_ending(path: &Path) -> String {
    let letter = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    let name: Vec<char> = path.to_string_lossy().chars().map(letter).collect();
    let last = name.len().saturating_sub(BACKUP_NAME_CHARS_MAX);
    // A hash tells apart long paths and paths that differ only in replaced letters.
    let sum = sha256(&path.to_string_lossy());
    format!("-{}-{}", &sum[..8], name[last..].iter().collect::<String>().trim_matches('_'))
}

/// Removes the oldest backups of a file, those over the limit.
fn forget_backups(folder: &Path, ending: &str) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let ours = |path: &PathBuf| path.to_string_lossy().ends_with(ending);
    let mut copies: Vec<PathBuf> = entries.filter(ours).collect();
    copies.sort_unstable();
    let spare = copies.len().saturating_sub(limits::STANDING_BACKUPS);
    copies.iter().take(spare).try_for_each(fs::remove_file)
}

/// The text of a file; an error if its bytes are not UTF-8.
fn text_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(File::open(path)?, FILE_BYTES_MAX), &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Changes a standing memory file, or creates it: under a lock, and atomically. Returns the result
/// of `change`, and writes only if the text differs. An existing file keeps its mode. A new file in
/// the home is readable by its user alone; in a project, which people share, it has the permissions
/// of its folder.
///
/// # Errors
/// Errors of `change`; `unavailable` if the file cannot be written.
pub fn change_standing<T>(
    path: &Path,
    kept: StandingLocation,
    change: impl FnOnce(Option<StandingDocument>) -> Result<(StandingDocument, T)>,
) -> Result<T> {
    let unusable = |error: io::Error| {
        let message = format!("{} cannot be used: {error}", path.display());
        Error::new(ErrorKind::Unavailable, message)
            .hint("Check its permissions and its disk.")
            .with_cause(error)
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    make_standing_folder(folder, kept).map_err(unusable)?;
    // The lock is a separate file, because the file itself is replaced.
    let lock = File::create(hidden_sibling(path, ".lock")).map_err(unusable)?;
    lock.lock().map_err(unusable)?;
    let before = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => Some(found.map_err(unusable)?),
    };
    let (after, answer) = change(before.as_deref().map(StandingDocument::parse))?;
    let after = after.render();
    if before.as_deref() != Some(&after) {
        // A symbolic link stays: its target is written.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        replace_file(&target, kept, &after).map_err(unusable)?;
    }
    // The lock file stays: another process may wait for it.
    drop(lock);
    Ok(answer)
}

/// Creates the folder of standing memory files and its parents. In the home it is accessible to its
/// user alone; in a project it has the permissions of the project's folder.
///
/// # Errors
/// Fails if a folder cannot be created.
pub fn make_standing_folder(folder: &Path, kept: StandingLocation) -> io::Result<()> {
    let missing = folder.ancestors().take_while(|above| !above.exists()).count();
    let made: Vec<&Path> = folder.ancestors().take(missing).collect();
    private_folder(folder)?;
    let above = folder.ancestors().nth(missing);
    if let (StandingLocation::Project, Some(above)) = (kept, above) {
        made.into_iter().rev().try_for_each(|folder| open_like(folder, above, 0o775))?;
    }
    Ok(())
}

#[cfg(unix)]
fn private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Gives a new file or folder the mode of the folder around it, limited to these bits.
#[cfg(unix)]
fn open_like(path: &Path, around: &Path, within: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(around)?.permissions().mode() & within;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn open_like(_: &Path, _: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// Replaces a file by a new one, which takes its name once it is on disk.
fn replace_file(path: &Path, kept: StandingLocation, text: &str) -> io::Result<()> {
    let new = hidden_sibling(path, ".new");
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    match (fs::metadata(path), kept) {
        (Ok(metadata), _) => file.set_permissions(metadata.permissions())?,
        (Err(_), StandingLocation::Project) => {
            open_like(&new, path.parent().unwrap_or(path), 0o664)?;
        }
        (Err(_), StandingLocation::Home) => {}
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}

/// A hidden file beside another.
fn hidden_sibling(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!(".{name}{ending}"))
}
