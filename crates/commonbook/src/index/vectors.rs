//! The vectors of memories on disk, and the scan for the nearest.
//!
//! A vector belongs to a text, identified by its fingerprint, not to a memory: memories with the
//! same text share it, and a change of other fields keeps it. The signs of its words are kept beside. Files are immutable and read through
//! the page cache; each is one batch of the follower, and many small ones are compacted into a
//! large one. Each model has a folder of its own.

mod scan;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};
use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use super::boot;
use super::damage::index_damage;
use crate::base::error::{Error, ErrorKind, Result};
use commonbook_embed::ModelSpec;
use commonbook_embed::quantised::{QuantisedVector, add_signs, differing_signs, dot};

pub(super) use scan::{ScanResult, VectorScan, scan};

/// The first bytes of a file; the last is the version of the format.
const MAGIC: &[u8; 8] = b"CBVECTS\x02";

/// Size of the header: magic, dimension, rows, checksum of what follows.
const HEADER_BYTES: usize = 20;

/// Number of files from which on small ones are compacted.
const FILES_MAX: usize = 12;

/// Rows from which on a file is large and not compacted.
const LARGE_FILE_ROWS_MIN: usize = 200_000;

/// Bytes of a file up to which it is read instead of mapped.
const READ_BYTES_MAX: u64 = 64 * 1024;

/// The vectors of one text: consecutive rows of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VectorRows {
    file: u32,
    first: u32,
    count: u32,
}

/// The signs of a word as bytes, the lowest first.
pub(super) type WordBytes = [u8; 8];

/// A text as its model has read it.
#[derive(Debug, Clone)]
pub(super) struct EmbeddedText {
    pub(super) fingerprint: u64,
    /// The vectors of its chunks, at least one.
    pub(super) chunks: Vec<QuantisedVector>,
    /// The signs of its words, the lowest byte first; at most 255 words are kept.
    pub(super) words: Vec<WordBytes>,
}

/// The vectors of one model.
pub(super) struct VectorIndex {
    dimension: usize,
    /// Whether the relevance model was fitted with this model's cosines.
    is_calibrated: bool,
    files: Vec<VectorFile>,
    rows: FxHashMap<u64, VectorRows>,
}

struct VectorFile {
    name: PathBuf,
    fingerprints: Vec<u64>,
    scales: Vec<f32>,
    /// `dimension` bytes per row.
    values: OwnedBytes,
    /// The end of each row's words, in words. A text's first row has them all.
    word_ends: Vec<u32>,
    /// Eight bytes per word.
    words: OwnedBytes,
    /// The signs of each row, computed on first use.
    signs: OnceLock<Vec<u64>>,
}

/// The folder of all vectors inside that of the index.
pub(super) const VECTORS_FOLDER: &str = "vectors";

/// The folder of a model's vectors inside that of the index.
pub(super) fn model_folder(index: &Path, spec: &ModelSpec) -> PathBuf {
    let name = serde_json::to_string(spec).unwrap_or_default();
    let digest = format!("{:x}", Sha256::digest(name.as_bytes()));
    index.join(VECTORS_FOLDER).join(&digest[..16])
}

impl VectorIndex {
    /// Opens the vectors in a folder, of a model of this dimension.
    pub(super) fn open(folder: &Path, dimension: usize) -> Result<Self> {
        let mut vectors =
            Self { dimension, is_calibrated: false, files: Vec::new(), rows: FxHashMap::default() };
        vectors.refresh(folder)?;
        Ok(vectors)
    }

    /// Loads the present files. Returns whether all row positions have changed. Ignores damaged
    /// files.
    pub(super) fn refresh(&mut self, folder: &Path) -> Result<bool> {
        let mut names = file_names(folder);
        names.sort();
        let anew = self.files.iter().any(|file| !names.contains(&file.name));
        if anew {
            (self.files, self.rows) = (Vec::new(), FxHashMap::default());
        }
        names.retain(|name| self.files.iter().all(|file| file.name != *name));
        if names.is_empty() {
            return Ok(anew);
        }
        let directory =
            MmapDirectory::open(folder).map_err(|error| index_damage().with_cause(error))?;
        for name in names {
            let bytes = read_file(folder, &directory, &name);
            match bytes.and_then(|bytes| VectorFile::of(&bytes, &name, self.dimension)) {
                Some(file) => self.add(file),
                None => {
                    tracing::warn!(file = %name.display(), "vectors of another format, or damaged, are embedded again");
                }
            }
        }
        Ok(anew)
    }

    /// Whether there are enough small files to compact them.
    pub(super) fn is_crowded(&self) -> bool {
        self.files.len() >= FILES_MAX
    }

    fn add(&mut self, file: VectorFile) {
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let mut first = 0;
        for same in file.fingerprints.chunk_by(|a, b| a == b) {
            let count = u32::try_from(same.len()).unwrap_or(u32::MAX);
            let rows = VectorRows { file: number, first, count };
            if let Some(fingerprint) = same.first() {
                self.rows.entry(*fingerprint).or_insert(rows);
            }
            first += count;
        }
        self.files.push(file);
    }

    /// The vectors of a text, if it has any.
    pub(super) fn of(&self, fingerprint: u64) -> Option<VectorRows> {
        self.rows.get(&fingerprint).copied()
    }

    /// The same vectors, of the model that the relevance model was fitted with or of another.
    pub(super) fn with_calibration(self, is_calibrated: bool) -> Self {
        Self { is_calibrated, ..self }
    }

    /// Whether the relevance model was fitted with this model's cosines.
    pub(super) fn is_calibrated(&self) -> bool {
        self.is_calibrated
    }

    /// Whether there are vectors of other texts than these.
    pub(super) fn has_other_texts(&self, live: &FxHashSet<u64>) -> bool {
        self.rows.keys().any(|fingerprint| !live.contains(fingerprint))
    }

    /// Whether there are no vectors.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The nearness of a text to a question: the soft maximum of the cosines of its chunks, which
    /// is close to the greatest, corrected for the more attempts of a long text. For one chunk, its
    /// cosine.
    pub(super) fn nearness(&self, rows: VectorRows, question: &QuantisedVector) -> f32 {
        if rows.count == 1 {
            return self.cosine(rows.file, rows.first, question);
        }
        let cosines = || rows.pieces().map(|row| self.cosine(rows.file, row, question));
        let greatest = cosines().fold(f32::MIN, f32::max);
        let sum: f32 =
            cosines().map(|cosine| ((cosine - greatest) / SOFT_MAXIMUM_WIDTH).exp()).sum();
        greatest + SOFT_MAXIMUM_WIDTH * (sum / rows.count as f32).ln()
    }

    /// The signs of a text's words.
    pub(super) fn words(&self, rows: VectorRows) -> &[WordBytes] {
        let file = self.files.get(rows.file as usize);
        file.map_or(&[], |file| file.words(rows.first as usize))
    }

    /// The signs of every vector.
    fn signs(&self) -> VectorSigns<'_> {
        VectorSigns(self.files.iter().map(|file| file.signs(self.dimension)).collect())
    }

    /// The values of a row and their scale; `None` if the file or row does not exist.
    fn row(&self, file: u32, row: u32) -> Option<(&[i8], f32)> {
        let file = self.files.get(file as usize)?;
        Some(file.row(row as usize, self.dimension))
    }

    fn cosine(&self, file: u32, row: u32, question: &QuantisedVector) -> f32 {
        let file = self.files.get(file as usize);
        file.map_or(0.0, |file| file.cosine(row as usize, self.dimension, question))
    }

    fn vector(&self, file: u32, row: u32) -> QuantisedVector {
        let (row, size) = (row as usize, self.dimension);
        let values = self
            .files
            .get(file as usize)
            .and_then(|file| file.values.get(row * size..(row + 1) * size));
        QuantisedVector::from_bytes(values.unwrap_or_default())
    }
}

/// The vectors of one text, in the index that has them.
#[derive(Clone, Copy)]
pub(super) struct TextVectors<'v> {
    pub(super) index: &'v VectorIndex,
    pub(super) rows: VectorRows,
}

impl TextVectors<'_> {
    /// The similarity of two texts as answers to a question: the cosine of their chunks nearest to
    /// it.
    pub(super) fn answer_similarity(self, other: Self, question: &QuantisedVector) -> f32 {
        let nearest = |Self { index, rows }: Self| {
            let near = |row: &u32| index.cosine(rows.file, *row, question);
            let best = rows.pieces().max_by(|a, b| near(a).total_cmp(&near(b)));
            index.vector(rows.file, best.unwrap_or(rows.first))
        };
        nearest(self).cosine(&nearest(other)).unwrap_or(0.0)
    }

    /// How near two texts are to each other: the greatest cosine of their chunks.
    pub(super) fn likeness(self, other: Self) -> f32 {
        let cosines = self.rows.pieces().flat_map(|row| {
            let chunk = self.index.vector(self.rows.file, row);
            let others = other.rows.pieces();
            let cosine = move |row| other.index.cosine(other.rows.file, row, &chunk);
            others.map(cosine).collect::<Vec<_>>()
        });
        cosines.fold(0.0, f32::max)
    }

    /// The similarity of two texts: the least cosine of chunks at the same index; 0 if they differ
    /// in number.
    pub(super) fn text_similarity(self, other: Self) -> f32 {
        if self.rows.count != other.rows.count {
            return 0.0;
        }
        let row = |text: Self, row| text.index.row(text.rows.file, row);
        let cosine = |(x, y)| {
            row(self, x).zip(row(other, y)).map_or(0.0, |((x, scale_x), (y, scale_y))| {
                dot(x, y).unwrap_or(0.0) * scale_x * scale_y
            })
        };
        self.rows.pieces().zip(other.rows.pieces()).map(cosine).fold(1.0, f32::min)
    }
}

/// The signs of every vector, per file.
struct VectorSigns<'v>(Vec<&'v [u64]>);

impl VectorSigns<'_> {
    /// The number of signs in which a text differs from a question's; of several chunks, the least.
    #[inline(always)]
    fn distance(&self, rows: VectorRows, question: &[u64]) -> u32 {
        let words = question.len();
        let signs = self.0.get(rows.file as usize).copied().unwrap_or_default();
        let mut least = u32::MAX;
        for row in rows.pieces() {
            let at = row as usize * words;
            let piece = signs.get(at..at + words);
            least = least.min(piece.map_or(u32::MAX, |piece| differing_signs(piece, question)));
        }
        least
    }
}

/// The width of the soft maximum over chunks, measured on long and short memories
/// (`docs/decisions/0009-ranking.md`).
const SOFT_MAXIMUM_WIDTH: f32 = 0.05;

impl VectorRows {
    fn pieces(self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }
}

impl VectorFile {
    fn of(bytes: &OwnedBytes, name: &Path, dimension: usize) -> Option<Self> {
        let number = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..at + 4)?.as_array()?));
        let rows = number(12)? as usize;
        let counts_at = HEADER_BYTES + rows * (8 + 4 + dimension);
        let words_at = counts_at + rows;
        let fits = bytes.get(..8)? == MAGIC && number(8)? as usize == dimension;
        if !fits {
            return None;
        }
        let sum = |words: &mut u32, count: &u8| {
            *words += u32::from(*count);
            Some(*words)
        };
        let word_ends: Vec<u32> = bytes.get(counts_at..words_at)?.iter().scan(0, sum).collect();
        let words = word_ends.last().copied().unwrap_or(0) as usize;
        if bytes.len() != words_at + 8 * words {
            return None;
        }
        let fingerprints = bytes[HEADER_BYTES..].as_chunks::<8>().0.iter().take(rows);
        let scales = bytes[HEADER_BYTES + rows * 8..].as_chunks::<4>().0.iter().take(rows);
        Some(Self {
            name: name.to_owned(),
            fingerprints: fingerprints.map(|bytes| u64::from_le_bytes(*bytes)).collect(),
            scales: scales.map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            values: bytes.slice(HEADER_BYTES + rows * 12..counts_at),
            word_ends,
            words: bytes.slice(words_at..bytes.len()),
            signs: OnceLock::new(),
        })
    }

    fn signs(&self, dimension: usize) -> &[u64] {
        self.signs.get_or_init(|| {
            let mut signs = Vec::with_capacity(self.fingerprints.len() * dimension.div_ceil(64));
            for row in self.values.chunks_exact(dimension) {
                add_signs(bytemuck::cast_slice(row), &mut signs);
            }
            signs
        })
    }

    /// The values of a row, and their scale.
    fn row(&self, row: usize, dimension: usize) -> (&[i8], f32) {
        let values = self.values.get(row * dimension..(row + 1) * dimension).unwrap_or_default();
        (bytemuck::cast_slice(values), self.scales.get(row).copied().unwrap_or(0.0))
    }

    /// The signs of a row's words.
    fn words(&self, row: usize) -> &[WordBytes] {
        let end = |row: usize| self.word_ends.get(row).map_or(0, |end| *end as usize);
        let begin = row.checked_sub(1).map_or(0, end);
        self.words.as_chunks::<8>().0.get(begin..end(row)).unwrap_or_default()
    }

    fn cosine(&self, row: usize, dimension: usize, question: &QuantisedVector) -> f32 {
        let (values, scale) = self.row(row, dimension);
        dot(values, &question.values).unwrap_or(0.0) * question.scale * scale
    }
}

/// The bytes of a file: a large one is mapped, a small one read, as a process may map only some
/// ten thousands.
fn read_file(folder: &Path, directory: &MmapDirectory, name: &Path) -> Option<OwnedBytes> {
    let path = folder.join(name);
    if std::fs::metadata(&path).ok()?.len() <= READ_BYTES_MAX {
        return std::fs::read(path).ok().map(OwnedBytes::new);
    }
    directory.open_read(name).ok()?.read_bytes().ok()
}

/// What happens to the existing files when a batch is written.
pub(super) enum CompactionMode<'l> {
    /// They stay.
    Stay,
    /// The small ones are merged with the batch, without vectors of deleted memories.
    Join(&'l FxHashSet<u64>),
    /// All are merged with the batch.
    JoinAll(&'l FxHashSet<u64>),
}

/// Writes a batch as a new file.
pub(super) fn write_batch(
    folder: &Path,
    dimension: usize,
    batch: &[EmbeddedText],
    before: &CompactionMode<'_>,
) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let there = VectorIndex::open(folder, dimension)?;
    let names_before = file_names(folder);
    let next = names_before.iter().filter_map(|name| file_number(name)).max().unwrap_or(0) + 1;
    let small = |file: &&VectorFile| file.fingerprints.len() < LARGE_FILE_ROWS_MIN;
    let (merged, live): (Vec<&VectorFile>, _) = match before {
        CompactionMode::Stay => (Vec::new(), None),
        CompactionMode::Join(live) => (there.files.iter().filter(small).collect(), Some(live)),
        CompactionMode::JoinAll(live) => (there.files.iter().collect(), Some(live)),
    };
    let keep = |fingerprint: u64| live.is_none_or(|live| live.contains(&fingerprint));
    let mut rows: Vec<WrittenRow<'_>> = Vec::new();
    let mut written = FxHashSet::default();
    for file in &merged {
        let mut row = 0;
        for same in file.fingerprints.chunk_by(|a, b| a == b) {
            let fresh = same
                .first()
                .is_some_and(|fingerprint| keep(*fingerprint) && written.insert(*fingerprint));
            for fingerprint in same {
                if fresh {
                    let values = &file.values[row * dimension..(row + 1) * dimension];
                    let words = file.words(row);
                    let (fingerprint, scale) = (*fingerprint, file.scales[row]);
                    rows.push(WrittenRow { fingerprint, scale, values, words });
                }
                row += 1;
            }
        }
    }
    for EmbeddedText { fingerprint, chunks, words } in batch {
        if written.insert(*fingerprint) {
            let mut words = &words[..words.len().min(ROW_WORDS_MAX)];
            for QuantisedVector { scale, values } in chunks {
                let (fingerprint, scale) = (*fingerprint, *scale);
                let values = bytemuck::cast_slice(values);
                rows.push(WrittenRow { fingerprint, scale, values, words });
                words = &[];
            }
        }
    }
    if !rows.is_empty() {
        write_file(folder, next, dimension, &rows)?;
    }
    // Merged files are no longer needed, and damaged ones are useless.
    let damaged =
        names_before.iter().filter(|name| there.files.iter().all(|file| file.name != **name));
    for name in merged.iter().map(|file| &file.name).chain(damaged) {
        let path = folder.join(name);
        std::fs::remove_file(&path).map_err(|error| unwritable(&path, &error))?;
    }
    Ok(())
}

/// Words of a row: their number is a byte.
const ROW_WORDS_MAX: usize = u8::MAX as usize;

/// A row of a new file.
struct WrittenRow<'b> {
    fingerprint: u64,
    scale: f32,
    values: &'b [u8],
    /// At most [`ROW_WORDS_MAX`].
    words: &'b [WordBytes],
}

/// Writes rows into a file with this number, atomically.
fn write_file(folder: &Path, number: u64, dimension: usize, rows: &[WrittenRow<'_>]) -> Result<()> {
    let words: usize = rows.iter().map(|row| row.words.as_flattened().len()).sum();
    let mut bytes = Vec::with_capacity(HEADER_BYTES + rows.len() * (13 + dimension) + words);
    bytes.extend_from_slice(MAGIC);
    for size in [dimension, rows.len()] {
        bytes.extend_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
    }
    bytes.extend_from_slice(&[0; 4]);
    rows.iter().for_each(|row| bytes.extend_from_slice(&row.fingerprint.to_le_bytes()));
    rows.iter().for_each(|row| bytes.extend_from_slice(&row.scale.to_le_bytes()));
    rows.iter().for_each(|row| bytes.extend_from_slice(row.values));
    bytes.extend(rows.iter().map(|row| row.words.len() as u8));
    rows.iter().for_each(|row| bytes.extend_from_slice(row.words.as_flattened()));
    let sum = crc32fast::hash(&bytes[HEADER_BYTES..]).to_le_bytes();
    bytes[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&sum);
    let path = folder.join(format!("{number:08}.{VECTOR_FILE_ENDING}"));
    let fresh = path.with_extension("new");
    let write = || -> std::io::Result<()> {
        std::fs::write(&fresh, &bytes)?;
        if boot::must_sync() {
            std::fs::File::open(&fresh)?.sync_all()?;
        }
        std::fs::rename(&fresh, &path)
    };
    write().map_err(|error| unwritable(&path, &error))
}

/// The damaged files.
pub(super) fn damage(folder: &Path) -> Vec<String> {
    let whole = |name: &PathBuf| {
        let bytes = std::fs::read(folder.join(name)).unwrap_or_default();
        let sum = bytes.get(HEADER_BYTES - 4..HEADER_BYTES);
        sum.is_some_and(|sum| sum == crc32fast::hash(&bytes[HEADER_BYTES..]).to_le_bytes())
    };
    let damaged = file_names(folder).into_iter().filter(|name| !whole(name));
    damaged.map(|name| name.display().to_string()).collect()
}

/// The file extension.
const VECTOR_FILE_ENDING: &str = "vectors";

/// The vector files in a folder.
fn file_names(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| PathBuf::from(entry.file_name()));
    names
        .filter(|name| name.extension().is_some_and(|ending| ending == VECTOR_FILE_ENDING))
        .collect()
}

fn file_number(name: &Path) -> Option<u64> {
    name.file_stem()?.to_str()?.parse().ok()
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    let message = format!("vectors cannot be written at {}: {error}", path.display());
    Error::new(ErrorKind::Unavailable, message)
        .hint("Check the folder's permissions and its disk. Searches by words still work.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(fingerprint: u64, chunks: usize, words: u8) -> EmbeddedText {
        let chunk = QuantisedVector::of(&[1.0, -1.0, 0.5]);
        let words = (0..words).map(|word| (fingerprint << 8 | u64::from(word)).to_le_bytes());
        EmbeddedText { fingerprint, chunks: vec![chunk; chunks], words: words.collect() }
    }

    /// The words of a text; `None` without vectors.
    fn words(folder: &Path, fingerprint: u64) -> Option<Vec<u64>> {
        let vectors = VectorIndex::open(folder, 3).unwrap();
        let words = vectors.words(vectors.of(fingerprint)?).iter();
        Some(words.map(|word| u64::from_le_bytes(*word)).collect())
    }

    #[test]
    fn words_stand_beside_the_vectors_and_stay_with_their_text() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (first, second) = ([text(1, 1, 2), text(2, 3, 3)], [text(3, 1, 0), text(4, 2, 1)]);
        write_batch(folder, 3, &first, &CompactionMode::Stay).unwrap();
        write_batch(folder, 3, &second, &CompactionMode::Stay).unwrap();
        let expected = |fingerprint| match fingerprint {
            1 => vec![0x100, 0x101],
            2 => vec![0x200, 0x201, 0x202],
            3 => vec![],
            _ => vec![0x400],
        };
        for fingerprint in 1..=4 {
            assert_eq!(words(folder, fingerprint), Some(expected(fingerprint)));
        }
        let live: FxHashSet<u64> = [2, 4].into_iter().collect();
        write_batch(folder, 3, &[], &CompactionMode::JoinAll(&live)).unwrap();
        assert_eq!(file_names(folder).len(), 1);
        assert_eq!(damage(folder), Vec::<String>::new());
        for (fingerprint, stays) in [(1, false), (2, true), (3, false), (4, true)] {
            assert_eq!(words(folder, fingerprint), stays.then(|| expected(fingerprint)));
        }
    }

    #[test]
    fn a_file_of_another_format_or_length_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write_batch(folder, 3, &[text(1, 2, 5)], &CompactionMode::Stay).unwrap();
        let path = folder.join(file_names(folder).pop().unwrap());
        let whole = std::fs::read(&path).unwrap();
        let counts_at = HEADER_BYTES + 2 * (8 + 4 + 3);
        for (at, byte) in [(7, 1), (counts_at, 6), (counts_at, 4), (counts_at + 1, 255)] {
            let mut spoiled = whole.clone();
            spoiled[at] = byte;
            std::fs::write(&path, &spoiled).unwrap();
            assert_eq!(words(folder, 1), None, "{at} {byte}");
        }
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(words(folder, 1), None);
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(words(folder, 1).unwrap().len(), 5);
    }
}
