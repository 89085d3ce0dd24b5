//! The high-water mark: a file beside the store that identifies the store and records how far its
//! journals have come.
//!
//! It is written after each commit without a sync: that it is behind the store is normal. If it is
//! ahead, the store has lost acknowledged events, for example with its write-ahead log. If it
//! exists and the store does not, the store was lost. Each record has its own position in the file,
//! within one page, and a checksum; a torn record is ignored.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind as IoKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};

use super::chain::{self, EventHash, JournalHead};
use super::file::{sibling_path, unusable_file};
use crate::base::error::Result;
use crate::base::file_system::{private_options, sync_folder};
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
pub(super) struct MarkFile {
    file: File,
    /// The records as this process read them last: a commit then reads only its own and the new ones.
    known: RefCell<StoreMark>,
}

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
    fn read(file: &File) -> std::io::Result<Self> {
        let mut mark = Self::default();
        mark.read_more(file)?;
        Ok(mark)
    }

    /// Reads the records after those that were read.
    fn read_more(&mut self, mut file: &File) -> std::io::Result<()> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(offset_bytes(self.records)))?;
        file.read_to_end(&mut bytes)?;
        for (place, record) in (self.records..).zip(bytes.chunks(RECORD_BYTES)) {
            let Some(fields) = decode_record(record) else {
                tracing::warn!(place, "a record of the mark beside the store is torn, and ignored");
                continue;
            };
            match (place, &*fields) {
                (0, [MARK_FORMAT, store]) => self.store = Some((*store).to_owned()),
                (_, fields) => {
                    let head = head_of(fields);
                    self.heads.extend(head.map(|(name, head)| (name.to_owned(), (place, head))));
                }
            }
        }
        self.records += bytes.len().div_ceil(RECORD_BYTES);
        Ok(())
    }

    /// Reads what other processes have added; everything if one has written the file anew.
    fn refresh(&mut self, file: &File) -> std::io::Result<()> {
        if file.metadata()?.len() < offset_bytes(self.records) {
            *self = Self::default();
        }
        self.read_more(file)
    }

    /// The head of a journal as the file has it now, and the number of its record.
    fn head_now(
        &mut self,
        mut file: &File,
        workspace: &str,
    ) -> std::io::Result<Option<(usize, JournalHead)>> {
        let Some((place, _)) = self.heads.get(workspace).copied() else { return Ok(None) };
        let mut record = [0; RECORD_BYTES];
        file.seek(SeekFrom::Start(offset_bytes(place)))?;
        file.read_exact(&mut record)?;
        let fields = decode_record(&record);
        match fields.as_deref().and_then(head_of) {
            Some((name, head)) if name == workspace => Ok(Some((place, head))),
            // It is torn, or another process has written the file anew.
            _ => {
                *self = Self::read(file)?;
                Ok(self.heads.get(workspace).copied())
            }
        }
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
        let mut options = private_options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(|error| unusable_file(&path, error))?;
        let mark = Self { file, known: RefCell::default() };
        mark.with_lock(|file, known| known.refresh(file))
            .map_err(|error| unusable_file(&path, error))?;
        if mark.known.borrow().store.is_none() {
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
        let write = |mut file: &File, known: &mut StoreMark| {
            *known = StoreMark::default();
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            store.parent().map_or(Ok(()), sync_folder)
        };
        self.with_lock(write).map_err(|error| unusable_file(&mark_path(store), error))
    }

    /// Raises the mark to these heads of journals. Another process may have raised it further.
    pub(super) fn raise(&self, heads: &[(String, JournalHead)]) -> std::io::Result<()> {
        self.with_lock(|mut file, known| {
            known.refresh(file)?;
            for (workspace, head) in heads {
                let place = match known.head_now(file, workspace)? {
                    Some((_, marked)) if marked.sequence >= head.sequence => continue,
                    Some((place, _)) => place,
                    None => known.records.max(1),
                };
                file.seek(SeekFrom::Start(offset_bytes(place)))?;
                file.write_all(&head_record(workspace, *head))?;
                known.heads.insert(workspace.clone(), (place, *head));
                known.records = known.records.max(place + 1);
            }
            Ok(())
        })
    }

    fn with_lock<T>(
        &self,
        act: impl FnOnce(&File, &mut StoreMark) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        self.file.lock()?;
        let done = act(&self.file, &mut self.known.borrow_mut());
        self.file.unlock()?;
        done
    }
}

/// Where a record begins in the file.
fn offset_bytes(place: usize) -> u64 {
    (place * RECORD_BYTES) as u64
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

/// The head of a journal in the fields of its record.
fn head_of<'r>(fields: &[&'r str]) -> Option<(&'r str, JournalHead)> {
    let [workspace, sequence, hash] = fields else { return None };
    let (sequence, hash) = sequence.parse().ok().zip(from_hex(hash))?;
    Some((workspace, JournalHead { sequence, hash }))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn head(sequence: u64) -> JournalHead {
        JournalHead { sequence, hash: [7; 32] }
    }

    /// The sequences of the journals in the file, by their names.
    fn marked(store: &Path) -> Vec<(String, u64)> {
        let heads = read(store).unwrap().unwrap().heads.into_iter();
        heads.map(|(name, (_, head))| (name, head.sequence)).collect()
    }

    #[test]
    fn processes_that_raise_one_mark_read_what_the_others_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("commonbook.db");
        let open = || MarkFile {
            file: File::options()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .open(mark_path(&store))
                .unwrap(),
            known: RefCell::default(),
        };
        let (one, other) = (open(), open());
        let raise = |mark: &MarkFile, heads: &[(&str, u64)]| {
            let heads: Vec<(String, JournalHead)> =
                heads.iter().map(|(name, end)| ((*name).to_owned(), head(*end))).collect();
            mark.raise(&heads).unwrap();
        };
        let expect = |heads: &[(&str, u64)]| {
            let heads: Vec<(String, u64)> =
                heads.iter().map(|(name, end)| ((*name).to_owned(), *end)).collect();
            assert_eq!(marked(&store), heads);
        };
        raise(&one, &[("a", 1), ("b", 2)]);
        raise(&other, &[("c", 3), ("b", 5)]);
        raise(&one, &[("c", 2), ("b", 4), ("d", 1)]);
        expect(&[("a", 1), ("b", 5), ("c", 3), ("d", 1)]);
        // A torn record is ignored, and its journal gets another one.
        let place = one.known.borrow().heads["c"].0;
        let mut bytes = std::fs::read(mark_path(&store)).unwrap();
        bytes[place * RECORD_BYTES + 3] ^= 1;
        std::fs::write(mark_path(&store), bytes).unwrap();
        raise(&other, &[("c", 4)]);
        raise(&one, &[("c", 3)]);
        expect(&[("a", 1), ("b", 5), ("c", 4), ("d", 1)]);
        // Another process writes the file anew, in another order, and shorter or as long as before.
        for journals in
            [vec![("d", 3), ("a", 9)], vec![("e", 1), ("a", 9), ("b", 1), ("c", 1), ("d", 3)]]
        {
            std::fs::write(mark_path(&store), []).unwrap();
            raise(&open(), &journals);
            raise(&one, &[("a", 10), ("d", 1)]);
            raise(&other, &[("d", 4), ("a", 3)]);
            let after = marked(&store);
            assert!(
                after.contains(&("a".into(), 10)) && after.contains(&("d".into(), 4)),
                "{after:?}"
            );
        }
    }
}
