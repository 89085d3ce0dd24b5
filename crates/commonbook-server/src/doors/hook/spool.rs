//! What hooks had to write and could not in time: files of the home, which the next hook, command or server
//! writes, each once.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_lock::FileLock;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::record::HookRecord;
use super::verbs::VerbClient;
use crate::calls::output::count_text;
use crate::settings::config::Config;
use crate::system::atomic::{self, StagedFile};

/// The folder in the home.
const FOLDER: &str = "spool";

/// The file in it that says what was given up.
const GIVEN_UP: &str = "given-up.json";

/// Records that wait at most: a home that nobody can write to must not fill the disk.
const RECORDS_MAX: usize = 1_000;

/// The records of a home that wait to be written.
pub(super) struct HookSpool(PathBuf);

/// What hooks had to write and nobody will.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SpoolLoss {
    /// The number of records.
    records: u64,
    /// When the first one was given up.
    since: Timestamp,
    /// Why the last one was given up.
    reason: String,
}

impl fmt::Display for SpoolLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = count_text(self.records, "hook event", "hook events");
        let since = self.since.strftime("%Y-%m-%d");
        write!(
            f,
            "Commonbook could not keep what came with {records} since {since} (learnings, checkpoints or \
             ends of sessions), and has given up: {}.",
            self.reason
        )
    }
}

impl HookSpool {
    /// The spool of this home.
    pub(super) fn of(home: &Path) -> Self {
        Self(home.join(FOLDER))
    }

    /// Keeps a record until it can be written.
    ///
    /// # Errors
    /// `unavailable` if the file cannot be written, or too many wait.
    pub(super) fn keep(&self, record: &HookRecord) -> Result<()> {
        atomic::create_folders(&self.0)?;
        if self.files().len() >= RECORDS_MAX {
            let error = Error::new(
                ErrorKind::Unavailable,
                format!("{RECORDS_MAX} records of hooks wait already"),
            );
            self.note_loss(&error);
            return Err(error.hint("Run `commonbook doctor`."));
        }
        let text = serde_json::to_string(record).map_err(crate::calls::call::encoding_error)?;
        StagedFile::write(&self.0.join(format!("{}.json", record.key)), &text)?.replace_target()
    }

    /// The number of records that wait.
    pub(super) fn waiting(&self) -> usize {
        self.files().len()
    }

    /// Writes what waits for these verbs, the oldest first, until `end`. Whatever cannot be written now
    /// waits on; what never can is given up.
    pub(super) fn drain(&self, config: &Config, verbs: &mut VerbClient<'_>, end: Option<Instant>) {
        let files = self.files();
        if files.is_empty() {
            return;
        }
        // Another process drains it.
        let Some(_one_at_a_time) = self.lock() else { return };
        for file in files {
            if end.is_some_and(|end| Instant::now() >= end) {
                return;
            }
            let mut record = match read_record(&file) {
                Ok(Some(record)) => record,
                // Another process wrote it meanwhile.
                Ok(None) => continue,
                Err(error) => {
                    self.give_up(&file, &error);
                    continue;
                }
            };
            if record.url.as_deref() != verbs.url() || !record.is_in_reach() {
                continue;
            }
            if let Err(error) = record.complete() {
                self.give_up(&file, &error);
                continue;
            }
            match record.write(verbs) {
                Ok(_) => remove(&file),
                Err(error) if may_succeed_later(&error, config) => {
                    tracing::debug!(%error, "what a hook had to write waits on");
                    return;
                }
                Err(error) => self.give_up(&file, &error),
            }
        }
    }

    /// What was given up.
    pub(super) fn loss(&self) -> Option<SpoolLoss> {
        let text = atomic::read(&self.0.join(GIVEN_UP)).ok().flatten()?;
        serde_json::from_str(&text).ok()
    }

    /// The same, once.
    pub(super) fn take_loss(&self) -> Option<SpoolLoss> {
        let loss = self.loss()?;
        remove(&self.0.join(GIVEN_UP));
        Some(loss)
    }

    fn give_up(&self, file: &Path, error: &Error) {
        tracing::warn!(%error, record = %file.display(), "what a hook had to write is given up");
        self.note_loss(error);
        remove(file);
    }

    fn note_loss(&self, error: &Error) {
        let before = self.loss();
        let loss = SpoolLoss {
            records: before.as_ref().map_or(0, |before| before.records) + 1,
            since: before.map_or_else(|| SystemClock.now(), |before| before.since),
            reason: error.message.clone(),
        };
        let written = serde_json::to_string(&loss)
            .map_err(crate::calls::call::encoding_error)
            .and_then(|text| StagedFile::write(&self.0.join(GIVEN_UP), &text)?.replace_target());
        if let Err(error) = written {
            tracing::warn!(%error, "the note of what was given up cannot be written");
        }
    }

    /// The files of the records, the oldest first.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let is_record = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.ends_with(".json") && !name.starts_with('.') && name != GIVEN_UP
        };
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_record).collect();
        files.sort();
        files
    }

    /// The lock of the process that writes records; `None` if another process has it.
    fn lock(&self) -> Option<FileLock> {
        FileLock::take(&self.0.join("lock")).ok().flatten()
    }
}

/// Whether a record that could not be written may be written later: the store is locked, full or of an older
/// version, the server does not answer, or the settings of the home are wrong.
pub(super) fn may_succeed_later(error: &Error, config: &Config) -> bool {
    matches!(
        error.kind,
        ErrorKind::Unavailable | ErrorKind::RateLimited | ErrorKind::Unauthenticated
    ) || config.settings_error.is_some()
}

fn read_record(file: &Path) -> Result<Option<HookRecord>> {
    let Some(text) = atomic::read(file)? else { return Ok(None) };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| Error::conflict("a record of a hook cannot be read").with_cause(error))
}

fn remove(file: &Path) {
    if let Err(error) = fs::remove_file(file) {
        tracing::debug!(%error, file = %file.display(), "cannot be removed");
    }
}
