//! The words of memories on disk, in tantivy: its dictionary, postings, merges and commits. What is
//! counted and how much a word weighs is decided elsewhere; here stand only words and facts.

mod columns;
mod generation;
mod phrase;
mod tokens;

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::merge_policy::{LogMergePolicy, NoMergePolicy};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument, Term};

use super::damage::index_damage;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::index::facts::{self, MemoryDescription, TextSignals, WordLengths};
use crate::model::access::{Audience, Visibility};
use crate::model::workspace::Workspace;
use crate::store::SubjectChange;
use commonbook_text::terms::StemCache;

pub(super) use generation::{AudienceScope, IndexGeneration};

/// Which form the files have; another one is built anew.
const FORMAT_VERSION: u32 = 4;

/// Bytes that the indexing thread gathers before it writes a segment out.
const WRITER_MEMORY_BYTES: usize = 32 * 1024 * 1024;

/// Where the journal of each workspace was followed to.
pub(super) type JournalPositions = BTreeMap<Workspace, JournalPosition>;

/// A place in a journal, and what the event there is about: another event there means that the
/// store was put back to an older state, and the index is of another history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalPosition {
    pub(super) sequence: u64,
    pub(super) subject: String,
}

impl JournalPosition {
    /// The place of this event.
    pub(super) fn of(event: &SubjectChange) -> Self {
        Self { sequence: event.sequence, subject: event.subject.clone() }
    }

    /// Whether this event is the one at the place.
    pub(super) fn is_of(&self, event: &SubjectChange) -> bool {
        *self == Self::of(event)
    }
}

/// What a commit says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct CommitPayload {
    format: u32,
    places: JournalPositions,
}

/// The words of one part of a memory, in order, with a blank after each.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct WordSequence {
    text: String,
    count: u32,
}

impl WordSequence {
    /// Takes in the words of a text.
    pub(super) fn add(&mut self, text: &str, stems: &mut StemCache) {
        self.text.reserve(text.len() + 1);
        stems.each_term(text, |term| {
            self.text.push_str(term);
            self.text.push(' ');
            self.count += 1;
        });
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split_terminator(' ')
    }

    /// Whether these words stand in it one after the other.
    fn has_phrase(&self, phrase: &[String]) -> bool {
        let phrase: String = phrase.iter().flat_map(|word| [word, " "]).collect();
        self.text.starts_with(&phrase) || self.text.contains(&format!(" {phrase}"))
    }
}

/// The words of one memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MemoryWords {
    /// Those of title, topics and summary.
    pub(super) head: WordSequence,
    /// Those of the text.
    pub(super) body: WordSequence,
}

impl MemoryWords {
    /// How many words stand in each part.
    pub(super) fn lengths(&self) -> WordLengths {
        WordLengths { head: self.head.count, body: self.body.count }
    }

    /// Every word, as often as it stands there.
    pub(super) fn all_words(&self) -> impl Iterator<Item = &str> {
        self.head.words().chain(self.body.words())
    }

    /// How often each word stands in head and body.
    pub(super) fn counts(&self) -> FxHashMap<String, (u32, u32)> {
        let mut counts: FxHashMap<String, (u32, u32)> = FxHashMap::default();
        for word in self.head.words() {
            counts.entry(word.to_owned()).or_default().0 += 1;
        }
        for word in self.body.words() {
            counts.entry(word.to_owned()).or_default().1 += 1;
        }
        counts
    }

    /// Whether these words stand in one of its parts one after the other.
    pub(super) fn has_phrase(&self, phrase: &[String]) -> bool {
        self.head.has_phrase(phrase) || self.body.has_phrase(phrase)
    }
}

/// The numbers that the fields have in the schema.
#[derive(Debug, Clone, Copy)]
struct SchemaFields {
    key: Field,
    head: Field,
    body: Field,
    class: Field,
    session: Field,
    case: Field,
    topic: Field,
    /// `NUMBER_FIELDS`, in order.
    numbers: [Field; 8],
    from: Field,
    until: Field,
}

/// The facts that are kept as numbers: two halves of the id, two of the heir's.
const NUMBER_FIELDS: [&str; 8] =
    ["id0", "id1", "heir0", "heir1", "sequence", "print", "lengths", "marks"];

fn schema() -> (Schema, SchemaFields) {
    let mut schema = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer(tokens::TOKENIZER_NAME)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions)
        .set_fieldnorms(false);
    let words = TextOptions::default().set_indexing_options(words);
    let name = TextOptions::default().set_fast("raw");
    let fields = SchemaFields {
        key: schema.add_text_field("key", STRING),
        head: schema.add_text_field("head", words.clone()),
        body: schema.add_text_field("body", words),
        class: schema.add_text_field("class", name.clone()),
        session: schema.add_text_field("session", name.clone()),
        case: schema.add_text_field("case", name.clone()),
        topic: schema.add_text_field("topic", name),
        numbers: NUMBER_FIELDS.map(|number| schema.add_u64_field(number, FAST)),
        from: schema.add_i64_field("from", FAST),
        until: schema.add_i64_field("until", FAST),
    };
    (schema.build(), fields)
}

/// The key by which a memory's words are taken out again.
fn document_key(reach: &Visibility, id: MemoryId) -> String {
    format!("{} {id}", reach.workspace)
}

/// Opens the folder for reading and writing; makes it when it is not there.
fn open_index(folder: &Path) -> Result<Index> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("{} cannot be made", folder.display()))
            .hint("Look at the folder's permissions and its disk. Memories are kept all the same.")
            .with_cause(error)
    })?;
    let directory =
        MmapDirectory::open(folder).map_err(|error| index_damage().with_cause(error))?;
    let index = Index::builder()
        .schema(schema().0)
        .settings(IndexSettings::default())
        .open_or_create(directory)?;
    let terms = TextAnalyzer::from(tokens::AudienceTokenizer::default());
    index.tokenizers().register(tokens::TOKENIZER_NAME, terms);
    Ok(index)
}

/// The one who writes the words.
pub(super) struct TextWriter {
    writer: IndexWriter,
    fields: SchemaFields,
}

impl TextWriter {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let writer = open_index(folder)?.writer_with_num_threads(1, WRITER_MEMORY_BYTES)?;
        Ok(Self { writer, fields: schema().1 })
    }

    /// Puts a memory's words in. Those of an earlier state of it are taken out before, by
    /// [`TextWriter::remove`].
    pub(super) fn put(&mut self, described: &MemoryDescription, bag: &MemoryWords) -> Result<()> {
        let MemoryDescription { class, facts, session, case, topics } = described;
        let fields = self.fields;
        let mut document = TantivyDocument::new();
        document.add_text(fields.key, document_key(&class.reach, facts.id));
        let audience = facts::audience_key(&Audience::of(&class.reach));
        document.add_text(fields.head, audience.clone() + &bag.head.text);
        document.add_text(fields.body, audience + &bag.body.text);
        document.add_text(fields.class, encode_json(class)?);
        if let Some(session) = session {
            document.add_text(fields.session, session);
        }
        if let Some(case) = case {
            document.add_text(fields.case, case.as_str());
        }
        for topic in topics {
            document.add_text(fields.topic, topic);
        }
        let (id, heir) = (facts.id.uuid().as_u64_pair(), split_id(facts.heir));
        let lengths = u64::from(facts.lengths.head) << 32 | u64::from(facts.lengths.body);
        let TextSignals { first_person, tells_time, updates } = facts.marks;
        let marks = u64::from(first_person) << 2 | u64::from(tells_time) << 1 | u64::from(updates);
        let numbers = [id.0, id.1, heir.0, heir.1, facts.sequence, facts.print, lengths, marks];
        for (field, number) in fields.numbers.into_iter().zip(numbers) {
            document.add_u64(field, number);
        }
        document.add_i64(fields.from, facts.from);
        document.add_i64(fields.until, facts.until);
        self.writer.add_document(document)?;
        Ok(())
    }

    /// Takes a memory's words out.
    pub(super) fn remove(&mut self, reach: &Visibility, id: MemoryId) {
        self.writer.delete_term(Term::from_field_text(self.fields.key, &document_key(reach, id)));
    }

    /// Makes everything durable, as of these places.
    pub(super) fn commit(&mut self, places: &JournalPositions) -> Result<()> {
        let payload =
            encode_json(&CommitPayload { format: FORMAT_VERSION, places: places.clone() })?;
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&payload);
        prepared.commit()?;
        Ok(())
    }

    /// Writes the segments that something was taken out of anew, without it. Merges that are under
    /// way end first: a segment cannot be in two.
    pub(super) fn compact(self) -> Result<Self> {
        let index = self.writer.index().clone();
        self.writer.wait_merging_threads()?;
        let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_MEMORY_BYTES)?;
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
    pub(super) fn remove_unused_files(&self) -> Result<()> {
        self.writer.garbage_collect_files().wait()?;
        Ok(())
    }
}

fn split_id(id: Option<MemoryId>) -> (u64, u64) {
    id.map_or((0, 0), |id| id.uuid().as_u64_pair())
}

fn encode_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorKind::Internal, "the search index could not be written").with_cause(error)
    })
}
