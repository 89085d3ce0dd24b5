//! Writing: a command or a model that puts what a digest found into a sentence of its own.
//!
//! It is asked entry by entry, is told what the case's agents have shared and nothing else, and is
//! believed as little as anybody: its sentence is an entry like another, and one that tells a number
//! which no source has is none. Where it does not answer, the agent's own sentence stands.

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
use commonbook_text::string_enum;

string_enum! {
    /// Whose words a proposed entry is in.
    WriterKind {
        /// An agent's: a sentence of its memory.
        Extract = "extract",
        /// Those of the command in the settings.
        Command = "command",
        /// Those of the model at the endpoint in the settings.
        Endpoint = "endpoint",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro above makes the enum, for all alike")]
impl Default for WriterKind {
    fn default() -> Self {
        Self::Extract
    }
}

/// What a writer is told of one entry.
#[derive(Debug, Serialize)]
pub struct WriterRequest<'a> {
    /// The key of the case.
    pub case: &'a str,
    /// Its title.
    pub title: &'a str,
    /// The sentence of an agent that says it best.
    pub sentence: &'a str,
    /// The agents that say so.
    pub authors: &'a [Agent],
    /// What it is about.
    pub topics: &'a [String],
    /// The memories that say so, the one of the sentence first: ten at the most.
    pub sources: Vec<FactSource<'a>>,
    /// Characters of the sentence at the most.
    pub characters: usize,
}

/// A memory that says so.
#[derive(Debug, Serialize)]
pub struct FactSource<'a> {
    /// The memory.
    pub id: MemoryId,
    /// The agent that wrote it first.
    pub author: &'a Agent,
    /// Since when it holds.
    pub since: Timestamp,
    /// Its heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// What it says, or the beginning of it.
    pub text: &'a str,
}

/// Memories of which a writer is told, of one entry.
const WRITER_SOURCES_MAX: usize = 10;

/// Bytes of each of them at the most.
const SOURCE_BYTES_MAX: usize = 4_000;

/// What stands before an agent's own sentence in the text of an entry that a writer has written.
const OWN_WORDS_PREFIX: &str = "In the words of its first source: ";

impl<'a> WriterRequest<'a> {
    /// What is told of this entry, which was made of these memories.
    #[must_use]
    pub fn of(case: &'a Case, entry: &'a EntryProposal, given: &'a [DigestSource]) -> Self {
        let found = |id: &MemoryId| given.iter().find(|memory| memory.id == *id);
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

    /// What a writer wrote as a sentence that can be an entry: one line within the limit, no order to
    /// agents, without secrets, and with no number that was not in what it was told.
    ///
    /// # Errors
    /// `invalid` and `too_large` for what cannot.
    pub fn fit(&self, written: &str) -> Result<String> {
        let sentence = fit_line("summary", written, limits::SUMMARY_CHARS)?;
        let names = self.authors.iter().map(Agent::as_str).chain([self.case, self.title]);
        let texts = self.sources.iter().flat_map(|it| [it.title.unwrap_or_default(), it.text]);
        let told: BTreeSet<&str> =
            names.chain(texts).chain([self.sentence]).flat_map(numbers).collect();
        if let Some(number) = numbers(&sentence).find(|number| !told.contains(number)) {
            return Err(Error::invalid("summary", format!("no source says {number}")));
        }
        Ok(sentence)
    }
}

/// The digits of a text, as far as they stand together.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_numeric()).filter(|number| !number.is_empty())
}

/// A writer that several threads use.
pub type DigestWriterHandle = Arc<dyn DigestWriter>;

/// What writes the sentence of an entry.
///
/// # Laws
/// - **It comes back in the time that it is given**, and leaves nothing behind that still runs.
/// - **It answers a text and judges nothing**: whether that is an entry is decided here.
/// - **It is asked outside of every transaction.**
pub trait DigestWriter: Send + Sync {
    /// What it is.
    fn kind(&self) -> WriterKind;

    /// A sentence for this.
    ///
    /// # Errors
    /// `unavailable` when it cannot be asked, fails, or has not answered in time. It is not asked for
    /// the other entries of the digest then.
    fn write(&self, facts: &WriterRequest<'_>, within: Duration) -> Result<String>;
}

impl EntryProposal {
    /// The same in other words; the agent's own stay with it.
    #[must_use]
    pub fn with_wording(self, writer: WriterKind, sentence: String) -> Self {
        let extract = Some(self.summary);
        Self { summary: sentence, extract, written_by: writer, ..self }
    }

    /// What the text of its entry says before it names the sources.
    pub(super) fn own_words(&self) -> String {
        self.extract.as_ref().map(|own| format!("{OWN_WORDS_PREFIX}{own}\n")).unwrap_or_default()
    }
}

/// What an entry says, for comparing: its summary, and the sentence that a writer made that of.
pub fn entry_texts<'a>(summary: Option<&'a str>, text: &'a str) -> impl Iterator<Item = &'a str> {
    let own = text.lines().next().and_then(|line| line.strip_prefix(OWN_WORDS_PREFIX));
    summary.into_iter().chain(own)
}

#[cfg(test)]
mod tests;
