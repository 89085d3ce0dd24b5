//! Standing memory files, as they are on disk: read fresh each time, written whole, under a lock.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxHashMap;

use crate::caller::Caller;
use crate::context::{Kept, StandingRead};
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::sha256;
use crate::standing::{Standing, places};

/// Bytes of a file that are read at the most: what is larger was not written by us, and is cut.
const READ_BYTES: u64 = 1024 * 1024;

/// Files that are remembered as they were read.
const REMEMBERED: usize = 256;

/// How long a file must have been as it is to be remembered: another change within the same tick of
/// its clock would not show.
const SETTLED: SignedDuration = SignedDuration::from_secs(2);

/// The folders that standing memory files are kept in, and what was read of them.
#[derive(Default)]
pub(super) struct Files {
    home: Option<PathBuf>,
    read: Mutex<FxHashMap<PathBuf, (Stamp, StandingFile)>>,
}

/// When a file last changed, and how large it is.
type Stamp = (SystemTime, u64);

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
    pub read: StandingRead,
}

impl Files {
    /// Those of this home folder.
    pub(super) fn of(home: PathBuf) -> Self {
        Self { home: Some(home), read: Mutex::default() }
    }

    /// The file for the caller's role in its project or in the home folder, if there is one. What
    /// cannot be read is passed over, and the log says so. Where a token proves who calls, the file is
    /// for the agent that the token names: any child of it could call itself by any role.
    pub(super) fn read(&self, caller: &Caller, now: Timestamp) -> Option<StandingFile> {
        let (project, agent) = (caller.project.as_deref(), &caller.agent);
        let home = self.home.as_deref().filter(|_| !caller.proof.is_asserted())?;
        places(project, home, agent).into_iter().find_map(|path| {
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
        let source = if path.starts_with(home) { Kept::Home } else { Kept::Project };
        let file = path.display().to_string();
        let read = StandingRead { file, source, bytes: text.len() as u64, sha256: sha256(&text) };
        let file = StandingFile { path: path.to_owned(), text: text.into(), at, read };
        if known.len() >= REMEMBERED {
            known.clear();
        }
        if now.duration_since(at) >= SETTLED {
            known.insert(path.to_owned(), (stamp, file.clone()));
        }
        Ok(Some(file))
    }
}

/// What a file says; bytes that are no text are told as such.
fn text_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(File::open(path)?, READ_BYTES), &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Changes a standing memory file, or makes it: under a lock, and whole or not at all. Answers what
/// `change` answers, and writes only what is different.
///
/// # Errors
/// What `change` answers; `unavailable` for a file that cannot be written.
pub fn change_standing<T>(
    path: &Path,
    change: impl FnOnce(Option<Standing>) -> Result<(Standing, T)>,
) -> Result<T> {
    let unusable = |error: io::Error| {
        let message = format!("{} cannot be used: {error}", path.display());
        Error::new(ErrorKind::Unavailable, message)
            .hint("Look at its permissions and its disk.")
            .because(error)
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(unusable)?;
    // The lock is a file of its own: the file itself is replaced.
    let lock = File::create(beside(path, ".lock")).map_err(unusable)?;
    lock.lock().map_err(unusable)?;
    let before = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => Some(found.map_err(unusable)?),
    };
    let (after, answer) = change(before.as_deref().map(Standing::parse))?;
    let after = after.render();
    if before.as_deref() != Some(&after) {
        // A link stays one: what it leads to is written.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        replace(&target, &after).map_err(unusable)?;
    }
    // Left where it is: another may wait for it.
    drop(lock);
    Ok(answer)
}

/// Puts a text in the place of a file, by a new one that takes its name when it is on disk.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = beside(path, ".new");
    let mut file = File::create(&new)?;
    if let Ok(metadata) = fs::metadata(path) {
        file.set_permissions(metadata.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}

/// A hidden file beside another.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!(".{name}{ending}"))
}
