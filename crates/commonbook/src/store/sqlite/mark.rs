//! The high-water mark: a file beside the store that identifies the store and records how far its
//! journals have come.
//!
//! It is written after each commit without a sync: that it is behind the store is normal. If it is
//! ahead, the store has lost acknowledged events, for example with its write-ahead log. If it
//! exists and the store does not, the store was lost. Each record has its own position in the file,
//! within one page, and a checksum; a torn record is ignored.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind as IoKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};

use super::chain::{self, EventHash, JournalHead};
use super::file::{sibling_path, unusable_file};
use crate::base::error::Result;
use crate::store::{JournalLoss, StoreLoss};

/// Bytes of a record: a workspace's name has at most 128 characters of at most 4 bytes.
const RECORD_BYTES: usize = 1024;

/// The beginning of the first record.
const MARK_FORMAT: &str = "commonbook-mark-1";

/// The content of the file.
#[derive(Debug, Default)]
pub(super) struct StoreMark {
    /// The id of the store; `None` if the record is torn.
    store: Option<String>,
    /// The head of each journal, and the number of its record.
    heads: BTreeMap<String, (usize, JournalHead)>,
    /// The number of records in the file, torn ones too.
    records: usize,
}

/// The file, open for writing.
pub(super) struct MarkFile(File);

/// The path of the file beside this store.
pub(super) fn mark_path(store: &Path) -> PathBuf {
    sibling_path(store, ".mark")
}

/// Reads the mark beside this store; `None` if there is none.
pub(super) fn read(store: &Path) -> Result<Option<StoreMark>> {
    let path = mark_path(store);
    let file = match File::open(&path) {
        Err(error) if error.kind() == IoKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| unusable_file(&path, error))?,
    };
    StoreMark::read(&file).map(Some).map_err(|error| unusable_file(&path, error))
}

impl StoreMark {
    fn read(mut file: &File) -> std::io::Result<Self> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        let mut mark = Self { records: bytes.len().div_ceil(RECORD_BYTES), ..Self::default() };
        for (place, record) in bytes.chunks(RECORD_BYTES).enumerate() {
            let Some(fields) = decode_record(record) else {
                tracing::warn!(place, "a record of the mark beside the store is torn, and ignored");
                continue;
            };
            match (place, &*fields) {
                (0, [MARK_FORMAT, store]) => mark.store = Some((*store).to_owned()),
                (_, [workspace, sequence, hash]) => {
                    let head = sequence.parse().ok().zip(from_hex(hash));
                    let Some((sequence, hash)) = head else { continue };
                    mark.heads
                        .insert((*workspace).to_owned(), (place, JournalHead { sequence, hash }));
                }
                _ => {}
            }
        }
        Ok(mark)
    }

    /// The loss of a store that is empty now.
    pub(super) fn loss_of_all(&self, store: &Path) -> StoreLoss {
        let reason = format!("{} is empty, but held a store before", store.display());
        let lost = |(workspace, (_, head)): (&String, &(usize, JournalHead))| {
            let workspace = workspace.parse().ok()?;
            Some(JournalLoss { workspace, stored: 0, marked: head.sequence })
        };
        StoreLoss { reason, journals: self.heads.iter().filter_map(lost).collect() }
    }

    /// The loss of this store; `None` if its id is that of the mark and its journals are as far.
    pub(super) fn loss(&self, store: &Path, connection: &Connection) -> Result<Option<StoreLoss>> {
        let mut journals = Vec::new();
        let id = store_id(connection);
        for (workspace, (_, head)) in &self.heads {
            // A store without an id is of a version that had no hashes either.
            if id.is_some()
                && chain::hash_at(connection, workspace, head.sequence)? == Some(head.hash)
            {
                continue;
            }
            let sql = "SELECT sequence FROM workspace WHERE name = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let stored = statement.query_row([workspace], |row| row.get(0)).optional()?;
            if let Ok(workspace) = workspace.parse() {
                let (stored, marked) = (stored.unwrap_or(0), head.sequence);
                journals.push(JournalLoss { workspace, stored, marked });
            }
        }
        let path = store.display();
        let other = self.store.is_some() && self.store != id;
        let reason = match &*journals {
            _ if other => format!("{path} is another store than the one that was here"),
            [] => return Ok(None),
            [only] => format!("{path} has lost {}", only.describe()),
            [first, rest @ ..] => {
                let others = rest.len();
                format!("{path} has lost {}, and events of {others} more", first.describe())
            }
        };
        Ok(Some(StoreLoss { reason, journals }))
    }
}

/// The id of a store; `None` for a store of an older version.
fn store_id(connection: &Connection) -> Option<String> {
    connection.query_row("SELECT id FROM home", [], |row| row.get(0)).ok()
}

impl MarkFile {
    /// Opens the mark beside a store, and creates it if it is missing or empty.
    pub(super) fn open(store: &Path, connection: &Connection) -> Result<Self> {
        let path = mark_path(store);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|error| unusable_file(&path, error))?;
        let mark = Self(file);
        let mark_now =
            mark.with_lock(StoreMark::read).map_err(|error| unusable_file(&path, error))?;
        if mark_now.store.is_none() {
            mark.reset(store, connection)?;
        }
        Ok(mark)
    }

    /// Rewrites the whole mark from the store, and syncs it.
    pub(super) fn reset(&self, store: &Path, connection: &Connection) -> Result<()> {
        let mut bytes = encode_record(&[MARK_FORMAT, &store_id(connection).unwrap_or_default()]);
        for (workspace, head) in chain::heads(connection)? {
            bytes.extend(head_record(&workspace, head));
        }
        let write = |mut file: &File| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            sync_folder(store)
        };
        self.with_lock(write).map_err(|error| unusable_file(&mark_path(store), error))
    }

    /// Raises the mark to these heads of journals. Another process may have raised it further.
    pub(super) fn raise(&self, heads: &[(String, JournalHead)]) -> std::io::Result<()> {
        self.with_lock(|mut file| {
            let mark = StoreMark::read(file)?;
            let mut records = mark.records.max(1);
            for (workspace, head) in heads {
                let place = match mark.heads.get(workspace) {
                    Some((_, marked)) if marked.sequence >= head.sequence => continue,
                    Some((place, _)) => *place,
                    None => {
                        records += 1;
                        records - 1
                    }
                };
                file.seek(SeekFrom::Start((place * RECORD_BYTES) as u64))?;
                file.write_all(&head_record(workspace, *head))?;
            }
            Ok(())
        })
    }

    fn with_lock<T>(&self, act: impl FnOnce(&File) -> std::io::Result<T>) -> std::io::Result<T> {
        self.0.lock()?;
        let done = act(&self.0);
        self.0.unlock()?;
        done
    }
}

#[cfg(unix)]
fn sync_folder(store: &Path) -> std::io::Result<()> {
    store.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> std::io::Result<()> {
    Ok(())
}

fn head_record(workspace: &str, head: JournalHead) -> Vec<u8> {
    encode_record(&[workspace, &head.sequence.to_string(), &hex(&head.hash)])
}

/// A record: its fields, their checksum, blanks, and the line end.
fn encode_record(fields: &[&str]) -> Vec<u8> {
    let text = fields.join(" ");
    let sum = crc32fast::hash(text.as_bytes());
    let mut record = format!("{text} {sum:08x}").into_bytes();
    record.resize(RECORD_BYTES - 1, b' ');
    record.push(b'\n');
    record
}

/// The fields of an intact record.
fn decode_record(record: &[u8]) -> Option<Vec<&str>> {
    let line = std::str::from_utf8(record).ok()?.strip_suffix('\n')?;
    let (text, sum) = line.trim_end_matches(' ').rsplit_once(' ')?;
    let whole =
        record.len() == RECORD_BYTES && sum == format!("{:08x}", crc32fast::hash(text.as_bytes()));
    whole.then(|| text.split(' ').collect())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<EventHash> {
    let mut hash = chain::NO_HASH;
    if text.len() != 2 * hash.len() {
        return None;
    }
    for (place, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(hash)
}
