//! The facts of one segment's memories, laid flat in a file beside its words: what starts reads them
//! where they lie, each when it is asked for, and makes nothing of them first.
//!
//! A segment never changes, and so neither does its sheet. It can be lost, or be anything at all:
//! whatever is not whole is passed over, and tantivy's columns are read instead.

use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tantivy::SegmentReader;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};
use uuid::Uuid;

use super::{MemoryFacts, TextSignals, WordLengths};
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::index::damage::index_damage;

/// What a sheet begins with, and which form it has.
const MAGIC: [u8; 8] = *b"cbsheet1";

/// How the names of sheets end.
const SEGMENT_FILE_ENDING: &str = "sheet";

/// The numbers of a document: two halves of its id and of its heir's, its sequence, print, lengths
/// and marks, then from when until when it holds.
pub(in crate::index) type PackedFacts = [u64; 10];

/// Bytes of a document: its numbers, and those of its class, session, case, and where its topics end.
const ROW_BYTES: usize = size_of::<PackedFacts>() + 4 * size_of::<u32>();

/// Bytes of the number of a text.
const TEXT_NUMBER_BYTES: usize = size_of::<u32>();

/// The columns of texts, in their order; a class is JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum TextColumn {
    Class,
    Session,
    Case,
    Topic,
}

/// How many columns of texts there are.
const TEXT_COLUMNS: usize = 4;

/// The facts of one segment.
#[derive(Debug)]
pub(in crate::index) struct SegmentFile {
    /// The file, checked.
    bytes: OwnedBytes,
    /// Where in it the numbers of the topics of all documents lie, one after the other; then come
    /// the rows.
    topics: Range<usize>,
    /// Documents.
    pub(super) documents: u32,
    /// Where the distinct texts of each column lie.
    distinct: [Vec<Range<usize>>; TEXT_COLUMNS],
}

/// Where the texts of a document are: its class is a place among the distinct ones; its session and
/// its case are one more than their places, and 0 is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPositions {
    pub(super) class: usize,
    pub(super) session: usize,
    pub(super) case: usize,
}

impl SegmentFile {
    /// The sheet of these distinct texts and rows; in each row the numbers of a document, then its
    /// class, its session, its case, and where in `topics` its own end.
    pub(in crate::index) fn of(
        segment: &SegmentReader,
        texts: &[Vec<String>; TEXT_COLUMNS],
        topics: &[u32],
        rows: &[(PackedFacts, [u32; 4])],
    ) -> Result<Self> {
        let mut bytes = segment_header(segment);
        for texts in texts {
            put_count(&mut bytes, texts.len())?;
            for text in texts {
                put_count(&mut bytes, text.len())?;
                bytes.extend(text.as_bytes());
            }
        }
        put_count(&mut bytes, topics.len())?;
        bytes.extend(topics.iter().flat_map(|topic| topic.to_le_bytes()));
        for (numbers, places) in rows {
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend(places.iter().flat_map(|place| place.to_le_bytes()));
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        Self::parse(OwnedBytes::new(bytes), segment).ok_or_else(index_damage)
    }

    /// Reads the sheet of a segment; nothing where there is none.
    ///
    /// # Errors
    /// `unavailable` when the file is not what was written, or is another segment's.
    pub(in crate::index) fn read(folder: &Path, segment: &SegmentReader) -> Result<Option<Self>> {
        let directory =
            MmapDirectory::open(folder).map_err(|error| index_damage().with_cause(error))?;
        let bytes = match directory.open_read(Path::new(&file_name(segment))) {
            Ok(file) => file.read_bytes().map_err(|error| index_damage().with_cause(error))?,
            Err(OpenReadError::FileDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(index_damage().with_cause(error)),
        };
        Self::parse(bytes, segment).ok_or_else(index_damage).map(Some)
    }

    fn parse(bytes: OwnedBytes, segment: &SegmentReader) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk()?;
        let whole = crc32fast::hash(body) == u32::from_le_bytes(*sum);
        let mut rest = body.strip_prefix(segment_header(segment).as_slice()).filter(|_| whole)?;
        let mut distinct: [Vec<Range<usize>>; TEXT_COLUMNS] = Default::default();
        for texts in &mut distinct {
            for _ in 0..take_count(&mut rest)? {
                let length = take_count(&mut rest)?;
                let begin = body.len() - rest.len();
                texts.push(begin..begin + length);
                rest = rest.split_at_checked(length)?.1;
            }
        }
        let length = take_count(&mut rest)?.checked_mul(TEXT_NUMBER_BYTES)?;
        let begin = body.len() - rest.len();
        let (documents, topics) = (segment.max_doc(), begin..begin.checked_add(length)?);
        let whole =
            rest.len() == length.checked_add((documents as usize).checked_mul(ROW_BYTES)?)?;
        whole.then_some(Self { bytes, topics, documents, distinct })
    }

    /// The distinct texts of a column.
    pub(super) fn distinct(&self, column: TextColumn) -> impl Iterator<Item = &str> {
        let text = |place: &Range<usize>| str::from_utf8(&self.bytes[place.clone()]);
        self.distinct[column as usize].iter().map(move |place| text(place).unwrap_or_default())
    }

    fn row(&self, document: u32) -> &[u8] {
        let begin = self.topics.end + document as usize * ROW_BYTES;
        &self.bytes[begin..begin + ROW_BYTES]
    }

    /// What is known of a document.
    pub(super) fn facts(&self, document: u32) -> MemoryFacts {
        let numbers = self.row(document).as_chunks().0;
        unpack_facts(&std::array::from_fn(|place| u64::from_le_bytes(numbers[place])))
    }

    fn text_numbers(&self, document: u32) -> [u32; 4] {
        let places = self.row(document)[size_of::<PackedFacts>()..].as_chunks().0;
        std::array::from_fn(|place| u32::from_le_bytes(places[place]))
    }

    /// Where the texts of a document are.
    pub(super) fn texts(&self, document: u32) -> TextPositions {
        let [class, session, case, _] = self.text_numbers(document).map(|place| place as usize);
        TextPositions { class, session, case }
    }

    /// The topics of a document, as places among the distinct ones.
    pub(super) fn topics(&self, document: u32) -> impl Iterator<Item = usize> {
        let end = |document: u32| self.text_numbers(document)[3] as usize * TEXT_NUMBER_BYTES;
        let begin = document.checked_sub(1).map_or(0, end);
        let topics = self.bytes[self.topics.clone()].get(begin..end(document));
        let topics = topics.unwrap_or_default().as_chunks().0.iter();
        topics.map(|topic| u32::from_le_bytes(*topic) as usize)
    }

    /// Writes it out, whole or not at all.
    pub(in crate::index) fn write(
        &self,
        folder: &Path,
        segment: &SegmentReader,
    ) -> std::io::Result<()> {
        let path = file_path(folder, segment);
        let unfinished = path.with_extension("unfinished-sheet");
        let mut file = File::create(&unfinished)?;
        file.write_all(&self.bytes)?;
        file.sync_all()?;
        fs::rename(unfinished, path)
    }
}

/// What stands before the facts: they are of this segment, and of so many documents.
fn segment_header(segment: &SegmentReader) -> Vec<u8> {
    let id = segment.segment_id().uuid_string();
    [&MAGIC[..], id.as_bytes(), &segment.max_doc().to_le_bytes()].concat()
}

/// The name of the file of a segment's sheet.
fn file_name(segment: &SegmentReader) -> String {
    format!("{}.{SEGMENT_FILE_ENDING}", segment.segment_id().uuid_string())
}

/// The file of a segment's sheet.
pub(in crate::index) fn file_path(folder: &Path, segment: &SegmentReader) -> PathBuf {
    folder.join(file_name(segment))
}

fn put_count(bytes: &mut Vec<u8>, count: usize) -> Result<()> {
    let count = u32::try_from(count).map_err(|error| index_damage().with_cause(error))?;
    bytes.extend(count.to_le_bytes());
    Ok(())
}

fn take_count(rest: &mut &[u8]) -> Option<usize> {
    let (count, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*count) as usize)
}

fn unpack_facts(numbers: &PackedFacts) -> MemoryFacts {
    let [id0, id1, heir0, heir1, sequence, print, lengths, marks, from, until] = *numbers;
    let id = |high, low| MemoryId::from_uuid(Uuid::from_u64_pair(high, low));
    let half = |number: u64| (number & u64::from(u32::MAX)) as u32;
    MemoryFacts {
        id: id(id0, id1),
        sequence,
        from: from.cast_signed(),
        until: until.cast_signed(),
        heir: (heir0 | heir1 != 0).then(|| id(heir0, heir1)),
        lengths: WordLengths { head: half(lengths >> 32), body: half(lengths) },
        marks: TextSignals {
            first_person: half(marks >> 2),
            tells_time: marks & 2 != 0,
            updates: marks & 1 != 0,
        },
        print,
    }
}

/// The sheets in a folder, also those that were not finished.
pub(in crate::index) fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it.to_string_lossy().ends_with(SEGMENT_FILE_ENDING)) {
            files.push(path);
        }
    }
    Ok(files)
}

/// Removes the sheet of a segment, which is not what was written.
pub(in crate::index) fn discard(folder: &Path, segment: &SegmentReader) {
    // Where it cannot be removed, it is passed over the next time too.
    drop(fs::remove_file(file_path(folder, segment)));
}
