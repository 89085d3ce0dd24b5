//! The languages of a home: whether it holds notes that a model for English cannot read.

use super::Commonbook;
use crate::base::error::Result;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::memory::ListMemories;
use commonbook_text::language::is_foreign;

/// Workspaces in which notes are read, and the newest notes of each.
const READ_WORKSPACES_MAX: usize = 20;
const READ_NOTES_MAX: u32 = 100;

/// Notes in other languages from which on a home has them: one or two are quotations.
const FOREIGN_NOTES_MIN: usize = 3;

impl Commonbook {
    /// Whether the newest shared notes of the home are partly in other languages than English.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn has_foreign_notes(&self) -> Result<bool> {
        let mut found = 0;
        for workspace in
            self.store.read(|tx| tx.workspaces())?.into_iter().take(READ_WORKSPACES_MAX)
        {
            let reader = Caller::new(None, workspace, EntryPoint::Cli);
            let newest = ListMemories { limit: Some(READ_NOTES_MAX), ..ListMemories::default() };
            let notes = self.list_memories(&reader, &newest)?.items;
            found += notes.iter().filter(|note| is_foreign(&note.text)).count();
            if found >= FOREIGN_NOTES_MIN {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
