//! Standing memory files on disk: found by role, read on each use, replaced atomically under a lock.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxHashMap;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::file_lock::FileLock;
use crate::base::file_system::{mode_of, private_folder, private_options, set_mode, sync_folder};
use crate::base::hash::sha256;
use crate::base::limits;
use crate::model::caller::Caller;
use crate::model::forgetting::{ForgetReach, ForgottenPhrases, redacted_standing};
use crate::model::standing::{
    StandingKey, StandingLocation, file_of_role, role_of_file, standing_file_name, standing_folders,
};
use crate::prompt::context::StandingSnapshot;

/// A larger file was not written by Commonbook: a context ignores the rest of it, and no verb
/// changes it.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Files whose contents are cached.
const FILE_CACHE_MAX: usize = 256;

/// Characters of a file's path in the name of its backup.
const BACKUP_NAME_CHARS_MAX: usize = 60;

/// Letters of a path's hash in the name of its lock.
const LOCK_NAME_CHARS: usize = 16;

/// A file is cached only if it is unchanged for this long: another change within the same clock
/// tick would go unnoticed.
const FILE_SETTLE_TIME: SignedDuration = SignedDuration::from_secs(2);

/// The folders of standing memory files, and the cache of their contents.
#[derive(Default)]
pub(in crate::verbs) struct StandingFileCache {
    home: Option<PathBuf>,
    read: Mutex<FxHashMap<PathBuf, (FileStamp, StandingFile)>>,
}

/// The modification time and the size of a file.
type FileStamp = (SystemTime, u64);

/// Where the file of a role is, or would be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::verbs) struct StandingTarget {
    pub(in crate::verbs) location: StandingLocation,
    pub(in crate::verbs) path: PathBuf,
    pub(in crate::verbs) exists: bool,
    /// The role, and the folder of the project.
    pub(in crate::verbs) key: StandingKey,
}

/// A standing memory file as a context read it.
#[derive(Debug, Clone)]
pub(in crate::verbs) struct StandingFile {
    /// Where it is.
    pub(in crate::verbs) target: StandingTarget,
    /// Its text; bytes that are not UTF-8 are replaced.
    pub(in crate::verbs) text: Arc<str>,
    /// Why the file cannot be changed: it has bytes that are not UTF-8.
    pub(in crate::verbs) damage: Option<String>,
    /// When it last changed.
    pub(in crate::verbs) at: Timestamp,
    /// What a receipt says of it.
    pub(in crate::verbs) read: StandingSnapshot,
}

/// The locks of a file that is changed; dropping them releases it.
pub(super) struct StandingLock {
    _own: FileLock,
    _folder: Option<FileLock>,
}

impl StandingFileCache {
    /// The home folder.
    pub(in crate::verbs) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The cache for this home folder.
    pub(in crate::verbs) fn of(home: PathBuf) -> Self {
        Self { home: Some(home), read: Mutex::default() }
    }

    /// The places where the file of a role can be, in search order: those of files that exist, or of
    /// files that would be created.
    pub(super) fn places(
        &self,
        project: Option<&Path>,
        role: &str,
    ) -> io::Result<Vec<StandingTarget>> {
        let home = self.home.as_deref().ok_or_else(|| io::Error::other("there is no home"))?;
        let places = standing_folders(project, home).into_iter().map(|folder| {
            let is_home = folder.parent() == Some(home);
            let names = file_names(&folder, is_home)?;
            let found = file_of_role(names.iter().map(String::as_str), role);
            let location = if is_home { StandingLocation::Home } else { StandingLocation::Project };
            let project = project.filter(|_| !is_home).map(|path| path.display().to_string());
            Ok(StandingTarget {
                location,
                path: folder.join(found.map_or_else(|| standing_file_name(role), str::to_owned)),
                exists: found.is_some(),
                key: StandingKey { project: project.unwrap_or_default(), role: role.to_owned() },
            })
        });
        places.collect()
    }

    /// The roles that have a file.
    pub(super) fn roles(&self, project: Option<&Path>) -> io::Result<Vec<String>> {
        let home = self.home.as_deref().ok_or_else(|| io::Error::other("there is no home"))?;
        let mut roles = Vec::new();
        for folder in standing_folders(project, home) {
            let is_home = folder.parent() == Some(home);
            let names = file_names(&folder, is_home)?;
            roles.extend(names.iter().filter_map(|name| role_of_file(name)));
        }
        roles.sort_unstable();
        roles.dedup();
        Ok(roles)
    }

    /// The paths and texts of the files of a project and of the home folder that can be read.
    pub(in crate::verbs) fn texts(&self, project: Option<&Path>) -> Vec<(String, String)> {
        let roles = self.roles(project).unwrap_or_default();
        let targets = roles.iter().flat_map(|role| {
            let places = self.places(project, role).unwrap_or_default();
            places.into_iter().filter(|target| target.exists)
        });
        let texts = targets.filter_map(|target| {
            let text = target.text().ok().flatten()?;
            Some((target.path.display().to_string(), text))
        });
        texts.collect()
    }

    /// The paths of a project's files that hold these phrases. The files are people's: nothing changes
    /// them.
    pub(in crate::verbs) fn quoting_files(
        &self,
        project: &Path,
        phrases: &ForgottenPhrases,
    ) -> Vec<String> {
        let roles = self.roles(Some(project)).unwrap_or_default();
        let targets = roles.iter().flat_map(|role| {
            let places = self.places(Some(project), role).unwrap_or_default();
            places
                .into_iter()
                .filter(|target| target.exists && target.location == StandingLocation::Project)
        });
        let quotes = |target: &StandingTarget| {
            let text = target.text().ok().flatten();
            text.is_some_and(|text| phrases.redact(&text).is_some())
        };
        targets.filter(quotes).map(|target| target.path.display().to_string()).collect()
    }

    /// Takes forgotten phrases out of the files of the home folder and their backups, as far as a forgetting
    /// reaches, each under its lock; returns the number of files that held them. `apply` writes them.
    pub(in crate::verbs) fn redact_home(
        &self,
        phrases: &ForgottenPhrases,
        reach: &ForgetReach,
        apply: bool,
    ) -> io::Result<u64> {
        let Some(home) = self.home.as_deref() else { return Ok(0) };
        let mut found = 0;
        for role in self.roles(None)? {
            for target in self.places(None, &role)?.into_iter().filter(|target| target.exists) {
                let _lock = apply.then(|| self.lock(&target)).transpose()?;
                let text = fs::read_to_string(&target.path)?;
                let Some(redacted) = redacted_standing(&text, phrases, reach) else { continue };
                found += 1;
                if apply {
                    target.replace(&target.stage(&redacted)?)?;
                }
            }
        }
        let backups = match fs::read_dir(home.join("backups")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            listed => listed?.collect::<io::Result<Vec<_>>>()?,
        };
        for path in backups.into_iter().map(|entry| entry.path()).filter(|path| path.is_file()) {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            let Some(redacted) = redacted_standing(&text, phrases, reach) else { continue };
            found += 1;
            if apply {
                fs::rename(stage(&path, StandingLocation::Home, &redacted)?, &path)?;
            }
        }
        Ok(found)
    }

    /// The files for the caller's role in the home folder and in its project, those that exist. One
    /// that cannot be read has no text, and says why in `damage`. If a token identifies the caller,
    /// the file is that of the token's agent: its children could call themselves by any role.
    pub(in crate::verbs) fn read(&self, caller: &Caller, now: Timestamp) -> Vec<StandingFile> {
        if self.home.is_none() || caller.proof.is_asserted() {
            return Vec::new();
        }
        let (project, role) = (caller.project.as_deref(), caller.agent.role());
        let places = self.places(project, role).unwrap_or_else(|error| {
            tracing::warn!(role, %error, "the standing memory files were skipped");
            // The file of the home does not depend on a project.
            self.places(None, role).unwrap_or_default()
        });
        let existing = places.into_iter().rev().filter(|target| target.exists);
        existing.filter_map(|target| self.read_or_skip(&target, now)).collect()
    }

    /// A file; without its text if it cannot be read.
    fn read_or_skip(&self, target: &StandingTarget, now: Timestamp) -> Option<StandingFile> {
        self.read_at(target, now).unwrap_or_else(|error| {
            let path = target.path.display();
            tracing::warn!(%path, %error, "a standing memory file was skipped");
            let damage = Some(format!("{path} was skipped: {error}"));
            Some(StandingFile::of(target, String::new(), damage, Timestamp::UNIX_EPOCH))
        })
    }

    /// The files of all roles in a project, read as [`Self::read`] does.
    pub(in crate::verbs) fn of_project(
        &self,
        project: &Path,
        now: Timestamp,
    ) -> io::Result<Vec<StandingFile>> {
        let mut files = Vec::new();
        for role in self.roles(Some(project))? {
            let places = self.places(Some(project), &role)?.into_iter();
            let targets = places.filter(|target| target.exists && !target.is_in_home());
            files.extend(targets.filter_map(|target| self.read_or_skip(&target, now)));
        }
        Ok(files)
    }

    fn read_at(&self, target: &StandingTarget, now: Timestamp) -> io::Result<Option<StandingFile>> {
        let path = &target.path;
        let metadata = match target.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        let stamp = (metadata.modified()?, metadata.len());
        let mut cache = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = cache.get(path).filter(|(then, _)| *then == stamp) {
            return Ok(Some(file.clone()));
        }
        let bytes = target.first_bytes()?;
        let damage = std::str::from_utf8(&bytes).err();
        let damage = damage.map(|error| damage_text(path, &bytes, error));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let at = Timestamp::try_from(stamp.0).unwrap_or(Timestamp::UNIX_EPOCH);
        let file = StandingFile::of(target, text, damage, at);
        if cache.len() >= FILE_CACHE_MAX {
            cache.clear();
        }
        if now.duration_since(at) >= FILE_SETTLE_TIME {
            cache.insert(path.clone(), (stamp, file.clone()));
        }
        Ok(Some(file))
    }

    /// Locks a file against other writers, and waits for them.
    pub(super) fn lock(&self, target: &StandingTarget) -> io::Result<StandingLock> {
        let own = FileLock::wait(&self.lock_path(target)?)?;
        // The lock of the folder holds against writers with another home. Some systems cannot lock a
        // folder; there the lock of the home holds alone.
        let around = FileLock::wait_for_folder(target.folder()).ok();
        // Earlier versions left a lock beside the file.
        drop(fs::remove_file(hidden_sibling(&target.path, ".lock")));
        Ok(StandingLock { _own: own, _folder: around })
    }

    /// Locks a file unless a writer has it.
    pub(super) fn try_lock(&self, target: &StandingTarget) -> io::Result<Option<StandingLock>> {
        let own = FileLock::take(&self.lock_path(target)?)?;
        Ok(own.map(|own| StandingLock { _own: own, _folder: None }))
    }

    /// The lock of a file: in the home, so that a project contains none.
    fn lock_path(&self, target: &StandingTarget) -> io::Result<PathBuf> {
        let home = self.home.as_deref().ok_or_else(|| io::Error::other("there is no home"))?;
        let (folder, path) = (target.folder(), &target.path);
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let real = real.join(path.file_name().unwrap_or_default());
        let locks = home.join("locks");
        private_folder(&locks)?;
        let name = &sha256(&real.to_string_lossy())[..LOCK_NAME_CHARS];
        Ok(locks.join(name))
    }

    /// Backs up a standing memory file in the backup folder of the home, and removes all but the
    /// newest [`limits::STANDING_BACKUPS`] backups of this file. Returns the path of the backup.
    ///
    /// # Errors
    /// `unavailable` if the copy cannot be written.
    pub(in crate::verbs) fn back_up(
        &self,
        path: &Path,
        text: &str,
        now: Timestamp,
    ) -> Result<PathBuf> {
        let folder = self.home.as_deref().unwrap_or(Path::new(".")).join("backups");
        let ending = backup_ending(path);
        let copy = folder.join(format!("{}{ending}", now.strftime("%Y%m%dT%H%M%S%.6f")));
        let written = private_folder(&folder)
            .and_then(|()| stage(&copy, StandingLocation::Home, text))
            .and_then(|staged| fs::rename(staged, &copy))
            .and_then(|()| forget_backups(&folder, &ending));
        written.map(|()| copy).map_err(|error| {
            let message = format!("{} cannot be backed up: {error}", path.display());
            Error::new(ErrorKind::Unavailable, message)
                .hint(format!("Make {} writable. The file is unchanged.", folder.display()))
                .with_cause(error)
        })
    }
}

impl StandingFile {
    pub(super) fn of(
        target: &StandingTarget,
        text: String,
        damage: Option<String>,
        at: Timestamp,
    ) -> Self {
        let read = StandingSnapshot {
            file: target.path.display().to_string(),
            source: target.location,
            bytes: text.len() as u64,
            sha256: sha256(&text),
        };
        Self { target: target.clone(), text: text.into(), damage, at, read }
    }

    /// The file of a role in the home of a server elsewhere, with this text.
    pub(in crate::verbs) fn elsewhere(role: &str, text: String, at: Timestamp) -> Self {
        let target = StandingTarget {
            location: StandingLocation::Home,
            path: PathBuf::from(standing_file_name(role)),
            exists: true,
            key: StandingKey { project: String::new(), role: role.to_owned() },
        };
        Self::of(&target, text, None, at)
    }
}

impl StandingTarget {
    /// Whether it is in the home.
    pub(in crate::verbs) fn is_in_home(&self) -> bool {
        self.location == StandingLocation::Home
    }

    /// Fails if a link leads out of the project's folder of standing memory. What lies in the home is
    /// its person's, who may link it.
    fn refuse_links(&self) -> io::Result<()> {
        if self.is_in_home() {
            return Ok(());
        }
        let refused =
            || io::Error::new(io::ErrorKind::InvalidInput, "a link leads out of the project");
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let folder = self.folder();
        if folder.ancestors().take(2).any(is_link) {
            return Err(refused());
        }
        if !is_link(&self.path) {
            return Ok(());
        }
        let real = fs::canonicalize(&self.path).map_err(|_| refused())?;
        let is_inside = real.parent() == Some(fs::canonicalize(folder)?.as_path());
        if is_inside { Ok(()) } else { Err(refused()) }
    }

    /// The metadata of the file: a regular one, in a project of [`FILE_BYTES_MAX`] at most.
    fn metadata(&self) -> io::Result<fs::Metadata> {
        self.refuse_links()?;
        let found = fs::metadata(&self.path)?;
        let refused = |reason| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        match found.is_file() {
            false => refused("it is no regular file"),
            true if found.len() > FILE_BYTES_MAX && !self.is_in_home() => {
                refused("it has more than 1 MiB")
            }
            true => Ok(found),
        }
    }

    /// The bytes of the file, one more than the maximum at most.
    fn first_bytes(&self) -> io::Result<Vec<u8>> {
        self.metadata()?;
        let mut bytes = Vec::new();
        File::open(&self.path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// The text of the file; `None` if it does not exist.
    ///
    /// # Errors
    /// `unavailable` if the file cannot be read or is not UTF-8, `too_large` if it is larger than
    /// 1 MiB.
    pub(in crate::verbs) fn text(&self) -> Result<Option<String>> {
        let bytes = match self.first_bytes() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found.map_err(|error| self.unusable(error))?,
        };
        if bytes.len() as u64 > FILE_BYTES_MAX {
            let (found, limit) = (bytes.len(), FILE_BYTES_MAX as usize);
            return Err(Error::too_large("file", found, limit, "bytes")
                .hint("Shorten the file in an editor."));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => {
                let message = damage_text(&self.path, error.as_bytes(), error.utf8_error());
                Err(Error::new(ErrorKind::Unavailable, message)
                    .hint("Save the file as UTF-8 in an editor. The file is unchanged."))
            }
        }
    }

    /// When the file last changed.
    pub(super) fn changed_at(&self) -> Timestamp {
        let changed = fs::metadata(&self.path).and_then(|metadata| metadata.modified());
        let changed = changed.ok().and_then(|time| Timestamp::try_from(time).ok());
        changed.unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Creates the folder of the file and its parents. In the home it is accessible to its user
    /// alone; in a project it has the permissions of the project's folder.
    pub(super) fn make_folder(&self) -> io::Result<()> {
        self.refuse_links()?;
        let folder = self.folder();
        let missing = folder.ancestors().take_while(|above| !above.exists()).count();
        let made: Vec<&Path> = folder.ancestors().take(missing).collect();
        private_folder(folder)?;
        let above = folder.ancestors().nth(missing);
        if let (StandingLocation::Project, Some(above)) = (self.location, above) {
            made.into_iter().rev().try_for_each(|folder| open_like(folder, above, 0o775))?;
        }
        Ok(())
    }

    /// Writes a text beside the file, for [`Self::replace`]. An existing file keeps its mode. A new
    /// file in the home is readable by its user alone; in a project, which people share, it has the
    /// permissions of its folder.
    pub(super) fn stage(&self, text: &str) -> io::Result<PathBuf> {
        self.refuse_links()?;
        stage(&self.real_path(), self.location, text)
    }

    /// Gives a staged text the name of the file.
    pub(super) fn replace(&self, staged: &Path) -> io::Result<()> {
        self.refuse_links()?;
        let path = self.real_path();
        fs::rename(staged, &path)?;
        sync_folder(path.parent().unwrap_or(Path::new(".")))
    }

    /// The target of a symbolic link, which stays.
    fn real_path(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// The error for a file that cannot be read or written.
    pub(super) fn unusable(&self, error: io::Error) -> Error {
        let hint = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "Free some disk space.",
            io::ErrorKind::InvalidInput => "Put a regular file of at most 1 MiB in its place.",
            _ => "Check its permissions and its disk.",
        };
        let message = format!("{} cannot be used: {error}", self.path.display());
        Error::new(ErrorKind::Unavailable, message)
            .hint(format!("{hint} The file is unchanged."))
            .with_cause(error)
    }
}

/// The names of the files in a folder; in a project also of what takes the place of one.
fn file_names(folder: &Path, is_home: bool) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found?,
    };
    let files = entries.flatten().filter(|entry| !is_home || entry.path().is_file());
    Ok(files.filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// Where the bytes of a file stop being UTF-8.
fn damage_text(path: &Path, bytes: &[u8], error: std::str::Utf8Error) -> String {
    let at = error.valid_up_to();
    let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
    let wrong = bytes.get(at).copied().unwrap_or_default();
    format!("{} is not UTF-8: byte {at} in line {line} is 0x{wrong:02x}", path.display())
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

/// Gives a new file or folder the mode of the folder around it, limited to these bits.
fn open_like(path: &Path, around: &Path, within: u32) -> io::Result<()> {
    mode_of(&fs::metadata(around)?).map_or(Ok(()), |mode| set_mode(path, mode & within))
}

/// Writes a text to a new file beside this path, and syncs it; a failure leaves nothing behind.
pub(super) fn stage(path: &Path, location: StandingLocation, text: &str) -> io::Result<PathBuf> {
    let new = hidden_sibling(path, ".new");
    // A killed process may have left it. A link there is never followed.
    drop(fs::remove_file(&new));
    let written = write_new(&new, path, location, text);
    if written.is_err() {
        drop(fs::remove_file(&new));
    }
    written.map(|()| new)
}

fn write_new(new: &Path, path: &Path, location: StandingLocation, text: &str) -> io::Result<()> {
    let mut file = private_options().write(true).create_new(true).open(new)?;
    match (fs::metadata(path), location) {
        (Ok(metadata), _) => file.set_permissions(metadata.permissions())?,
        (Err(_), StandingLocation::Project) => {
            open_like(new, path.parent().unwrap_or(path), 0o664)?;
        }
        (Err(_), StandingLocation::Home) => {}
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A hidden file beside another.
fn hidden_sibling(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!(".{name}{ending}"))
}
