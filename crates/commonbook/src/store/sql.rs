//! All rows in SQL, said once for every engine: the statements, the nouns in their rows, and the
//! condition by which a sight sees them.
//!
//! An engine gives a connection (`sql/driver.rs`) and keeps to itself how it opens, locks, commits
//! and checks. The statements are those of SQLite; an engine that says something otherwise
//! translates their text.

mod access;
mod agent;
mod answer;
mod briefing;
mod bulk;
mod case;
mod case_digest;
mod checkpoint;
mod consolidation;
mod context;
mod contradiction;
mod copy;
mod cursor;
pub(crate) mod driver;
mod entity;
mod event;
mod export;
mod filter;
mod follower;
mod forgetting;
mod handoff;
mod knowledge;
mod lineage;
mod memory;
mod mention;
mod name;
mod relation;
mod row;
mod rows;
mod session;
mod standing;
mod token;
mod usage;
mod webhook;
mod workspace;

use std::cell::RefCell;

use crate::model::event::EventOrigin;
use crate::model::workspace::Workspace;
use crate::store::EngineWork;
use access::AudienceCache;
use driver::SqlConnection;

pub use answer::IdempotencyRecord;
pub use case::{CaseActivity, EntryStretch};
pub use contradiction::ContradictionFilter;
pub use copy::{StoredRow, TableColumns};
pub use entity::EntityNameFilter;
pub use export::StoredId;
pub use follower::{JournalLag, JournalScope};
#[cfg(test)]
pub(crate) use forgetting::QUOTING_TABLES;
pub use forgetting::{QuoteCount, QuotingRows};
pub use memory::SubjectChange;
pub(crate) use rows::PROTECTED_TABLES;
pub use usage::{UsageCount, UsageCounts};

/// One transaction of a store: everything a verb can do to rows, in a file for each noun.
///
/// Reading takes it shared, changing exclusive. Its caller ends it.
pub struct Tx<'c> {
    connection: &'c dyn SqlConnection,
    /// The events appended here: their workspaces and positions.
    appended: Vec<(Workspace, u64)>,
    /// From where the caller of this write called.
    origin: Option<EventOrigin>,
    audiences: RefCell<AudienceCache>,
}

impl<'c> Tx<'c> {
    pub(crate) fn new(connection: &'c dyn SqlConnection) -> Self {
        Self { connection, appended: Vec::new(), origin: None, audiences: RefCell::default() }
    }

    /// The events appended in this transaction: their workspaces and positions.
    pub(crate) fn appended(&self) -> &[(Workspace, u64)] {
        &self.appended
    }
}

/// Counting the cost of a transaction.
impl Tx<'_> {
    /// The cost of this transaction so far; `None` if the engine does not count.
    pub fn work(&self) -> Option<EngineWork> {
        self.connection.work()
    }
}
