//! Setup: writes the MCP server and the hooks into the files of a client, and removes them again.
//!
//! Setup edits files as text. It splices our parts in and keeps everything else: comments, unknown
//! keys, order, whitespace. It records each splice with the text that it replaced, so that an undo
//! restores the same bytes. If the client or its user has changed the file since, the undo finds our
//! parts by their keys and removes only them.

mod block;
pub(crate) mod clients;
pub(crate) mod install;
mod json;
pub(crate) mod ledger;
pub(crate) mod plugin;
mod splice;
#[cfg(test)]
mod tests;
mod toml;
pub(crate) mod trust;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use commonbook::base::error::{Error, Result};
use splice::TextSplice;

/// The content to write into a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FileContent {
    /// Entries of a JSON file, with or without comments.
    Json(Vec<JsonEntry>),
    /// A TOML table, by its path, with these keys.
    Toml(Vec<String>, Map<String, Value>),
    /// A block between marks in a Markdown file.
    Block(String),
    /// A whole file of our own.
    Whole(String),
}

/// An entry of a JSON file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JsonEntry {
    /// The value at a path.
    Set {
        /// The path.
        path: Vec<String>,
        /// The value.
        value: Value,
    },
    /// A value that the file needs whatever else it has, such as its version: an existing one stays, and an undo
    /// removes it with the last value beside it.
    Need {
        /// The path.
        path: Vec<String>,
        /// The value.
        value: Value,
    },
    /// An additional item of the list at a path.
    Push {
        /// The path.
        path: Vec<String>,
        /// The item.
        value: Value,
        /// Our item contains all of these texts.
        mark: Vec<String>,
    },
}

/// The record of what was written into a file, by which an undo removes it. The ledger stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct UndoRecord {
    /// The file before the first change.
    was: OriginalContent,
    /// Each change, in order.
    done: Vec<FileEdit>,
}

/// A file before the first change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OriginalContent {
    /// It did not exist.
    Missing,
    /// It contained only this whitespace.
    Blank(String),
    /// It contained text.
    Text,
}

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FileEdit {
    what: EditTarget,
    splice: TextSplice,
    /// Whether it replaced a value of the user's own, which an undo restores.
    replaced: bool,
}

/// The target of an edit, by which an undo finds it in a file that others have changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EditTarget {
    /// An entry, with the paths of the objects and lists that were created for it.
    Entry(JsonEntry, Vec<Vec<String>>),
    Table(Vec<String>),
    Block,
    Whole,
}

/// A file after a change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApplyResult {
    /// Its text.
    pub(crate) text: String,
    /// The record for an undo.
    pub(crate) record: UndoRecord,
    /// Whether the text differs from before.
    pub(crate) changed: bool,
}

impl FileContent {
    /// The text of a file with this content in it. `text` is the present text, if the file exists, and
    /// `earlier` the record of the last setup. A file that already has the content does not change.
    ///
    /// # Errors
    /// `conflict` if the file does not have its format, has another value where our content belongs,
    /// or is a file that commonbook did not write.
    pub(crate) fn apply(
        &self,
        text: Option<&str>,
        earlier: Option<&UndoRecord>,
    ) -> Result<ApplyResult> {
        if let Some(text) = text
            && self.is_in(text)?
        {
            let record = earlier
                .cloned()
                .unwrap_or(UndoRecord { was: OriginalContent::Text, done: Vec::new() });
            return Ok(ApplyResult { text: text.to_owned(), record, changed: false });
        }
        // Undo the last setup first, so that its record of the original text is not lost.
        let undone = match (text, earlier) {
            (Some(text), Some(earlier)) => earlier.undo(text)?,
            (text, _) => text.map(str::to_owned),
        };
        let was = match &undone {
            None => OriginalContent::Missing,
            Some(text) if without_byte_order_mark(text).trim().is_empty() => {
                OriginalContent::Blank(text.clone())
            }
            Some(_) => OriginalContent::Text,
        };
        let start = match undone {
            Some(text) if was == OriginalContent::Text => text,
            _ => self.empty_text().to_owned(),
        };
        let (text_now, done) = self.write(&start)?;
        let changed = text != Some(text_now.as_str());
        Ok(ApplyResult { text: text_now, record: UndoRecord { was, done }, changed })
    }

    /// The text of a file without this content, if there is no record: removes what looks like ours,
    /// and containers that become empty. Returns `None` if nothing else is left.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub(crate) fn remove(&self, text: &str) -> Result<Option<String>> {
        let done = self.edit_targets().into_iter().map(|what| FileEdit {
            what,
            splice: TextSplice::default(),
            replaced: false,
        });
        let whole = || Some(text.to_owned());
        if matches!(self, Self::Json(_)) && without_byte_order_mark(text).trim().is_empty() {
            return Ok(whole());
        }
        let (was, done) = (OriginalContent::Text, done.collect());
        let ours = UndoRecord { was, done };
        // A file without our content stays, even if it is nearly empty.
        if ours.undo(text)? == whole() {
            return Ok(whole());
        }
        UndoRecord { was: OriginalContent::Missing, ..ours }.undo(text)
    }

    /// The text of an empty file of this format.
    const fn empty_text(&self) -> &'static str {
        if matches!(self, Self::Json(_)) { "{}\n" } else { "" }
    }

    fn is_in(&self, text: &str) -> Result<bool> {
        Ok(match self {
            Self::Json(_) if without_byte_order_mark(text).trim().is_empty() => false,
            Self::Json(entries) => {
                let file = json::JsonFile::parse(text)?;
                entries.iter().all(|entry| file.has(entry))
            }
            Self::Toml(path, keys) => toml::has(text, path, keys)?,
            Self::Block(inner) => block::has(text, inner),
            Self::Whole(whole) => text == whole,
        })
    }

    fn write(&self, text: &str) -> Result<(String, Vec<FileEdit>)> {
        match self {
            Self::Json(entries) => {
                let (mut text, mut done) = (text.to_owned(), Vec::new());
                for entry in entries {
                    let (next, change) = json::write(&text, entry)?;
                    text = next;
                    done.extend(change);
                }
                Ok((text, done))
            }
            Self::Toml(path, keys) => {
                toml::write(text, path, keys).map(|(text, done)| (text, vec![done]))
            }
            Self::Block(inner) => {
                let splice = block::write(text, inner);
                let next = splice.splice_into(text);
                Ok((next, vec![FileEdit { what: EditTarget::Block, splice, replaced: false }]))
            }
            Self::Whole(whole) => {
                let ours =
                    |text: &str| text.trim().is_empty() || text.contains(clients::OWN_FILE_WORD);
                if !ours(text) {
                    return Err(conflict(
                        "the file already exists, and commonbook did not write it",
                    )
                    .hint("Move it away, then run the setup again."));
                }
                let splice = TextSplice { at: 0, before: text.to_owned(), after: whole.clone() };
                Ok((
                    whole.clone(),
                    vec![FileEdit { what: EditTarget::Whole, splice, replaced: false }],
                ))
            }
        }
    }

    /// The targets of this content.
    fn edit_targets(&self) -> Vec<EditTarget> {
        let made = |path: &[String]| (1..path.len()).map(|end| path[..end].to_vec()).collect();
        match self {
            Self::Json(entries) => entries
                .iter()
                .map(|entry| match entry {
                    JsonEntry::Set { path, .. } | JsonEntry::Need { path, .. } => {
                        EditTarget::Entry(entry.clone(), made(path))
                    }
                    JsonEntry::Push { path, .. } => {
                        let mut made: Vec<Vec<String>> = made(path);
                        made.push(path.clone());
                        EditTarget::Entry(entry.clone(), made)
                    }
                })
                .collect(),
            Self::Toml(path, _) => vec![EditTarget::Table(path.clone())],
            Self::Block(_) => vec![EditTarget::Block],
            Self::Whole(_) => vec![EditTarget::Whole],
        }
    }
}

impl UndoRecord {
    /// The text of a file as it was before, with the later changes of others. Returns `None` if the
    /// file did not exist before and nothing else is left in it.
    ///
    /// # Errors
    /// As [`FileContent::apply`].
    pub(crate) fn undo(&self, text: &str) -> Result<Option<String>> {
        let mut text = text.to_owned();
        for done in self.done.iter().rev() {
            text = done.undo(&text, &self.was)?;
        }
        let left = without_byte_order_mark(&text).trim();
        // An empty JSON file is an empty object.
        let nothing = left.is_empty() || left.split_whitespace().collect::<String>() == "{}";
        Ok(match &self.was {
            OriginalContent::Missing if nothing => None,
            OriginalContent::Blank(blank) if nothing => Some(blank.clone()),
            _ => Some(text),
        })
    }
}

impl FileEdit {
    fn undo(&self, text: &str, was: &OriginalContent) -> Result<String> {
        if let Some(before) = self.splice.revert_from(text)
            && self.is_sound(&before, was)
        {
            return Ok(before);
        }
        match &self.what {
            EditTarget::Entry(entry, made) => {
                json::remove(text, entry, made, self.replaced.then_some(&self.splice.before))
            }
            EditTarget::Table(path) => toml::remove(text, path),
            EditTarget::Block => Ok(block::remove(text)),
            EditTarget::Whole if text.contains(clients::OWN_FILE_WORD) => {
                Ok(self.splice.before.clone())
            }
            EditTarget::Whole => Ok(text.to_owned()),
        }
    }

    /// Whether a text still has its format after a splice was reverted.
    fn is_sound(&self, text: &str, was: &OriginalContent) -> bool {
        match &self.what {
            // What others wrote into a file that setup made needs it.
            EditTarget::Entry(JsonEntry::Need { path, .. }, _) if *was != OriginalContent::Text => {
                json::JsonFile::parse(text).is_ok_and(|file| file.siblings(path) == 0)
            }
            EditTarget::Entry(..) => json::JsonFile::parse(text).is_ok(),
            EditTarget::Table(_) => toml::is_sound(text),
            EditTarget::Block | EditTarget::Whole => true,
        }
    }
}

/// A text without a byte order mark.
fn without_byte_order_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// The line end that a text uses.
fn line_ending(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn conflict(message: impl Into<String>) -> Error {
    Error::conflict(message)
}
