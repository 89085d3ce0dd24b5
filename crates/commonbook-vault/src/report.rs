//! What a pass of a vault may do, and what it did.

use std::collections::BTreeSet;

use commonbook::base::error::Error;
use commonbook::base::id::MemoryId;

use crate::writer::WriterKey;

/// What a pass may do.
#[derive(Debug, Clone, Copy, Default)]
pub struct SyncOptions {
    /// Deletes the memories whose files were removed, so that they can be restored for 30 days.
    pub prune: bool,
    /// Changes as many memories as there are changed files.
    pub many: bool,
    /// Changes nothing.
    pub dry_run: bool,
}

/// What a pass did, or would do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SyncReport {
    /// Files of memories that were written.
    pub written: u64,
    /// Pages that were written.
    pub pages: u64,
    /// Files that were moved to another folder.
    pub moved: u64,
    /// Files that were removed: others may not read their memories any more, or they are gone.
    pub removed: u64,
    /// Files that a person removed and that were written again.
    pub returned: u64,
    /// Files whose changes the store took.
    pub changed: Vec<String>,
    /// Files of new memories.
    pub created: Vec<String>,
    /// Files of others that became memories of `legacy`.
    pub received: Vec<String>,
    /// Files that a change in the store crossed: both versions are memories, and contradict each other.
    pub conflicts: Vec<String>,
    /// Memories that were deleted, since their files were removed.
    pub deleted: Vec<MemoryId>,
    /// What a person has to look at.
    pub notes: Vec<SyncNote>,
    /// Other homes that signed files of the pass, and whose keys nobody accepted.
    pub strangers: BTreeSet<WriterKey>,
}

/// Something about a file that a person has to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncNote {
    /// The path of the file.
    pub path: String,
    /// What is wrong with it, and what to do.
    pub reason: String,
}

impl SyncReport {
    pub(crate) fn note(&mut self, path: &str, reason: impl Into<String>) {
        self.notes.push(SyncNote { path: path.to_owned(), reason: reason.into() });
    }

    pub(crate) fn note_error(&mut self, path: &str, error: &Error) {
        let hint = error.hint.as_deref().map_or_else(String::new, |hint| format!(" {hint}"));
        self.note(path, format!("{}.{hint}", error.message.trim_end_matches('.')));
    }

    /// Adds what a later pass did.
    pub fn add(&mut self, later: Self) {
        self.written += later.written;
        self.pages += later.pages;
        self.moved += later.moved;
        self.removed += later.removed;
        self.returned += later.returned;
        self.changed.extend(later.changed);
        self.created.extend(later.created);
        self.received.extend(later.received);
        self.conflicts.extend(later.conflicts);
        self.deleted.extend(later.deleted);
        let new = later.notes.into_iter().filter(|note| !self.notes.contains(note));
        let new: Vec<SyncNote> = new.collect();
        self.notes.extend(new);
        self.strangers.extend(later.strangers);
    }

    /// Whether the store was changed.
    #[must_use]
    pub fn changed_store(&self) -> bool {
        let Self { changed, created, received, conflicts, deleted, .. } = self;
        !(changed.is_empty()
            && created.is_empty()
            && received.is_empty()
            && conflicts.is_empty()
            && deleted.is_empty())
    }
}
