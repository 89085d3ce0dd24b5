//! Writing: a command or a model rewords what a digest found.
//!
//! The writer is called entry by entry and sees only what the case's agents have shared. Its output
//! is not trusted: it passes the checks of every entry, and a sentence with a number that no source
//! has is refused. If the writer fails, the agent's own sentence stays.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::agent::Agent;
use crate::model::case::Case;
use crate::model::case::digest::{DigestSource, EntryProposal};
use crate::model::memory::fit_line;
use commonbook_text::personal::without_personal_data;
use commonbook_text::string_enum;

string_enum! {
    /// Who worded a proposed entry.
    WriterKind {
        /// An agent: it is a sentence of its memory.
        Extract = "extract",
        /// The configured command.
        Command = "command",
        /// The model at the configured endpoint.
        Endpoint = "endpoint",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for WriterKind {
    fn default() -> Self {
        Self::Extract
    }
}

/// What a writer receives for one entry.
#[derive(Debug, Serialize)]
pub struct WriterRequest<'a> {
    /// The key of the case.
    pub case: &'a str,
    /// The title of the case.
    pub title: &'a str,
    /// The best sentence of an agent.
    pub sentence: &'a str,
    /// The agents that state it.
    pub authors: &'a [Agent],
    /// Its topics.
    pub topics: &'a [String],
    /// The memories that state it, at most ten; the one that the sentence comes from is first.
    pub sources: Vec<FactSource<'a>>,
    /// Maximum length of the new sentence, in characters.
    pub characters: usize,
}

/// A memory that states the fact.
#[derive(Debug, Serialize)]
pub struct FactSource<'a> {
    /// The memory's id.
    pub id: MemoryId,
    /// The agent that wrote it first.
    pub author: &'a Agent,
    /// The start of the time in which it holds.
    pub since: Timestamp,
    /// Its heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// Its text, or the beginning of it.
    pub text: &'a str,
}

/// Memories that a writer receives per entry.
const WRITER_SOURCES_MAX: usize = 10;

/// Maximum length of each of them, in bytes.
const SOURCE_BYTES_MAX: usize = 4_000;

/// Precedes an agent's own sentence in the text of a reworded entry.
const OWN_WORDS_PREFIX: &str = "In the words of its first source: ";

/// Stands between an author and what it says, in an entry about a contradiction.
pub(super) const SAYS: &str = " says: ";

impl<'a> WriterRequest<'a> {
    /// The request for this entry, which was made of these memories.
    #[must_use]
    pub fn of(case: &'a Case, entry: &'a EntryProposal, memories: &'a [DigestSource]) -> Self {
        let found = |id: &MemoryId| memories.iter().find(|memory| memory.id == *id);
        let source = |memory: &'a DigestSource| FactSource {
            id: memory.id,
            author: &memory.author,
            since: memory.since,
            title: memory.title.as_deref(),
            text: &memory.text[..memory.text.floor_char_boundary(SOURCE_BYTES_MAX)],
        };
        Self {
            case: case.key.as_str(),
            title: &case.title,
            sentence: &entry.summary,
            authors: &entry.authors,
            topics: &entry.topics,
            sources: entry
                .sources
                .iter()
                .take(WRITER_SOURCES_MAX)
                .filter_map(found)
                .map(source)
                .collect(),
            characters: limits::SUMMARY_CHARS,
        }
    }

    /// Checks a writer's sentence: one line within the limit, no orders to agents, no secrets, and
    /// no number that the request does not contain.
    ///
    /// # Errors
    /// `invalid` or `too_large`.
    pub fn fit(&self, written: &str) -> Result<String> {
        let sentence = fit_line("summary", written, limits::SUMMARY_CHARS)?;
        let names = self.authors.iter().map(Agent::as_str).chain([self.case, self.title]);
        let texts =
            self.sources.iter().flat_map(|source| [source.title.unwrap_or_default(), source.text]);
        let allowed: BTreeSet<&str> =
            names.chain(texts).chain([self.sentence]).flat_map(numbers).collect();
        if let Some(number) = numbers(&sentence).find(|number| !allowed.contains(number)) {
            return Err(Error::invalid("summary", format!("the number {number} is in no source")));
        }
        Ok(sentence)
    }
}

/// The runs of digits in a text.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_numeric()).filter(|number| !number.is_empty())
}

/// A writer that several threads share.
pub type DigestWriterHandle = Arc<dyn DigestWriter>;

/// Words the sentence of an entry.
///
/// # Laws
/// - **It returns in time**, and leaves nothing running.
/// - **It returns a text and decides nothing**: the caller checks whether the text can be an entry.
/// - **It is called outside of every transaction.**
pub trait DigestWriter: Send + Sync {
    /// The kind of this writer.
    fn kind(&self) -> WriterKind;

    /// A sentence for these facts.
    ///
    /// # Errors
    /// `unavailable` if the writer cannot be reached, fails, or is too slow. The digest then does
    /// not call it for its other entries.
    fn write(&self, facts: &WriterRequest<'_>, within: Duration) -> Result<String>;
}

impl EntryProposal {
    /// The proposal in other words; keeps the agent's own sentence.
    #[must_use]
    pub fn with_wording(self, writer: WriterKind, sentence: &str) -> Self {
        let extract = Some(self.summary);
        let sentence = without_personal_data(sentence).into_owned();
        Self { summary: sentence, extract, written_by: writer, ..self }
    }

    /// The lines of the entry's text with the two sides of a contradiction.
    pub(super) fn side_lines(&self) -> String {
        self.sides.iter().map(|side| format!("{}{SAYS}{}\n", side.said_by, side.text)).collect()
    }

    /// The part of the entry's text before its sources.
    pub(super) fn own_words(&self) -> String {
        self.extract.as_ref().map(|own| format!("{OWN_WORDS_PREFIX}{own}\n")).unwrap_or_default()
    }
}

/// What an entry says, for comparison: its summary, the sentence that a writer reworded, and each
/// side of a contradiction.
pub fn entry_texts<'a>(summary: Option<&'a str>, text: &'a str) -> impl Iterator<Item = &'a str> {
    let own = text.lines().next().and_then(|line| line.strip_prefix(OWN_WORDS_PREFIX));
    let sides = text.lines().filter_map(|line| line.split_once(SAYS)).map(|(_, side)| side);
    summary.into_iter().chain(own).chain(sides)
}

#[cfg(test)]
mod tests;
