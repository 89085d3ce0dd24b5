//! Reading the words of one commit, and their facts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::index::{InvertedIndexReader, SegmentId};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{
    DocId, DocSet, Index, IndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED, Term,
};

use super::phrase::PhraseMatcher;
use super::{CommitPayload, FORMAT_VERSION, JournalPositions, SchemaFields, columns, schema};
use crate::base::error::Result;
use crate::index::budget::SearchMeter;
use crate::index::damage::index_damage;
use crate::index::facts::segment_file::{self, SegmentFile};
use crate::index::facts::{MemoryCatalog, MemoryNumber, NO_MEMORY, SegmentDocuments};
use crate::index::files::unwritable;

/// The words as of one commit.
pub(in crate::index) struct IndexGeneration {
    folder: PathBuf,
    /// Whether the facts of some segment were read from its columns.
    pub(in crate::index) lacks_segment_files: bool,
    reader: IndexReader,
    searcher: Searcher,
    fields: SchemaFields,
    /// The documents of each segment, in the order of the searcher's segments.
    segments: Vec<SegmentDocuments>,
    pub(in crate::index) positions: JournalPositions,
}

/// The words of a caller's audiences: each segment that has some, with the keys of those audiences.
#[derive(Debug, Default)]
pub(in crate::index) struct AudienceScope(Vec<(usize, Vec<String>)>);

impl IndexGeneration {
    /// Opens the last commit, and loads its facts into the catalog. Returns `None` if there is no
    /// commit in this format.
    pub(in crate::index) fn open(
        folder: &Path,
        catalog: &mut MemoryCatalog,
    ) -> Result<Option<Self>> {
        if !folder.join("meta.json").exists() {
            return Ok(None);
        }
        let index = Index::open_in_dir(folder)?;
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Ok(None);
        }
        let Some(positions) = commit_positions(&index)? else { return Ok(None) };
        let reader: IndexReader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let mut generation = Self {
            folder: folder.to_owned(),
            lacks_segment_files: false,
            reader,
            searcher,
            fields,
            segments: Vec::new(),
            positions,
        };
        generation.number_documents(catalog, &BTreeMap::new())?;
        Ok(Some(generation))
    }

    /// Switches to the last commit. Memories in the same state leave the delta.
    pub(in crate::index) fn reload(&mut self, catalog: &mut MemoryCatalog) -> Result<()> {
        let loaded: BTreeMap<_, _> = (self.searcher.segment_readers().iter())
            .map(SegmentReader::segment_id)
            .zip(self.segments.iter().cloned())
            .collect();
        // Positions first: a commit in between only makes the words newer than the positions.
        let positions = commit_positions(self.searcher.index())?.ok_or_else(index_damage)?;
        self.reader.reload()?;
        self.searcher = self.reader.searcher();
        self.number_documents(catalog, &loaded)?;
        self.positions = positions;
        Ok(())
    }

    fn number_documents(
        &mut self,
        catalog: &mut MemoryCatalog,
        loaded: &BTreeMap<SegmentId, SegmentDocuments>,
    ) -> Result<()> {
        let readers = self.searcher.segment_readers().to_vec();
        let new = readers.iter().filter(|segment| !loaded.contains_key(&segment.segment_id()));
        let segment_files = new.map(|segment| {
            let alive = |document| !segment.is_deleted(document);
            Ok((self.load_segment_file(segment)?, alive))
        });
        let segment_files = segment_files.collect::<Result<_>>()?;
        let mut new = catalog.load_segments(segment_files)?.into_iter();
        let documents = |segment: &SegmentReader| {
            let documents = loaded.get(&segment.segment_id()).cloned().or_else(|| new.next());
            documents.ok_or_else(index_damage)
        };
        self.segments = readers.iter().map(documents).collect::<Result<_>>()?;
        Ok(())
    }

    /// The facts of a segment: its segment file, or its columns if that file is missing or damaged.
    fn load_segment_file(&mut self, segment: &SegmentReader) -> Result<SegmentFile> {
        match SegmentFile::read(&self.folder, segment) {
            Ok(Some(segment_file)) => return Ok(segment_file),
            Ok(None) => {}
            Err(error) => {
                let segment_id = segment.segment_id().uuid_string();
                tracing::warn!(%error, segment_id, "a segment file of the search index is written again");
                segment_file::discard(&self.folder, segment);
            }
        }
        self.lacks_segment_files = true;
        columns::read_columns(segment)
    }

    /// A function that writes the missing segment files.
    pub(in crate::index) fn segment_file_writer(&self) -> impl FnOnce() -> Result<()> + use<> {
        let (folder, segments) = (self.folder.clone(), self.searcher.segment_readers().to_vec());
        move || write_segment_files(&folder, &segments)
    }

    /// The words of these audiences.
    pub(in crate::index) fn scope(
        &self,
        catalog: &MemoryCatalog,
        audiences: &[(u32, u32)],
    ) -> AudienceScope {
        let segments = self.segments.iter().enumerate().map(|(place, documents)| {
            let has = |audience: &u32| documents.audiences.binary_search(audience).is_ok();
            let there = audiences.iter().map(|(_, audience)| *audience).filter(has);
            (place, there.map(|audience| catalog.classes.key(audience).to_owned()).collect())
        });
        AudienceScope(segments.filter(|(_, keys): &(_, Vec<_>)| !keys.is_empty()).collect())
    }

    /// Calls `found` for every memory in this scope that contains this word, with the number of
    /// occurrences in head and body.
    pub(in crate::index) fn word_postings(
        &self,
        scope: &AudienceScope,
        word: &str,
        meter: &SearchMeter<'_>,
        mut found: impl FnMut(MemoryNumber, u32, u32),
    ) -> Result<()> {
        for (place, keys) in &scope.0 {
            let segment = self.searcher.segment_reader(u32::try_from(*place).unwrap_or(u32::MAX));
            let numbers = &self.segments[*place].numbers;
            let lists =
                [self.fields.head, self.fields.body].map(|field| inverted_index(segment, field));
            let [head_words, body_words] = lists;
            let (head_words, body_words) = (head_words?, body_words?);
            for key in keys {
                let term = |field| Term::from_field_text(field, &format!("{key}{word}"));
                let postings = |words: &InvertedIndexReader, field| -> Result<_> {
                    meter.term()?;
                    let list = words.read_postings(&term(field), IndexRecordOption::WithFreqs);
                    list.map_err(|error| index_damage().with_cause(error))
                };
                let lists = [
                    postings(&head_words, self.fields.head)?,
                    postings(&body_words, self.fields.body)?,
                ];
                let alive = segment.alive_bitset();
                merge_postings(lists, meter, |document, in_head, in_body| {
                    let number = numbers[document as usize];
                    if number != NO_MEMORY && alive.is_none_or(|alive| alive.is_alive(document)) {
                        found(number, in_head, in_body);
                    }
                })?;
            }
        }
        Ok(())
    }

    /// The number of texts and heads in this scope that contain the word.
    pub(in crate::index) fn word_frequency(
        &self,
        scope: &AudienceScope,
        word: &str,
        meter: &SearchMeter<'_>,
    ) -> Result<u64> {
        let mut count = 0;
        for (place, keys) in &scope.0 {
            let segment = self.searcher.segment_reader(u32::try_from(*place).unwrap_or(u32::MAX));
            for field in [self.fields.head, self.fields.body] {
                let words = inverted_index(segment, field)?;
                for key in keys {
                    meter.term()?;
                    let term = Term::from_field_text(field, &format!("{key}{word}"));
                    let documents = words.doc_freq(&term);
                    count +=
                        u64::from(documents.map_err(|error| index_damage().with_cause(error))?);
                }
            }
        }
        Ok(count)
    }

    /// Calls `found` for every memory in this scope that contains the phrase; possibly twice for
    /// one memory.
    pub(in crate::index) fn phrase_documents(
        &self,
        scope: &AudienceScope,
        words: &[String],
        meter: &SearchMeter<'_>,
        mut found: impl FnMut(MemoryNumber),
    ) -> Result<()> {
        if let [word] = words {
            return self.word_postings(scope, word, meter, |number, _, _| found(number));
        }
        for (place, keys) in &scope.0 {
            let segment = self.searcher.segment_reader(u32::try_from(*place).unwrap_or(u32::MAX));
            let numbers = &self.segments[*place].numbers;
            let alive = segment.alive_bitset();
            for field in [self.fields.head, self.fields.body] {
                let there = inverted_index(segment, field)?;
                for key in keys {
                    let phrase = PhraseMatcher::of(&there, field, key, words, meter)?;
                    let Some(mut phrase) = phrase else { continue };
                    phrase.each(meter, |document| {
                        let number = numbers[document as usize];
                        if number != NO_MEMORY && alive.is_none_or(|alive| alive.is_alive(document))
                        {
                            found(number);
                        }
                    })?;
                }
            }
        }
        Ok(())
    }

    /// The damaged files.
    pub(in crate::index) fn damage(&self) -> Result<Vec<String>> {
        let files = self.searcher.index().validate_checksum()?;
        Ok(files.into_iter().map(|file| file.display().to_string()).collect())
    }
}

/// The words of one field of a segment.
fn inverted_index(segment: &SegmentReader, field: Field) -> Result<Arc<InvertedIndexReader>> {
    Ok(segment.inverted_index(field)?)
}

/// Postings read between two counts.
const COUNT_POSTINGS: u64 = 1_024;

/// Calls `found` for every document of these two lists, with its frequency in each.
fn merge_postings(
    [mut head, mut body]: [Option<SegmentPostings>; 2],
    meter: &SearchMeter<'_>,
    mut found: impl FnMut(DocId, u32, u32),
) -> Result<()> {
    let mut read = 0;
    loop {
        let at = |list: &Option<_>| list.as_ref().map_or(TERMINATED, DocSet::doc);
        let document = at(&head).min(at(&body));
        if document == TERMINATED {
            return meter.postings(read);
        }
        let count = |list: &mut Option<SegmentPostings>| match list {
            Some(list) if list.doc() == document => {
                let count = list.term_freq();
                list.advance();
                count
            }
            _ => 0,
        };
        let (in_head, in_body) = (count(&mut head), count(&mut body));
        found(document, in_head, in_body);
        read += 1;
        if read == COUNT_POSTINGS {
            meter.postings(read)?;
            read = 0;
        }
    }
}

/// Writes the missing files of these segments, and deletes those of other segments. Only the holder
/// of the lease may call it.
///
/// # Errors
/// `unavailable` if the folder cannot be read or written.
fn write_segment_files(folder: &Path, segments: &[SegmentReader]) -> Result<()> {
    let there = segment_file::files(folder).map_err(|error| unwritable(folder, &error))?;
    let mut expected = Vec::with_capacity(segments.len());
    for segment in segments {
        let place = segment_file::file_path(folder, segment);
        if !there.contains(&place) {
            let segment_file = columns::read_columns(segment)?;
            segment_file.write(folder, segment).map_err(|error| unwritable(folder, &error))?;
        }
        expected.push(place);
    }
    for file in there.iter().filter(|file| !expected.contains(file)) {
        fs::remove_file(file).map_err(|error| unwritable(file, &error))?;
    }
    Ok(())
}

/// The positions of the last commit; `None` if it has another format.
fn commit_positions(index: &Index) -> Result<Option<JournalPositions>> {
    let Some(payload) = index.load_metas()?.payload else { return Ok(None) };
    let payload: CommitPayload =
        serde_json::from_str(&payload).map_err(|error| index_damage().with_cause(error))?;
    Ok((payload.format == FORMAT_VERSION).then_some(payload.positions))
}
