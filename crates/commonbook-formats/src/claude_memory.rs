//! The memory folder of Claude Code: `~/.claude/projects/PROJECT/memory`, with `MEMORY.md` and a file a subject.
//!
//! As Claude Code's documentation on memory describes it: `MEMORY.md` is loaded in each session and links to
//! the other files, which may begin with frontmatter (`name`, `description`, `type`: user, feedback, project or
//! reference). A file with such frontmatter is one memory; of other files, and of `MEMORY.md`, each item is one.
//! A link of `MEMORY.md` to another file is no memory by itself.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::files::{SourceFile, is_markdown};
use crate::instructions::block_rows;
use crate::note::MarkdownNote;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

/// The agent whose memory it is.
const OWNER: &str = "claude-code";

/// Whether a file lies in a folder `memory`, or beside a `MEMORY.md` in the opened one.
pub(crate) fn reads(opened: &Path, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let folder = file.strip_suffix(name).unwrap_or_default();
    let is_in_memory = match folder {
        "" => opened.ends_with("memory") || opened.join("MEMORY.md").is_file(),
        folder => folder == "memory/" || folder.contains("/memory/"),
    };
    is_markdown(file) && is_in_memory
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    let rows = match MarkdownNote::read(file, progress) {
        Ok(note) if is_memory(&note) => memory_rows(file, &note),
        Ok(note) => item_rows(file, &note),
        Err(refused) => vec![refused],
    };
    Box::new(rows.into_iter())
}

fn is_memory(note: &MarkdownNote) -> bool {
    note.text("name").is_some() && !note.body.trim().is_empty()
}

fn memory_rows(file: &SourceFile, note: &MarkdownNote) -> Vec<RowOutcome> {
    let kind = note.text("type").or_else(|| {
        note.fields
            .get("metadata")
            .and_then(|fields| fields.get("type"))
            .and_then(|kind| kind.as_str())
    });
    let memory_type = match kind {
        Some("feedback") => "learning",
        _ => "semantic",
    };
    let title = note.text("name").unwrap_or_default().to_owned();
    note.rows(SourceFormat::ClaudeMemory, file, &note.body, &title, |draft, _| {
        let summary = note.text("description").filter(|summary| summary.chars().count() <= 512);
        draft
            .with("owner", OWNER)
            .with("memory_type", memory_type)
            .with("summary", summary)
            .noting("kind", kind)
            .noting("description", note.text("description").filter(|_| summary.is_none()))
            .about(note.tags())
            .keeping(&note.fields, &["name", "description", "type", "tags", "tag", "topics"])
    })
}

fn item_rows(file: &SourceFile, note: &MarkdownNote) -> Vec<RowOutcome> {
    static LINK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\[[^\]]*\]\([^)\s]+\.md\)").expect("the tests compile it"));
    let is_index = file.base_name() == "MEMORY.md";
    let mut found = block_rows(SourceFormat::ClaudeMemory, file, note, |draft, _| {
        draft
            .with("owner", OWNER)
            .with("memory_type", "learning")
            .about(note.tags())
            .keeping(&note.fields, &["tags", "tag", "topics"])
    });
    let is_link = |row: &RowOutcome| match row {
        RowOutcome::Row(row) => row.value["text"].as_str().is_some_and(|text| LINK.is_match(text)),
        _ => false,
    };
    let all = found.len();
    found.retain(|row| !is_index || !is_link(row));
    let links = all - found.len();
    if links > 0 {
        let reason = format!("{links} links to other files, which are read themselves");
        found.push(RowOutcome::left_out_rows(file, links as u64, reason));
    }
    found
}
