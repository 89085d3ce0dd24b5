//! What a path looks like: by the names of its files, and a look at the beginning of some of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use commonbook_text::json_text::json_text;
use serde_json::Value;

use crate::files::{SourceFile, has_ending, is_markdown, source_files, with_line_ends};
use crate::frontmatter::LenientFields;
use crate::json_members::DocumentMembers;
use crate::utf8::Utf8Reader;
use crate::{
    SourceFormat, chatgpt, claude_ai, claude_memory, claude_mpm, engram, frontmatter, instructions,
    mcp_memory, mem0, transcript, zep,
};

/// Bytes of a file that are read to recognise it; a larger first value is not recognised.
const LOOK_BYTES_MAX: u64 = 4 << 20;
/// Notes of a folder that are read to recognise it.
const NOTES_MAX: usize = 40;
/// JSON files of a folder that are read to recognise it.
const JSON_FILES_MAX: usize = 40;
/// Members of a document that are read to recognise it.
const MEMBERS_MAX: usize = 20;
/// Bytes of a note that are read to recognise it.
const NOTE_BYTES: u64 = 64 << 10;

/// What a path looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognition {
    /// The format.
    pub format: SourceFormat,
    /// The files that the format reads there.
    pub files: usize,
    /// Other formats of which the folder has files.
    pub others: Vec<SourceFormat>,
}

/// Says what a file or a folder looks like; `None` if it looks like nothing known, such as lines for an
/// import.
///
/// # Errors
/// If the path cannot be read, or has too many files.
pub fn recognise(path: &Path) -> io::Result<Option<Recognition>> {
    let kind = std::fs::metadata(path)?;
    if !kind.is_file() && !kind.is_dir() {
        // What was read of a pipe is gone.
        return Ok(None);
    }
    let files = source_files(path)?.files;
    if !path.is_dir() {
        let format = files.first().and_then(|file| format_of_file(path, file));
        return Ok(format.map(|format| Recognition { format, files: 1, others: Vec::new() }));
    }
    let mut formats = formats_of_folder(path, &files);
    if formats.is_empty() {
        return Ok(None);
    }
    let format = formats.remove(0);
    let count = files.iter().filter(|file| format.reads(path, &file.name)).count();
    Ok(Some(Recognition { format, files: count, others: formats }))
}

fn format_of_file(path: &Path, file: &SourceFile) -> Option<SourceFormat> {
    let is_in = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    if instructions::reads(&file.name) {
        return Some(SourceFormat::Instructions);
    }
    if is_markdown(&file.name) {
        if claude_mpm::has_own_name(&file.name) || (is_in(".claude-mpm") && is_in("memories")) {
            return Some(SourceFormat::ClaudeMpm);
        }
        if file.name == "MEMORY.md" {
            return Some(SourceFormat::ClaudeMemory);
        }
        return Some(format_of_note(file).unwrap_or(SourceFormat::Obsidian));
    }
    format_of_json(file)
}

/// The formats of a folder, the most likely one first.
fn formats_of_folder(path: &Path, files: &[SourceFile]) -> Vec<SourceFormat> {
    let mut found = Vec::new();
    let mut add = |format: SourceFormat| {
        if !found.contains(&format) {
            found.push(format);
        }
    };
    let any = |test: &dyn Fn(&str) -> bool| files.iter().any(|file| test(&file.name));
    let is_mpm = any(&|name| claude_mpm::reads(path, name));
    if any(&|name| transcript::reads(SourceFormat::Codex, name)) {
        add(SourceFormat::Codex);
    }
    if any(&|name| name.contains("session/") && name.contains("ses_"))
        || any(&|name| name.starts_with("message/ses_"))
    {
        add(SourceFormat::Opencode);
    }
    let documents: Vec<&SourceFile> =
        files.iter().filter(|file| has_ending(&file.name, &["json", "jsonl"])).collect();
    let step = (documents.len() / JSON_FILES_MAX).max(1);
    for document in documents.iter().step_by(step).take(JSON_FILES_MAX) {
        if let Some(format) =
            format_of_json(document).filter(|format| format.reads(path, &document.name))
        {
            add(format);
        }
    }
    if any(&|name| {
        name == "MEMORY.md" || name.ends_with("/memory/MEMORY.md") || name == "memory/MEMORY.md"
    }) {
        add(SourceFormat::ClaudeMemory);
    }
    if is_mpm {
        add(SourceFormat::ClaudeMpm);
    }
    if path.join(".obsidian").is_dir() {
        add(SourceFormat::Obsidian);
    }
    let notes =
        files.iter().filter(|file| is_markdown(&file.name) && !instructions::reads(&file.name));
    let notes: Vec<&SourceFile> = notes.collect();
    let step = (notes.len() / NOTES_MAX).max(1);
    for note in notes.iter().step_by(step).take(NOTES_MAX) {
        if let Some(format) = format_of_note(note) {
            add(format);
        }
    }
    if any(&instructions::reads) {
        add(SourceFormat::Instructions);
    }
    let is_read = |note: &&SourceFile| {
        (is_mpm && claude_mpm::reads(path, &note.name))
            || (found.contains(&SourceFormat::ClaudeMemory)
                && claude_memory::reads(path, &note.name))
    };
    if notes.iter().any(|note| !is_read(note)) && found.is_empty() {
        found.push(SourceFormat::Obsidian);
    }
    found
}

/// The format that the frontmatter of a note tells.
fn format_of_note(file: &SourceFile) -> Option<SourceFormat> {
    let mut bytes = Vec::new();
    let text = Utf8Reader::new(File::open(&file.path).ok()?).ok()?;
    text.take(NOTE_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (LenientFields { fields, .. }, ..) = frontmatter::split_leniently(&with_line_ends(&text))?;
    if engram::recognises(&fields) {
        return Some(SourceFormat::Engram);
    }
    fields.contains_key("permalink").then_some(SourceFormat::BasicMemory)
}

/// The format of a file of JSON, by its first line or its first members.
fn format_of_json(file: &SourceFile) -> Option<SourceFormat> {
    let open = || {
        let text = File::open(&file.path).and_then(Utf8Reader::new);
        text.map(|text| BufReader::new(text.take(LOOK_BYTES_MAX)))
    };
    let mut first = Vec::new();
    let mut reader = open().ok()?;
    while first.trim_ascii().is_empty() {
        first.clear();
        if reader.read_until(b'\n', &mut first).ok()? == 0 {
            return None;
        }
    }
    let bare = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&first);
    // A line may have several values.
    let line: Option<Value> = serde_json::Deserializer::from_str(&json_text(bare))
        .into_iter()
        .next()
        .and_then(Result::ok);
    let is_of_line = |test: fn(&Value) -> bool| line.as_ref().is_some_and(test);
    if is_of_line(mcp_memory::recognises) {
        return Some(SourceFormat::McpMemory);
    }
    if is_of_line(transcript::is_codex) {
        return Some(SourceFormat::Codex);
    }
    if is_of_line(transcript::is_gemini) {
        return Some(SourceFormat::Gemini);
    }
    if is_of_line(transcript::is_claude_code) {
        return Some(SourceFormat::ClaudeCode);
    }
    let format = format_of_members(open().ok()?);
    format.filter(|format| {
        *format == SourceFormat::McpMemory || !has_ending(&file.name, &["jsonl", "ndjson"])
    })
}

fn format_of_members(reader: impl BufRead) -> Option<SourceFormat> {
    let mut keys: Vec<String> = Vec::new();
    for member in DocumentMembers::new(reader).take(MEMBERS_MAX) {
        let (key, value) = (member.key.as_deref(), member.value.ok()?);
        let tests: [(SourceFormat, bool); 6] = [
            (SourceFormat::McpMemory, mcp_memory::recognises_member(key, &value)),
            (SourceFormat::Mem0, mem0::recognises(key, &value)),
            (SourceFormat::ChatGpt, chatgpt::recognises(key, &value)),
            (SourceFormat::ClaudeAi, claude_ai::recognises(key, &value)),
            (SourceFormat::Zep, zep::recognises(key, &value)),
            (SourceFormat::Opencode, transcript::is_opencode(key, &value)),
        ];
        if let Some((format, _)) = tests.into_iter().find(|(_, is_known)| *is_known) {
            return Some(format);
        }
        keys.extend(member.key);
        let has = |names: &[&str]| names.iter().all(|name| keys.iter().any(|key| key == name));
        if has(&["sessionId", "projectHash"]) {
            return Some(SourceFormat::Gemini);
        }
        // The first of several objects, each over several lines.
        if has(&["name", "entityType"]) || has(&["from", "relationType"]) {
            return Some(SourceFormat::McpMemory);
        }
    }
    None
}
