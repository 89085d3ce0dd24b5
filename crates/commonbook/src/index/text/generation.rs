//! Reading the words of one commit, and the facts that stand beside them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tantivy::columnar::{Column, StrColumn};
use tantivy::index::SegmentId;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EnableScoring, PhraseQuery, Query};
use tantivy::schema::IndexRecordOption;
use tantivy::{
    DocSet, Index, IndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED, Term,
};
use uuid::Uuid;

use super::{FORMAT, Fields, NUMBERS, Payload, Places, schema};
use crate::error::Result;
use crate::id::MemoryId;
use crate::index::catalog::{Catalog, Class, Entry, Facts, Marks, Number};
use crate::index::damage::damaged;

/// The words as of one commit.
pub(in crate::index) struct Generation {
    reader: IndexReader,
    searcher: Searcher,
    fields: Fields,
    /// The number of each document of each segment, in the order of the searcher's segments.
    segments: Vec<Arc<[Number]>>,
    pub(in crate::index) places: Places,
}

/// Whatever has no number: a document that was deleted when its segment was read.
const NOBODY: Number = Number::MAX;

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
        let mut generation = Self { reader, searcher, fields, segments: Vec::new(), places };
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
    case: Option<StrColumn>,
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
            case: facts.str("case")?,
            topic: facts.str("topic")?,
            numbers: NUMBERS.iter().map(|number| facts.u64(number)).collect::<Result<_, _>>()?,
            from: facts.i64("from")?,
            until: facts.i64("until")?,
        })
    }

    /// The number of each document, which the catalog gives to those it does not know yet. Classes,
    /// sessions and topics are few beside memories: each is read and looked up once.
    fn numbered(&self, segment: &SegmentReader, catalog: &mut Catalog) -> Result<Arc<[Number]>> {
        let classes = texts(self.class.as_ref())?;
        let classes: Vec<Class> = (classes.iter())
            .map(|text| serde_json::from_str(text).map_err(|error| damaged().because(error)))
            .collect::<Result<_>>()?;
        let workspaces: Vec<_> = classes.iter().map(|it| it.reach.workspace.clone()).collect();
        let classes: Vec<u32> =
            classes.into_iter().map(|class| catalog.class_number(class)).collect();
        let (mut sessions, mut cases) =
            (Numbered::of(self.session.as_ref())?, Numbered::of(self.case.as_ref())?);
        let topics: Vec<u32> =
            texts(self.topic.as_ref())?.iter().map(|topic| catalog.name(topic)).collect();
        let mut numbers = Vec::with_capacity(segment.max_doc() as usize);
        catalog.reserve(segment.num_docs() as usize);
        for document in 0..segment.max_doc() {
            if segment.is_deleted(document) {
                numbers.push(NOBODY);
                continue;
            }
            let ord = first(self.class.as_ref(), document).ok_or_else(damaged)?;
            let class = *classes.get(ord).ok_or_else(damaged)?;
            let facts = self.facts(document).ok_or_else(damaged)?;
            if catalog.outlived(class, facts.id, facts.sequence) {
                numbers.push(NOBODY);
                continue;
            }
            if let Some(number) = catalog.number_in(class, facts.id)
                && catalog.entry(number).facts.sequence >= facts.sequence
            {
                catalog.leave_tail(number, facts.sequence);
                numbers.push(number);
                continue;
            }
            let place = (ord, workspaces[ord].as_str());
            let session = sessions.number(first(self.session.as_ref(), document), place, catalog);
            let case = cases.number(first(self.case.as_ref(), document), place, catalog);
            let about = ords(self.topic.as_ref(), document);
            let about = about.filter_map(|topic| topics.get(topic).copied()).collect();
            let (in_tail, written, gone) = (false, true, false);
            let entry =
                Entry { facts, class, session, case, topics: about, in_tail, written, gone };
            numbers.push(catalog.put_entry(entry, None));
        }
        Ok(numbers.into())
    }

    fn facts(&self, document: u32) -> Option<Facts> {
        let number = |place: usize| self.numbers.get(place)?.first(document);
        let id = |place: usize| Some(Uuid::from_u64_pair(number(place)?, number(place + 1)?));
        let (lengths, marks) = (number(6)?, number(7)?);
        let heir = id(2)?;
        let half = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or(0);
        Some(Facts {
            id: MemoryId::from_uuid(id(0)?),
            sequence: number(4)?,
            from: self.from.first(document)?,
            until: self.until.first(document)?,
            heir: (!heir.is_nil()).then(|| MemoryId::from_uuid(heir)),
            lengths: (half(lengths >> 32), half(lengths)),
            marks: Marks {
                first_person: half(marks >> 2),
                tells_time: marks & 2 != 0,
                updates: marks & 1 != 0,
            },
            print: number(5)?,
        })
    }
}

/// The names of a column that belong to a workspace, with the numbers that the catalog gives them.
struct Numbered {
    names: Vec<String>,
    numbers: FxHashMap<(usize, usize), u32>,
}

impl Numbered {
    fn of(column: Option<&StrColumn>) -> Result<Self> {
        Ok(Self { names: texts(column)?, numbers: FxHashMap::default() })
    }

    /// The number of a name in the workspace of a class; 0 where there is no name.
    fn number(
        &mut self,
        name: Option<usize>,
        (class, workspace): (usize, &str),
        catalog: &mut Catalog,
    ) -> u32 {
        let Some(ord) = name else { return 0 };
        *self.numbers.entry((class, ord)).or_insert_with(|| {
            let name = self.names.get(ord).map_or("", String::as_str);
            catalog.name_session(workspace, name)
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
