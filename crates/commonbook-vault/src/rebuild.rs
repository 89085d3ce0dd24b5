//! The way back: the files of a vault as the lines of an export, from which `import` makes the store again.

use std::collections::BTreeMap;

use commonbook::base::error::{Error, Result};
use commonbook::base::id::MemoryId;
use commonbook::base::input;
use commonbook::model::export::{AgentState, ExportRecord};
use commonbook::model::memory::Memory;
use serde_json::{Map, Value, json};

use crate::case_page::read_case_page;
use crate::export::{RecordLine, RecordOrder, VaultExport};
use crate::files::VaultFiles;
use crate::folder::VaultFolder;
use crate::names::{AGENTS_FILE, CASES, CONTRADICTIONS, ENTITIES, HANDOFFS, HISTORY, RECORDS};
use crate::page::page_record;
use crate::pages::ORDER_FILE;
use crate::plan::StoredMemory;
use crate::report::SyncNote;
use crate::settings::VaultSettings;

/// The lines that a vault holds, and the files that were left out.
#[derive(Debug)]
pub struct RebuildLines {
    /// The lines, in the order in which an import needs them.
    pub lines: Vec<RecordLine>,
    /// Files that cannot be read, were edited, or are no memories yet, with the reason.
    pub notes: Vec<SyncNote>,
}

/// Reads a vault as lines; with its earlier revisions if `with_history`.
///
/// # Errors
/// `not_found` if the folder is no vault; `unavailable` if it cannot be read.
pub fn rebuild_lines(folder: &VaultFolder, with_history: bool) -> Result<RebuildLines> {
    let settings = VaultSettings::read(folder)?;
    let files = VaultFiles::read(folder)?;
    let history = if with_history { read_history(folder, &files)? } else { BTreeMap::new() };
    let (export, notes) = (VaultExport::default(), Vec::new());
    let mut reader = VaultReader { folder, settings, history, export, notes };
    reader.memories(&files);
    for path in &files.pages {
        if let Err(error) = reader.page(path) {
            reader.note(path, &error);
        }
    }
    let order = match folder.read(ORDER_FILE)? {
        None => RecordOrder::default(),
        Some(text) => serde_json::from_str(&text).map_err(|error| {
            Error::invalid("order", format!("{ORDER_FILE}: {error}"))
                .hint("Restore the file from git, or remove it.")
        })?,
    };
    let VaultReader { mut export, notes, settings, .. } = reader;
    export.sort_by(&order);
    Ok(RebuildLines { lines: export.into_lines(&settings.workspace)?, notes })
}

/// A vault while it is read.
struct VaultReader<'f> {
    folder: &'f VaultFolder,
    settings: VaultSettings,
    /// The earlier revisions that no memory has taken yet.
    history: BTreeMap<MemoryId, Vec<Memory>>,
    export: VaultExport,
    notes: Vec<SyncNote>,
}

impl VaultReader<'_> {
    fn note(&mut self, path: &str, error: &Error) {
        let hint = error.hint.as_deref().map_or_else(String::new, |hint| format!(" {hint}"));
        let reason = format!("was left out: {}.{hint}", error.message.trim_end_matches('.'));
        self.notes.push(SyncNote { path: path.to_owned(), reason });
    }

    /// The memories that have files of their own.
    fn memories(&mut self, files: &VaultFiles) {
        for (path, error) in &files.broken {
            self.note(path, error);
        }
        for found in &files.notes {
            let error = Error::invalid("id", "it is a note without an id")
                .hint("Take it in with `commonbook vault sync` after this.");
            self.note(&found.path, &error);
        }
        for found in files.memories.values().filter_map(|found| found.first()) {
            match found.file.memory(&self.settings.workspace) {
                Ok(memory) => self.add_memory(memory),
                Err(error) => self.note(&found.path, &error),
            }
        }
    }

    fn add_memory(&mut self, memory: Memory) {
        let earlier = self.history.remove(&memory.id).unwrap_or_default();
        self.export.memories.push(StoredMemory { memory, earlier });
    }

    fn page(&mut self, path: &str) -> Result<()> {
        let folder = path.split('/').next().unwrap_or_default();
        let Some(content) = self.folder.read(path)? else { return Ok(()) };
        match folder {
            AGENTS_FILE => self.agents(&content)?,
            CASES => {
                let (case, entries) = read_case_page(&content)?;
                self.export.cases.push(case);
                entries.into_iter().for_each(|memory| self.add_memory(memory));
            }
            HANDOFFS | ENTITIES | CONTRADICTIONS => match page_record(&content)? {
                ExportRecord::Handoff(state) => self.export.handoffs.push(*state),
                ExportRecord::Entity(state) => self.export.entities.push(*state),
                ExportRecord::Contradiction(record) => self.export.contradictions.push(*record),
                _ => return Err(Error::invalid("page", "the page holds another record")),
            },
            RECORDS if path != ORDER_FILE => {
                for line in content.lines() {
                    self.export.add_line(parse_line::<RecordLine>(line)?)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn agents(&mut self, content: &str) -> Result<()> {
        let agents: Map<String, Value> = parse_line(content)?;
        for (name, mut fields) in agents {
            if let Some(fields) = fields.as_object_mut() {
                fields.shift_remove("memory_count");
                fields.insert("agent".to_owned(), json!(name));
                fields.insert("workspace".to_owned(), json!(self.settings.workspace));
            }
            let state: AgentState = input::from_value(fields)?;
            self.export.agents.push(state);
        }
        Ok(())
    }
}

/// The earlier revisions by memory.
fn read_history(
    folder: &VaultFolder,
    files: &VaultFiles,
) -> Result<BTreeMap<MemoryId, Vec<Memory>>> {
    let mut history = BTreeMap::new();
    for path in files.pages.iter().filter(|path| path.starts_with(HISTORY)) {
        let text = folder.read(path)?.unwrap_or_default();
        let earlier = text.lines().map(parse_line::<Memory>).collect::<Result<Vec<_>>>()?;
        if let Some(first) = earlier.first() {
            history.insert(first.id, earlier);
        }
    }
    Ok(history)
}

/// A JSON value of a file.
fn parse_line<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    input::json(text.as_bytes()).and_then(input::from_value)
}
