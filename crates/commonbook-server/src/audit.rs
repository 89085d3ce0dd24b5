//! The files of the audit, one for each month: what the journals say, written as it happens.
//!
//! The files themselves say how far they have come; the note beside them only saves reading them again. A
//! line is appended whole or, if the process is killed, cut off by the next one, so that no event is
//! missing and none stands there twice. One process writes: the one that holds the lock of the folder.

pub(crate) mod settings;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_lock::FileLock;
use commonbook::base::limits;
use commonbook::model::event::Event;
use commonbook::model::workspace::Workspace;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::atomic::{self, StagedFile};
use crate::call::run_blocking;
use crate::config::Config;

/// The delay between two looks at the journals.
const AUDIT_DELAY: Duration = Duration::from_secs(1);

/// The delay before a failed writer tries again.
const AUDIT_RETRY_DELAY: Duration = Duration::from_secs(30);

/// The time for what is new when the program stops; the next program writes the rest.
const LAST_STEP_MAX: Duration = Duration::from_secs(2);

/// Events that are read at a time.
const AUDIT_EVENTS_MAX: u32 = 1_000;

/// The lock of the process that writes.
const LOCK_FILE: &str = "audit.lock";

/// The note of how far the files have come.
const NOTE_FILE: &str = "audit.json";

/// How far the files have come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct AuditNote {
    /// Bytes of each file whose lines are counted below.
    lengths: BTreeMap<String, u64>,
    /// The last event of each journal that a file has.
    positions: BTreeMap<String, u64>,
}

/// The end of a line that is needed to go on after it.
#[derive(Deserialize)]
struct LineEnd {
    workspace: String,
    sequence: u64,
}

/// The one writer of a folder.
struct AuditWriter {
    folder: PathBuf,
    note: AuditNote,
    /// Held as long as this writer is there.
    _lock: FileLock,
}

impl AuditWriter {
    /// Takes the folder, and finds how far its files have come; `None` if another process writes there.
    ///
    /// # Errors
    /// `unavailable` if the folder cannot be used.
    fn open(folder: &Path) -> Result<Option<Self>> {
        atomic::create_folders(folder)?;
        let path = folder.join(LOCK_FILE);
        let lock = FileLock::take(&path).map_err(|error| unusable(&path, error))?;
        let Some(lock) = lock else { return Ok(None) };
        // A note that cannot be read is made again from the files.
        let note = atomic::read(&folder.join(NOTE_FILE)).ok().flatten();
        let note = note.and_then(|note| serde_json::from_str(&note).ok()).unwrap_or_default();
        let mut writer = Self { folder: folder.to_owned(), note, _lock: lock };
        writer.recover()?;
        Ok(Some(writer))
    }

    /// Reads what the note does not count: lines that were written before the process was killed, the last
    /// perhaps in part.
    fn recover(&mut self) -> Result<()> {
        let entries = fs::read_dir(&self.folder).map_err(|error| unusable(&self.folder, error))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| is_audit_file(name)).collect();
        names.sort();
        for name in names {
            let counted = self.note.lengths.get(&name).copied().unwrap_or(0);
            let length = self.recover_file(&name, counted)?;
            self.note.lengths.insert(name, length);
        }
        self.keep_note()
    }

    /// Counts the lines of a file from here on, and cuts off one that is not whole; returns the length.
    fn recover_file(&mut self, name: &str, counted: u64) -> Result<u64> {
        let path = self.folder.join(name);
        let failed = |error| unusable(&path, error);
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if length <= counted {
            // Somebody made it shorter; what is gone is not written again.
            return Ok(length);
        }
        let mut lines = BufReader::new(&file);
        lines.seek(SeekFrom::Start(counted)).map_err(failed)?;
        let (mut whole, mut line) = (counted, Vec::new());
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line).map_err(failed)?;
            if read == 0 || !line.ends_with(b"\n") {
                break;
            }
            whole += read as u64;
            if let Ok(end) = serde_json::from_slice::<LineEnd>(&line) {
                // The clock may have been set back over the end of a month: the order of the files is
                // not that of the journal.
                let position = self.note.positions.entry(end.workspace).or_default();
                *position = end.sequence.max(*position);
            }
        }
        if whole < length {
            tracing::info!(file = name, "a line of the audit that was not whole is written again");
            file.set_len(whole).map_err(failed)?;
            file.sync_all().map_err(failed)?;
        }
        Ok(whole)
    }

    /// Writes what the journals have beyond the files, until `stop`; returns the number of events.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or a file cannot be written.
    fn follow(&mut self, book: &Commonbook, stop: impl Fn() -> bool) -> Result<u64> {
        let mut written = 0;
        for (workspace, end) in book.journal_ends()? {
            let position = self.note.positions.get(workspace.as_str()).copied().unwrap_or(0);
            if position > end {
                tracing::warn!(
                    %workspace, end, position,
                    "the journal is shorter than its audit, as after a restore: the audit goes on from its end"
                );
                self.note.positions.insert(workspace.to_string(), end);
                self.keep_note()?;
            }
            while self.position(&workspace) < end && !stop() {
                written += self.append_next(book, &workspace)?;
            }
        }
        Ok(written)
    }

    fn position(&self, workspace: &Workspace) -> u64 {
        self.note.positions.get(workspace.as_str()).copied().unwrap_or(0)
    }

    /// Appends the next events of a journal, in order; each file is on disk before the next one is written.
    fn append_next(&mut self, book: &Commonbook, workspace: &Workspace) -> Result<u64> {
        let events = book.audit_events(workspace, self.position(workspace), AUDIT_EVENTS_MAX)?;
        for of_one_file in events.chunk_by(|one, next| file_name(one) == file_name(next)) {
            let (Some(first), Some(last)) = (of_one_file.first(), of_one_file.last()) else {
                continue;
            };
            self.append(&file_name(first), of_one_file)?;
            self.note.positions.insert(workspace.to_string(), last.sequence);
        }
        self.keep_note()?;
        Ok(events.len() as u64)
    }

    fn append(&mut self, name: &str, events: &[Event]) -> Result<()> {
        let mut lines = Vec::new();
        for event in events {
            serde_json::to_writer(&mut lines, event).map_err(|error| {
                Error::new(ErrorKind::Internal, "an event cannot be encoded").with_cause(error)
            })?;
            lines.push(b'\n');
        }
        let path = self.folder.join(name);
        let mut file = private_file(&path, OpenOptions::new().append(true))?;
        let written = (|| {
            file.write_all(&lines)?;
            file.sync_all()?;
            file.metadata()
        })();
        let length = written.map_err(|error| unusable(&path, error))?.len();
        self.note.lengths.insert(name.to_owned(), length);
        Ok(())
    }

    fn keep_note(&self) -> Result<()> {
        let note = serde_json::to_string(&self.note).map_err(|error| {
            Error::new(ErrorKind::Internal, "the note of the audit cannot be encoded")
                .with_cause(error)
        })?;
        StagedFile::write(&self.folder.join(NOTE_FILE), &note)?.replace_target()
    }
}

/// Starts to write the monthly files, if the settings name their folder. Before it ends, the writer writes
/// what is new once more.
pub(crate) fn spawn_writer(
    book: &Commonbook,
    config: &Config,
    stopping: &CancellationToken,
) -> Option<JoinHandle<()>> {
    let folder = config.audit_folder().unwrap_or_default()?;
    Some(tokio::spawn(write_in_background(book.clone(), folder, stopping.clone())))
}

/// Waits until the writer has ended, but not longer than a server takes to stop.
pub(crate) async fn wait_for_writer(writer: Option<JoinHandle<()>>) {
    if let Some(writer) = writer {
        let limit = Duration::from_secs(limits::SHUTDOWN_SECONDS);
        drop(tokio::time::timeout(limit, writer).await);
    }
}

/// Writes the monthly files until the program stops, unless another process does.
async fn write_in_background(book: Commonbook, folder: PathBuf, stopping: CancellationToken) {
    let writer: Arc<Mutex<Option<AuditWriter>>> = Arc::default();
    let mut failed = false;
    loop {
        let is_last = stopping.is_cancelled();
        let (book, folder, writer) = (book.clone(), folder.clone(), Arc::clone(&writer));
        let (stop, begun) = (stopping.clone(), Instant::now());
        let is_late = move || stop.is_cancelled() && begun.elapsed() >= LAST_STEP_MAX;
        let step = move || write_new_events(&book, &folder, &writer, is_late);
        let result = run_blocking(step).await;
        if let Err(error) = &result
            && !failed
        {
            tracing::warn!(%error, "cannot write the audit; trying again");
        }
        failed = result.is_err();
        if is_last {
            return;
        }
        let pause = if failed { AUDIT_RETRY_DELAY } else { AUDIT_DELAY };
        tokio::select! { () = tokio::time::sleep(pause) => {}, () = stopping.cancelled() => {} }
    }
}

/// Writes what is new. A writer that failed is opened again: the files say how far it came.
fn write_new_events(
    book: &Commonbook,
    folder: &Path,
    writer: &Mutex<Option<AuditWriter>>,
    is_late: impl Fn() -> bool,
) -> Result<()> {
    let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = writer.take();
    let open = match taken {
        Some(open) => Some(open),
        None => AuditWriter::open(folder)?,
    };
    let Some(mut open) = open else { return Ok(()) };
    open.follow(book, is_late)?;
    *writer = Some(open);
    Ok(())
}

/// The file of an event: that of its month, in UTC.
fn file_name(event: &Event) -> String {
    format!("audit-{}.jsonl", event.at.strftime("%Y-%m"))
}

fn is_audit_file(name: &str) -> bool {
    name.strip_prefix("audit-").is_some_and(|rest| rest.ends_with(".jsonl"))
}

/// Opens a file that only its user can read, and creates it if it is not there.
fn private_file(path: &Path, options: &mut OpenOptions) -> Result<File> {
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path).map_err(|error| unusable(path, error))
}

fn unusable(path: &Path, error: std::io::Error) -> Error {
    let message = format!("the audit cannot be written at {}: {error}", path.display());
    Error::new(ErrorKind::Unavailable, message)
        .hint("Check the folder's permissions and its disk. Memories are saved nevertheless.")
        .with_cause(error)
}

#[cfg(test)]
mod tests;
