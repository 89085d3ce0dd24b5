//! Standing memory files, as they are on disk: read fresh each time, written whole, under a lock.

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

/// Bytes of a file that are read at the most: what is larger was not written by us, and is cut.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Files that are remembered as they were read.
const FILE_CACHE_MAX: usize = 256;

/// Characters of a file's path that the name of its copy holds.
const BACKUP_NAME_CHARS_MAX: usize = 60;

/// How long a file must have been as it is to be remembered: another change within the same tick of
/// its clock would not show.
const FILE_SETTLE_TIME: SignedDuration = SignedDuration::from_secs(2);

/// The folders that standing memory files are kept in, and what was read of them.
#[derive(Default)]
pub(super) struct StandingFileCache {
    home: Option<PathBuf>,
    read: Mutex<FxHashMap<PathBuf, (FileStamp, StandingFile)>>,
}

/// When a file last changed, and how large it is.
type FileStamp = (SystemTime, u64);

/// A standing memory file, as it was read.
#[derive(Debug, Clone)]
pub struct StandingFile {
    /// Its path.
    pub path: PathBuf,
    /// What it says.
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

    /// Those of this home folder.
    pub(super) fn of(home: PathBuf) -> Self {
        Self { home: Some(home), read: Mutex::default() }
    }

    /// Keeps a copy of what a standing memory file says, in the folder of backups of the home, and
    /// removes all but the newest [`limits::STANDING_BACKUPS`] of this file. Answers where the copy is.
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
            let message = format!("no copy of {} can be kept: {error}", path.display());
            Error::new(ErrorKind::Unavailable, message)
                .hint(format!("Make {} writable; the file was left as it is.", folder.display()))
                .with_cause(error)
        })
    }

    /// The file for the caller's role in its project or in the home folder, if there is one. What
    /// cannot be read is passed over, and the log says so. Where a token proves who calls, the file is
    /// for the agent that the token names: any child of it could call itself by any role.
    pub(super) fn read(&self, caller: &Caller, now: Timestamp) -> Option<StandingFile> {
        let (project, agent) = (caller.project.as_deref(), &caller.agent);
        let home = self.home.as_deref().filter(|_| !caller.proof.is_asserted())?;
        standing_paths(project, home, agent).into_iter().find_map(|path| {
            let found = self.read_at(&path, home, now);
            found.unwrap_or_else(|error| {
                tracing::warn!(path = %path.display(), %error, "a standing memory was passed over");
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
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = known.get(path).filter(|(then, _)| *then == stamp) {
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
        if known.len() >= FILE_CACHE_MAX {
            known.clear();
        }
        if now.duration_since(at) >= FILE_SETTLE_TIME {
            known.insert(path.to_owned(), (stamp, file.clone()));
        }
        Ok(Some(file))
    }
}

/// How the copies of a file end: with its path, of which the last is what tells files apart.
fn backup_ending(path: &Path) -> String {
    let letter = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    let name: Vec<char> = path.to_string_lossy().chars().map(letter).collect();
    let last = name.len().saturating_sub(BACKUP_NAME_CHARS_MAX);
    // Paths that are alike once their letters are mended, or long, are still told apart.
    let sum = sha256(&path.to_string_lossy());
    format!("-{}-{}", &sum[..8], name[last..].iter().collect::<String>().trim_matches('_'))
}

/// Removes the oldest copies of a file, those over the limit.
fn forget_backups(folder: &Path, ending: &str) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let ours = |path: &PathBuf| path.to_string_lossy().ends_with(ending);
    let mut copies: Vec<PathBuf> = entries.filter(ours).collect();
    copies.sort_unstable();
    let spare = copies.len().saturating_sub(limits::STANDING_BACKUPS);
    copies.iter().take(spare).try_for_each(fs::remove_file)
}

/// What a file says; bytes that are no text are told as such.
fn text_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(File::open(path)?, FILE_BYTES_MAX), &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Changes a standing memory file, or makes it: under a lock, and whole or not at all. Answers what
/// `change` answers, and writes only what is different. A file that is there keeps its mode. A new one
/// in the home is its user's alone; in a project, where people share it, it is as open as its folder.
///
/// # Errors
/// What `change` answers; `unavailable` for a file that cannot be written.
pub fn change_standing<T>(
    path: &Path,
    kept: StandingLocation,
    change: impl FnOnce(Option<StandingDocument>) -> Result<(StandingDocument, T)>,
) -> Result<T> {
    let unusable = |error: io::Error| {
        let message = format!("{} cannot be used: {error}", path.display());
        Error::new(ErrorKind::Unavailable, message)
            .hint("Look at its permissions and its disk.")
            .with_cause(error)
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    make_standing_folder(folder, kept).map_err(unusable)?;
    // The lock is a file of its own: the file itself is replaced.
    let lock = File::create(hidden_sibling(path, ".lock")).map_err(unusable)?;
    lock.lock().map_err(unusable)?;
    let before = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => Some(found.map_err(unusable)?),
    };
    let (after, answer) = change(before.as_deref().map(StandingDocument::parse))?;
    let after = after.render();
    if before.as_deref() != Some(&after) {
        // A link stays one: what it leads to is written.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        replace_file(&target, kept, &after).map_err(unusable)?;
    }
    // Left where it is: another may wait for it.
    drop(lock);
    Ok(answer)
}

/// Makes the folder of standing memory files, with those above it. In the home it is its user's alone;
/// in a project it is as open as the folder of the project.
///
/// # Errors
/// Fails if a folder cannot be made.
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

/// Gives what is new the mode of the folder around it, within these bits.
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

/// Puts a text in the place of a file, by a new one that takes its name when it is on disk.
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
