//! Reads what other programs wrote, as lines for an import; without a store, a clock or ids.
//!
//! Nothing here knows memories or agents: [`recognise`] says what a path looks like, and [`open`] yields its
//! rows in order, one file after the other. A row is a JSON object with the field names that an import
//! understands. It never contains a path of the machine, a time of reading or a line number, so that a
//! second reading yields equal rows.

mod basic_memory;
mod chatgpt;
mod claude_ai;
mod claude_memory;
mod claude_mpm;
mod engram;
mod files;
pub mod frontmatter;
mod instructions;
mod json_members;
mod json_texts;
mod json_value;
mod lines;
mod markdown;
mod mcp_memory;
mod mem0;
mod note;
mod obsidian;
mod recognise;
mod row;
mod transcript;
mod utf8;
mod zep;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

pub use files::{MARKDOWN_BYTES_MAX, SOURCE_FILES_MAX, is_readable_file};
use files::{SourceFile, SourceFiles};
pub use json_members::MEMBER_BYTES_MAX;
pub use json_texts::{JsonText, JsonTextError, JsonTexts, rows_of_value};
pub use lines::LINE_BYTES_MAX;
pub use recognise::{Recognition, recognise};
pub use row::{Omission, RefusedRow, RowOutcome, SourceRow};
pub use transcript::SESSION_ROWS_MAX;
pub use utf8::{ReplacementCount, Utf8Reader};

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceFormat {
    /// The file of the official MCP memory server.
    McpMemory,
    /// A folder of basic-memory.
    BasicMemory,
    /// An Obsidian vault, or any other folder of Markdown notes.
    Obsidian,
    /// Memory files of the agents of claude-mpm.
    ClaudeMpm,
    /// Files of instructions: CLAUDE.md, AGENTS.md, GEMINI.md, Cursor rules.
    Instructions,
    /// The folder in which Claude Code keeps its own memory.
    ClaudeMemory,
    /// An export of mem0.
    Mem0,
    /// An export of Zep, or of Graphiti.
    Zep,
    /// The data of ChatGPT: saved memories, conversations.
    ChatGpt,
    /// The data of the Claude app: memories, conversations.
    ClaudeAi,
    /// An Engram vault.
    Engram,
    /// Sessions of Claude Code.
    ClaudeCode,
    /// Sessions of Codex.
    Codex,
    /// Sessions of Gemini CLI.
    Gemini,
    /// Sessions of opencode.
    Opencode,
}

impl SourceFormat {
    /// Every format, in the order in which they are recognised.
    pub const ALL: [Self; 15] = [
        Self::McpMemory,
        Self::BasicMemory,
        Self::Obsidian,
        Self::ClaudeMpm,
        Self::Instructions,
        Self::ClaudeMemory,
        Self::Mem0,
        Self::Zep,
        Self::ChatGpt,
        Self::ClaudeAi,
        Self::Engram,
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
    ];

    /// The name of the format, as an option and in the metadata of its rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::McpMemory => "mcp-memory",
            Self::BasicMemory => "basic-memory",
            Self::Obsidian => "obsidian",
            Self::ClaudeMpm => "claude-mpm",
            Self::Instructions => "instructions",
            Self::ClaudeMemory => "claude-memory",
            Self::Mem0 => "mem0",
            Self::Zep => "zep",
            Self::ChatGpt => "chatgpt",
            Self::ClaudeAi => "claude-ai",
            Self::Engram => "engram",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// What a path of this format is, with its article.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::McpMemory => "a file of the MCP memory server",
            Self::BasicMemory => "a basic-memory folder",
            Self::Obsidian => "an Obsidian vault or a folder of notes",
            Self::ClaudeMpm => "memory files of claude-mpm",
            Self::Instructions => "instructions for agents",
            Self::ClaudeMemory => "the memory folder of Claude Code",
            Self::Mem0 => "a mem0 export",
            Self::Zep => "a Zep export",
            Self::ChatGpt => "data of ChatGPT",
            Self::ClaudeAi => "data of the Claude app",
            Self::Engram => "an Engram vault",
            Self::ClaudeCode => "sessions of Claude Code",
            Self::Codex => "sessions of Codex",
            Self::Gemini => "sessions of Gemini CLI",
            Self::Opencode => "sessions of opencode",
        }
    }

    /// The owner of rows that name none; `None` if they belong to the importer.
    #[must_use]
    pub const fn default_owner(self) -> Option<&'static str> {
        match self {
            Self::Engram => Some("legacy"),
            _ => None,
        }
    }

    /// Whether the format reads this file of the opened folder.
    fn reads(self, folder: &Path, file: &str) -> bool {
        match self {
            Self::McpMemory => files::has_ending(file, &["jsonl", "json"]),
            Self::BasicMemory | Self::Obsidian => files::is_markdown(file),
            Self::Engram => engram::reads(file),
            Self::ClaudeMpm => claude_mpm::reads(folder, file),
            Self::Instructions => instructions::reads(file),
            Self::ClaudeMemory => claude_memory::reads(folder, file),
            Self::Mem0 | Self::Zep => files::has_ending(file, &["json"]),
            Self::ChatGpt => chatgpt::reads(file),
            Self::ClaudeAi => claude_ai::reads(file),
            Self::ClaudeCode | Self::Codex | Self::Gemini | Self::Opencode => {
                transcript::reads(self, file)
            }
        }
    }

    fn rows(self, file: &SourceFile, folder: &Path, progress: &Progress) -> RowIterator {
        match self {
            Self::McpMemory => mcp_memory::rows(file, progress),
            Self::BasicMemory => basic_memory::rows(file, progress),
            Self::Obsidian => obsidian::rows(file, progress),
            Self::ClaudeMpm => claude_mpm::rows(file, progress),
            Self::Instructions => instructions::rows(file, progress),
            Self::ClaudeMemory => claude_memory::rows(file, progress),
            Self::Mem0 => mem0::rows(file, progress),
            Self::Zep => zep::rows(file, progress),
            Self::ChatGpt => chatgpt::rows(file, progress),
            Self::ClaudeAi => claude_ai::rows(file, folder, progress),
            Self::Engram => engram::rows(file, progress),
            Self::ClaudeCode | Self::Codex | Self::Gemini | Self::Opencode => {
                transcript::rows(self, file, folder, progress)
            }
        }
    }
}

type RowIterator = Box<dyn Iterator<Item = RowOutcome>>;

/// What was read so far, shared with the readers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Rc<ReadCounts>);

#[derive(Debug, Default)]
struct ReadCounts {
    bytes: Cell<u64>,
    messages: Cell<u64>,
    /// The files that were opened, each with what was replaced in it.
    replaced: RefCell<Vec<FileReplacements>>,
}

/// How many bytes of a file are not UTF-8.
#[derive(Debug)]
struct FileReplacements {
    file: String,
    count: ReplacementCount,
}

impl Progress {
    pub(crate) fn add_bytes(&self, count: u64) {
        self.0.bytes.set(self.0.bytes.get() + count);
    }

    /// Counts what a reader replaces in a file; a file in which nothing was replaced is dropped at the next one.
    pub(crate) fn watch_replacements(&self, file: &str, count: ReplacementCount) {
        let mut replaced = self.0.replaced.borrow_mut();
        if replaced.last().is_some_and(|last| last.count.get() == 0) {
            replaced.pop();
        }
        replaced.push(FileReplacements { file: file.to_owned(), count });
    }

    /// Counts a message of a conversation.
    pub(crate) fn add_message(&self) {
        self.0.messages.set(self.0.messages.get() + 1);
    }
}

/// The rows of a path, in order: its files by name, and each from its beginning.
pub struct SourceRows {
    format: SourceFormat,
    folder: std::path::PathBuf,
    files: std::vec::IntoIter<SourceFile>,
    current: Option<RowIterator>,
    progress: Progress,
    bytes_total: u64,
    unread: Vec<String>,
}

impl SourceRows {
    /// The bytes of all files.
    #[must_use]
    pub const fn bytes_total(&self) -> u64 {
        self.bytes_total
    }

    /// The bytes that were read so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.progress.0.bytes.get()
    }

    /// The messages of conversations that were read so far.
    #[must_use]
    pub fn messages_read(&self) -> u64 {
        self.progress.0.messages.get()
    }

    /// The files in which bytes that are not UTF-8 became U+FFFD so far, each with how many times.
    #[must_use]
    pub fn replaced(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for FileReplacements { file, count } in self.progress.0.replaced.borrow().iter() {
            if count.get() > 0 {
                *counts.entry(file.clone()).or_default() += count.get();
            }
        }
        counts
    }

    /// The files of an opened folder that the format does not read; the name of a folder ends with `/`.
    #[must_use]
    pub fn unread(&self) -> &[String] {
        &self.unread
    }
}

impl Iterator for SourceRows {
    type Item = RowOutcome;

    fn next(&mut self) -> Option<RowOutcome> {
        loop {
            if let Some(row) = self.current.as_mut().and_then(Iterator::next) {
                return Some(row);
            }
            let file = self.files.next()?;
            self.current = Some(self.format.rows(&file, &self.folder, &self.progress));
        }
    }
}

/// Opens a file or a folder in this format. A folder contributes those of its files that the format reads.
///
/// # Errors
/// If the path cannot be read, or has more than [`SOURCE_FILES_MAX`] files.
pub fn open(format: SourceFormat, path: &Path) -> io::Result<SourceRows> {
    let SourceFiles { mut files, skipped: mut unread } = files::source_files(path)?;
    let folder = files::base_folder(path);
    if path.is_dir() {
        let others = files.extract_if(.., |file| !format.reads(path, &file.name));
        unread.extend(others.map(|file| file.name));
        unread.retain(|file| !transcript::reads_with_session(format, file));
        unread.sort_unstable();
    }
    let bytes_total = files.iter().map(|file| file.bytes).sum();
    let (files, progress) = (files.into_iter(), Progress::default());
    Ok(SourceRows { format, folder, files, current: None, progress, bytes_total, unread })
}
