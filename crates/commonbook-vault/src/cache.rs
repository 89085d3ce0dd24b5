//! What the earlier passes of one process know, so that the next one reads only what has changed since.

use std::collections::BTreeSet;

use commonbook::base::error::Result;
use commonbook::base::id::MemoryId;
use commonbook::base::limits;
use commonbook::model::event::JournalHistory;
use commonbook::model::export::ExportWorkspace;

use crate::export::VaultExport;
use crate::files::VaultFiles;
use crate::folder::VaultFolder;
use crate::source::{StoreChanges, VaultSource};

/// Memories that are read one by one; of more, everything is read again.
const CHANGED_MAX: usize = 10 * limits::PAGE_MAX as usize;

/// The folder and the store as the last pass read them.
///
/// At a server the person does not see the events of memories that became private: a new cache finds them gone.
#[derive(Debug, Default)]
pub struct PassCache {
    pub(crate) files: VaultFiles,
    pub(crate) export: VaultExport,
    /// The last event that the export has; `None` before the first pass.
    through: Option<u64>,
    /// The history in which it was read.
    history: JournalHistory,
    /// Memories whose one file says what the store says.
    pub(crate) settled: BTreeSet<MemoryId>,
}

impl PassCache {
    /// The last event that the store had when it was read; 0 before the first pass.
    #[must_use]
    pub fn through(&self) -> u64 {
        self.through.unwrap_or_default()
    }

    /// Whether the store has changed since it was read.
    #[must_use]
    pub fn is_behind(&self, changes: &StoreChanges) -> bool {
        changes.through > self.through() || changes.history != self.history
    }

    /// Reads what changed since. After an error everything is read again.
    pub(crate) fn refresh(&mut self, folder: &VaultFolder, source: &dyn VaultSource) -> Result<()> {
        let mut before = std::mem::take(self);
        for id in before.files.refresh(folder)? {
            before.settled.remove(&id);
        }
        before.refresh_store(source)?;
        *self = before;
        Ok(())
    }

    fn refresh_store(&mut self, source: &dyn VaultSource) -> Result<()> {
        // Before the export: what happens meanwhile is read once more.
        let mut changes = source.changes_after(self.through())?;
        let is_other = changes.history != self.history;
        if is_other && self.through.is_some() {
            // The journal may end before the last event that was read.
            changes = source.changes_after(0)?;
        }
        let is_first = self.through.is_none() || is_other;
        self.history = changes.history;
        if self.through.replace(changes.through) == Some(changes.through) && !is_first {
            return Ok(());
        }
        if is_first || changes.everything || changes.memories.len() > CHANGED_MAX {
            self.settled.clear();
            self.export = read_export(source, None)?;
            return Ok(());
        }
        let ids: Vec<MemoryId> = changes.memories.iter().copied().collect();
        // Without a memory the other records are read alone.
        let chunks = ids.chunks(limits::PAGE_MAX as usize).map(<[MemoryId]>::to_vec);
        let mut later = VaultExport::default();
        for chunk in chunks.chain(ids.is_empty().then(Vec::new)) {
            let earlier = std::mem::take(&mut later.memories);
            later = read_export(source, Some(chunk))?;
            later.memories.splice(..0, earlier);
        }
        self.settled.retain(|id| !changes.memories.contains(id));
        self.export.replace(&changes.memories, later);
        Ok(())
    }
}

/// Exports the vault's workspace, with all memories or with these alone.
fn read_export(source: &dyn VaultSource, memories: Option<Vec<MemoryId>>) -> Result<VaultExport> {
    let mut export = VaultExport::default();
    let limit = Some(limits::PAGE_MAX);
    let mut request =
        ExportWorkspace { limit, memories, deleted: true, ..ExportWorkspace::default() };
    loop {
        let page = source.export_page(&request)?;
        page.lines.into_iter().try_for_each(|line| export.add_line(line))?;
        request.cursor = page.next;
        if request.cursor.is_none() {
            return Ok(export);
        }
    }
}
