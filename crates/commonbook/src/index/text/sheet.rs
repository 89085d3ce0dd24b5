//! The facts of one segment's memories, laid flat in a file beside its words: what starts reads them
//! in one go, where tantivy's columns are decoded value by value.
//!
//! A segment never changes, and so neither does its sheet. It can be lost, or be anything at all:
//! whatever is not whole is passed over, and the columns are read instead.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use tantivy::SegmentReader;
use uuid::Uuid;

use crate::error::Result;
use crate::id::MemoryId;
use crate::index::catalog::{Facts, Marks};
use crate::index::damage::damaged;

/// What a sheet begins with, and which form it has.
const MAGIC: [u8; 8] = *b"cbsheet1";

/// How the names of sheets end.
const ENDING: &str = "sheet";

/// The numbers of a document: those of the columns, then from when until when it holds.
pub(super) type Numbers = [u64; super::NUMBERS.len() + 2];

/// Bytes of a document: its numbers, and those of its class, session, case, and where its topics end.
const ROW: usize = size_of::<Numbers>() + 4 * size_of::<u32>();

/// Columns of texts: classes, sessions, cases and topics.
const TEXTS: usize = 4;

/// The facts of one segment.
#[derive(Debug, PartialEq)]
pub(super) struct Sheet {
    /// The file, checked.
    bytes: Vec<u8>,
    /// Where in it the rows begin.
    rows: usize,
    /// The distinct classes, sessions, cases and topics.
    pub(super) texts: [Vec<String>; TEXTS],
    /// The numbers of the topics of all documents, one after the other.
    topics: Vec<u32>,
}

/// The facts of one document. A class is a place among the distinct ones; a session and a case are
/// one more than their places, and 0 is none.
#[derive(Debug, PartialEq)]
pub(super) struct Row<'s> {
    pub(super) facts: Facts,
    pub(super) class: usize,
    pub(super) session: usize,
    pub(super) case: usize,
    /// Places among the distinct ones.
    pub(super) topics: &'s [u32],
}

impl Sheet {
    /// The sheet of these distinct texts and rows; in each row the numbers of a document, then its
    /// class, its session, its case, and where in `topics` its own end.
    pub(super) fn of(
        segment: &SegmentReader,
        texts: &[Vec<String>; TEXTS],
        topics: &[u32],
        rows: &[(Numbers, [u32; 4])],
    ) -> Result<Self> {
        let mut bytes = head(segment);
        for texts in texts {
            put(&mut bytes, texts.len())?;
            for text in texts {
                put(&mut bytes, text.len())?;
                bytes.extend(text.as_bytes());
            }
        }
        put(&mut bytes, topics.len())?;
        bytes.extend(topics.iter().flat_map(|topic| topic.to_le_bytes()));
        for (numbers, places) in rows {
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend(places.iter().flat_map(|place| place.to_le_bytes()));
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        Self::parse(bytes, segment).ok_or_else(damaged)
    }

    /// Reads the sheet of a segment; nothing where there is none.
    ///
    /// # Errors
    /// `unavailable` when the file is not what was written, or is another segment's.
    pub(super) fn read(folder: &Path, segment: &SegmentReader) -> Result<Option<Self>> {
        match fs::read(place(folder, segment)) {
            Ok(bytes) => Self::parse(bytes, segment).ok_or_else(damaged).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(damaged().because(error)),
        }
    }

    fn parse(bytes: Vec<u8>, segment: &SegmentReader) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk()?;
        let whole = crc32fast::hash(body) == u32::from_le_bytes(*sum);
        let mut rest = body.strip_prefix(head(segment).as_slice()).filter(|_| whole)?;
        let mut texts: [Vec<String>; TEXTS] = Default::default();
        for texts in &mut texts {
            for _ in 0..count(&mut rest)? {
                let length = count(&mut rest)?;
                let (text, after) = rest.split_at_checked(length)?;
                texts.push(String::from_utf8_lossy(text).into_owned());
                rest = after;
            }
        }
        let (topics, rows) = (count(&mut rest)?, segment.max_doc() as usize);
        let (topics, after) = rest.split_at_checked(topics.checked_mul(size_of::<u32>())?)?;
        let topics = topics.as_chunks().0.iter().map(|topic| u32::from_le_bytes(*topic)).collect();
        let whole = after.len() == rows.checked_mul(ROW)?;
        let rows = body.len() - after.len();
        whole.then_some(Self { bytes, rows, texts, topics })
    }

    /// What is known of each document, in order; nothing for one whose numbers tell of no topics.
    pub(super) fn rows(&self) -> impl Iterator<Item = Option<Row<'_>>> {
        let mut begin = 0;
        self.bytes[self.rows..].as_chunks::<ROW>().0.iter().map(move |row| {
            let (numbers, places) = row.split_at(size_of::<Numbers>());
            let numbers = numbers.as_chunks().0;
            let number = |place: usize| u64::from_le_bytes(numbers[place]);
            let places = places.as_chunks().0;
            let place = |place: usize| u32::from_le_bytes(places[place]) as usize;
            let topics = self.topics.get(begin..place(3))?;
            begin = place(3);
            let facts = facts(&std::array::from_fn(number));
            Some(Row { facts, class: place(0), session: place(1), case: place(2), topics })
        })
    }

    /// Writes it out, whole or not at all.
    pub(super) fn write(&self, folder: &Path, segment: &SegmentReader) -> std::io::Result<()> {
        let path = place(folder, segment);
        let unfinished = path.with_extension("unfinished-sheet");
        let mut file = File::create(&unfinished)?;
        file.write_all(&self.bytes)?;
        file.sync_all()?;
        fs::rename(unfinished, path)
    }
}

/// What stands before the facts: they are of this segment, and of so many documents.
fn head(segment: &SegmentReader) -> Vec<u8> {
    let id = segment.segment_id().uuid_string();
    [&MAGIC[..], id.as_bytes(), &segment.max_doc().to_le_bytes()].concat()
}

/// The file of a segment's sheet.
pub(super) fn place(folder: &Path, segment: &SegmentReader) -> PathBuf {
    folder.join(format!("{}.{ENDING}", segment.segment_id().uuid_string()))
}

fn put(bytes: &mut Vec<u8>, count: usize) -> Result<()> {
    let count = u32::try_from(count).map_err(|error| damaged().because(error))?;
    bytes.extend(count.to_le_bytes());
    Ok(())
}

fn count(rest: &mut &[u8]) -> Option<usize> {
    let (count, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*count) as usize)
}

fn facts(numbers: &Numbers) -> Facts {
    let [id0, id1, heir0, heir1, sequence, print, lengths, marks, from, until] = *numbers;
    let id = |high, low| MemoryId::from_uuid(Uuid::from_u64_pair(high, low));
    let half = |number: u64| (number & u64::from(u32::MAX)) as u32;
    Facts {
        id: id(id0, id1),
        sequence,
        from: from.cast_signed(),
        until: until.cast_signed(),
        heir: (heir0 | heir1 != 0).then(|| id(heir0, heir1)),
        lengths: (half(lengths >> 32), half(lengths)),
        marks: Marks {
            first_person: half(marks >> 2),
            tells_time: marks & 2 != 0,
            updates: marks & 1 != 0,
        },
        print,
    }
}

/// The sheets in a folder, also those that were not finished.
pub(super) fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it.to_string_lossy().ends_with(ENDING)) {
            files.push(path);
        }
    }
    Ok(files)
}

/// Removes the sheet of a segment, which is not what was written.
pub(super) fn discard(folder: &Path, segment: &SegmentReader) {
    // Where it cannot be removed, it is passed over the next time too.
    drop(fs::remove_file(place(folder, segment)));
}
