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
use splice::Splice;

/// What is to stand in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// These entries in JSON, which may have comments.
    Json(Vec<Entry>),
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
pub(crate) enum Entry {
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
pub(crate) struct Record {
    /// What the file was before.
    was: Was,
    /// Each change, in order.
    done: Vec<Done>,
}

/// What a file was before the first change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Was {
    /// It was not there.
    Missing,
    /// It had nothing but these blanks in it.
    Blank(String),
    /// It said something.
    Text,
}

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Done {
    what: What,
    splice: Splice,
    /// Whether something of the user's own stood in its place, which comes back.
    replaced: bool,
}

/// What a change is about, by which it is found when the file was changed since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    /// An entry, with the paths of the objects and lists that were made for it.
    Entry(Entry, Vec<Vec<String>>),
    Table(Vec<String>),
    Block,
    Whole,
}

/// A file after a change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Applied {
    /// Its text.
    pub(crate) text: String,
    /// By what the change is taken back.
    pub(crate) record: Record,
    /// Whether the text is another than before.
    pub(crate) changed: bool,
}

impl Content {
    /// A file's text with this content in it. `text` is what the file says, if it is there, and
    /// `earlier` what was recorded when something of ours was last written into it. A file that has
    /// it all stays as it is.
    ///
    /// # Errors
    /// `conflict` for a file that is not of its format, that has something else where ours belongs,
    /// or that is not ours to write.
    pub(crate) fn apply(&self, text: Option<&str>, earlier: Option<&Record>) -> Result<Applied> {
        if let Some(text) = text
            && self.is_in(text)?
        {
            let record = earlier.cloned().unwrap_or(Record { was: Was::Text, done: Vec::new() });
            return Ok(Applied { text: text.to_owned(), record, changed: false });
        }
        // What was written last time makes room first, so that what stood there before is not lost.
        let undone = match (text, earlier) {
            (Some(text), Some(earlier)) => earlier.undo(text)?,
            (text, _) => text.map(str::to_owned),
        };
        let was = match &undone {
            None => Was::Missing,
            Some(text) if bare(text).trim().is_empty() => Was::Blank(text.clone()),
            Some(_) => Was::Text,
        };
        let start = match undone {
            Some(text) if was == Was::Text => text,
            _ => self.nothing().to_owned(),
        };
        let (text_now, done) = self.write(&start)?;
        let changed = text != Some(text_now.as_str());
        Ok(Applied { text: text_now, record: Record { was, done }, changed })
    }

    /// A file's text without this content, where nothing was recorded: what looks like ours is taken
    /// out, and with it what is empty then. Nothing when nothing else is left.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub(crate) fn remove(&self, text: &str) -> Result<Option<String>> {
        let done = self.whats().into_iter().map(|what| Done {
            what,
            splice: Splice::default(),
            replaced: false,
        });
        let whole = || Some(text.to_owned());
        if matches!(self, Self::Json(_)) && bare(text).trim().is_empty() {
            return Ok(whole());
        }
        let (was, done) = (Was::Text, done.collect());
        let ours = Record { was, done };
        // A file with nothing of ours in it is somebody else's, however little it says.
        if ours.undo(text)? == whole() {
            return Ok(whole());
        }
        Record { was: Was::Missing, ..ours }.undo(text)
    }

    /// What a file of this format says when it says nothing.
    const fn nothing(&self) -> &'static str {
        if matches!(self, Self::Json(_)) { "{}\n" } else { "" }
    }

    fn is_in(&self, text: &str) -> Result<bool> {
        Ok(match self {
            Self::Json(_) if bare(text).trim().is_empty() => false,
            Self::Json(entries) => {
                let file = json::File::parse(text)?;
                entries.iter().all(|entry| file.has(entry))
            }
            Self::Toml(path, keys) => toml::has(text, path, keys)?,
            Self::Block(inner) => block::has(text, inner),
            Self::Whole(whole) => text == whole,
        })
    }

    fn write(&self, text: &str) -> Result<(String, Vec<Done>)> {
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
                let next = splice.put(text);
                Ok((next, vec![Done { what: What::Block, splice, replaced: false }]))
            }
            Self::Whole(whole) => {
                let ours = |text: &str| text.trim().is_empty() || text.contains(clients::OURS);
                if !ours(text) {
                    return Err(conflict("the file is there already, and it is not ours")
                        .hint("Move it away, and run the setup again."));
                }
                let splice = Splice { at: 0, before: text.to_owned(), after: whole.clone() };
                Ok((whole.clone(), vec![Done { what: What::Whole, splice, replaced: false }]))
            }
        }
    }

    /// All that this content is about.
    fn whats(&self) -> Vec<What> {
        let made = |path: &[String]| (1..path.len()).map(|end| path[..end].to_vec()).collect();
        match self {
            Self::Json(entries) => entries
                .iter()
                .map(|entry| match entry {
                    Entry::Set { path, .. } => What::Entry(entry.clone(), made(path)),
                    Entry::Push { path, .. } => {
                        let mut made: Vec<Vec<String>> = made(path);
                        made.push(path.clone());
                        What::Entry(entry.clone(), made)
                    }
                })
                .collect(),
            Self::Toml(path, _) => vec![What::Table(path.clone())],
            Self::Block(_) => vec![What::Block],
            Self::Whole(_) => vec![What::Whole],
        }
    }
}

impl Record {
    /// A file's text as it was before, but for what others have written to it since. Nothing when
    /// there was no file, and nothing else is left in it.
    ///
    /// # Errors
    /// As [`Content::apply`].
    pub(crate) fn undo(&self, text: &str) -> Result<Option<String>> {
        let mut text = text.to_owned();
        for done in self.done.iter().rev() {
            text = done.undo(&text)?;
        }
        let left = bare(&text).trim();
        // Of JSON what is left of nothing is an empty object.
        let nothing = left.is_empty() || left.split_whitespace().collect::<String>() == "{}";
        Ok(match &self.was {
            Was::Missing if nothing => None,
            Was::Blank(blank) if nothing => Some(blank.clone()),
            _ => Some(text),
        })
    }
}

impl Done {
    fn undo(&self, text: &str) -> Result<String> {
        if let Some(before) = self.splice.take_back(text)
            && self.is_sound(&before)
        {
            return Ok(before);
        }
        match &self.what {
            What::Entry(entry, made) => {
                json::remove(text, entry, made, self.replaced.then_some(&self.splice.before))
            }
            What::Table(path) => toml::remove(text, path),
            What::Block => Ok(block::remove(text)),
            What::Whole if text.contains(clients::OURS) => Ok(self.splice.before.clone()),
            What::Whole => Ok(text.to_owned()),
        }
    }

    /// Whether a text is still of its format when a splice was taken back.
    fn is_sound(&self, text: &str) -> bool {
        match &self.what {
            What::Entry(..) => json::File::parse(text).is_ok(),
            What::Table(_) => toml::is_sound(text),
            What::Block | What::Whole => true,
        }
    }
}

/// A text without the mark that some editors put at its beginning.
fn bare(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// The line end that a text uses.
fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn conflict(message: impl Into<String>) -> Error {
    Error::conflict(message)
}
