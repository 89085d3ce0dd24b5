//! Rows: what a reader yields, and how a row is built.

use commonbook_text::data_uri::without_data_uris;
use serde_json::{Map, Value, json};

use crate::SourceFormat;
use crate::files::SourceFile;

/// Topics that a memory may have.
const TOPICS_MAX: usize = 32;
/// Characters of a topic.
const TOPIC_CHARS_MAX: usize = 64;
/// Characters of a title.
pub(crate) const TITLE_CHARS_MAX: usize = 200;

/// One line for an import, with the place that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceRow {
    /// The file, relative to the path that was opened.
    pub file: String,
    /// The line of the file at which the row begins; the first line is 1.
    pub line: usize,
    /// The line for the import.
    pub value: Map<String, Value>,
}

/// A row that was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRow {
    /// The file, relative to the path that was opened.
    pub file: String,
    /// The line, if it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

/// What was understood, and is left out on purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omission {
    /// The file, relative to the path that was opened.
    pub file: String,
    /// What is left out, and why.
    pub reason: String,
    /// How many rows it would have been.
    pub rows: u64,
}

/// What a reader yields.
#[derive(Debug, Clone, PartialEq)]
pub enum RowOutcome {
    /// A row.
    Row(SourceRow),
    /// A row that was not understood.
    Refused(RefusedRow),
    /// What is left out on purpose.
    LeftOut(Omission),
}

impl RowOutcome {
    pub(crate) fn refused(
        file: &SourceFile,
        line: impl Into<Option<usize>>,
        reason: impl Into<String>,
    ) -> Self {
        let (line, reason) = (line.into(), reason.into());
        Self::Refused(RefusedRow { file: file.name.clone(), line, reason })
    }

    pub(crate) fn left_out(file: &SourceFile, reason: impl Into<String>) -> Self {
        Self::left_out_rows(file, 1, reason)
    }

    pub(crate) fn left_out_rows(file: &SourceFile, rows: u64, reason: impl Into<String>) -> Self {
        Self::LeftOut(Omission { file: file.name.clone(), reason: reason.into(), rows })
    }
}

/// Numbers of a list from which on it is a vector of a model.
const VECTOR_NUMBERS_MIN: usize = 16;

/// Whether a value is a vector, which says nothing outside the model that made it.
fn is_vector(value: &Value) -> bool {
    value.as_array().is_some_and(|numbers| {
        numbers.len() >= VECTOR_NUMBERS_MIN && numbers.iter().all(Value::is_number)
    })
}

/// A row while it is built.
pub(crate) struct RowDraft {
    fields: Map<String, Value>,
    metadata: Map<String, Value>,
    topics: Vec<String>,
    id: Option<String>,
}

impl RowDraft {
    pub(crate) fn new(text: &str) -> Self {
        let text = without_data_uris(text);
        let fields = Map::from_iter([("text".to_owned(), json!(text.trim()))]);
        Self { fields, metadata: Map::new(), topics: Vec::new(), id: None }
    }

    /// The row with this field, unless the value is null.
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.fields.insert(field.to_owned(), value);
        }
        self
    }

    /// The row with a title, as far as it fits.
    pub(crate) fn titled(self, title: &str) -> Self {
        let title: String = title
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(TITLE_CHARS_MAX)
            .collect();
        match title.is_empty() {
            true => self,
            false => self.with("title", title),
        }
    }

    /// The row with these metadata, unless the value says nothing.
    pub(crate) fn noting(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        let is_empty = value.is_null()
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_str().is_some_and(str::is_empty);
        if !is_empty {
            self.metadata.insert(key.to_owned(), value);
        }
        self
    }

    /// The row with the id that it has in its program.
    pub(crate) fn known_as(mut self, id: Option<&str>) -> Self {
        self.id = id.map(str::to_owned);
        self
    }

    /// The row with these topics, each once. What is no topic stays in the metadata.
    pub(crate) fn about<T: AsRef<str>>(mut self, topics: impl IntoIterator<Item = T>) -> Self {
        for topic in topics {
            let topic = topic.as_ref().trim().trim_start_matches('#').trim();
            let is_known =
                self.topics.iter().any(|known| known.to_lowercase() == topic.to_lowercase());
            if topic.is_empty() || is_known {
                continue;
            }
            let fits = topic.chars().count() <= TOPIC_CHARS_MAX
                && !topic.chars().any(char::is_control)
                && self.topics.len() < TOPICS_MAX;
            if fits {
                self.topics.push(topic.to_owned());
            } else if let Value::Array(others) =
                self.metadata.entry("more_topics").or_insert_with(|| json!([]))
            {
                others.push(json!(topic));
            }
        }
        self
    }

    /// The row with the fields that nothing else has read, as metadata; vectors are no statement.
    pub(crate) fn keeping(mut self, fields: &Map<String, Value>, read: &[&str]) -> Self {
        for (key, value) in fields {
            if !read.contains(&key.as_str()) && !value.is_null() && !is_vector(value) {
                self.metadata.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        self
    }

    /// The row that begins at this line of the file.
    pub(crate) fn finish(
        mut self,
        format: SourceFormat,
        file: &SourceFile,
        line: usize,
    ) -> RowOutcome {
        if !self.topics.is_empty() {
            self.fields.insert("topics".to_owned(), json!(self.topics));
        }
        let mut origin = json!({"format": format.name(), "file": file.name});
        if let Some(id) = self.id {
            origin["id"] = json!(id);
        }
        self.metadata.insert("imported_from".to_owned(), origin);
        self.fields.insert("metadata".to_owned(), Value::Object(self.metadata));
        RowOutcome::Row(SourceRow { file: file.name.clone(), line, value: self.fields })
    }
}
