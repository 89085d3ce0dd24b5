//! What the earlier passes of one process know, so that the next one reads only what has changed since.

use std::collections::BTreeSet;

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::base::id::MemoryId;
use commonbook::base::limits;
use commonbook::model::event::{Event, EventKind, EventPage, ListEvents};
use commonbook::model::export::ExportWorkspace;
use commonbook::model::workspace::Workspace;

use crate::export::VaultExport;
use crate::files::VaultFiles;
use crate::folder::VaultFolder;
use crate::sync::VaultSource;

/// Memories that are read one by one; of more, everything is read again.
const CHANGED_MAX: usize = 10 * limits::PAGE_MAX as usize;

/// What happened in the journal of a vault's workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreChanges {
    /// The last event that was read.
    pub through: u64,
    /// The memories that changed.
    pub memories: BTreeSet<MemoryId>,
    /// Whether any memory may have changed, so that all are read again.
    pub everything: bool,
}

impl StoreChanges {
    /// Reads what happened in the journal of a home after this event: also what the person does not see, such
    /// as a memory that its owner made private. The export of it is empty then.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn of_home(book: &Commonbook, workspace: &Workspace, event: u64) -> Result<Self> {
        Self::read_after(event, |request| {
            let events = book.recorded_events(workspace, request.after, limits::PAGE_MAX)?;
            let items: Vec<Event> = events.into_iter().map(|record| record.event).collect();
            let next = items.last().map(|event| event.sequence);
            Ok(EventPage { items, next })
        })
    }

    /// Reads the events after this one in pages.
    ///
    /// # Errors
    /// The error of `page_of`.
    pub fn read_after(
        event: u64,
        page_of: impl Fn(&ListEvents) -> Result<EventPage>,
    ) -> Result<Self> {
        let mut changes = Self { through: event, memories: BTreeSet::new(), everything: false };
        loop {
            let (after, limit) = (changes.through, Some(limits::PAGE_MAX));
            let page = page_of(&ListEvents { after, limit, ..ListEvents::default() })?;
            page.items.iter().for_each(|event| changes.add(event));
            match page.next {
                Some(next) => changes.through = next,
                None => return Ok(changes),
            }
        }
    }

    fn add(&mut self, event: &Event) {
        self.through = self.through.max(event.sequence);
        match event.kind {
            // A restored memory comes back to its old place, a forgotten one takes its quotations from others.
            EventKind::MemoryRestored
            | EventKind::MemoryForgotten
            | EventKind::ConsolidationCompleted
            | EventKind::StoreLossAccepted => self.everything = true,
            kind if kind.is_of_memory() => match MemoryId::parse(&event.subject) {
                Some(id) => drop(self.memories.insert(id)),
                None => self.everything = true,
            },
            _ => {}
        }
    }
}

/// The folder and the store as the last pass read them.
///
/// At a server the person does not see the events of memories that became private: a new cache finds them gone.
#[derive(Debug, Default)]
pub struct PassCache {
    pub(crate) files: VaultFiles,
    pub(crate) export: VaultExport,
    /// The last event that the export has; `None` before the first pass.
    through: Option<u64>,
    /// Memories whose one file says what the store says.
    pub(crate) settled: BTreeSet<MemoryId>,
}

impl PassCache {
    /// The last event that the store had when it was read; 0 before the first pass.
    #[must_use]
    pub fn through(&self) -> u64 {
        self.through.unwrap_or_default()
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
        let changes = source.changes_after(self.through())?;
        let is_first = self.through.is_none();
        if self.through.replace(changes.through) == Some(changes.through) {
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
