//! Setup: what is written into the files of a client so that it finds Commonbook, and taken out
//! again.
//!
//! Files are changed as texts. What is ours is spliced in, and everything else stays as it is:
//! comments, keys that nobody here knows, the order, the blanks. Every splice is recorded with what
//! stood there before; taking it back gives the same bytes. Where the client or its user has
//! written to the file since, what is ours is found by its key and taken out alone.

mod block;
pub(crate) mod clients;
pub(crate) mod install;
mod json;
pub(crate) mod ledger;
mod splice;
#[cfg(test)]
mod tests;
mod toml;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use commonbook::base::error::{Error, Result};
use splice::TextSplice;

/// What is to stand in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FileContent {
    /// These entries in JSON, which may have comments.
    Json(Vec<JsonEntry>),
    /// A table in TOML, by its name with points, with these keys.
    Toml(Vec<String>, Map<String, Value>),
    /// A block between marks in Markdown.
    Block(String),
    /// The whole file, which is ours.
    Whole(String),
}

/// An entry in a file of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JsonEntry {
    /// The value of a key, by the path that leads to it.
    Set {
        /// The path.
        path: Vec<String>,
        /// The value.
        value: Value,
    },
    /// One more thing in a list, by the path that leads to it.
    Push {
        /// The path.
        path: Vec<String>,
        /// The thing.
        value: Value,
        /// The words by which ours are known in such a list: each stands in some text of the thing.
        mark: Vec<String>,
    },
}

/// What was written into a file, so that it can be taken out again. Kept in the home folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct UndoRecord {
    /// What the file was before.
    was: OriginalContent,
    /// Each change, in order.
    done: Vec<FileEdit>,
}

/// What a file was before the first change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OriginalContent {
    /// It was not there.
    Missing,
    /// It had nothing but these blanks in it.
    Blank(String),
    /// It said something.
    Text,
}

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FileEdit {
    what: EditTarget,
    splice: TextSplice,
    /// Whether something of the user's own stood in its place, which comes back.
    replaced: bool,
}

/// What a change is about, by which it is found when the file was changed since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EditTarget {
    /// An entry, with the paths of the objects and lists that were made for it.
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
    /// By what the change is taken back.
    pub(crate) record: UndoRecord,
    /// Whether the text is another than before.
    pub(crate) changed: bool,
}

impl FileContent {
    /// A file's text with this content in it. `text` is what the file says, if it is there, and
    /// `earlier` what was recorded when something of ours was last written into it. A file that has
    /// it all stays as it is.
    ///
    /// # Errors
    /// `conflict` for a file that is not of its format, that has something else where ours belongs,
    /// or that is not ours to write.
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
        // What was written last time makes room first, so that what stood there before is not lost.
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

    /// A file's text without this content, where nothing was recorded: what looks like ours is taken
    /// out, and with it what is empty then. Nothing when nothing else is left.
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
        // A file with nothing of ours in it is somebody else's, however little it says.
        if ours.undo(text)? == whole() {
            return Ok(whole());
        }
        UndoRecord { was: OriginalContent::Missing, ..ours }.undo(text)
    }

    /// What a file of this format says when it says nothing.
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
                    return Err(conflict("the file is there already, and it is not ours")
                        .hint("Move it away, and run the setup again."));
                }
                let splice = TextSplice { at: 0, before: text.to_owned(), after: whole.clone() };
                Ok((
                    whole.clone(),
                    vec![FileEdit { what: EditTarget::Whole, splice, replaced: false }],
                ))
            }
        }
    }

    /// All that this content is about.
    fn edit_targets(&self) -> Vec<EditTarget> {
        let made = |path: &[String]| (1..path.len()).map(|end| path[..end].to_vec()).collect();
        match self {
            Self::Json(entries) => entries
                .iter()
                .map(|entry| match entry {
                    JsonEntry::Set { path, .. } => EditTarget::Entry(entry.clone(), made(path)),
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
    /// A file's text as it was before, but for what others have written to it since. Nothing when
    /// there was no file, and nothing else is left in it.
    ///
    /// # Errors
    /// As [`FileContent::apply`].
    pub(crate) fn undo(&self, text: &str) -> Result<Option<String>> {
        let mut text = text.to_owned();
        for done in self.done.iter().rev() {
            text = done.undo(&text)?;
        }
        let left = without_byte_order_mark(&text).trim();
        // Of JSON what is left of nothing is an empty object.
        let nothing = left.is_empty() || left.split_whitespace().collect::<String>() == "{}";
        Ok(match &self.was {
            OriginalContent::Missing if nothing => None,
            OriginalContent::Blank(blank) if nothing => Some(blank.clone()),
            _ => Some(text),
        })
    }
}

impl FileEdit {
    fn undo(&self, text: &str) -> Result<String> {
        if let Some(before) = self.splice.revert_from(text)
            && self.is_sound(&before)
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

    /// Whether a text is still of its format when a splice was taken back.
    fn is_sound(&self, text: &str) -> bool {
        match &self.what {
            EditTarget::Entry(..) => json::JsonFile::parse(text).is_ok(),
            EditTarget::Table(_) => toml::is_sound(text),
            EditTarget::Block | EditTarget::Whole => true,
        }
    }
}

/// A text without the mark that some editors put at its beginning.
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
