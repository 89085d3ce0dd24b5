//! The upkeep of the word index: what a write changes of it waits until its whole group commits.
//!
//! FTS5 writes out what it has gathered at every savepoint, and every verb has one: kept up verb by
//! verb, the index would cost each save more than all the rest together. So the changes of a group
//! are put in at its end, in the same transaction, and written out once.

use rusqlite::Connection;

use super::row::encoded;
use crate::error::Result;
use crate::memory::Memory;

/// The words of one memory, as the columns of its row have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    title: Option<String>,
    topics: String,
    summary: Option<String>,
    text: String,
}

impl Words {
    pub(super) fn of(memory: &Memory) -> Result<Self> {
        Ok(Self {
            title: memory.title.clone(),
            topics: encoded(&memory.topics)?,
            summary: memory.summary.clone(),
            text: memory.text.clone(),
        })
    }
}

/// A change of the index: the words that a row had, and those that it has now.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) number: i64,
    pub(super) before: Option<Words>,
    pub(super) after: Option<Words>,
}

/// Puts the changes in, in order.
pub(super) fn apply(connection: &Connection, changes: &[Change]) -> Result<()> {
    let forget = "INSERT INTO memory_words (memory_words, rowid, title, topics, summary, text) \
                  VALUES ('delete', ?1, ?2, ?3, ?4, ?5)";
    let learn = "INSERT INTO memory_words (rowid, title, topics, summary, text) \
                 VALUES (?1, ?2, ?3, ?4, ?5)";
    for change in changes {
        for (sql, words) in [(forget, &change.before), (learn, &change.after)] {
            let Some(Words { title, topics, summary, text }) = words else { continue };
            let mut statement = connection.prepare_cached(sql)?;
            statement.execute((change.number, title, topics, summary, text))?;
        }
    }
    Ok(())
}
