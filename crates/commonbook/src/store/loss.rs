//! What a store has lost, according to the mark beside it.

use crate::base::error::{Error, ErrorKind};
use crate::model::workspace::Workspace;

/// The loss of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreLoss {
    /// What is wrong, with the path of the store.
    pub reason: String,
    /// The journals that lost events, as far as the mark shows.
    pub journals: Vec<JournalLoss>,
}

/// The events that a journal has lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLoss {
    /// The workspace of the journal.
    pub workspace: Workspace,
    /// The last event that the store holds; 0 if it holds none.
    pub stored: u64,
    /// The last acknowledged event according to the mark. If the store holds an event at this
    /// position, it differs from the acknowledged one.
    pub marked: u64,
}

impl StoreLoss {
    /// The error of a store that does not open because of this loss.
    #[must_use]
    pub fn error(&self) -> Error {
        Error::new(ErrorKind::Unavailable, self.reason.clone()).hint(
            "Restore the home folder from a backup, or run `commonbook doctor --accept-loss` to \
             continue with what is left.",
        )
    }
}

impl JournalLoss {
    /// The loss in words: `events 4 to 7 of workspace 'x'`.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { workspace, stored, marked } = self;
        match stored + 1 {
            first if first == *marked => format!("event {first} of workspace '{workspace}'"),
            first if first < *marked => {
                format!("events {first} to {marked} of workspace '{workspace}'")
            }
            _ => format!("event {marked} of workspace '{workspace}' as it was written"),
        }
    }
}
