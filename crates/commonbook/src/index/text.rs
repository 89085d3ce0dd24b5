//! The words of memories on disk, in tantivy: its dictionary, postings, merges and commits. What is
//! counted and how much a word weighs is decided elsewhere; here stand only words and facts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::columnar::{Column, StrColumn};
use tantivy::directory::MmapDirectory;
use tantivy::merge_policy::{LogMergePolicy, NoMergePolicy};
use tantivy::postings::Postings;
use tantivy::query::{EnableScoring, PhraseQuery, Query};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{
    DocSet, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, SegmentReader,
    TERMINATED, TantivyDocument, Term,
};
use uuid::Uuid;

use super::catalog::{Catalog, Class, Described, Facts, Number};
use crate::access::Reach;
use crate::error::{Error, ErrorKind, Result};
use crate::id::MemoryId;
use crate::store::Change;
use crate::workspace::Workspace;

/// Which form the files have; another one is built anew.
const FORMAT: u32 = 1;

/// Bytes that the indexing thread gathers before it writes a segment out.
const MEMORY_BYTES: usize = 32 * 1024 * 1024;

/// Where the journal of each workspace was followed to.
pub(super) type Places = BTreeMap<Workspace, Place>;

/// A place in a journal, and what the event there is about: another event there means that the
/// store was put back to an older state, and the index is of another history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) sequence: u64,
    pub(super) subject: String,
}

impl Place {
    /// The place of this event.
    pub(super) fn of(event: &Change) -> Self {
        Self { sequence: event.sequence, subject: event.subject.clone() }
    }

    /// Whether this event is the one at the place.
    pub(super) fn is_of(&self, event: &Change) -> bool {
        *self == Self::of(event)
    }
}

/// What a commit says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    format: u32,
    places: Places,
}

/// The words of one memory, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Bag {
    /// Those of title, topics, summary and author.
    pub(super) head: Vec<String>,
    /// Those of the text.
    pub(super) body: Vec<String>,
}

impl Bag {
    /// How many words stand in each part.
    pub(super) fn lengths(&self) -> (u32, u32) {
        let length = |words: &Vec<String>| u32::try_from(words.len()).unwrap_or(u32::MAX);
        (length(&self.head), length(&self.body))
    }
}

/// The numbers that the fields have in the schema.
#[derive(Debug, Clone, Copy)]
struct Fields {
    key: Field,
    head: Field,
    body: Field,
    class: Field,
    session: Field,
    topic: Field,
    /// `NUMBERS`, in order.
    numbers: [Field; 7],
    from: Field,
    until: Field,
}

/// The facts that are kept as numbers: two halves of the id, two of the heir's.
const NUMBERS: [&str; 7] = ["id0", "id1", "heir0", "heir1", "sequence", "print", "lengths"];

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions)
        .set_fieldnorms(false);
    let words = TextOptions::default().set_indexing_options(words);
    let name = TextOptions::default().set_fast("raw");
    let fields = Fields {
        key: schema.add_text_field("key", STRING),
        head: schema.add_text_field("head", words.clone()),
        body: schema.add_text_field("body", words),
        class: schema.add_text_field("class", name.clone()),
        session: schema.add_text_field("session", name.clone()),
        topic: schema.add_text_field("topic", name),
        numbers: NUMBERS.map(|number| schema.add_u64_field(number, FAST)),
        from: schema.add_i64_field("from", FAST),
        until: schema.add_i64_field("until", FAST),
    };
    (schema.build(), fields)
}

/// The key by which a memory's words are taken out again.
fn key(reach: &Reach, id: MemoryId) -> String {
    format!("{} {id}", reach.workspace)
}

/// Opens the folder for reading and writing; makes it when it is not there.
fn index(folder: &Path) -> Result<Index> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("{} cannot be made", folder.display()))
            .because(error)
    })?;
    let directory = MmapDirectory::open(folder).map_err(|error| damaged().because(error))?;
    Ok(Index::builder()
        .schema(schema().0)
        .settings(IndexSettings::default())
        .open_or_create(directory)?)
}

/// The one who writes the words.
pub(super) struct TextWriter {
    writer: IndexWriter,
    fields: Fields,
}

impl TextWriter {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let writer = index(folder)?.writer_with_num_threads(1, MEMORY_BYTES)?;
        Ok(Self { writer, fields: schema().1 })
    }

    /// Puts a memory's words in the place of those it had.
    pub(super) fn put(&mut self, described: &Described, bag: &Bag) -> Result<()> {
        let Described { class, facts, session, topics } = described;
        self.remove(&class.reach, facts.id);
        let fields = self.fields;
        let mut document = TantivyDocument::new();
        document.add_text(fields.key, key(&class.reach, facts.id));
        document.add_text(fields.head, bag.head.join(" "));
        document.add_text(fields.body, bag.body.join(" "));
        document.add_text(fields.class, encoded(class)?);
        if let Some(session) = session {
            document.add_text(fields.session, session);
        }
        for topic in topics {
            document.add_text(fields.topic, topic);
        }
        let (id, heir) = (facts.id.uuid().as_u64_pair(), halves(facts.heir));
        let lengths = u64::from(facts.lengths.0) << 32 | u64::from(facts.lengths.1);
        let numbers = [id.0, id.1, heir.0, heir.1, facts.sequence, facts.print, lengths];
        for (field, number) in fields.numbers.into_iter().zip(numbers) {
            document.add_u64(field, number);
        }
        document.add_i64(fields.from, facts.from);
        document.add_i64(fields.until, facts.until);
        self.writer.add_document(document)?;
        Ok(())
    }

    /// Takes a memory's words out.
    pub(super) fn remove(&mut self, reach: &Reach, id: MemoryId) {
        self.writer.delete_term(Term::from_field_text(self.fields.key, &key(reach, id)));
    }

    /// Makes everything durable, as of these places.
    pub(super) fn commit(&mut self, places: &Places) -> Result<()> {
        let payload = encoded(&Payload { format: FORMAT, places: places.clone() })?;
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&payload);
        prepared.commit()?;
        Ok(())
    }

    /// Writes the segments that something was taken out of anew, without it. Merges that are under
    /// way end first: a segment cannot be in two.
    pub(super) fn squeeze(self) -> Result<Self> {
        let index = self.writer.index().clone();
        self.writer.wait_merging_threads()?;
        let mut writer: IndexWriter = index.writer_with_num_threads(1, MEMORY_BYTES)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        for segment in index.searchable_segment_metas()? {
            if segment.has_deletes() {
                writer.merge(&[segment.id()]).wait()?;
            }
        }
        writer.set_merge_policy(Box::new(LogMergePolicy::default()));
        Ok(Self { writer, fields: self.fields })
    }

    /// Removes the files that nobody in this process reads any more.
    pub(super) fn tidy(&self) -> Result<()> {
        self.writer.garbage_collect_files().wait()?;
        Ok(())
    }
}

/// The words as of one commit.
pub(super) struct Generation {
    reader: IndexReader,
    searcher: Searcher,
    fields: Fields,
    /// The number of each document of each segment, in the order of the searcher's segments.
    segments: Vec<Arc<[Number]>>,
    pub(super) places: Places,
}

/// Whatever has no number: a document that was deleted when its segment was read.
const NOBODY: Number = Number::MAX;

impl Generation {
    /// Opens the last commit, and puts what it knows into the catalog; nothing when there is none
    /// of this form.
    pub(super) fn open(folder: &Path, catalog: &mut Catalog) -> Result<Option<Self>> {
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
        let mut generation =
            Self { reader, searcher, fields, segments: Vec::new(), places };
        generation.number(catalog, &BTreeMap::new())?;
        Ok(Some(generation))
    }

    /// Goes on to the last commit; what the catalog has as it is there, it has no more in the tail.
    pub(super) fn reload(&mut self, catalog: &mut Catalog) -> Result<()> {
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
        known: &BTreeMap<tantivy::index::SegmentId, Arc<[Number]>>,
    ) -> Result<()> {
        let mut segments = Vec::new();
        for segment in self.searcher.segment_readers() {
            let numbers = match known.get(&segment.segment_id()) {
                Some(numbers) => Arc::clone(numbers),
                None => Columns::of(segment)?.numbered(segment, catalog)?,
            };
            segments.push(numbers);
        }
        self.segments = segments;
        Ok(())
    }

    /// Gives every memory that has this word, with how often it stands in its head and its body.
    pub(super) fn having(
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
                let count = |list: &mut Option<tantivy::postings::SegmentPostings>| match list {
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
    pub(super) fn having_phrase(
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
    pub(super) fn damage(&self) -> Result<Vec<String>> {
        let files = self.searcher.index().validate_checksum()?;
        Ok(files.into_iter().map(|file| file.display().to_string()).collect())
    }
}

/// The places of the last commit; nothing when it is of another form.
fn places(index: &Index) -> Result<Option<Places>> {
    let Some(payload) = index.load_metas()?.payload else { return Ok(None) };
    let payload: Payload =
        serde_json::from_str(&payload).map_err(|error| damaged().because(error))?;
    Ok((payload.format == FORMAT).then_some(payload.places))
}

/// The facts of one segment.
struct Columns {
    class: Option<StrColumn>,
    session: Option<StrColumn>,
    topic: Option<StrColumn>,
    numbers: Vec<Column<u64>>,
    from: Column<i64>,
    until: Column<i64>,
}

impl Columns {
    fn of(segment: &SegmentReader) -> Result<Self> {
        let facts = segment.fast_fields();
        Ok(Self {
            class: facts.str("class")?,
            session: facts.str("session")?,
            topic: facts.str("topic")?,
            numbers: NUMBERS
                .iter()
                .map(|number| facts.u64(number))
                .collect::<Result<_, _>>()?,
            from: facts.i64("from")?,
            until: facts.i64("until")?,
        })
    }

    /// The number of each document, which the catalog gives to those it does not know yet.
    fn numbered(&self, segment: &SegmentReader, catalog: &mut Catalog) -> Result<Arc<[Number]>> {
        let classes: Vec<Class> = texts(self.class.as_ref())?
            .iter()
            .map(|text| serde_json::from_str(text).map_err(|error| damaged().because(error)))
            .collect::<Result<_>>()?;
        let (sessions, topics) = (texts(self.session.as_ref())?, texts(self.topic.as_ref())?);
        let mut numbers = Vec::with_capacity(segment.max_doc() as usize);
        for document in 0..segment.max_doc() {
            if segment.is_deleted(document) {
                numbers.push(NOBODY);
                continue;
            }
            let class = first(self.class.as_ref(), document).and_then(|ord| classes.get(ord));
            let class = class.ok_or_else(damaged)?;
            let facts = self.facts(document).ok_or_else(damaged)?;
            let known = catalog.number(class.reach.workspace.as_str(), facts.id);
            let number = match known {
                Some(number) if catalog.entry(number).facts.sequence >= facts.sequence => {
                    catalog.leave_tail(number, facts.sequence);
                    number
                }
                _ => {
                    let session = first(self.session.as_ref(), document)
                        .and_then(|ord| sessions.get(ord).cloned());
                    let topics = ords(self.topic.as_ref(), document)
                        .filter_map(|ord| topics.get(ord).cloned())
                        .collect();
                    let described = Described { class: class.clone(), facts, session, topics };
                    catalog.put(described, false)
                }
            };
            numbers.push(number);
        }
        Ok(numbers.into())
    }

    fn facts(&self, document: u32) -> Option<Facts> {
        let number = |place: usize| self.numbers.get(place)?.first(document);
        let id = |place: usize| Some(Uuid::from_u64_pair(number(place)?, number(place + 1)?));
        let lengths = number(6)?;
        let heir = id(2)?;
        Some(Facts {
            id: MemoryId::from_uuid(id(0)?),
            sequence: number(4)?,
            from: self.from.first(document)?,
            until: self.until.first(document)?,
            heir: (!heir.is_nil()).then(|| MemoryId::from_uuid(heir)),
            lengths: (
                u32::try_from(lengths >> 32).unwrap_or(u32::MAX),
                u32::try_from(lengths & u64::from(u32::MAX)).unwrap_or(u32::MAX),
            ),
            print: number(5)?,
        })
    }
}

/// The distinct texts of a column, in the order of their ordinals.
fn texts(column: Option<&StrColumn>) -> Result<Vec<String>> {
    let Some(column) = column else { return Ok(Vec::new()) };
    let mut texts = Vec::with_capacity(column.num_terms());
    let mut terms = column.dictionary().stream().map_err(|error| damaged().because(error))?;
    while terms.advance() {
        texts.push(String::from_utf8_lossy(terms.key()).into_owned());
    }
    Ok(texts)
}

fn ords(column: Option<&StrColumn>, document: u32) -> impl Iterator<Item = usize> {
    let ords = column.into_iter().flat_map(move |column| column.term_ords(document));
    ords.map(|ord| usize::try_from(ord).unwrap_or(usize::MAX))
}

fn first(column: Option<&StrColumn>, document: u32) -> Option<usize> {
    ords(column, document).next()
}

fn halves(id: Option<MemoryId>) -> (u64, u64) {
    id.map_or((0, 0), |id| id.uuid().as_u64_pair())
}

fn encoded(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorKind::Internal, "the search index could not be written").because(error)
    })
}

/// The answer when the files are not what this program writes.
pub(super) fn damaged() -> Error {
    Error::new(ErrorKind::Unavailable, "the search index is damaged")
        .hint("Run `commonbook reindex`: it is built anew from the journal.")
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Self {
        damaged().because(error)
    }
}
