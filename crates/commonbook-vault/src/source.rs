//! The Commonbook that a vault is of: what a pass reads from it, and sends to it.

use std::collections::BTreeSet;

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::base::id::MemoryId;
use commonbook::base::limits;
use commonbook::model::event::{Event, EventKind, EventPage, JournalHistory, ListEvents};
use commonbook::model::export::{ExportPage, ExportWorkspace};
use commonbook::model::import::ImportRecord;
use commonbook::model::workspace::Workspace;

use crate::export::RecordLine;

/// The Commonbook that a vault is of: a home, or a server.
pub trait VaultSource {
    /// A page of the export of the vault's workspace.
    ///
    /// # Errors
    /// Those of `export_workspace`.
    fn export_page(&self, request: &ExportWorkspace) -> Result<ExportPage>;

    /// Imports lines; returns the result of each.
    ///
    /// # Errors
    /// `unavailable` if nothing could be imported.
    fn import_lines(&self, lines: Vec<RecordLine>) -> Result<Vec<ImportRecord>>;

    /// What happened after this event, as far as the person sees it.
    ///
    /// # Errors
    /// `unavailable` if the journal cannot be read.
    fn changes_after(&self, event: u64) -> Result<StoreChanges>;
}

/// What happened in the journal of a vault's workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreChanges {
    /// The last event that was read.
    pub through: u64,
    /// The memories that changed.
    pub memories: BTreeSet<MemoryId>,
    /// Whether any memory may have changed, so that all are read again.
    pub everything: bool,
    /// The history that the journal belongs to.
    pub history: JournalHistory,
}

impl StoreChanges {
    /// Reads what happened in the journal of a home after this event: also what the person does not see, such
    /// as a memory that its owner made private. The export of it is empty then.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn of_home(book: &Commonbook, workspace: &Workspace, event: u64) -> Result<Self> {
        Self::read_after(event, |request| {
            let read = book.recorded_events(workspace, request.after, limits::PAGE_MAX)?;
            let items: Vec<Event> = read.items.into_iter().map(|record| record.event).collect();
            let next = items.last().map(|event| event.sequence);
            Ok(EventPage { items, next, history: read.history })
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
        let mut changes = Self {
            through: event,
            memories: BTreeSet::new(),
            everything: false,
            history: JournalHistory::default(),
        };
        loop {
            let (after, limit) = (changes.through, Some(limits::PAGE_MAX));
            let page = page_of(&ListEvents { after, limit, ..ListEvents::default() })?;
            page.items.iter().for_each(|event| changes.add(event));
            changes.history = page.history;
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
