//! Notes: Markdown files with frontmatter, as several programs write them.

use serde_json::{Map, Value, json};

use crate::files::SourceFile;
use crate::frontmatter::{self, YamlError, without_byte_order_mark};
use crate::json_value;
use crate::markdown::parts;
use crate::row::RowDraft;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

/// Bytes of a note that becomes one memory; a longer one is cut before its headings.
pub(crate) const NOTE_BYTES_MAX: usize = 16 << 10;

/// Frontmatter that says when a note was made.
const TIME_KEYS: [&str; 6] =
    ["created_at", "created", "date", "date created", "date_created", "timestamp"];

/// A note with its frontmatter.
pub(crate) struct MarkdownNote {
    pub fields: Map<String, Value>,
    pub body: String,
    /// The lines before the body.
    pub lines_before: usize,
}

/// The rows of a note, or why it cannot be read.
pub(crate) fn note_rows(
    file: &SourceFile,
    progress: &Progress,
    rows: impl FnOnce(&MarkdownNote) -> Vec<RowOutcome>,
) -> RowIterator {
    let rows = match MarkdownNote::read(file, progress) {
        Ok(note) => rows(&note),
        Err(refused) => vec![refused],
    };
    Box::new(rows.into_iter())
}

impl MarkdownNote {
    /// Reads the note of a file, or says why it cannot be read.
    pub(crate) fn read(file: &SourceFile, progress: &Progress) -> Result<Self, RowOutcome> {
        Self::read_with(file, progress, frontmatter::parse)
    }

    /// Reads the note of a file whose frontmatter may be lines `key: text` that are not YAML.
    pub(crate) fn read_leniently(
        file: &SourceFile,
        progress: &Progress,
    ) -> Result<Self, RowOutcome> {
        let parse =
            |yaml: &str| frontmatter::parse(yaml).or_else(|error| plain_fields(yaml).ok_or(error));
        Self::read_with(file, progress, parse)
    }

    fn read_with(
        file: &SourceFile,
        progress: &Progress,
        parse: impl Fn(&str) -> Result<Map<String, Value>, YamlError>,
    ) -> Result<Self, RowOutcome> {
        let text = file.read_text(progress)?;
        let Some(block) = frontmatter::split(&text) else {
            let body = without_byte_order_mark(&text).to_owned();
            return Ok(Self { fields: Map::new(), body, lines_before: 0 });
        };
        let fields = parse(block.yaml)
            .map_err(|error| RowOutcome::refused(file, error.line, error.message))?;
        Ok(Self { fields, body: block.body.to_owned(), lines_before: block.body_line - 1 })
    }

    /// The text of a field.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        json_value::text_of(&self.fields, field)
    }

    /// When the note was made, with the key that says so.
    pub(crate) fn created(&self) -> Option<(&'static str, Value)> {
        TIME_KEYS.into_iter().find_map(|key| {
            let time = json_value::time(self.fields.get(key));
            (!time.is_null()).then_some((key, time))
        })
    }

    /// The tags of the frontmatter.
    pub(crate) fn tags(&self) -> Vec<String> {
        let keys = ["topics", "tags", "tag"].into_iter();
        keys.flat_map(|key| json_value::words(self.fields.get(key))).collect()
    }

    /// The body as rows: one, or one for each part of a long body. `finish` adds what the format knows of
    /// the text of a part.
    pub(crate) fn rows(
        &self,
        format: SourceFormat,
        file: &SourceFile,
        body: &str,
        title: &str,
        finish: impl Fn(RowDraft, &str) -> RowDraft,
    ) -> Vec<RowOutcome> {
        let found = parts(body, NOTE_BYTES_MAX);
        let count = found.len();
        let rows = found.into_iter().enumerate().map(|(index, part)| {
            let title = match part.heading.filter(|heading| count > 1 && *heading != title) {
                Some(heading) => format!("{title} › {heading}"),
                None => title.to_owned(),
            };
            let draft = finish(RowDraft::new(part.text).titled(&title), part.text);
            let draft = match count {
                1 => draft,
                _ => draft.noting("part", json!({"number": index + 1, "of": count})),
            };
            draft.finish(format, file, self.lines_before + part.line)
        });
        rows.collect()
    }
}

/// The fields of lines `key: text`; an indented one belongs to no list or map. `None` if a line is another.
fn plain_fields(yaml: &str) -> Option<Map<String, Value>> {
    let mut fields = Map::new();
    for line in yaml.lines().filter(|line| !line.trim().is_empty()) {
        let (key, text) = line.trim().split_once(':')?;
        let is_key = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if !is_key || key.is_empty() || fields.contains_key(key) {
            return None;
        }
        if !text.trim().is_empty() {
            fields.insert(key.to_owned(), json!(text.trim()));
        }
    }
    Some(fields)
}
