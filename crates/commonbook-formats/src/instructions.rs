//! Files of instructions: CLAUDE.md, AGENTS.md, GEMINI.md, Copilot's instructions, Cursor rules. A list item or
//! a paragraph is a memory, under its headings.
//!
//! As the documentation of Claude Code, AGENTS.md, Gemini CLI and Cursor describes the files: Markdown, and in
//! `.cursor/rules/*.mdc` frontmatter with `description`, `globs` and `alwaysApply`. An import `@path` of
//! another file is not followed.

use std::sync::LazyLock;

use regex::Regex;

use crate::files::{SourceFile, has_ending, is_markdown};
use crate::markdown::{NoteBlock, blocks_and_comments, hashtags};
use crate::note::{MarkdownNote, NOTE_BYTES_MAX, note_rows};
use crate::row::{RowDraft, TITLE_CHARS_MAX};
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

const NAMES: [&str; 8] = [
    "claude.md",
    "claude.local.md",
    "agents.md",
    "agents.override.md",
    "gemini.md",
    ".cursorrules",
    "copilot-instructions.md",
    "agent.md",
];

/// Comments of a file whose lines are named.
const COMMENTS_NAMED_MAX: usize = 10;

/// The first sentence that Claude Code writes into a new CLAUDE.md.
const GREETING: &str = "This file provides guidance to Claude Code";

pub(crate) fn reads(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file).to_lowercase();
    let is_rule = file.contains(".claude/rules/") && is_markdown(file);
    NAMES.contains(&name.as_str()) || has_ending(file, &["mdc"]) || is_rule
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    note_rows(file, progress, |note| {
        let read = ["description", "tags", "tag", "topics"];
        block_rows(SourceFormat::Instructions, file, note, |draft, _| {
            draft
                .with("memory_type", "procedural")
                .noting("description", note.text("description"))
                .about(note.tags())
                .keeping(&note.fields, &read)
        })
    })
}

/// The blocks of a note as rows. `finish` adds what the format knows.
pub(crate) fn block_rows(
    format: SourceFormat,
    file: &SourceFile,
    note: &MarkdownNote,
    finish: impl Fn(RowDraft, &NoteBlock) -> RowDraft,
) -> Vec<RowOutcome> {
    static IMPORT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^@[^\s@]+$").expect("the tests compile it"));
    let mut found = Vec::new();
    let (blocks, comments) = blocks_and_comments(&note.body);
    for block in blocks {
        let line = note.lines_before + block.line;
        if IMPORT.is_match(&block.text) {
            let reason = format!("line {line}: the import {} is not followed", block.text);
            found.push(RowOutcome::left_out(file, reason));
            continue;
        }
        if block.text.starts_with(GREETING) {
            let reason =
                format!("line {line}: the sentence that Claude Code writes into each file");
            found.push(RowOutcome::left_out(file, reason));
            continue;
        }
        if block.text.len() > NOTE_BYTES_MAX {
            let reason = format!("the paragraph has more than {NOTE_BYTES_MAX} bytes");
            found.push(RowOutcome::refused(file, line, reason));
            continue;
        }
        let title = block.headings.join(" › ");
        let draft = RowDraft::new(&block.text).titled(&title);
        // A heading may say who may read what is below it.
        let draft = match title.chars().count() > TITLE_CHARS_MAX {
            true => draft.noting("headings", block.headings.clone()),
            false => draft,
        };
        let draft = finish(draft, &block).about(hashtags(&block.text));
        found.push(draft.finish(format, file, line));
    }
    if !comments.is_empty() {
        let shown = comments.iter().take(COMMENTS_NAMED_MAX);
        let lines: Vec<String> = shown.map(|line| (note.lines_before + line).to_string()).collect();
        let more = if comments.len() > COMMENTS_NAMED_MAX { " …" } else { "" };
        let reason = format!("comments <!-- --> at line {}{more}", lines.join(", "));
        found.push(RowOutcome::left_out_rows(file, comments.len() as u64, reason));
    }
    if found.is_empty() {
        found.push(empty_file(file));
    }
    found
}

/// Says that a file had nothing, so that it is not missed.
fn empty_file(file: &SourceFile) -> RowOutcome {
    RowOutcome::left_out(file, "the file has no rules")
}
