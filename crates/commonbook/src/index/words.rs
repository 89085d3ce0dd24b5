//! The words of memories on disk, in tantivy: dictionary, postings, merges and commits. This module
//! stores words and facts; counting and weighting happen elsewhere.

mod columns;
mod directory;
mod generation;
mod phrase;
mod tokens;

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use tantivy::merge_policy::{LogMergePolicy, NoMergePolicy};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument, Term};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::index::facts::{self, MemoryDescription, TextSignals, WordLengths};
use crate::model::access::{Audience, Visibility};
use crate::model::workspace::Workspace;
use crate::store::SubjectChange;
use commonbook_text::terms::StemCache;

use directory::WordsDirectory;
pub(super) use generation::{AudienceScope, IndexGeneration};

/// The format of the files; files of another format are rebuilt.
const FORMAT_VERSION: u32 = 7;

/// Bytes that the indexing thread gathers before it writes a segment.
const WRITER_MEMORY_BYTES: usize = 32 * 1024 * 1024;

/// The position to which each workspace's journal was followed.
pub(super) type JournalPositions = BTreeMap<Workspace, JournalPosition>;

/// A journal position, and the subject of the event there. Another subject at this position means
/// that the store was restored from a backup, and the index belongs to another history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalPosition {
    pub(super) sequence: u64,
    pub(super) subject: String,
}

impl JournalPosition {
    /// The position of this event.
    pub(super) fn of(event: &SubjectChange) -> Self {
        Self { sequence: event.sequence, subject: event.subject.clone() }
    }

    /// Whether this event is the one at the position.
    pub(super) fn is_of(&self, event: &SubjectChange) -> bool {
        *self == Self::of(event)
    }
}

/// The payload of a commit.
#[derive(Debug, Serialize, Deserialize)]
struct CommitPayload {
    format: u32,
    #[serde(rename = "places")]
    positions: JournalPositions,
}

/// The words of one part of a memory in order, each followed by a space.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct WordSequence {
    text: String,
    count: u32,
}

impl WordSequence {
    /// Adds the words of a text.
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

    /// Whether it contains the phrase.
    fn has_phrase(&self, phrase: &[String]) -> bool {
        let phrase: String = phrase.iter().flat_map(|word| [word, " "]).collect();
        self.text.starts_with(&phrase) || self.text.contains(&format!(" {phrase}"))
    }
}

/// The words of one memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MemoryWords {
    /// Words of title, topics and summary.
    pub(super) head: WordSequence,
    /// Words of the text.
    pub(super) body: WordSequence,
}

impl MemoryWords {
    /// The number of words in each part.
    pub(super) fn lengths(&self) -> WordLengths {
        WordLengths { head: self.head.count, body: self.body.count }
    }

    /// Every word with its repetitions.
    pub(super) fn all_words(&self) -> impl Iterator<Item = &str> {
        self.head.words().chain(self.body.words())
    }

    /// The number of each word in head and body.
    pub(super) fn counts(&self) -> WordCounts {
        let mut all: Vec<WordCount> = Vec::new();
        for (part, is_head) in [(&self.head, true), (&self.body, false)] {
            let mut start = 0;
            for word in part.words() {
                let (head, body) = (u32::from(is_head), u32::from(!is_head));
                all.push(WordCount { hash: word_hash(word), start, head, body });
                start += u32::try_from(word.len() + 1).unwrap_or(u32::MAX);
            }
        }
        all.sort_unstable_by(|a, b| {
            a.hash
                .cmp(&b.hash)
                .then_with(|| self.word(a).cmp(self.word(b)))
                .then_with(|| b.head.cmp(&a.head))
                .then_with(|| a.start.cmp(&b.start))
        });
        let mut counts: Vec<WordCount> = Vec::new();
        for one in all {
            match counts.last_mut().filter(|last| self.word(last) == self.word(&one)) {
                Some(last) => (last.head, last.body) = (last.head + one.head, last.body + one.body),
                None => counts.push(one),
            }
        }
        WordCounts(counts.into())
    }

    /// The word of a count.
    fn word(&self, count: &WordCount) -> &str {
        let part = if count.head > 0 { &self.head } else { &self.body };
        let rest = part.text.get(count.start as usize..).unwrap_or_default();
        rest.split_once(' ').map_or(rest, |(word, _)| word)
    }

    /// The number of a word in head and body, by the counts of these words.
    pub(super) fn count_of(&self, counts: &WordCounts, word: &str) -> (u32, u32) {
        let hash = word_hash(word);
        let first = counts.0.partition_point(|count| count.hash < hash);
        let mut alike = counts.0[first..].iter().take_while(|count| count.hash == hash);
        let found = alike.find(|count| self.word(count) == word);
        found.map_or((0, 0), |count| (count.head, count.body))
    }

    /// Whether one of its parts contains the phrase.
    pub(super) fn has_phrase(&self, phrase: &[String]) -> bool {
        self.head.has_phrase(phrase) || self.body.has_phrase(phrase)
    }
}

/// The number of each word of a memory, by the words' hashes: a fifth of the memory of a map by words.
#[derive(Debug)]
pub(super) struct WordCounts(Box<[WordCount]>);

/// A word, by its place in the head, or in the body if the head lacks it.
#[derive(Debug)]
struct WordCount {
    hash: u32,
    start: u32,
    /// How often it is in each part.
    head: u32,
    body: u32,
}

fn word_hash(word: &str) -> u32 {
    let mut hasher = FxHasher::default();
    word.hash(&mut hasher);
    (hasher.finish() >> 32) as u32
}

/// The field numbers in the schema.
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

/// The facts stored as numbers: two halves of the id, two of the successor's.
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

/// The term by which a memory's words are deleted.
fn document_key(visibility: &Visibility, id: MemoryId) -> String {
    format!("{} {id}", visibility.workspace)
}

/// Opens the folder for reading and writing; creates it if needed.
fn open_index(folder: &Path) -> Result<Index> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::new(
            ErrorKind::Unavailable,
            format!("the folder {} cannot be created", folder.display()),
        )
        .hint("Check the folder's permissions and its disk. Memories are saved nevertheless.")
        .with_cause(error)
    })?;
    let directory = WordsDirectory::open(folder)?;
    let index = Index::builder()
        .schema(schema().0)
        .settings(IndexSettings::default())
        .open_or_create(directory)?;
    let terms = TextAnalyzer::from(tokens::AudienceTokenizer::default());
    index.tokenizers().register(tokens::TOKENIZER_NAME, terms);
    Ok(index)
}

/// The writer of the words.
pub(super) struct TextWriter {
    writer: IndexWriter,
    fields: SchemaFields,
}

impl TextWriter {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let writer = open_index(folder)?.writer_with_num_threads(1, WRITER_MEMORY_BYTES)?;
        Ok(Self { writer, fields: schema().1 })
    }

    /// Adds a memory's words. [`TextWriter::remove`] must delete those of an earlier state before.
    pub(super) fn put(&mut self, described: &MemoryDescription, words: &MemoryWords) -> Result<()> {
        let MemoryDescription { class, facts, session, case, topics } = described;
        let fields = self.fields;
        let mut document = TantivyDocument::new();
        document.add_text(fields.key, document_key(&class.visibility, facts.id));
        let audience = facts::audience_key(&Audience::of(&class.visibility));
        document.add_text(fields.head, audience.clone() + &words.head.text);
        document.add_text(fields.body, audience + &words.body.text);
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
        let (id, successor) = (facts.id.uuid().as_u64_pair(), split_id(facts.successor));
        let lengths = u64::from(facts.lengths.head) << 32 | u64::from(facts.lengths.body);
        let TextSignals { first_person, tells_time, updates, addresses, asks } = facts.signals;
        let flags = [asks, addresses, tells_time, updates];
        let flags = flags.into_iter().fold(0, |bits, flag| bits << 1 | u64::from(flag));
        let signals = u64::from(first_person) << 4 | flags;
        let numbers = [
            id.0,
            id.1,
            successor.0,
            successor.1,
            facts.sequence,
            facts.fingerprint,
            lengths,
            signals,
        ];
        for (field, number) in fields.numbers.into_iter().zip(numbers) {
            document.add_u64(field, number);
        }
        document.add_i64(fields.from, facts.from);
        document.add_i64(fields.until, facts.until);
        self.writer.add_document(document)?;
        Ok(())
    }

    /// Deletes a memory's words.
    pub(super) fn remove(&mut self, visibility: &Visibility, id: MemoryId) {
        self.writer
            .delete_term(Term::from_field_text(self.fields.key, &document_key(visibility, id)));
    }

    /// Writes everything to its files, as of these positions.
    pub(super) fn commit(&mut self, positions: &JournalPositions) -> Result<()> {
        let payload =
            encode_json(&CommitPayload { format: FORMAT_VERSION, positions: positions.clone() })?;
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&payload);
        prepared.commit()?;
        Ok(())
    }

    /// Rewrites the segments with deleted words. Waits for running merges: a segment cannot be in
    /// two merges.
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

    /// Deletes the files that this process no longer reads.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_counted_in_head_and_body() {
        let (mut words, mut stems) = (MemoryWords::default(), StemCache::default());
        words.head.add("heron river heron", &mut stems);
        words.head.add("gate", &mut stems);
        words.body.add("The river, a gate; river water", &mut stems);
        let counts = words.counts();
        let of = |word| words.count_of(&counts, word);
        assert_eq!([of("heron"), of("river"), of("gate")], [(2, 0), (1, 2), (1, 1)]);
        assert_eq!([of("water"), of("wat"), of("her"), of("")], [(0, 1), (0, 0), (0, 0), (0, 0)]);
        let all = words.all_words().count() as u32;
        assert_eq!(counts.0.iter().map(|count| count.head + count.body).sum::<u32>(), all);
        let none = MemoryWords::default();
        assert_eq!(none.count_of(&none.counts(), "heron"), (0, 0));
    }
}
