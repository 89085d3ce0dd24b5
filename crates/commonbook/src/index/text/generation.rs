//! Reading the words of one commit, and the facts that stand beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::index::SegmentId;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EnableScoring, PhraseQuery, Query};
use tantivy::schema::IndexRecordOption;
use tantivy::{
    DocSet, Index, IndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED, Term,
};

use super::{FORMAT, Fields, Payload, Places, columns, schema};
use crate::error::Result;
use crate::index::catalog::sheet::{self, Sheet};
use crate::index::catalog::{Catalog, NOBODY, Number};
use crate::index::damage::damaged;
use crate::index::unwritable;

/// The words as of one commit.
pub(in crate::index) struct Generation {
    folder: PathBuf,
    /// Whether the facts of some segment had to be taken from its columns.
    pub(in crate::index) lacks_sheets: bool,
    reader: IndexReader,
    searcher: Searcher,
    fields: Fields,
    /// The number of each document of each segment, in the order of the searcher's segments.
    segments: Vec<Arc<[Number]>>,
    pub(in crate::index) places: Places,
}

impl Generation {
    /// Opens the last commit, and puts what it knows into the catalog; nothing when there is none
    /// of this form.
    pub(in crate::index) fn open(folder: &Path, catalog: &mut Catalog) -> Result<Option<Self>> {
        if !folder.join("meta.json").exists() {
            return Ok(None);
        }
        let index = Index::open_in_dir(folder)?;
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Ok(None);
        }
        let Some(places) = places(&index)? else { return Ok(None) };
        let reader: IndexReader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let mut generation = Self {
            folder: folder.to_owned(),
            lacks_sheets: false,
            reader,
            searcher,
            fields,
            segments: Vec::new(),
            places,
        };
        generation.number(catalog, &BTreeMap::new())?;
        Ok(Some(generation))
    }

    /// Goes on to the last commit; what the catalog has as it is there, it has no more in the tail.
    pub(in crate::index) fn reload(&mut self, catalog: &mut Catalog) -> Result<()> {
        let known: BTreeMap<_, _> = (self.searcher.segment_readers().iter())
            .map(SegmentReader::segment_id)
            .zip(self.segments.iter().cloned())
            .collect();
        // The places first: a commit between the two only makes the words newer than the places.
        let places = places(self.searcher.index())?.ok_or_else(damaged)?;
        self.reader.reload()?;
        self.searcher = self.reader.searcher();
        self.number(catalog, &known)?;
        self.places = places;
        Ok(())
    }

    fn number(
        &mut self,
        catalog: &mut Catalog,
        known: &BTreeMap<SegmentId, Arc<[Number]>>,
    ) -> Result<()> {
        let readers = self.searcher.segment_readers().to_vec();
        let new = readers.iter().filter(|segment| !known.contains_key(&segment.segment_id()));
        let sheets = new.map(|segment| {
            let alive = |document| !segment.is_deleted(document);
            Ok((self.sheet(segment)?, alive))
        });
        let sheets = sheets.collect::<Result<_>>()?;
        let mut new = catalog.take_in(sheets)?.into_iter();
        let numbers = |segment: &SegmentReader| {
            let numbers = known.get(&segment.segment_id()).cloned().or_else(|| new.next());
            numbers.ok_or_else(damaged)
        };
        self.segments = readers.iter().map(numbers).collect::<Result<_>>()?;
        Ok(())
    }

    /// The facts of a segment: its sheet, or where there is none that is whole, its columns.
    fn sheet(&mut self, segment: &SegmentReader) -> Result<Sheet> {
        match Sheet::read(&self.folder, segment) {
            Ok(Some(sheet)) => return Ok(sheet),
            Ok(None) => {}
            Err(error) => {
                let segment_id = segment.segment_id().uuid_string();
                tracing::warn!(%error, segment_id, "a sheet of the search index is made anew");
                sheet::discard(&self.folder, segment);
            }
        }
        self.lacks_sheets = true;
        columns::sheet(segment)
    }

    /// What writes the sheets that its segments do not have yet.
    pub(in crate::index) fn sheets(&self) -> impl FnOnce() -> Result<()> + use<> {
        let (folder, segments) = (self.folder.clone(), self.searcher.segment_readers().to_vec());
        move || lay_out(&folder, &segments)
    }

    /// Gives every memory that has this word, with how often it stands in its head and its body.
    pub(in crate::index) fn having(
        &self,
        word: &str,
        mut found: impl FnMut(Number, u32, u32),
    ) -> Result<()> {
        for (segment, numbers) in self.searcher.segment_readers().iter().zip(&self.segments) {
            let postings = |field| -> Result<_> {
                let term = Term::from_field_text(field, word);
                let frequencies = IndexRecordOption::WithFreqs;
                let words = segment.inverted_index(field)?;
                words.read_postings(&term, frequencies).map_err(|error| damaged().because(error))
            };
            let (mut head, mut body) = (postings(self.fields.head)?, postings(self.fields.body)?);
            let alive = segment.alive_bitset();
            loop {
                let at = |list: &Option<_>| list.as_ref().map_or(TERMINATED, DocSet::doc);
                let document = at(&head).min(at(&body));
                if document == TERMINATED {
                    break;
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
                let number = numbers[document as usize];
                if number != NOBODY && alive.is_none_or(|alive| alive.is_alive(document)) {
                    found(number, in_head, in_body);
                }
            }
        }
        Ok(())
    }

    /// Gives every memory that has these words one after the other; some may come twice.
    pub(in crate::index) fn having_phrase(
        &self,
        words: &[String],
        mut found: impl FnMut(Number),
    ) -> Result<()> {
        if let [word] = words {
            return self.having(word, |number, _, _| found(number));
        }
        for field in [self.fields.head, self.fields.body] {
            let terms = words.iter().map(|word| Term::from_field_text(field, word)).collect();
            let weight = PhraseQuery::new(terms)
                .weight(EnableScoring::disabled_from_searcher(&self.searcher))?;
            for (segment, numbers) in self.searcher.segment_readers().iter().zip(&self.segments) {
                let mut matching = weight.scorer(segment, 1.0)?;
                let alive = segment.alive_bitset();
                while matching.doc() != TERMINATED {
                    let document = matching.doc();
                    let number = numbers[document as usize];
                    if number != NOBODY && alive.is_none_or(|alive| alive.is_alive(document)) {
                        found(number);
                    }
                    matching.advance();
                }
            }
        }
        Ok(())
    }

    /// The files whose contents are not what was written.
    pub(in crate::index) fn damage(&self) -> Result<Vec<String>> {
        let files = self.searcher.index().validate_checksum()?;
        Ok(files.into_iter().map(|file| file.display().to_string()).collect())
    }
}

/// Writes the sheets of those of a generation's segments that have none, and removes those of other
/// segments. To be called by who holds the lease alone.
///
/// # Errors
/// `unavailable` when the folder cannot be read or written.
fn lay_out(folder: &Path, segments: &[SegmentReader]) -> Result<()> {
    let there = sheet::files(folder).map_err(|error| unwritable(folder, &error))?;
    let mut known = Vec::with_capacity(segments.len());
    for segment in segments {
        let place = sheet::place(folder, segment);
        if !there.contains(&place) {
            let sheet = columns::sheet(segment)?;
            sheet.write(folder, segment).map_err(|error| unwritable(folder, &error))?;
        }
        known.push(place);
    }
    for file in there.iter().filter(|file| !known.contains(file)) {
        fs::remove_file(file).map_err(|error| unwritable(file, &error))?;
    }
    Ok(())
}

/// The places of the last commit; nothing when it is of another form.
fn places(index: &Index) -> Result<Option<Places>> {
    let Some(payload) = index.load_metas()?.payload else { return Ok(None) };
    let payload: Payload =
        serde_json::from_str(&payload).map_err(|error| damaged().because(error))?;
    Ok((payload.format == FORMAT).then_some(payload.places))
}
