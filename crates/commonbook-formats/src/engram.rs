//! Engram vaults: one Markdown file a memory, with `topics`, `importance`, `memory_type`, `created_at`,
//! `access_count` and, in files that are new enough, `owner_agent`.
//!
//! As the design of Engram's multi-agent coordination describes its files. Files without owner are `legacy`.
//! Nobody here has reviewed them: every row is untrusted.

use serde_json::Value;

use crate::files::{SourceFile, is_markdown};
use crate::note::{MarkdownNote, note_rows};
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

/// Files and folders of a vault that are no memories: index pages, and what Engram has archived.
const OTHER_FOLDERS: [&str; 4] = ["archive", "_archive", "templates", "index"];

pub(crate) fn reads(file: &str) -> bool {
    let mut folders: Vec<&str> = file.split('/').collect();
    folders.pop();
    is_markdown(file) && !folders.iter().any(|folder| OTHER_FOLDERS.contains(folder))
}

/// Whether frontmatter is that of a memory of Engram.
pub(crate) fn recognises(fields: &serde_json::Map<String, Value>) -> bool {
    let has = |key: &str| fields.contains_key(key);
    has("memory_type") && (has("topics") || has("importance") || has("access_count"))
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    note_rows(file, progress, |note| rows_of(file, note))
}

fn rows_of(file: &SourceFile, note: &MarkdownNote) -> Vec<RowOutcome> {
    if note.body.trim().is_empty() {
        return vec![RowOutcome::left_out(file, "the memory has no text")];
    }
    let created = note.created();
    let mut read =
        vec!["topics", "tags", "tag", "importance", "memory_type", "owner_agent", "title"];
    read.extend(created.as_ref().map(|(key, _)| *key));
    let owner = note.text("owner_agent").filter(|owner| *owner != "legacy");
    let title = note.text("title").map_or_else(|| heading_of(&note.body), str::to_owned);
    note.rows(SourceFormat::Engram, file, &note.body, &title, |draft, _| {
        draft
            .with("memory_type", note.text("memory_type").unwrap_or("semantic"))
            .with("importance", note.fields.get("importance").cloned().unwrap_or_default())
            .with("owner", owner)
            .with("created_at", created.as_ref().map_or(Value::Null, |(_, at)| at.clone()))
            .with("trust", "untrusted")
            .about(note.tags())
            .keeping(&note.fields, &read)
    })
}

/// The first heading of a text.
fn heading_of(body: &str) -> String {
    let first = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match first.starts_with('#') {
        true => first.trim_start_matches('#').trim().to_owned(),
        false => String::new(),
    }
}
