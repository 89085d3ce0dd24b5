//! What a store has lost, as the mark beside it tells.

use crate::base::error::{Error, ErrorKind};
use crate::model::workspace::Workspace;

/// What a store does not hold any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreLoss {
    /// What is wrong, with the path of the store.
    pub reason: String,
    /// The journals that lost events, as far as the mark tells.
    pub journals: Vec<JournalLoss>,
}

/// Events that a journal has lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLoss {
    /// The workspace of the journal.
    pub workspace: Workspace,
    /// The last event that the store holds; 0 when it holds none.
    pub stored: u64,
    /// The last event that was acknowledged, as the mark tells. Where the store holds it too, it
    /// is another event than was acknowledged.
    pub marked: u64,
}

impl StoreLoss {
    /// The error of a store that does not open because of it.
    #[must_use]
    pub fn error(&self) -> Error {
        Error::new(ErrorKind::Unavailable, self.reason.clone()).hint(
            "Restore the home folder from a backup, or run `commonbook doctor --accept-loss` to go \
             on with what is there.",
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
