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
use crate::plan::HomeMemory;
use crate::report::SyncNote;
use crate::settings::VaultSettings;
use crate::state::PageSums;
use crate::writer::WriterKey;

/// What of a vault is as good as an export of this home.
#[derive(Debug)]
pub struct RebuildTrust {
    /// This home, whose signed files are. Another home's person is not this one's, whether or not its key
    /// was accepted.
    pub writer: WriterKey,
    /// The pages that this home wrote.
    pub pages: PageSums,
}

/// The lines that a vault holds, and the files that were left out.
#[derive(Debug)]
pub struct RebuildLines {
    /// The lines of this home, in the order in which an import needs them.
    pub own: Vec<RecordLine>,
    /// The lines of others, likewise: they say of themselves what nobody has proved.
    pub others: Vec<RecordLine>,
    /// Files that cannot be read, were edited, or are no memories yet, with the reason.
    pub notes: Vec<SyncNote>,
}

/// Reads a vault as lines; with its earlier revisions if `with_history`.
///
/// # Errors
/// `not_found` if the folder is no vault; `unavailable` if it cannot be read.
pub fn rebuild_lines(
    folder: &VaultFolder,
    with_history: bool,
    trust: &RebuildTrust,
) -> Result<RebuildLines> {
    let settings = VaultSettings::read(folder)?;
    let files = VaultFiles::read(folder)?;
    let order = match folder.read(ORDER_FILE)? {
        None => RecordOrder::default(),
        Some(text) => serde_json::from_str(&text).map_err(|error| {
            Error::invalid("order", format!("{ORDER_FILE}: {error}"))
                .hint("Restore the file from git, or remove it.")
        })?,
    };
    let mut notes = unread_notes(&files);
    let mut lines = |is_own: bool| {
        let (history, export) = (BTreeMap::new(), VaultExport::default());
        let mut reader =
            VaultReader { folder, settings: &settings, trust, is_own, history, export };
        if with_history {
            reader.history(&files)?;
        }
        reader.memories(&files, &mut notes);
        for path in &files.pages {
            if let Err(error) = reader.page(path) {
                notes.push(note_of(path, &error));
            }
        }
        reader.export.sort_by(&order);
        reader.export.into_lines(&settings.workspace)
    };
    let (own, mut others) = (lines(true)?, lines(false)?);
    // One beginning is enough.
    others.retain(|line| line.get("record").is_none_or(|record| record != "export"));
    Ok(RebuildLines { own, others, notes })
}

/// What cannot be read, or is no memory yet.
fn unread_notes(files: &VaultFiles) -> Vec<SyncNote> {
    let broken = files.broken.iter().map(|(path, error)| note_of(path, error));
    let new = files.notes.iter().map(|found| {
        let error = Error::invalid("id", "it is a note without an id")
            .hint("Take it in with `commonbook vault sync` after this.");
        note_of(&found.path, &error)
    });
    broken.chain(new).collect()
}

fn note_of(path: &str, error: &Error) -> SyncNote {
    let hint = error.hint.as_deref().map_or_else(String::new, |hint| format!(" {hint}"));
    let reason = format!("was left out: {}.{hint}", error.message.trim_end_matches('.'));
    SyncNote { path: path.to_owned(), reason }
}

/// The part of a vault that this home or others wrote, while it is read.
struct VaultReader<'f> {
    folder: &'f VaultFolder,
    settings: &'f VaultSettings,
    trust: &'f RebuildTrust,
    /// Whether it reads what this home wrote, or what others did.
    is_own: bool,
    /// The earlier revisions that no memory has taken yet.
    history: BTreeMap<MemoryId, Vec<Memory>>,
    export: VaultExport,
}

impl VaultReader<'_> {
    /// The memories that have files of their own.
    fn memories(&mut self, files: &VaultFiles, notes: &mut Vec<SyncNote>) {
        let workspace = &self.settings.workspace;
        for found in files.memories.values().filter_map(|found| found.first()) {
            let writer = found.file.writer(workspace);
            if (writer == Some(self.trust.writer)) != self.is_own {
                continue;
            }
            match found.file.memory(workspace) {
                Ok(memory) => self.add_memory(memory),
                Err(error) => notes.push(note_of(&found.path, &error)),
            }
        }
    }

    /// The content of a page, if it belongs to this part.
    fn page_text(&self, path: &str) -> Result<Option<String>> {
        let text = self.folder.read(path)?;
        Ok(text.filter(|text| self.trust.pages.has(path, text) == self.is_own))
    }

    /// Reads the earlier revisions by memory.
    fn history(&mut self, files: &VaultFiles) -> Result<()> {
        for path in files.pages.iter().filter(|path| path.starts_with(HISTORY)) {
            let text = self.page_text(path)?.unwrap_or_default();
            let earlier = text.lines().map(parse_line::<Memory>).collect::<Result<Vec<_>>>()?;
            if let Some(first) = earlier.first() {
                self.history.insert(first.id, earlier);
            }
        }
        Ok(())
    }

    fn add_memory(&mut self, memory: Memory) {
        let earlier = self.history.remove(&memory.id).unwrap_or_default();
        self.export.memories.push(HomeMemory { memory, earlier });
    }

    fn page(&mut self, path: &str) -> Result<()> {
        let folder = path.split('/').next().unwrap_or_default();
        let Some(content) = self.page_text(path)? else { return Ok(()) };
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

/// A JSON value of a file.
fn parse_line<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    input::json(text.as_bytes()).and_then(input::from_value)
}
