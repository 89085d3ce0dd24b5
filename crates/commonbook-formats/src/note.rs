//! Notes: Markdown files with frontmatter, as several programs write them.

use commonbook_text::data_uri::without_data_uris;
use serde_json::{Map, Value, json};

use crate::files::SourceFile;
use crate::frontmatter::{self, LenientFields, without_byte_order_mark};
use crate::json_value;
use crate::markdown::parts;
use crate::row::RowDraft;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

/// Bytes of a note that becomes one memory; a longer one is cut before its headings.
pub(crate) const NOTE_BYTES_MAX: usize = 16 << 10;

/// Characters of the lines of frontmatter that say nothing, which are kept.
const UNREAD_CHARS_MAX: usize = 4_000;

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
    /// Reads the note of a file, or says why it cannot be read. Its frontmatter need not be strict YAML; lines of
    /// it that say nothing stay in its metadata. Fields within its text are metadata too.
    pub(crate) fn read(file: &SourceFile, progress: &Progress) -> Result<Self, RowOutcome> {
        let text = file.read_text(progress)?;
        let text = without_data_uris(&text);
        let head = frontmatter::split_leniently(&text);
        let (LenientFields { mut fields, unread }, body, body_line) = head.unwrap_or_else(|| {
            let none = LenientFields { fields: Map::new(), unread: Vec::new() };
            (none, without_byte_order_mark(&text), 1)
        });
        if !unread.is_empty() {
            let unread: String = unread.join("\n").chars().take(UNREAD_CHARS_MAX).collect();
            fields.insert("frontmatter_unread".to_owned(), json!(unread));
        }
        let text_fields = frontmatter::text_fields(body);
        if !text_fields.is_empty() {
            fields.entry("text_fields").or_insert(Value::Object(text_fields));
        }
        Ok(Self { fields, body: body.to_owned(), lines_before: body_line - 1 })
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
