//! Segment files: the facts of one segment's memories in a flat file beside its words. A process
//! that starts reads each fact in place when needed, without parsing.
//!
//! A segment never changes, and so neither does its file. A missing or damaged file is ignored, and
//! tantivy's columns are read instead.

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

/// The first bytes of a file, with the version of the format.
const MAGIC: [u8; 8] = *b"cbsheet1";

/// The file extension.
const SEGMENT_FILE_ENDING: &str = "sheet";

/// The numbers of a document: two halves of its id and of its successor's, its sequence,
/// fingerprint, lengths and signals, then the start and end of its validity.
pub(in crate::index) type PackedFacts = [u64; 10];

/// Size of a document: its numbers, and those of its class, session, case, and the end of its
/// topics.
const ROW_BYTES: usize = size_of::<PackedFacts>() + 4 * size_of::<u32>();

/// Size of a text's number.
const TEXT_NUMBER_BYTES: usize = size_of::<u32>();

/// The columns of texts, in order; a class is JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum TextColumn {
    Class,
    Session,
    Case,
    Topic,
}

/// The number of text columns.
const TEXT_COLUMNS: usize = 4;

/// The facts of one segment.
#[derive(Debug)]
pub(in crate::index) struct SegmentFile {
    /// The file, checked.
    bytes: OwnedBytes,
    /// The range of the topic numbers of all documents; the rows follow.
    topics: Range<usize>,
    /// Number of documents.
    pub(super) documents: u32,
    /// The ranges of the distinct texts of each column.
    distinct: [Vec<Range<usize>>; TEXT_COLUMNS],
}

/// The texts of a document: its class is an index; its session and case are an index plus one, and
/// 0 for none.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPositions {
    pub(super) class: usize,
    pub(super) session: usize,
    pub(super) case: usize,
}

impl SegmentFile {
    /// Builds a file of these distinct texts and rows; each row has the numbers of a document, then
    /// its class, session, case, and the end of its own topics in `topics`.
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

    /// Reads the file of a segment. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// `unavailable` if it is damaged or belongs to another segment.
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

    /// The facts of a document.
    pub(super) fn facts(&self, document: u32) -> MemoryFacts {
        let numbers = self.row(document).as_chunks().0;
        unpack_facts(&std::array::from_fn(|place| u64::from_le_bytes(numbers[place])))
    }

    /// The id of a document, the first two of its numbers.
    pub(super) fn id(&self, document: u32) -> MemoryId {
        let numbers = self.row(document).as_chunks().0;
        let [high, low] = [numbers[0], numbers[1]].map(u64::from_le_bytes);
        unpack_id(high, low)
    }

    fn text_numbers(&self, document: u32) -> [u32; 4] {
        let places = self.row(document)[size_of::<PackedFacts>()..].as_chunks().0;
        std::array::from_fn(|place| u32::from_le_bytes(places[place]))
    }

    /// The texts of a document.
    pub(super) fn texts(&self, document: u32) -> TextPositions {
        let [class, session, case, _] = self.text_numbers(document).map(|place| place as usize);
        TextPositions { class, session, case }
    }

    /// The topics of a document, as indexes of distinct texts.
    pub(super) fn topics(&self, document: u32) -> impl Iterator<Item = usize> {
        let end = |document: u32| self.text_numbers(document)[3] as usize * TEXT_NUMBER_BYTES;
        let begin = document.checked_sub(1).map_or(0, end);
        let topics = self.bytes[self.topics.clone()].get(begin..end(document));
        let topics = topics.unwrap_or_default().as_chunks().0.iter();
        topics.map(|topic| u32::from_le_bytes(*topic) as usize)
    }

    /// Writes the file atomically.
    pub(in crate::index) fn write(
        &self,
        folder: &Path,
        segment: &SegmentReader,
    ) -> std::io::Result<()> {
        let path = file_path(folder, segment);
        let unfinished = path.with_extension("unfinished-sheet");
        let mut file = File::create(&unfinished)?;
        file.write_all(&self.bytes)?;
        fs::rename(unfinished, path)
    }
}

/// The header: identifies the segment and its number of documents.
fn segment_header(segment: &SegmentReader) -> Vec<u8> {
    let id = segment.segment_id().uuid_string();
    [&MAGIC[..], id.as_bytes(), &segment.max_doc().to_le_bytes()].concat()
}

/// The file name for a segment.
fn file_name(segment: &SegmentReader) -> String {
    format!("{}.{SEGMENT_FILE_ENDING}", segment.segment_id().uuid_string())
}

/// The path of a segment's file.
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

fn unpack_id(high: u64, low: u64) -> MemoryId {
    MemoryId::from_uuid(Uuid::from_u64_pair(high, low))
}

fn unpack_facts(numbers: &PackedFacts) -> MemoryFacts {
    let [id0, id1, heir0, heir1, sequence, fingerprint, lengths, signals, from, until] = *numbers;
    let half = |number: u64| (number & u64::from(u32::MAX)) as u32;
    MemoryFacts {
        id: unpack_id(id0, id1),
        sequence,
        from: from.cast_signed(),
        until: until.cast_signed(),
        successor: (heir0 | heir1 != 0).then(|| unpack_id(heir0, heir1)),
        lengths: WordLengths { head: half(lengths >> 32), body: half(lengths) },
        signals: TextSignals {
            first_person: half(signals >> 4),
            asks: signals & 8 != 0,
            addresses: signals & 4 != 0,
            tells_time: signals & 2 != 0,
            updates: signals & 1 != 0,
        },
        fingerprint,
    }
}

/// The segment files in a folder, unfinished ones included.
pub(in crate::index) fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|ending| ending.to_string_lossy().ends_with(SEGMENT_FILE_ENDING))
        {
            files.push(path);
        }
    }
    Ok(files)
}

/// Deletes the damaged file of a segment.
pub(in crate::index) fn discard(folder: &Path, segment: &SegmentReader) {
    // If it cannot be deleted, the next reader ignores it too.
    drop(fs::remove_file(file_path(folder, segment)));
}
